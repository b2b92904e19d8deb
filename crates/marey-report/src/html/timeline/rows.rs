//! Lays slices out in rows so that no two of a row overlap, and none is left out.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::slice::{Row, RowKind, Slice};

/// Rows of the slices of one thread. What nests in the thread's own flow is a row by its depth. The rest lies below:
/// what nests in a task is kept together, and each such tree is put where its rows are free.
///
/// ```text
/// own flow   |---a-----------------------|    nested 0
///              |-b-|                          nested 1
/// task 1     |---c-------|     |-f--|         beside 0
///               |-d-|                         beside 1
/// task 2         |---e----------|             beside 2
/// ```
pub(super) fn rows(mut slices: Vec<Slice>) -> Vec<Row> {
    slices.sort_unstable_by_key(|s| {
        Reverse((s.start_ns, Reverse(s.end_ns), s.path, s.flow, s.flags))
    });
    let mut own = Own::default();
    let mut beside = Beside::default();
    // From the end, whose memory can be given back while the rows grow.
    while let Some(slice) = slices.pop() {
        if slices.len() < slices.capacity() / 4 * 3 {
            slices.shrink_to_fit();
        }
        let is_own = slice.flow == 0 && slice.flags & Slice::PAUSED == 0;
        if !(is_own && own.takes(slice)) {
            beside.take(slice);
        }
    }
    let own = own.rows.into_iter();
    let own = own
        .enumerate()
        .map(|(depth, slices)| (RowKind::Nested, depth, slices));
    let beside = beside.rows().into_iter();
    let beside = beside
        .enumerate()
        .map(|(depth, slices)| (RowKind::Beside, depth, slices));
    own.chain(beside)
        .map(|(kind, depth, slices)| Row {
            kind,
            depth,
            slices,
        })
        .collect()
}

/// Ends of the slices that are open, outermost first.
#[derive(Debug, Default)]
struct Nesting(Vec<u64>);

impl Nesting {
    /// How deep a slice lies; `None` when it ends after one that it began in. Slices come by start, longer ones first.
    fn depth(&mut self, slice: Slice) -> Option<usize> {
        while self.0.last().is_some_and(|end| *end <= slice.start_ns) {
            self.0.pop();
        }
        if self.0.last().is_some_and(|end| *end < slice.end_ns) {
            return None;
        }
        self.0.push(slice.end_ns);
        Some(self.0.len() - 1)
    }
}

/// The thread's own flow.
#[derive(Debug, Default)]
struct Own {
    nesting: Nesting,
    rows: Vec<Vec<Slice>>,
}

impl Own {
    /// Whether the slice was taken: it nests.
    fn takes(&mut self, slice: Slice) -> bool {
        let Some(depth) = self.nesting.depth(slice) else {
            return false;
        };
        if depth == self.rows.len() {
            self.rows.push(Vec::new());
        }
        self.rows[depth].push(slice);
        true
    }
}

/// What runs beside the thread's own flow.
#[derive(Debug, Default)]
struct Beside {
    /// Slices with their tree and their depth in it, by start.
    slices: Vec<(Slice, usize, usize)>,
    /// In order of their start.
    trees: Vec<Tree>,
    /// Of each flow, with its newest tree.
    flows: BTreeMap<u32, (Nesting, usize)>,
}

/// A slice and those that nest in it.
#[derive(Debug)]
struct Tree {
    start_ns: u64,
    end_ns: u64,
    height: usize,
}

impl Beside {
    fn take(&mut self, slice: Slice) {
        let is_alone = slice.flags & Slice::PAUSED != 0;
        let nesting = self.flows.entry(slice.flow).or_default();
        // What was suspended holds nothing: its place says only when it began and how long it ran.
        let depth = if is_alone {
            None
        } else {
            nesting.0.depth(slice)
        };
        let tree = match depth {
            Some(depth) if depth > 0 => nesting.1,
            _ => {
                self.trees.push(Tree {
                    start_ns: slice.start_ns,
                    end_ns: slice.end_ns,
                    height: 1,
                });
                self.trees.len() - 1
            }
        };
        if depth == Some(0) {
            nesting.1 = tree;
        }
        let depth = depth.unwrap_or(0);
        self.trees[tree].height = self.trees[tree].height.max(depth + 1);
        self.slices.push((slice, tree, depth));
    }

    /// Each tree in the first rows that are free by then.
    fn rows(self) -> Vec<Vec<Slice>> {
        let mut free_from: Vec<u64> = Vec::new();
        let tops: Vec<usize> = self
            .trees
            .iter()
            .map(|tree| {
                let top = first_free(&free_from, tree);
                let needed = top + tree.height;
                free_from.resize(free_from.len().max(needed), 0);
                free_from[top..needed].fill(tree.end_ns);
                top
            })
            .collect();
        let mut rows = vec![Vec::new(); free_from.len()];
        for (slice, tree, depth) in self.slices {
            rows[tops[tree] + depth].push(slice);
        }
        rows
    }
}

/// The first row from which on as many as the tree is high are free when it begins.
fn first_free(free_from: &[u64], tree: &Tree) -> usize {
    let mut top = 0;
    for (row, from) in free_from.iter().enumerate() {
        if *from > tree.start_ns {
            top = row + 1;
        } else if row + 1 - top == tree.height {
            return top;
        }
    }
    top
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slice(path: u32, start_ns: u64, end_ns: u64, flow: u32) -> Slice {
        Slice {
            flow,
            ..Slice::new(path, start_ns, end_ns)
        }
    }

    fn laid_out(slices: Vec<Slice>) -> Vec<(RowKind, usize, Vec<u32>)> {
        let paths = |row: &Row| row.slices.iter().map(|s| s.path).collect();
        let rows = rows(slices);
        rows.iter()
            .map(|row| (row.kind, row.depth, paths(row)))
            .collect()
    }

    #[test]
    fn a_suspended_generator_lies_beside_because_it_did_not_run_all_that_time() {
        let paused = Slice {
            flags: Slice::PAUSED,
            ..Slice::new(2, 2, 6)
        };
        let rows = laid_out(vec![slice(1, 0, 8, 0), paused, slice(3, 3, 5, 0)]);
        assert_eq!(
            rows,
            [
                (RowKind::Nested, 0, vec![1]),
                (RowKind::Nested, 1, vec![3]),
                (RowKind::Beside, 0, vec![2])
            ]
        );
    }

    #[test]
    fn no_row_has_an_overlap_and_no_slice_is_lost_whatever_the_slices() {
        let mut seed = 7_u64;
        let mut random = move |below: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (seed >> 33) % below
        };
        for _ in 0..200 {
            let slices: Vec<Slice> = (0..random(60))
                .map(|path| {
                    let start = random(100);
                    let flow = u32::try_from(random(4)).unwrap();
                    let path = u32::try_from(path).unwrap();
                    Slice {
                        flags: if random(5) == 0 { Slice::PAUSED } else { 0 },
                        ..slice(path, start, start + random(30), flow)
                    }
                })
                .collect();
            let rows = rows(slices.clone());
            let mut found: Vec<u32> = Vec::new();
            for row in &rows {
                let pairs = row.slices.windows(2);
                assert!(
                    pairs.into_iter().all(|p| p[0].end_ns <= p[1].start_ns),
                    "{row:?}"
                );
                found.extend(row.slices.iter().map(|s| s.path));
            }
            found.sort_unstable();
            let given: Vec<u32> = slices.iter().map(|s| s.path).collect();
            assert_eq!(found, given);
        }
    }
}
