//! The statistics: pure functions.
