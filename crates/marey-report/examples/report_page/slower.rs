//! The drawn video again, with one stage slower and more memory in use: the candidate of a comparison.

use marey::Run;
use marey_testing::RunBuilder;

/// `run` with every call of `stage` 200 ms longer, and twice the memory in each reading.
pub(crate) fn slower(run: &Run, stage: &str) -> Run {
    let wall_ns = run.wall_ns + 200_000_000;
    let changed = RunBuilder::new().with(|candidate| {
        *candidate = run.clone();
        let nodes = &candidate.nodes;
        let is_slower = |node: u32| nodes[node as usize].name.starts_with(stage);
        for section in candidate.sections.iter_mut().filter(|section| is_slower(section.node)) {
            section.end_ns += 200_000_000;
        }
        for reading in &mut candidate.memory {
            reading.allocated_bytes *= 2;
            reading.peak_bytes = reading.peak_bytes.map(|bytes| bytes * 2);
        }
        candidate.info.command.push("--tiles".into());
    });
    changed.finish(wall_ns)
}
