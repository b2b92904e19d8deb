//! What did the operators that launched a device's work have to do at least, and how fast was that?

use std::cmp::Reverse;
use std::collections::BTreeMap;

use serde::Serialize;

use super::device_timeline::{DeviceTimeline, DeviceWork, WorkKind};
use super::graph_replays::Around;
use super::transfers::direction;
use super::{HostKind, KernelClass, TraceContext, uses_tensor_cores};
use crate::import::chrome::{Inputs, Meanings};
use crate::model::{Arguments, DevicePeaks, Formula, NumberFormat, Work, formula, peaks};
use crate::stats::{float, rate, ratio, sum};

/// Work of a device by the innermost operator around its launch that there is a formula for; of a graph around what it was recorded from.
/// Each kernel belongs to one call at most. Sums of durations: work at the same time counts twice.
#[derive(Clone, Debug, Default, PartialEq, Serialize, schemars::JsonSchema)]
pub struct ModelledWork {
    /// By operator and inputs, the one that took most first.
    pub rows: Vec<ModelledRow>,
    /// By class of operator, likewise.
    pub classes: Vec<ModelledClass>,
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

/// What keeps calls from being faster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Bound {
    /// The FLOPs would take longer than the bytes.
    Compute,
    /// The bytes would take longer than the FLOPs.
    Memory,
    /// Its kernels take less than 5 µs in the mean and reach less than half of the roofline: starting and ending them takes most of the time.
    Latency,
}

/// A kernel below this takes about as long with nothing to do: it has to be started, to fill the device and to be waited for.
const SHORT_NS: u64 = 5_000;

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

/// All calls of operators of a class.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct ModelledClass {
    /// Which.
    pub class: KernelClass,
    /// All calls together.
    #[serde(flatten)]
    pub all: ModelledFigures,
}

/// What calls did and how long it took. Rates are of the calls of which the amount is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, schemars::JsonSchema)]
pub struct ModelledFigures {
    /// Calls that launched something.
    pub count: u64,
    /// Kernels, copies and fills that they launched.
    pub n_launched: u64,
    /// Their durations together.
    pub device_ns: u64,
    /// Share of all durations of the device, 0 to 1; `None` when all are zero.
    pub ratio: Option<f64>,
    /// FLOPs together; `None` when they are known of no call.
    pub flops: Option<u64>,
    /// Bytes together, likewise.
    pub bytes: Option<u64>,
    /// FLOPs in a second of device time.
    pub flops_per_second: Option<f64>,
    /// Bytes in a second of device time.
    pub bytes_per_second: Option<f64>,
    /// FLOPs for each byte.
    pub flops_per_byte: Option<f64>,
    /// Share of the FLOPs that the device could have done in that time; `None` without a peak.
    pub peak_ratio: Option<f64>,
    /// Share of the device time that FLOPs and bytes need at least, the longer of both at the peak. More than 1 where what is read was still
    /// in a cache.
    pub roofline_ratio: Option<f64>,
}

impl From<DevicePeaks> for WorkPeaks {
    fn from(peaks: DevicePeaks) -> Self {
        let formats = peaks.formats();
        Self {
            device: peaks.name.to_owned(),
            bytes_per_second: peaks.bytes_per_second,
            formats: formats
                .map(|(format, flops_per_second)| FormatPeak { format, flops_per_second })
                .collect(),
        }
    }
}

/// What tells calls apart: name, inputs without their row.
type Key = (u32, u32, Option<u32>, Option<u32>);

/// A piece of work: its group, its call, its duration.
type Owned = (usize, Around, u64);

/// The work of a device by what it had to do. A call's work is computed once for all calls with equal inputs. `None` when the trace has no
/// shapes.
///
/// ```text
/// linear            |-----------------|        has no formula: it only calls others
/// addmm                |-----------|           2 · M · N · K
/// launch                  |1|  |2|
/// device                      |memset||--gemm--|      both belong to addmm, one call
/// ```
///
/// O(n log n) for n pieces of work.
pub fn modelled_work(
    context: &TraceContext<'_>,
    timeline: &DeviceTimeline,
) -> Option<ModelledWork> {
    if !context.has_inputs() {
        return None;
    }
    let mut models = Models::new(context);
    let is_on_device = |work: &&DeviceWork| !is_transfer(context, work);
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
            owned.push((group, call, work.length_ns()));
        }
    }
    owned.sort_unstable();
    let model = context.model_of(timeline);
    let peaks = model.and_then(|model| peaks(&model));
    let all_ns = sum(timeline.work.iter().map(DeviceWork::length_ns));
    Some(models.answer(&owned, all_ns, timeline.span().length_ns(), peaks))
}

/// A copy that leaves the device's memory, which takes as long as the way does.
fn is_transfer(context: &TraceContext<'_>, work: &DeviceWork) -> bool {
    work.kind == WorkKind::Memcpy && direction(context.trace.names.get(work.name)) != "DtoD"
}

/// Calls with equal inputs.
struct Group {
    key: Key,
    class: KernelClass,
    work: Work,
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

    /// Of pieces of work in order of their groups and calls.
    fn answer(
        &self,
        owned: &[Owned],
        all_ns: u64,
        span_ns: u64,
        peaks: Option<DevicePeaks>,
    ) -> ModelledWork {
        let mut rows: BTreeMap<(Key, Work), (KernelClass, Sums)> = BTreeMap::new();
        let mut classes: BTreeMap<KernelClass, Sums> = BTreeMap::new();
        for of_group in owned.chunk_by(|a, b| a.0 == b.0) {
            let Some(group) = of_group.first().and_then(|first| self.groups.get(first.0)) else {
                continue;
            };
            let sums = Sums::new(group.work, of_group, peaks.as_ref());
            // Inputs that differ in values alone are one row where the work is the same.
            let (name, shapes, types, _) = group.key;
            let row = rows.entry(((name, shapes, types, None), group.work));
            row.or_insert((group.class, Sums::default())).1.add(sums);
            classes.entry(group.class).or_default().add(sums);
        }
        let modelled_ns = sum(classes.values().map(|sums| sums.modelled_ns));
        let compute_ns: f64 = classes.values().map(|sums| sums.compute.least_ns).sum();
        let is_known = classes.values().any(|sums| sums.compute.device_ns > 0) && span_ns > 0;
        let mut answer = ModelledWork {
            peaks: peaks.map(WorkPeaks::from),
            utilization_ratio: is_known.then(|| compute_ns / float(span_ns)),
            modelled_ns,
            modelled_ratio: (all_ns > 0).then(|| ratio(modelled_ns.into(), all_ns.into())),
            ..ModelledWork::default()
        };
        let trace = self.context.trace;
        for (((name, shapes, types, _), work), (class, sums)) in rows {
            answer.rows.push(ModelledRow {
                operator: trace.names.get(name).to_owned(),
                shapes: trace.texts.get(shapes).to_owned(),
                types: types.map(|types| trace.texts.get(types).to_owned()),
                class,
                format: work.format.filter(|_| work.flops.is_some()),
                bound: sums.bound(),
                call_flops: work.flops,
                call_bytes: work.bytes,
                all: sums.figures(all_ns),
            });
        }
        answer.rows.sort_by(|a, b| {
            let order = |row: &ModelledRow| (row.operator.clone(), row.shapes.clone());
            let time = Reverse(a.all.device_ns).cmp(&Reverse(b.all.device_ns));
            time.then_with(|| order(a).cmp(&order(b)))
        });
        let figures =
            |(class, sums): (KernelClass, Sums)| ModelledClass { class, all: sums.figures(all_ns) };
        answer.classes = classes.into_iter().map(figures).collect();
        answer.classes.sort_by_key(|row| (Reverse(row.all.device_ns), row.class));
        answer
    }
}

/// What calls come to.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    count: u64,
    n_launched: u64,
    device_ns: u64,
    /// Of calls whose FLOPs or bytes are known.
    modelled_ns: u64,
    flops: Amount,
    bytes: Amount,
    /// FLOPs and bytes of calls of which both are known.
    both: (u64, u64),
    /// FLOPs at the peak.
    compute: Least,
    /// Bytes at the peak.
    memory: Least,
    /// The longer of both.
    roofline: Least,
}

/// How long an amount takes at least, and the time of what did it.
#[derive(Clone, Copy, Debug, Default)]
struct Least {
    least_ns: f64,
    device_ns: u64,
}

impl Least {
    fn ratio(self) -> Option<f64> {
        (self.device_ns > 0).then(|| self.least_ns / float(self.device_ns))
    }

    fn add(&mut self, other: Self) {
        self.least_ns += other.least_ns;
        self.device_ns = self.device_ns.saturating_add(other.device_ns);
    }
}

/// An amount, as far as it is known, and the time of what did it.
#[derive(Clone, Copy, Debug, Default)]
struct Amount {
    known: Option<u64>,
    device_ns: u64,
}

impl Amount {
    fn per_second(self) -> Option<f64> {
        rate(self.known?, self.device_ns)
    }

    fn add(&mut self, other: Self) {
        self.known = match (self.known, other.known) {
            (Some(one), Some(more)) => Some(one.saturating_add(more)),
            (one, other) => one.or(other),
        };
        self.device_ns = self.device_ns.saturating_add(other.device_ns);
    }
}

impl Sums {
    /// Of all work of a group.
    fn new(work: Work, owned: &[Owned], peaks: Option<&DevicePeaks>) -> Self {
        let count = owned.chunk_by(|a, b| a.1 == b.1).count() as u64;
        let device_ns = sum(owned.iter().map(|(.., ns)| *ns));
        let amount = |of_call: Option<u64>| Amount {
            known: of_call.map(|amount| amount.saturating_mul(count)),
            device_ns: of_call.map_or(0, |_| device_ns),
        };
        let (flops, bytes) = (amount(work.flops), amount(work.bytes));
        let least = |amount: Option<u64>, per_second: Option<f64>| {
            amount.zip(per_second).map(|(amount, peak)| float(amount) / peak * 1e9)
        };
        let of_format = work.format.and_then(|format| peaks?.flops_per_second(format));
        let compute_ns = least(flops.known, of_format);
        let memory_ns = least(bytes.known, peaks.map(|peaks| peaks.bytes_per_second));
        let known =
            |ns: Option<f64>| ns.map_or(Least::default(), |least_ns| Least { least_ns, device_ns });
        // With products whose speed is not known nothing is known of the whole.
        let is_whole = work.flops.is_none() || compute_ns.is_some();
        let roofline_ns = memory_ns.map(|ns| ns.max(compute_ns.unwrap_or(0.0)));
        let is_modelled = work.flops.is_some() || work.bytes.is_some();
        Self {
            count,
            n_launched: owned.len() as u64,
            device_ns,
            modelled_ns: if is_modelled { device_ns } else { 0 },
            flops,
            bytes,
            both: flops.known.zip(bytes.known).unwrap_or_default(),
            compute: known(compute_ns),
            memory: known(memory_ns),
            roofline: known(roofline_ns.filter(|_| is_whole)),
        }
    }

    fn add(&mut self, other: Self) {
        for (mine, others) in [
            (&mut self.count, other.count),
            (&mut self.n_launched, other.n_launched),
            (&mut self.device_ns, other.device_ns),
            (&mut self.modelled_ns, other.modelled_ns),
            (&mut self.both.0, other.both.0),
            (&mut self.both.1, other.both.1),
        ] {
            *mine = mine.saturating_add(others);
        }
        self.flops.add(other.flops);
        self.bytes.add(other.bytes);
        self.compute.add(other.compute);
        self.memory.add(other.memory);
        self.roofline.add(other.roofline);
    }

    /// What keeps calls with equal work from being faster.
    fn bound(self) -> Option<Bound> {
        let ratio = self.roofline.ratio()?;
        let is_short = self.device_ns < SHORT_NS.saturating_mul(self.n_launched);
        Some(match () {
            () if is_short && ratio < 0.5 => Bound::Latency,
            () if self.compute.least_ns > self.memory.least_ns => Bound::Compute,
            () => Bound::Memory,
        })
    }

    fn figures(self, all_ns: u64) -> ModelledFigures {
        let (flops, bytes) = self.both;
        ModelledFigures {
            count: self.count,
            n_launched: self.n_launched,
            device_ns: self.device_ns,
            ratio: (all_ns > 0).then(|| ratio(self.device_ns.into(), all_ns.into())),
            flops: self.flops.known,
            bytes: self.bytes.known,
            flops_per_second: self.flops.per_second(),
            bytes_per_second: self.bytes.per_second(),
            peak_ratio: self.compute.ratio(),
            roofline_ratio: self.roofline.ratio(),
            flops_per_byte: (bytes > 0 && flops > 0).then(|| ratio(flops.into(), bytes.into())),
        }
    }
}
