//! What did the operators that launched a device's work have to do at least, and how fast was that?

use std::cmp::Reverse;
use std::collections::BTreeMap;

use serde::Serialize;

use super::device_timeline::{DeviceTimeline, DeviceWork};
use super::graph_replays::Around;
use super::modelled_calls::{Group, Key, ModelledCall, ModelledCalls};
use super::modelled_figures::{Bound, ModelledFigures, Sums, share};
use super::transfers::is_transfer;
use super::{HostKind, KernelClass, TraceContext, uses_tensor_cores};
use crate::import::chrome::{Inputs, Meanings, Trace};
use crate::model::{Arguments, DevicePeaks, Formula, NumberFormat, formula, peaks};
use crate::stats::sum;

/// Work of a device by the innermost operator around its launch that there is a formula for; of a graph around what it was recorded from.
/// Each kernel belongs to one call at most. Sums of durations: work at the same time counts twice.
#[derive(Clone, Debug, Default, PartialEq, Serialize, schemars::JsonSchema)]
pub struct ModelledWork {
    /// By operator and inputs, the one that took most first.
    pub rows: Vec<ModelledRow>,
    /// By class of operator, likewise.
    pub classes: Vec<ModelledClass>,
    /// Calls whose FLOPs are known by the format of the numbers that they multiply, likewise.
    pub formats: Vec<ModelledFormat>,
    /// Durations of work whose operator's FLOPs or bytes are known.
    pub modelled_ns: u64,
    /// Share of all durations of the device, 0 to 1; `None` when all are zero.
    pub modelled_ratio: Option<f64>,
    /// What the device can do at most; `None` when it is not one of those whose data sheets are known.
    pub peaks: Option<WorkPeaks>,
    /// Share of the device's span that its FLOPs would take at the peaks of their formats (MFU); `None` when no peak is known, or none
    /// are counted. Work that is not modelled has none.
    pub utilization_ratio: Option<f64>,
}

/// What a device can do at most, as its maker says.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct WorkPeaks {
    /// The device.
    pub device: String,
    /// Bytes that its memory moves in a second.
    pub bytes_per_second: f64,
    /// FLOPs in a second, by format of the numbers.
    pub formats: Vec<FormatPeak>,
}

/// How fast a device multiplies numbers of a format, dense.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct FormatPeak {
    /// Which.
    pub format: NumberFormat,
    /// FLOPs in a second.
    pub flops_per_second: f64,
}

/// All calls of an operator with inputs of the same shapes and types that launched something.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct ModelledRow {
    /// The operator.
    pub operator: String,
    /// The shapes of its inputs as the trace writes them.
    pub shapes: String,
    /// The types of its inputs, likewise; `None` when the trace does not say.
    pub types: Option<String>,
    /// What it does.
    pub class: KernelClass,
    /// The format of the numbers that it multiplies; `None` when it has no products, or their numbers are of none of these.
    pub format: Option<NumberFormat>,
    /// What keeps it from being faster; `None` when its bytes, or the peaks for its bytes or its FLOPs, are not known.
    pub bound: Option<Bound>,
    /// FLOPs of one call; `None` when it has no products, or they are not known.
    pub call_flops: Option<u64>,
    /// Bytes of one call, each input and output once; `None` when they are not known.
    pub call_bytes: Option<u64>,
    /// All calls together.
    #[serde(flatten)]
    pub all: ModelledFigures,
}

/// All calls that multiply numbers of a format.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct ModelledFormat {
    /// Which.
    pub format: NumberFormat,
    /// All calls together.
    #[serde(flatten)]
    pub all: ModelledFigures,
}

/// All calls of operators of a class.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct ModelledClass {
    /// Which.
    pub class: KernelClass,
    /// All calls together.
    #[serde(flatten)]
    pub all: ModelledFigures,
}

impl From<DevicePeaks> for WorkPeaks {
    fn from(peaks: DevicePeaks) -> Self {
        let format = |(format, flops_per_second)| FormatPeak { format, flops_per_second };
        Self {
            device: peaks.name.to_owned(),
            bytes_per_second: peaks.bytes_per_second,
            formats: peaks.formats().map(format).collect(),
        }
    }
}

/// The work of a device by what it had to do; `None` when the trace has no shapes.
pub fn modelled_work(
    context: &TraceContext<'_>,
    timeline: &DeviceTimeline,
) -> Option<ModelledWork> {
    let calls = context.all_modelled_calls().get(&timeline.process)?;
    let all_ns = sum(timeline.work.iter().map(DeviceWork::length_ns));
    Some(answer(context.trace, calls, all_ns, timeline.span().length_ns()))
}

/// A piece of work: its group, its call, when it was launched and by what, its duration.
type Owned = (usize, Around, u64, u32, u64);

/// The calls that launched a device's work. What a call had to do is computed once for all calls with equal inputs.
///
/// ```text
/// linear            |-----------------|        has no formula: it only calls others
/// addmm                |-----------|           2 · M · N · K
/// launch                  |1|  |2|
/// device                      |memset||--gemm--|      both belong to addmm, one call
/// ```
///
/// O(n log n) for n pieces of work.
pub(super) fn modelled_calls(
    context: &TraceContext<'_>,
    timeline: &DeviceTimeline,
) -> ModelledCalls {
    let mut models = Models::new(context);
    let is_on_device = |work: &&DeviceWork| !is_transfer(context.trace, work);
    let mut owned: Vec<Owned> = Vec::new();
    let mut latest: Option<(_, Option<(usize, Around)>)> = None;
    for work in timeline.work.iter().filter(is_on_device) {
        // Kernels of a graph that nothing is known of have one launch and come one after the other: it is looked at once.
        let Some(place) = context.replays.place_of(work) else { continue };
        let owner = match latest.filter(|latest| latest.0 == place) {
            Some((_, owner)) => owner,
            None => latest.insert((place, models.owner(work))).1,
        };
        if let Some((group, call)) = owner {
            models.use_tf32_if(group, work.name);
            let launch = place.0;
            let at_ns = context.trace.rows.start_of(launch);
            owned.push((group, call, at_ns, launch, work.length_ns()));
        }
    }
    owned.sort_unstable();
    let call = |owned: &[Owned]| {
        let &(group, _, at_ns, launch, _) = owned.first()?;
        let device_ns = sum(owned.iter().map(|one| one.4));
        Some(ModelledCall { group, launch, at_ns, n_launched: owned.len() as u64, device_ns })
    };
    let calls = owned.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1));
    let mut calls: Vec<ModelledCall> = calls.filter_map(call).collect();
    calls.sort_by_key(|call| call.at_ns);
    let model = context.model_of(timeline);
    let peaks = model.and_then(|model| peaks(&model));
    ModelledCalls { groups: models.groups, calls, peaks }
}

/// What is known of operators, found out once for each name and for equal inputs.
struct Models<'a, 'b> {
    context: &'a TraceContext<'b>,
    formulas: Meanings<'a, Option<(KernelClass, Formula)>>,
    tensor_cores: Meanings<'a, bool>,
    groups: Vec<Group>,
    by_key: BTreeMap<Key, usize>,
}

impl<'a, 'b> Models<'a, 'b> {
    fn new(context: &'a TraceContext<'b>) -> Self {
        let names = &context.trace.names;
        Self {
            context,
            formulas: Meanings::new(names),
            tensor_cores: Meanings::new(names),
            groups: Vec::new(),
            by_key: BTreeMap::new(),
        }
    }

    /// The group and the innermost call around the launch of a piece of work that there is a formula for.
    fn owner(&mut self, work: &DeviceWork) -> Option<(usize, Around)> {
        let context = self.context;
        let is_operator = |call: &Around| context.kind_around(*call) == Some(HostKind::Operator);
        for call in context.around_launch(work).filter(is_operator) {
            let name = context.name_around(call)?;
            if let Some((class, formula)) = self.formulas.of(name, formula).flatten() {
                let inputs = context.inputs_around(call)?;
                return Some((self.group(name, inputs, class, formula), call));
            }
        }
        None
    }

    fn group(&mut self, name: u32, inputs: Inputs, class: KernelClass, formula: Formula) -> usize {
        let key = (name, inputs.shapes, inputs.types, inputs.values);
        *self.by_key.entry(key).or_insert_with(|| {
            let text = |number| self.context.trace.texts.get(number);
            let types = inputs.types.map(text);
            let arguments = types.and_then(|types| {
                Arguments::new(text(inputs.shapes), types, inputs.values.map(text))
            });
            let work = arguments.and_then(|arguments| formula(&arguments)).unwrap_or_default();
            self.groups.push(Group { key, class, work });
            self.groups.len() - 1
        })
    }

    /// Numbers of 32 bits are multiplied as TF32 where a kernel of the call uses tensor cores. Matrix cores of AMD multiply them whole.
    fn use_tf32_if(&mut self, group: usize, kernel: u32) {
        let Some(group) = self.groups.get_mut(group) else { return };
        if group.work.format == Some(NumberFormat::Fp32) {
            let is_of_amd = |name: &str| name.starts_with("Cijk_") || name.contains("mfma");
            let uses = |name: &str| uses_tensor_cores(name) == Some(true) && !is_of_amd(name);
            if self.tensor_cores.of(kernel, uses) == Some(true) {
                group.work.format = Some(NumberFormat::Tf32);
            }
        }
    }
}

/// Of a trace's calls on a device that worked for so long, and from its first to its last work for so long.
fn answer(trace: &Trace, calls: &ModelledCalls, all_ns: u64, span_ns: u64) -> ModelledWork {
    // Inputs that differ in values alone are one row where the work is the same.
    let rows = calls.sums_by(|group| {
        let (name, shapes, types, _) = group.key;
        Some((name, shapes, types, group.work, group.class))
    });
    let classes = calls.sums_by(|group| Some(group.class));
    let formats = calls.sums_by(|group| group.work.format.filter(|_| group.work.flops.is_some()));
    let all = calls.sums_by(|_| Some(())).remove(&()).unwrap_or_default();
    let figures = |sums: Sums| sums.figures(all_ns, sums.device_ns);
    let rows = rows.into_iter().map(|((name, shapes, types, work, class), sums)| ModelledRow {
        operator: trace.names.get(name).to_owned(),
        shapes: trace.texts.get(shapes).to_owned(),
        types: types.map(|types| trace.texts.get(types).to_owned()),
        class,
        format: work.format.filter(|_| work.flops.is_some()),
        bound: sums.bound(),
        call_flops: work.flops,
        call_bytes: work.bytes,
        all: figures(sums),
    });
    let mut rows: Vec<ModelledRow> = rows.collect();
    rows.sort_by_cached_key(|row| {
        (Reverse(row.all.device_ns), row.operator.clone(), row.shapes.clone())
    });
    ModelledWork {
        rows,
        classes: listed(classes, |class, sums| ModelledClass { class, all: figures(sums) }),
        formats: listed(formats, |format, sums| ModelledFormat { format, all: figures(sums) }),
        modelled_ns: all.modelled_ns,
        modelled_ratio: share(all.modelled_ns, all_ns),
        utilization_ratio: all.utilization_ratio(span_ns),
        peaks: calls.peaks.map(WorkPeaks::from),
    }
}

/// The one that took most first.
fn listed<K: Copy + Ord, T>(sums: BTreeMap<K, Sums>, row: impl Fn(K, Sums) -> T) -> Vec<T> {
    let mut sums: Vec<(K, Sums)> = sums.into_iter().collect();
    sums.sort_by_key(|(key, sums)| (Reverse(sums.device_ns), *key));
    sums.into_iter().map(|(key, sums)| row(key, sums)).collect()
}
