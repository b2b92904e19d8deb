//! What did allocators give out, and to which operators?

use std::cmp::Reverse;
use std::collections::BTreeMap;

use serde::Serialize;

use super::TraceContext;
use super::owners::HostKind;
use crate::import::chrome::Allocation;
use crate::stats::ratio;

/// What the allocator of one device did, as `profile_memory=True` has it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, schemars::JsonSchema)]
pub struct TraceMemory {
    /// Which document of the file it is in: 0 for the first.
    pub document: u32,
    /// The kind of device by torch's numbers: 0 the host, 1 a GPU; `None` when the trace does not say.
    pub device_type: Option<i64>,
    /// The number of the device; -1 for the host; `None` when the trace does not say.
    pub device: Option<i64>,
    /// How often memory was given out.
    pub n_allocations: u64,
    /// How often it was given back.
    pub n_releases: u64,
    /// All that was given out, in bytes.
    pub allocated_bytes: u64,
    /// All that was given back, in bytes.
    pub released_bytes: u64,
    /// The most that was out at a time, by the allocator's own count, which has what was there before; `None` when the
    /// trace does not say.
    pub peak_bytes: Option<u64>,
    /// When that was first so, after the first event of the trace; `None` when it was before that.
    pub peak_at_ns: Option<u64>,
    /// The operator or range that was open then; `None` when there was none.
    pub peak_in: Option<String>,
    /// The most that the allocator held; `None` when the trace does not say, 0 on the host.
    pub peak_reserved_bytes: Option<u64>,
    /// By the innermost operator or range, the one to which most was given out first.
    pub operators: Vec<OperatorBytes>,
}

/// What operators of one name allocated themselves.
#[derive(Clone, Debug, Default, PartialEq, Serialize, schemars::JsonSchema)]
pub struct OperatorBytes {
    /// Its name; `None` for what was done outside of any.
    pub name: Option<String>,
    /// How often memory was given out to it.
    pub n_allocations: u64,
    /// All that was given out to it.
    pub allocated_bytes: u64,
    /// What was given out to it less what it gave back: torch's `Self CPU Mem`, `Self CUDA Mem`.
    pub net_bytes: i64,
    /// Share of all that was given out, 0 to 1; `None` when that is 0.
    pub ratio: Option<f64>,
}

/// Memory by device, in the order of their numbers; of the part that is asked about, by the moments.
///
/// ```text
/// operator |--- aten::empty ---|      |- aten::add -|
/// memory      +616                       +64              616 of empty, 64 of add; nobody: - 616
///                               - 616
/// ```
///
/// O(n log n).
pub fn trace_memory(context: &TraceContext<'_>) -> Vec<TraceMemory> {
    let trace = context.trace;
    let mut devices: BTreeMap<Device, Allocator<'_>> = BTreeMap::new();
    for allocation in &trace.allocations {
        let track = trace.tracks.each.get(allocation.track as usize);
        let document = track.map_or(0, |track| trace.document_of_process(track.process));
        let is_asked = context.scope.as_ref().is_none_or(|scope| {
            scope.document == document && allocation.at_ns.is_some_and(|at_ns| scope.has(at_ns))
        });
        if is_asked {
            let key = (document, allocation.device_type, allocation.device);
            let operator = operator_at(context, allocation);
            devices.entry(key).or_default().add(allocation, operator);
        }
    }
    devices.into_iter().map(|(device, found)| found.memory(device)).collect()
}

/// Document, kind and number.
type Device = (u32, Option<i64>, Option<i64>);

/// The name of the innermost operator or range that was open on the thread.
fn operator_at<'a>(context: &TraceContext<'a>, allocation: &Allocation) -> Option<&'a str> {
    let trace = context.trace;
    let open = context.host.open_at(trace, allocation.track, allocation.at_ns?)?;
    let mut around = std::iter::once(open).chain(context.owners.around(open));
    let is_operator = |row: &u32| {
        let kind = context.owners.kind(trace, *row);
        matches!(kind, Some(HostKind::Operator | HostKind::Range))
    };
    around.find(is_operator).map(|row| trace.name_of(row))
}

/// What an allocator did.
#[derive(Default)]
struct Allocator<'a> {
    /// Its sums.
    sums: TraceMemory,
    /// Without names and shares.
    by_name: BTreeMap<Option<&'a str>, OperatorBytes>,
}

impl<'a> Allocator<'a> {
    fn add(&mut self, allocation: &Allocation, operator: Option<&'a str>) {
        let bytes = allocation.bytes.unsigned_abs();
        let sums = &mut self.sums;
        let own = self.by_name.entry(operator).or_default();
        own.net_bytes = own.net_bytes.saturating_add(allocation.bytes);
        if allocation.bytes > 0 {
            own.n_allocations += 1;
            own.allocated_bytes = own.allocated_bytes.saturating_add(bytes);
            sums.n_allocations += 1;
            sums.allocated_bytes = sums.allocated_bytes.saturating_add(bytes);
        } else if allocation.bytes < 0 {
            sums.n_releases += 1;
            sums.released_bytes = sums.released_bytes.saturating_add(bytes);
        }
        sums.peak_reserved_bytes = sums.peak_reserved_bytes.max(allocation.reserved_bytes);
        // The first of the largest.
        let peak = (sums.peak_bytes, Reverse(sums.peak_at_ns));
        let now = (allocation.allocated_bytes, Reverse(allocation.at_ns));
        if now.0.is_some() && (peak.0.is_none() || now > peak) {
            (sums.peak_bytes, sums.peak_at_ns) = (now.0, allocation.at_ns);
            sums.peak_in = operator.map(str::to_owned);
        }
    }

    fn memory(self, (document, device_type, device): Device) -> TraceMemory {
        let all_bytes = self.sums.allocated_bytes;
        let row = |(name, row): (Option<&str>, OperatorBytes)| OperatorBytes {
            name: name.map(str::to_owned),
            ratio: (all_bytes > 0).then(|| ratio(row.allocated_bytes.into(), all_bytes.into())),
            ..row
        };
        let mut operators: Vec<OperatorBytes> = self.by_name.into_iter().map(row).collect();
        // A stable sort: of equals the first by name.
        operators.sort_by_key(|row| (Reverse(row.allocated_bytes), row.net_bytes));
        TraceMemory { document, device_type, device, operators, ..self.sums }
    }
}
