//! What did the operators that launched a device's work have to do at least, and how fast was that?

use std::cmp::Reverse;
use std::collections::BTreeMap;

use serde::Serialize;

use super::device_timeline::{DeviceTimeline, DeviceWork, WorkKind};
use super::{HostKind, KernelClass, TraceContext};
use crate::import::chrome::{Inputs, Meanings};
use crate::model::{Arguments, Formula, Work, formula};
use crate::stats::{rate, ratio, sum};

/// Work of a device by the innermost operator around its launch that there is a formula for. Each kernel belongs to one call at most. Sums
/// of durations: work at the same time counts twice.
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
}

/// What tells calls apart: name, inputs without their row.
type Key = (u32, u32, Option<u32>, Option<u32>);

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
pub fn modelled_work(context: &TraceContext<'_>, timeline: &DeviceTimeline) -> Option<ModelledWork> {
    if context.trace.inputs.is_empty() {
        return None;
    }
    let mut models = Models::new(context);
    let is_on_device = |work: &&DeviceWork| !is_transfer(context, work);
    // Group, row of the call, duration.
    let mut owned: Vec<(usize, u32, u64)> = Vec::new();
    let mut latest: Option<(u32, Option<(usize, u32)>)> = None;
    for work in timeline.work.iter().filter(is_on_device) {
        let Some(launch) = work.launch else { continue };
        // Kernels of a graph have one launch and come one after the other: it is looked at once.
        let owner = match latest.filter(|latest| latest.0 == launch) {
            Some((_, owner)) => owner,
            None => latest.insert((launch, models.owner(launch))).1,
        };
        owned.extend(owner.map(|(group, row)| (group, row, work.length_ns())));
    }
    owned.sort_unstable();
    let all_ns = sum(timeline.work.iter().map(DeviceWork::length_ns));
    Some(models.answer(&owned, all_ns))
}

/// A copy between the host and a device, which takes as long as the way between them does.
fn is_transfer(context: &TraceContext<'_>, work: &DeviceWork) -> bool {
    let name = context.trace.names.get(work.name);
    work.kind == WorkKind::Memcpy && !name.contains("DtoD")
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
    groups: Vec<Group>,
    by_key: BTreeMap<Key, usize>,
}

impl<'a, 'b> Models<'a, 'b> {
    fn new(context: &'a TraceContext<'b>) -> Self {
        let formulas = Meanings::new(&context.trace.names);
        Self { context, formulas, groups: Vec::new(), by_key: BTreeMap::new() }
    }

    /// The group and the row of the innermost call around a launch that there is a formula for.
    fn owner(&mut self, launch: u32) -> Option<(usize, u32)> {
        let trace = self.context.trace;
        let is_operator =
            |row: &u32| self.context.owners.kind(trace, *row) == Some(HostKind::Operator);
        for row in self.context.owners.around(launch).filter(is_operator) {
            let name = trace.rows.name_of(row)?;
            if let Some((class, formula)) = self.formulas.of(name, formula).flatten() {
                let inputs = trace.inputs_of(row)?;
                return Some((self.group(name, inputs, class, formula), row));
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

    /// Of pieces of work in order of their groups and calls.
    fn answer(&self, owned: &[(usize, u32, u64)], all_ns: u64) -> ModelledWork {
        let mut rows: BTreeMap<(Key, Work), (KernelClass, Sums)> = BTreeMap::new();
        let mut classes: BTreeMap<KernelClass, Sums> = BTreeMap::new();
        for of_group in owned.chunk_by(|a, b| a.0 == b.0) {
            let Some(group) = of_group.first().and_then(|first| self.groups.get(first.0)) else {
                continue;
            };
            let sums = Sums::new(group.work, of_group);
            // Inputs that differ in values alone are one row where the work is the same.
            let (name, shapes, types, _) = group.key;
            let row = rows.entry(((name, shapes, types, None), group.work));
            row.or_insert((group.class, Sums::default())).1.add(sums);
            classes.entry(group.class).or_default().add(sums);
        }
        let modelled_ns = sum(classes.values().map(|sums| sums.modelled_ns));
        let mut answer = ModelledWork {
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
        let figures = |(class, sums): (KernelClass, Sums)| {
            ModelledClass { class, all: sums.figures(all_ns) }
        };
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
    fn new(work: Work, owned: &[(usize, u32, u64)]) -> Self {
        let count = owned.chunk_by(|a, b| a.1 == b.1).count() as u64;
        let device_ns = sum(owned.iter().map(|(.., ns)| *ns));
        let amount = |of_call: Option<u64>| Amount {
            known: of_call.map(|amount| amount.saturating_mul(count)),
            device_ns: of_call.map_or(0, |_| device_ns),
        };
        let (flops, bytes) = (amount(work.flops), amount(work.bytes));
        let is_modelled = work.flops.is_some() || work.bytes.is_some();
        Self {
            count,
            n_launched: owned.len() as u64,
            device_ns,
            modelled_ns: if is_modelled { device_ns } else { 0 },
            flops,
            bytes,
            both: flops.known.zip(bytes.known).unwrap_or_default(),
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
            flops_per_byte: (bytes > 0 && flops > 0).then(|| ratio(flops.into(), bytes.into())),
        }
    }
}
