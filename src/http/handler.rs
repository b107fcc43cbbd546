//! The handler that both pooled arms share: it echoes the body, its media type and the `X-` fields. Owns which methods there
//! are; knows no wire.

use super::message::{Request, Response};

/// The methods that the resource answers, as `Allow` has them.
const ALLOWED: &[u8] = b"GET, HEAD, POST";

/// The other methods that RFC 9110 and RFC 5789 define: known, but not of this resource.
const KNOWN: [&[u8]; 6] = [b"PUT", b"DELETE", b"CONNECT", b"OPTIONS", b"TRACE", b"PATCH"];

/// What the names of the fields that are echoed start with.
const ECHOED: &[u8] = b"X-";

/// Whether a field of that name is echoed.
#[must_use]
pub fn is_echoed(name: &[u8]) -> bool {
    name.get(..ECHOED.len()).is_some_and(|start| start.eq_ignore_ascii_case(ECHOED))
}

/// Answers `request`, whose body the response takes over: an echo needs no copy of it.
pub fn echo(request: &mut Request, response: &mut Response) {
    match request.method.as_slice() {
        b"GET" | b"HEAD" | b"POST" => {}
        known if KNOWN.contains(&known) => {
            response.status = 405;
            response.set(b"Allow", ALLOWED);
            return;
        }
        // RFC 9110, section 9.1: a method that the server does not know is not implemented.
        _ => {
            response.status = 501;
            return;
        }
    }
    response.status = 200;
    response.content_type.extend_from_slice(&request.content_type);
    for (name, value) in request.fields.iter().filter(|(name, _)| is_echoed(name)) {
        response.fields.push(name, value);
    }
    std::mem::swap(&mut request.body, &mut response.body);
}

/// The reason phrase of a status that this server gives.
#[must_use]
pub const fn reason(status: u16) -> &'static str {
    match status {
        100 => "Continue",
        200 => "OK",
        400 => "Bad Request",
        405 => "Method Not Allowed",
        413 => "Content Too Large",
        414 => "URI Too Long",
        417 => "Expectation Failed",
        431 => "Request Header Fields Too Large",
        501 => "Not Implemented",
        505 => "HTTP Version Not Supported",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(method: &[u8]) -> Response {
        let mut request = Request { method: method.to_vec(), ..Request::default() };
        request.body.extend_from_slice(b"body");
        for (name, value) in [("Content-Type", "a/b"), ("X-One", "1"), ("Accept", "*/*"), ("x-two", "2"), ("X", "3")] {
            request.set(name.as_bytes(), value.as_bytes());
        }
        let mut response = Response::default();
        echo(&mut request, &mut response);
        response
    }

    #[test]
    fn echoes_body_type_and_x_fields_and_nothing_else() {
        let response = answer(b"POST");
        let pairs: Vec<_> = response.pairs().collect();
        assert_eq!((response.status, &*response.body), (200, &b"body"[..]));
        assert_eq!(pairs, [(&b"Content-Type"[..], &b"a/b"[..]), (b"X-One", b"1"), (b"x-two", b"2")]);
    }

    #[test]
    fn tells_methods_that_it_does_not_allow_from_those_that_it_does_not_know() {
        assert_eq!((answer(b"PUT").status, answer(b"PUT").pairs().next()), (405, Some((&b"Allow"[..], ALLOWED))));
        assert_eq!((answer(b"BREW").status, answer(b"get").status), (501, 501));
    }
}
