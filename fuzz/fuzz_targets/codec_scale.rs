//! Whatever bytes the codec `scale` gets, it owns one whole vote or refuses.
#![no_main]

votebench_fuzz::fuzz_codec!("scale");
