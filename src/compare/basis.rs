//! Whether two runs may be compared, and how far a difference between them is to be believed: same machine, same build
//! settings, same workload, same settings of the suite; then whether the processes were interleaved, or only the boot or the
//! time differ. Owns the reasons, each in one sentence.

use std::collections::{BTreeMap, HashSet};

use serde_json::Value;

use super::record::Basis;
use super::session;
use crate::result::RunFile;
use crate::result::record::{Kind, Measurement};

/// What the user allows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Terms {
    /// Counts of different machines are compared, rates never.
    pub across_machines: bool,
}

/// Settings of a run that say how often or where something was measured, and not what. Cores are looked at as pinned or not,
/// and the same or not.
const NOT_WHAT: [&str; 8] =
    ["processes", "rounds", "count_window", "session", "layout_bytes", "turns_ms", "client_core", "server_core"];

/// Settings of a measurement that are numbers are what was found on the way, but for these.
const CHOSEN_NUMBERS: [&str; 2] = ["votes", "batch"];

/// The setting of a measurement that names the crates under test.
const CRATES: &str = "crates";

/// What two runs are to each other: why nothing of theirs can be compared, if so, or what stands against their rates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ground {
    /// Why they cannot be compared at all.
    apart: Option<String>,
    /// Why they are of two machines, where the user has allowed it.
    machines: Option<String>,
    /// Why their rates are no more than indicative; empty where they were interleaved on a fit machine.
    doubts: Vec<String>,
}

impl Ground {
    /// Looks at two runs. `interleaved` are the sessions in which the two sides took turns.
    #[must_use]
    pub fn of(old: &RunFile, new: &RunFile, interleaved: &HashSet<&str>, terms: Terms) -> Self {
        let machines = other_machine(old, new);
        let strict = machines.clone().filter(|_| !terms.across_machines);
        let apart = strict.or_else(|| other_build(old, new)).or_else(|| other_settings(old, new));
        let doubts = machines.iter().cloned().chain(doubts(old, new, interleaved)).collect();
        Self { apart, machines, doubts }
    }

    /// On what a figure of this kind can be compared, with the reason where it is less than firm.
    #[must_use]
    pub fn basis(&self, kind: Kind) -> (Basis, Option<String>) {
        let reason = match (kind, &self.apart, &self.machines) {
            (_, Some(reason), _) | (Kind::Rate, None, Some(reason)) => Some(reason.clone()),
            _ => None,
        };
        match (kind, reason) {
            (_, Some(reason)) => (Basis::None, Some(reason)),
            (Kind::Exact, None) => (Basis::Exact, None),
            (_, None) if self.doubts.is_empty() => (Basis::Interleaved, None),
            (_, None) => (Basis::Indicative, Some(self.doubts.join("; "))),
        }
    }
}

fn other_machine(old: &RunFile, new: &RunFile) -> Option<String> {
    let (left, right) = (&old.machine, &new.machine);
    if left.fingerprint == right.fingerprint {
        return None;
    }
    let facts = [
        ("cpu", left.cpu.clone(), right.cpu.clone()),
        ("cores", left.cores.to_string(), right.cores.to_string()),
        ("kernel", left.kernel.clone(), right.kernel.clone()),
        ("hypervisor", left.hypervisor.clone(), right.hypervisor.clone()),
        ("memory", left.memory_bytes.to_string(), right.memory_bytes.to_string()),
        ("clock source", left.clock_source.clone(), right.clock_source.clone()),
    ];
    let differ = facts.iter().find(|(_, left, right)| left != right);
    let fact = differ.map_or_else(|| "another fingerprint".to_owned(), |fact| different(fact.0, &fact.1, &fact.2));
    Some(format!("another machine: {fact}"))
}

fn other_build(old: &RunFile, new: &RunFile) -> Option<String> {
    let (left, right) = (&old.source, &new.source);
    let facts = [
        ("profile", &left.profile, &right.profile),
        ("target", &left.target, &right.target),
        ("compiler flags", &left.rustflags, &right.rustflags),
    ];
    let differ = facts.iter().find(|(_, left, right)| left != right)?;
    Some(format!("another kind of build: {}", different(differ.0, differ.1, differ.2)))
}

/// A setting that one of the two does not record is no difference: older files have fewer.
fn other_settings(old: &RunFile, new: &RunFile) -> Option<String> {
    if pinning(old) != pinning(new) {
        return Some(format!("other settings: {}", different("pinning", pinning(old), pinning(new))));
    }
    let is_what = |name: &str| !NOT_WHAT.contains(&name);
    let (name, left, right) = differing(&old.settings, &new.settings, |name, _| is_what(name))?;
    let what = if name.starts_with("corpus") || name.starts_with("workload") { "workload" } else { "settings" };
    Some(format!("other {what}: {}", different(name, left, right)))
}

/// Where the measured threads ran, as far as it changes what is measured.
fn pinning(run: &RunFile) -> &'static str {
    let core = |name: &str| run.settings.get(name).and_then(Value::as_u64);
    match (core("client_core"), core("server_core")) {
        (Some(client), Some(server)) if client == server => "both sides on one core",
        (Some(_), Some(_)) => "each side on a core of its own",
        _ if run.conditions.pinned_to.is_some() => "pinned",
        // A run of counts pins nothing, and does not need to.
        _ if run.conditions.rounds_total.unwrap_or(0) == 0 => "pinned",
        _ => "not pinned",
    }
}

/// Why two measurements of the same coordinates are not of the same thing.
#[must_use]
pub fn other_thing(old: &Measurement, new: &Measurement) -> Option<String> {
    if (&old.unit, old.kind, old.better) != (&new.unit, new.kind, new.better) {
        return Some(different("unit", &old.unit, &new.unit));
    }

    if let (Some(left), Some(right)) = (library(old), library(new))
        && left != right
    {
        return Some(different("another library", left, right));
    }
    let is_choice =
        |name: &str, value: &Value| name != CRATES && (!value.is_number() || CHOSEN_NUMBERS.contains(&name));
    let (name, left, right) = differing(&old.settings, &new.settings, is_choice)?;
    Some(format!("other settings of the row: {}", different(name, left, right)))
}

/// The library that a row is of, by the names of its crates.
fn library(measurement: &Measurement) -> Option<&str> {
    measurement.settings.get(CRATES)?.as_str()
}

/// The versions of a row's library that differ between the two runs: another version is compared, and labelled.
#[must_use]
pub fn versions(old: (&RunFile, &Measurement), new: (&RunFile, &Measurement)) -> Option<String> {
    let changes = library(old.1).or_else(|| library(new.1))?.split(',').filter_map(|name| {
        let (left, right) = (old.0.source.crates.get(name)?, new.0.source.crates.get(name)?);
        (left != right).then(|| format!("{name} {left} -> {right}"))
    });
    let changes: Vec<_> = changes.collect();
    (!changes.is_empty()).then(|| changes.join(", "))
}

/// The first setting that both have, and have differently.
fn differing<'a>(
    old: &'a BTreeMap<String, Value>,
    new: &'a BTreeMap<String, Value>,
    matters: impl Fn(&str, &Value) -> bool,
) -> Option<(&'a str, &'a Value, &'a Value)> {
    old.iter().find_map(|(name, left)| {
        let right = new.get(name)?;
        (left != right && matters(name, left)).then_some((name.as_str(), left, right))
    })
}

/// What stands against believing a difference of rates.
fn doubts(old: &RunFile, new: &RunFile, interleaved: &HashSet<&str>) -> Vec<String> {
    let mut doubts = Vec::new();
    let of_session = |run| session::id(run).filter(|id| interleaved.contains(id));
    if of_session(old).is_none() || of_session(old) != of_session(new) {
        let boots = old.conditions.boot_id != new.conditions.boot_id;
        doubts.push(if boots { "measured after another boot" } else { "measured at another time" }.to_owned());
    }
    for (run, which) in [(old, "old"), (new, "new")] {
        if !run.conditions.fit {
            doubts.push(format!("the {which} run's machine was unfit"));
        }
    }
    doubts
}

fn different(what: &str, left: impl std::fmt::Display, right: impl std::fmt::Display) -> String {
    format!("{what} {left} / {right}")
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::result::read;

    fn example() -> RunFile {
        read::parse(include_str!("../../schemas/results.v1.example.json"), Path::new("example")).unwrap()
    }

    fn basis(change: impl FnOnce(&mut RunFile), kind: Kind) -> (Basis, String) {
        let (old, mut new) = (example(), example());
        change(&mut new);
        let (basis, reason) = Ground::of(&old, &new, &HashSet::new(), Terms::default()).basis(kind);
        (basis, reason.unwrap_or_default())
    }

    #[test]
    fn only_time_or_boot_make_rates_indicative_and_leave_counts_firm() {
        for kind in [Kind::Rate, Kind::TimedCount] {
            assert_eq!(basis(|_| (), kind), (Basis::Indicative, "measured at another time".to_owned()));
            let boot = basis(|run| run.conditions.boot_id = "other".to_owned(), kind);
            assert_eq!(boot, (Basis::Indicative, "measured after another boot".to_owned()));
        }
        assert_eq!(basis(|run| run.conditions.boot_id = "other".to_owned(), Kind::Exact).0, Basis::Exact);
    }

    #[test]
    fn another_machine_build_workload_or_setting_is_not_comparable_and_says_which() {
        type Change<'a> = (&'a dyn Fn(&mut RunFile), &'a str);
        let with = |run: &mut RunFile, name: &str, value: Value| drop(run.settings.insert(name.to_owned(), value));
        let changes: [Change<'_>; 6] = [
            (
                &|run| {
                    run.machine.fingerprint = "other".to_owned();
                    run.machine.cores = 4;
                },
                "another machine: cores 2 / 4",
            ),
            (&|run| run.source.profile = "debug".to_owned(), "another kind of build: profile bench / debug"),
            (&|run| with(run, "corpus_seed", 2.into()), "other workload: corpus_seed 1 / 2"),
            (&|run| with(run, "keep_awake", true.into()), "other settings: keep_awake false / true"),
            (&|run| with(run, "slice_ns", 1.into()), "other settings: slice_ns 2 / 1"),
            (
                &|run| {
                    with(run, "client_core", 1.into());
                    with(run, "server_core", 1.into());
                },
                "other settings: pinning each side on a core of its own / both sides on one core",
            ),
        ];
        for (change, sentence) in changes {
            let mut old = example();
            for (name, value) in [("corpus_seed", Value::from(1)), ("keep_awake", false.into()), ("slice_ns", 2.into())]
            {
                with(&mut old, name, value);
            }
            with(&mut old, "client_core", 1.into());
            with(&mut old, "server_core", 0.into());
            let mut new = old.clone();
            change(&mut new);
            let ground = Ground::of(&old, &new, &HashSet::new(), Terms::default());
            for kind in [Kind::Exact, Kind::Rate] {
                assert_eq!(ground.basis(kind), (Basis::None, Some(sentence.to_owned())));
            }
        }
        let often = |run: &mut RunFile| with(run, "processes", 30.into());
        assert_eq!(basis(often, Kind::Exact).0, Basis::Exact, "how often is not what");
    }

    #[test]
    fn across_machines_only_counts_are_looked_at() {
        let (old, mut new) = (example(), example());
        new.machine.fingerprint = "other".to_owned();
        let ground = Ground::of(&old, &new, &HashSet::new(), Terms { across_machines: true });
        assert_eq!(ground.basis(Kind::Exact).0, Basis::Exact);
        assert_eq!(ground.basis(Kind::TimedCount).0, Basis::Indicative);
        assert_eq!(ground.basis(Kind::Rate).0, Basis::None);
    }

    #[test]
    fn rows_of_another_library_or_setting_are_other_things_and_other_versions_are_labelled() {
        let (old, mut new) = (example(), example());
        let row = |crates: &str, passes: u64| {
            old.measurements[0].clone().setting(CRATES, crates).setting("passes", passes).setting("tcp_nodelay", "on")
        };
        assert_eq!(other_thing(&row("prost", 1), &row("prost", 2)), None, "passes are found, not chosen");
        assert_eq!(
            other_thing(&row("prost", 1), &row("quick-protobuf", 1)).as_deref(),
            Some("another library prost / quick-protobuf")
        );
        let off = row("prost", 1).setting("tcp_nodelay", "off");
        assert!(other_thing(&row("prost", 1), &off).is_some_and(|reason| reason.contains("tcp_nodelay")));
        new.source.crates.insert("prost".to_owned(), "0.15.0".to_owned());
        let measurement = row("prost", 1);
        let label = versions((&old, &measurement), (&new, &measurement));
        assert_eq!(label.as_deref(), Some("prost 0.14.6 -> 0.15.0"));
        assert_eq!(versions((&old, &measurement), (&old, &measurement)), None);
    }
}
