//! Whatever bytes the codec `copy-161` gets, it owns one whole vote or refuses.
#![no_main]

votebench_fuzz::fuzz_codec!("copy-161");
