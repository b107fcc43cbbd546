//! Whatever bytes the codec `protobuf-bytes` gets, it owns one whole vote or refuses.
#![no_main]

votebench_fuzz::fuzz_codec!("protobuf-bytes");
