//! Where was memory highest?

use std::collections::BTreeMap;

use marey::{MemoryReading, MemorySource, Run};
use serde::{Serialize, Serializer};

use crate::section_lookup::SectionLookup;
use crate::stats::{ratio, whole};

/// What the memory readings of a run say.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Memory {
    /// Readings that the user labelled, in order of time.
    pub labelled: Vec<LabelledReading>,
    /// Each source, process first, then devices.
    pub sources: Vec<SourceMemory>,
}

/// A reading that the user asked for.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct LabelledReading {
    /// When, since the start of the run.
    pub at_ns: u64,
    /// As the user gave it; not safe to print.
    pub label: String,
    /// What was read.
    #[serde(serialize_with = "source_name")]
    #[schemars(with = "String")]
    pub source: MemorySource,
    /// In use: resident (process) or allocated to tensors (torch).
    pub allocated_bytes: u64,
    /// Held by the allocator; `None` for the process.
    pub reserved_bytes: Option<u64>,
    /// Highest so far, as the source counts it; `None` when not read.
    pub peak_bytes: Option<u64>,
    /// Share of what the allocator holds that no tensor uses; `None` without `reserved_bytes`.
    pub fragmentation_ratio: Option<f64>,
}

/// One source of readings.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct SourceMemory {
    /// What was read.
    #[serde(serialize_with = "source_name")]
    #[schemars(with = "String")]
    pub source: MemorySource,
    /// Readings, labelled or not.
    pub n_readings: u64,
    /// The reading with the highest `allocated_bytes`, the earliest of equals.
    pub peak: MemoryPeak,
    /// The most there was, which may lie between two readings: of the process by the kernel's count, of torch by its allocator's; `None` when
    /// neither was read.
    pub counted_peak_bytes: Option<u64>,
    /// The innermost section during which the kernel counted it: an index into `Run::nodes`. `None` where no section was read at both ends
    /// meanwhile, where it rose by more than a hundredth after the last that was, and of devices.
    #[serde(skip)]
    pub counted_peak_node: Option<u32>,
}

/// The highest reading.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct MemoryPeak {
    /// When, since the start of the run.
    pub at_ns: u64,
    /// In use at that moment.
    pub allocated_bytes: u64,
    /// Its label, if it had one.
    pub label: Option<String>,
    /// The innermost section that was open then, on the main thread if there was one: an index into `Run::nodes`. `None` when no
    /// recorded section was.
    pub node: Option<u32>,
    /// Share of what the allocator holds that no tensor uses; `None` without reserved bytes.
    pub fragmentation_ratio: Option<f64>,
}

/// `1 − allocated / reserved`, 0 to 1: what the allocator holds without use. `None` when nothing is reserved, or less
/// than allocated.
pub fn fragmentation_ratio(allocated_bytes: u64, reserved_bytes: Option<u64>) -> Option<f64> {
    let reserved = reserved_bytes.filter(|bytes| *bytes > 0)?;
    let unused = reserved.checked_sub(allocated_bytes)?;
    Some(ratio(unused.into(), reserved.into()))
}

/// What the memory readings say; `None` when there are none. Sections count as open from start to end inclusive.
pub fn memory(run: &Run) -> Option<Memory> {
    if run.memory.is_empty() {
        return None;
    }
    let mut by_source: BTreeMap<MemorySource, Vec<&MemoryReading>> = BTreeMap::new();
    for reading in &run.memory {
        by_source.entry(reading.source).or_default().push(reading);
    }
    let places = SectionLookup::new(run);
    Some(Memory {
        labelled: run.memory.iter().filter_map(labelled).collect(),
        sources: by_source
            .iter()
            .filter_map(|(source, readings)| of_source(run, &places, *source, readings))
            .collect(),
    })
}

fn labelled(reading: &MemoryReading) -> Option<LabelledReading> {
    Some(LabelledReading {
        at_ns: reading.at_ns,
        label: reading.label.clone()?,
        source: reading.source,
        allocated_bytes: reading.allocated_bytes,
        reserved_bytes: reading.reserved_bytes,
        peak_bytes: reading.peak_bytes,
        fragmentation_ratio: fragmentation_ratio(reading.allocated_bytes, reading.reserved_bytes),
    })
}

fn of_source(
    run: &Run,
    places: &SectionLookup<'_>,
    source: MemorySource,
    readings: &[&MemoryReading],
) -> Option<SourceMemory> {
    let key = |r: &&&MemoryReading| (std::cmp::Reverse(r.allocated_bytes), r.at_ns);
    let peak = readings.iter().min_by_key(key)?;
    let counted = counted_peak_bytes(run, source, readings);
    Some(SourceMemory {
        source,
        n_readings: readings.len() as u64,
        peak: MemoryPeak {
            at_ns: peak.at_ns,
            allocated_bytes: peak.allocated_bytes,
            label: peak.label.clone(),
            node: places.moment(peak.at_ns, peak.at_ns).node,
            fragmentation_ratio: fragmentation_ratio(peak.allocated_bytes, peak.reserved_bytes),
        },
        counted_peak_bytes: counted,
        counted_peak_node: counted
            .filter(|_| source == MemorySource::Process)
            .and_then(|counted| counted_peak_node(run, counted)),
    })
}

/// The section in which the kernel's count of resident memory rose for the last time; of several the innermost. `None` where it rose by
/// more than a hundredth later, in a section that nobody left, say.
fn counted_peak_node(run: &Run, counted: u64) -> Option<u32> {
    let calls = run.section_resources.iter();
    let risen = calls.filter_map(|call| Some((call.used.peak_bytes?, call.start_ns, call.node)));
    let last = risen.max().filter(|(bytes, ..)| counted.saturating_sub(*bytes) <= counted / 100);
    last.map(|(_, _, node)| node)
}

/// Most resident memory of the process that anybody read or counted; `None` where nobody did.
pub fn process_peak_bytes(run: &Run) -> Option<u64> {
    let readings = run.memory.iter();
    let own: Vec<&MemoryReading> =
        readings.filter(|reading| reading.source == MemorySource::Process).collect();
    let highest = own.iter().map(|reading| reading.allocated_bytes).max();
    counted_peak_bytes(run, MemorySource::Process, &own).max(highest)
}

/// Of the process samplers read what is resident more often than the recorder notes it, and what the kernel counts.
fn counted_peak_bytes(run: &Run, source: MemorySource, readings: &[&MemoryReading]) -> Option<u64> {
    let counted = readings.iter().filter_map(|r| r.peak_bytes).max();
    let is_of_process = |series: &&marey::Series| {
        let names = ["process.memory.resident", "process.memory.peak"];
        source == MemorySource::Process && names.contains(&series.info.name.as_str())
    };
    let sampled = run.series.iter().filter(is_of_process);
    let sampled = sampled.flat_map(|series| &series.points).map(|p| p.max);
    let sampled = sampled.filter(|bytes| bytes.is_finite() && *bytes >= 0.0);
    let sampled = sampled.reduce(f64::max).map(whole);
    let highest = readings.iter().map(|r| r.allocated_bytes).max();
    let counted = counted.max(sampled)?;
    Some(counted.max(highest.unwrap_or_default()))
}

/// `process`, or `cuda:` and the device's number.
pub fn memory_source_name(source: MemorySource) -> String {
    match source {
        MemorySource::Process => "process".into(),
        MemorySource::TorchCuda(device) => format!("cuda:{device}"),
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde calls")]
fn source_name<S: Serializer>(source: &MemorySource, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&memory_source_name(*source))
}

#[cfg(test)]
mod tests;
