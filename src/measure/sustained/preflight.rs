//! Whether a run can come to its end, asked before it begins: room on the disk, descriptors, and every row's stack. Owns the
//! questions; each answer that is no is one sentence.

use std::path::Path;
use std::time::Duration;

use super::options::{Options, RowKey};
use super::rig::{Failure, Rig};
use crate::measure::processes::Programs;

/// Bytes that an interval takes on the disk, about: four histograms and two more in the log.
const INTERVAL_BYTES: u64 = 32 << 10;

/// Descriptors of a process beside its connections.
const DESCRIPTORS: u64 = 64;

/// What every row's stack says to one vote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It answers.
    Ready,
    /// This machine or stack does not have what it takes.
    Unsupported(String),
}

/// Makes sure of what the whole run needs: room on the disk, and descriptors, as many as the system gives.
///
/// # Errors
/// One sentence.
pub fn resources(options: &Options, folder: &Path) -> Result<(), String> {
    let intervals = options.duration.map_or(0, |load| {
        let of_one = load.as_nanos() / options.interval.max(Duration::from_millis(1)).as_nanos();
        u64::try_from(of_one).unwrap_or(u64::MAX).saturating_mul(options.rows().len() as u64)
    });
    let wanted = intervals.saturating_mul(INTERVAL_BYTES);
    let disk = rustix::fs::statvfs(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let free = disk.f_bavail.saturating_mul(disk.f_frsize);
    if free < wanted {
        let (free, wanted) = (free >> 20, wanted >> 20);
        return Err(format!("{}: {free} MiB are free there, and the logs may need {wanted} MiB", folder.display()));
    }
    descriptors(options)
}

/// Raises the limit of open files to what the system allows, which processes that are started inherit.
fn descriptors(options: &Options) -> Result<(), String> {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    // HTTP/1.1 has a connection for each vote in flight, but never more than this of each.
    let wanted = DESCRIPTORS + 2 * (options.connections as u64) * 256.min(options.in_flight as u64).max(1);
    let limit = getrlimit(Resource::Nofile);
    let most = limit.maximum.unwrap_or(u64::MAX);
    if most < wanted {
        return Err(format!("{most} files may be open at once (ulimit -Hn), and {wanted} are wanted"));
    }
    let raised = Rlimit { current: limit.maximum, maximum: limit.maximum };
    if limit.current.unwrap_or(u64::MAX) < wanted {
        setrlimit(Resource::Nofile, raised)
            .map_err(|error| format!("the limit of open files cannot be raised: {error}"))?;
    }
    Ok(())
}

/// Starts the row's server and generator, and exchanges a vote.
///
/// # Errors
/// One sentence, where that fails.
pub fn row(options: &Options, key: &RowKey, programs: &Programs) -> Result<Answer, String> {
    match Rig::start(&programs.plain, options, key, false) {
        Ok(_) => Ok(Answer::Ready),
        Err(Failure::Unsupported(reason)) => Ok(Answer::Unsupported(reason)),
        Err(Failure::Failed(reason)) => Err(format!("{}: {reason}", key.label())),
    }
}
