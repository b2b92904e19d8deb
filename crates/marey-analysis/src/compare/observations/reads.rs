//! What the process read from storage while a section was open: where each call was read at both ends, and nowhere else.

use std::collections::BTreeMap;

use super::{Asked, Observations};
use crate::compare::{MeasureKind, Subject};
use crate::intervals::{Interval, union};
use crate::questions::section_resources::{UsedResources, used_resources};
use crate::records::Records;
use crate::stats::float;

pub(super) fn observe(asked: &Asked<'_>, found: &mut Observations) {
    let rows = used_resources(asked.run);
    let rows: BTreeMap<usize, &UsedResources> =
        rows.iter().map(|row| (row.node as usize, row)).collect();
    let records = Records::new(asked.run, |node| node > 0);
    for (path, nodes) in asked.section_paths() {
        let whole = |node: &usize| rows.get(node).filter(|row| row.is_whole());
        let bytes: Option<u64> = nodes
            .iter()
            // Beside others only what the section's own thread read is known to be its.
            .map(|node| {
                let row = whole(node)?;
                row.process.or(row.thread)?.read_bytes
            })
            .sum();
        let open = union(records.of_all(nodes));
        let open_ns: u64 = open.iter().map(Interval::length_ns).sum();
        let Some(bytes) = bytes.filter(|_| open_ns > 0).map(float) else {
            continue;
        };
        let of = || Subject::Path(path.clone());
        found.add(MeasureKind::SectionReadRate, of(), Some(bytes * 1e9 / float(open_ns)));
        found.add(MeasureKind::SectionBytesRead, of(), Some(bytes));
    }
}
