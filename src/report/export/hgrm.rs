//! HdrHistogram's percentile distribution as text, as its Java original prints it and its plotters read it. Owns the layout; five
//! lines for each halving of the distance to 100 %, as there.

use std::fmt::Write;

use hdrhistogram::Histogram;

use crate::result::histogram;
use crate::result::record::Measurement;

/// Lines for each halving of the distance to 100 %.
const TICKS: u32 = 5;

/// The distribution of a measurement, in its own unit; `None` where it has none.
///
/// # Errors
/// A sentence, where what stands in the file is no histogram.
pub fn text(measurement: &Measurement) -> Option<Result<String, String>> {
    let record = measurement.histogram.as_ref()?;
    if record.encoding != histogram::ENCODING {
        return Some(Err(format!("a histogram in {}, which nobody here reads", record.encoding)));
    }
    Some(histogram::decode(&record.data).map(|histogram| lines(&histogram)))
}

#[expect(clippy::cast_precision_loss, reason = "the format has decimals")]
fn lines(histogram: &Histogram<u64>) -> String {
    let mut text = format!("{:>12} {:>14} {:>10} {:>14}\n\n", "Value", "Percentile", "TotalCount", "1/(1-Percentile)");
    let mut total = 0;
    for step in histogram.iter_quantiles(TICKS) {
        total += step.count_since_last_iteration();
        let (value, quantile) = (step.value_iterated_to() as f64, step.quantile_iterated_to());
        // Writing to a string cannot fail.
        let _ = write!(text, "{value:>12.3} {quantile:>2.12} {total:>10}");
        // At 100 % the distance is none, and has no inverse.
        let _ = if quantile < 1.0 { writeln!(text, " {:>14.2}", 1.0 / (1.0 - quantile)) } else { writeln!(text) };
    }
    let (mean, deviation, max) = (histogram.mean(), histogram.stdev(), histogram.max() as f64);
    let _ = writeln!(text, "#[Mean    = {mean:>12.3}, StdDeviation   = {deviation:>12.3}]");
    let _ = writeln!(text, "#[Max     = {max:>12.3}, Total count    = {:>12}]", histogram.len());
    let (buckets, sub_buckets) = shape(histogram);
    let _ = writeln!(text, "#[Buckets = {buckets:>12}, SubBuckets     = {sub_buckets:>12}]");
    text
}

/// How the histogram is laid out, as its makers count: sub-buckets for its digits, and as many buckets as reach its bound.
fn shape(histogram: &Histogram<u64>) -> (u32, u64) {
    let largest_resolved = 2 * 10_u64.pow(u32::from(histogram.sigfig()));
    let sub_buckets = largest_resolved.next_power_of_two();
    let unit = histogram.low().checked_ilog2().unwrap_or(0);
    let mut reached = u128::from(sub_buckets) << unit;
    let mut buckets = 1;
    while reached <= u128::from(histogram.high()) {
        reached <<= 1;
        buckets += 1;
    }
    (buckets, sub_buckets)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_distribution_by_hand() {
        let mut histogram = Histogram::<u64>::new_with_bounds(1, 3_600_000_000_000, 3).unwrap();
        for value in [1, 2, 3, 4] {
            histogram.record(value).unwrap();
        }
        let text = lines(&histogram);
        let all: Vec<_> = text.lines().collect();
        assert_eq!(all[0], "       Value     Percentile TotalCount 1/(1-Percentile)");
        assert_eq!(all[2], "       1.000 0.000000000000          1           1.00");
        assert!(all.contains(&"       4.000 1.000000000000          4"), "{text}");
        assert!(text.ends_with("#[Buckets =           32, SubBuckets     =         2048]\n"), "{text}");
        assert!(text.contains("#[Mean    =        2.500, StdDeviation   =        1.118]\n"), "{text}");
    }
}
