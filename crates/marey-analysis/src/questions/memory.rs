//! Where was memory highest, and which sections made it grow?

use std::collections::BTreeMap;

use marey::{MemoryReading, MemorySource, Run};
use serde::{Serialize, Serializer};

use crate::intervals::Interval;
use crate::stats::ratio;

/// What the memory readings of a run say.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Memory {
    /// Readings that the user labelled, in order of time.
    pub labelled: Vec<LabelledReading>,
    /// Each source, process first, then devices.
    pub sources: Vec<SourceMemory>,
    /// Call paths during which memory was read, by node, then source.
    pub sections: Vec<SectionMemory>,
}

/// A reading that the user asked for.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LabelledReading {
    /// When, since the start of the run.
    pub at_ns: u64,
    /// As the user gave it; not safe to print.
    pub label: String,
    /// What was read.
    #[serde(serialize_with = "source_name")]
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
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SourceMemory {
    /// What was read.
    #[serde(serialize_with = "source_name")]
    pub source: MemorySource,
    /// Readings, labelled or not.
    pub n_readings: u64,
    /// The reading with the highest `allocated_bytes`, the earliest of equals.
    pub peak: MemoryPeak,
    /// Highest peak that the source itself counted, which may lie between two readings, or for the process a sampler read, if that is
    /// higher; `None` when neither was read.
    pub counted_peak_bytes: Option<u64>,
}

/// The highest reading.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MemoryPeak {
    /// When, since the start of the run.
    pub at_ns: u64,
    /// In use at that moment.
    pub allocated_bytes: u64,
    /// Its label, if it had one.
    pub label: Option<String>,
    /// Deepest call path that was open at that moment, as index into `Run::nodes`; of equals the one entered last.
    /// `None` when no recorded section was open.
    pub node: Option<u32>,
    /// Share of what the allocator holds that no tensor uses; `None` without reserved bytes.
    pub fragmentation_ratio: Option<f64>,
}

/// Memory during the calls of one call path.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SectionMemory {
    /// Index into `Run::nodes`.
    pub node: u32,
    /// What was read.
    #[serde(serialize_with = "source_name")]
    pub source: MemorySource,
    /// Readings during any of its calls.
    pub n_readings: u64,
    /// Highest `allocated_bytes` during any of its calls.
    pub peak_allocated_bytes: u64,
    /// Largest difference of the last and the first reading during one call; negative when all calls gave memory back.
    /// `None` unless one call saw two readings.
    pub largest_growth_bytes: Option<i64>,
    /// The same difference, summed over the calls that saw two readings.
    pub net_growth_bytes: Option<i64>,
    /// Calls that are only in the totals: what was read during them is not in this row.
    pub n_calls_missing: u64,
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
    let mut sections: Vec<SectionMemory> = by_source
        .iter()
        .flat_map(|(source, readings)| of_sections(run, *source, readings))
        .collect();
    sections.sort_by_key(|row| (row.node, row.source));
    Some(Memory {
        labelled: run.memory.iter().filter_map(labelled).collect(),
        sources: by_source
            .iter()
            .filter_map(|(source, readings)| of_source(run, *source, readings))
            .collect(),
        sections,
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

fn of_source(run: &Run, source: MemorySource, readings: &[&MemoryReading]) -> Option<SourceMemory> {
    let key = |r: &&&MemoryReading| (std::cmp::Reverse(r.allocated_bytes), r.at_ns);
    let peak = readings.iter().min_by_key(key)?;
    Some(SourceMemory {
        source,
        n_readings: readings.len() as u64,
        peak: MemoryPeak {
            at_ns: peak.at_ns,
            allocated_bytes: peak.allocated_bytes,
            label: peak.label.clone(),
            node: deepest_open(run, peak.at_ns),
            fragmentation_ratio: fragmentation_ratio(peak.allocated_bytes, peak.reserved_bytes),
        },
        counted_peak_bytes: counted_peak_bytes(run, source, readings),
    })
}

/// Samplers read the resident memory of the process more often than the recorder notes it.
fn counted_peak_bytes(run: &Run, source: MemorySource, readings: &[&MemoryReading]) -> Option<u64> {
    let counted = readings.iter().filter_map(|r| r.peak_bytes).max();
    let highest = readings.iter().map(|r| r.allocated_bytes).max();
    let is_of_process = |series: &&marey::Series| {
        source == MemorySource::Process && series.info.name == "process.memory.resident"
    };
    let sampled = run.series.iter().filter(is_of_process);
    let sampled = sampled.flat_map(|series| &series.points).map(|p| p.max);
    let sampled = sampled.filter(|bytes| bytes.is_finite() && *bytes >= 0.0);
    let sampled = sampled.reduce(f64::max).map(whole);
    // A sample that is no higher than the readings tells nothing new.
    counted.max(sampled.filter(|bytes| Some(*bytes) > highest))
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a number of bytes, not negative; saturates"
)]
fn whole(bytes: f64) -> u64 {
    bytes as u64
}

/// All recorded calls and all open ones, as node and interval.
fn calls(run: &Run) -> impl Iterator<Item = (u32, Interval)> + '_ {
    let completed = run.sections.iter().map(|section| {
        let interval = Interval {
            start_ns: section.start_ns,
            end_ns: section.end_ns,
        };
        (section.node, interval)
    });
    let open = run.open.iter().map(|open| {
        let interval = Interval {
            start_ns: open.start_ns,
            end_ns: u64::MAX,
        };
        (open.node, interval)
    });
    completed.chain(open)
}

fn deepest_open(run: &Run, at_ns: u64) -> Option<u32> {
    let mut depths: Vec<u32> = vec![0; run.nodes.len()];
    for (id, node) in run.nodes.iter().enumerate() {
        depths[id] = node.parent.map_or(0, |parent| depths[parent as usize] + 1);
    }
    calls(run)
        .filter(|(_, call)| call.start_ns <= at_ns && at_ns <= call.end_ns)
        .max_by_key(|(node, call)| {
            let depth = depths.get(*node as usize).copied();
            (depth, call.start_ns, std::cmp::Reverse(*node))
        })
        .map(|(node, _)| node)
}

/// Time: a binary search for each call, and one look at each reading for each call that was open then.
fn of_sections(run: &Run, source: MemorySource, readings: &[&MemoryReading]) -> Vec<SectionMemory> {
    let mut rows: BTreeMap<u32, SectionMemory> = BTreeMap::new();
    for (node, call) in calls(run) {
        let from = readings.partition_point(|r| r.at_ns < call.start_ns);
        let until = readings.partition_point(|r| r.at_ns <= call.end_ns);
        let Some((first, last)) = readings[from..until].first().zip(readings[..until].last())
        else {
            continue;
        };
        let during = &readings[from..until];
        let row = rows.entry(node).or_insert_with(|| empty_row(node, source));
        row.n_readings += during.len() as u64;
        let highest = during.iter().map(|r| r.allocated_bytes).max().unwrap_or(0);
        row.peak_allocated_bytes = row.peak_allocated_bytes.max(highest);
        if during.len() >= 2 {
            let growth = difference(last.allocated_bytes, first.allocated_bytes);
            row.largest_growth_bytes = row.largest_growth_bytes.max(Some(growth));
            row.net_growth_bytes = Some(row.net_growth_bytes.unwrap_or(0).saturating_add(growth));
        }
    }
    let recorded = n_recorded(run);
    for row in rows.values_mut() {
        let node = row.node as usize;
        let counted = run.totals.get(node).map_or(0, |t| t.count);
        row.n_calls_missing = counted.saturating_sub(recorded.get(node).copied().unwrap_or(0));
    }
    rows.into_values().collect()
}

fn empty_row(node: u32, source: MemorySource) -> SectionMemory {
    SectionMemory {
        node,
        source,
        n_readings: 0,
        peak_allocated_bytes: 0,
        largest_growth_bytes: None,
        net_growth_bytes: None,
        n_calls_missing: 0,
    }
}

fn n_recorded(run: &Run) -> Vec<u64> {
    let mut recorded = vec![0; run.nodes.len()];
    for section in &run.sections {
        if let Some(count) = recorded.get_mut(section.node as usize) {
            *count += 1;
        }
    }
    recorded
}

fn difference(later: u64, earlier: u64) -> i64 {
    let difference = i128::from(later) - i128::from(earlier);
    let limit = if difference < 0 { i64::MIN } else { i64::MAX };
    i64::try_from(difference).unwrap_or(limit)
}

/// `process`, or `cuda:` and the device's number.
pub fn memory_source_name(source: MemorySource) -> String {
    match source {
        MemorySource::Process => "process".into(),
        MemorySource::TorchCuda(device) => format!("cuda:{device}"),
    }
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "the signature that serde calls"
)]
fn source_name<S: Serializer>(source: &MemorySource, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&memory_source_name(*source))
}

#[cfg(test)]
mod tests;
