//! Events that are written as a beginning (`B`) and an end (`E`).

/// A beginning or an end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Half {
    pub(super) at_ns: i64,
    pub(super) track: u32,
    /// An end need not have one.
    pub(super) name: Option<u32>,
    pub(super) category: u8,
    pub(super) is_end: bool,
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
/// and is still open then never ended.
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
        let mut open: Vec<Half> = Vec::new();
        for half in track {
            if !half.is_end {
                open.push(*half);
                continue;
            }
            let is_meant = |begun: &Half| half.name.is_none() || begun.name == half.name;
            let Some(at) = open.iter().rposition(is_meant) else {
                paired.n_without_begin += 1;
                continue;
            };
            paired.n_open += (open.len() - at - 1) as u64;
            paired.pairs.push((open[at], half.at_ns));
            open.truncate(at);
        }
        paired.n_open += open.len() as u64;
    }
    paired
}

#[cfg(test)]
mod tests {
    use super::*;

    fn half(at_ns: i64, track: u32, name: Option<u32>, is_end: bool) -> Half {
        Half {
            at_ns,
            track,
            name,
            category: 0,
            is_end,
        }
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
        let pairs = vec![
            (begin(2, 2), 4),
            (begin(6, 2), 8),
            (begin(0, 1), 10),
            (begun, 12),
        ];
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
    fn the_order_of_the_file_does_not_matter_but_at_one_moment() {
        let found = paired(vec![end(5, 1), begin(5, 2), begin(1, 1), end(7, 2)]);
        assert_eq!(found.pairs, vec![(begin(1, 1), 5), (begin(5, 2), 7)]);
    }
}
