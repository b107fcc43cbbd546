//! Whatever bytes the codec `flatbuffers-one-struct` gets, it owns one whole vote or refuses.
#![no_main]

votebench_fuzz::fuzz_codec!("flatbuffers-one-struct");
