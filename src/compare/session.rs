//! Which processes were interleaved in one session, in which link layouts. Owns how a run says that it took part in one, and
//! the proof: the times at which its processes began, which must alternate with the other side's.
//!
//! Three settings of a run, written by `votebench serialize --turns`: `session`, the name that all runs of a session share;
//! `layout_bytes`, by how much all code of that build is shifted; `turns_ms`, when each of its processes began, in
//! milliseconds since 1970.

use std::collections::HashSet;

use super::side::Side;
use crate::result::RunFile;

/// Processes of one side that may follow each other: in A, B, B, A, A, B, B, A there are two.
const IN_A_ROW: usize = 2;

/// The session that a run took part in.
#[must_use]
pub fn id(run: &RunFile) -> Option<&str> {
    run.settings.get("session")?.as_str()
}

/// By how many bytes the run's code is shifted.
#[must_use]
pub fn layout(run: &RunFile) -> Option<u64> {
    run.settings.get("layout_bytes")?.as_u64()
}

fn turns(run: &RunFile) -> impl Iterator<Item = u64> {
    let turns = run.settings.get("turns_ms").and_then(serde_json::Value::as_array);
    turns.into_iter().flatten().filter_map(serde_json::Value::as_u64)
}

/// The sessions in which the processes of both sides took turns.
#[must_use]
pub fn interleaved<'a>(old: &'a Side, new: &'a Side) -> HashSet<&'a str> {
    let ids: HashSet<&str> = old.runs.iter().filter_map(id).collect();
    let is_interleaved = |id: &&str| {
        let of = |side: &'a Side, label: bool| {
            let runs = side.runs.iter().filter(move |run| self::id(run) == Some(*id));
            runs.flat_map(turns).map(move |at| (at, label))
        };
        alternate(of(old, false).chain(of(new, true)).collect())
    };
    ids.into_iter().filter(is_interleaved).collect()
}

/// Whether the sides took turns: as many processes on either, and never more than two of one in a row.
fn alternate(mut turns: Vec<(u64, bool)>) -> bool {
    turns.sort_unstable();
    let of_new = turns.iter().filter(|(_, is_new)| *is_new).count();
    let longest = turns.chunk_by(|left, right| left.1 == right.1).map(<[_]>::len).max();
    of_new > 0 && 2 * of_new == turns.len() && longest.is_some_and(|longest| longest <= IN_A_ROW)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turns(order: &str) -> Vec<(u64, bool)> {
        order.chars().enumerate().map(|(at, side)| (1_000 + at as u64, side == 'B')).collect()
    }

    #[test]
    fn tells_turns_from_one_after_the_other() {
        for good in ["AB", "ABBA", "ABBAABBA", "BAAB", "ABABAB"] {
            assert!(alternate(turns(good)), "{good}");
        }
        for bad in ["", "A", "B", "AA", "AAABBB", "ABBBAA", "ABA", "AABBBA"] {
            assert!(!alternate(turns(bad)), "{bad}");
        }
        let mut shuffled = turns("ABBAABBA");
        shuffled.reverse();
        assert!(alternate(shuffled), "the files' order does not matter");
    }
}
