//! A chart of labelled rows: bars, stacks, intervals and points along one scale. Owns the layout, in columns on a desk and with
//! the label above the bar on a phone; what stands in a row is the plots'.

use maud::{Markup, html};

use super::marks::{Caveat, Fill, Key, Shape, Swatch, going_on, legend, whisker};
use super::scale::Scale;
use super::svg::{Chart, Drawing, Px, SMALL, Size, TEXT, fit, hatch, hatched, width};

/// The chart.
#[derive(Debug, Clone)]
pub struct Rows {
    /// Rows that stand apart; a group without rows is left out.
    pub groups: Vec<Group>,
    /// The scale. It should hold every value; an interval may go on beyond it, and then ends in an arrow.
    pub scale: Scale,
    /// What stands at the scale's ticks.
    pub tick: fn(f64) -> String,
    /// What the numbers beside the labels are.
    pub unit: &'static str,
    /// Lines across all rows.
    pub references: Vec<Reference>,
    /// The legend.
    pub keys: Vec<Key>,
}

/// Rows that belong together.
#[derive(Debug, Clone)]
pub struct Group {
    /// What they have in common; empty for the main ones.
    pub title: String,
    /// The rows.
    pub rows: Vec<Row>,
}

/// A line across all rows.
#[derive(Debug, Clone)]
pub struct Reference {
    /// What it is.
    pub label: String,
    /// Where.
    pub at: f64,
}

/// A row.
#[derive(Debug, Clone)]
pub struct Row {
    /// Its name.
    pub label: String,
    /// Its figure, or the word for its absence.
    pub text: String,
    /// Everything about it, in a tooltip.
    pub tip: String,
    /// What is drawn.
    pub marks: Vec<Mark>,
    /// A word that the figure is not valid without; it stands beside the bar, and the bar is hatched.
    pub caveat: Option<String>,
    /// Where nothing is drawn: why.
    pub absent: Option<String>,
}

impl Row {
    /// A row that nothing is drawn in yet. What has to be said of it stands beside its bar, or, where it `has` no figure, in place
    /// of one.
    #[must_use]
    pub fn of(label: &str, said: Option<&Caveat>, has: bool) -> Self {
        Self {
            label: label.to_owned(),
            text: "-".to_owned(),
            tip: said.map_or_else(|| label.to_owned(), |said| format!("{label}; {}", said.words())),
            marks: Vec::new(),
            caveat: said.filter(|_| has).map(|said| said.word.to_owned()),
            absent: said.filter(|_| !has).map(Caveat::words),
        }
    }

    /// Adds to what the tooltip says.
    pub fn tell(&mut self, words: &str) {
        self.tip = format!("{}; {words}", self.tip);
    }
}

/// What is drawn in a row.
#[derive(Debug, Clone)]
pub enum Mark {
    /// A bar, or a part of a stack.
    Bar(f64, f64, Fill),
    /// An interval.
    Whisker(f64, f64),
    /// A point; an open one has another meaning, or is a lower bound.
    Dot(f64, Shape, Dot),
}

/// How a point looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dot {
    /// Filled, in its class's colour.
    Filled(Fill),
    /// Empty.
    Open,
}

/// The columns of a chart.
struct Layout {
    size: Size,
    left: f64,
    numbers: f64,
    right: f64,
    row: f64,
}

const REFERENCE: f64 = 15.0;
const TITLE: f64 = 26.0;

impl Layout {
    fn of(chart: &Rows, size: Size) -> Self {
        let rows = || chart.groups.iter().flat_map(|group| &group.rows);
        let widest = |text: fn(&Row) -> &str| rows().map(|row| width(text(row), TEXT)).fold(0.0, f64::max);
        let caveat = rows().filter_map(|row| row.caveat.as_ref()).map(|word| width(word, SMALL) + 20.0);
        let right = size.width() - caveat.fold(8.0, f64::max);
        if size.is_narrow() {
            return Self { size, left: 1.0, numbers: size.width(), right, row: 35.0 };
        }
        let label = widest(|row| &row.label).min(250.0);
        let numbers = label + 10.0 + widest(|row| &row.text).clamp(30.0, 180.0);
        Self { size, left: numbers + 14.0, numbers, right, row: 22.0 }
    }

    fn x(&self, scale: Scale, value: f64) -> f64 {
        self.left + scale.at(value) * (self.right - self.left)
    }
}

impl Chart for Rows {
    fn draw(&self, size: Size, id: &str) -> Drawing {
        let layout = Layout::of(self, size);
        let (keys, top) = legend(&self.all_keys(), size.width(), &hatched(id));
        let area = top + REFERENCE * count(self.references.len()) + 6.0;
        let mut y = area;
        let mut body = Vec::new();
        for group in self.groups.iter().filter(|group| !group.rows.is_empty()) {
            if !group.title.is_empty() {
                let title = fit(&group.title, size.width(), SMALL);
                body.push(html! { text class="small muted strong" x="0" y=(Px(y + 18.0)) { (title) } });
                y += TITLE;
            }
            for row in &group.rows {
                body.push(self.row(row, &layout, y, id));
                y += layout.row;
            }
        }
        let ticks = self.scale.ticks(if size.is_narrow() { 4 } else { 7 }, self.tick);
        let place = |at: f64| layout.left + at * (layout.right - layout.left);
        let body = html! {
            (hatch(id))
            (keys)
            @for tick in &ticks {
                path class="grid" d=(format!("M{} {}V{}", Px(place(tick.at)), Px(area), Px(y + 4.0))) {}
            }
            @for (place, reference) in self.references.iter().enumerate() {
                (self.reference(reference, &layout, top + 11.0 + REFERENCE * count(place), y + 4.0))
            }
            g class="over" { @for part in body { (part) } }
            path class="rule" d=(format!("M{} {}H{}", Px(layout.left), Px(y + 4.0), Px(layout.right))) {}
            @for tick in ticks.iter().filter(|tick| !tick.label.is_empty()) {
                text class=(anchored("small muted", tick.at, &tick.label, &layout)) x=(Px(place(tick.at))) y=(Px(y + 18.0)) {
                    (tick.label)
                }
            }
            @if !self.unit.is_empty() {
                text class="small muted end" x=(Px(layout.right.max(width(self.unit, SMALL)).min(size.width()))) y=(Px(y + 34.0)) { (self.unit) }
            }
        };
        Drawing { height: y + if self.unit.is_empty() { 24.0 } else { 40.0 }, body }
    }
}

impl Rows {
    /// The legend, with what the rows need besides.
    fn all_keys(&self) -> Vec<Key> {
        let mut keys = self.keys.clone();
        if self.groups.iter().flat_map(|group| &group.rows).any(|row| row.caveat.is_some()) {
            keys.push(Key::new(Swatch::Suspect, "not valid without the word beside it"));
        }
        keys
    }

    fn reference(&self, reference: &Reference, layout: &Layout, y: f64, bottom: f64) -> Markup {
        let x = layout.x(self.scale, reference.at);
        let label = fit(&reference.label, layout.right - layout.left, SMALL);
        // Beside its line, on the side where there is room.
        let (class, beside) = if x + width(&label, SMALL) + 6.0 > layout.size.width() {
            ("small end", x - 5.0)
        } else {
            ("small", x + 5.0)
        };
        html! {
            path class="reference" d=(format!("M{} {}V{}", Px(x), Px(y - 9.0), Px(bottom))) {}
            text class=(class) x=(Px(beside)) y=(Px(y)) { (label) }
        }
    }

    fn row(&self, row: &Row, layout: &Layout, top: f64, id: &str) -> Markup {
        let narrow = layout.size.is_narrow();
        let (text, middle) = if narrow { (top + 14.0, top + 25.0) } else { (top + 15.0, top + 11.0) };
        let number = width(&row.text, TEXT);
        let room = if narrow { layout.numbers - number - 12.0 } else { layout.numbers - number.min(180.0) - 10.0 };
        let end = row.marks.iter().map(|mark| layout.x(self.scale, mark.end())).fold(layout.left, f64::max);
        html! {
            g {
                title { (row.tip) }
                rect class="hit" x="0" y=(Px(top)) width=(Px(layout.size.width())) height=(Px(layout.row)) {}
                text x="0" y=(Px(text)) { (fit(&row.label, room.max(40.0), TEXT)) }
                text class=(if row.marks.is_empty() { "end muted" } else { "end" }) x=(Px(layout.numbers)) y=(Px(text)) {
                    (row.text)
                }
                @for mark in &row.marks {
                    (self.mark(mark, row, layout, middle, id))
                }
                @if let Some(word) = &row.caveat {
                    text class="small warn" x=(Px(end + 7.0)) y=(Px(middle + 4.0)) { (word) }
                }
                @if let Some(why) = &row.absent {
                    text class="small muted" x=(Px(layout.left + 2.0)) y=(Px(middle + 4.0)) {
                        (fit(why, layout.size.width() - layout.left, SMALL))
                    }
                }
            }
        }
    }

    fn mark(&self, mark: &Mark, row: &Row, layout: &Layout, y: f64, id: &str) -> Markup {
        let x = |value: f64| layout.x(self.scale, value);
        let half = if layout.size.is_narrow() { 5.0 } else { 6.5 };
        match *mark {
            Mark::Bar(from, to, fill) => {
                let (left, right) = (x(from), x(to));
                let (y, wide, high) = (Px(y - half), Px((right - left).max(0.5)), Px(2.0 * half));
                if row.caveat.is_some() {
                    html! { rect class="suspect" fill=(hatched(id)) x=(Px(left)) y=(y) width=(wide) height=(high) {} }
                } else {
                    html! { rect class=(fill.class()) x=(Px(left)) y=(y) width=(wide) height=(high) {} }
                }
            }
            Mark::Whisker(low, high) if self.scale.holds(high) => {
                html! { path class="whisker" d=(whisker(x(low), x(high), y)) {} }
            }
            Mark::Whisker(low, high) => html! { path class="whisker" d=(going_on(x(low), x(high), y)) {} },
            Mark::Dot(at, shape, Dot::Filled(fill)) if row.caveat.is_none() => {
                shape.draw(x(at), y, 8.5, &format!("dot {}", fill.class()))
            }
            Mark::Dot(at, shape, _) => shape.draw(x(at), y, 8.0, "dot open"),
        }
    }
}

impl Mark {
    /// Its far end.
    const fn end(&self) -> f64 {
        match self {
            Self::Bar(_, end, _) | Self::Whisker(_, end) | Self::Dot(end, ..) => *end,
        }
    }
}

/// The class of a tick's words: they may not leave the drawing.
fn anchored(class: &str, at: f64, label: &str, layout: &Layout) -> String {
    let (x, half) = (layout.left + at * (layout.right - layout.left), width(label, SMALL) / 2.0);
    match () {
        () if x - half < 0.0 => class.to_owned(),
        () if x + half > layout.size.width() => format!("{class} end"),
        () => format!("{class} mid"),
    }
}

fn count(all: usize) -> f64 {
    u32::try_from(all).map_or(0.0, f64::from)
}
