//! Whatever bytes the codec `flatbuffers-unverified` gets, it owns one whole vote or refuses.
#![no_main]

votebench_fuzz::fuzz_codec!("flatbuffers-unverified");
