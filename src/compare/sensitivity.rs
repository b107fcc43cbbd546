//! How often `compare` errs, and how often it finds what was planted, on noise that a real run has recorded. Owns the sessions that
//! never were: the processes of two sides are drawn, with all their rounds and rows, from those of one run, so that between the
//! sides nothing differs but what is planted. What `METHODOLOGY.md` says of power comes from [`table`].

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use super::basis::Terms;
use super::compare;
use super::record::{Line, Outcome};
use super::side::Side;
use crate::result::RunFile;
use crate::result::record::{Kind, Measurement, Processes};

/// The link layouts of a session, in bytes.
const LAYOUTS: [u64; 4] = [0, 16, 32, 48];

/// The planted change: a ratio of times.
const PLANTED: f64 = 1.03;

/// What came of many comparisons.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Comparisons.
    pub comparisons: usize,
    /// Those in which a row that does not differ was called better or worse.
    pub with_false: usize,
    /// Those in which a codec was made slower in all its rows and `compare` failed on one of them at least.
    pub found: usize,
    /// Rows that were made slower.
    pub planted_rows: usize,
    /// Those of them that were called worse.
    pub found_rows: usize,
}

/// The rows with rounds of a run: its noise.
#[derive(Debug)]
pub struct Noise<'a> {
    run: &'a RunFile,
    rows: Vec<(&'a Measurement, &'a [Vec<f64>])>,
    codecs: Vec<&'a str>,
}

impl<'a> Noise<'a> {
    /// The noise of `run`; `None` where it has no rates with the rounds of at least two processes.
    #[must_use]
    pub fn of(run: &'a RunFile) -> Option<Self> {
        let rates = run.measurements.iter().filter(|one| one.kind == Kind::Rate);
        let rows: Vec<_> = rates
            .filter_map(|one| match &one.processes {
                Some(Processes::Rounds(rounds)) => Some((one, rounds.as_slice())),
                _ => None,
            })
            .collect();
        let (_, first) = rows.first()?;
        let even = rows.iter().all(|(_, rounds)| rounds.len() == first.len());
        let mut codecs: Vec<&str> = rows.iter().map(|(one, _)| one.protocol.as_str()).collect();
        codecs.sort_unstable();
        codecs.dedup();
        (even && first.len() > 1).then_some(Self { run, rows, codecs })
    }

    /// `comparisons` sessions of `processes` a side; in each, where `plant` says so, one codec after the other is 3 % slower in
    /// all its rows.
    #[must_use]
    pub fn try_out(&self, processes: usize, comparisons: usize, plant: bool) -> Tally {
        let mut tally = Tally { comparisons, ..Tally::default() };
        for at in 0..comparisons {
            let codec = plant.then(|| self.codecs[at % self.codecs.len()]);
            let sides = self.session(processes, codec, at as u64);
            let lines = compare(&sides, Terms::default()).lines;
            let is_planted = |line: &&Line| Some(line.at.protocol.as_str()) == codec;
            let is_called = |line: &&Line| matches!(line.outcome, Outcome::Worse | Outcome::Better);
            let planted: Vec<_> = lines.iter().filter(is_planted).collect();
            let found = planted.iter().filter(|line| line.fails).count();
            let wrong = planted.iter().any(|line| line.outcome == Outcome::Better);
            tally.with_false +=
                usize::from(wrong || lines.iter().filter(|line| !is_planted(line)).any(|line| is_called(&line)));
            tally.found += usize::from(found > 0);
            tally.planted_rows += planted.len();
            tally.found_rows += found;
        }
        tally
    }

    /// Both sides of a session: as many runs a side as there are layouts.
    fn session(&self, processes: usize, planted: Option<&str>, seed: u64) -> [Side; 2] {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let recorded = self.rows.first().map_or(1, |(_, rounds)| rounds.len()) as u64;
        [("old", None), ("new", planted)].map(|(name, planted)| {
            let drawn: Vec<usize> =
                (0..processes).map(|_| usize::try_from(random.next_u64() % recorded).unwrap_or(0)).collect();
            let run = |at: usize| {
                let own: Vec<(usize, usize)> =
                    drawn.iter().copied().enumerate().filter(|(turn, _)| turn % LAYOUTS.len() == at).collect();
                self.drawn(at, &own, name == "new", planted)
            };
            Side::new(name, (0..LAYOUTS.len()).map(run).collect())
        })
    }

    /// One run of a session: the processes drawn, with the turns that they had.
    fn drawn(&self, layout: usize, own: &[(usize, usize)], is_new: bool, planted: Option<&str>) -> RunFile {
        let RunFile { schema, run, source, machine, conditions, settings, .. } = self.run;
        let mut conditions = conditions.clone();
        let marks = own.iter().enumerate().flat_map(|(at, (_, process))| {
            let of_process = self.run.conditions.dropped.iter().filter(move |[marked, _]| marked == process);
            of_process.map(move |[_, round]| [at, *round])
        });
        conditions.dropped = marks.collect();
        // A, B, B, A.
        let turn = |pair: usize| 2 * pair + usize::from((pair % 2 == 0) == is_new);
        let turns: Vec<usize> = own.iter().map(|(pair, _)| turn(*pair)).collect();
        let mut settings = settings.clone();
        settings.insert("session".to_owned(), "drawn".into());
        settings.insert("layout_bytes".to_owned(), LAYOUTS[layout].into());
        settings.insert("turns_ms".to_owned(), turns.into());
        let measurements = self.rows.iter().map(|(row, rounds)| {
            let factor = if planted == Some(row.protocol.as_str()) { PLANTED } else { 1.0 };
            let of_process =
                |(_, process): &(usize, usize)| rounds[*process].iter().map(|time| time * factor).collect();
            let rounds = own.iter().map(of_process).collect();
            Measurement { processes: Some(Processes::Rounds(rounds)), ..(*row).clone() }
        });
        RunFile {
            schema: schema.clone(),
            run: run.clone(),
            source: source.clone(),
            machine: machine.clone(),
            conditions,
            settings,
            measurements: measurements.collect(),
        }
    }
}

/// The table of `METHODOLOGY.md`, line by line.
pub fn table(noise: &Noise<'_>, comparisons: usize) -> impl Iterator<Item = String> {
    let head = [
        "| processes a side | nothing planted: comparisons with a false verdict | 3 % planted: found | rows of it found |",
        "| ---: | ---: | ---: | ---: |",
    ];
    let lines = [10, 15, 20, 30].into_iter().map(move |processes| {
        let same = noise.try_out(processes, comparisons, false);
        line(processes, &same, &noise.try_out(processes, comparisons, true))
    });
    head.into_iter().map(str::to_owned).chain(lines)
}

/// The line of a number of processes a side: how many comparisons had a false verdict with nothing planted, in how many the codec
/// that was made slower was found, and which share of its rows.
#[must_use]
pub fn line(processes: usize, same: &Tally, planted: &Tally) -> String {
    let rows = 100 * planted.found_rows / planted.planted_rows.max(1);
    format!(
        "| {processes} | {} of {} | {} of {} | {rows} % |",
        same.with_false, same.comparisons, planted.found, planted.comparisons
    )
}
