//! What the papers claim, beside what the page's runs measured: a part for each paper, what it says in words open and its tables
//! folded. The words and the columns are [`claims`](crate::report::claims)'.

use maud::{Markup, html};

use super::table::{plain, prose, titled};
use crate::claims::record::{Line, Paper, Report};
use crate::report::claims::{HOW, head, said, sentence, tables};

/// The section's body; nothing where none of the runs answers any claim.
#[must_use]
pub(super) fn section(report: &Report) -> Option<Markup> {
    report.papers.iter().any(is_answered).then(|| {
        html! {
            p class="provenance" { (HOW) }
            @for paper in &report.papers { (part(paper)) }
        }
    })
}

/// Whether a figure of ours stands beside any of the paper's.
fn is_answered(paper: &Paper) -> bool {
    let in_tables = paper.tables.iter().flat_map(|table| &table.cells).flat_map(|cell| &cell.lines);
    let in_words = paper.claims.iter().flat_map(|claim| &claim.lines);
    let answers =
        |line: &Line| line.ours.is_some() || line.against.as_ref().is_some_and(|against| against.ratio.is_some());
    in_tables.chain(in_words).any(answers)
}

fn part(paper: &Paper) -> Markup {
    html! {
        article class="card paper-claims" {
            h3 { (prose(&head(paper))) }
            p { (prose(&sentence(&paper.summary))) }
            @if !paper.claims.is_empty() {
                h4 { "What the paper says in words" }
                ol { @for claim in &paper.claims { li { (prose(&claim.claim)) } } }
            }
            @if let Some(table) = said(paper) { (titled(&table)) }
            @for table in tables(paper) {
                details {
                    summary { (prose(&table.title)) }
                    (plain(&table))
                }
            }
            @if !paper.contradictions.is_empty() {
                h4 { "What the source contradicts itself in" }
                ol { @for sentence in &paper.contradictions { li { (prose(sentence)) } } }
            }
        }
    }
}
