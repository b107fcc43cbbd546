//! Whatever bytes the codec `capnp` gets, it owns one whole vote or refuses.
#![no_main]

votebench_fuzz::fuzz_codec!("capnp");
