//! Whatever bytes the codec `capnp-words` gets, it owns one whole vote or refuses.
#![no_main]

votebench_fuzz::fuzz_codec!("capnp-words");
