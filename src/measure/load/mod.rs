//! Open-loop load: votes that are due whatever has become of those before. Owns the one scheduler of every load, from closed
//! loop to an hour at a rate, on a real clock or a virtual one.
//!
//! | module | owns |
//! | --- | --- |
//! | [`arrivals`] | when votes are due |
//! | [`waits`] | why a vote was handed over later than that |
//! | [`interval`] | what happened in one second |
//! | [`generator`] | the loop: hands votes over, takes answers, looks at the clock |
//! | `virtual_time` | a clock that only moves when everybody rests, for tests |
//! | [`books`] | an interval as it goes to the driver and into the logs |
//! | [`worker`] | one fresh process that is the generator of one protocol |

pub mod arrivals;
pub mod books;
pub mod generator;
pub mod interval;
#[cfg(test)]
mod virtual_time;
pub mod waits;
pub mod worker;
