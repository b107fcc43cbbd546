//! Whatever text the schema parser gets, it refuses it in one line, or code can be generated of what it made of it.
#![no_main]

use votebench::zap::{codegen, schema};

libfuzzer_sys::fuzz_target!(|text: &str| {
    match schema::parse("fuzz.zap", text) {
        Ok(schema) => {
            let code = codegen::generate(&schema);
            assert_eq!(code.matches("\npub struct ").count(), 2 * schema.structs.len());
            for structure in &schema.structs {
                for field in &structure.fields {
                    assert!(field.offset + field.kind.width() <= structure.size);
                }
            }
        }
        Err(error) => {
            let message = error.to_string();
            assert!(message.starts_with("fuzz.zap:") && !message.contains('\n') && message.len() < 400, "{message}");
            assert!(error.line >= 1 && error.line as usize <= 1 + text.matches('\n').count());
        }
    }
});
