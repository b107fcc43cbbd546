//! Progress on stderr: a bar on a terminal, elsewhere a plain line at most every ten seconds.

use std::fmt::Display;
use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

/// How often a plain line is written.
const EVERY: Duration = Duration::from_secs(10);

/// A line on stderr. Where nobody can read it, as on a full disk, it is lost, and nothing else is.
pub fn tell(sentence: &dyn Display) {
    let _ = writeln!(std::io::stderr(), "{sentence}");
}

/// How far a run has come.
#[derive(Debug)]
pub struct Progress {
    bar: Option<ProgressBar>,
    what: String,
    steps: u64,
    done: u64,
    started: Instant,
    spoke: Instant,
}

impl Progress {
    /// `steps` steps of `what`.
    #[must_use]
    pub fn new(what: &str, steps: u64) -> Self {
        let bar = std::io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::new(steps).with_message(what.to_owned());
            // A template that does not parse would only cost the bar its looks.
            if let Ok(style) = ProgressStyle::with_template("{msg} {wide_bar} {pos}/{len}, {eta} left") {
                bar.set_style(style);
            }
            bar
        });
        let now = Instant::now();
        Self { bar, what: what.to_owned(), steps, done: 0, started: now, spoke: now }
    }

    /// One step is done.
    pub fn step(&mut self) {
        self.done += 1;
        if let Some(bar) = &self.bar {
            bar.inc(1);
        } else if self.done == self.steps || self.spoke.elapsed() >= EVERY {
            self.spoke = Instant::now();
            let elapsed = self.started.elapsed().as_secs();
            tell(&format_args!("{}: {} of {}, {elapsed} s", self.what, self.done, self.steps));
        }
    }

    /// A sentence in between.
    pub fn say(&self, sentence: &str) {
        match &self.bar {
            Some(bar) => bar.println(sentence),
            None => tell(&sentence),
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
