//! Reading figures that may be one of several things: a number or percentiles, rounds or percentiles. serde's own way would keep
//! a copy of each figure until it knows which it is, several times its size, for the largest part of a file; here the first
//! character tells.

use std::fmt;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};

use super::record::{Number, Percentiles, Processes, Value};

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;
        impl<'de> Visitor<'de> for Either {
            type Value = Value;
            fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
                to.write_str("a number, or percentiles by name")
            }
            fn visit_u64<E: Error>(self, whole: u64) -> Result<Value, E> {
                Ok(Value::Number(Number::Whole(whole)))
            }
            #[expect(clippy::cast_precision_loss, reason = "as any other decimal")]
            fn visit_i64<E: Error>(self, whole: i64) -> Result<Value, E> {
                Ok(Value::Number(Number::Decimal(whole as f64)))
            }
            fn visit_f64<E: Error>(self, decimal: f64) -> Result<Value, E> {
                Ok(Value::Number(Number::Decimal(decimal)))
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Value, A::Error> {
                Percentiles::deserialize(MapAccessDeserializer::new(map)).map(Value::Percentiles)
            }
        }
        deserializer.deserialize_any(Either)
    }
}

/// What one process found.
enum Process {
    Rounds(Vec<f64>),
    Percentiles(Percentiles),
}

impl<'de> Deserialize<'de> for Process {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;
        impl<'de> Visitor<'de> for Either {
            type Value = Process;
            fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
                to.write_str("a list of rounds, or percentiles by name")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Process, A::Error> {
                let mut rounds = Vec::new();
                while let Some(round) = sequence.next_element()? {
                    rounds.push(round);
                }
                Ok(Process::Rounds(rounds))
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Process, A::Error> {
                Percentiles::deserialize(MapAccessDeserializer::new(map)).map(Process::Percentiles)
            }
        }
        deserializer.deserialize_any(Either)
    }
}

impl<'de> Deserialize<'de> for Processes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct All;
        impl<'de> Visitor<'de> for All {
            type Value = Processes;
            fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
                to.write_str("a list of processes, all with rounds or all with percentiles")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Processes, A::Error> {
                let (mut rounds, mut percentiles) = (Vec::new(), Vec::new());
                while let Some(process) = sequence.next_element()? {
                    match process {
                        Process::Rounds(process) => rounds.push(process),
                        Process::Percentiles(process) => percentiles.push(process),
                    }
                }
                match (rounds.is_empty(), percentiles.is_empty()) {
                    (_, true) => Ok(Processes::Rounds(rounds)),
                    (true, false) => Ok(Processes::Percentiles(percentiles)),
                    (false, false) => Err(A::Error::custom("processes with rounds beside processes with percentiles")),
                }
            }
        }
        deserializer.deserialize_seq(All)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_character_tells() {
        let value = |text| serde_json::from_str::<Value>(text);
        assert_eq!(value("7").unwrap(), Value::Number(Number::Whole(7)));
        assert_eq!(value("7.0").unwrap(), Value::Number(Number::Decimal(7.0)));
        assert_eq!(value("-7").unwrap(), Value::Number(Number::Decimal(-7.0)));
        assert!(matches!(value(r#"{"p50": 1, "p99": null}"#).unwrap(), Value::Percentiles(known) if known.len() == 2));
        assert!(value("\"7\"").is_err() && value("[7]").is_err());
        let processes = |text| serde_json::from_str::<Processes>(text);
        assert_eq!(processes("[[1, 2.5], []]").unwrap(), Processes::Rounds(vec![vec![1.0, 2.5], vec![]]));
        assert_eq!(processes("[]").unwrap(), Processes::Rounds(vec![]));
        assert!(matches!(processes(r#"[{"p50": 1}]"#).unwrap(), Processes::Percentiles(all) if all.len() == 1));
        for bad in ["[[1], {\"p50\": 1}]", "[[null]]", "[1]", "{}"] {
            assert!(processes(bad).is_err(), "{bad}");
        }
    }
}
