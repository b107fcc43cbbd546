//! The runs at the head of a page: what each measured, with which build, on which machine, and whether that was fit.

use maud::{Markup, html};

use crate::report::plot::scale::{short, time};
use crate::report::suites;
use crate::result::conditions::{Conditions, CoreHiccups, When};
use crate::result::{Loaded, RunFile};

/// A card for each run.
#[must_use]
pub(super) fn cards(runs: &[Loaded]) -> Markup {
    html! { div class="cards" { @for loaded in runs { (card(&loaded.run)) } } }
}

fn card(run: &RunFile) -> Markup {
    let (source, machine) = (&run.source, &run.machine);
    let measured: Vec<&str> = suites::ALL.iter().filter(|suite| (suite.is_in)(run)).map(|suite| suite.name).collect();
    let shell = machine.hypervisor == "none";
    html! {
        article class="card" {
            h3 { code { (run.run.id) } }
            p class="badges" {
                @if run.conditions.fit { span class="badge good" { "✓ machine fit" } }
                @else { span class="badge bad" { "✗ machine unfit" } }
                @if !run.run.complete { " " span class="badge bad" { "✗ incomplete: stopped or broken off" } }
                @if source.dirty { " " span class="badge bad" { "✗ changes not committed" } }
            }
            @for reason in &run.conditions.reasons { p class="reason" { (reason) } }
            dl {
                dt { "measured" } dd { (measured.join(", ")) }
                dt { "build" }
                dd { "commit " code { (source.commit) } ", rustc " (source.rustc) ", " (source.profile) ", " (source.target) }
                dt { "machine" }
                dd {
                    (machine.cores) " × " (machine.cpu) ", "
                    @if shell { "no hypervisor" } @else { "virtual machine (" (machine.hypervisor) ")" }
                    ", kernel " (machine.kernel) ", clock " (machine.clock_source)
                }
                dt { "when" } dd { (run.run.started) " to " (run.run.finished) }
                (conditions(&run.conditions))
            }
        }
    }
}

/// What else the machine did.
fn conditions(conditions: &Conditions) -> Markup {
    let percent = |share: f64| format!("{} %", short(100.0 * share));
    let dropped = conditions.rounds_dropped.zip(conditions.rounds_total);
    let disturbed = conditions.rounds_disturbed.zip(conditions.rounds_total);
    html! {
        dt { "others" }
        dd {
            "foreign programs used " (percent(conditions.foreign_cpu_share)) " of the CPU, the hypervisor took "
            (percent(conditions.steal_share)) "; load " (short(conditions.load_before)) " before, "
            (short(conditions.load_after)) " after"
        }
        @if let Some((dropped, total)) = dropped {
            dt { "rounds" } dd { (dropped) " of " (total) " dropped as disturbed" }
        } @else if let Some((disturbed, total)) = disturbed {
            dt { "pairs" } dd { (disturbed) " of " (total) " disturbed, and kept" }
        }
        dt { "hiccups" }
        dd {
            @if conditions.hiccups.is_empty() {
                "p99.9 " (time(ns(conditions.hiccup_ns.p99_9))) ", longest " (time(ns(conditions.hiccup_ns.max)))
            } @else {
                @for (place, core) in conditions.hiccups.iter().enumerate() {
                    @if place > 0 { "; " }
                    (hiccups(core))
                }
            }
        }
    }
}

fn hiccups(core: &CoreHiccups) -> String {
    let when = match core.when {
        When::Before => "before",
        When::After => "after",
    };
    let gaps = core.hiccup_ns;
    format!("core {} {when}: p99.9 {}, longest {}", core.core, time(ns(gaps.p99_9)), time(ns(gaps.max)))
}

#[expect(clippy::cast_precision_loss, reason = "durations, far below 2^53 ns")]
const fn ns(value: u64) -> f64 {
    value as f64
}
