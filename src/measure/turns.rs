//! Taking turns with other runs of one session, so that the processes of two builds can be interleaved: the run asks for a
//! turn with the line `turn` on stdout and waits for a line on stdin. It asks before it begins, before each of its processes, and
//! before it ends, so that whoever grants the turns has one run at a time do something; `scripts/compare.sh` is who does.

use std::io::{BufRead, Write};
use std::time::SystemTime;

/// A run's part in a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// The name that all runs of the session share.
    pub session: String,
    /// By how many bytes all code of this build is shifted.
    pub layout_bytes: u64,
}

/// Asks for a turn on `output` and waits for it on `input`. Where the granter is gone, there is none any more.
pub fn ask(input: &mut impl BufRead, output: &mut impl Write) -> bool {
    if writeln!(output, "turn").and_then(|()| output.flush()).is_err() {
        return false;
    }
    matches!(input.read_line(&mut String::new()), Ok(read) if read > 0)
}

/// The same on this process's own standard streams.
#[must_use]
pub fn ask_here() -> bool {
    ask(&mut std::io::stdin().lock(), &mut std::io::stdout().lock())
}

/// The time, in milliseconds since 1970.
#[must_use]
pub fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn asks_and_waits_for_a_line_until_there_is_nobody_to_grant_one() {
        let (mut input, mut output) = (&b"go\n\n"[..], Vec::new());
        assert!(ask(&mut input, &mut output) && ask(&mut input, &mut output));
        assert!(!ask(&mut input, &mut output));
        assert_eq!(output, b"turn\nturn\nturn\n");
    }
}
