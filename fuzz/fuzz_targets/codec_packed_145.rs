//! Whatever bytes the codec `packed-145` gets, it owns one whole vote or refuses.
#![no_main]

votebench_fuzz::fuzz_codec!("packed-145");
