//! How the generated service reads and writes its messages: tonic's codec for prost, with buffers of the size of votes. Owns
//! those settings and nothing of the encoding.
//!
//! tonic allocates a buffer for each call and direction, 8 KiB where nobody says otherwise, and its documentation advises a
//! smaller one where there are many small calls.

use std::marker::PhantomData;

use tonic::codec::{BufferSettings, Codec};

/// Bytes of a call's buffer: room for six votes, so that a stream need not begin a new one at each.
pub const BUFFER_BYTES: usize = 1 << 10;

/// Bytes of messages that a stream gathers before it hands them to HTTP/2, where more are ready at once: tonic's default.
pub const GATHERED_BYTES: usize = 32 << 10;

/// tonic's codec for prost, with this project's buffers.
#[derive(Debug)]
pub struct ProstCodec<T, U>(PhantomData<(T, U)>);

impl<T, U> Default for ProstCodec<T, U> {
    fn default() -> Self {
        Self(PhantomData)
    }
}

impl<T, U> Codec for ProstCodec<T, U>
where
    T: prost::Message + Send + 'static,
    U: prost::Message + Default + Send + 'static,
{
    type Encode = T;
    type Decode = U;
    type Encoder = <tonic_prost::ProstCodec<T, U> as Codec>::Encoder;
    type Decoder = <tonic_prost::ProstCodec<T, U> as Codec>::Decoder;

    fn encoder(&mut self) -> Self::Encoder {
        tonic_prost::ProstCodec::<T, U>::raw_encoder(settings())
    }

    fn decoder(&mut self) -> Self::Decoder {
        tonic_prost::ProstCodec::<T, U>::raw_decoder(settings())
    }
}

fn settings() -> BufferSettings {
    BufferSettings::new(BUFFER_BYTES, GATHERED_BYTES)
}
