//! Puts short slices together where there are more than a page can hold.

use std::collections::BTreeMap;

use serde::Serialize;

use super::rows::{Group, Row, Slice};

/// What a slice that stands for several holds of one call path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Part {
    /// Number of the slice that it is in, over all rows.
    pub(super) slice: u64,
    pub(super) path: u32,
    /// How many.
    pub(super) count: u64,
    /// Their time together, exactly.
    pub(super) busy_ns: u64,
}

/// What was put together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub(super) struct Summarised {
    /// Slices that were put together.
    n_slices: u64,
    /// What they were put into.
    n_summaries: u64,
    /// Those that are shorter were put together with others that follow in the same row.
    shorter_than_ns: u64,
}

/// Puts slices together until there are at most `limit` of them and of their parts. Those that are as long as a stretch of
/// time, or open, stay as they are; others that follow each other in a row and begin in the same stretch become one, from the
/// beginning of the first to the end of the last, unless that and its parts are no fewer. Stretches are the shortest power of two
/// that does.
///
/// ```text
/// stretches  |              |           |            |
/// a row       |a| |b||a||a|  |a||-----c-----|  |b||a|
/// becomes     |-3 a, 1 b--|  |a||-----c-----|  |b||a|
/// ```
///
/// `None` when nothing had to be. Whatever the limit, each row has at least one slice.
pub(super) fn summarise(groups: &mut [Group], limit: usize) -> (Vec<Part>, Option<Summarised>) {
    let rows = || groups.iter().flat_map(|group| &group.rows);
    if rows().map(|row| row.slices.len()).sum::<usize>() <= limit {
        return (Vec::new(), None);
    }
    let mut paths = Vec::new();
    let mut fits = |bits: u32| {
        let counts = rows().map(|row| count(row, bits, &mut paths));
        counts.sum::<usize>() <= limit
    };
    // The count falls as stretches grow.
    let (mut below, mut bits) = (0, 53);
    while below < bits {
        let middle = u32::midpoint(below, bits);
        if fits(middle) {
            bits = middle;
        } else {
            below = middle + 1;
        }
    }
    let mut parts = Vec::new();
    let mut found = Summarised { shorter_than_ns: 1 << bits, ..Summarised::default() };
    let mut n_before = 0;
    for row in groups.iter_mut().flat_map(|group| &mut group.rows) {
        row.slices = together(&row.slices, bits, n_before, &mut parts, &mut found);
        n_before += row.slices.len() as u64;
    }
    (parts, Some(found))
}

/// Stretches of slices that are to become one.
fn stretches(slices: &[Slice], bits: u32) -> impl Iterator<Item = &[Slice]> {
    let is_short = move |s: &Slice| s.length_ns() < 1 << bits && s.flags & Slice::OPEN == 0;
    slices.chunk_by(move |a, b| {
        is_short(a) && is_short(b) && a.start_ns >> bits == b.start_ns >> bits
    })
}

/// Slices of a row and their parts, once they were put together. `paths` is for those of a stretch.
fn count(row: &Row, bits: u32, paths: &mut Vec<u32>) -> usize {
    let of_stretch = |slices: &[Slice]| {
        if slices.len() == 1 {
            return 1;
        }
        paths.clear();
        paths.extend(slices.iter().map(|slice| slice.what));
        paths.sort_unstable();
        paths.dedup();
        slices.len().min(1 + paths.len())
    };
    stretches(&row.slices, bits).map(of_stretch).sum()
}

fn together(
    slices: &[Slice],
    bits: u32,
    n_before: u64,
    parts: &mut Vec<Part>,
    found: &mut Summarised,
) -> Vec<Slice> {
    let mut kept: Vec<Slice> = Vec::new();
    for stretch in stretches(slices, bits) {
        let [first, .., last] = stretch else {
            kept.extend(stretch);
            continue;
        };
        let own = parts_of(stretch, n_before + kept.len() as u64);
        if own.len() + 1 >= stretch.len() {
            kept.extend(stretch);
            continue;
        }
        found.n_slices += stretch.len() as u64;
        found.n_summaries += 1;
        let most = own.iter().max_by_key(|part| (part.busy_ns, part.count));
        let flags = stretch.iter().fold(0, |flags, slice| flags | slice.flags);
        kept.push(Slice {
            end_ns: last.end_ns,
            what: most.map_or(first.what, |part| part.path),
            flags: flags | Slice::SUMMARY,
            ..*first
        });
        parts.extend(own);
    }
    kept
}

fn parts_of(slices: &[Slice], number: u64) -> Vec<Part> {
    let mut by_path: BTreeMap<u32, (u64, u64)> = BTreeMap::new();
    for slice in slices {
        let (count, busy_ns) = by_path.entry(slice.what).or_default();
        *count += 1;
        *busy_ns = busy_ns.saturating_add(slice.length_ns());
    }
    let parts = by_path.into_iter();
    parts.map(|(path, (count, busy_ns))| Part { slice: number, path, count, busy_ns }).collect()
}

#[cfg(test)]
mod tests {
    use super::super::rows::{GroupKind, RowKind};
    use super::*;

    fn group(slices: Vec<Slice>) -> Group {
        let row = Row { kind: RowKind::Nested, depth: 0, slices };
        Group::of_host(GroupKind::Thread, "main".into(), vec![row])
    }

    #[test]
    fn short_neighbours_become_one_that_keeps_count_and_time_of_each_path() {
        // 0                  7  8               16  18
        // |1||----2----||1||1|  |----3----------|   |1||2|
        let given = vec![
            Slice::new(1, 0, 1),
            Slice::new(2, 1, 5),
            Slice::new(1, 5, 6),
            Slice::new(1, 6, 7),
            Slice::new(3, 8, 16),
            Slice::new(1, 18, 19),
            Slice::new(2, 19, 20),
        ];
        let mut parts = Vec::new();
        let mut found = Summarised::default();
        // In stretches of 8 ns; seven slices are in the rows before. The last two would be no fewer with their parts.
        let kept = together(&given, 3, 7, &mut parts, &mut found);
        let one = Slice { flags: Slice::SUMMARY, ..Slice::new(2, 0, 7) };
        assert_eq!(kept, [one, given[4], given[5], given[6]]);
        let part = |path, count, busy_ns| Part { slice: 7, path, count, busy_ns };
        assert_eq!(parts, [part(1, 3, 3), part(2, 1, 4)]);
        assert_eq!((found.n_slices, found.n_summaries), (4, 1));
    }

    #[test]
    fn counts_and_times_stay_whole_and_the_limit_is_kept() {
        // A hundred of 3 ns, 2 ns apart, under five names.
        let slices: Vec<Slice> =
            (0..100).map(|n| Slice::new(n % 5, u64::from(n) * 5, u64::from(n) * 5 + 3)).collect();
        let mut groups = [group(slices)];
        let (parts, found) = summarise(&mut groups, 40);
        let found = found.unwrap();
        let slices = &groups[0].rows[0].slices;
        assert!(slices.len() + parts.len() <= 40);
        assert_eq!(found.n_slices, parts.iter().map(|p| p.count).sum::<u64>());
        let single = slices.iter().filter(|s| s.flags & Slice::SUMMARY == 0);
        let n_single = single.count() as u64;
        assert_eq!(found.n_slices + n_single, 100);
        let of_first = parts.iter().filter(|part| part.path == 0);
        assert_eq!(of_first.map(|part| part.busy_ns).sum::<u64>() % 3, 0);
        for part in &parts {
            let slice = slices[usize::try_from(part.slice).unwrap()];
            assert_eq!(slice.flags & Slice::SUMMARY, Slice::SUMMARY);
            assert!(part.busy_ns <= slice.length_ns());
        }
    }

    #[test]
    fn what_is_long_or_open_stays_as_it_is() {
        let open = Slice { flags: Slice::OPEN, ..Slice::new(9, 1_000, 1_002) };
        let mut slices: Vec<Slice> = (0..100).map(|n| Slice::new(1, n * 4, n * 4 + 2)).collect();
        slices.push(Slice::new(2, 400, 900));
        slices.push(open);
        let mut groups = [group(slices)];
        summarise(&mut groups, 20);
        let slices = &groups[0].rows[0].slices;
        assert!(slices.contains(&Slice::new(2, 400, 900)));
        assert!(slices.contains(&open));
    }
}
