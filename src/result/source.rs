//! Which build measured. Owns the record; `build.rs` finds the facts when the program is built, because the tree may have
//! moved on when it runs.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The build of the program that measured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Source {
    /// votebench's version.
    pub version: String,
    /// The first 12 digits of the commit; zeros where it was not built in a checkout.
    pub commit: String,
    /// Whether a tracked file outside `results/` differed from that commit.
    pub dirty: bool,
    /// The compiler's version.
    pub rustc: String,
    /// The profile; `release` and `bench` are one and the same here.
    pub profile: String,
    /// The target triple.
    pub target: String,
    /// Flags given to the compiler from outside.
    pub rustflags: String,
    /// Versions of the crates that votebench itself depends on, the libraries under test among them.
    pub crates: BTreeMap<String, String>,
}

impl Source {
    /// The build that this program is of.
    #[must_use]
    pub fn of_this_build() -> Self {
        let crates = env!("VOTEBENCH_CRATES").split(',').filter_map(|pair| pair.split_once('='));
        Self {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            commit: env!("VOTEBENCH_COMMIT").to_owned(),
            dirty: env!("VOTEBENCH_DIRTY") == "true",
            rustc: env!("VOTEBENCH_RUSTC").to_owned(),
            profile: env!("VOTEBENCH_PROFILE").to_owned(),
            target: env!("VOTEBENCH_TARGET").to_owned(),
            rustflags: env!("VOTEBENCH_RUSTFLAGS").to_owned(),
            crates: crates.map(|(name, version)| (name.to_owned(), version.to_owned())).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knows_the_libraries_under_test() {
        let source = Source::of_this_build();
        for name in ["prost", "capnp", "flatbuffers", "serde_json", "bincode"] {
            assert!(source.crates.get(name).is_some_and(|version| version.contains('.')), "{name}: {source:?}");
        }
        assert_eq!(source.crates["bincode"], "2.0.1");
        assert_eq!(source.commit.len(), 12);
        assert!(source.commit.chars().all(|digit| digit.is_ascii_hexdigit()));
        assert!(source.rustc.starts_with("1."));
    }
}
