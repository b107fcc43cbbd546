//! Whatever bytes the codec `ssz` gets, it owns one whole vote or refuses.
#![no_main]

votebench_fuzz::fuzz_codec!("ssz");
