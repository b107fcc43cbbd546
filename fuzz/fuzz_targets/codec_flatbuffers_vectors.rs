//! Whatever bytes the codec `flatbuffers-vectors` gets, it owns one whole vote or refuses.
#![no_main]

votebench_fuzz::fuzz_codec!("flatbuffers-vectors");
