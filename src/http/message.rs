//! Requests and responses as both pooled arms have them, whatever the wire, and the pools that they come from. Owns the objects
//! and their order of fields; every buffer in them is kept when they are returned.
//!
//! As in the reference's objects, Content-Type and User-Agent have places of their own and are handed over first; the other
//! fields follow in the order in which they were set. What only delimits a message (`Host`, `Content-Length`,
//! `Transfer-Encoding`, `Connection`) is the wire's affair and no field here.

use std::ops::Deref;
use std::sync::{Mutex, PoisonError};

use bytes::Bytes;

/// Objects that a pool keeps; more than connections that are at work at once need not be.
const KEPT: usize = 64;

/// Bytes of all its buffers above which an object is not kept: one large message must not hold its memory for ever.
const KEPT_BYTES: usize = 1 << 20;

/// Names and values, in order, in one buffer.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Fields {
    text: Vec<u8>,
    /// For each pair where its value starts and ends; its name starts where the pair before it ends.
    ends: Vec<(usize, usize)>,
}

impl Fields {
    /// Adds a pair; names may repeat.
    pub fn push(&mut self, name: &[u8], value: &[u8]) {
        self.text.extend_from_slice(name);
        let middle = self.text.len();
        self.text.extend_from_slice(value);
        self.ends.push((middle, self.text.len()));
    }

    /// Names and values, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        let mut start = 0;
        self.ends.iter().map(move |(middle, end)| {
            let pair = (&self.text[start..*middle], &self.text[*middle..*end]);
            start = *end;
            pair
        })
    }

    /// How many pairs there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    fn held_bytes(&self) -> usize {
        self.text.capacity() + self.ends.capacity() * size_of::<(usize, usize)>()
    }

    /// Forgets all pairs, and keeps the buffers.
    pub fn clear(&mut self) {
        self.text.clear();
        self.ends.clear();
    }
}

/// A body: bytes in a buffer of its own, or, where a client has them anyway, shared ones that are sent from where they lie.
#[derive(Debug, Default, Clone)]
pub struct Body {
    own: Vec<u8>,
    shared: Option<Bytes>,
}

impl Body {
    /// Appends to the buffer.
    pub fn extend_from_slice(&mut self, bytes: &[u8]) {
        self.own.extend_from_slice(bytes);
    }

    /// Is `bytes` from now on.
    pub fn share(&mut self, bytes: Bytes) {
        self.shared = Some(bytes);
    }

    /// Is empty from now on, and keeps the buffer.
    pub fn clear(&mut self) {
        self.own.clear();
        self.shared = None;
    }
}

impl Deref for Body {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.shared.as_deref().unwrap_or(&self.own)
    }
}

impl PartialEq for Body {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for Body {}

/// A request.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Request {
    /// The method, in upper case as it came.
    pub method: Vec<u8>,
    /// The authority that is asked.
    pub host: Vec<u8>,
    /// Path and query.
    pub path: Vec<u8>,
    /// The body's media type; empty where none is said.
    pub content_type: Vec<u8>,
    /// Who asks; empty where nobody says.
    pub user_agent: Vec<u8>,
    /// The other fields.
    pub fields: Fields,
    /// The body.
    pub body: Body,
    /// Fields behind the body.
    pub trailers: Fields,
}

impl Request {
    /// Sets a field, whichever place it has.
    pub fn set(&mut self, name: &[u8], value: &[u8]) {
        if name.eq_ignore_ascii_case(b"content-type") {
            replace(&mut self.content_type, value);
        } else if name.eq_ignore_ascii_case(b"user-agent") {
            replace(&mut self.user_agent, value);
        } else {
            self.fields.push(name, value);
        }
    }

    /// All fields in the order in which they are handed over.
    pub fn pairs(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        let first = [(&b"Content-Type"[..], &self.content_type), (b"User-Agent", &self.user_agent)];
        let first = first.into_iter().filter(|(_, value)| !value.is_empty());
        first.map(|(name, value)| (name, value.as_slice())).chain(self.fields.iter())
    }
}

/// A response.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Response {
    /// The status code.
    pub status: u16,
    /// The body's media type; empty where none is said.
    pub content_type: Vec<u8>,
    /// The other fields.
    pub fields: Fields,
    /// The body.
    pub body: Body,
    /// Fields behind the body.
    pub trailers: Fields,
}

impl Response {
    /// Sets a field, whichever place it has.
    pub fn set(&mut self, name: &[u8], value: &[u8]) {
        if name.eq_ignore_ascii_case(b"content-type") {
            replace(&mut self.content_type, value);
        } else {
            self.fields.push(name, value);
        }
    }

    /// All fields in the order in which they are handed over.
    pub fn pairs(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        let first = (!self.content_type.is_empty()).then_some((&b"Content-Type"[..], self.content_type.as_slice()));
        first.into_iter().chain(self.fields.iter())
    }
}

/// What a pool can keep.
pub trait Pooled: Default {
    /// As new, with its buffers kept.
    fn clear(&mut self);

    /// Bytes that it holds on to.
    fn held_bytes(&self) -> usize;
}

impl Pooled for Request {
    fn clear(&mut self) {
        let texts = [&mut self.method, &mut self.host, &mut self.path, &mut self.content_type, &mut self.user_agent];
        texts.into_iter().for_each(Vec::clear);
        self.body.clear();
        self.fields.clear();
        self.trailers.clear();
    }

    fn held_bytes(&self) -> usize {
        let texts = [&self.method, &self.host, &self.path, &self.content_type, &self.user_agent, &self.body.own];
        texts.into_iter().map(Vec::capacity).sum::<usize>() + self.fields.held_bytes() + self.trailers.held_bytes()
    }
}

impl Pooled for Response {
    fn clear(&mut self) {
        self.status = 0;
        self.content_type.clear();
        self.body.clear();
        self.fields.clear();
        self.trailers.clear();
    }

    fn held_bytes(&self) -> usize {
        let texts = self.content_type.capacity() + self.body.own.capacity();
        texts + self.fields.held_bytes() + self.trailers.held_bytes()
    }
}

/// Objects for every connection of a server, or of a client.
#[derive(Debug)]
pub struct Pool<T> {
    free: Mutex<Vec<T>>,
}

impl<T: Pooled> Pool<T> {
    /// An empty pool.
    pub const fn new() -> Self {
        Self { free: Mutex::new(Vec::new()) }
    }

    /// A cleared object.
    pub fn take(&self) -> T {
        self.free.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default()
    }

    /// Gives an object back.
    pub fn give(&self, mut object: T) {
        if object.held_bytes() > KEPT_BYTES {
            return;
        }
        object.clear();
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        if free.len() < KEPT {
            free.push(object);
        }
    }
}

impl<T: Pooled> Default for Pool<T> {
    fn default() -> Self {
        Self::new()
    }
}

fn replace(text: &mut Vec<u8>, value: &[u8]) {
    text.clear();
    text.extend_from_slice(value);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_come_back_in_the_order_in_which_they_are_handed_over() {
        let mut request = Request::default();
        for (name, value) in
            [("X-B", "1"), ("user-agent", "votebench"), ("X-A", ""), ("Content-Type", "a/b"), ("X-B", "2")]
        {
            request.set(name.as_bytes(), value.as_bytes());
        }
        let pairs: Vec<_> = request
            .pairs()
            .map(|(name, value)| (str::from_utf8(name).unwrap(), str::from_utf8(value).unwrap()))
            .collect();
        assert_eq!(
            pairs,
            [("Content-Type", "a/b"), ("User-Agent", "votebench"), ("X-B", "1"), ("X-A", ""), ("X-B", "2")]
        );
    }

    #[test]
    fn a_pool_hands_out_cleared_objects_and_keeps_no_giants() {
        let pool = Pool::<Request>::new();
        let mut request = pool.take();
        request.body.extend_from_slice(&[1; 100]);
        request.set(b"X-A", b"1");
        request.trailers.push(b"X-T", b"2");
        let held = request.body.as_ptr();
        pool.give(request);
        let request = pool.take();
        assert_eq!((request.body.as_ptr(), &request), (held, &Request::default()));
        let giant = || Vec::with_capacity(KEPT_BYTES + 1);
        pool.give(Request { body: Body { own: giant(), shared: None }, ..Request::default() });
        pool.give(Request { path: giant(), ..Request::default() });
        pool.give(Request { method: giant(), ..Request::default() });
        assert!(pool.free.lock().unwrap().is_empty());
    }
}
