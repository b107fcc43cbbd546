//! From a drawing to SVG: inlined in a page, which has the colours, or a file of its own, which carries them. Owns both frames,
//! the two sizes, how numbers and texts are measured and written; what is drawn is the charts'.
//!
//! The SVG is written by hand, in `maud`'s markup, and not by `plotters`. Its SVG backend was tried on paper first: it knows
//! whole pixels only, so that a whisker is lost; it writes each colour as `#RRGGBB` into the element, so that a dark theme would
//! mean to patch its output; and it has neither groups nor classes, `<title>` or patterns, which tooltips, screen readers and
//! marks that are not colour alone need. What it would have saved, ticks and scales, is `scale`, a hundred lines.
//!
//! Every text goes through `maud`, which escapes it, and what XML does not allow even then is replaced in [`clean`].

use std::fmt::Write;

use maud::{Markup, PreEscaped, Render, html};

use super::Figure;

/// The colours, light and dark.
pub const THEME: &str = include_str!("theme.css");

/// How the classes of a plot look.
pub const STYLE: &str = include_str!("plot.css");

/// The size of a small text, in pixels; it is also the smallest.
pub const SMALL: f64 = 11.0;

/// The size of a text.
pub const TEXT: f64 = 12.0;

/// How wide a drawing is, in pixels; its height follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Size {
    /// For a desk.
    Wide,
    /// For a phone, where labels stand above what they name.
    Narrow,
}

impl Size {
    /// In pixels.
    #[must_use]
    pub const fn width(self) -> f64 {
        match self {
            Self::Wide => 840.0,
            Self::Narrow => 336.0,
        }
    }

    /// Whether it is the one for a phone.
    #[must_use]
    pub const fn is_narrow(self) -> bool {
        matches!(self, Self::Narrow)
    }

    const fn class(self) -> &'static str {
        if self.is_narrow() { "plot narrow" } else { "plot wide" }
    }
}

/// What a chart has drawn.
#[derive(Debug, Clone)]
pub struct Drawing {
    /// In pixels.
    pub height: f64,
    /// The elements.
    pub body: Markup,
}

/// Something that can be drawn in both sizes.
pub trait Chart {
    /// Draws it; `id` is a word that no other drawing on the page has, for what is referred to.
    fn draw(&self, size: Size, id: &str) -> Drawing;
}

/// A figure within a page.
#[must_use]
pub fn inline(figure: &Figure, size: Size) -> Markup {
    let suffix = if size.is_narrow() { "n" } else { "w" };
    let drawing = figure.chart.draw(size, &format!("{}-{suffix}", figure.name));
    html! {
        svg class=(size.class()) viewBox=(view(size, drawing.height)) role="img" aria-label=(figure.title) {
            (drawing.body)
        }
    }
}

/// A figure as a file: it says itself what it shows, in which unit and of which run, and follows the reader's light or dark.
#[must_use]
pub fn standalone(figure: &Figure) -> String {
    const LINE: f64 = 19.0;
    let size = Size::Wide;
    let title = lines(&figure.title, size.width(), 17.0);
    let places: Vec<f64> = (0_u32..).map(|n| 26.0 + LINE * f64::from(n)).take(title.len()).collect();
    let below = places.last().copied().unwrap_or_default();
    let head = below + 32.0;
    let drawing = figure.chart.draw(size, &figure.name);
    let height = head + drawing.height + 10.0;
    let margin = 16.0;
    let width = size.width() + 2.0 * margin;
    let markup = html! {
        svg xmlns="http://www.w3.org/2000/svg" class="plot" width=(Px(width)) height=(Px(height))
            viewBox=(format!("0 0 {} {}", Px(width), Px(height))) role="img" aria-labelledby="title desc" {
            title id="title" { (figure.title) }
            desc id="desc" { (figure.caption) " " (figure.source) }
            style { (PreEscaped(THEME)) (PreEscaped(STYLE)) }
            rect class="paper" width=(Px(width)) height=(Px(height)) rx="6" {}
            @for (line, y) in title.iter().zip(&places) { text class="heading" x=(Px(margin)) y=(Px(*y)) { (line) } }
            text class="small muted" x=(Px(margin)) y=(Px(below + 19.0)) { (fit(&figure.subtitle(), size.width(), SMALL)) }
            g transform=(format!("translate({} {})", Px(margin), Px(head))) { (drawing.body) }
        }
    };
    clean(&markup.into_string()) + "\n"
}

fn view(size: Size, height: f64) -> String {
    format!("0 0 {} {}", Px(size.width()), Px(height))
}

/// Replaces the characters that neither XML nor HTML can hold, however they are written.
#[must_use]
pub fn clean(text: &str) -> String {
    let is_fine = |c: char| matches!(c, '\t' | '\n' | '\r' | ' '..='\u{fffd}' | '\u{10000}'..) && !is_control(c);
    text.chars().map(|c| if is_fine(c) { c } else { '\u{fffd}' }).collect()
}

const fn is_control(c: char) -> bool {
    matches!(c, '\u{7f}'..='\u{9f}')
}

/// A coordinate with one decimal, and none where it is whole; never anything but a number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Px(pub f64);

impl std::fmt::Display for Px {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let finite = if self.0.is_finite() { self.0 } else { 0.0 };
        let tenths = (finite * 10.0).round() / 10.0;
        // There is no coordinate of -0.
        if tenths.fract() == 0.0 { write!(to, "{:.0}", tenths + 0.0) } else { write!(to, "{tenths:.1}") }
    }
}

impl Render for Px {
    fn render_to(&self, buffer: &mut String) {
        // Writing to a string cannot fail.
        let _ = write!(buffer, "{self}");
    }
}

/// How wide a text is at most, in pixels: it is set in whatever the reader has, and the widest of the usual faces counts.
#[must_use]
pub fn width(text: &str, size: f64) -> f64 {
    let of = |c: char| match c {
        'i' | 'j' | 'l' | '.' | ',' | ':' | ';' | '\'' | '|' | ' ' => 0.34,
        'f' | 't' | 'r' | '-' | '(' | ')' => 0.44,
        'm' | 'w' | 'M' | 'W' | '%' | '@' => 0.98,
        c if c.is_ascii() => 0.65,
        _ => 1.0,
    };
    text.chars().map(of).sum::<f64>() * size
}

/// The text, cut where it is wider than `room`.
#[must_use]
pub fn fit(text: &str, room: f64, size: f64) -> String {
    // What room was made for fits, whatever adding up has rounded.
    if width(text, size) <= room + 0.1 {
        return text.to_owned();
    }
    let mut kept = String::new();
    for c in text.chars() {
        kept.push(c);
        if width(&kept, size) + size > room {
            kept.pop();
            break;
        }
    }
    kept.trim_end().to_owned() + "\u{2026}"
}

/// The text in lines of whole words, each no wider than `room`; a word that is wider is cut.
fn lines(text: &str, room: f64, size: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if width(&format!("{line} {word}"), size) <= room => *line += &format!(" {word}"),
            _ => lines.push(fit(word, room, size)),
        }
    }
    lines
}

/// Stripes for what is not valid without its mark, under an id of the drawing's own.
#[must_use]
pub fn hatch(id: &str) -> Markup {
    html! {
        defs {
            pattern id=(format!("{id}-hatch")) width="5" height="5" patternUnits="userSpaceOnUse"
                patternTransform="rotate(45)" {
                rect class="hatch-ground" width="5" height="5" {}
                rect class="hatch-line" width="2" height="5" {}
            }
        }
    }
}

/// The fill of [`hatch`].
#[must_use]
pub fn hatched(id: &str) -> String {
    format!("url(#{id}-hatch)")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coordinates_are_numbers_whatever_comes() {
        let pairs = [(1.0, "1"), (1.25, "1.3"), (-0.01, "0"), (f64::NAN, "0"), (f64::INFINITY, "0"), (99.96, "100")];
        for (value, text) in pairs {
            assert_eq!(Px(value).to_string(), text);
        }
    }

    #[test]
    fn what_no_document_can_hold_is_replaced() {
        assert_eq!(
            clean("a\u{0}b\u{b}c\u{1b}\u{ffff}\u{85}d\té\n"),
            "a\u{fffd}b\u{fffd}c\u{fffd}\u{fffd}\u{fffd}d\té\n"
        );
    }

    #[test]
    fn a_title_that_is_too_long_takes_another_line() {
        assert_eq!(lines("one vote", 400.0, 12.0), ["one vote"]);
        let broken = lines(&"one vote ".repeat(9), 120.0, 12.0);
        assert!(broken.len() > 2 && broken.iter().all(|line| width(line, 12.0) <= 120.0), "{broken:?}");
        assert_eq!(broken.join(" "), "one vote ".repeat(9).trim_end());
    }

    #[test]
    fn a_text_that_is_too_long_is_cut() {
        assert_eq!(fit("zap", 100.0, 12.0), "zap");
        let cut = fit(&"flatbuffers".repeat(9), 100.0, 12.0);
        assert!(cut.ends_with('\u{2026}') && width(&cut, 12.0) <= 112.0, "{cut}");
    }
}
