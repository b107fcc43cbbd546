//! Scales: from a value to its place between 0 and 1, and the ticks between them. Owns which numbers stand at an axis, and how.

use super::super::table::figure;

/// From values to places.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Scale {
    /// From the first to the second.
    Linear(f64, f64),
    /// From the first to the second, both above zero, by their logarithms.
    Log(f64, f64),
    /// Shares below 1 by how rare what is beyond is, up to so many nines: HdrHistogram's axis, 1/(1-p).
    Nines(f64),
}

/// A tick: where, and what stands there.
#[derive(Debug, Clone, PartialEq)]
pub struct Tick {
    /// Between 0 and 1.
    pub at: f64,
    /// The words; empty for a line without any.
    pub label: String,
}

impl Scale {
    /// From 0 to a round number that is not below any value.
    #[must_use]
    pub fn from_zero(values: impl IntoIterator<Item = f64>) -> Self {
        let most = finite(values).fold(0.0, f64::max);
        Self::Linear(0.0, if most > 0.0 { round_up(most) } else { 1.0 })
    }

    /// Between round numbers around all values that are above zero.
    #[must_use]
    pub fn logarithmic(values: impl IntoIterator<Item = f64>) -> Self {
        let (low, high) = finite(values)
            .filter(|value| *value > 0.0)
            .fold((f64::INFINITY, 0.0_f64), |(low, high), value| (low.min(value), high.max(value)));
        if high == 0.0 {
            return Self::Log(1.0, 10.0);
        }
        let (low, high) = (round_down(low), round_up(high));
        if high > low { Self::Log(low, high) } else { Self::Log(low, low * 10.0) }
    }

    /// The place of a value; what is outside stands at the end.
    #[must_use]
    pub fn at(self, value: f64) -> f64 {
        let at = match self {
            Self::Linear(low, high) => (value - low) / (high - low),
            Self::Log(low, high) => (value / low).ln() / (high / low).ln(),
            Self::Nines(nines) => -(1.0 - value).log10() / nines,
        };
        if at.is_nan() { 0.0 } else { at.clamp(0.0, 1.0) }
    }

    /// Whether a value has its own place, and does not stand at the end in place of it.
    #[must_use]
    pub const fn holds(self, value: f64) -> bool {
        match self {
            Self::Linear(low, high) | Self::Log(low, high) => low <= value && value <= high,
            Self::Nines(_) => value < 1.0,
        }
    }

    /// Ticks, at most about `most` of them with words; `label` gives those of a linear or logarithmic scale.
    #[must_use]
    pub fn ticks(self, most: usize, label: impl Fn(f64) -> String) -> Vec<Tick> {
        let tick = |value: f64, label: String| Tick { at: self.at(value), label };
        match self {
            Self::Linear(low, high) => {
                let step = step((high - low) / count(most));
                let steps = ((high - low) / step + 1e-9).floor();
                let values = (0..).map(f64::from).take_while(|n| *n <= steps).map(|n| low + n * step);
                values.map(|value| tick(value, label(value))).collect()
            }
            Self::Log(low, high) => {
                let all = decades(low, high);
                let every = all.len().div_ceil(most.max(1)).max(1);
                let mut ticks: Vec<Tick> = Vec::new();
                for (place, decade) in all.iter().enumerate() {
                    let words = if place % every == 0 { label(*decade) } else { String::new() };
                    ticks.push(tick(*decade, words));
                }
                if all.len() < 3 {
                    let between = decades(low / 10.0, high).into_iter().flat_map(|decade| [2.0 * decade, 5.0 * decade]);
                    let between: Vec<f64> = between.filter(|value| (low..=high).contains(value)).collect();
                    let has_words = all.len() + between.len() <= most + 1;
                    let words = |value| if has_words { label(value) } else { String::new() };
                    ticks.extend(between.into_iter().map(|value| tick(value, words(value))));
                    ticks.sort_by(|one, other| one.at.total_cmp(&other.at));
                }
                ticks
            }
            Self::Nines(nines) => {
                let shares = [(0.0_f64, "0 %"), (0.5, "50 %"), (0.9, "90 %"), (0.99, "99 %"), (0.999, "99.9 %")];
                let rare = [(0.999_9, "99.99 %"), (0.999_99, "99.999 %"), (0.999_999, "99.9999 %")];
                let shares = shares.into_iter().chain(rare);
                shares
                    .filter(|(share, _)| -(1.0 - share).log10() <= nines + 1e-9)
                    .map(|(share, words)| tick(share, words.to_owned()))
                    .collect()
            }
        }
    }
}

/// Nanoseconds in the unit that suits them.
#[must_use]
pub fn time(ns: f64) -> String {
    let in_unit = |value: f64, unit: &str| format!("{} {unit}", short(value));
    match ns.abs() {
        size if size < 1e3 => in_unit(ns, "ns"),
        size if size < 1e6 => in_unit(ns / 1e3, "us"),
        size if size < 1e9 => in_unit(ns / 1e6, "ms"),
        _ => in_unit(ns / 1e9, "s"),
    }
}

/// A number at an axis: no more digits than it has.
#[must_use]
pub fn short(value: f64) -> String {
    let hundredths = (value * 100.0).round() / 100.0;
    if hundredths.fract() == 0.0 && hundredths.abs() >= 1_000.0 {
        return figure(hundredths);
    }
    format!("{:.2}", hundredths + 0.0).trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn finite(values: impl IntoIterator<Item = f64>) -> impl Iterator<Item = f64> {
    values.into_iter().filter(|value| value.is_finite())
}

fn count(most: usize) -> f64 {
    u32::try_from(most.max(1)).map_or(1.0, f64::from)
}

/// The decades within a range.
fn decades(low: f64, high: f64) -> Vec<f64> {
    let (first, last) = ((low.log10() - 1e-9).ceil(), (high.log10() + 1e-9).floor());
    let exponents = (0..).map(|n| f64::from(n) + first).take_while(|exponent| *exponent <= last);
    exponents.map(|exponent| 10.0_f64.powf(exponent)).collect()
}

/// 1, 2 or 5 times a power of ten: the least that is not below `value`.
fn step(value: f64) -> f64 {
    let power = 10.0_f64.powf(value.log10().floor());
    let factor = [1.0, 2.0, 5.0, 10.0].into_iter().find(|factor| factor * power >= value * (1.0 - 1e-9));
    factor.unwrap_or(10.0) * power
}

fn round_up(value: f64) -> f64 {
    let power = 10.0_f64.powf(value.log10().floor());
    let factor = [1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0];
    factor.into_iter().find(|factor| factor * power >= value * (1.0 - 1e-9)).unwrap_or(10.0) * power
}

fn round_down(value: f64) -> f64 {
    let power = 10.0_f64.powf(value.log10().floor());
    [5.0, 2.0, 1.0].into_iter().find(|factor| factor * power <= value * (1.0 + 1e-9)).unwrap_or(1.0) * power
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(scale: Scale, most: usize) -> Vec<String> {
        scale.ticks(most, time).into_iter().map(|tick| tick.label).collect()
    }

    #[test]
    fn ticks_are_round() {
        assert_eq!(Scale::from_zero([3.0, 287.0, f64::NAN]), Scale::Linear(0.0, 300.0));
        assert_eq!(
            labels(Scale::Linear(0.0, 300.0), 6),
            ["0 ns", "50 ns", "100 ns", "150 ns", "200 ns", "250 ns", "300 ns"]
        );
        assert_eq!(Scale::logarithmic([0.0, 17_000.0, 9e9]), Scale::Log(10_000.0, 1e10));
        assert_eq!(labels(Scale::Log(1e4, 1e10), 4), ["10 us", "", "1 ms", "", "100 ms", "", "10 s"]);
        assert_eq!(labels(Scale::Log(5e4, 2e5), 4), ["50 us", "100 us", "200 us"]);
        // Two decades and what lies between: words for all where there is room, for the decades where there is not.
        let rates = Scale::Log(2e4, 5e6);
        assert_eq!(rates.ticks(7, short).iter().filter(|tick| !tick.label.is_empty()).count(), 8);
        assert_eq!(labels(rates, 4), ["", "", "100 us", "", "", "1 ms", "", ""]);
        assert_eq!(labels(Scale::Nines(3.0), 9), ["0 %", "50 %", "90 %", "99 %", "99.9 %"]);
    }

    #[test]
    fn places_are_between_0_and_1_whatever_comes() {
        for scale in [Scale::Linear(0.0, 10.0), Scale::Log(1.0, 100.0), Scale::Nines(4.0), Scale::from_zero([])] {
            for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -1.0, 0.0, 0.5, 1.0, 1e300] {
                assert!((0.0..=1.0).contains(&scale.at(value)), "{scale:?} {value}");
            }
        }
        assert!((Scale::Log(1.0, 100.0).at(10.0) - 0.5).abs() < 1e-12);
        assert!((Scale::Nines(4.0).at(0.99) - 0.5).abs() < 1e-12);
        assert!(
            matches!(Scale::logarithmic([]), Scale::Log(..)) && matches!(Scale::logarithmic([1.0]), Scale::Log(..))
        );
    }

    #[test]
    fn numbers_at_an_axis() {
        assert_eq!([0.0, 2.5, 50_000.0, 1e6].map(short), ["0", "2.5", "50,000", "1,000,000"]);
        assert_eq!([40.0, 1_500.0, 2e7, 1e10].map(time), ["40 ns", "1.5 us", "20 ms", "10 s"]);
    }
}
