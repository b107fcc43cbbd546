//! Whatever bytes the codec `quic-raw` gets, it owns one whole vote or refuses.
#![no_main]

votebench_fuzz::fuzz_codec!("quic-raw");
