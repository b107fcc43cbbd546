//! The five requests that every arm is asked: bodies and headers as in `tests/golden/zap/http.json`, to which a test holds them.
//! Owns what a request is and when a response is the right one.

use std::sync::LazyLock;

use bytes::Bytes;

use super::error::HttpError;
use super::handler::is_echoed;
use super::message::{Request, Response};

/// The method of every request.
pub const METHOD: &str = "POST";

/// The authority that every request names.
pub const HOST: &str = "test.local";

/// The path that every request asks.
pub const PATH: &str = "/echo";

/// The body of the workload `chat`: what the transport is deployed under.
const CHAT: &str = include_str!("chat.json");

/// The headers that there are; a workload has the first so many of them.
const HEADERS: [(&str, &str); 12] = [
    ("Content-Type", "application/json"),
    ("X-Request-Id", "0f4c7a52-9b1e-4d63-8a07-5be2c91d3f68"),
    ("X-Org-Id", "quorum-01"),
    ("X-User-Id", "v-01@example.org"),
    ("Cache-Control", "no-store"),
    ("Accept", "application/json"),
    ("Accept-Encoding", "gzip, deflate"),
    ("User-Agent", "votebench/1.0"),
    ("X-Trace-Id", "trace-7d1c09e25ab84f3396e0c2f1b8a4d570"),
    ("X-Span-Id", "span-0b9e61c7"),
    ("Authorization", "Bearer placeholder-token-not-a-secret-placeholder-token-not-a-secret-placehold"),
    ("X-Forwarded-For", "10.1.0.7, 10.1.0.9"),
];

/// One request: the same for every arm.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Workload {
    /// Its name.
    pub name: &'static str,
    /// The body.
    pub body: Bytes,
    /// The headers, in order.
    pub headers: &'static [(&'static str, &'static str)],
}

/// All workloads. Every connection shares their bodies.
static ALL: LazyLock<[Workload; 5]> = LazyLock::new(|| {
    let letters = |count| Bytes::from_iter((b'a'..=b'z').cycle().take(count));
    let workload = |name, body, headers| Workload { name, body, headers: &HEADERS[..headers] };
    [
        workload("tiny", letters(16), 4),
        workload("small", letters(256), 8),
        workload("chat", Bytes::from_static(CHAT.as_bytes()), 12),
        workload("medium", letters(4_096), 12),
        workload("large", letters(65_536), 8),
    ]
});

/// All workloads, in the order of the tables.
#[must_use]
pub fn all() -> &'static [Workload] {
    &*ALL
}

/// The workload of that name.
///
/// # Errors
/// Where there is none.
pub fn by_name(name: &str) -> Result<Workload, HttpError> {
    let found = all().iter().find(|workload| workload.name == name);
    found.cloned().ok_or_else(|| HttpError::NoWorkload(name.to_owned()))
}

impl Workload {
    /// The headers that a response has to echo, in order.
    pub fn echoed(&self) -> impl Iterator<Item = (&'static str, &'static str)> + use<> {
        self.headers.iter().copied().filter(|(name, _)| is_echoed(name.as_bytes()))
    }

    /// Makes `request`, which is cleared, this workload's.
    pub fn fill(&self, request: &mut Request) {
        request.method.extend_from_slice(METHOD.as_bytes());
        request.host.extend_from_slice(HOST.as_bytes());
        request.path.extend_from_slice(PATH.as_bytes());
        for (name, value) in self.headers {
            request.set(name.as_bytes(), value.as_bytes());
        }
        request.body.share(self.body.clone());
    }

    /// Whether `response` is the one to `request`: the whole body, its media type, every `X-` field and no other, but for the
    /// date of a server with a clock.
    #[must_use]
    pub fn is_answered_by(&self, request: &Request, response: &Response) -> bool {
        let fields = response.fields.iter().filter(|(name, _)| !name.eq_ignore_ascii_case(b"date"));
        response.status == 200
            && response.content_type == request.content_type
            && are_same(fields, self.echoed())
            && response.trailers.is_empty()
            && *response.body == *self.body
    }
}

/// Whether `fields` are those `expected`, in their order; names in any case.
pub(super) fn are_same<'f>(
    mut fields: impl Iterator<Item = (&'f [u8], &'f [u8])>,
    mut expected: impl Iterator<Item = (&'static str, &'static str)>,
) -> bool {
    let same = |(name, value): (&[u8], &[u8]), (other, wanted): (&str, &str)| {
        name.eq_ignore_ascii_case(other.as_bytes()) && value == wanted.as_bytes()
    };
    loop {
        match (fields.next(), expected.next()) {
            (None, None) => return true,
            (Some(field), Some(wanted)) if same(field, wanted) => {}
            _ => return false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::handler;
    use super::*;

    #[test]
    fn the_right_response_is_told_from_every_wrong_one() {
        for workload in all() {
            let (mut request, mut response) = (Request::default(), Response::default());
            workload.fill(&mut request);
            handler::echo(&mut request, &mut response);
            response.set(b"Date", b"now");
            assert!(workload.is_answered_by(&request, &response), "{}", workload.name);
            let wrong: [fn(&mut Response); 7] = [
                |response| response.status = 201,
                |response| response.content_type.clear(),
                |response| response.body.share(Bytes::from_static(b"other")),
                |response| response.body.share(response.body[1..].to_vec().into()),
                |response| response.set(b"X-More", b""),
                |response| response.trailers.push(b"X-More", b""),
                |response| response.fields.clear(),
            ];
            for (index, make_wrong) in wrong.iter().enumerate() {
                let mut other = response.clone();
                make_wrong(&mut other);
                assert!(!workload.is_answered_by(&request, &other), "{}, {index}", workload.name);
            }
        }
    }
}
