//! A figure on a page: drawn in both sizes, with how to read it, which run it is from, what has to be said of single rows, and its
//! data one click away.

use maud::{Markup, html};

use super::table::{plain, prose};
use crate::report::plot::Figure;
use crate::report::plot::svg::{Size, inline};

/// The figure.
#[must_use]
pub(super) fn card(figure: &Figure) -> Markup {
    let rows: usize = figure.table.filled().map(|group| group.rows.len()).sum();
    html! {
        figure id={ "figure-" (figure.name) } {
            h3 { (prose(&figure.title)) }
            p class="unit" { (figure.unit) }
            (inline(figure, Size::Wide))
            (inline(figure, Size::Narrow))
            figcaption {
                (prose(&figure.caption)) " "
                span class="source" { (figure.source) }
                @if !figure.notes.is_empty() {
                    ul { @for note in &figure.notes { li { (prose(note)) } } }
                }
            }
            details {
                summary { "Data: " (rows) " rows" }
                (plain(&figure.table))
            }
        }
    }
}
