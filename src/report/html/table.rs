//! A table in HTML, and text that has code between backticks in it.

use maud::{Markup, html};

use crate::report::table::Table;

/// A table with its title and its notes.
#[must_use]
pub(super) fn titled(table: &Table) -> Markup {
    html! {
        h4 { (prose(&table.title)) }
        (plain(table))
    }
}

/// A table with its notes.
#[must_use]
pub(super) fn plain(table: &Table) -> Markup {
    html! {
        // A table that is wider than the page moves within its own frame, which the keyboard reaches as well.
        div class="scroll" tabindex="0" role="region" aria-label=(table.title) {
            table {
                thead { tr { @for title in &table.head { th scope="col" { (title) } } } }
                @for group in table.filled() {
                    tbody {
                        @if !group.title.is_empty() {
                            tr { th class="group" scope="rowgroup" colspan=(table.head.len()) { (group.title) } }
                        }
                        @for row in &group.rows {
                            tr {
                                @for (column, cell) in row.iter().enumerate() {
                                    @if column == 0 { th scope="row" { (cell) } } @else { td { (cell) } }
                                }
                            }
                        }
                    }
                }
            }
        }
        @for note in &table.notes { p class="note" { (prose(note)) } }
    }
}

/// Text, what stands between backticks as code.
#[must_use]
pub(super) fn prose(text: &str) -> Markup {
    let pieces: Vec<&str> = text.split('`').collect();
    // Where one is left over, it is no code.
    let paired = pieces.len() % 2 == 1;
    html! {
        @if paired {
            @for (place, piece) in pieces.iter().enumerate() {
                @if place % 2 == 1 { code { (piece) } } @else { (piece) }
            }
        } @else { (text) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn backticks_are_code_where_they_pair() {
        let of = |text: &str| prose(text).into_string();
        assert_eq!(of("a `b` <c>"), "a <code>b</code> &lt;c&gt;");
        assert_eq!(of("a `b"), "a `b");
    }
}
