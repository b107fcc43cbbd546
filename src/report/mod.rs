//! What people read of a run: pure functions of its results file. Owns no measurement and no statistics.
//!
//! | module | owns |
//! | --- | --- |
//! | [`serialization`] | the tables of the serialization suite, as text in cells |
//! | [`instructions`] | the table of instructions per message |
//! | [`latency`] | the tables of the latency suite |
//! | `latency_context` | those of them that are no round trips |
//! | [`sustained`] | the tables of the sustained suite |
//! | [`http`] | the tables of the HTTP study |
//! | [`claims`] | what the papers claim, beside what was measured |
//! | [`table`] | what a table is, and how it is written in Markdown |
//! | [`terminal`] | the same tables, aligned, on a terminal |
//! | [`export`] | a run in the formats of other programs |
//! | [`readme`] | blocks between markers in a Markdown file |

pub mod claims;
pub mod export;
pub mod http;
pub mod instructions;
pub mod latency;
mod latency_context;
pub mod readme;
pub mod serialization;
pub mod sustained;
pub mod table;
pub mod terminal;
