//! Why a vote was handed over later than it was due. Owns the generator's account of its own time, in three parts: `blocked`
//! (the bound on votes in flight was full, or the stack would have blocked), `client` (the generator was inside the client's
//! stack) and `pacer` (neither: its own fault, or the machine's).
//!
//! The account is a line of moments with what had been spent by then. A vote's wait is what was spent between two moments on
//! it, so it costs the same however long it is. Each stretch between two moments is of one part only, which makes every split
//! exact. Only a vote that has waited through tens of thousands of stretches, which happens where a stack is hopelessly
//! behind, meets moments that have been thinned out, and is split there in proportion.

use std::collections::VecDeque;

/// Moments that are kept.
const MOMENTS: usize = 1 << 16;

/// What the generator was at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// It might not go on.
    Blocked,
    /// It was inside the client's stack.
    Client,
    /// Neither.
    Pacer,
}

/// A wait and its parts, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Split {
    /// See [`Part::Blocked`].
    pub blocked: u64,
    /// See [`Part::Client`].
    pub client: u64,
    /// See [`Part::Pacer`].
    pub pacer: u64,
}

/// What had been spent up to a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Moment {
    at: u64,
    blocked: u64,
    client: u64,
}

/// The account.
#[derive(Debug)]
pub struct Account {
    /// In the order of time; never empty.
    moments: VecDeque<Moment>,
    last: Part,
}

impl Account {
    /// Begins at `now`.
    #[must_use]
    pub fn new(now: u64) -> Self {
        let mut moments = VecDeque::with_capacity(MOMENTS);
        moments.push_back(Moment { at: now, blocked: 0, client: 0 });
        Self { moments, last: Part::Pacer }
    }

    /// When the account ends.
    #[must_use]
    pub fn end(&self) -> u64 {
        self.moments[self.moments.len() - 1].at
    }

    /// From where the account ended until `now` the generator was at `part`.
    pub fn spend(&mut self, part: Part, now: u64) {
        let end = self.moments[self.moments.len() - 1];
        let spent = now.saturating_sub(end.at);
        if spent == 0 {
            return;
        }
        let mut next = Moment { at: now, ..end };
        match part {
            Part::Blocked => next.blocked += spent,
            Part::Client => next.client += spent,
            Part::Pacer => {}
        }
        if part == self.last && self.moments.len() > 1 {
            // One stretch, as far as anybody can tell.
            self.moments.pop_back();
        } else if self.moments.len() == MOMENTS {
            self.thin();
        }
        self.moments.push_back(next);
        self.last = part;
    }

    /// The wait of a vote that was due at `due` and is handed over where the account ends. Votes come in the order in which
    /// they were due: what lies before is forgotten.
    pub fn split(&mut self, due: u64) -> Split {
        while self.moments.len() > 2 && self.moments[1].at <= due {
            self.moments.pop_front();
        }
        let end = self.moments[self.moments.len() - 1];
        let wait = end.at.saturating_sub(due);
        let then = self.then(due.min(end.at));
        let (blocked, client) = (end.blocked - then.blocked, end.client - then.client);
        Split { blocked, client, pacer: wait.saturating_sub(blocked + client) }
    }

    /// Nobody waits: what lies before the end is forgotten.
    pub fn forget(&mut self) {
        let keep = self.moments.len() - 1;
        self.moments.drain(..keep);
    }

    /// What had been spent up to `at`, which lies behind the first moment and before the second.
    fn then(&self, at: u64) -> Moment {
        let first = self.moments[0];
        let Some(second) = self.moments.get(1).filter(|_| at > first.at) else { return first };
        let (part, whole) = (u128::from(at - first.at), u128::from(second.at - first.at));
        let share = |from: u64, to: u64| from + u64::try_from(u128::from(to - from) * part / whole).unwrap_or(0);
        Moment { at, blocked: share(first.blocked, second.blocked), client: share(first.client, second.client) }
    }

    /// Makes room: every other moment of the older half goes.
    fn thin(&mut self) {
        let half = self.moments.len() / 2;
        let mut index = 0;
        self.moments.retain(|_| {
            index += 1;
            index > half || index % 2 == 1
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_is_split_by_what_the_generator_was_at() {
        let mut account = Account::new(100);
        account.spend(Part::Pacer, 110);
        account.spend(Part::Client, 150);
        account.spend(Part::Blocked, 200);
        account.spend(Part::Client, 210);
        assert_eq!(account.split(105), Split { blocked: 50, client: 50, pacer: 5 });
        assert_eq!(account.split(130), Split { blocked: 50, client: 30, pacer: 0 });
        assert_eq!(account.split(190), Split { blocked: 10, client: 10, pacer: 0 });
        account.spend(Part::Pacer, 215);
        assert_eq!(account.split(212), Split { blocked: 0, client: 0, pacer: 3 });
        assert_eq!(account.split(215), Split::default());
        account.forget();
        account.spend(Part::Client, 300);
        assert_eq!(account.split(250), Split { blocked: 0, client: 50, pacer: 0 });
    }

    #[test]
    fn an_account_of_any_length_fits_and_the_parts_add_up() {
        let mut account = Account::new(0);
        let mut now = 0;
        for _ in 0..200_000 {
            for part in [Part::Client, Part::Blocked, Part::Pacer] {
                now += 10;
                account.spend(part, now);
            }
        }
        assert!(account.moments.len() <= MOMENTS);
        let split = account.split(60);
        assert_eq!(split.blocked + split.client + split.pacer, now - 60);
        let third = (now - 60) / 3;
        for part in [split.blocked, split.client, split.pacer] {
            assert!(part.abs_diff(third) <= third / 100, "{split:?}");
        }
    }
}
