//! Where was the program when it failed or was killed?
//!
//! ```text
//! denoise     |-----------------------x       left by the error, and nothing began at its level afterwards
//!   step       |- 0 -||- 1 -| … |- 7 x        likewise: denoise, step 7
//! ```
//!
//! A section that an error left and another one followed is none of it: the program caught that error.

use marey::{NodeKind, OpenSection, Run, Section};

use crate::intervals::Interval;
use crate::section_lookup::main_thread;

/// What was open when the main thread stopped.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stop {
    /// From the outermost to the innermost section; empty when it was in none.
    pub path: Vec<StoppedIn>,
    /// How long the innermost one had run; `None` when it was in none.
    pub innermost_ns: Option<u64>,
}

/// A section that was not left as it should have been.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoppedIn {
    /// Index into `Run::nodes`.
    pub node: u32,
    /// Of an iteration: how many came before it in its loop.
    pub turn: Option<u64>,
}

/// Where the main thread was at the end: in sections that were still open, else in those that an error left.
pub fn stop(run: &Run) -> Stop {
    let thread = main_thread(run);
    let open = open_calls(run, thread);
    let calls = if open.is_empty() { failed_calls(run, thread) } else { open };
    let mut around = Interval { start_ns: 0, end_ns: u64::MAX };
    let mut found = Stop::default();
    for (node, call) in calls {
        found.path.push(StoppedIn { node, turn: turn(run, thread, node, around, call) });
        found.innermost_ns = Some(call.length_ns());
        around = call;
    }
    found
}

/// Sections of the thread that had not ended, outermost first.
fn open_calls(run: &Run, thread: u32) -> Vec<(u32, Interval)> {
    let is_own = |open: &&OpenSection| open.thread.is_none_or(|other| other == thread);
    let call =
        |open: &OpenSection| Interval { start_ns: open.start_ns, end_ns: open.end_ns(run.wall_ns) };
    let own = run.open.iter().filter(is_own);
    let mut calls: Vec<_> = own.map(|open| (open.node, call(open))).collect();
    calls.sort_by_key(|(node, call)| (call.start_ns, *node));
    calls
}

/// The last section of each level, as long as an error left it.
fn failed_calls(run: &Run, thread: u32) -> Vec<(u32, Interval)> {
    let mut found: Vec<(u32, Interval)> = Vec::new();
    loop {
        let (parent, around) = match found.last() {
            Some((node, call)) => (*node, (call.start_ns, call.end_ns)),
            None => (0, (0, u64::MAX)),
        };
        let is_below = |section: &&Section| {
            let node = run.nodes.get(section.node as usize);
            section.thread == thread
                && node.is_some_and(|node| node.parent == Some(parent))
                && around.0 <= section.start_ns
                && section.end_ns <= around.1
        };
        let below = run.sections.iter().filter(is_below);
        let last = below.max_by_key(|section| (section.end_ns, section.start_ns));
        let Some(last) = last.filter(|last| last.is_failed) else {
            return found;
        };
        found.push((last.node, Interval::of(last)));
    }
}

/// Iterations of this node that ended before the call, within what is around it.
fn turn(run: &Run, thread: u32, node: u32, around: Interval, call: Interval) -> Option<u64> {
    let kind = run.nodes.get(node as usize)?.kind;
    let is_before = |section: &&Section| {
        section.node == node
            && section.thread == thread
            && around.start_ns <= section.start_ns
            && section.end_ns <= call.start_ns
    };
    let before = run.sections.iter().filter(is_before).count() as u64;
    (kind == NodeKind::Iteration).then_some(before)
}

#[cfg(test)]
mod tests {
    use super::*;
    use marey_testing::RunBuilder;

    /// Marks the calls of a name that end at a moment as left by an error.
    fn failed(run: &mut Run, end_ns: u64) {
        let ended = run.sections.iter_mut().filter(|s| s.end_ns == end_ns);
        ended.for_each(|section| section.is_failed = true);
    }

    fn named(run: &Run) -> Vec<(String, Option<u64>)> {
        let path = stop(run).path.into_iter();
        path.map(|at| (run.nodes[at.node as usize].name.clone(), at.turn)).collect()
    }

    fn looped(end_ns: u64) -> RunBuilder {
        RunBuilder::new().section("load", 0, 10, |_| {}).section("denoise", 10, end_ns, |s| {
            s.iteration("step", 10, 20, |_| {});
            s.iteration("step", 20, 30, |_| {});
            s.iteration("step", 30, 40, |_| {});
        })
    }

    #[test]
    fn it_failed_in_what_the_error_left_last() {
        let mut run = looped(40).finish(50);
        assert_eq!(named(&run), []);
        failed(&mut run, 40);
        let expected = [("denoise".to_owned(), None), ("step".to_owned(), Some(2))];
        assert_eq!(named(&run), expected);
        assert_eq!(stop(&run).innermost_ns, Some(10));
    }

    #[test]
    fn an_error_that_was_caught_is_none() {
        let mut run = looped(40).section("again", 40, 45, |_| {}).finish(50);
        failed(&mut run, 40);
        assert_eq!(named(&run), []);
    }

    #[test]
    fn what_was_open_at_a_kill_is_where_it_was() {
        let run = RunBuilder::new()
            .section("load", 0, 10, |_| {})
            .open("denoise", 10, |s| {
                s.section("text", 11, 12, |_| {});
                s.open("decode", 15, |_| {});
            })
            .finish(50);
        let expected = [("denoise".to_owned(), None), ("decode".to_owned(), None)];
        assert_eq!(named(&run), expected);
        assert_eq!(stop(&run).innermost_ns, Some(35));
    }
}
