//! An interval as it leaves the generator's process: a line of JSON with its percentiles and accounts, and lines of a standard
//! interval log with its distributions. Owns both forms, and how a load's end is told.

use std::collections::BTreeMap;
use std::time::Duration;

use hdrhistogram::Histogram;
use hdrhistogram::serialization::V2DeflateSerializer;
use hdrhistogram::serialization::interval_log::{IntervalLogWriterBuilder, Tag};
use serde::{Deserialize, Serialize};

use super::generator::Outcome;
use super::interval::Interval;
use crate::measure::account::Account;
use crate::measure::hiccup::histogram;
use crate::result::histogram::encode;

/// The tag of service times in an interval log; response times, which are what is reported, have none.
pub const SERVICE_TAG: &str = "service";

/// What a distribution comes to, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Digest {
    /// Samples.
    pub count: u64,
    /// Median.
    pub p50: u64,
    /// 99th percentile.
    pub p99: u64,
    /// 99.9th percentile.
    pub p99_9: u64,
    /// Longest.
    pub max: u64,
}

impl Digest {
    /// Of `histogram`.
    #[must_use]
    pub fn of(histogram: &Histogram<u64>) -> Self {
        Self {
            count: histogram.len(),
            p50: histogram.value_at_quantile(0.5),
            p99: histogram.value_at_quantile(0.99),
            p99_9: histogram.value_at_quantile(0.999),
            max: histogram.max(),
        }
    }
}

/// One interval on the books: a line of a row's `.intervals.jsonl`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// Its place in the row.
    pub index: u64,
    /// When it began, in nanoseconds from the row's start; where a run was resumed, the time it lay still is counted.
    pub start_ns: u64,
    /// How long it was.
    pub length_ns: u64,
    /// Votes that became due.
    pub offered: u64,
    /// Votes that were handed over.
    pub handed_over: u64,
    /// Votes that were answered well.
    pub answered: u64,
    /// Votes due and not answered at its end.
    pub backlog: u64,
    /// Samples longer than the histograms go.
    pub clipped: u64,
    /// Votes that came to nothing, by the kind of failure.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub errors: BTreeMap<String, u64>,
    /// The last failure's words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_error: Option<String>,
    /// From due to answered.
    pub response: Digest,
    /// From handed over to answered.
    pub service: Digest,
    /// From due to handed over, as far as the stack or the bound held a vote up.
    pub blocked: Digest,
    /// As far as the generator was inside the client's stack.
    pub client: Digest,
    /// As far as it was neither.
    pub pacer: Digest,
    /// Between two looks at the clock with nothing in flight.
    pub gaps: Digest,
    /// The last four as distributions, base64 of HDR's V2 deflate.
    pub distributions: Distributions,
    /// What the generator's process spent.
    pub client_account: Account,
    /// What the server's did; `None` where it is not ours.
    pub server_account: Option<Account>,
    /// CPU time of foreign processes, as a share of all cores' time.
    pub foreign_share: f64,
    /// Time stolen by the hypervisor, as a share of all cores' time.
    pub steal_share: f64,
    /// Whether either is too much.
    pub disturbed: bool,
    /// Whether the generator itself was too late: then the interval says nothing of the stack.
    pub invalid: bool,
}

/// Distributions in their text form.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Distributions {
    /// See [`Entry::blocked`].
    pub blocked: String,
    /// See [`Entry::client`].
    pub client: String,
    /// See [`Entry::pacer`].
    pub pacer: String,
    /// See [`Entry::gaps`].
    pub gaps: String,
}

/// An interval on its way to the driver.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Page {
    /// Its entry.
    pub entry: Entry,
    /// Its lines of the interval log.
    pub log: String,
}

/// How long whoever keeps books lets the loop go on between two pieces of work: each of them takes its core away from it.
const PAUSE: Duration = Duration::from_millis(2);

/// Lets the loop go on.
pub fn pause() {
    std::thread::sleep(PAUSE);
}

/// The page of `interval`, which began `offset_ns` later than its load says.
///
/// # Errors
/// A sentence, where a histogram cannot be written.
pub fn page(interval: &Interval, offset_ns: u64, client_account: Account) -> Result<Page, String> {
    let start_ns = offset_ns + interval.start_ns;
    let entry = Entry {
        index: interval.index,
        start_ns,
        length_ns: interval.length_ns,
        offered: interval.offered,
        handed_over: interval.handed_over,
        answered: interval.answered(),
        backlog: interval.backlog,
        clipped: interval.clipped,
        errors: interval.errors.iter().map(|(kind, count)| ((*kind).to_owned(), *count)).collect(),
        last_error: interval.last_error.clone(),
        response: Digest::of(&interval.response),
        service: Digest::of(&interval.service),
        blocked: Digest::of(&interval.blocked),
        client: Digest::of(&interval.client),
        pacer: Digest::of(&interval.pacer),
        gaps: Digest::of(&interval.gaps),
        distributions: Distributions {
            blocked: encoded(&interval.blocked)?,
            client: encoded(&interval.client)?,
            pacer: encoded(&interval.pacer)?,
            gaps: encoded(&interval.gaps)?,
        },
        client_account,
        server_account: None,
        foreign_share: 0.0,
        steal_share: 0.0,
        disturbed: false,
        invalid: false,
    };
    let log = log_lines(interval, start_ns)?;
    Ok(Page { entry, log })
}

fn encoded(histogram: &Histogram<u64>) -> Result<String, String> {
    let text = encode(histogram);
    pause();
    text
}

/// The interval's response times, and its service times under their tag.
fn log_lines(interval: &Interval, start_ns: u64) -> Result<String, String> {
    let mut lines = Vec::new();
    let mut serializer = V2DeflateSerializer::new();
    let (start, length) = (Duration::from_nanos(start_ns), Duration::from_nanos(interval.length_ns));
    let failed = |error: &dyn std::fmt::Debug| format!("an interval cannot be written: {error:?}");
    let mut writer =
        IntervalLogWriterBuilder::new().begin_log_with(&mut lines, &mut serializer).map_err(|error| failed(&error))?;
    for (histogram, tag) in [(&interval.response, None), (&interval.service, Tag::new(SERVICE_TAG))] {
        writer.write_histogram(histogram, start, length, tag).map_err(|error| failed(&error))?;
        pause();
    }
    String::from_utf8(lines).map_err(|error| failed(&error))
}

/// How a load ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct End {
    /// Votes that became due.
    pub offered: u64,
    /// Votes that were answered well by the time that the last one could be due.
    pub answered_in_time: u64,
    /// Votes that came to nothing.
    pub failed: u64,
    /// Votes that were not answered when the drain was over.
    pub censored: u64,
    /// Their ages, as base64 of HDR's V2 deflate; `None` where there are none.
    pub censored_ages: Option<String>,
    /// When the last vote could be due, in nanoseconds from the start.
    pub end_ns: u64,
    /// Why the load broke off, where it did.
    pub broken: Option<String>,
}

impl End {
    /// Of a load that came to its end.
    ///
    /// # Errors
    /// A sentence, where a histogram cannot be written.
    pub fn of(outcome: &Outcome, broken: Option<String>) -> Result<Self, String> {
        let mut ages = histogram();
        outcome.censored.iter().for_each(|age| ages.saturating_record(*age));
        Ok(Self {
            offered: outcome.offered,
            answered_in_time: outcome.answered_in_time,
            failed: outcome.failed,
            censored: outcome.censored_count,
            censored_ages: if outcome.censored.is_empty() { None } else { Some(encode(&ages)?) },
            end_ns: outcome.end_ns,
            broken,
        })
    }
}
