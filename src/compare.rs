//! What has changed from one run to another. Owns matching and verdicts; reads no file and draws no table, and knows
//! results and statistics only.
//!
//! | module | owns |
//! | --- | --- |
//! | [`side`] | the runs of one side, and their figures by coordinates |
//! | [`basis`] | whether two runs may be compared, and how far a difference between them is to be believed |
//! | [`session`] | which processes were interleaved in one session, in which link layouts |
//! | [`pair`] | two figures of the same coordinates, and what the statistics need of them |
//! | [`judge`] | from pairs to lines: one family, one verdict a line |
//! | [`trend`] | more than two sides: at which one a figure changed |
//! | [`sensitivity`] | how often it errs and finds, on noise that a run has recorded |
//! | [`record`] | the shape of what `votebench compare --json` prints |
//!
//! A **side** is what stands left or right of a comparison: a run, or several that belong together, such as the times and the
//! instruction counts of one commit, or a session's runs in several link layouts.

pub mod basis;
pub mod judge;
pub mod pair;
pub mod record;
pub mod sensitivity;
pub mod session;
pub mod side;
pub mod trend;

use basis::Terms;
use record::{Line, Report, SCHEMA, Summary};
use side::Side;

/// Compares two sides or more, the oldest first. With more than two, the lines set the last against the first, and the
/// trends say at which side between them a figure changed.
#[must_use]
pub fn compare(sides: &[Side], terms: Terms) -> Report {
    let mut report = Report {
        schema: SCHEMA.to_owned(),
        sides: sides.iter().map(Side::record).collect(),
        notes: side::notes(sides),
        lines: Vec::new(),
        trends: Vec::new(),
        summary: Summary::default(),
    };
    match sides {
        [] | [_] => {}
        [old, new] => report.lines = judge::two(old, new, terms),
        many => (report.lines, report.trends) = trend::follow(many, terms),
    }
    worst_first(&mut report.lines);
    report.summary = Summary::of(&report.lines);
    report
}

/// Sorts by what is worst; what is equally bad stays in the order of the files. Lines are large, so their places are sorted.
fn worst_first(lines: &mut Vec<Line>) {
    let mut order: Vec<(f64, usize)> = lines.iter().enumerate().map(|(at, line)| (line.badness(), at)).collect();
    order.sort_by(|left, right| right.0.total_cmp(&left.0));
    let mut taken: Vec<Option<Line>> = std::mem::take(lines).into_iter().map(Some).collect();
    lines.extend(order.into_iter().filter_map(|(_, at)| taken[at].take()));
}
