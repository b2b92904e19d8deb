//! Figures of the calls of one section, one name or one loop.

use marey::{NodeTotals, Section};

use crate::intervals::Interval;
use crate::stats::{self, ratio};

/// Figures of completed calls. Exact, except for what says otherwise.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CallStats {
    /// Completed calls.
    pub count: u64,
    /// Calls that were left by an error.
    pub errors: u64,
    /// Sum of the durations of every call.
    pub total_ns: u64,
    /// `total_ns / count`; `None` without calls.
    pub mean_ns: Option<f64>,
    /// Shortest call; `None` without calls.
    pub min_ns: Option<u64>,
    /// Longest call; `None` without calls.
    pub max_ns: Option<u64>,
    /// The call that began first, which often includes loading and compilation; `None` without calls, and when calls of
    /// several call paths were put together and not all were recorded one by one.
    pub first_ns: Option<u64>,
    /// Mean of all calls but the first; `None` when the first is not known or there are fewer than two.
    pub rest_mean_ns: Option<f64>,
    /// The call that ended last; absent as `first_ns`.
    pub last_ns: Option<u64>,
    /// Middle call, or mean of the middle two; from a histogram (±3.1 %) when `percentiles` says so.
    pub median_ns: Option<f64>,
    /// `None` when neither all calls nor a histogram are there.
    pub percentiles: Option<Percentiles>,
    /// Sample standard deviation; `None` for fewer than two calls or when not all were recorded one by one.
    pub std_dev_ns: Option<f64>,
}

/// Percentiles of durations, see [`marey::quantile_ranks`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Percentiles {
    /// The median, to the ns.
    pub p50_ns: u64,
    /// 95 % of the calls took no longer.
    pub p95_ns: u64,
    /// 99 % of the calls took no longer.
    pub p99_ns: u64,
    /// From every single call; otherwise from a histogram, within ±3.1 %.
    pub is_exact: bool,
}

impl CallStats {
    /// Puts the calls of one or more nodes together. `recorded` holds every one of these calls, or is `None`.
    pub(crate) fn new(totals: &[&NodeTotals], recorded: Option<&[Interval]>) -> Self {
        let called: Vec<&NodeTotals> = totals.iter().copied().filter(|t| t.count > 0).collect();
        let count: u64 = called.iter().map(|t| t.count).sum();
        if count == 0 {
            return Self::default();
        }
        let total_ns = called.iter().fold(0u64, |sum, t| sum.saturating_add(t.sum_ns));
        let min_ns = called.iter().map(|t| t.min_ns).min();
        let max_ns = called.iter().map(|t| t.max_ns).max();
        let first_ns = first(&called, recorded);
        let distribution = Distribution::new(&called, recorded);
        Self {
            count,
            errors: called.iter().map(|t| t.errors).sum(),
            total_ns,
            mean_ns: Some(ratio(total_ns.into(), count.into())),
            min_ns,
            max_ns,
            first_ns,
            rest_mean_ns: first_ns.and_then(|first| rest_mean_ns(total_ns, count, first)),
            last_ns: last(&called, recorded),
            median_ns: distribution.median_ns,
            percentiles: distribution.percentiles,
            std_dev_ns: distribution.std_dev_ns,
        }
    }
}

fn first(called: &[&NodeTotals], recorded: Option<&[Interval]>) -> Option<u64> {
    let Some(calls) = recorded else {
        // The one that ended first: of calls that overlap another one may have begun before.
        return only(called).map(|totals| totals.first_ns);
    };
    calls.iter().min_by_key(|i| i.start_ns).map(Interval::length_ns)
}

fn last(called: &[&NodeTotals], recorded: Option<&[Interval]>) -> Option<u64> {
    let Some(calls) = recorded else {
        return only(called).map(|totals| totals.last_ns);
    };
    calls.iter().max_by_key(|i| i.end_ns).map(Interval::length_ns)
}

fn only<'a>(called: &[&'a NodeTotals]) -> Option<&'a NodeTotals> {
    match called {
        [only] => Some(only),
        _ => None,
    }
}

fn rest_mean_ns(total_ns: u64, count: u64, first_ns: u64) -> Option<f64> {
    let rest = total_ns.checked_sub(first_ns)?;
    (count > 1).then(|| ratio(rest.into(), u128::from(count - 1)))
}

/// Totals of each node without a histogram, of sections that are in order of their threads. One pass.
pub(crate) fn totals_of(sections: &[Section], n_nodes: usize) -> Vec<NodeTotals> {
    let mut totals = vec![NodeTotals::default(); n_nodes];
    // When the first call began, when the last ended, and the thread that was counted last.
    let mut seen: Vec<(u64, u64, Option<u32>)> = vec![(u64::MAX, 0, None); n_nodes];
    for section in sections {
        let node = section.node as usize;
        let (Some(of_node), Some(seen)) = (totals.get_mut(node), seen.get_mut(node)) else {
            continue;
        };
        let ns = section.duration_ns();
        of_node.min_ns = if of_node.count == 0 { ns } else { of_node.min_ns.min(ns) };
        of_node.max_ns = of_node.max_ns.max(ns);
        of_node.count += 1;
        of_node.sum_ns = of_node.sum_ns.saturating_add(ns);
        of_node.errors += u64::from(section.is_failed);
        if section.start_ns < seen.0 {
            (seen.0, of_node.first_ns) = (section.start_ns, ns);
        }
        if section.end_ns >= seen.1 {
            (seen.1, of_node.last_ns) = (section.end_ns, ns);
        }
        if seen.2.replace(section.thread) != Some(section.thread) {
            of_node.n_threads += 1;
        }
    }
    totals
}

#[derive(Default)]
struct Distribution {
    median_ns: Option<f64>,
    percentiles: Option<Percentiles>,
    std_dev_ns: Option<f64>,
}

impl Distribution {
    fn new(called: &[&NodeTotals], recorded: Option<&[Interval]>) -> Self {
        let found = match recorded {
            Some(calls) => Some(Self::of_calls(calls)),
            None => Self::of_histograms(called),
        };
        let min_ns = called.iter().map(|t| t.min_ns).min();
        let max_ns = called.iter().map(|t| t.max_ns).max();
        match (found, min_ns, max_ns) {
            (Some(found), Some(min_ns), Some(max_ns)) => found.within(min_ns, max_ns),
            _ => Self::default(),
        }
    }

    /// No figure beyond the extremes, which are known exactly: the middle of a bucket may lie outside, and single calls
    /// stray by a few ns because totals are converted with the mean speed of the clock.
    fn within(self, min_ns: u64, max_ns: u64) -> Self {
        let clamped = |ns: u64| ns.min(max_ns).max(min_ns);
        Self {
            median_ns: self
                .median_ns
                .map(|ns| ns.min(ratio(max_ns.into(), 1)).max(ratio(min_ns.into(), 1))),
            percentiles: self.percentiles.map(|p| Percentiles {
                p50_ns: clamped(p.p50_ns),
                p95_ns: clamped(p.p95_ns),
                p99_ns: clamped(p.p99_ns),
                is_exact: p.is_exact,
            }),
            std_dev_ns: self.std_dev_ns,
        }
    }

    fn of_calls(calls: &[Interval]) -> Self {
        let mut durations: Vec<u64> = calls.iter().map(Interval::length_ns).collect();
        durations.sort_unstable();
        Self {
            median_ns: stats::median(&durations),
            percentiles: percentiles(|q| stats::percentile(&durations, q), true),
            std_dev_ns: stats::sample_std_dev(&durations),
        }
    }

    fn of_histograms(called: &[&NodeTotals]) -> Option<Self> {
        let mut all = called.iter().map(|totals| totals.histogram.as_ref());
        // Those of a run have one unit: nothing is rounded twice.
        let mut merged = all.next()??.clone();
        for histogram in all {
            merged.merge(histogram?);
        }
        let percentiles = percentiles(|q| merged.quantile(q), false)?;
        Some(Self {
            median_ns: Some(ratio(percentiles.p50_ns.into(), 1)),
            percentiles: Some(percentiles),
            std_dev_ns: None,
        })
    }
}

fn percentiles(of: impl Fn(f64) -> Option<u64>, is_exact: bool) -> Option<Percentiles> {
    Some(Percentiles { p50_ns: of(0.50)?, p95_ns: of(0.95)?, p99_ns: of(0.99)?, is_exact })
}

#[cfg(test)]
mod tests {
    use marey_testing::RunBuilder;

    use crate::sections;

    #[test]
    fn percentiles_stay_within_the_extremes() {
        // The totals say 5 to 6; single calls, converted another way, say 4 and 8.
        let mut run =
            RunBuilder::new().section("a", 0, 4, |_| {}).section("a", 10, 18, |_| {}).finish(20);
        (run.totals[1].min_ns, run.totals[1].max_ns) = (5, 6);
        let found = sections(&run);
        let calls = &found.tree[0].calls;
        let percentiles = calls.percentiles.unwrap();
        assert_eq!((percentiles.p50_ns, percentiles.p99_ns), (6, 6));
        assert_eq!(calls.median_ns, Some(6.0));
        run.totals[1].max_ns = 5;
        let found = sections(&run);
        assert_eq!(found.tree[0].calls.median_ns, Some(5.0));
    }
}
