//! Steps, profiler steps and phases of a trace with the work of a device, as values.

use serde::Serialize;

use super::trace_steps::StepRule;
use crate::stats::{mean, median, sample_std_dev};

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
    /// What the program told torch's profiler.
    pub profiler_steps: Vec<PartList>,
    /// Named ranges.
    pub phases: Vec<PartList>,
}
