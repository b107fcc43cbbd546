//! What the paper says about the bytes of a request, out of `results/claims/zap-http-empirical.json`: no figure of it is typed.

use serde_json::Value;

use crate::measure::arm::Published;

const CLAIMS: &str = include_str!("../../results/claims/zap-http-empirical.json");

/// Bytes of the User-Agent line that Go's HTTP client adds where a request sets none, as the claims' note gives them.
const EXTRA_WORKLOAD: &str = "tiny";

/// The published bytes of that arm's request; `None` where nothing was published.
#[must_use]
pub fn request_bytes(arm: &str, workload: &str) -> Option<Published> {
    let claims: Value = serde_json::from_str(CLAIMS).ok()?;
    let column = match arm {
        "hyper" | "pooled-http" => "http/1.1",
        other => other,
    };
    let names = claims["workloads"].as_array()?;
    let place = names.iter().position(|one| one["name"] == workload)?;
    let bytes = claims["wire_bytes"][column][place].as_u64()?;
    let http = column == "http/1.1" && workload == EXTRA_WORKLOAD;
    let extra =
        if http { Some((extra_bytes(&claims)?, claims["flaw_found"]["what"].as_str()?.to_owned())) } else { None };
    Some(Published { bytes, extra })
}

/// The bytes that the flaw's own words give: "of 32 bytes".
fn extra_bytes(claims: &Value) -> Option<u64> {
    let words = claims["flaw_found"]["what"].as_str()?.split_once("of ")?.1;
    words.split(' ').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_bytes_and_what_is_in_them() {
        let tiny = request_bytes("pooled-http", "tiny").unwrap();
        let extra = tiny.extra.unwrap();
        assert_eq!((tiny.bytes, extra.0, tiny.bytes - extra.0), (243, 32, 211));
        assert!(extra.1.contains("User-Agent"));
        assert_eq!(request_bytes("native-zap", "large"), Some(Published { bytes: 65_860, extra: None }));
        assert_eq!(request_bytes("hyper", "chat").unwrap().extra, None);
        assert_eq!(request_bytes("floor", "tiny"), None);
    }
}
