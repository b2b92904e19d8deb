//! Which steps are not like the others: a warm-up, and those that a cache may have answered?

use super::part_list::{PartFigures, StepGroup, StepKind, TracePart};
use crate::stats::{float, median};

/// Share of the others' median that a first step takes longer at least to be a warm-up.
const WARM_UP_RATIO: f64 = 0.1;
/// Likewise when there are but two others: how far apart two are says little of how steps differ.
const WARM_UP_RATIO_OF_TWO: f64 = 0.5;

/// Marks the first step as a warm-up when it is longer than the longest other by more than these differ among themselves, and by a
/// tenth of their median; of two others, by half. Cached ones are not compared with it.
///
/// ```text
/// 226  205 196 201    21 longer, the others differ by 9, a tenth is 20.1: a warm-up
/// 208  205 196 201     3 longer: it is one more of the same
/// 226  205 196        half is 100: not known to be anything else than the others
/// ```
pub(super) fn mark_warm_up(parts: &mut [TracePart]) {
    let Some((first, others)) = parts.split_first_mut() else {
        return;
    };
    let others = others.iter();
    let others = others.filter(|part| part.kind != Some(StepKind::Cached));
    let mut others: Vec<u64> = others.map(took_ns).collect();
    others.sort_unstable();
    let (Some(shortest), Some(longest)) = (others.first(), others.last()) else {
        return;
    };
    let Some(median) = median(&others) else {
        return;
    };
    let least_ratio = match others.len() {
        0..=2 => WARM_UP_RATIO_OF_TWO,
        _ => WARM_UP_RATIO,
    };
    let longer_ns = took_ns(first).saturating_sub(*longest);
    first.is_warm_up = others.len() > 1
        && first.kind != Some(StepKind::Cached)
        && longer_ns > longest - shortest
        && float(longer_ns) >= median * least_ratio;
}

/// How long a part took: on the device where it did anything, else on the host.
fn took_ns(part: &TracePart) -> u64 {
    let work = part.work.filter(|work| work.n_ops > 0);
    work.map_or(part.host_ns, |work| work.span_ns)
}

/// Tells full steps from cached ones, when there are two kinds: without the first, at least two of each; the shortest full one twice
/// as long as the longest cached one; and within a kind none longer than twice another. By how long the device was busy, so that a
/// pause is no work; without a device by the time of the host.
///
/// ```text
/// 290 260 25 270 22 299 32 30        full: 290 260 270 299, cached: 25 22 32 30
/// ```
pub(super) fn mark_kinds(parts: &mut [TracePart]) {
    let has_work = parts.iter().any(|part| part.work.is_some_and(|work| work.n_ops > 0));
    let worked_ns = |part: &TracePart| match part.work {
        Some(work) if has_work => work.busy_ns,
        _ => part.host_ns,
    };
    let mut others: Vec<u64> = parts.iter().skip(1).map(worked_ns).collect();
    others.sort_unstable();
    let Some(longest_cached_ns) = longest_cached(&others) else {
        return;
    };
    for part in parts {
        let is_full = worked_ns(part) >= longest_cached_ns.saturating_mul(2).max(1);
        part.kind = Some(if is_full { StepKind::Full } else { StepKind::Cached });
    }
}

/// The end of the lower of two groups of sorted values.
fn longest_cached(values: &[u64]) -> Option<u64> {
    let is_gap = |pair: &&[u64]| match pair {
        [below, above] => *above > 0 && *above >= below.saturating_mul(2),
        _ => false,
    };
    let at = values.windows(2).position(|pair| is_gap(&pair))?;
    let (below, above) = values.split_at_checked(at + 1)?;
    let is_even = |values: &[u64]| {
        let ends = values.first().zip(values.last());
        values.len() > 1 && ends.is_some_and(|(least, most)| *most <= least.saturating_mul(2))
    };
    if is_even(below) && is_even(above) { below.last().copied() } else { None }
}

/// The steps of each kind; none when they are all alike.
pub(super) fn groups(parts: &[TracePart]) -> Vec<StepGroup> {
    let of_kind = |kind: StepKind| {
        let parts: Vec<&TracePart> = parts.iter().filter(|p| p.kind == Some(kind)).collect();
        (!parts.is_empty()).then(|| StepGroup {
            kind,
            n_parts: parts.len() as u64,
            figures: PartFigures::of(parts.into_iter()),
        })
    };
    let kinds = [StepKind::Full, StepKind::Cached];
    kinds.into_iter().filter_map(of_kind).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(times: &[u64]) -> Vec<TracePart> {
        let step = |host_ns: &u64| TracePart {
            name: String::new(),
            start_ns: 0,
            host_ns: *host_ns,
            count: 1,
            synchronising_ns: 0,
            work: None,
            is_warm_up: false,
            kind: None,
        };
        let mut steps: Vec<TracePart> = times.iter().map(step).collect();
        mark_kinds(&mut steps);
        mark_warm_up(&mut steps);
        steps
    }

    fn is_warm_up(times: &[u64]) -> bool {
        steps(times).first().is_some_and(|first| first.is_warm_up)
    }

    #[test]
    fn a_first_step_is_a_warm_up_when_it_is_longer_by_more_than_the_others_differ() {
        // 21 longer than the longest; the others differ by 9, a tenth of their median is 20.05.
        assert!(is_warm_up(&[226, 196, 205, 201]));
        // The same with two others: half of the median would be 100.
        assert!(!is_warm_up(&[226, 196, 205]));
        assert!(is_warm_up(&[2_000, 196, 205]));
        // 13 longer, but the others differ by 20.
        assert!(!is_warm_up(&[123, 100, 90, 110]));
        // Longer than they differ (2), but by 2 % of the median only.
        assert!(!is_warm_up(&[104, 100, 102, 101]));
        assert!(!is_warm_up(&[90, 100, 101, 102]));
        // One other says nothing of how steps differ.
        assert!(!is_warm_up(&[300, 100]));
        assert!(!is_warm_up(&[]));
        assert!(!is_warm_up(&[u64::MAX, u64::MAX, 0]));
    }

    fn n_cached(times: &[u64]) -> usize {
        let steps = steps(times);
        let cached = steps.iter().filter(|s| s.kind == Some(StepKind::Cached));
        cached.count()
    }

    #[test]
    fn steps_of_two_lengths_are_full_and_cached() {
        let steps = steps(&[290, 260, 25, 270, 22, 299, 32, 30]);
        let groups = groups(&steps);
        let counts: Vec<_> = groups.iter().map(|g| (g.kind, g.n_parts)).collect();
        assert_eq!(counts, [(StepKind::Full, 4), (StepKind::Cached, 4)]);
        let means = |group: &StepGroup| group.figures.map(|figures| figures.host.mean_ns);
        // (290 + 260 + 270 + 299) / 4 and (25 + 22 + 32 + 30) / 4.
        assert_eq!(means(&groups[0]), Some(279.75));
        assert_eq!(means(&groups[1]), Some(27.25));
        assert!(!steps[0].is_warm_up);
    }

    #[test]
    fn a_warm_up_is_compared_with_full_steps() {
        let steps = steps(&[800, 260, 25, 270, 22, 265]);
        assert!(steps[0].is_warm_up);
        assert_eq!(steps[0].kind, Some(StepKind::Full));
        let full = &groups(&steps)[0];
        assert_eq!(full.figures.map(|f| (f.n_parts, f.host.max_ns)), Some((3, 270)));
    }

    #[test]
    fn a_warm_up_one_odd_step_and_steps_of_many_lengths_are_no_cache() {
        assert_eq!(n_cached(&[800, 100, 101, 102]), 0);
        assert_eq!(n_cached(&[100, 101, 250, 102, 103]), 0);
        assert_eq!(n_cached(&[10, 10, 11, 25, 26, 60, 61]), 0);
        assert_eq!(n_cached(&[0, 0, 0, 0]), 0);
        assert_eq!(n_cached(&[9, 0, 0, 9, 9]), 2);
    }
}
