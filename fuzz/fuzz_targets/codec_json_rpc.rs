//! Whatever bytes the codec `json-rpc` gets, it owns one whole vote or refuses.
#![no_main]

votebench_fuzz::fuzz_codec!("json-rpc");
