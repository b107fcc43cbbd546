//! What names, values, hosts and targets may consist of (RFC 9110, RFC 9112, RFC 3986). Owns the grammar that a request is held to
//! whatever wire it came over: of HTTP/1.1's names and values `httparse` checks as much, of a ZAP frame's nobody else does.

use std::net::Ipv6Addr;

use super::message::Request;
use super::refusal::Refusal;

/// Fields that a message may have.
pub(super) const FIELDS: usize = 64;

/// Said of a target that is none.
const NO_TARGET: Refusal = Refusal::bad("the target is none");

/// Whether `text` is a token, which methods and names of fields are (RFC 9110, section 5.6.2).
pub(super) fn is_token(text: &[u8]) -> bool {
    !text.is_empty() && text.iter().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(byte))
}

/// Whether `text` can be a field's value (RFC 9110, section 5.5): no control characters but tabs, and no space at either end.
pub(super) fn is_value(text: &[u8]) -> bool {
    let is_space = |byte: Option<&u8>| byte.is_some_and(|byte| matches!(byte, b' ' | b'\t'));
    !is_space(text.first())
        && !is_space(text.last())
        && text.iter().all(|byte| *byte == b'\t' || !byte.is_ascii_control())
}

/// Whether `text` is what a `Host` may hold (RFC 9110, section 7.2): a host, with a port or without. It may be empty.
pub(super) fn is_host(text: &[u8]) -> bool {
    host_and_port(text).is_some()
}

/// Takes the target apart (RFC 9112, section 3.2). What names its authority overrides the Host.
///
/// # Errors
/// Where it has none of the forms that a target of `method` may have.
pub(super) fn split_target(method: &[u8], target: &[u8], request: &mut Request) -> Result<(), Refusal> {
    if !target.iter().all(|byte| byte.is_ascii_graphic() && *byte != b'#') {
        return Err(NO_TARGET);
    }
    let (authority, path) = match target {
        _ if method == b"CONNECT" => (Some(target), &b""[..]),
        [b'/', ..] => (None, target),
        b"*" if method == b"OPTIONS" => (None, target),
        _ => {
            let (scheme, rest) = target.split_at_checked(7).ok_or(NO_TARGET)?;
            if !scheme.eq_ignore_ascii_case(b"http://") {
                return Err(NO_TARGET);
            }
            let (authority, path) = rest.split_at(memchr::memchr2(b'/', b'?', rest).unwrap_or(rest.len()));
            (Some(authority), path)
        }
    };
    if let Some(authority) = authority {
        let needs_port = method == b"CONNECT";
        let named = host_and_port(authority);
        if !named.is_some_and(|(host, port)| !host.is_empty() && (!needs_port || port.is_some_and(|p| !p.is_empty()))) {
            return Err(Refusal::bad("the target's authority is none"));
        }
        request.host.clear();
        request.host.extend_from_slice(authority);
    }
    if !path.starts_with(b"/") && path != b"*" {
        request.path.push(b'/');
    }
    request.path.extend_from_slice(path);
    Ok(())
}

/// A host and, behind a colon, its port's digits, of which there may be none (RFC 3986, sections 3.2.2 and 3.2.3). No user
/// information: RFC 9110, section 4.2.4, calls it an error. An address in brackets is an IPv6 one; later versions do not exist.
fn host_and_port(text: &[u8]) -> Option<(&[u8], Option<&[u8]>)> {
    let (host, rest) = if let Some(inside) = text.strip_prefix(b"[") {
        let length = memchr::memchr(b']', inside)?;
        str::from_utf8(&inside[..length]).ok()?.parse::<Ipv6Addr>().ok()?;
        text.split_at(length + 2)
    } else {
        let (host, rest) = text.split_at(memchr::memchr(b':', text).unwrap_or(text.len()));
        (is_registered_name(host)).then_some((host, rest))?
    };
    match rest {
        [] => Some((host, None)),
        [b':', port @ ..] if port.iter().all(u8::is_ascii_digit) => Some((host, Some(port))),
        _ => None,
    }
}

/// Whether `text` is a registered name or an IPv4 address: unreserved characters, delimiters of parts, and whole escapes.
fn is_registered_name(mut text: &[u8]) -> bool {
    loop {
        text = match text {
            [] => return true,
            [b'%', high, low, rest @ ..] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => rest,
            [byte, rest @ ..] if byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=".contains(byte) => rest,
            _ => return false,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_tokens_and_values_hold_no_line_ends() {
        assert!(is_token(b"X-Request-Id") && is_token(b"!") && is_token(b"9"));
        for bad in ["", "X A", "X:", "X\r\nY", "X\0", "X\u{e4}", "X-A\n", "(a)", "\"a\""] {
            assert!(!is_token(bad.as_bytes()), "{bad:?}");
        }
        for good in ["", "a", "a \t b", "\u{e4}", "a:b, c"] {
            assert!(is_value(good.as_bytes()), "{good:?}");
        }
        for bad in ["a\r\nX-B: 1", "a\n", "a\r", "\0", "a\u{7f}b", " a", "a\t", " "] {
            assert!(!is_value(bad.as_bytes()), "{bad:?}");
        }
    }

    #[test]
    fn hosts_are_told_from_what_looks_like_some() {
        for good in
            ["", "a", "a:", "a:80", "127.0.0.1:8080", "[::1]", "[::ffff:1.2.3.4]:80", "a_b.c", "%41", "a,b", ":80"]
        {
            assert!(is_host(good.as_bytes()), "{good}");
        }
        for bad in [
            "a b", "a/b", "a:b", "a:80:90", "a]", "[a]", "[::1", "[::1]a", "[::1]:x", "::1", "u@a", "a%zz", "a%4", "a?",
        ] {
            assert!(!is_host(bad.as_bytes()), "{bad}");
        }
    }

    #[test]
    fn targets_are_taken_apart() {
        let split = |method: &str, target: &str| {
            let mut request = Request { host: b"said".to_vec(), ..Request::default() };
            split_target(method.as_bytes(), target.as_bytes(), &mut request).ok()?;
            let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
            Some(format!("{} {}", text(request.host), text(request.path)))
        };
        for (method, target, split_up) in [
            ("GET", "/a?b", "said /a?b"),
            ("GET", "http://other:80/a?b", "other:80 /a?b"),
            ("GET", "HTTP://other", "other /"),
            ("GET", "http://other?b", "other /?b"),
            ("OPTIONS", "*", "said *"),
            ("CONNECT", "a:80", "a:80 /"),
            ("CONNECT", "[::1]:80", "[::1]:80 /"),
        ] {
            assert_eq!(split(method, target).as_deref(), Some(split_up), "{method} {target}");
        }
        for (method, target) in [
            ("GET", ""),
            ("GET", "*"),
            ("GET", "a"),
            ("GET", "/a#b"),
            ("GET", "/a b"),
            ("GET", "/\u{e4}"),
            ("GET", "https://a/"),
            ("GET", "http://"),
            ("GET", "http:///a"),
            ("GET", "http://:80/"),
            ("GET", "http://a:b/"),
            ("GET", "http://u@a/"),
            ("CONNECT", "/"),
            ("CONNECT", "a"),
            ("CONNECT", "a:"),
            ("CONNECT", ":80"),
            ("CONNECT", "http://a:80/"),
        ] {
            assert_eq!(split(method, target), None, "{method} {target}");
        }
    }
}
