//! Which step or block does a section lie in?

use std::collections::BTreeMap;

use marey::Section;

use super::process::Process;

/// Turns of one kind, by thread.
///
/// ```text
/// steps      |---- 0 ----|  |---- 1 ----|
/// sections    |a|  |b|     |c|   |d|        a, b: 0   c, which began before step 1: none   d: 1
/// ```
#[derive(Debug, Default)]
pub(super) struct Turns(BTreeMap<u32, Vec<Turn>>);

#[derive(Clone, Copy, Debug)]
struct Turn {
    start_ns: u64,
    end_ns: u64,
    number: u64,
}

impl Turns {
    /// Denoising steps whose duration is known.
    pub(super) fn of_steps(process: &Process) -> Self {
        let steps = process.diffusion().and_then(|found| found.steps.as_ref());
        let each = steps.map_or(&[][..], |steps| &steps.each);
        Self::of(each.iter().map(|step| (step.thread, step.end_ns, step.duration_ns, step.step)))
    }

    /// Blocks whose duration is known.
    pub(super) fn of_blocks(process: &Process) -> Self {
        let blocks = process.diffusion().and_then(|found| found.blocks.as_ref());
        let each = blocks.map_or(&[][..], |blocks| &blocks.each);
        Self::of(
            each.iter().map(|block| (block.thread, block.end_ns, block.duration_ns, block.index)),
        )
    }

    fn of(each: impl Iterator<Item = (u32, u64, Option<u64>, u64)>) -> Self {
        let mut by_thread: BTreeMap<u32, Vec<Turn>> = BTreeMap::new();
        for (thread, end_ns, duration_ns, number) in each {
            if let Some(duration_ns) = duration_ns {
                by_thread.entry(thread).or_default().push(Turn {
                    start_ns: end_ns.saturating_sub(duration_ns),
                    end_ns,
                    number,
                });
            }
        }
        for turns in by_thread.values_mut() {
            turns.sort_by_key(|turn| turn.start_ns);
        }
        Self(by_thread)
    }

    /// The number of the turn that a section lies in.
    pub(super) fn of_section(&self, section: &Section) -> Option<u64> {
        let turns = self.0.get(&section.thread)?;
        let begun = turns.partition_point(|turn| turn.start_ns <= section.start_ns);
        let turn = turns.get(begun.checked_sub(1)?)?;
        (section.end_ns <= turn.end_ns).then_some(turn.number)
    }
}
