//! What Rust programs hold while a section, an iteration or a session is open.

use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::call_paths::NameId;
use super::lane::{Ending, Lane};
use super::layout::{high, low};
use super::slots::{Current, Slot};
use super::{Recorder, StartedSession, lane, recorder};
use crate::clock;
use crate::note::Note;
use crate::run::{NodeKind, Outcome};
use crate::value::{Attributes, Value};

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
        Self { name, kind, id: OnceLock::new(), last: AtomicU64::new(u64::MAX) }
    }

    /// Opens a section here.
    #[expect(clippy::inline_always, reason = "a section that is off has to cost next to nothing")]
    #[inline(always)]
    pub fn enter(&self) -> SectionGuard {
        let Some(lane) = lane() else {
            return SectionGuard::off();
        };
        let parent = lane.current().node;
        let last = self.last.load(Relaxed);
        let node = if high(last) == parent {
            low(last)
        } else {
            match self.find(lane, parent) {
                Some(node) => node,
                None => return SectionGuard::off(),
            }
        };
        SectionGuard::open(lane, node)
    }

    /// As [`Self::enter`], with attributes, which cost a note.
    pub fn enter_with(&self, attributes: Attributes) -> SectionGuard {
        let guard = self.enter();
        guard.note(attributes);
        guard
    }

    /// The node; `None` when sections of this name are switched off ([`crate::ProfilingConfig::records`]).
    #[cold]
    fn find(&self, lane: &Lane, parent: u32) -> Option<u32> {
        if !lane.recorder().records(self.name) {
            return None;
        }
        let id = *self.id.get_or_init(|| lane.recorder().name(self.name.as_bytes()));
        let node = lane.node(id, self.kind, false);
        self.last.store(u64::from(parent) << 32 | u64::from(node), Relaxed);
        Some(node)
    }
}

/// An open section or iteration; it ends when this is dropped. Belongs to the thread that opened it.
#[derive(Debug)]
#[must_use = "the section ends when the guard is dropped"]
pub struct SectionGuard {
    lane: Option<&'static Lane>,
    slot: Option<Slot>,
    /// Instead of a slot, when more than 64 guards are open in the thread: recorded, but not named if the process is killed meanwhile.
    /// Taken out by `close`, so that a section that is off has nothing to drop.
    deep: ManuallyDrop<Option<Box<Deep>>>,
    thread_bound: PhantomData<*const ()>,
}

/// What a slot would hold.
#[derive(Debug)]
struct Deep {
    node: u32,
    start: u64,
    parent: Current,
}

impl SectionGuard {
    #[expect(clippy::inline_always, reason = "a section that is off has to cost next to nothing")]
    #[inline(always)]
    fn off() -> Self {
        Self { lane: None, slot: None, deep: ManuallyDrop::new(None), thread_bound: PhantomData }
    }

    #[expect(clippy::inline_always, reason = "a section that is off has to cost next to nothing")]
    #[inline(always)]
    fn open(lane: &'static Lane, node: u32) -> Self {
        let Some(slot) = lane.take_guard_slot() else {
            return Self::open_deep(lane, node);
        };
        lane.enter(slot, node, lane.flow());
        Self {
            lane: Some(lane),
            slot: Some(slot),
            deep: ManuallyDrop::new(None),
            thread_bound: PhantomData,
        }
    }

    #[cold]
    fn open_deep(lane: &'static Lane, node: u32) -> Self {
        let parent = lane.current();
        lane.set_current(parent.with_node(node));
        let start = clock::ticks();
        Self {
            lane: Some(lane),
            slot: None,
            deep: ManuallyDrop::new(Some(Box::new(Deep { node, start, parent }))),
            thread_bound: PhantomData,
        }
    }

    pub(crate) fn note(&self, attributes: Attributes) {
        let Some(lane) = self.lane else { return };
        let opened = match (&*self.deep, self.slot) {
            (Some(deep), _) => Some((deep.start, deep.node)),
            (None, slot) => slot.and_then(Slot::opened),
        };
        if let Some((start_ticks, node)) = opened {
            lane.recorder().note(&Note::SectionAttributes { node, start_ticks, attributes });
        }
    }

    /// An attribute that is known only now. Costs a note.
    pub fn attribute(&self, name: &str, value: impl Into<Value>) {
        self.note(vec![(name.into(), value.into())]);
    }

    /// Ends the section, as failed where the result is an error, and hands the result on.
    pub fn ended<T, E>(self, result: Result<T, E>) -> Result<T, E> {
        if result.is_err() {
            self.fail();
        }
        result
    }

    /// Ends the section as left by an error.
    pub fn fail(mut self) {
        if let Some(lane) = self.lane.take() {
            self.close(lane, true);
        }
    }

    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "out of line, the guard would have to go through memory"
    )]
    fn close(&mut self, lane: &'static Lane, is_failed: bool) {
        let ending = Ending { is_failed, flow: lane.flow(), has_pauses: false };
        if let Some(slot) = self.slot {
            lane.exit(slot, ending);
            lane.give_guard_slot(slot);
        } else if let Some(deep) = self.deep.take() {
            deep.close(lane, ending);
        }
    }
}

impl Deep {
    #[cold]
    fn close(&self, lane: &'static Lane, ending: Ending) {
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

impl Drop for SectionGuard {
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "as for `close`")]
    fn drop(&mut self) {
        if let Some(lane) = self.lane {
            self.close(lane, std::thread::panicking());
        }
    }
}

/// An open session; it ends when this is dropped.
#[derive(Debug)]
#[must_use = "the session ends when the guard is dropped"]
pub struct SessionGuard {
    open: Option<(&'static Recorder, StartedSession)>,
}

impl SessionGuard {
    pub(crate) fn open(name: &str, tags: Attributes) -> Self {
        let on = lane().and_then(|lane| Some((recorder()?, lane.flow())));
        let begin = |(recorder, flow): (&'static Recorder, u16)| {
            (recorder, recorder.start_session(name, tags, None, flow))
        };
        Self { open: on.map(begin) }
    }
}

impl Drop for SessionGuard {
    fn drop(&mut self) {
        if let Some((recorder, session)) = &self.open {
            let outcome = if std::thread::panicking() { Outcome::Failed } else { Outcome::Done };
            recorder.end_session(session, outcome);
        }
    }
}

/// Opens a section under a name that is only known at run time. Costs a lock and a hash of the name.
pub fn section_named(name: &str) -> SectionGuard {
    let Some(lane) = lane().filter(|lane| lane.recorder().records(name)) else {
        return SectionGuard::off();
    };
    let node = lane.node(lane.recorder().name(name.as_bytes()), NodeKind::Section, false);
    SectionGuard::open(lane, node)
}

/// Opens a section for the duration of the enclosing block; see [`crate`]. Attributes are `name = value` pairs.
#[macro_export]
macro_rules! section {
    ($($what:tt)+) => {
        $crate::__site!(Section, $($what)+)
    };
}

/// Opens one iteration of a loop for the duration of the enclosing block; the name is the loop's.
#[macro_export]
macro_rules! iteration {
    ($($what:tt)+) => {
        $crate::__site!(Iteration, $($what)+)
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __site {
    ($kind:ident, $name:literal $(,)?) => {{
        static SITE: $crate::Site = $crate::Site::new($name, $crate::NodeKind::$kind);
        SITE.enter()
    }};
    ($kind:ident, $name:literal, $($key:ident = $value:expr),+ $(,)?) => {{
        static SITE: $crate::Site = $crate::Site::new($name, $crate::NodeKind::$kind);
        SITE.enter_with(if $crate::is_on() {
            vec![$((stringify!($key).to_string(), $crate::Value::from($value))),+]
        } else {
            ::std::vec::Vec::new()
        })
    }};
}
