//! A chart of curves in one frame: percentiles, or something against something. Owns the frame, the names at the ends of the
//! curves, and the legend that takes their place on a phone.

use maud::{Markup, html};

use super::marks::{Key, Swatch, legend};
use super::palette::Style;
use super::scale::{Scale, Tick};
use super::svg::{Chart, Drawing, Px, SMALL, Size, fit, width};

/// The chart.
#[derive(Debug, Clone)]
pub struct Curves {
    /// Across.
    pub x: Axis,
    /// Up.
    pub y: Axis,
    /// The curves, the hindmost first.
    pub series: Vec<Series>,
    /// What is drawn behind them, as an area down to the frame's bottom.
    pub behind: Option<(String, Vec<(f64, f64)>)>,
}

/// An axis.
#[derive(Debug, Clone)]
pub struct Axis {
    /// Its scale.
    pub scale: Scale,
    /// What stands at its ticks, where the scale does not say it itself.
    pub tick: fn(f64) -> String,
    /// What it shows, with the unit.
    pub title: String,
}

/// A curve.
#[derive(Debug, Clone)]
pub struct Series {
    /// Its name, with the word that it is not valid without.
    pub label: String,
    /// Everything about it, in a tooltip.
    pub tip: String,
    /// How it looks.
    pub style: Style,
    /// Its points, from left to right.
    pub points: Vec<(f64, f64)>,
    /// Those of them that get a shape.
    pub marked: Vec<(f64, f64)>,
}

/// Where the curves are drawn.
pub(super) struct Frame {
    pub(super) left: f64,
    pub(super) right: f64,
    pub(super) top: f64,
    pub(super) bottom: f64,
}

impl Frame {
    pub(super) fn place(&self, (x, y): (Scale, Scale), point: (f64, f64)) -> (f64, f64) {
        (self.left + x.at(point.0) * (self.right - self.left), self.bottom - y.at(point.1) * (self.bottom - self.top))
    }

    /// A path through points.
    pub(super) fn path(&self, scales: (Scale, Scale), points: &[(f64, f64)]) -> String {
        let mut d = String::new();
        for (place, point) in points.iter().enumerate() {
            let (x, y) = self.place(scales, *point);
            d += &format!("{}{} {}", if place == 0 { "M" } else { "L" }, Px(x), Px(y));
        }
        d
    }

    /// Lines and words of both axes.
    pub(super) fn axes(&self, across: &[Tick], up: &[Tick]) -> Markup {
        let x = |tick: &Tick| self.left + tick.at * (self.right - self.left);
        let y = |tick: &Tick| self.bottom - tick.at * (self.bottom - self.top);
        html! {
            @for tick in up {
                path class="grid" d=(format!("M{} {}H{}", Px(self.left), Px(y(tick)), Px(self.right))) {}
                @if !tick.label.is_empty() {
                    text class="small muted end" x=(Px(self.left - 6.0)) y=(Px(y(tick) + 4.0)) { (tick.label) }
                }
            }
            @for tick in across {
                path class="grid" d=(format!("M{} {}V{}", Px(x(tick)), Px(self.top), Px(self.bottom))) {}
                @if !tick.label.is_empty() {
                    text class="small muted mid" x=(Px(x(tick))) y=(Px(self.bottom + 15.0)) { (tick.label) }
                }
            }
            path class="rule" d=(format!("M{} {}V{}H{}", Px(self.left), Px(self.top), Px(self.bottom), Px(self.right))) {}
        }
    }
}

impl Chart for Curves {
    fn draw(&self, size: Size, _id: &str) -> Drawing {
        let narrow = size.is_narrow();
        let (keys, top) = legend(&self.keys(narrow), size.width(), "");
        let ticks = self.y.scale.ticks(7, self.y.tick);
        let left = 10.0 + ticks.iter().map(|tick| width(&tick.label, SMALL)).fold(20.0, f64::max);
        let names = self.series.iter().map(|series| width(&series.label, SMALL) + 26.0).fold(16.0, f64::max).min(230.0);
        let across = self.across(narrow);
        // The last word below the frame may stand out of it by half.
        let half = across.last().map_or(0.0, |tick| width(&tick.label, SMALL) / 2.0);
        let right = size.width() - if narrow { half.max(18.0) } else { names };
        let top = top + 22.0;
        let frame = Frame { left, right, top, bottom: top + if narrow { 260.0 } else { 360.0 } };
        let scales = (self.x.scale, self.y.scale);
        let body = html! {
            (keys)
            text class="small muted" x="0" y=(Px(top - 9.0)) { (fit(&self.y.title, size.width(), SMALL)) }
            @if let Some((name, points)) = &self.behind { (behind(&frame, scales, name, points)) }
            (frame.axes(&across, &ticks))
            g class="lines" {
                @for series in &self.series { (curve(&frame, scales, series)) }
            }
            @if !narrow { (self.names(&frame)) }
            text class="small muted end" x=(Px(right)) y=(Px(frame.bottom + 32.0)) {
                (fit(&self.x.title, size.width(), SMALL))
            }
        };
        Drawing { height: frame.bottom + 40.0, body }
    }
}

impl Curves {
    /// The legend: on a phone the curves too.
    fn keys(&self, narrow: bool) -> Vec<Key> {
        let line = |series: &Series| {
            let Style { line, mark, shape } = series.style.clone();
            Key::new(Swatch::Line(line, mark, shape), series.label.clone())
        };
        let mut keys: Vec<Key> = if narrow { self.series.iter().map(line).collect() } else { Vec::new() };
        keys.extend(self.behind.as_ref().map(|(name, _)| Key::new(Swatch::Behind, name.clone())));
        keys
    }

    /// Ticks across; on a phone there is room for every other word.
    fn across(&self, narrow: bool) -> Vec<Tick> {
        let mut ticks = self.x.scale.ticks(if narrow { 4 } else { 9 }, self.x.tick);
        if narrow && matches!(self.x.scale, Scale::Nines(_)) {
            for tick in ticks.iter_mut().filter(|tick| ["50 %", "99.9 %", "99.999 %"].contains(&tick.label.as_str())) {
                tick.label.clear();
            }
        }
        ticks
    }

    /// The names at the right, each at its curve's end or as near as the others let it.
    fn names(&self, frame: &Frame) -> Markup {
        let ends: Vec<(f64, f64)> = self
            .series
            .iter()
            .map(|series| {
                let last = series.points.last().copied().unwrap_or_default();
                frame.place((self.x.scale, self.y.scale), last)
            })
            .collect();
        let places = apart(&ends.iter().map(|end| end.1).collect::<Vec<_>>(), 14.0, (frame.top, frame.bottom));
        html! {
            @for ((series, end), y) in self.series.iter().zip(&ends).zip(places) {
                path class={ "leader " (colour_of(&series.style.line)) }
                    d=(format!("M{} {}L{} {}", Px(end.0), Px(end.1), Px(frame.right + 12.0), Px(y))) {}
                (series.style.shape.draw(frame.right + 14.0, y, 6.0, &series.style.mark))
                text class="small" x=(Px(frame.right + 21.0)) y=(Px(y + 4.0)) { (fit(&series.label, 208.0, SMALL)) }
            }
        }
    }
}

/// The class that has a series' colour.
fn colour_of(classes: &str) -> &str {
    classes.split(' ').find(|class| class.len() == 2 && class.starts_with('s')).unwrap_or("s7")
}

fn curve(frame: &Frame, scales: (Scale, Scale), series: &Series) -> Markup {
    html! {
        g class="line" {
            title { (series.tip) }
            path class=(series.style.line) d=(frame.path(scales, &series.points)) {}
            @for point in &series.marked {
                @let (x, y) = frame.place(scales, *point);
                (series.style.shape.draw(x, y, 6.0, &series.style.mark))
            }
        }
    }
}

fn behind(frame: &Frame, scales: (Scale, Scale), name: &str, points: &[(f64, f64)]) -> Markup {
    let Some((first, last)) = points.first().zip(points.last()) else { return html! {} };
    let (from, to) = (frame.place(scales, *first).0, frame.place(scales, *last).0);
    let outline = frame.path(scales, points);
    html! {
        path class="behind" d=(format!("{outline}L{} {}H{}Z", Px(to), Px(frame.bottom), Px(from))) {
            title { (name) }
        }
    }
}

/// Moves places apart until no two are nearer than `least`, each as little as it goes, in their order and within bounds where
/// there is room.
pub(super) fn apart(places: &[f64], least: f64, (top, bottom): (f64, f64)) -> Vec<f64> {
    let mut order: Vec<usize> = (0..places.len()).collect();
    order.sort_by(|one, other| places[*one].total_cmp(&places[*other]));
    // Blocks of neighbours that touch: where the first stands, and who they are.
    let mut blocks: Vec<(f64, Vec<usize>)> = Vec::new();
    let height = |members: &[usize]| least * f64::from(u32::try_from(members.len().saturating_sub(1)).unwrap_or(0));
    for at in order {
        blocks.push((places[at].clamp(top, bottom), vec![at]));
        while let [.., (above, those), (below, these)] = &mut blocks[..] {
            if *above + height(those) + least <= *below {
                break;
            }
            those.append(these);
            // The place at which all of them together are nearest to where they belong.
            let shifts = those.iter().zip(0_u32..).map(|(at, n)| places[*at] - least * f64::from(n));
            let middle = shifts.sum::<f64>() / f64::from(u32::try_from(those.len()).unwrap_or(1));
            *above = middle.min(bottom - height(those)).max(top);
            blocks.pop();
        }
    }
    let mut moved = places.to_vec();
    for (first, members) in blocks {
        for (at, n) in members.into_iter().zip(0_u32..) {
            moved[at] = first + least * f64::from(n);
        }
    }
    moved
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_move_apart_and_stay_in_order() {
        assert_eq!(apart(&[10.0, 50.0], 10.0, (0.0, 100.0)), [10.0, 50.0]);
        assert_eq!(apart(&[50.0, 50.0, 50.0], 10.0, (0.0, 100.0)), [40.0, 50.0, 60.0]);
        assert_eq!(apart(&[100.0, 99.0], 10.0, (0.0, 100.0)), [100.0, 90.0]);
        let crowd = apart(&[3.0, 1.0, 2.0, 90.0], 10.0, (0.0, 100.0));
        assert_eq!(crowd, [20.0, 0.0, 10.0, 90.0]);
        assert!(apart(&[], 10.0, (0.0, 1.0)).is_empty());
    }
}
