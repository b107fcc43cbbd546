//! More than two sides: at which one a figure changed. Each side that has a figure is set against the last one before it that
//! has it, all steps of all figures as one family; the last side against the first are the lines.

use super::basis::Terms;
use super::judge::{cases_of, judge, two};
use super::pair::{Grounds, Pair};
use super::record::{Change, Line, Outcome, Trend};
use super::session;
use super::side::{Figures, Side};

/// The lines from the first side to the last, and the trends of the figures that any two sides have.
#[must_use]
pub fn follow(sides: &[Side], terms: Terms) -> (Vec<Line>, Vec<Trend>) {
    let (Some(first), Some(last)) = (sides.first(), sides.last()) else { return (Vec::new(), Vec::new()) };
    (two(first, last, terms), trends(sides, terms))
}

fn trends(sides: &[Side], terms: Terms) -> Vec<Trend> {
    let figures: Vec<Figures<'_>> = sides.iter().map(Side::figures).collect();
    let (mut cases, mut steps) = (Vec::new(), Vec::new());
    for to in 1..sides.len() {
        // One set of grounds for each pair of sides, which are few.
        let mut grounds: Vec<Grounds<'_>> =
            sides[..to].iter().map(|from| Grounds::new(session::interleaved(from, &sides[to]), terms)).collect();
        for (key, figure) in figures[to].iter() {
            let Some(from) = (0..to).rev().find(|from| figures[*from].get(key).is_some()) else { continue };
            let pair = Pair { old: figures[from].get(key), new: Some(figure) };
            let of_step = cases_of(key, &pair, (&figures[from], &figures[to]), &mut grounds[from]);
            steps.extend(std::iter::repeat_n((from, to), of_step.len()));
            cases.extend(of_step);
        }
    }
    gather(sides, judge(cases).iter().zip(steps))
}

/// The steps by figure, in the order of their first.
fn gather<'l>(sides: &[Side], steps: impl Iterator<Item = (&'l Line, (usize, usize))>) -> Vec<Trend> {
    let mut trends: Vec<Trend> = Vec::new();
    let mut places = std::collections::HashMap::new();
    for (line, (from, to)) in steps {
        let words: Vec<String> = line.at.words().map(str::to_owned).collect();
        let place = *places.entry(words).or_insert_with(|| {
            trends.push(Trend {
                at: line.at.clone(),
                unit: line.unit.clone(),
                kind: line.kind,
                better: line.better,
                values: vec![None; sides.len()],
                changes: Vec::new(),
            });
            trends.len() - 1
        });
        let trend = &mut trends[place];
        (trend.values[from], trend.values[to]) = (line.old.or(trend.values[from]), line.new);
        let changed = [Outcome::Broken, Outcome::Worse, Outcome::Better, Outcome::LayoutSuspect, Outcome::Untested];
        if changed.contains(&line.outcome) {
            let commit = sides[to].runs.last().map(|run| run.source.commit.clone()).unwrap_or_default();
            let Line { ratio, basis, outcome, .. } = *line;
            trend.changes.push(Change { from, to, commit, ratio, basis, outcome });
        }
    }
    trends
}
