//! An order at random, from a recorded seed.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::Rng;

/// Fisher-Yates; the bias of a 64-bit remainder is below 2^-50 for any list that fits in memory here.
pub fn shuffle<T>(order: &mut [T], random: &mut ChaCha8Rng) {
    for last in (1..order.len()).rev() {
        let pick = random.next_u64() % (last as u64 + 1);
        order.swap(last, usize::try_from(pick).unwrap_or(last));
    }
}
