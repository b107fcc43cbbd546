//! What the fuzz targets share: the target of a codec, which is one line a codec (`fuzz_targets/codec_*.rs`).

use votebench::codec::Codec;
use votebench::vote::Digest;

/// The fuzz target of the codec of that name.
#[macro_export]
macro_rules! fuzz_codec {
    ($name:literal) => {
        ::libfuzzer_sys::fuzz_target!(init: {}, |bytes: &[u8]| {
            thread_local! {
                static CODEC: ::std::cell::RefCell<::std::boxed::Box<dyn ::votebench::codec::Codec>> =
                    ::std::cell::RefCell::new(::votebench::codec::by_name($name).expect("a registered codec"));
            }
            CODEC.with_borrow_mut(|codec| $crate::own(codec.as_mut(), bytes));
        });
    };
}

/// Owns `bytes`, and holds the codec to its contract: `read` and `own` agree, `open_round` does not contradict them, and
/// what was owned is a vote that can be encoded and owned again.
///
/// # Panics
/// Where the codec breaks it.
pub fn own(codec: &mut dyn Codec, bytes: &[u8]) {
    let read = codec.read(bytes);
    let round = codec.open_round(bytes);
    let owned = codec.own(bytes);
    match (&owned, &read) {
        (Ok(vote), Ok(digest)) => {
            assert_eq!(*digest, Digest::of(vote));
            assert_eq!(round, Ok(vote.round));
            let message = codec.encode(vote).expect("every vote can be encoded").to_vec();
            assert_eq!(codec.own(&message).as_ref(), Ok(vote));
        }
        (Err(own), Err(read)) => assert_eq!(own, read),
        _ => panic!("own says {owned:?}, and read {read:?}"),
    }
}
