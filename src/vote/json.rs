//! The vote as JSON (being written).
