//! Is this machine fit, and what would mend it? Owns the questions and where the answers turn from good to bad; the facts are
//! gathered in [`facts`], so that every judgement can be tried on machines that are not here.

pub mod facts;

use std::time::Duration;

use serde::Serialize;

pub use facts::Facts;

use super::conditions::{FOREIGN_LIMIT, STEAL_LIMIT};

/// File descriptors that a thousand connections take, both ends in one process.
const DESCRIPTORS: u64 = 4_096;

/// The kernel's own timer slack, in nanoseconds: more makes every timed wait late.
const TIMER_SLACK_NS: u64 = 50_000;

/// The loopback device's own MTU; a smaller one cuts messages that no real run of here would see cut.
const LOOPBACK_MTU: u64 = 65_536;

/// A clock read that costs more than this is felt in the round trips, in nanoseconds.
const CLOCK_COST_NS: f64 = 100.0;

/// Gaps of a spinning thread at p99.9, in nanoseconds, up to which a p99.9 of this machine's is worth printing.
const HICCUP_P99_9_NS: u64 = 20_000;

/// The longest such gap, in nanoseconds, that a tail of milliseconds survives.
const HICCUP_MAX_NS: u64 = 2_000_000;

/// How fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Grade {
    /// Nothing to do.
    Ok,
    /// Figures are worse or noisier than they need be, or nobody can tell.
    Warn,
    /// Figures will mean something else than they seem to.
    Bad,
}

impl Grade {
    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warn => "warn",
            Self::Bad => "bad",
        }
    }
}

/// The answer to one question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Check {
    /// What was looked at.
    pub name: &'static str,
    /// How fit it is.
    pub grade: Grade,
    /// What was found.
    pub found: String,
    /// The command that mends it, or who can; none where there is nothing to mend.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mend: Option<&'static str>,
}

/// Looks at this machine; the hiccup meter runs for `meter`, on all cores at once.
#[must_use]
pub fn examine(meter: Duration) -> Vec<Check> {
    checks(&Facts::gather(meter))
}

/// The answers for a machine of these facts.
#[must_use]
pub fn checks(facts: &Facts) -> Vec<Check> {
    let mut all = processor(facts);
    all.extend(company(facts));
    all.extend(time(facts));
    all.extend(kernel(facts));
    all
}

fn check(name: &'static str, grade: Grade, found: impl Into<String>, mend: &'static str) -> Check {
    Check { name, grade, found: found.into(), mend: (grade != Grade::Ok).then_some(mend) }
}

/// Ok where `good`, else `otherwise`.
const fn unless(good: bool, otherwise: Grade) -> Grade {
    if good { Grade::Ok } else { otherwise }
}

fn processor(facts: &Facts) -> Vec<Check> {
    let cores = &facts.cores;
    let pinning = match &facts.pinning {
        Ok(()) => check("pinning", Grade::Ok, "threads can be pinned to each of them", ""),
        Err(reason) => {
            check("pinning", Grade::Bad, reason, "start it outside of what holds it: taskset -c 0,1, a cgroup's cpuset")
        }
    };
    let governor = facts.governor.as_deref();
    let governor_grade = unless(governor == Some("performance"), Grade::Warn);
    let boost = match facts.boost {
        Some(false) => (Grade::Ok, "off"),
        Some(true) => (Grade::Warn, "on: frequency depends on heat and on other cores' work"),
        None => (Grade::Warn, "not readable: whoever owns the processor decides"),
    };
    let smt = match facts.smt {
        Some(false) => (Grade::Ok, "off, or there is none"),
        Some(true) => (Grade::Warn, "on: two of the cores may be one"),
        None => (Grade::Warn, "not readable: two of the cores may be one"),
    };
    let hypervisor = facts.hypervisor.as_str();
    let virtual_machine = format!("{hypervisor}: a thread that sleeps pays for the hypervisor when it wakes");
    vec![
        check(
            "cores",
            unless(cores.len() > 1, Grade::Bad),
            format!("{} that this process may use: {cores:?}", cores.len()),
            "give it two cores: client and server on one measure the scheduler",
        ),
        pinning,
        if hypervisor == "none" {
            check("hypervisor", Grade::Ok, "none", "")
        } else {
            check(
                "hypervisor",
                Grade::Warn,
                virtual_machine,
                "bare metal; else read `block` beside `poll`, or --keep-awake",
            )
        },
        check(
            "governor",
            governor_grade,
            governor.unwrap_or("not readable: whoever owns the processor decides"),
            "sudo cpupower frequency-set --governor performance",
        ),
        check("boost", boost.0, boost.1, "echo 0 | sudo tee /sys/devices/system/cpu/cpufreq/boost"),
        check("smt", smt.0, smt.1, "echo off | sudo tee /sys/devices/system/cpu/smt/control"),
    ]
}

fn company(facts: &Facts) -> Vec<Check> {
    let per_cent = |share: f64| format!("{:.1} % of all CPU time", 100.0 * share);
    vec![
        // Recorded only: one's own compiling raises it for minutes.
        check("load average", Grade::Ok, format!("{:.2} over a minute", facts.load_average), ""),
        check(
            "other processes",
            unless(facts.foreign_share < FOREIGN_LIMIT, Grade::Bad),
            per_cent(facts.foreign_share),
            "find them with `top` and end them: rates wait for a quiet machine",
        ),
        check(
            "steal",
            match facts.steal_share {
                share if share > STEAL_LIMIT => Grade::Bad,
                share if share > STEAL_LIMIT / 4.0 => Grade::Warn,
                _ => Grade::Ok,
            },
            per_cent(facts.steal_share),
            "a machine with cores of its own",
        ),
    ]
}

fn time(facts: &Facts) -> Vec<Check> {
    let source = facts.clock_source.as_str();
    let source_grade = match source {
        "tsc" | "arch_sys_counter" => Grade::Ok,
        "kvm-clock" | "hyperv_clocksource_tsc_page" => Grade::Warn,
        _ => Grade::Bad,
    };
    let cost_grade = match facts.clock_cost_ns {
        cost if cost > 10.0 * CLOCK_COST_NS => Grade::Bad,
        cost if cost > CLOCK_COST_NS => Grade::Warn,
        _ => Grade::Ok,
    };
    let set_source = "echo tsc | sudo tee /sys/devices/system/clocksource/clocksource0/current_clocksource";
    let mut all = vec![
        check("clock source", source_grade, source, set_source),
        check(
            "clock resolution",
            unless(facts.clock_step_ns <= 100, Grade::Warn),
            format!("{} ns by its own word, steps of {} ns", facts.clock_resolution_ns, facts.clock_step_ns),
            set_source,
        ),
        check("clock cost", cost_grade, format!("{:.1} ns a read", facts.clock_cost_ns), set_source),
        match facts.timer_slack_ns {
            Some(slack) => check(
                "timer slack",
                unless(slack <= TIMER_SLACK_NS, Grade::Warn),
                format!("{slack} ns"),
                "echo 50000 > /proc/self/timerslack_ns, in the shell that starts it",
            ),
            None => check("timer slack", Grade::Warn, "not readable", "sudo sysctl kernel.yama.ptrace_scope=0"),
        },
    ];
    for (core, gaps) in &facts.hiccups {
        let grade = match (gaps.p99_9, gaps.max) {
            (p99_9, _) if p99_9 > HICCUP_P99_9_NS => Grade::Bad,
            (_, max) if max > HICCUP_MAX_NS => Grade::Warn,
            _ => Grade::Ok,
        };
        all.push(check(
            "hiccups",
            grade,
            format!("core {core}: p99 {} ns, p99.9 {} ns, longest {} us", gaps.p99, gaps.p99_9, gaps.max / 1_000),
            "boot with isolcpus= and nohz_full= for the cores; on a virtual machine, another host",
        ));
    }
    if facts.hiccups.is_empty() {
        all.push(check("hiccups", Grade::Bad, "the meter could not run on any core", "let it pin threads"));
    }
    all
}

fn kernel(facts: &Facts) -> Vec<Check> {
    let descriptors = facts.descriptors.map_or_else(|| "no limit".to_owned(), |limit| limit.to_string());
    let huge = facts.huge_pages.as_deref();
    vec![
        check(
            "file descriptors",
            match facts.descriptors {
                Some(limit) if limit < 256 => Grade::Bad,
                Some(limit) if limit < DESCRIPTORS => Grade::Warn,
                _ => Grade::Ok,
            },
            descriptors,
            "ulimit -n 65536",
        ),
        match facts.loopback_mtu {
            Some(mtu) => check(
                "loopback MTU",
                unless(mtu >= LOOPBACK_MTU, Grade::Warn),
                mtu.to_string(),
                "sudo ip link set dev lo mtu 65536",
            ),
            None => check("loopback MTU", Grade::Bad, "there is no loopback device", "sudo ip link set dev lo up"),
        },
        check(
            "swap",
            match facts.swap_bytes {
                (0, _) => Grade::Ok,
                (_, 0) => Grade::Warn,
                _ => Grade::Bad,
            },
            format!("{} MiB, of which {} are used", facts.swap_bytes.0 >> 20, facts.swap_bytes.1 >> 20),
            "sudo swapoff --all",
        ),
        check(
            "transparent huge pages",
            unless(matches!(huge, Some("madvise" | "never")), Grade::Warn),
            huge.unwrap_or("not readable"),
            "echo madvise | sudo tee /sys/kernel/mm/transparent_hugepage/enabled",
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::conditions::Hiccups;

    fn fit() -> Facts {
        let gaps = Hiccups { p50: 30, p99: 50, p99_9: 900, max: 80_000 };
        Facts {
            cores: vec![0, 1],
            pinning: Ok(()),
            hypervisor: "none".to_owned(),
            governor: Some("performance".to_owned()),
            boost: Some(false),
            smt: Some(false),
            load_average: 3.0,
            foreign_share: 0.001,
            steal_share: 0.0,
            clock_source: "tsc".to_owned(),
            clock_resolution_ns: 1,
            clock_step_ns: 10,
            clock_cost_ns: 25.0,
            timer_slack_ns: Some(50_000),
            hiccups: vec![(0, gaps), (1, gaps)],
            descriptors: Some(65_536),
            loopback_mtu: Some(65_536),
            swap_bytes: (0, 0),
            huge_pages: Some("madvise".to_owned()),
        }
    }

    #[test]
    fn a_fit_machine_has_nothing_to_mend() {
        let all = checks(&fit());
        assert!(all.iter().all(|check| check.grade == Grade::Ok && check.mend.is_none()), "{all:#?}");
        assert_eq!(all.len(), 6 + 3 + 4 + 2 + 4);
    }

    #[test]
    fn each_defect_has_its_grade_and_its_mend() {
        type Damage<'a> = (&'a str, Grade, &'a dyn Fn(&mut Facts));
        let damages: [Damage<'_>; 22] = [
            ("cores", Grade::Bad, &|facts| facts.cores.truncate(1)),
            ("pinning", Grade::Bad, &|facts| facts.pinning = Err("refused".to_owned())),
            ("hypervisor", Grade::Warn, &|facts| facts.hypervisor = "kvm".to_owned()),
            ("governor", Grade::Warn, &|facts| facts.governor = Some("powersave".to_owned())),
            ("governor", Grade::Warn, &|facts| facts.governor = None),
            ("boost", Grade::Warn, &|facts| facts.boost = Some(true)),
            ("smt", Grade::Warn, &|facts| facts.smt = Some(true)),
            ("other processes", Grade::Bad, &|facts| facts.foreign_share = 0.03),
            ("steal", Grade::Warn, &|facts| facts.steal_share = 0.01),
            ("steal", Grade::Bad, &|facts| facts.steal_share = 0.05),
            ("clock source", Grade::Warn, &|facts| facts.clock_source = "kvm-clock".to_owned()),
            ("clock source", Grade::Bad, &|facts| facts.clock_source = "hpet".to_owned()),
            ("clock resolution", Grade::Warn, &|facts| facts.clock_step_ns = 1_000),
            ("clock cost", Grade::Warn, &|facts| facts.clock_cost_ns = 300.0),
            ("clock cost", Grade::Bad, &|facts| facts.clock_cost_ns = 2_000.0),
            ("timer slack", Grade::Warn, &|facts| facts.timer_slack_ns = Some(1_000_000)),
            ("hiccups", Grade::Bad, &|facts| facts.hiccups[0].1.p99_9 = 50_000),
            ("hiccups", Grade::Warn, &|facts| facts.hiccups[1].1.max = 9_000_000),
            ("file descriptors", Grade::Warn, &|facts| facts.descriptors = Some(1_024)),
            ("loopback MTU", Grade::Warn, &|facts| facts.loopback_mtu = Some(1_500)),
            ("swap", Grade::Bad, &|facts| facts.swap_bytes = (1 << 30, 1 << 20)),
            ("transparent huge pages", Grade::Warn, &|facts| facts.huge_pages = Some("always".to_owned())),
        ];
        for (name, grade, damage) in damages {
            let mut facts = fit();
            damage(&mut facts);
            let all = checks(&facts);
            let found: Vec<_> = all.iter().filter(|check| check.grade != Grade::Ok).collect();
            assert_eq!(found.len(), 1, "{name}: {found:?}");
            assert_eq!((found[0].name, found[0].grade), (name, grade));
            assert!(found[0].mend.is_some_and(|mend| !mend.is_empty()), "{name} has no mend");
        }
    }

    #[test]
    fn this_machine_can_be_looked_at() {
        let facts = Facts::gather(Duration::from_millis(20));
        assert!(!facts.cores.is_empty() && facts.clock_cost_ns > 0.0 && facts.clock_step_ns > 0);
        assert_eq!(facts.hiccups.len(), facts.cores.len());
        assert!(checks(&facts).len() > 15);
    }
}
