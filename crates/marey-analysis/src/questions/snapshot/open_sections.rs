//! Which section was open when, for many moments.

use std::cmp::Reverse;

use marey::Run;

use crate::section_lookup::main_thread;

/// The innermost sections of the main thread over time.
///
/// ```text
/// time        0         10        20        30
/// generate    |------------------------|
/// step           |----|    |----|
/// innermost   |gen|step|gen|step| gen  |none
/// ```
pub(super) struct OpenSections {
    /// From when on which node is the innermost one; `None` when none is open.
    from: Vec<(u64, Option<u32>)>,
}

impl OpenSections {
    /// Time: n log n for n sections of the main thread.
    pub(super) fn new(run: &Run) -> Self {
        let main = main_thread(run);
        let completed = run.sections.iter().filter(|s| s.thread == main);
        let completed = completed.map(|s| (s.start_ns, s.end_ns, s.node));
        let open = run.open.iter().filter(|o| o.thread == Some(main));
        let open = open.map(|o| (o.start_ns, u64::MAX, o.node));
        let mut calls: Vec<(u64, u64, u32)> = completed.chain(open).collect();
        // Of those that begin together the outer one ends last; a parent has a smaller number.
        calls.sort_unstable_by_key(|(start, end, node)| (*start, Reverse(*end), *node));
        let mut found = Self { from: Vec::new() };
        let mut stack: Vec<(u64, u32)> = Vec::new();
        for (start, end, node) in calls {
            found.close(&mut stack, start);
            found.from.push((start, Some(node)));
            stack.push((end, node));
        }
        found.close(&mut stack, u64::MAX);
        found
    }

    /// Closes what ends at or before a moment. Sections of asyncio tasks may end in another order than they began: an inner one that
    /// outlasts an outer one stays.
    fn close(&mut self, stack: &mut Vec<(u64, u32)>, at_ns: u64) {
        while let Some((end, _)) = stack.last().filter(|(end, _)| *end <= at_ns) {
            let end = *end;
            stack.pop();
            while stack.last().is_some_and(|(outer, _)| *outer <= end) {
                stack.pop();
            }
            self.from.push((end, stack.last().map(|(_, node)| *node)));
        }
    }

    /// The innermost node that was open; a section is open from its start until just before its end.
    pub(super) fn at(&self, at_ns: u64) -> Option<u32> {
        let next = self.from.partition_point(|(from, _)| *from <= at_ns);
        self.from.get(next.checked_sub(1)?)?.1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use marey_testing::RunBuilder;

    #[test]
    fn a_moment_is_in_the_innermost_section_of_the_main_thread() {
        // 0         10        20        30
        // |------- generate -------|
        //    |step| |step|
        // worker |---- save ----|
        let run = RunBuilder::new()
            .section("generate", 0, 25, |s| {
                s.section("step", 3, 8, |_| {});
                s.section("step", 10, 15, |_| {});
            })
            .thread("worker")
            .section("save", 6, 20, |_| {})
            .finish(40);
        let open = OpenSections::new(&run);
        let name = |at| Some(run.nodes[open.at(at)? as usize].name.as_str());
        assert_eq!(name(0), Some("generate"));
        assert_eq!(name(3), Some("step"));
        assert_eq!(name(8), Some("generate"));
        assert_eq!(name(12), Some("step"));
        assert_eq!(name(24), Some("generate"));
        assert_eq!(name(25), None);
        assert_eq!(OpenSections::new(&Run::default()).at(5), None);
    }

    #[test]
    fn a_section_that_never_ended_is_open_for_ever() {
        let run = RunBuilder::new()
            .section("load", 0, 5, |_| {})
            .open("generate", 7, |s| {
                s.section("step", 8, 9, |_| {});
            })
            .finish(20);
        let open = OpenSections::new(&run);
        let name = |at| Some(run.nodes[open.at(at)? as usize].name.as_str());
        assert_eq!(name(6), None);
        assert_eq!(name(8), Some("step"));
        assert_eq!(name(1_000), Some("generate"));
    }
}
