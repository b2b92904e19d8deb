//! A run with nearly as many call paths as a recorder tells apart, half of them one below the other.

use marey::Run;
use marey_testing::{RunBuilder, Within};

const MS: u64 = 1_000_000;

/// 2 047 call paths, two below each, ten levels deep; and a chain of 2 000.
pub(crate) fn run() -> Run {
    let builder = RunBuilder::new()
        .section("tree", 0, 4_096 * MS, |s| halves(s, 0, 4_096 * MS, 1))
        .section("chain", 4_096 * MS, 5_000 * MS, |s| chain(s, 1));
    builder.finish(5_000 * MS)
}

fn halves(s: &mut Within<'_>, from: u64, to: u64, depth: u32) {
    if depth == 11 {
        return;
    }
    let middle = from.midpoint(to);
    for (side, from, to) in [("left", from, middle), ("right", middle, to)] {
        s.section(&format!("{side} {depth}"), from, to, |s| {
            halves(s, from, to, depth + 1);
        });
    }
}

fn chain(s: &mut Within<'_>, depth: u64) {
    if depth < 2_000 {
        let (from, to) = (4_096 * MS + depth, 5_000 * MS - depth);
        s.section("again", from, to, |s| chain(s, depth + 1));
    }
}
