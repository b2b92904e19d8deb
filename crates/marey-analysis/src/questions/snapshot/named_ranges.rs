//! Ranges that a program named while its memory was recorded, as sections of a run.

use std::collections::BTreeMap;

use marey::{Node, NodeKind, NodeTotals, OpenSection, Run, Section, Thread};

use crate::import::snapshot::Snapshot;

/// Ranges that can be open at once: a file that nests deeper was made to.
const MAX_DEPTH: usize = 200;

/// The ranges of a device as a run that begins with the first event of its history; `None` when there are none. What began before
/// that begins with it, and an end without a beginning is none.
///
/// ```text
/// range ends   denoise[   step[   ]step       ]denoise   vae[
/// sections     |---------- denoise -----------|          |--- vae, open
///                         |-step--|
/// ```
pub(super) fn as_run(snapshot: &Snapshot, device: u32, first_us: u64) -> Option<Run> {
    let mut run = Run { threads: vec![Thread::default()], ..Run::default() };
    let root = added(&mut run, None, "");
    run.info.start_unix_ns = first_us.saturating_mul(1000);
    let mut known: BTreeMap<(u32, &str), u32> = BTreeMap::new();
    let mut open: Vec<(&str, u32, u64)> = Vec::new();
    for end in snapshot.range_ends.iter().filter(|end| end.device == device) {
        let at_ns = end.time_us.saturating_sub(first_us).saturating_mul(1000);
        run.wall_ns = run.wall_ns.max(at_ns);
        if end.is_start {
            if open.len() < MAX_DEPTH {
                let parent = open.last().map_or(root, |(_, node, _)| *node);
                let node = *known
                    .entry((parent, &end.name))
                    .or_insert_with(|| added(&mut run, Some(parent), &end.name));
                open.push((&end.name, node, at_ns));
            }
            continue;
        }
        let Some(place) = open.iter().rposition(|(name, ..)| *name == end.name) else {
            continue;
        };
        let (_, node, start_ns) = open.remove(place);
        run.sections.push(Section {
            node,
            start_ns,
            end_ns: at_ns.max(start_ns),
            ..Section::default()
        });
    }
    run.open = open
        .into_iter()
        .map(|(_, node, start_ns)| OpenSection {
            thread: Some(0),
            node,
            start_ns,
            until_ns: u64::MAX,
        })
        .collect();
    (run.nodes.len() > 1).then_some(run)
}

fn added(run: &mut Run, parent: Option<u32>, name: &str) -> u32 {
    let number = u32::try_from(run.nodes.len()).unwrap_or(u32::MAX);
    run.totals.push(NodeTotals::default());
    run.nodes.push(Node {
        parent,
        name: name.to_owned(),
        kind: NodeKind::Section,
        is_detached: false,
    });
    number
}
