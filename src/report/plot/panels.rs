//! A chart of small panels with the same scales: one protocol in each, what it is held against behind it, and the times in which
//! it says less shaded. Owns the grid of panels; what stands in one is the plots'.

use maud::{Markup, html};

use super::curves::Frame;
use super::marks::{Key, legend};
use super::palette::Style;
use super::scale::{Scale, Tick};
use super::svg::{Chart, Drawing, Px, SMALL, Size, TEXT, fit, hatch, hatched, width};

/// The chart.
#[derive(Debug, Clone)]
pub struct Panels {
    /// Across, in all panels.
    pub x: Scale,
    /// What stands at its ticks.
    pub x_tick: fn(f64) -> String,
    /// What it shows.
    pub x_title: &'static str,
    /// Up, in all panels.
    pub y: Scale,
    /// What stands at its ticks.
    pub y_tick: fn(f64) -> String,
    /// The panels.
    pub panels: Vec<Panel>,
    /// A curve behind every panel's own, in pieces.
    pub back: Vec<Vec<(f64, f64)>>,
    /// The legend.
    pub keys: Vec<Key>,
}

/// A panel.
#[derive(Debug, Clone)]
pub struct Panel {
    /// Whose it is.
    pub title: String,
    /// A word that it is not valid without.
    pub caveat: Option<String>,
    /// Everything about it, in a tooltip.
    pub tip: String,
    /// How its curve looks.
    pub style: Style,
    /// The curve, in pieces.
    pub lines: Vec<Vec<(f64, f64)>>,
    /// Spans across that are shaded.
    pub bands: Vec<Band>,
}

/// A shaded span across.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Band {
    /// Where it begins.
    pub from: f64,
    /// Where it ends.
    pub to: f64,
    /// Whether it is hatched in place of shaded.
    pub hatched: bool,
}

impl Chart for Panels {
    fn draw(&self, size: Size, id: &str) -> Drawing {
        const TITLE: f64 = 24.0;
        const FOOT: f64 = 26.0;
        let narrow = size.is_narrow();
        let columns = if narrow { 1 } else { 3.min(self.panels.len()).max(1) };
        let high = if narrow { 92.0 } else { 118.0 };
        let (keys, top) = legend(&self.keys, size.width(), &hatched(id));
        let up = self.y.ticks(4, self.y_tick);
        let across = self.x.ticks(if narrow { 5 } else { 4 }, self.x_tick);
        let left = 8.0 + up.iter().map(|tick| width(&tick.label, SMALL)).fold(20.0, f64::max);
        let wide = (size.width() - left - 10.0 - 16.0 * (count(columns) - 1.0)) / count(columns);
        let place = |index: usize| {
            let (column, line) = (count(index % columns), count(index / columns));
            let (left, top) = (left + column * (wide + 16.0), top + line * (TITLE + high + FOOT) + TITLE);
            Frame { left, right: left + wide, top, bottom: top + high }
        };
        let lines = self.panels.len().div_ceil(columns);
        let height = top + count(lines) * (TITLE + high + FOOT) + 12.0;
        let body = html! {
            (hatch(id))
            (keys)
            @for (index, panel) in self.panels.iter().enumerate() {
                // Words stand at the first column's axis only.
                @let up: Vec<Tick> = if index % columns == 0 { up.clone() } else { silent(&up) };
                (self.panel(panel, &place(index), &across, &up, &hatched(id)))
            }
            text class="small muted end" x=(Px(size.width() - 10.0)) y=(Px(height - 4.0)) { (self.x_title) }
        };
        Drawing { height, body }
    }
}

impl Panels {
    fn panel(&self, panel: &Panel, frame: &Frame, across: &[Tick], up: &[Tick], hatched: &str) -> Markup {
        let scales = (self.x, self.y);
        let title = fit(&panel.title, frame.right - frame.left, TEXT);
        let beside = frame.left + width(&title, TEXT) + 8.0;
        html! {
            g {
                title { (panel.tip) }
                rect class="hit" x=(Px(frame.left)) y=(Px(frame.top)) width=(Px(frame.right - frame.left))
                    height=(Px(frame.bottom - frame.top)) {}
                text class="strong" x=(Px(frame.left)) y=(Px(frame.top - 8.0)) { (title) }
                @if let Some(word) = &panel.caveat {
                    text class="small warn" x=(Px(beside)) y=(Px(frame.top - 8.0)) {
                        (fit(word, frame.right - beside, SMALL))
                    }
                }
                @for band in &panel.bands { (shaded(band, frame, scales, hatched)) }
                (frame.axes(across, up))
                @for piece in &self.back { path class="back" d=(frame.path(scales, piece)) {} }
                @for piece in &panel.lines { path class=(panel.style.line) d=(frame.path(scales, piece)) {} }
            }
        }
    }
}

fn shaded(band: &Band, frame: &Frame, (x, _): (Scale, Scale), hatched: &str) -> Markup {
    let at = |value: f64| frame.left + x.at(value) * (frame.right - frame.left);
    let (from, wide) = (at(band.from), (at(band.to) - at(band.from)).max(0.5));
    let (top, high) = (Px(frame.top), Px(frame.bottom - frame.top));
    if band.hatched {
        html! { rect class="veil" fill=(hatched) x=(Px(from)) y=(top) width=(Px(wide)) height=(high) {} }
    } else {
        html! { rect class="band" x=(Px(from)) y=(top) width=(Px(wide)) height=(high) {} }
    }
}

fn silent(ticks: &[Tick]) -> Vec<Tick> {
    ticks.iter().map(|tick| Tick { at: tick.at, label: String::new() }).collect()
}

fn count(all: usize) -> f64 {
    u32::try_from(all).map_or(0.0, f64::from)
}
