//! What each call path took on the ranks.

use marey_analysis::ranks::SectionSpread;

use super::iterations::over;
use super::{Drawing, MS, US};

pub(super) fn sections(drawing: &Drawing) -> Vec<SectionSpread> {
    let n = u64::from(drawing.n_ranks);
    let steps = drawing.n_steps.max(1);
    let each = |ms: u32| vec![ms * 1_000; drawing.n_ranks as usize];
    let section = |path: &[&str], calls: u32, totals: &[u32], longest: u64| {
        let sum: u64 = totals.iter().map(|us| u64::from(*us) * US).sum();
        let totals = over(totals);
        SectionSpread {
            path: path.iter().map(|name| (drawing.naming)(name)).collect(),
            count: u64::from(calls) * n,
            total_ns: sum,
            means: Some(totals),
            totals: Some(totals),
            min_ns: Some(totals.min_ns / u64::from(calls)),
            max_ns: Some(longest * MS),
            median_ns: Some(totals.min_ns / u64::from(calls)),
            p95_ns: Some(longest * MS),
            ..SectionSpread::default()
        }
    };
    let is_slow = |rank| drawing.slow == Some(rank);
    let waits = (0..drawing.n_ranks).map(|rank| if is_slow(rank) { 24_000 } else { 264_000 });
    let waits: Vec<u32> = waits.collect();
    vec![
        section(&["denoise"], 1, &each(400 + 100 * steps), 1_600),
        section(&["denoise", "all_reduce"], steps, &waits, 22),
        section(&["load"], 1, &each(200), 200),
        section(&["decode"], 1, &each(200), 200),
    ]
}
