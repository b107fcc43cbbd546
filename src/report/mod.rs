//! What people read of runs: pure functions of their results files. Owns no measurement and no statistics.
//!
//! | module | owns |
//! | --- | --- |
//! | [`serialization`] | the tables of the serialization suite, as text in cells |
//! | [`instructions`] | the table of instructions per message |
//! | [`latency`] | the tables of the latency suite |
//! | `latency_context` | those of them that are no round trips |
//! | [`sustained`] | the tables of the sustained suite |
//! | [`capacity`] | the table of rates that rows hold, of a run that sought nothing else |
//! | [`http`] | the tables of the HTTP study |
//! | [`suites`] | the list of them that terminal, README and the HTML report share |
//! | [`plot`] | the figures, one plot a file |
//! | [`html`] | the report as a page |
//! | [`claims`] | what the papers claim, beside what was measured |
//! | [`table`] | what a table is, and how it is written in Markdown |
//! | [`terminal`] | the same tables, aligned, on a terminal |
//! | [`export`] | a run in the formats of other programs |
//! | [`readme`] | blocks between markers in a Markdown file |

pub mod capacity;
pub mod claims;
pub mod export;
pub mod html;
pub mod http;
pub mod instructions;
pub mod latency;
mod latency_context;
pub mod plot;
pub mod readme;
pub mod serialization;
pub mod suites;
pub mod sustained;
pub mod table;
pub mod terminal;
