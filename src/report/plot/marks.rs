//! What a plot is made of besides its scales: shapes, keys of a legend, and the marks of what is not valid as it stands. Owns how
//! a measurement that is unfit, failed, saturated or missing looks in every plot, so that none can forget it.

use maud::{Markup, html};

use super::svg::{Px, SMALL, fit, width};
use crate::result::RunFile;
use crate::result::record::{Class, Kind, Measurement, Status, worded};

/// A shape that stands for a point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// A disc.
    Circle,
    /// A square on its side.
    Diamond,
    /// A triangle on its base.
    Up,
    /// A square.
    Square,
    /// A triangle on its tip.
    Down,
    /// Two crossed bars.
    Cross,
}

/// The shapes, in the order in which series take them.
pub const SHAPES: [Shape; 6] = [Shape::Circle, Shape::Square, Shape::Up, Shape::Diamond, Shape::Down, Shape::Cross];

impl Shape {
    /// The shape around a place, about `size` pixels across, with the class given.
    #[must_use]
    pub fn draw(self, x: f64, y: f64, size: f64, class: &str) -> Markup {
        let half = size / 2.0;
        let path = |points: &[(f64, f64)]| {
            let points = points.iter().map(|(dx, dy)| format!("{} {}", Px(x + dx * half), Px(y + dy * half)));
            format!("M{}Z", points.collect::<Vec<_>>().join("L"))
        };
        let d = match self {
            Self::Circle => return html! { circle class=(class) cx=(Px(x)) cy=(Px(y)) r=(Px(half)) {} },
            Self::Diamond => path(&[(0.0, -1.25), (1.25, 0.0), (0.0, 1.25), (-1.25, 0.0)]),
            Self::Square => path(&[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)]),
            Self::Up => path(&[(0.0, -1.15), (1.15, 0.95), (-1.15, 0.95)]),
            Self::Down => path(&[(0.0, 1.15), (1.15, -0.95), (-1.15, -0.95)]),
            Self::Cross => path(&[
                (-0.35, -1.1),
                (0.35, -1.1),
                (0.35, -0.35),
                (1.1, -0.35),
                (1.1, 0.35),
                (0.35, 0.35),
                (0.35, 1.1),
                (-0.35, 1.1),
                (-0.35, 0.35),
                (-1.1, 0.35),
                (-1.1, -0.35),
                (-0.35, -0.35),
            ]),
        };
        html! { path class=(class) d=(d) {} }
    }
}

/// What a bar stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fill {
    /// A protocol of a class.
    Of(Class),
    /// A part of a stack, from the inside out.
    Part(usize),
}

impl Fill {
    /// That of a protocol, of which there are rows, variants of rows, and floors.
    #[must_use]
    pub const fn protocol(class: Option<Class>) -> Self {
        match class {
            Some(Class::Floor) => Self::Of(Class::Floor),
            Some(Class::Row) => Self::Of(Class::Row),
            _ => Self::Of(Class::Variant),
        }
    }

    /// Its class in the style sheet.
    #[must_use]
    pub const fn class(self) -> &'static str {
        match self {
            Self::Of(Class::Row) => "row",
            Self::Of(Class::Variant) => "variant",
            Self::Of(Class::Floor) => "floor",
            Self::Of(Class::Context) => "context",
            Self::Part(0) => "part0",
            Self::Part(1) => "part1",
            Self::Part(2) => "part2",
            Self::Part(_) => "part3",
        }
    }
}

/// What a key of a legend shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Swatch {
    /// A bar.
    Bar(Fill),
    /// A point; whether it is an open one.
    Dot(Shape, bool),
    /// An interval.
    Whisker,
    /// A bar that is not valid without its mark.
    Suspect,
    /// A time in which the machine was disturbed.
    Band,
    /// A curve behind the others.
    Behind,
    /// Something of which the classes are given: a line, and a point on it.
    Line(String, String, Shape),
}

/// A key of a legend.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    /// What it shows.
    pub swatch: Swatch,
    /// What that is.
    pub text: String,
}

impl Key {
    /// A key.
    #[must_use]
    pub fn new(swatch: Swatch, text: impl Into<String>) -> Self {
        Self { swatch, text: text.into() }
    }
}

/// Keys in lines that are no wider than `room`, from the top; with the height that they take.
#[must_use]
pub fn legend(keys: &[Key], room: f64, hatched: &str) -> (Markup, f64) {
    const LINE: f64 = 18.0;
    if keys.is_empty() {
        return (html! {}, 0.0);
    }
    let (mut x, mut y) = (0.0, 12.0);
    let mut places = Vec::new();
    for key in keys {
        let text = fit(&key.text, room - 24.0, SMALL);
        let wide = 24.0 + width(&text, SMALL);
        if x > 0.0 && x + wide > room {
            (x, y) = (0.0, y + LINE);
        }
        places.push((&key.swatch, text, x, y));
        x += wide + 14.0;
    }
    let markup = html! {
        @for (kind, text, x, y) in places {
            (swatch(kind, x, y - 4.0, hatched))
            text class="small muted" x=(Px(x + 22.0)) y=(Px(y)) { (text) }
        }
    };
    (markup, y + 8.0)
}

fn swatch(swatch: &Swatch, x: f64, y: f64, hatched: &str) -> Markup {
    let block = |class: &str| html! { rect class=(class) x=(Px(x)) y=(Px(y - 5.0)) width="16" height="10" {} };
    match swatch {
        Swatch::Bar(fill) => block(fill.class()),
        Swatch::Dot(shape, open) => shape.draw(x + 8.0, y, 8.0, if *open { "dot open" } else { "dot row" }),
        Swatch::Whisker => html! { path class="whisker" d=(whisker(x + 1.0, x + 15.0, y)) {} },
        Swatch::Suspect => {
            html! { rect class="suspect" fill=(hatched) x=(Px(x)) y=(Px(y - 5.0)) width="16" height="10" {} }
        }
        Swatch::Band => block("band"),
        Swatch::Behind => block("behind"),
        Swatch::Line(line, mark, shape) => html! {
            path class=(line) d=(format!("M{} {}h18", Px(x - 1.0), Px(y))) {}
            (shape.draw(x + 8.0, y, 6.0, mark))
        },
    }
}

/// An interval as a path.
#[must_use]
pub fn whisker(low: f64, high: f64, y: f64) -> String {
    format!("M{0} {1}v8M{0} {2}H{3}M{3} {1}v8", Px(low), Px(y - 4.0), Px(y), Px(high))
}

/// An interval that goes on beyond where it ends, as a path.
#[must_use]
pub fn going_on(low: f64, end: f64, y: f64) -> String {
    format!("M{0} {1}v8M{0} {2}H{3}m-5 -4l5 4l-5 4", Px(low), Px(y - 4.0), Px(y), Px(end))
}

/// What has to be said of a figure wherever it stands: one word, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caveat {
    /// `unfit`, `failed`, `saturated`, `not measured`, `unsupported`.
    pub word: &'static str,
    /// The reason, in the run's words.
    pub reason: String,
}

impl Caveat {
    /// Word and reason; the word once, where the reason begins with it.
    #[must_use]
    pub fn words(&self) -> String {
        worded(self.word, &self.reason)
    }

    /// As a note below a figure.
    #[must_use]
    pub fn note(&self, protocol: &str) -> String {
        format!("{protocol} {}.", self.words())
    }
}

/// What has to be said of a measurement, or nothing where it is good as it stands.
#[must_use]
pub fn caveat(m: &Measurement, run: &RunFile) -> Option<Caveat> {
    let reason = |reason: Option<&String>| reason.map_or_else(|| "no reason given".to_owned(), Clone::clone);
    if m.status != Status::Ok {
        return Some(Caveat { word: m.status.word(), reason: reason(m.reason.as_ref()) });
    }
    match (m.kind, &m.unfit) {
        (Kind::Rate, Some(unfit)) => Some(Caveat { word: "unfit", reason: unfit.clone() }),
        (Kind::Rate, None) if !run.conditions.fit => {
            let all = &run.conditions.reasons;
            Some(Caveat { word: "unfit", reason: reason((!all.is_empty()).then(|| all.join("; ")).as_ref()) })
        }
        _ => None,
    }
}

/// A measurement's number, or the word for its absence.
#[must_use]
pub fn number_or_word(m: &Measurement, text: impl Fn(f64) -> String) -> String {
    m.number().map_or_else(|| m.status.word().to_owned(), text)
}

/// One sentence for each caveat of several protocols, those of a kind together.
#[must_use]
pub fn notes<'a>(caveats: impl IntoIterator<Item = (&'a str, Option<Caveat>)>) -> Vec<String> {
    let mut said: Vec<(Caveat, Vec<&str>)> = Vec::new();
    for (protocol, caveat) in caveats {
        let Some(caveat) = caveat else { continue };
        match said.iter_mut().find(|(known, _)| *known == caveat) {
            Some((_, protocols)) if protocols.contains(&protocol) => {}
            Some((_, protocols)) => protocols.push(protocol),
            None => said.push((caveat, vec![protocol])),
        }
    }
    said.iter().map(|(caveat, protocols)| caveat.note(&protocols.join(", "))).collect()
}
