//! The body that the fuzz targets of all codecs share: a target names its codec and includes this file.
//!
//! Whatever the bytes, nothing panics, `own` and `read` agree, and what was accepted is a vote like any other: it encodes,
//! and comes back.

use std::cell::RefCell;

use votebench::codec::{self, Codec};
use votebench::vote::Digest;

/// One input for the codec of that name.
///
/// # Panics
/// Where the codec breaks one of its promises, or there is none of that name.
pub fn fuzz(name: &'static str, data: &[u8]) {
    thread_local! {
        // Kept from input to input, as a program would keep it: what one input leaves behind must not show in the next.
        static CODEC: RefCell<Option<Box<dyn Codec>>> = const { RefCell::new(None) };
    }
    CODEC.with_borrow_mut(|kept| {
        let codec = kept.get_or_insert_with(|| codec::by_name(name).expect("the codec is registered"));
        assert_eq!(codec.name(), name, "one target, one codec");
        let own = codec.own(data);
        let read = codec.read(data);
        let open = codec.open_round(data);
        match own {
            Ok(vote) => {
                assert_eq!(read, Ok(Digest::of(&vote)));
                assert_eq!(open, Ok(vote.round));
                let message = codec.encode(&vote).expect("every vote is representable").to_vec();
                assert_eq!(codec.own(&message), Ok(vote));
            }
            Err(error) => assert_eq!(read, Err(error)),
        }
    });
}
