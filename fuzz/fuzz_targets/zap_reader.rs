//! Whatever bytes the ZAP reader gets, it answers by the rules, and reads nothing outside of the message.
#![no_main]

#[path = "../../tests/zap_walk/mod.rs"]
mod zap_walk;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| zap_walk::walk(bytes));
