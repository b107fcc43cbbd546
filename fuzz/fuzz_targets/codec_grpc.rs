//! Whatever bytes the codec `grpc` gets, it owns one whole vote or refuses.
#![no_main]

votebench_fuzz::fuzz_codec!("grpc");
