//! How high memory went.

use std::collections::BTreeMap;

use marey::MemorySource;

use super::{Asked, Observations};
use crate::compare::call_path::Path;
use crate::compare::{MeasureKind, Subject};
use crate::memory_source_name;
use crate::stats::float;

pub(super) fn observe(asked: &Asked<'_>, found: &mut Observations) {
    observe_sections(asked, found);
    let memory = crate::memory(asked.run);
    for source in memory.iter().flat_map(|memory| &memory.sources) {
        let of = || Subject::Memory(memory_source_name(source.source));
        let peak = source.counted_peak_bytes.unwrap_or(0);
        let peak = peak.max(source.peak.allocated_bytes);
        found.add(MeasureKind::MemoryPeak, of(), Some(float(peak)));
        found.add(MeasureKind::MemoryReserved, of(), reserved(asked, source.source));
        found.add(MeasureKind::Fragmentation, of(), source.peak.fragmentation_ratio);
    }
}

/// What torch's allocator held at most during sections.
fn observe_sections(asked: &Asked<'_>, found: &mut Observations) {
    let paths: BTreeMap<usize, &Path> = asked
        .paths
        .iter()
        .flat_map(|(path, nodes)| nodes.iter().map(move |node| (*node, path)))
        .collect();
    let mut highest: BTreeMap<(&Path, MemorySource), u64> = BTreeMap::new();
    for row in crate::section_peaks(asked.run) {
        let path = paths.get(&(row.node as usize));
        // What was held at least says nothing of another run.
        if let Some(path) = path.filter(|_| !row.allocated.is_at_least) {
            let source = MemorySource::TorchCuda(row.device);
            let peak = highest.entry((path, source)).or_default();
            *peak = row.allocated.bytes.max(*peak);
        }
    }
    for ((path, source), bytes) in highest {
        let of = Subject::MemoryDuring { path: path.clone(), source: memory_source_name(source) };
        found.add(MeasureKind::SectionMemoryPeak, of, Some(float(bytes)));
    }
}

fn reserved(asked: &Asked<'_>, source: MemorySource) -> Option<f64> {
    let of_source = asked.run.memory.iter().filter(|r| r.source == source);
    of_source.filter_map(|r| r.reserved_bytes).max().map(float)
}
