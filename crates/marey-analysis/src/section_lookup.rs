//! What the program did at a moment.

use std::cmp::Reverse;
use std::sync::OnceLock;

use marey::{Run, Section};
use serde::Serialize;

use crate::intervals::Interval;

/// When something was read, and what the program did then.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Moment {
    /// Since the start of the run; earlier than `end_ns` for a rate, and for readings that were put together.
    pub start_ns: u64,
    /// Since the start of the run.
    pub end_ns: u64,
    /// The innermost section that was open all that time, on the main thread if there was one: an index into `Run::nodes`.
    /// `None` when no recorded section was.
    pub node: Option<u32>,
}

/// Sections that are looked at together, or passed by together.
const IN_STRETCH: usize = 4096;

/// Finds the section in which something happened. Time: one look at each record, and for each moment one at the few stretches of the records
/// that reach over it.
pub(crate) struct SectionLookup<'a> {
    run: &'a Run,
    /// First start and last end of each stretch of sections.
    reaches: OnceLock<Vec<Interval>>,
    /// No section is looked at: every moment is in none.
    is_blind: bool,
    /// Number of names in each node's call path.
    depths: Vec<u32>,
    main_thread: u32,
}

/// The thread that the process began with, else the first that recorded something: an index into `Run::threads`.
pub(crate) fn main_thread(run: &Run) -> u32 {
    let is_main = |thread: &marey::Thread| thread.os_id == run.info.pid;
    let main_thread = run.threads.iter().position(is_main).unwrap_or(0);
    u32::try_from(main_thread).unwrap_or(0)
}

impl<'a> SectionLookup<'a> {
    pub(crate) fn new(run: &'a Run) -> Self {
        let mut depths: Vec<u32> = vec![0; run.nodes.len()];
        for (id, node) in run.nodes.iter().enumerate() {
            depths[id] = node.parent.map_or(0, |parent| depths[parent as usize] + 1);
        }
        Self {
            run,
            reaches: OnceLock::new(),
            is_blind: false,
            depths,
            main_thread: main_thread(run),
        }
    }

    /// For who does not ask in which section something happened: looking costs nothing, and finds nothing.
    pub(crate) fn blind(run: &'a Run) -> Self {
        Self { run, reaches: OnceLock::new(), is_blind: true, depths: Vec::new(), main_thread: 0 }
    }

    pub(crate) fn wall_ns(&self) -> u64 {
        self.run.wall_ns
    }

    /// The moment with its section.
    pub(crate) fn moment(&self, start_ns: u64, end_ns: u64) -> Moment {
        let time = Interval { start_ns, end_ns };
        let node = (!self.is_blind).then(|| self.innermost(time)).flatten();
        Moment { start_ns, end_ns, node }
    }

    fn reaches(&self) -> &[Interval] {
        self.reaches.get_or_init(|| {
            let stretches = self.run.sections.chunks(IN_STRETCH);
            let reach = |sections: &[Section]| Interval {
                start_ns: sections.iter().map(|s| s.start_ns).min().unwrap_or(0),
                end_ns: sections.iter().map(|s| s.end_ns).max().unwrap_or(0),
            };
            stretches.map(reach).collect()
        })
    }

    /// The deepest call path that was open all that time, of the main thread if there is one; of equals the one entered last.
    fn innermost(&self, time: Interval) -> Option<u32> {
        let stretches = self.run.sections.chunks(IN_STRETCH).zip(self.reaches());
        let completed = stretches
            .filter(|(_, reach)| reach.start_ns <= time.start_ns && time.end_ns <= reach.end_ns)
            .flat_map(|(sections, _)| sections)
            .map(|s| (Some(s.thread), s.node, s.start_ns, s.end_ns));
        let open = self.run.open.iter().map(|o| (o.thread, o.node, o.start_ns, o.until_ns));
        completed
            .chain(open)
            .filter(|(_, _, start_ns, end_ns)| *start_ns <= time.start_ns && time.end_ns <= *end_ns)
            .max_by_key(|(thread, node, start_ns, _)| {
                let is_main = *thread == Some(self.main_thread);
                let depth = self.depths.get(*node as usize).copied();
                (is_main, depth, *start_ns, Reverse(*node))
            })
            .map(|(_, node, _, _)| node)
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
        // worker  |-save-|        |-save-|
        let run = RunBuilder::new()
            .section("generate", 0, 25, |s| {
                s.section("step", 3, 8, |_| {});
                s.section("step", 10, 15, |_| {});
            })
            .thread("worker")
            .section("save", 9, 15, |s| {
                s.section("encode", 10, 14, |s| {
                    s.section("pack", 11, 13, |_| {});
                });
            })
            .section("save", 24, 30, |_| {})
            .finish(40);
        let places = SectionLookup::new(&run);
        let name = |start_ns, end_ns| {
            let node = places.moment(start_ns, end_ns).node?;
            Some(run.nodes[node as usize].name.as_str())
        };
        assert_eq!(name(12, 12), Some("step"));
        // A rate over both steps is in neither of them.
        assert_eq!(name(5, 12), Some("generate"));
        assert_eq!(name(27, 28), Some("save"));
        assert_eq!(name(35, 35), None);
    }
}
