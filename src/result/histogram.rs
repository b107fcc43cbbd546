//! The text form of a distribution in a results file: HDR histograms in their V2 deflate format, as base64. Any HdrHistogram
//! library reads it.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer, Serializer, V2DeflateSerializer};

use super::record::Histogram as Record;

/// The name of the encoding.
pub const ENCODING: &str = "hdr-v2-deflate-base64";

/// `histogram` as text.
///
/// # Errors
/// A sentence, where the histogram cannot be written.
pub fn encode(histogram: &Histogram<u64>) -> Result<String, String> {
    let mut bytes = Vec::new();
    let written = V2DeflateSerializer::new().serialize(histogram, &mut bytes);
    written.map_err(|error| format!("a histogram cannot be written: {error}"))?;
    Ok(STANDARD.encode(bytes))
}

/// The histogram of `text`.
///
/// # Errors
/// A sentence, where it is none.
pub fn decode(text: &str) -> Result<Histogram<u64>, String> {
    let bytes = STANDARD.decode(text).map_err(|error| format!("a histogram is not base64: {error}"))?;
    let read = Deserializer::new().deserialize(&mut bytes.as_slice());
    read.map_err(|error| format!("a histogram makes no sense: {error:?}"))
}

/// The record of a histogram of nanoseconds.
///
/// # Errors
/// As [`encode`].
pub fn record(histogram: &Histogram<u64>) -> Result<Record, String> {
    Ok(Record { encoding: ENCODING.to_owned(), unit: "ns".to_owned(), data: encode(histogram)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comes_back_as_it_was() {
        let mut histogram = Histogram::<u64>::new_with_bounds(1, 3_600_000_000_000, 3).unwrap();
        for value in [1, 54_000, 54_001, 1_000_000_000, 3_600_000_000_000] {
            histogram.record(value).unwrap();
        }
        assert_eq!(decode(&encode(&histogram).unwrap()).unwrap(), histogram);
        assert!(decode("%").is_err() && decode("AAAA").is_err());
    }
}
