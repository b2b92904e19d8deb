//! A process whose run becomes rows, and its call paths as texts.

use std::sync::{Arc, OnceLock};

use marey::Run;
use marey_analysis::{Diffusion, Thresholds, diffusion};

use crate::model::run_id;

/// A run, and what several tables say of it. It owns its run, so that rows can be made in another thread.
#[derive(Debug)]
pub struct Process {
    pub(super) run: Arc<Run>,
    /// Host, process id and start: no two runs share them.
    pub(super) id: String,
    /// Texts of call paths; same index as `Run::nodes`.
    pub(super) paths: Vec<Path>,
    diffusion: OnceLock<Option<Diffusion>>,
}

impl Process {
    /// Of a run.
    pub fn new(run: Arc<Run>) -> Self {
        Self { id: run_id(&run), paths: paths(&run), run, diffusion: OnceLock::new() }
    }

    /// Place in the job; `None` outside a job of several ranks.
    pub fn rank(&self) -> Option<u32> {
        self.run.info.rank
    }

    /// What processes of a job are ordered by: rank, then start, then process id.
    pub fn order(&self) -> (Option<u32>, u64, u32) {
        let info = &self.run.info;
        (info.rank, info.start_unix_ns, info.pid)
    }

    /// Process id.
    pub fn pid(&self) -> u32 {
        self.run.info.pid
    }

    /// Steps and blocks.
    pub(super) fn diffusion(&self) -> Option<&Diffusion> {
        let found = || diffusion(&self.run, &Thresholds::of(&self.run));
        self.diffusion.get_or_init(found).as_ref()
    }

    /// A time since the start of the run on the wall clock.
    pub(super) fn unix_ns(&self, ns: u64) -> Option<u64> {
        let start = self.run.info.start_unix_ns;
        (start > 0).then(|| start.saturating_add(ns))
    }

    pub(super) fn path(&self, node: u32) -> Option<&Path> {
        self.paths.get(node as usize)
    }

    pub(super) fn name(&self, node: u32) -> Option<&str> {
        self.run.nodes.get(node as usize).map(|n| n.name.as_str())
    }

    pub(super) fn thread_name(&self, thread: u32) -> Option<&str> {
        let thread = self.run.threads.get(thread as usize)?;
        (!thread.name.is_empty()).then_some(thread.name.as_str())
    }

    pub(super) fn session_name(&self, session: Option<u32>) -> Option<&str> {
        let session = self.run.sessions.get(session? as usize)?;
        Some(session.name.as_str())
    }
}

/// Longest text of a path in bytes. A recursion may be thousands of names deep.
const MAX_BYTES: usize = 4096;
const BETWEEN: &str = " / ";
const LEFT_OUT: &str = " / … / ";

/// The text of a call path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Path {
    /// `denoise / attention`. Of one that is too long the middle is left out: it ends with the node's own name.
    pub(super) text: String,
    /// Names above its own.
    pub(super) depth: u64,
    /// Where the middle was left out.
    cut: Option<usize>,
}

/// Texts of all nodes; same index as `Run::nodes`.
fn paths(run: &Run) -> Vec<Path> {
    let mut paths: Vec<Path> = Vec::with_capacity(run.nodes.len());
    for node in &run.nodes {
        // A parent has a smaller id. The root, which has no name, is in no path.
        let parent = node.parent.filter(|parent| *parent > 0);
        let path = match parent.and_then(|parent| paths.get(parent as usize)) {
            Some(parent) => below(parent, &node.name),
            None => Path { text: node.name.clone(), ..Path::default() },
        };
        paths.push(path);
    }
    paths
}

fn below(parent: &Path, name: &str) -> Path {
    let depth = parent.depth.saturating_add(1);
    if parent.text.len() + BETWEEN.len() + name.len() <= MAX_BYTES {
        return Path { text: [&parent.text, BETWEEN, name].concat(), depth, cut: parent.cut };
    }
    let room = MAX_BYTES.saturating_sub(LEFT_OUT.len() + name.len());
    let kept = parent.cut.unwrap_or(parent.text.len()).min(room);
    let cut = parent.text.floor_char_boundary(kept);
    Path { text: [&parent.text[..cut], LEFT_OUT, name].concat(), depth, cut: Some(cut) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use marey::{Node, NodeKind};

    fn run_of(names: &[(&str, Option<u32>)]) -> Run {
        let node = |(name, parent): &(&str, Option<u32>)| Node {
            parent: *parent,
            name: (*name).into(),
            kind: NodeKind::Section,
            is_detached: false,
        };
        Run { nodes: names.iter().map(node).collect(), ..Run::default() }
    }

    #[test]
    fn a_path_has_the_names_from_the_outermost_section_on() {
        let run = run_of(&[("", None), ("a", Some(0)), ("b", Some(1)), ("c", Some(0))]);
        let found = paths(&run);
        let found: Vec<_> = found.iter().map(|p| (p.text.as_str(), p.depth)).collect();
        assert_eq!(found, [("", 0), ("a", 0), ("a / b", 1), ("c", 0)]);
    }

    #[test]
    fn a_path_that_is_too_long_keeps_its_beginning_and_its_end() {
        let long = "é".repeat(500);
        let mut names = vec![("", None), ("top", Some(0))];
        for depth in 1..40 {
            names.push((long.as_str(), Some(depth)));
        }
        names.push(("end", Some(40)));
        let run = run_of(&names);
        let found = paths(&run);
        assert!(found.iter().all(|path| path.text.len() <= MAX_BYTES));
        let last = &found[41];
        assert!(last.text.starts_with("top / é"), "{}", last.text);
        assert!(last.text.ends_with("é / … / end") || last.text.ends_with("é / end"));
        assert_eq!(last.text.matches('…').count(), 1);
        assert_eq!(last.depth, 40);
    }
}
