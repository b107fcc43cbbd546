//! Whatever bytes the codec `bincode` gets, it owns one whole vote or refuses.
#![no_main]

votebench_fuzz::fuzz_codec!("bincode");
