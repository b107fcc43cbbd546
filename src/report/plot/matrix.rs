//! A chart of cells, rows by columns, with a number in each: the darker, the more. Owns the grid; the numbers are the plots'.

use maud::{Markup, html};

use super::svg::{Chart, Drawing, Px, SMALL, Size, TEXT, fit, hatch, hatched, width};

/// The chart.
#[derive(Debug, Clone)]
pub struct Matrix {
    /// The columns' names.
    pub columns: Vec<String>,
    /// The rows.
    pub rows: Vec<Line>,
}

/// A row.
#[derive(Debug, Clone)]
pub struct Line {
    /// Its name.
    pub label: String,
    /// A cell for each column; `None` where there is nothing to be said.
    pub cells: Vec<Option<Cell>>,
}

/// A cell.
#[derive(Debug, Clone)]
pub struct Cell {
    /// The number, or the word for its absence.
    pub text: String,
    /// How dark it is, between 0 and 1; `None` where there is no number.
    pub shade: Option<f64>,
    /// Everything about it, in a tooltip.
    pub tip: String,
    /// Whether it is not valid without the word in its text.
    pub suspect: bool,
}

/// How dark a value is among others, by their logarithms.
#[must_use]
pub fn shade(value: f64, all: &[f64]) -> f64 {
    let (low, high) = all
        .iter()
        .filter(|one| **one > 0.0)
        .fold((f64::INFINITY, 0.0_f64), |(low, high), one| (low.min(*one), high.max(*one)));
    match () {
        () if value <= 0.0 => 0.0,
        () if high <= low => 0.5,
        () => (0.12 + 0.88 * (value / low).ln() / (high / low).ln()).clamp(0.0, 1.0),
    }
}

/// Columns beyond which a phone has no room for names beside the cells.
const FEW: usize = 5;

/// How wide a name beside cells may be on a phone.
const MOST: f64 = 112.0;

/// How wide a column's name may be: one that leans takes room from the cells.
const HEADING: f64 = 190.0;

impl Chart for Matrix {
    fn draw(&self, size: Size, id: &str) -> Drawing {
        let narrow = size.is_narrow();
        let columns = f64::from(u32::try_from(self.columns.len().max(1)).unwrap_or(1));
        let text = if narrow { SMALL } else { TEXT };
        let widest = self.rows.iter().map(|row| width(&row.label, text)).fold(40.0, f64::max);
        // Where names do not fit beside the cells, they stand above them.
        let above = narrow && (self.columns.len() > FEW || widest > MOST);
        let left = if above { 0.0 } else { (widest + 8.0).min(if narrow { MOST + 8.0 } else { 250.0 }) };
        let fair = |room: f64| (room / columns).min(if narrow { 62.0 } else { 96.0 });
        // Names that are wider than their column lean, the last one out of it by so much.
        let names: Vec<String> = self.columns.iter().map(|name| fit(name, HEADING, SMALL)).collect();
        let longest = names.iter().map(|name| width(name, SMALL)).fold(0.0, f64::max);
        let leans = longest > fair(size.width() - left) - 6.0;
        let cell = fair(size.width() - left - if leans { (longest * 0.72 - 14.0).max(0.0) } else { 0.0 });
        let top = if leans { longest * 0.72 + 16.0 } else { 20.0 };
        let (label, high) = (if above { 18.0 } else { 0.0 }, if narrow { 24.0 } else { 26.0 });
        let x = |column: usize| left + cell * f64::from(u32::try_from(column).unwrap_or(0));
        let lines = (0_u32..).map(|n| top + f64::from(n) * (label + high));
        let body = html! {
            (hatch(id))
            @for (column, name) in names.iter().enumerate() { (heading(name, x(column), cell, top, leans)) }
            @for (row, y) in self.rows.iter().zip(lines) {
                @let (room, middle) = if above { (size.width(), y + 14.0) } else { (left - 6.0, y + high / 2.0 + 4.0) };
                text class=(if narrow { "small" } else { "" }) x="0" y=(Px(middle)) { (fit(&row.label, room, text)) }
                @for (column, of) in row.cells.iter().enumerate() {
                    (draw(of.as_ref(), x(column), y + label, (cell, high), id))
                }
            }
        };
        let rows = f64::from(u32::try_from(self.rows.len()).unwrap_or(0));
        Drawing { height: top + rows * (label + high) + 6.0, body }
    }
}

fn heading(name: &str, x: f64, cell: f64, top: f64, leans: bool) -> Markup {
    let (middle, y) = (x + cell / 2.0, top - 7.0);
    html! {
        @if leans {
            text class="small muted" transform=(format!("translate({} {}) rotate(-45)", Px(middle), Px(y))) { (name) }
        } @else {
            text class="small muted mid" x=(Px(middle)) y=(Px(y)) { (name) }
        }
    }
}

fn draw(cell: Option<&Cell>, x: f64, y: f64, (wide, high): (f64, f64), id: &str) -> Markup {
    let (left, top, w, h) = (Px(x + 1.0), Px(y + 1.0), Px(wide - 2.0), Px(high - 2.0));
    let Some(cell) = cell else {
        return html! { rect class="blank" x=(left) y=(top) width=(w) height=(h) rx="2" {} };
    };
    // A word for an absence that does not fit stands in the tooltip and below the figure.
    let text = match cell.shade {
        None if width(&cell.text, SMALL) > wide => "-".to_owned(),
        _ => fit(&cell.text, wide, SMALL),
    };
    html! {
        g {
            title { (cell.tip) }
            rect class="blank" x=(left) y=(top) width=(w) height=(h) rx="2" {}
            @if cell.suspect {
                rect class="veil" fill=(hatched(id)) x=(left) y=(top) width=(w) height=(h) rx="2" {}
            } @else if let Some(shade) = cell.shade {
                rect class="cell" fill-opacity=(format!("{:.2}", 0.55 * shade)) x=(left) y=(top) width=(w) height=(h) rx="2" {}
            }
            text class=(if cell.shade.is_some_and(|shade| shade > 0.0) { "small mid" } else { "small mid muted" })
                x=(Px(x + wide / 2.0)) y=(Px(y + high / 2.0 + 4.0)) { (text) }
        }
    }
}
