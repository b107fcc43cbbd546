//! The report as a page: one file, without scripts and without anything that is loaded. Owns its order: the runs and their machines
//! first, then a section for each suite, in it the figures and all tables of each run, then what the papers claim; a section that
//! nothing belongs to is left out.
//!
//! | module | owns |
//! | --- | --- |
//! | `runs` | what was measured, on what, and whether the machine was fit |
//! | `claims` | the papers' claims beside the runs' figures |
//! | `figure` | a figure with its caption, its remarks and its data |
//! | `table` | a table, and text with code in it |
//!
//! Markup is `maud`'s: it is checked when it is compiled, and every text that comes from a run is escaped without being asked to.
//! (`askama` was looked at as well; its templates are files of their own, which a page made of many small parts has no use for.)
//! Each figure is drawn twice, for a desk and for a phone, and the sheet shows one of them: a drawing that is only made smaller
//! has letters that nobody can read. Tooltips are SVG titles, so that they need no script either.

mod claims;
mod figure;
mod runs;
mod table;

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::plot::svg::{STYLE, THEME, clean};
use super::plot::{self, Figure};
use super::suites::{self, Suite};
use crate::claims::record::Report;
use crate::result::{Loaded, RunFile};

const SHEET: &str = include_str!("page.css");

/// Nothing may be loaded, wherever the page lies; its own sheet is all that it has.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

/// A part of the page with a heading.
struct Section {
    id: &'static str,
    title: &'static str,
    body: Markup,
}

/// The page of all runs, with what the papers' `claims` came to beside them.
#[must_use]
pub fn page(runs: &[Loaded], claims: &Report) -> String {
    let figures = plot::of(runs);
    let sections = sections(runs, &figures, claims);
    let markup = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { "votebench report" }
                style { (PreEscaped(THEME)) (PreEscaped(STYLE)) (PreEscaped(SHEET)) }
            }
            body {
                header {
                    h1 { "How should consensus votes travel?" }
                    p class="lead" {
                        "What votebench has measured, on what, and whether the machine was fit for it. Every figure has its \
                         data behind it; what is not valid as it stands is marked, with the reason."
                    }
                    nav aria-label="Sections" {
                        ul { @for section in &sections { li { a href={ "#" (section.id) } { (section.title) } } } }
                    }
                }
                main {
                    @for section in &sections {
                        section id=(section.id) { h2 { (section.title) } (section.body) }
                    }
                }
                footer { p { "Written by " code { "votebench report" } " " (env!("CARGO_PKG_VERSION")) ", from results files only." } }
            }
        }
    };
    clean(&markup.into_string()) + "\n"
}

/// The sections, in their order.
fn sections(runs: &[Loaded], figures: &[Figure], claims: &Report) -> Vec<Section> {
    let mut sections = vec![Section { id: "runs", title: "Runs and machines", body: runs::cards(runs) }];
    for suite in &suites::ALL {
        let parts: Vec<Markup> = runs
            .iter()
            .filter(|loaded| (suite.is_in)(&loaded.run))
            .map(|loaded| part(suite, &loaded.run, figures))
            .collect();
        if !parts.is_empty() {
            let body = html! { @for part in parts { (part) } };
            sections.push(Section { id: suite.name, title: suite.title, body });
        }
    }
    let claimed = claims::section(claims).map(|body| Section { id: "claims", title: "What the papers claim", body });
    sections.extend(claimed);
    sections
}

/// What one run has of a suite.
fn part(suite: &Suite, run: &RunFile, figures: &[Figure]) -> Markup {
    let own = figures.iter().filter(|figure| figure.suite == suite.name && figure.run == run.run.id);
    html! {
        p class="provenance" { (table::prose(&(suite.provenance)(run))) }
        @for one in own { (figure::card(one)) }
        details class="tables" {
            summary { "All tables of this run" }
            @for table in (suite.tables)(run) { (table::titled(&table)) }
        }
    }
}
