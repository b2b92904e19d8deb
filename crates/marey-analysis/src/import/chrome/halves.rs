//! Events that are written as a beginning (`B`) and an end (`E`).

use std::collections::BTreeMap;

/// A beginning or an end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Half {
    pub(super) at_ns: i64,
    pub(super) track: u32,
    /// An end need not have one.
    pub(super) name: Option<u32>,
    pub(super) category: u8,
    pub(super) is_end: bool,
    /// Where its arguments begin and end among those of all halves; nothing is between when they say nothing that is read.
    pub(super) args: (usize, usize),
}

/// What halves came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Paired {
    /// A beginning and when it ended, in order of their ends on each track.
    pub(super) pairs: Vec<(Half, i64)>,
    /// Beginnings that never ended: the program was killed, or the trace is cut.
    pub(super) n_open: u64,
    /// Ends of what never began.
    pub(super) n_without_begin: u64,
}

/// Finds for each end what it ends: on its track, the innermost that is open and has its name. What was opened inside of it
/// and is still open then never ended. O(n log n): each beginning is opened and closed once, and what no open one has the name
/// of is not searched for.
///
/// ```text
/// B a   B b   E b   E a        a |----------------|   b |-----|
/// B a   B b   E a              a |----------|         b is open
/// E c   B a   E -              a |-----|              c did not begin
/// ```
pub(super) fn paired(mut halves: Vec<Half>) -> Paired {
    // What happened at one moment stays in the order of the file.
    halves.sort_by_key(|half| (half.track, half.at_ns));
    let mut paired = Paired::default();
    for track in halves.chunk_by(|a, b| a.track == b.track) {
        let mut open = Open::default();
        for half in track {
            if !half.is_end {
                open.push(half);
            } else if open.has(half.name) {
                while let Some(begun) = open.pop() {
                    if half.name.is_none() || begun.name == half.name {
                        paired.pairs.push((*begun, half.at_ns));
                        break;
                    }
                    paired.n_open += 1;
                }
            } else {
                paired.n_without_begin += 1;
            }
        }
        paired.n_open += open.halves.len() as u64;
    }
    paired
}

/// The beginnings of a track that did not end yet, the innermost last.
#[derive(Default)]
struct Open<'a> {
    halves: Vec<&'a Half>,
    /// How many of them have a name.
    n_by_name: BTreeMap<Option<u32>, usize>,
}

impl<'a> Open<'a> {
    fn push(&mut self, begun: &'a Half) {
        self.halves.push(begun);
        *self.n_by_name.entry(begun.name).or_default() += 1;
    }

    fn pop(&mut self) -> Option<&'a Half> {
        let begun = self.halves.pop()?;
        if let Some(n) = self.n_by_name.get_mut(&begun.name) {
            *n = n.saturating_sub(1);
        }
        Some(begun)
    }

    /// One of them has this name, or is there at all when it is not said.
    fn has(&self, name: Option<u32>) -> bool {
        match name {
            None => !self.halves.is_empty(),
            Some(_) => self.n_by_name.get(&name).is_some_and(|n| *n > 0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn half(at_ns: i64, track: u32, name: Option<u32>, is_end: bool) -> Half {
        Half { at_ns, track, name, category: 0, is_end, args: (0, 0) }
    }

    fn begin(at_ns: i64, name: u32) -> Half {
        half(at_ns, 0, Some(name), false)
    }

    fn end(at_ns: i64, name: u32) -> Half {
        half(at_ns, 0, Some(name), true)
    }

    #[test]
    fn an_end_ends_the_innermost_of_its_name_on_its_track() {
        // track 0   |---- 1 ----------|
        //              |- 2 -| |- 2 -|
        // track 1   |--------- 1 ---------|
        let (begun, done) = (half(0, 1, Some(1), false), half(12, 1, None, true));
        let inner = [begin(2, 2), end(4, 2), begin(6, 2), end(8, 2)];
        let halves = [&[begun, begin(0, 1)], &inner[..], &[done, end(10, 1)]].concat();
        let found = paired(halves);
        let pairs = vec![(begin(2, 2), 4), (begin(6, 2), 8), (begin(0, 1), 10), (begun, 12)];
        assert_eq!(found.pairs, pairs);
        assert_eq!((found.n_open, found.n_without_begin), (0, 0));
    }

    #[test]
    fn what_does_not_fit_together_is_counted() {
        // E 9   B 1   B 2   E 1   B 3
        let halves = vec![end(0, 9), begin(1, 1), begin(2, 2), end(3, 1), begin(4, 3)];
        let found = paired(halves);
        assert_eq!(found.pairs, vec![(begin(1, 1), 3)]);
        assert_eq!((found.n_open, found.n_without_begin), (2, 1));
    }

    #[test]
    fn ends_of_another_name_do_not_look_through_all_that_is_open() {
        // A hundred thousand of each: looked through one by one they would be 10^10 looks.
        let n = 100_000;
        let begun = (0..n).map(|at_ns| begin(at_ns, 1));
        let others = (n..2 * n).map(|at_ns| end(at_ns, 2));
        let found = paired(begun.chain(others).collect());
        assert!(found.pairs.is_empty());
        assert_eq!((found.n_open, found.n_without_begin), (100_000, 100_000));
        // The outermost of them ends: all within it never did, and its name is open no more.
        let begun = std::iter::once(begin(0, 2)).chain((1..n).map(|at_ns| begin(at_ns, 1)));
        let ends = [end(n, 2), end(n, 2), end(n, 1)];
        let found = paired(begun.chain(ends).collect());
        assert_eq!(found.pairs, [(begin(0, 2), n)]);
        assert_eq!((found.n_open, found.n_without_begin), (99_999, 2));
    }

    #[test]
    fn the_order_of_the_file_does_not_matter_but_at_one_moment() {
        let found = paired(vec![end(5, 1), begin(5, 2), begin(1, 1), end(7, 2)]);
        assert_eq!(found.pairs, vec![(begin(1, 1), 5), (begin(5, 2), 7)]);
    }
}
