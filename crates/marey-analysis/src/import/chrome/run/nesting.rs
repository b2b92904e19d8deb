//! Rows of the host as sections of their threads.

use std::collections::BTreeMap;

use marey::{Node, NodeKind, Section, Thread};

use crate::import::chrome::{Class, Identifier, Meanings, Metadata, Trace};
use crate::questions::trace::HostRows;

/// Call paths that are told apart, as many as a page could show at all.
const MAX_NODES: usize = 100_000;
/// Sections that can be open on a thread at once: a file that nests deeper was made to.
const MAX_DEPTH: usize = 200;
/// Bytes of a name, as in captures.
const MAX_NAME: usize = 1024;

/// Sections, and what they are known by.
///
/// ```text
/// row      |----- a -----|           section  |----- a -----|
///             |--- python ---|                   |-- b ---|
///               |-- b ------|                            ↑ b is cut at the end of a; python is left out
/// ```
#[derive(Debug, Default)]
pub(super) struct Nesting {
    pub(super) nodes: Vec<Node>,
    pub(super) threads: Vec<Thread>,
    /// In order of their beginnings on each thread.
    pub(super) sections: Vec<Section>,
    /// Ranges and modules: what GPU time is counted for.
    pub(super) carriers: Vec<Carrier>,
    /// Of each row of the trace, the innermost carrier around it; [`NONE`] where there is none.
    carrier_of: Vec<u32>,
    /// Rows of Python functions that are no modules.
    pub(super) n_python: u64,
    /// Rows that were cut at the end of the one around them.
    pub(super) n_clipped: u64,
    /// Rows deeper than sections can be.
    pub(super) n_too_deep: u64,
    /// Rows under a node for all names beyond the most that are told apart.
    pub(super) n_without_name: u64,
    by_name: BTreeMap<(u32, u32), u32>,
    detail: Detail,
}

/// A range or module, as a section.
#[derive(Clone, Copy, Debug)]
pub(super) struct Carrier {
    pub(super) section: Section,
    parent: u32,
}

/// What becomes a section.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Detail {
    /// Everything that the host did.
    #[default]
    All,
    /// Ranges, modules, and operators that are in neither a module nor another operator.
    Outline,
    /// The same as if the trace had no modules.
    OutlineWithoutModules,
}

const NONE: u32 = u32::MAX;

/// What a name becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shown {
    /// A step that the program marked for torch's profiler.
    Step,
    /// A module of torch.
    Module,
    /// Anything else.
    Other,
}

impl Shown {
    fn of(name: &str) -> Self {
        match name {
            step if step.starts_with("ProfilerStep") => Self::Step,
            module if module.starts_with("nn.Module: ") => Self::Module,
            _ => Self::Other,
        }
    }
}

/// A section that is open.
#[derive(Clone, Copy)]
struct Open {
    node: u32,
    end_ns: u64,
    carrier: u32,
    /// What it holds is known by it: it is an operator or a module, or in one.
    is_told: bool,
}

impl Nesting {
    pub(super) fn new(trace: &Trace, detail: Detail) -> Self {
        let host = HostRows::new(trace);
        let mut nesting = Self {
            nodes: vec![Node {
                parent: None,
                name: String::new(),
                kind: NodeKind::Section,
                is_detached: false,
            }],
            carrier_of: vec![NONE; trace.rows.len()],
            detail,
            ..Self::default()
        };
        let mut known = Meanings::new(&trace.names);
        let mut shown = |row| {
            let shown = trace.rows.name_of(row).and_then(|name| known.of(name, Shown::of));
            shown.unwrap_or(Shown::Other)
        };
        for track in (0_u32..).take(trace.tracks.each.len()) {
            let rows = host.of_track(track);
            if !rows.is_empty() {
                nesting.add_thread(trace, track, rows, &mut shown);
            }
        }
        nesting.by_name = BTreeMap::new();
        nesting
    }

    /// The carriers around a row, from the inside to the outside.
    pub(super) fn around(&self, row: u32) -> impl Iterator<Item = u32> + '_ {
        let known = |at: u32| (at != NONE).then_some(at);
        let first = self.carrier_of.get(row as usize).copied().and_then(known);
        std::iter::successors(first, move |at| {
            let carrier = self.carriers.get(*at as usize)?;
            known(carrier.parent)
        })
    }

    /// Rows come by beginning, the longer first.
    fn add_thread(
        &mut self,
        trace: &Trace,
        track: u32,
        rows: &[u32],
        shown: &mut impl FnMut(u32) -> Shown,
    ) {
        let thread = u32::try_from(self.threads.len()).unwrap_or(NONE);
        self.threads.push(thread_of(trace, track));
        let mut open: Vec<Open> = Vec::new();
        for row in rows.iter().copied() {
            let (start_ns, row_end_ns) = (trace.rows.start_of(row), trace.rows.end_ns(row));
            while open.pop_if(|top| top.end_ns <= start_ns).is_some() {}
            let around = open.last().copied();
            let around_carrier = around.map_or(NONE, |around| around.carrier);
            if let Some(carrier) = self.carrier_of.get_mut(row as usize) {
                *carrier = around_carrier;
            }
            let class = trace.class_of(row);
            let shown = shown(row);
            let has_modules = self.detail != Detail::OutlineWithoutModules;
            if class == Class::PythonFunction && !(has_modules && shown == Shown::Module) {
                self.n_python += 1;
                continue;
            }
            let is_told = around.is_some_and(|around| around.is_told);
            let is_operator = class == Class::Operator && shown == Shown::Other;
            let is_outline = self.detail != Detail::All;
            if is_outline && (class == Class::Call || (is_operator && is_told)) {
                continue;
            }
            if open.len() >= MAX_DEPTH {
                self.n_too_deep += 1;
                continue;
            }
            let end_ns = around.map_or(row_end_ns, |around| row_end_ns.min(around.end_ns));
            self.n_clipped += u64::from(end_ns < row_end_ns);
            let node = self.node(trace, around.map_or(0, |around| around.node), row, shown);
            let section = Section {
                thread,
                node,
                start_ns,
                end_ns,
                flow: 0,
                is_failed: false,
                has_pauses: false,
            };
            self.sections.push(section);
            let mut carrier = around_carrier;
            if class == Class::Annotation || shown != Shown::Other {
                carrier = u32::try_from(self.carriers.len()).unwrap_or(NONE);
                self.carriers.push(Carrier { section, parent: around_carrier });
            }
            // Of two traces of one program, one may have steps and the other none: what is in a step is found all the same.
            let is_passed_over = is_outline && shown == Shown::Step;
            let of_what_is_in_it =
                if is_passed_over { around.map_or(0, |around| around.node) } else { node };
            open.push(Open {
                node: of_what_is_in_it,
                end_ns,
                carrier,
                is_told: is_told || is_operator || shown == Shown::Module,
            });
        }
    }

    /// The node of a row below a parent, a new one if it was not there.
    fn node(&mut self, trace: &Trace, parent: u32, row: u32, shown: Shown) -> u32 {
        // All steps are one node.
        let name = match shown {
            Shown::Step => NONE,
            _ => trace.rows.name_of(row).unwrap_or_default(),
        };
        if let Some(known) = self.by_name.get(&(parent, name)) {
            return *known;
        }
        let is_full = self.nodes.len() >= MAX_NODES;
        // The last number is that of steps, the one before that of all others together, below the root.
        let key = if is_full { (0, NONE - 1) } else { (parent, name) };
        self.n_without_name += u64::from(is_full);
        if let Some(known) = self.by_name.get(&key) {
            return *known;
        }
        let (kind, text) = match shown {
            _ if is_full => (NodeKind::Section, "(other)"),
            // What a schedule calls a step may be anything, a whole generation too: no rate can be made of it.
            Shown::Step if self.detail == Detail::All => (NodeKind::Section, "ProfilerStep"),
            Shown::Step => (NodeKind::Iteration, "ProfilerStep"),
            _ => (NodeKind::Section, trace.names.get(name)),
        };
        let id = u32::try_from(self.nodes.len()).unwrap_or(NONE);
        self.nodes.push(Node {
            parent: Some(key.0),
            name: cut(text).to_owned(),
            kind,
            is_detached: false,
        });
        self.by_name.insert(key, id);
        id
    }
}

fn cut(name: &str) -> &str {
    let end = name.floor_char_boundary(MAX_NAME);
    name.get(..end).unwrap_or_default()
}

/// What the trace calls a thread; of several documents with the rank that it is in.
fn thread_of(trace: &Trace, track: u32) -> Thread {
    let Some(track) = trace.tracks.each.get(track as usize) else {
        return Thread::default();
    };
    let os_id = track.tid.number().and_then(|tid| u32::try_from(tid).ok()).unwrap_or_default();
    let mut name = match (&track.name, track.tid) {
        (Some(name), _) => name.clone(),
        (None, Identifier::Text(_)) => trace.tracks.label(track.tid),
        (None, _) => String::new(),
    };
    let document = trace.document_of_process(track.process);
    if let Some(of) = Metadata::name_in(&trace.metadata, document) {
        if name.is_empty() {
            name = format!("thread {}", trace.tracks.label(track.tid));
        }
        name = format!("{of} · {name}");
    }
    Thread { os_id, name: cut(&name).to_owned() }
}
