//! From a session's figures to the records of a results file: one measurement for every figure that the suite has, whether
//! it was measured or not, each with its reason. Owns no statistics: estimates and verdicts are those of [`stats`].

use std::collections::BTreeMap;

use serde_json::Value;

use super::serialization::{LARGE, REFERENCE};
use super::session::{COUNT_WINDOW, Design, Session};
use super::turns::Part;
use super::worker::Candidate;
use crate::codec::{self, Codec, Info, Model, Pace};
use crate::result::conditions::Conditions;
use crate::result::record::{Better, Class, Kind, Measurement, Status, VerdictRecord};
use crate::stats::{self, Paired, Rule};
use crate::vote::{Vote, corpus};

/// The suite's name in results.
pub const SUITE: &str = "serialization";

/// The settings of a run, as recorded; of one that took turns, also with whom, how its code lies, and when.
#[must_use]
pub fn settings(design: &Design, session: &Session, part: Option<&Part>) -> BTreeMap<String, Value> {
    let mut settings = BTreeMap::from([
        ("processes".to_owned(), design.processes.into()),
        ("rounds".to_owned(), design.rounds.into()),
        ("slice_ns".to_owned(), design.slice_ns.into()),
        ("corpus_votes".to_owned(), corpus::SIZE.into()),
        ("corpus_seed".to_owned(), corpus::SEED.into()),
        ("workload_hash".to_owned(), corpus::hash(corpus::SIZE, corpus::SEED).into()),
        ("count_window".to_owned(), COUNT_WINDOW.into()),
    ]);
    if let Some(part) = part {
        settings.insert("session".to_owned(), part.session.clone().into());
        settings.insert("layout_bytes".to_owned(), part.layout_bytes.into());
        settings.insert("turns_ms".to_owned(), session.began_ms.clone().into());
    }
    settings
}

/// Every measurement of the suite. `refused` is the reason for which no rate was taken, where there is one.
#[must_use]
pub fn measurements(
    codecs: Vec<Box<dyn Codec>>,
    design: &Design,
    session: &Session,
    conditions: &Conditions,
    refused: Option<&str>,
) -> Vec<Measurement> {
    let infos: Vec<&'static Info> = codecs.iter().map(|codec| codec.info()).collect();
    let rates = Rates { design, session, conditions, refused, infos: &infos };
    let mut all: Vec<Measurement> = codecs.into_iter().map(wire_bytes).collect();
    all.extend(infos.iter().flat_map(|info| lacking(info)));
    all.extend(allocations(&rates));
    all.extend(rates.measurements());
    all
}

/// The message's size: of the canonical vote, and least and largest over the corpus.
fn wire_bytes(mut codec: Box<dyn Codec>) -> Measurement {
    let info = codec.info();
    let measurement = Measurement::new(SUITE, info.name).class(class(info));
    let measurement = measurement.metric("wire-bytes", "B", Kind::Exact, Better::Lower);
    let canonical = codec.encode(&Vote::canonical()).map(<[u8]>::len);
    let sizes: Result<Vec<_>, _> = corpus::votes(corpus::SIZE, corpus::SEED)
        .iter()
        .map(|vote| codec.encode(vote).map(|message| message.len() as u64))
        .collect();
    match (canonical, sizes) {
        (Ok(canonical), Ok(sizes)) => {
            let (min, max) = (sizes.iter().min().copied(), sizes.iter().max().copied());
            measurement.value(canonical as u64).range(min.unwrap_or(0), max.unwrap_or(0))
        }
        (Err(error), _) | (_, Err(error)) => measurement.without(Status::Failed, error.to_string()),
    }
}

/// The models that a codec does not have, each with its reason: nothing is silently missing.
fn lacking(info: &'static Info) -> impl Iterator<Item = Measurement> {
    info.lacks.iter().flat_map(|(model, reason)| {
        Pace::ALL.into_iter().map(|pace| {
            Measurement::new(SUITE, info.name)
                .class(class(info))
                .model(model.name())
                .row(pace.name())
                .metric("time", "ns/op", Kind::Rate, Better::Lower)
                .without(Status::Unsupported, *reason)
        })
    })
}

/// Calls for memory and bytes asked for, per operation, by codec and model; the pace does not change them.
fn allocations(rates: &Rates<'_>) -> Vec<Measurement> {
    let mut all = Vec::new();
    for (index, candidate) in rates.design.candidates.iter().enumerate() {
        if candidate.row != Pace::Stream.name() || candidate.votes == LARGE {
            continue;
        }
        let counted = rates.session.counted.get(&index);
        let metrics = [
            ("allocations", "1/op", counted.map(|counted| counted.allocations)),
            ("allocated-bytes", "B/op", counted.map(|counted| counted.bytes)),
        ];
        for (metric, unit, sum) in metrics {
            let measurement = rates.begin(candidate).metric(metric, unit, Kind::Exact, Better::Lower);
            all.push(match (sum, counted) {
                (Some(sum), Some(counted)) => {
                    measurement.value(per_operation(sum, counted.window)).window(counted.window)
                }
                _ => rates.missing(index, measurement),
            });
        }
    }
    all
}

/// What the rates of a run are made from.
struct Rates<'a> {
    design: &'a Design,
    session: &'a Session,
    conditions: &'a Conditions,
    refused: Option<&'a str>,
    infos: &'a [&'static Info],
}

impl Rates<'_> {
    fn measurements(&self) -> Vec<Measurement> {
        let times: Vec<_> = (0..self.design.candidates.len()).map(|index| self.session.times(index)).collect();
        let verdicts = self.verdicts(&times);
        let rates = self.design.candidates.iter().zip(times).enumerate().map(|(index, (candidate, times))| {
            let mut measurement = self.begin(candidate).metric("time", "ns/op", Kind::Rate, Better::Lower);
            if let Some(info) =
                self.infos.iter().find(|info| info.name == candidate.protocol && !info.crates.is_empty())
            {
                measurement = measurement.setting("crates", info.crates.join(","));
            }
            if candidate.row.as_str() == Pace::Stream.name() || candidate.row.as_str() == Pace::Chained.name() {
                measurement = measurement.row(&candidate.row);
            }
            measurement = measurement.setting("votes", candidate.votes);
            if let Some(passes) = self.session.passes.get(index) {
                measurement = measurement.setting("passes", *passes);
            }
            let Some(times) = times else { return self.missing(index, measurement) };
            match stats::estimate(&Rule::default(), &times, &self.dropped()) {
                Ok(estimate) => {
                    let measurement = measurement.estimate(&estimate).rounds(times);
                    match verdicts.get(&index) {
                        Some(verdict) => measurement.verdict(verdict.clone()),
                        None => measurement,
                    }
                }
                Err(error) => measurement.rounds(times).without(Status::NotMeasured, error.to_string()),
            }
        });
        rates.collect()
    }

    /// The verdicts of every row against the reference, as one family. `open` gets none, for what is promised after it
    /// differs; nor do the reference itself and the rows of other workloads.
    fn verdicts(&self, times: &[Option<Vec<Vec<f64>>>]) -> BTreeMap<usize, VerdictRecord> {
        let candidates = &self.design.candidates;
        let reference_of = |candidate: &Candidate| {
            candidates.iter().position(|other| {
                other.protocol == REFERENCE
                    && (other.model.as_str(), other.row.as_str(), other.votes)
                        == (candidate.model.as_str(), candidate.row.as_str(), candidate.votes)
            })
        };
        let family: Vec<(usize, Paired<'_>)> = candidates
            .iter()
            .enumerate()
            .filter(|(_, candidate)| candidate.protocol != REFERENCE && candidate.model != Model::Open.name())
            .filter_map(|(index, candidate)| {
                let row = times[index].as_deref()?;
                let reference = times[reference_of(candidate)?].as_deref()?;
                Some((index, Paired { row, reference }))
            })
            .collect();
        let rows: Vec<_> = family.iter().map(|(_, pair)| *pair).collect();
        // Without a verdict a row still has its times; what is wrong with them its own estimate says.
        let comparisons = stats::paired(&Rule::default(), &rows, &self.dropped()).unwrap_or_default();
        family
            .iter()
            .zip(&comparisons)
            .map(|((index, _), comparison)| (*index, VerdictRecord::new(REFERENCE, comparison)))
            .collect()
    }

    /// The disturbed rounds as the statistics take them. Where a run was forced on an unfit machine they are kept.
    fn dropped(&self) -> Vec<Vec<bool>> {
        let forced = self.conditions.forced == Some(true) && !self.conditions.fit;
        if forced || self.conditions.dropped.is_empty() {
            return Vec::new();
        }
        let mark = |rounds: &Vec<super::session::Round>| rounds.iter().map(|round| round.disturbed).collect();
        self.session.processes.iter().map(mark).collect()
    }

    fn begin(&self, candidate: &Candidate) -> Measurement {
        let measurement = Measurement::new(SUITE, &candidate.protocol).model(&candidate.model);
        let measurement = match self.infos.iter().find(|info| info.name == candidate.protocol) {
            Some(info) => measurement.class(class(info)),
            None => measurement.class(Class::Context),
        };
        if candidate.votes == LARGE { measurement.workload(&format!("votes-{LARGE}")) } else { measurement }
    }

    /// Why a figure is missing: the row's own failure, the run's, the user's, or the machine's.
    fn missing(&self, index: usize, measurement: Measurement) -> Measurement {
        if let Some(reason) = self.session.failed.get(&index) {
            return measurement.without(Status::Failed, reason);
        }
        let broken = if measurement.kind == Kind::Exact { &self.session.uncounted } else { &self.session.broken };
        let reason = match (broken, self.refused) {
            (Some(reason), _) => reason,
            (None, Some(reason)) if measurement.kind == Kind::Rate => reason,
            _ if self.session.stopped => "the run was stopped",
            _ => "no process answered for this row",
        };
        measurement.without(Status::NotMeasured, reason)
    }
}

/// Where a codec stands in the tables of a results file.
pub(super) fn class(info: &Info) -> Class {
    match info.class {
        codec::Class::Row => Class::Row,
        codec::Class::Variant => Class::Variant,
        codec::Class::Floor => Class::Floor,
        codec::Class::Context => Class::Context,
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts over a window of 100,000 stay far below 2^53")]
fn per_operation(sum: u64, window: u64) -> f64 {
    sum as f64 / window as f64
}
