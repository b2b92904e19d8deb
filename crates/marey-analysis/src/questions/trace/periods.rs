//! Which piece of a sequence repeats, and from where to where?

/// A piece that follows itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Period {
    /// Where the first one begins.
    pub(super) start: usize,
    /// How long one is.
    pub(super) length: usize,
    /// How many there are, all of them whole.
    pub(super) count: usize,
}

/// Fewer are chance.
const FEWEST: usize = 3;

/// An anchor may occur this often in a period.
const MOST_ANCHORS: usize = 4;

/// The repetition that has most weight; `None` when nothing occurs three times in a row. Of equals that with more periods.
///
/// ```text
/// sequence   p q  a b c  a b c  a b c  r
///                 |--1--||--2--||--3--|          p, q and r belong to none
/// anchor a        ↑      ↑      ↑      equal hashes of what lies between: periods
/// ```
///
/// Every item is tried as an anchor: from one occurrence to the next (the second, third, fourth after it) the pieces are
/// compared by their hashes: O(n log n). What has no period around an anchor is not found.
pub(super) fn most_weighty_period(items: &[u32], weights: &[u64]) -> Option<Period> {
    let hashes = Hashes::new(items);
    let sums = sums(weights);
    let weight_of = |period: &Period| {
        let end = period.start + period.length * period.count;
        let at = |place: usize| sums.get(place).copied().unwrap_or_default();
        at(end).saturating_sub(at(period.start))
    };
    let mut by_item: Vec<(u32, usize)> = items.iter().copied().zip(0..).collect();
    by_item.sort_unstable();
    let mut best: Option<(u128, usize, Period)> = None;
    for places in by_item.chunk_by(|a, b| a.0 == b.0) {
        for n_anchors in 1..=MOST_ANCHORS.min(places.len() / FEWEST) {
            for period in runs(places, n_anchors, &hashes) {
                let period = whole(period, &hashes);
                if period.count < FEWEST {
                    continue;
                }
                let rank = (weight_of(&period), period.count);
                if best.is_none_or(|(weight, count, _)| rank > (weight, count)) {
                    best = Some((rank.0, rank.1, period));
                }
            }
        }
    }
    best.map(|(_, _, period)| period)
}

fn sums(weights: &[u64]) -> Vec<u128> {
    let first = std::iter::once(0);
    let others = weights.iter().scan(0_u128, |sum, weight| {
        *sum += u128::from(*weight);
        Some(*sum)
    });
    first.chain(others).collect()
}

/// Stretches in which the pieces from anchor to anchor are equal.
fn runs(places: &[(u32, usize)], n_anchors: usize, hashes: &Hashes) -> Vec<Period> {
    let piece = |at: usize| {
        let from = places.get(at)?.1;
        let to = places.get(at + n_anchors)?.1;
        Some((to - from, hashes.of(from, to)))
    };
    let mut found = Vec::new();
    let mut at = 0;
    while let (Some(first), Some((_, start))) = (piece(at), places.get(at)) {
        let mut n = 1;
        while piece(at + n * n_anchors) == Some(first) {
            n += 1;
        }
        // The last anchor begins a piece, too, which may be whole.
        if n + 1 >= FEWEST {
            found.push(Period { start: *start, length: first.0, count: n });
        }
        at += if n > 1 { (n - 1) * n_anchors + 1 } else { 1 };
    }
    found
}

/// The same repetition as far as it goes in both directions, in whole periods.
fn whole(period: Period, hashes: &Hashes) -> Period {
    let (length, end) = (period.length, period.start + period.length * period.count);
    let before = longest(period.start.min(length - 1), |more| {
        let start = period.start - more;
        hashes.of(start, period.start) == hashes.of(start + length, period.start + length)
    });
    let after = longest((hashes.len() - end).min(2 * length), |more| {
        hashes.of(end, end + more) == hashes.of(end - length, end - length + more)
    });
    Period {
        start: period.start - before,
        length,
        count: (before + length * period.count + after) / length,
    }
}

/// The largest number up to `most` for which this holds; it holds for 0 and for all below one for which it holds.
fn longest(most: usize, holds: impl Fn(usize) -> bool) -> usize {
    let (mut known, mut beyond) = (0, most + 1);
    while known + 1 < beyond {
        let middle = known.midpoint(beyond);
        if holds(middle) {
            known = middle;
        } else {
            beyond = middle;
        }
    }
    known
}

/// Hashes of all beginnings, so that the hash of any piece is known at once.
struct Hashes {
    prefixes: Vec<u64>,
    powers: Vec<u64>,
}

/// 2^61 - 1, a prime.
const MODULUS: u64 = (1 << 61) - 1;
const BASE: u64 = 0x1234_5678_9ABC_DEF1 % MODULUS;

impl Hashes {
    fn new(items: &[u32]) -> Self {
        let mut prefixes = vec![0];
        let mut powers = vec![1];
        let (mut hash, mut power) = (0, 1);
        for item in items {
            hash = (product(hash, BASE) + u64::from(*item) + 1) % MODULUS;
            power = product(power, BASE);
            prefixes.push(hash);
            powers.push(power);
        }
        Self { prefixes, powers }
    }

    /// How many items there are.
    fn len(&self) -> usize {
        self.prefixes.len() - 1
    }

    /// Of the items from `from` up to `to`.
    fn of(&self, from: usize, to: usize) -> u64 {
        let at = |list: &[u64], place: usize| list.get(place).copied().unwrap_or_default();
        let before = product(at(&self.prefixes, from), at(&self.powers, to - from));
        (at(&self.prefixes, to) + MODULUS - before) % MODULUS
    }
}

fn product(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b) % u128::from(MODULUS);
    u64::try_from(product).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The period of a text, each letter of which weighs one.
    fn of(text: &str) -> Option<(usize, usize, usize)> {
        let items: Vec<u32> = text.bytes().map(u32::from).collect();
        let weights = vec![1; items.len()];
        let found = most_weighty_period(&items, &weights);
        found.map(|found| (found.start, found.length, found.count))
    }

    #[test]
    fn a_prologue_and_an_epilogue_are_no_periods() {
        //  01 234 567 89a bc
        assert_eq!(of("pqabcabcabcrs"), Some((2, 3, 3)));
        assert_eq!(of("abcabcabc"), Some((0, 3, 3)));
    }

    #[test]
    fn twice_is_chance() {
        assert_eq!(of("abcabc"), None);
        assert_eq!(of("pqabcabcrs"), None);
        assert_eq!(of(""), None);
        assert_eq!(of("a"), None);
    }

    #[test]
    fn blocks_within_a_step_are_no_steps() {
        // Three steps, each of a beginning, four blocks "xy" and an end.
        assert_eq!(of("qiiixyxyxyxyoixyxyxyxyoixyxyxyxyoz"), Some((3, 10, 3)));
    }

    #[test]
    fn kernels_that_occur_more_than_once_in_every_period_are_anchors_too() {
        // a b a a b b: three of each.
        assert_eq!(of("abaabbabaabbabaabb"), Some((0, 6, 3)));
    }

    #[test]
    fn what_differs_ends_the_repetition() {
        assert_eq!(of("abcdabcdabcdabxdabcd"), Some((0, 4, 3)));
    }

    #[test]
    fn heavy_periods_are_preferred_to_many() {
        // Ten light ones, three heavy ones.
        let text = format!("{}{}", "ab".repeat(10), "cd".repeat(3));
        let items: Vec<u32> = text.bytes().map(u32::from).collect();
        let weight = |letter: &u8| if *letter < b'c' { 1 } else { 100 };
        let weights: Vec<u64> = text.as_bytes().iter().map(weight).collect();
        let found = most_weighty_period(&items, &weights).unwrap();
        assert_eq!((found.start, found.length, found.count), (20, 2, 3));
    }
}
