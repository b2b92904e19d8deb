//! Which calls of sections are worth a reading of the peaks: outer ones first, and of each call path some.
//!
//! A call is read when its level has something left, or else when its own call path has:
//!
//! ```text
//! level 1   step |-----------------------|   decode |----|      200 at once, 200 a second
//! level 2   model  |-------------------|                        200 at once, 200 a second
//! level 3   block   |-||-||-||-||-||-|                          50 at once, 50 a second
//! deeper                                                        never
//! each call path of these levels, besides                       10 at once, 2 a second
//! ```
//!
//! So blocks take nothing from steps, and what comes seldom is read however many others there are at its level. What is not read
//! is in the peak of what lies around it.

use std::collections::BTreeMap;

use marey::Allowance;

/// Calls of each level, at once and a second.
const OF_LEVEL: [u64; 3] = [200, 200, 50];
/// Calls of each call path besides, at once and a second.
const OF_PATH: (u64, u64) = (10, 2);
/// Call paths that have an allowance of their own; those that come later share that of their level.
const MAX_PATHS: usize = 512;

/// What may still be read. Times are nanoseconds from any moment, and do not go back.
#[derive(Debug, Default)]
pub struct ReadingAllowance {
    of_level: [Allowance; OF_LEVEL.len()],
    of_path: BTreeMap<u64, Allowance>,
}

impl ReadingAllowance {
    /// Nothing has been read.
    pub const fn new() -> Self {
        Self { of_level: [Allowance::new(); OF_LEVEL.len()], of_path: BTreeMap::new() }
    }

    /// Whether calls of a level may be read at all; the top is 1.
    pub fn has_level(level: usize) -> bool {
        (1..=OF_LEVEL.len()).contains(&level)
    }

    /// Whether this call is read; if so, it is counted.
    pub fn take(&mut self, path: u64, level: usize, now_ns: u64) -> bool {
        let at = level.wrapping_sub(1);
        let (Some(of_level), Some(rate)) = (self.of_level.get_mut(at), OF_LEVEL.get(at)) else {
            return false;
        };
        of_level.take(now_ns, (*rate, *rate)) || self.take_of_path(path, now_ns)
    }

    fn take_of_path(&mut self, path: u64, now_ns: u64) -> bool {
        if self.of_path.len() >= MAX_PATHS && !self.of_path.contains_key(&path) {
            return false;
        }
        let of_path = self.of_path.entry(path).or_default();
        of_path.take(now_ns, OF_PATH)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: u64 = 1_000_000_000;
    const MS: u64 = 1_000_000;

    fn n_taken(n: u64, mut take: impl FnMut(u64) -> bool) -> u64 {
        (0..n).map(|at| u64::from(take(at))).sum()
    }

    #[test]
    fn blocks_take_nothing_from_steps_and_from_what_comes_after_them() {
        // 8 steps of 57 blocks of 2 ms each, then one call of another path
        const BLOCK_MS: u64 = 2;
        const N: u64 = 57;
        for level_of_blocks in [2, 3] {
            let mut allowance = ReadingAllowance::new();
            let mut n_steps = 0;
            for step in 0..8 {
                let begin = step * N * BLOCK_MS * MS;
                n_steps += u64::from(allowance.take(1, 1, begin));
                for block in 0..N {
                    allowance.take(100 + block, level_of_blocks, begin + block * BLOCK_MS * MS);
                }
            }
            assert_eq!(n_steps, 8);
            assert!(allowance.take(2, 1, 8 * N * BLOCK_MS * MS));
        }
    }

    #[test]
    fn what_comes_seldom_is_read_beside_what_comes_often_at_its_level() {
        let mut allowance = ReadingAllowance::new();
        n_taken(100_000, |at| allowance.take(1, 2, at * 10_000));
        assert!(allowance.take(2, 2, S));
    }

    #[test]
    fn a_second_of_calls_has_its_bound_and_deeper_ones_have_nothing() {
        // Level 3, one call path, 10 000 calls in a second: 50 + 50 of the level, 10 + 2 of its own, less one where a second ends.
        let mut allowance = ReadingAllowance::new();
        let n = n_taken(10_000, |at| allowance.take(1, 3, at * 100_000));
        assert!((109..=112).contains(&n), "{n}");
        assert!(!allowance.take(2, 4, 0) && !allowance.take(2, 0, 0));
        assert_eq!([0, 1, 3, 4].map(ReadingAllowance::has_level), [false, true, true, false]);
    }

    #[test]
    fn call_paths_without_an_allowance_of_their_own_have_that_of_their_level() {
        // 200 of the level; then 512 paths with ten calls each
        let mut allowance = ReadingAllowance::new();
        let n = n_taken(20 * 600, |at| allowance.take(at % 600, 1, 0));
        assert_eq!(n, 200 + 512 * 10);
        assert!(allowance.take(10_000, 1, 10 * S));
    }

    #[test]
    fn extremes_do_not_panic() {
        let mut allowance = ReadingAllowance::new();
        assert!(allowance.take(u64::MAX, 1, u64::MAX));
        allowance.take(0, 1, 0);
    }
}
