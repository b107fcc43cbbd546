//! Whatever bytes the codec `rkyv` gets, it owns one whole vote or refuses.
#![no_main]

votebench_fuzz::fuzz_codec!("rkyv");
