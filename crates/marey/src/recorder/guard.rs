//! What Rust programs hold while a section, an iteration or a session is open.

use std::marker::PhantomData;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::call_paths::NameId;
use super::lane::{Ending, Lane};
use super::layout::{high, low};
use super::slots::Current;
use super::{Recorder, lane, recorder};
use crate::clock;
use crate::note::Note;
use crate::run::NodeKind;
use crate::value::Attributes;

/// One place in the source that opens sections: remembers the number of its name and of its last call path.
#[derive(Debug)]
pub struct Site {
    name: &'static str,
    kind: NodeKind,
    id: OnceLock<NameId>,
    /// Parent « 32 · node of the last call.
    last: AtomicU64,
}

impl Site {
    /// A place that opens sections or iterations of this name.
    pub const fn new(name: &'static str, kind: NodeKind) -> Self {
        Self {
            name,
            kind,
            id: OnceLock::new(),
            last: AtomicU64::new(u64::MAX),
        }
    }

    /// Opens a section here.
    #[inline]
    pub fn enter(&self) -> SectionGuard {
        let Some(lane) = lane() else {
            return SectionGuard::off();
        };
        let parent = lane.current().node;
        let last = self.last.load(Relaxed);
        let node = if high(last) == parent {
            low(last)
        } else {
            self.find(lane, parent)
        };
        SectionGuard::open(lane, node)
    }

    /// As [`Self::enter`], with attributes, which cost a note.
    pub fn enter_with(&self, attributes: Attributes) -> SectionGuard {
        let guard = self.enter();
        guard.note(attributes);
        guard
    }

    #[cold]
    fn find(&self, lane: &Lane, parent: u32) -> u32 {
        let id = *self
            .id
            .get_or_init(|| lane.recorder().name(self.name.as_bytes()));
        let node = lane.node(id, self.kind, false);
        self.last
            .store(u64::from(parent) << 32 | u64::from(node), Relaxed);
        node
    }
}

/// An open section or iteration; it ends when this is dropped. Belongs to the thread that opened it.
#[derive(Debug)]
#[must_use = "the section ends when the guard is dropped"]
pub struct SectionGuard {
    lane: Option<&'static Lane>,
    node: u32,
    start: u64,
    /// `None` when more than 64 guards are open in the thread: recorded, but not named if the process is killed meanwhile.
    slot: Option<u32>,
    parent: Current,
    thread_bound: PhantomData<*const ()>,
}

impl SectionGuard {
    #[inline]
    fn off() -> Self {
        Self {
            lane: None,
            node: 0,
            start: 0,
            slot: None,
            parent: Current::NONE,
            thread_bound: PhantomData,
        }
    }

    #[inline]
    fn open(lane: &'static Lane, node: u32) -> Self {
        let parent = lane.current();
        let slot = lane.take_guard_slot();
        let start = clock::ticks();
        match slot {
            Some(slot) => lane.enter_at(slot, node, 0, start),
            None => lane.set_current(parent.with_node(node)),
        }
        Self {
            lane: Some(lane),
            node,
            start,
            slot,
            parent,
            thread_bound: PhantomData,
        }
    }

    fn note(&self, attributes: Attributes) {
        if let Some(lane) = self.lane {
            let note = Note::SectionAttributes {
                node: self.node,
                start_ticks: self.start,
                attributes,
            };
            lane.recorder().note(&note);
        }
    }

    /// Marks the section as left by an error when it ends.
    pub fn fail(self) {
        self.end(true);
    }

    #[inline]
    fn end(mut self, is_failed: bool) {
        self.close(is_failed);
        self.lane = None;
    }

    #[inline]
    fn close(&self, is_failed: bool) {
        let Some(lane) = self.lane else { return };
        let ending = Ending {
            is_failed,
            ..Ending::default()
        };
        if let Some(slot) = self.slot {
            lane.exit(slot, ending);
            lane.give_guard_slot(slot);
        } else {
            lane.complete(self.node, self.start, clock::ticks(), ending);
            let (current, mine) = (lane.current(), self.parent.with_node(self.node));
            // Left out of order, it closes what was opened within it, but not what has become current since.
            let is_current = current == mine
                || current.link == mine.link
                    && lane.recorder().paths.is_within(current.node, mine.node);
            if is_current {
                lane.set_current(self.parent);
            }
        }
    }
}

impl Drop for SectionGuard {
    #[inline]
    fn drop(&mut self) {
        if self.lane.is_some() {
            self.close(std::thread::panicking());
        }
    }
}

/// An open session; it ends when this is dropped.
#[derive(Debug)]
#[must_use = "the session ends when the guard is dropped"]
pub struct SessionGuard {
    open: Option<(&'static Recorder, u64)>,
}

impl SessionGuard {
    pub(crate) fn open(name: &str, tags: Attributes) -> Self {
        let on = lane().and_then(|_| recorder());
        Self {
            open: on.map(|recorder| (recorder, recorder.start_session(name, tags))),
        }
    }
}

impl Drop for SessionGuard {
    fn drop(&mut self) {
        if let Some((recorder, session)) = self.open {
            recorder.end_session(session);
        }
    }
}

/// Opens a section under a name that is only known at run time. Costs a lock and a hash of the name.
pub fn section_named(name: &str) -> SectionGuard {
    let Some(lane) = lane() else {
        return SectionGuard::off();
    };
    let node = lane.node(
        lane.recorder().name(name.as_bytes()),
        NodeKind::Section,
        false,
    );
    SectionGuard::open(lane, node)
}

/// Opens a section for the duration of the enclosing block; see [`crate`]. Attributes are `name = value` pairs.
#[macro_export]
macro_rules! section {
    ($name:literal $(,)?) => {{
        static SITE: $crate::Site = $crate::Site::new($name, $crate::NodeKind::Section);
        SITE.enter()
    }};
    ($name:literal, $($key:ident = $value:expr),+ $(,)?) => {{
        static SITE: $crate::Site = $crate::Site::new($name, $crate::NodeKind::Section);
        SITE.enter_with(if $crate::is_on() {
            vec![$((stringify!($key).to_string(), $crate::Value::from($value))),+]
        } else {
            ::std::vec::Vec::new()
        })
    }};
}

/// Opens one turn of a loop for the duration of the enclosing block; the name is the loop's.
#[macro_export]
macro_rules! iteration {
    ($name:literal $(,)?) => {{
        static SITE: $crate::Site = $crate::Site::new($name, $crate::NodeKind::Iteration);
        SITE.enter()
    }};
    ($name:literal, $($key:ident = $value:expr),+ $(,)?) => {{
        static SITE: $crate::Site = $crate::Site::new($name, $crate::NodeKind::Iteration);
        SITE.enter_with(if $crate::is_on() {
            vec![$((stringify!($key).to_string(), $crate::Value::from($value))),+]
        } else {
            ::std::vec::Vec::new()
        })
    }};
}
