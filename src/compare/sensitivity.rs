//! How often `compare` errs, and how often it finds what was planted, on noise that a real run has recorded. Owns the
//! sessions that never were: of `zap` and one codec, as `scripts/compare.sh` makes them; the processes of both sides are drawn,
//! with all their rounds, from those of one run, so that between the sides nothing differs but what is planted. What
//! `METHODOLOGY.md` says of power comes from [`table`].

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

/// What every session measures besides the codec that is meant.
const ALWAYS: [&str; 2] = ["zap", "ed25519-verify"];

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

/// The rows with rounds of a run, and how many of its processes, from the first on: its noise.
#[derive(Debug)]
pub struct Noise<'a> {
    run: &'a RunFile,
    rows: Vec<(&'a Measurement, &'a [Vec<f64>])>,
    codecs: Vec<&'a str>,
    processes: usize,
}

impl<'a> Noise<'a> {
    /// The noise of the first `processes` processes of `run`, or of all; `None` where it has no rates with the rounds of so many.
    #[must_use]
    pub fn of(run: &'a RunFile, processes: Option<usize>) -> Option<Self> {
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
        codecs.retain(|codec| !ALWAYS.contains(codec));
        codecs.sort_unstable();
        codecs.dedup();
        let processes = processes.unwrap_or(first.len());
        let enough = (2..=first.len()).contains(&processes) && !codecs.is_empty();
        (even && enough).then_some(Self { run, rows, codecs, processes })
    }

    /// `comparisons` sessions of `processes` a side, of one codec after the other; where `plant` says so, it is 3 % slower in all
    /// its rows.
    #[must_use]
    pub fn try_out(&self, processes: usize, comparisons: usize, plant: bool) -> Tally {
        let mut tally = Tally { comparisons, ..Tally::default() };
        for at in 0..comparisons {
            let codec = self.codecs[at % self.codecs.len()];
            let sides = self.session(processes, codec, plant, at as u64);
            let lines = compare(&sides, Terms::default()).lines;
            let is_planted = |line: &&Line| plant && line.at.protocol == codec;
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
    fn session(&self, processes: usize, codec: &str, plant: bool, seed: u64) -> [Side; 2] {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let recorded = self.processes as u64;
        [("old", 1.0), ("new", if plant { PLANTED } else { 1.0 })].map(|(name, factor)| {
            let drawn: Vec<usize> =
                (0..processes).map(|_| usize::try_from(random.next_u64() % recorded).unwrap_or(0)).collect();
            let run = |at: usize| {
                let own: Vec<(usize, usize)> =
                    drawn.iter().copied().enumerate().filter(|(turn, _)| turn % LAYOUTS.len() == at).collect();
                self.drawn(at, &own, name == "new", (codec, factor))
            };
            Side::new(name, (0..LAYOUTS.len()).map(run).collect())
        })
    }

    /// One run of a session: the processes drawn, with the turns that they had.
    fn drawn(&self, layout: usize, own: &[(usize, usize)], is_new: bool, (codec, factor): (&str, f64)) -> RunFile {
        let RunFile { schema, run, source, machine, conditions, settings, .. } = self.run;
        let mut conditions = conditions.clone();
        let marks = own.iter().enumerate().flat_map(|(at, (_, process))| {
            let of_process = self.run.conditions.dropped.iter().filter(move |[marked, _]| marked == process);
            of_process.map(move |[_, round]| [at, *round])
        });
        conditions.dropped = marks.collect();
        // A, B, B, A.
        let turn = |pair: usize| 2 * pair + usize::from(pair.is_multiple_of(2) == is_new);
        let turns: Vec<usize> = own.iter().map(|(pair, _)| turn(*pair)).collect();
        let mut settings = settings.clone();
        settings.insert("session".to_owned(), "drawn".into());
        settings.insert("layout_bytes".to_owned(), LAYOUTS[layout].into());
        settings.insert("turns_ms".to_owned(), turns.into());
        let meant =
            self.rows.iter().filter(|(row, _)| row.protocol == codec || ALWAYS.contains(&row.protocol.as_str()));
        let measurements = meant.map(|(row, rounds)| {
            let factor = if row.protocol == codec { factor } else { 1.0 };
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

/// The head of `METHODOLOGY.md`'s table.
pub const HEAD: [&str; 2] = [
    "| noise | processes a side | nothing planted: comparisons with a false verdict | 3 % planted: found | rows of it found |",
    "| --- | ---: | ---: | ---: | ---: |",
];

/// The processes of a run that `METHODOLOGY.md` calls quiet: those before the machine began to stall.
pub const QUIET: usize = 8;

/// The table of `METHODOLOGY.md`, line by line: for the quiet part of a run and for the whole of it.
pub fn table(run: &RunFile, comparisons: usize) -> impl Iterator<Item = String> {
    let parts = [("quiet", Some(QUIET)), ("all of it", None)];
    let noises = parts.into_iter().filter_map(|(name, processes)| Some((name, Noise::of(run, processes)?)));
    let lines = noises.flat_map(move |(name, noise)| {
        let line = |processes| {
            let same = noise.try_out(processes, comparisons, false);
            line(name, processes, &same, &noise.try_out(processes, comparisons, true))
        };
        [10, 15, 20, 30].map(line)
    });
    HEAD.into_iter().map(str::to_owned).chain(lines)
}

/// One line of it: how many comparisons had a false verdict with nothing planted, in how many the codec that was made slower was
/// found, and which share of its rows.
#[must_use]
pub fn line(noise: &str, processes: usize, same: &Tally, planted: &Tally) -> String {
    let rows = 100 * planted.found_rows / planted.planted_rows.max(1);
    format!(
        "| {noise} | {processes} | {} of {} | {} of {} | {rows} % |",
        same.with_false, same.comparisons, planted.found, planted.comparisons
    )
}
