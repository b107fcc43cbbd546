//! Whatever bytes the codec `postcard` gets, it owns one whole vote or refuses.
#![no_main]

votebench_fuzz::fuzz_codec!("postcard");
