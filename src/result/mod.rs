//! What a run leaves behind. Owns the versioned records, reading and writing them, and the fingerprints of machine and build.
//!
//! | module | owns |
//! | --- | --- |
//! | [`record`] | the shape of a results file |
//! | [`histogram`] | the text form of a distribution
//! | [`measurement`] | the builders of its measurements |
//! | [`percentiles`] | what the percentiles of several processes are made of |
//! | [`verdict`] | what is said of a row against another |
//! | [`conditions`] | what else the machine did |
//! | [`machine`] | which machine it was |
//! | [`source`] | which build it was |
//! | [`check`] | what makes a file contradict itself |
//! | `untagged` | reading figures that are one of several things |
//! | [`read`] | reading, with one sentence for each defect |
//! | [`intervals`] | reading what lies beside a results file |
//! | [`store`] | the folders under `results/`, never overwritten |
//! | [`error`] | what can be wrong |

pub mod check;
pub mod conditions;
pub mod error;
pub mod histogram;
pub mod intervals;
pub mod machine;
pub mod measurement;
pub mod percentiles;
pub mod read;
pub mod record;
pub mod source;
pub mod store;
mod untagged;
pub mod verdict;

pub use error::{Defect, ResultError};
pub use intervals::Loaded;
pub use record::RunFile;
