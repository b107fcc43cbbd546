//! Whatever bytes the codec `bcs` gets, it owns one whole vote or refuses.
#![no_main]

votebench_fuzz::fuzz_codec!("bcs");
