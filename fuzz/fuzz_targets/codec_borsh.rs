//! Whatever bytes the codec `borsh` gets, it owns one whole vote or refuses.
#![no_main]

votebench_fuzz::fuzz_codec!("borsh");
