//! How long did each call path take on the ranks?

use std::cmp::Reverse;
use std::collections::BTreeMap;

use serde::Serialize;

use super::over_ranks::{over_ranks, rounded_mean};
use super::{OverRanks, placed};
use crate::job::{LogBuckets, RankSummary, SectionSums};
use crate::stats::sum;

/// A call path over ranks.
#[derive(Clone, Debug, Default, PartialEq, Serialize, schemars::JsonSchema)]
pub struct SectionSpread {
    /// Names from the outermost section to this one.
    pub path: Vec<String>,
    /// Iterations of a loop instead of a section.
    pub is_iteration: bool,
    /// Calls of all ranks.
    pub count: u64,
    /// Calls that were left by an error.
    pub errors: u64,
    /// Sum of their durations.
    pub total_ns: u64,
    /// Each rank's total, of ranks that completed a call; `None` when no rank did, as all below.
    pub totals: Option<OverRanks>,
    /// Each rank's mean duration of a call.
    pub means: Option<OverRanks>,
    /// Shortest call of all.
    pub min_ns: Option<u64>,
    /// Longest call of all.
    pub max_ns: Option<u64>,
    /// Middle of all calls of all ranks (±3.1 %, ±6.3 % where clocks tick otherwise than in nanoseconds); `None` also when a rank that
    /// completed calls has no histogram.
    pub median_ns: Option<u64>,
    /// 95 % took no longer; likewise.
    pub p95_ns: Option<u64>,
    /// Ranks in which it was open when they ended.
    pub n_open: u64,
}

/// A figure of each rank, by place.
type OfRanks = Vec<(u32, u64)>;

/// Ranks that have a path, by place.
type Having<'a> = Vec<(u32, &'a SectionSums)>;

/// A call path, and whether it is a loop.
type Key<'a> = (&'a [String], bool);

/// Each call path over the ranks that have it, the one with the most time first, then by path. A path is the same on all ranks by its
/// names. Ranks that completed no call of it are in `n_open` alone.
///
/// ```text
/// rank 0   |denoise 10|denoise 12|       total 22, mean 11
/// rank 1   |denoise 14|denoise 16|       total 30, mean 15, slowest
///                                        totals 22 to 30, means 11 to 15, calls 10 to 16
/// ```
///
/// Medians are those of all calls of all ranks, from the buckets of each, and never beyond the shortest and the longest call.
pub(super) fn sections(places: &[&RankSummary]) -> Vec<SectionSpread> {
    let mut all: Vec<SectionSpread> =
        by_path(places).into_iter().map(|(key, each)| spread(key, &each)).collect();
    // By path already; sorting keeps that among equals.
    all.sort_by_key(|section| Reverse(section.total_ns));
    all
}

/// The ranks that have each path, in order of paths.
fn by_path<'a>(places: &[&'a RankSummary]) -> BTreeMap<Key<'a>, Having<'a>> {
    let mut found: BTreeMap<Key<'_>, Having<'_>> = BTreeMap::new();
    for (place, rank) in placed(places) {
        for section in &rank.sections {
            let key = (section.path.as_slice(), section.is_iteration);
            found.entry(key).or_default().push((place, section));
        }
    }
    found
}

fn spread((path, is_iteration): Key<'_>, each: &[(u32, &SectionSums)]) -> SectionSpread {
    let completed = || each.iter().filter(|(_, section)| section.count > 0);
    let of_all = |of: fn(&SectionSums) -> u64| sum(each.iter().map(|(_, section)| of(section)));
    let (totals, means) = of_ranks(completed().copied());
    let min_ns = completed().map(|(_, section)| section.min_ns).min();
    let max_ns = completed().map(|(_, section)| section.max_ns).max();
    // Durations of all calls; `None` when they are not known of all.
    let pooled: Option<Vec<&LogBuckets>> =
        completed().map(|(_, section)| section.durations.as_ref()).collect();
    let pooled = pooled.map(LogBuckets::sum);
    let quantile = |quantile: f64| {
        let found = pooled.as_ref()?.quantile(quantile)?;
        Some(found.max(min_ns?).min(max_ns?))
    };
    SectionSpread {
        path: path.to_vec(),
        is_iteration,
        count: of_all(|section| section.count),
        errors: of_all(|section| section.errors),
        total_ns: of_all(|section| section.total_ns),
        totals: over_ranks(&totals),
        means: over_ranks(&means),
        min_ns,
        max_ns,
        median_ns: quantile(0.5),
        p95_ns: quantile(0.95),
        n_open: n_open(each),
    }
}

/// Total and mean of each rank. A rank that has the path twice, which no recorder writes, counts once.
fn of_ranks<'a>(completed: impl Iterator<Item = (u32, &'a SectionSums)>) -> (OfRanks, OfRanks) {
    let mut sums: Vec<(u32, (u64, u64))> = Vec::new();
    for (place, section) in completed {
        if sums.last().is_none_or(|(last, _)| *last != place) {
            sums.push((place, (0, 0)));
        }
        if let Some((_, (total_ns, count))) = sums.last_mut() {
            *total_ns = total_ns.saturating_add(section.total_ns);
            *count = count.saturating_add(section.count);
        }
    }
    let totals = sums.iter().map(|(place, (total, _))| (*place, *total));
    let means = sums
        .iter()
        .filter_map(|(place, (total, count))| Some((*place, rounded_mean(*total, *count)?)));
    (totals.collect(), means.collect())
}

fn n_open(each: &[(u32, &SectionSums)]) -> u64 {
    let open = each.iter().filter(|(_, section)| section.open_ns.is_some());
    let mut places: Vec<u32> = open.map(|(place, _)| *place).collect();
    places.dedup();
    places.len() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn section(name: &str, durations: &[u64]) -> SectionSums {
        SectionSums {
            path: vec![name.to_owned()],
            count: durations.len() as u64,
            total_ns: durations.iter().sum(),
            min_ns: durations.iter().copied().min().unwrap_or_default(),
            max_ns: durations.iter().copied().max().unwrap_or_default(),
            durations: Some(LogBuckets::of(durations.iter().copied())),
            ..SectionSums::default()
        }
    }

    fn rank(sections: Vec<SectionSums>) -> RankSummary {
        RankSummary { sections, ..RankSummary::default() }
    }

    #[test]
    fn each_path_has_its_ranks_totals_means_and_calls() {
        // rank 0   |denoise 10|denoise 12|        |decode 5|
        // rank 1   |denoise 14|denoise 16|
        let ranks = [
            rank(vec![section("decode", &[5]), section("denoise", &[10, 12])]),
            rank(vec![section("denoise", &[14, 16])]),
        ];
        let found = sections(&ranks.each_ref());
        let names: Vec<&str> = found.iter().map(|one| one.path[0].as_str()).collect();
        assert_eq!(names, ["denoise", "decode"]);
        let denoise = &found[0];
        let (totals, means) = (denoise.totals.unwrap(), denoise.means.unwrap());
        assert_eq!((denoise.count, denoise.total_ns), (4, 52));
        assert_eq!((totals.min_ns, totals.max_ns, totals.slowest), (22, 30, 1));
        assert_eq!(totals.spread_ratio, Some(8.0 / 26.0));
        assert_eq!((means.min_ns, means.max_ns), (11, 15));
        assert_eq!((denoise.min_ns, denoise.max_ns), (Some(10), Some(16)));
        // 10 12 14 16: between 12 and 14; all do not exceed 16.
        assert_eq!((denoise.median_ns, denoise.p95_ns), (Some(13), Some(16)));
        assert_eq!(found[1].totals.unwrap().n_ranks, 1);
    }

    #[test]
    fn a_rank_without_a_histogram_leaves_the_median_unknown() {
        let mut without = section("denoise", &[14, 16]);
        without.durations = None;
        let ranks = [rank(vec![section("denoise", &[10])]), rank(vec![without])];
        let found = sections(&ranks.each_ref());
        assert_eq!((found[0].median_ns, found[0].max_ns), (None, Some(16)));
    }

    #[test]
    fn a_path_that_was_only_open_has_no_figures() {
        // rank 0   |denoise …         killed
        let mut open = section("denoise", &[]);
        open.open_ns = Some(7);
        let ranks = [rank(vec![open]), rank(vec![section("denoise", &[30])])];
        let found = sections(&ranks.each_ref());
        assert_eq!((found[0].n_open, found[0].totals.unwrap().n_ranks), (1, 1));
        let alone = sections(&[&ranks[0]]);
        assert_eq!((alone[0].totals, alone[0].min_ns), (None, None));
        assert_eq!(alone[0].median_ns, None);
    }
}
