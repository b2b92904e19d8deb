//! Which calls do what, as far as their names say?
//!
//! A name is cut into words as [`SectionKind`] does it; a phrase is some of these words one after the other. Of calls within one
//! another the outermost counts.
//!
//! ```text
//! |------- offload_transformer --------|     moves a model: this one
//!    |- to_cpu -|    |- to_cpu -|            as well, but its time is counted already
//! ```

use marey::profiling_config::{Preparation, SectionKind, words_of_name};
use marey::{NodeKind, Run};

use crate::intervals::{Interval, union};

/// Something that a section does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Work {
    /// It moves data between host and device.
    Moving,
    /// It moves a model off the device, or on to it when it is needed.
    Offloading,
    /// It waits for the device.
    Synchronising,
    /// It compiles, or tries variants of kernels.
    Compiling,
    /// It makes embeddings of a prompt.
    TextEncoding,
}

const OFFLOADING: [&str; 8] = [
    "offload",
    "offloading",
    "onload",
    "onloading",
    "swap in model",
    "swap out model",
    "load model to gpu",
    "unload",
];
const MOVING: [&str; 17] = [
    "to device",
    "to cuda",
    "to gpu",
    "to cpu",
    "to host",
    "h2d",
    "d2h",
    // H2D and D2H, cut before the second capital.
    "h d",
    "d h",
    "htod",
    "dtoh",
    "memcpy",
    "host to device",
    "device to host",
    "copy weights",
    "move weights",
    "upload weights",
];
const SYNCHRONISING: [&str; 9] = [
    "synchronize",
    "synchronise",
    "synchronization",
    "synchronisation",
    "cuda sync",
    "gpu sync",
    "device sync",
    "stream sync",
    "sync point",
];
/// Beside what the configuration takes for compiling.
const COMPILING: [&str; 3] = ["recompile", "recompilation", "inductor"];

impl Work {
    /// Whether a section of this name does it.
    pub(crate) fn is_of(self, name: &str) -> bool {
        let has = |phrases: &[&str]| has_phrase(&words_of_name(name), phrases);
        match self {
            Self::Moving => has(&MOVING) || has(&OFFLOADING),
            Self::Offloading => has(&OFFLOADING),
            Self::Synchronising => has(&SYNCHRONISING) || is_item(name),
            Self::Compiling => {
                Preparation::of(name) == Some(Preparation::Compile) || has(&COMPILING)
            }
            Self::TextEncoding => SectionKind::of(name) == Some(SectionKind::TextEncoding),
        }
    }
}

/// `.item()` of a tensor, which waits for it.
fn is_item(name: &str) -> bool {
    let last_part = name.trim_end_matches("()").rsplit('.').next();
    last_part == Some("item")
}

/// Whether one of the phrases is among the words, its words one after the other.
pub(crate) fn has_phrase(words: &[String], phrases: &[&str]) -> bool {
    phrases.iter().any(|phrase| {
        let wanted: Vec<&str> = phrase.split(' ').collect();
        words.windows(wanted.len()).any(|some| some == wanted)
    })
}

/// One recorded call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Call {
    /// Index into `Run::sections`.
    pub(crate) section: usize,
    /// Index into `Run::nodes`.
    pub(crate) node: u32,
    /// Index into `Run::threads`.
    pub(crate) thread: u32,
    /// When it was open.
    pub(crate) time: Interval,
}

/// Calls that were recorded one by one, ordered by start.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Calls {
    pub(crate) each: Vec<Call>,
    /// Calls that are in the totals only.
    pub(crate) n_missing: u64,
}

/// The calls of sections whose name `is_wanted`, the outermost of those within one another.
pub(crate) fn calls(run: &Run, is_wanted: impl Fn(&str) -> bool) -> Calls {
    let mut is_within = vec![false; run.nodes.len()];
    let mut is_chosen = vec![false; run.nodes.len()];
    for (id, node) in run.nodes.iter().enumerate() {
        // A parent has a smaller id than its children.
        let parent = node.parent.map_or(0, |parent| parent as usize);
        let is_named = id > 0 && node.kind == NodeKind::Section && is_wanted(&node.name);
        is_chosen[id] = is_named && !is_within[parent];
        is_within[id] = is_named || is_within[parent];
    }
    let mut n_missing = run
        .totals
        .iter()
        .zip(&is_chosen)
        .filter(|(_, chosen)| **chosen)
        .fold(0u64, |sum, (totals, _)| sum.saturating_add(totals.count));
    let mut each = Vec::new();
    for (index, section) in run.sections.iter().enumerate() {
        if is_chosen.get(section.node as usize) == Some(&true) {
            n_missing = n_missing.saturating_sub(1);
            each.push(Call {
                section: index,
                node: section.node,
                thread: section.thread,
                time: Interval::of(section),
            });
        }
    }
    each.sort_by_key(|call| (call.time, call.thread, call.section));
    Calls { each, n_missing }
}

impl Calls {
    /// Only those of a thread.
    pub(crate) fn of_thread(mut self, thread: u32) -> Self {
        self.each.retain(|call| call.thread == thread);
        self
    }

    /// Time with at least one of them open.
    pub(crate) fn time(&self) -> Vec<Interval> {
        union(self.each.iter().map(|call| call.time).collect())
    }

    /// The call path that took longest, the first of equals.
    pub(crate) fn longest_node(&self) -> Option<u32> {
        let mut by_node: std::collections::BTreeMap<u32, u64> = std::collections::BTreeMap::new();
        for call in &self.each {
            let sum = by_node.entry(call.node).or_default();
            *sum = sum.saturating_add(call.time.length_ns());
        }
        let longest =
            by_node.into_iter().max_by_key(|(node, sum)| (*sum, std::cmp::Reverse(*node)));
        longest.map(|(node, _)| node)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use marey_testing::RunBuilder;

    #[test]
    fn names_say_what_sections_do() {
        let cases = [
            (Work::Moving, "offload_transformer", true),
            (Work::Moving, "transformer.to_device", true),
            (Work::Moving, "copyH2D", true),
            (Work::Moving, "weights h2d", true),
            (Work::Moving, "offloaded_frames", false),
            (Work::Offloading, "to_cuda", false),
            (Work::Offloading, "vae.Onload", true),
            (Work::Synchronising, "torch.cuda.synchronize", true),
            (Work::Synchronising, "cudaStreamSynchronize", true),
            (Work::Synchronising, "loss.item()", true),
            (Work::Synchronising, "process_item", false),
            (Work::Synchronising, "sync_folder", false),
            (Work::Compiling, "compile_transformer", true),
            (Work::Compiling, "torch.compile", true),
            (Work::Compiling, "compiled_step", false),
            (Work::TextEncoding, "encode_prompt", true),
        ];
        for (work, name, expected) in cases {
            assert_eq!(work.is_of(name), expected, "{work:?} {name}");
        }
    }

    #[test]
    fn of_calls_within_one_another_the_outermost_counts() {
        // 0         10        20        30
        // |---offload---|     |to_cpu|
        //   |to_cpu|
        // worker   |to_cpu|
        let run = RunBuilder::new()
            .section("offload", 0, 14, |s| {
                s.section("to_cpu", 2, 9, |_| {});
            })
            .section("to_cpu", 20, 27, |_| {})
            .thread("worker")
            .section("to_cpu", 9, 16, |_| {})
            .finish(30);
        let all = calls(&run, |name| Work::Moving.is_of(name));
        let times: Vec<_> = all.each.iter().map(|c| (c.time.start_ns, c.time.end_ns)).collect();
        assert_eq!(times, [(0, 14), (9, 16), (20, 27)]);
        assert_eq!(all.longest_node(), Some(1), "14 each, the first of equals");
        let main = all.of_thread(0);
        assert_eq!(main.time().iter().map(Interval::length_ns).sum::<u64>(), 21);
        assert_eq!(main.n_missing, 0);
    }

    #[test]
    fn calls_that_are_in_the_totals_only_are_counted() {
        let mut run = RunBuilder::new().section("offload", 0, 14, |_| {}).finish(30);
        run.totals[1].count = 5;
        let found = calls(&run, |name| Work::Offloading.is_of(name));
        assert_eq!((found.each.len(), found.n_missing), (1, 4));
    }
}
