//! Steps, profiler steps and phases of a trace with the work of a device, as values; and which steps are not like the others.

use serde::Serialize;

use super::modelled_figures::ModelledPart;
use super::trace_steps::StepRule;
use crate::stats::{float, mean, median, sample_std_dev};

/// The parts of one kind in one document, with the work of one of its devices.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct PartList {
    /// Which document of the file.
    pub document: u32,
    /// The device; `None` when the document has none.
    pub device: Option<String>,
    /// What says where steps are; `None` for profiler steps and phases.
    pub rule: Option<StepRule>,
    /// What steps are called in the trace, likewise.
    pub source: Option<String>,
    /// In order of their beginnings.
    pub parts: Vec<TracePart>,
    /// Work that no part launched, and work without a launch; only those that there are.
    pub rest: Vec<RestOfWork>,
    /// Figures of all parts but a warm-up; `None` when there are fewer than two, and for phases.
    pub figures: Option<PartFigures>,
    /// Full and cached steps, when there are two kinds; otherwise empty, as for profiler steps and phases.
    pub groups: Vec<StepGroup>,
}

/// A step, a profiler step or a phase.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct TracePart {
    /// `3` for a step, its own number for a profiler step, the name of a phase.
    pub name: String,
    /// When it began on the host, after the first event of the trace.
    pub start_ns: u64,
    /// How long it was open on the host, all its ranges together.
    pub host_ns: u64,
    /// How often it was entered.
    pub count: u64,
    /// Time of the host in it in calls that wait for a device, as in [`super::synchronisation()`]; of several threads it adds up.
    pub synchronising_ns: u64,
    /// What it launched; `None` when the document has no device.
    pub work: Option<PartWork>,
    /// What that had to do at least, and how fast it was; `None` when the trace has no shapes (`record_shapes=True`), either.
    pub modelled: Option<ModelledPart>,
    /// It is the first, and took longer than the longest other: by more than these differ, and by a tenth of their median or more
    /// (half of it, if there are but two). Cached steps are not among these.
    pub is_warm_up: bool,
    /// Whether a cache may have answered it; `None` when steps are not of two kinds.
    pub kind: Option<StepKind>,
}

/// What a device did for a part. Each moment counts once, other than in sums.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct PartWork {
    /// Kernels, copies and fills.
    pub n_ops: u64,
    /// The sum of their durations.
    pub work_ns: u64,
    /// Those of them that no part within this one launched. Over all parts, and the rest, they come to all work.
    pub own_n_ops: u64,
    /// Likewise.
    pub own_work_ns: u64,
    /// When the first began on the device; `None` when there are none, as below.
    pub device_start_ns: Option<u64>,
    /// From there to the end of the last, of each range; those of several ranges add up.
    pub span_ns: u64,
    /// Time with any of its work.
    pub busy_ns: u64,
    /// The span without that.
    pub idle_ns: u64,
    /// Time with its kernels that are not communication.
    pub compute_ns: u64,
    /// Time with its communication.
    pub communication_ns: u64,
    /// Time with its copies and fills.
    pub memory_ns: u64,
    /// The communication in which it did not compute.
    pub exposed_communication_ns: u64,
    /// Copies and fills in which none of its kernels ran.
    pub exposed_memory_ns: u64,
    /// Time the device did nothing at all before the first of its work; `None` also when nothing was before.
    pub opening_gap_ns: Option<u64>,
    /// From the launch of its first work to when that began: how far the device is behind the host.
    pub delay_ns: Option<u64>,
}

/// Work of no part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct RestOfWork {
    /// Where it was launched.
    pub place: RestPlace,
    /// Kernels, copies and fills.
    pub n_ops: u64,
    /// The sum of their durations.
    pub work_ns: u64,
    /// Time that they cover.
    pub busy_ns: u64,
}

/// Where work was launched that belongs to no part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RestPlace {
    /// Before the first part.
    Before,
    /// After the first, outside of all.
    Between,
    /// After the last.
    After,
    /// The trace has no launch of it.
    NotLaunched,
}

/// What a step is among steps of very different lengths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StepKind {
    /// It took at least twice as long as any of the others.
    Full,
    /// It took half as long as those or less: a cache may have skipped work. Nothing else in the trace says that one did.
    Cached,
}

/// Steps of one kind.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct StepGroup {
    /// Which.
    pub kind: StepKind,
    /// How many, a warm-up among them.
    pub n_parts: u64,
    /// Figures of them but a warm-up; `None` when there are fewer than two.
    pub figures: Option<PartFigures>,
}

/// Figures of several parts.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct PartFigures {
    /// How many they are of.
    pub n_parts: u64,
    /// Of the time on the host.
    pub host: PartSpread,
    /// Of the device's span; `None` without a device, as below.
    pub span: Option<PartSpread>,
    /// Of its busy time.
    pub busy: Option<PartSpread>,
    /// Of its idle time in the span.
    pub idle: Option<PartSpread>,
}

impl PartFigures {
    /// Of parts but a warm-up; `None` of fewer than two.
    pub(super) fn of<'a>(parts: impl Iterator<Item = &'a TracePart>) -> Option<Self> {
        let parts: Vec<&TracePart> = parts.filter(|part| !part.is_warm_up).collect();
        if parts.len() < 2 {
            return None;
        }
        let of_work = |figure: fn(&PartWork) -> u64| {
            let values: Option<Vec<u64>> =
                parts.iter().map(|p| p.work.as_ref().map(figure)).collect();
            PartSpread::of(values?)
        };
        Some(Self {
            n_parts: parts.len() as u64,
            host: PartSpread::of(parts.iter().map(|part| part.host_ns).collect())?,
            span: of_work(|work| work.span_ns),
            busy: of_work(|work| work.busy_ns),
            idle: of_work(|work| work.idle_ns),
        })
    }
}

/// Mean, median and spread.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct PartSpread {
    /// The mean.
    pub mean_ns: f64,
    /// The median.
    pub median_ns: f64,
    /// The standard deviation as of a sample; `None` of one.
    pub std_dev_ns: Option<f64>,
    /// The shortest.
    pub min_ns: u64,
    /// The longest.
    pub max_ns: u64,
}

impl PartSpread {
    /// Of values; `None` of none.
    pub(super) fn of(mut values: Vec<u64>) -> Option<Self> {
        values.sort_unstable();
        Some(Self {
            mean_ns: mean(&values)?,
            median_ns: median(&values)?,
            std_dev_ns: sample_std_dev(&values),
            min_ns: *values.first()?,
            max_ns: *values.last()?,
        })
    }
}

/// All lists of parts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, schemars::JsonSchema)]
pub struct TracePartLists {
    /// Denoising steps, or calls of the denoiser: see the rule.
    pub steps: Vec<PartList>,
    /// Steps that the program marked for torch's profiler.
    pub profiler_steps: Vec<PartList>,
    /// Named ranges.
    pub phases: Vec<PartList>,
}

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
            modelled: None,
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
