//! Whatever bytes the codec `protobuf-mux` gets, it owns one whole vote or refuses.
#![no_main]

votebench_fuzz::fuzz_codec!("protobuf-mux");
