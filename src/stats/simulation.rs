//! Synthetic noise. Owns the processes' imitation on which the verdict rule is tried out: how often it finds a difference
//! where there is none, and how often it finds one that was planted. `METHODOLOGY.md`'s figures come from [`power_table`].

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use super::verdict::{Comparison, Paired, Rule, Unpaired, paired, unpaired};

/// Scatter between the processes of one binary, as the standard deviation of the logarithm. Two processes of one binary
/// were seen to differ by 1.6 to 2.5 % in the median row and by 5 % at the 90th percentile of rows; normal noise of
/// 2.1 % gives 2.0 % and 4.9 %.
pub const BETWEEN: f64 = 0.0203;

/// What the noise of a run is made of; all parts are logarithms of the time.
#[derive(Clone, Copy, Debug)]
pub struct Noise {
    /// What one process adds to one row, for all its rounds (where its memory lies): standard deviation.
    pub row: f64,
    /// What one process adds to all its rows alike: standard deviation.
    pub process: f64,
    /// What one round adds to one row: standard deviation.
    pub round: f64,
    /// How much of a round's noise is left in the next round.
    pub autocorrelation: f64,
    /// This share of the (process, row) pairs ...
    pub slow_share: f64,
    /// ... is slower by this much.
    pub slow_by: f64,
    /// How much slower the machine gets from the first process to the last.
    pub drift: f64,
}

impl Noise {
    /// Independent between processes, with little noise between rounds.
    pub const INDEPENDENT: Self = Self {
        row: BETWEEN,
        process: 0.0,
        round: 0.01,
        autocorrelation: 0.0,
        slow_share: 0.0,
        slow_by: 0.0,
        drift: 0.0,
    };
    /// Rounds that resemble the ones before them.
    pub const AUTOCORRELATED: Self = Self { round: 0.03, autocorrelation: 0.9, ..Self::INDEPENDENT };
    /// One process in twenty is 5 % slower.
    pub const BIMODAL: Self = Self { slow_share: 0.05, slow_by: 0.05, ..Self::INDEPENDENT };
    /// A machine that slows down by 10 % during the run, and processes that differ in all rows alike.
    pub const DRIFTING: Self = Self { process: 0.01, drift: 0.10, ..Self::INDEPENDENT };

    /// The four kinds by name.
    pub const KINDS: [(&'static str, Self); 4] = [
        ("independent", Self::INDEPENDENT),
        ("autocorrelated", Self::AUTOCORRELATED),
        ("bimodal", Self::BIMODAL),
        ("drifting", Self::DRIFTING),
    ];
}

/// A family to be simulated.
#[derive(Clone, Copy, Debug)]
pub struct Family {
    /// Rows besides the reference.
    pub rows: usize,
    /// How many of them, from the first on, differ by `effect`.
    pub planted: usize,
    /// The planted effect, as a ratio of times.
    pub effect: f64,
    /// Processes a side.
    pub processes: usize,
    /// Rounds a process.
    pub rounds: usize,
}

/// How a family was judged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Rows that differ and were called so, in the right direction.
    pub found: usize,
    /// Rows that do not differ and were called faster or slower, or that do and were called the wrong way round.
    pub false_calls: usize,
}

type Times = Vec<Vec<f64>>;

impl Family {
    /// Simulates one run in which every row stands beside one common reference, and judges it.
    #[must_use]
    pub fn side_by_side(&self, rule: &Rule, noise: &Noise, seed: u64) -> Tally {
        let mut machine = Machine::new(*noise, seed);
        let offsets = machine.offsets(self.processes, 1);
        let reference = machine.row(self, &offsets, 0, 1, 0.0);
        let rows: Vec<Times> = (0..self.rows).map(|row| machine.row(self, &offsets, 0, 1, self.shift(row))).collect();
        let pairs: Vec<Paired<'_>> = rows.iter().map(|row| Paired { row, reference: &reference }).collect();
        self.tally(&paired(rule, &pairs, &[]).unwrap_or_default())
    }

    /// Simulates two runs whose processes alternate A, B, B, A, and judges the second against the first.
    #[must_use]
    pub fn two_runs(&self, rule: &Rule, noise: &Noise, seed: u64) -> Tally {
        let mut machine = Machine::new(*noise, seed);
        let offsets = machine.offsets(self.processes, 2);
        let sides: Vec<(Times, Times)> = (0..self.rows)
            .map(|row| (machine.row(self, &offsets, 0, 2, 0.0), machine.row(self, &offsets, 1, 2, self.shift(row))))
            .collect();
        let pairs: Vec<Unpaired<'_>> = sides
            .iter()
            .map(|(reference, row)| Unpaired { row, reference, row_dropped: &[], reference_dropped: &[] })
            .collect();
        self.tally(&unpaired(rule, &pairs).unwrap_or_default())
    }

    fn shift(&self, row: usize) -> f64 {
        if row < self.planted { self.effect.ln() } else { 0.0 }
    }

    fn tally(&self, comparisons: &[Comparison]) -> Tally {
        let mut tally = Tally::default();
        for (row, comparison) in comparisons.iter().enumerate() {
            if !comparison.verdict.is_difference() {
                continue;
            }
            let right = row < self.planted && (comparison.ratio > 1.0) == (self.effect > 1.0);
            if right { tally.found += 1 } else { tally.false_calls += 1 }
        }
        tally
    }
}

/// The source of noise.
struct Machine {
    noise: Noise,
    random: ChaCha8Rng,
}

impl Machine {
    fn new(noise: Noise, seed: u64) -> Self {
        Self { noise, random: ChaCha8Rng::seed_from_u64(seed) }
    }

    /// What each process, in the order of time, adds to all of its rows.
    fn offsets(&mut self, processes: usize, sides: usize) -> Vec<f64> {
        let count = processes * sides;
        (0..count).map(|at| self.noise.drift * share(at, count) + self.noise.process * self.normal()).collect()
    }

    /// One row's times of the processes of one side.
    fn row(&mut self, family: &Family, offsets: &[f64], side: usize, sides: usize, shift: f64) -> Times {
        (0..family.processes)
            .map(|process| {
                // A, B, B, A: every other pair of processes the other way round.
                let at = sides * process + if process % 2 == 0 { side } else { sides - 1 - side };
                let slow = if self.uniform() < self.noise.slow_share { self.noise.slow_by } else { 0.0 };
                let base = offsets[at] + slow + shift + self.noise.row * self.normal();
                let mut left = self.normal();
                (0..family.rounds)
                    .map(|_| {
                        let time = 100.0 * (base + self.noise.round * left).exp();
                        let keep = self.noise.autocorrelation;
                        left = keep * left + (1.0 - keep * keep).sqrt() * self.normal();
                        time
                    })
                    .collect()
            })
            .collect()
    }

    /// Standard normal, by Box and Muller.
    fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
        radius * (2.0 * std::f64::consts::PI * self.uniform()).cos()
    }

    /// Uniform in 0 to 1, without 1.
    fn uniform(&mut self) -> f64 {
        f64::from(self.random.next_u32()) / 4_294_967_296.0
    }
}

/// The two designs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Design {
    /// Row and reference in the same rounds of the same processes, as in one run.
    SideBySide,
    /// Two runs whose processes alternate.
    TwoRuns,
}

impl Family {
    /// The judgement on `repeats` simulated comparisons, from the seeds `first_seed` on.
    #[must_use]
    pub fn repeat(&self, design: Design, rule: &Rule, noise: &Noise, first_seed: u64, repeats: u64) -> Rates {
        let tallies = (first_seed..first_seed + repeats).map(|seed| match design {
            Design::SideBySide => self.side_by_side(rule, noise, seed),
            Design::TwoRuns => self.two_runs(rule, noise, seed),
        });
        let (mut comparisons, mut with_false, mut found) = (0, 0, 0);
        for tally in tallies {
            comparisons += 1;
            with_false += usize::from(tally.false_calls > 0);
            found += tally.found;
        }
        Rates { any_false: share(with_false, comparisons), found: share(found, comparisons * self.planted) }
    }
}

/// How often the rule errs and finds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rates {
    /// The share of comparisons with any false verdict.
    pub any_false: f64,
    /// The share of planted effects that were found.
    pub found: f64,
}

/// The table of `METHODOLOGY.md`: for each kind of noise and number of processes, the share of A/A comparisons of 190 rows
/// with any false verdict, and the share of 3 % effects found, planted in a half of the rows; side by side and between
/// two runs. `repeats` comparisons each, one line of text a row of the table.
pub fn power_table(repeats: u64) -> impl Iterator<Item = String> {
    let rule = Rule { resplits: super::Resplits { count: 200, ..Rule::default().resplits }, ..Rule::default() };
    let sizes = [5, 10, 15, 20, 30];
    let cells = Noise::KINDS.into_iter().flat_map(move |kind| sizes.map(|processes| (kind, processes)));
    let head = "noise            P  side by side: any false, 3 % found   two runs: any false, 3 % found".to_owned();
    std::iter::once(head).chain(cells.map(move |((name, noise), processes)| {
        let same = Family { rows: 190, planted: 0, effect: 1.0, processes, rounds: 5 };
        let half = Family { planted: 95, effect: 1.03, ..same };
        let rates = |design| {
            let any_false = same.repeat(design, &rule, &noise, 0, repeats).any_false;
            let found = half.repeat(design, &rule, &noise, 1_000_000, repeats.div_ceil(10)).found;
            format!("{:>5.1} % {:>5.1} %", 100.0 * any_false, 100.0 * found)
        };
        format!("{name:<15} {processes:>2}  {:>33}   {:>25}", rates(Design::SideBySide), rates(Design::TwoRuns))
    }))
}

#[expect(clippy::cast_precision_loss, reason = "counts are small")]
fn share(part: usize, whole: usize) -> f64 {
    part as f64 / whole.max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rule with fewer hand-outs of labels than the published one, for speed.
    fn quick(count: usize) -> Rule {
        let rule = Rule::default();
        Rule { resplits: super::super::Resplits { count, ..rule.resplits }, ..rule }
    }

    /// The rule for comparisons where nothing differs: what keeps it from erring there is the adjusted test alone, so
    /// that a handful of hand-outs does.
    fn for_nothing() -> Rule {
        quick(4)
    }

    /// Asserts that any false verdict turns up in no more of the A/A comparisons of 190 rows than a rate of 5 % explains:
    /// 5 of 20, or 7 of 40, come less than once in 200 tries at that rate. (With independent rows where nothing differs,
    /// Benjamini-Hochberg's rate is 5 % nearly to the point, so that "at most 5 % of these 40" would fail a third of the
    /// rules that are right. `examples/power_table.rs` measures the rates themselves.)
    fn errs_seldom(design: Design, noise: &Noise) {
        for (processes, repeats, too_often) in [(5, 20, 0.25), (15, 40, 0.175)] {
            let same = Family { rows: 190, planted: 0, effect: 1.0, processes, rounds: 5 };
            let rates = same.repeat(design, &for_nothing(), noise, 0, repeats);
            assert!(rates.any_false < too_often, "{design:?} P = {processes}: {rates:?}");
        }
    }

    #[test]
    fn errs_seldom_under_independent_noise() {
        errs_seldom(Design::SideBySide, &Noise::INDEPENDENT);
        errs_seldom(Design::TwoRuns, &Noise::INDEPENDENT);
    }

    #[test]
    fn errs_seldom_under_autocorrelated_noise() {
        errs_seldom(Design::SideBySide, &Noise::AUTOCORRELATED);
        errs_seldom(Design::TwoRuns, &Noise::AUTOCORRELATED);
    }

    #[test]
    fn errs_seldom_under_bimodal_noise() {
        errs_seldom(Design::SideBySide, &Noise::BIMODAL);
        errs_seldom(Design::TwoRuns, &Noise::BIMODAL);
    }

    #[test]
    fn errs_seldom_under_drift() {
        errs_seldom(Design::SideBySide, &Noise::DRIFTING);
        errs_seldom(Design::TwoRuns, &Noise::DRIFTING);
    }

    #[test]
    fn finds_planted_effects_as_often_as_stated() {
        for (processes, stated) in [(10, 0.65), (15, 0.87), (20, 0.93), (30, 0.97)] {
            let planted = Family { rows: 60, planted: 60, effect: 1.03, processes, rounds: 5 };
            let rates = planted.repeat(Design::TwoRuns, &quick(40), &Noise::INDEPENDENT, 0, 4);
            assert!(rates.found >= stated, "P = {processes}: {rates:?}, stated {stated}");
        }
    }

    #[test]
    fn what_slows_a_whole_process_hides_nothing_side_by_side() {
        let noise = Noise { process: 0.03, ..Noise::DRIFTING };
        let planted = Family { rows: 60, planted: 12, effect: 1.06, processes: 15, rounds: 5 };
        let rates = planted.repeat(Design::SideBySide, &quick(40), &noise, 0, 4);
        assert!(rates.found >= 0.95, "{rates:?}");
    }

    #[test]
    fn rounds_do_not_count_as_processes() {
        // Ten times the rounds in each process bring no more false verdicts than a rate of 5 % explains. (Resampling
        // rounds instead of processes made 26 % of rows "change" and every comparison hold a false verdict.)
        let same = Family { rows: 190, planted: 0, effect: 1.0, processes: 12, rounds: 50 };
        let rates = same.repeat(Design::TwoRuns, &for_nothing(), &Noise::AUTOCORRELATED, 0, 40);
        assert!(rates.any_false < 0.175, "{rates:?}");
    }

    #[test]
    fn the_table_has_a_line_for_every_kind_and_size() {
        assert_eq!(power_table(0).count(), 1 + 4 * 5);
    }
}
