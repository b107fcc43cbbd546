//! How often `compare` errs, and how often it finds what was planted, on noise that a real session has recorded. Owns the
//! sessions that never were: both sides of the recorded one were the same build, so in each pair of turns the two may swap
//! labels without anything being different; then a change is planted on one side. What `METHODOLOGY.md` says of power comes
//! from [`table`].

use std::collections::BTreeMap;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use super::basis::Terms;
use super::record::{Line, Outcome};
use super::side::Side;
use super::{compare, session};
use crate::result::RunFile;
use crate::result::record::{Kind, Measurement, Processes};

/// The planted change: a ratio of times.
const PLANTED: f64 = 1.03;

/// What came of many comparisons.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Comparisons.
    pub comparisons: usize,
    /// Those in which something that does not differ was called better or worse.
    pub with_false: usize,
    /// Those in which one row was made slower, and `compare` failed on it.
    pub found: usize,
}

/// A process of the recorded session: which run it was of, and which of its processes.
type Place = (usize, usize);

/// A session of one build under two labels.
#[derive(Debug)]
pub struct Recorded<'a> {
    runs: Vec<&'a RunFile>,
    /// Neighbours in time, one of either side, in the order of time.
    pairs: Vec<[Place; 2]>,
    /// The rows with rounds, by their place among the measurements of every run.
    rows: Vec<usize>,
}

impl<'a> Recorded<'a> {
    /// The session of these sides; `None` where they did not take turns, are of two commits, or have not the same rows.
    #[must_use]
    pub fn of(old: &'a Side, new: &'a Side) -> Option<Self> {
        let runs: Vec<&RunFile> = old.runs.iter().chain(&new.runs).collect();
        let first = runs.first()?;
        let alike = |run: &&RunFile| {
            let coordinates = |run: &RunFile| run.measurements.iter().map(Measurement::coordinates).collect::<Vec<_>>();
            run.source.commit == first.source.commit && coordinates(run) == coordinates(first)
        };
        if session::interleaved(old, new).is_empty() || !runs.iter().all(alike) {
            return None;
        }
        let mut turns: Vec<(u64, Place)> = Vec::new();
        for (at, run) in runs.iter().enumerate() {
            turns.extend(session::turns(run).enumerate().map(|(process, time)| (time, (at, process))));
        }
        turns.sort_unstable();
        let pairs = turns.as_chunks::<2>().0.iter().map(|[left, right]| [left.1, right.1]).collect();
        let is_row = |at: &usize| {
            let measurement = &first.measurements[*at];
            measurement.kind == Kind::Rate && matches!(measurement.processes, Some(Processes::Rounds(_)))
        };
        let rows = (0..first.measurements.len()).filter(is_row).collect();
        Some(Self { runs, pairs, rows })
    }

    /// The rows that are timed.
    #[must_use]
    pub const fn rows(&self) -> usize {
        self.rows.len()
    }

    /// How many processes a side there are to draw from.
    #[must_use]
    pub const fn processes(&self) -> usize {
        self.pairs.len()
    }

    /// `comparisons` sessions of `processes` a side; in each, where `plant` says so, one row after the other is 3 % slower.
    #[must_use]
    pub fn try_out(&self, processes: usize, comparisons: usize, plant: bool) -> Tally {
        let mut tally = Tally { comparisons, ..Tally::default() };
        for at in 0..comparisons {
            let planted = plant.then(|| self.rows[at % self.rows.len()]);
            let [old, new] = self.relabelled(processes, planted, at as u64);
            let lines = compare(&[old, new], Terms::default()).lines;
            let words = planted.map(|row| self.runs[0].measurements[row].coordinates());
            let is_planted =
                |line: &Line| words.as_deref() == Some(line.at.words().collect::<Vec<_>>().join(" ").as_str());
            let is_false = |line: &Line| match line.outcome {
                Outcome::Worse => !is_planted(line),
                Outcome::Better => true,
                _ => false,
            };
            tally.with_false += usize::from(lines.iter().any(is_false));
            tally.found += usize::from(lines.iter().any(|line| is_planted(line) && line.fails));
        }
        tally
    }

    /// Both sides of a session: neighbours in time, each pair labelled at random.
    fn relabelled(&self, processes: usize, planted: Option<usize>, seed: u64) -> [Side; 2] {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let spare = self.pairs.len().saturating_sub(processes) as u64;
        let start = usize::try_from(random.next_u64() % (spare + 1)).unwrap_or(0);
        let mut sides: [BTreeMap<u64, Vec<(usize, Place)>>; 2] = Default::default();
        for (pair, places) in self.pairs.iter().skip(start).take(processes).enumerate() {
            let swapped = usize::from(random.next_u32() & 1 == 1);
            for (side, by_layout) in sides.iter_mut().enumerate() {
                let place = places[side ^ swapped];
                // A, B, B, A.
                let turn = 2 * pair + usize::from((pair % 2 == 1) != (side == 1));
                by_layout.entry(session::layout(self.runs[place.0]).unwrap_or(0)).or_default().push((turn, place));
            }
        }
        let mut names = ["old", "new"].into_iter();
        sides.map(|by_layout| {
            let name = names.next().unwrap_or_default();
            let planted = planted.filter(|_| name == "new");
            let runs = by_layout.iter().map(|(layout, places)| self.run(*layout, places, planted)).collect();
            Side::new(name, runs)
        })
    }

    /// One run of a session: the processes of one layout, with the turns that they have now.
    fn run(&self, layout: u64, places: &[(usize, Place)], planted: Option<usize>) -> RunFile {
        let first = self.runs[0];
        let mut conditions = first.conditions.clone();
        let marks = places.iter().enumerate().flat_map(|(at, (_, (run, process)))| {
            let dropped = self.runs[*run].conditions.dropped.iter();
            dropped.filter(move |[marked, _]| marked == process).map(move |[_, round]| [at, *round])
        });
        conditions.dropped = marks.collect();
        let mut settings = first.settings.clone();
        settings.insert("layout_bytes".to_owned(), layout.into());
        settings.insert("turns_ms".to_owned(), places.iter().map(|(turn, _)| *turn).collect::<Vec<_>>().into());
        let measurements = self.rows.iter().map(|row| {
            let factor = if planted == Some(*row) { PLANTED } else { 1.0 };
            let of_process = |(_, (run, process)): &(usize, Place)| match &self.runs[*run].measurements[*row].processes
            {
                Some(Processes::Rounds(rounds)) => rounds[*process].iter().map(|time| time * factor).collect(),
                _ => Vec::new(),
            };
            let rounds = places.iter().map(of_process).collect();
            Measurement { processes: Some(Processes::Rounds(rounds)), ..first.measurements[*row].clone() }
        });
        RunFile { conditions, settings, measurements: measurements.collect(), ..first.clone() }
    }
}

/// The table of `METHODOLOGY.md`, line by line.
pub fn table(recorded: &Recorded<'_>, comparisons: usize) -> impl Iterator<Item = String> {
    let head = [
        "| processes a side | nothing planted: comparisons with a false verdict | 3 % planted in one row: found |",
        "| ---: | ---: | ---: |",
    ];
    let lines = [10, 15, 20, 30].into_iter().map(move |processes| {
        let same = recorded.try_out(processes, comparisons, false);
        line(processes, &same, &recorded.try_out(processes, comparisons, true))
    });
    head.into_iter().map(str::to_owned).chain(lines)
}

/// The line of a number of processes a side.
#[must_use]
pub fn line(processes: usize, same: &Tally, planted: &Tally) -> String {
    format!(
        "| {processes} | {} of {} | {} of {} |",
        same.with_false, same.comparisons, planted.found, planted.comparisons
    )
}
