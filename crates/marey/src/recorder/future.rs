//! Sections of futures, which are suspended and go on, maybe on another thread.
//!
//! ```text
//! thread     ──serve──┬─poll─┐      ┌──poll─┐
//! section a           └──────┘ . . .└───────┘          one call, from its first poll to its end, with the time that it waits
//! section b                  ┌──poll─┐ . . . ┌─poll─┐  polled in turn with a: a flow of its own, beside what is around it
//! ```

use std::borrow::Cow;
use std::cell::RefCell;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU16, AtomicU32, Ordering::Relaxed};
use std::task::{Context, Poll};

use pin_project_lite::pin_project;

use super::lane::{Ending, Lane};
use super::slots::{Current, Slot};
use super::{Recorder, lane, recorder, recording_number};
use crate::clock;
use crate::note::Note;
use crate::run::{NodeKind, Session};
use crate::value::{Attributes, Value};

/// Sections of futures: what a guard cannot be, since it belongs to one thread.
pub trait InSection: Future + Sized {
    /// Records the future as one section, from its first poll until it is done, with what it waits for. It has failed when it panics or is
    /// dropped before. What it opens while it is polled goes under it, on whatever thread. Costs a lock and a hash of the name.
    fn in_section(self, name: impl Into<Cow<'static, str>>) -> Sectioned<Self> {
        Sectioned::new(self, name.into(), |_| false)
    }

    /// As [`Self::in_section`]; the section has failed where the result is an error, too.
    fn try_in_section<T, E>(self, name: impl Into<Cow<'static, str>>) -> Sectioned<Self>
    where
        Self: Future<Output = Result<T, E>>,
    {
        Sectioned::new(self, name.into(), Result::is_err)
    }
}

impl<F: Future> InSection for F {}

pin_project! {
    /// A future that is recorded as a section; see [`InSection`].
    #[must_use = "futures do nothing unless they are polled"]
    pub struct Sectioned<F: Future> {
        #[pin]
        future: F,
        // Until the first poll.
        opening: Option<(Cow<'static, str>, Attributes)>,
        section: Option<Open>,
        is_failed: fn(&F::Output) -> bool,
    }
}

impl<F: Future> Sectioned<F> {
    fn new(future: F, name: Cow<'static, str>, is_failed: fn(&F::Output) -> bool) -> Self {
        Self { future, opening: Some((name, Attributes::new())), section: None, is_failed }
    }

    /// An attribute of the section; nothing once it has begun.
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        if let Some((_, attributes)) = &mut self.opening {
            attributes.push((name.into(), value.into()));
        }
        self
    }
}

impl<F: Future> Future for Sectioned<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let this = self.project();
        if let Some((name, attributes)) = this.opening.take() {
            *this.section = Open::begin(&name, attributes);
        }
        let Some(section) = this.section else {
            return this.future.poll(context);
        };
        let polled = section.run(|| this.future.poll(context));
        if let Poll::Ready(output) = &polled
            && let Some(mut section) = this.section.take()
        {
            section.is_failed = (this.is_failed)(output);
        }
        polled
    }
}

/// The section of a future that has been polled. It ends when this is dropped.
#[derive(Debug)]
struct Open {
    /// The recording that it began in: no other one, and none of a forked child, has it.
    recording: u32,
    node: u32,
    start: u64,
    flow: u16,
    /// Names it if the process is killed; none where the table is full.
    slot: Option<Slot>,
    attributes: Attributes,
    is_failed: bool,
    /// What a section that is opened within it goes under.
    current: Current,
    /// Sections of futures that are open directly within it, and within what is around it.
    n_within: Arc<AtomicU32>,
    n_around: Option<Arc<AtomicU32>>,
}

thread_local! {
    /// Of the section whose future is polled.
    static N_WITHIN: RefCell<Option<Arc<AtomicU32>>> = const { RefCell::new(None) };
}

impl Open {
    /// Begins now. `None` where nothing of that name is recorded.
    fn begin(name: &str, attributes: Attributes) -> Option<Self> {
        let lane = lane().filter(|lane| lane.recorder().records(name))?;
        let n_around = N_WITHIN.try_with(|n_within| n_within.borrow().clone()).ok()?;
        // Within a section that waits for another future already this one is polled in turn with that.
        let is_beside = n_around.as_ref().is_none_or(|n| n.fetch_add(1, Relaxed) > 0);
        let flow = if is_beside { new_flow() } else { lane.flow() };
        let name = lane.recorder().name(name.as_bytes());
        let node = lane.node(name, NodeKind::Section, is_beside);
        let start = clock::ticks();
        let slot = take_slot(lane.recorder());
        let current = match slot {
            Some(slot) => lane.open(slot, node, flow, start),
            None => lane.current().with_node(node),
        };
        let n_within = Arc::default();
        Some(Self {
            recording: recording_number(),
            node,
            start,
            flow,
            slot,
            attributes,
            is_failed: true,
            current,
            n_within,
            n_around,
        })
    }

    /// The thread's lane, in the recording that has the section.
    fn lane(&self) -> Option<&'static Lane> {
        if self.recording == recording_number() { lane() } else { None }
    }

    /// Runs a part of the future within it.
    fn run<T>(&mut self, part: impl FnOnce() -> T) -> T {
        let Some(lane) = self.lane() else { return part() };
        let _running = Running::new(lane, self);
        part()
    }
}

/// While a part of a future runs. What was current before is so again when it returns or panics.
struct Running<'a> {
    section: &'a mut Open,
    lane: &'static Lane,
    around: Option<Arc<AtomicU32>>,
    before: (Current, u16),
}

impl<'a> Running<'a> {
    fn new(lane: &'static Lane, section: &'a mut Open) -> Self {
        let around = N_WITHIN.replace(Some(Arc::clone(&section.n_within)));
        let before = (lane.current(), lane.flow());
        lane.set_current(section.current);
        lane.set_flow(section.flow);
        Self { section, lane, around, before }
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.section.current = self.lane.current();
        self.lane.set_current(self.before.0);
        self.lane.set_flow(self.before.1);
        N_WITHIN.set(self.around.take());
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        if let Some(n_around) = &self.n_around {
            n_around.fetch_sub(1, Relaxed);
        }
        if let (Some(slot), Some(recorder)) = (self.slot, recorder()) {
            slot.close();
            recorder.lanes().free_slots.push(slot);
        }
        let Some(lane) = self.lane() else { return };
        let (node, start_ticks) = (self.node, self.start);
        if !self.attributes.is_empty() {
            let attributes = std::mem::take(&mut self.attributes);
            lane.recorder().note(&Note::SectionAttributes { node, start_ticks, attributes });
        }
        let ending = Ending { flow: self.flow, is_failed: self.is_failed, has_pauses: false };
        lane.complete(node, start_ticks, clock::ticks(), ending);
    }
}

/// Numbers wrap; 0 is the thread's own stack, and the last one is that of no flow.
pub fn new_flow() -> u16 {
    static N_FLOWS: AtomicU16 = AtomicU16::new(0);
    1 + N_FLOWS.fetch_add(1, Relaxed) % (Session::IN_NO_FLOW - 1)
}

fn take_slot(recorder: &Recorder) -> Option<Slot> {
    let free = recorder.lanes().free_slots.pop();
    free.or_else(|| recorder.slots.at(recorder.slots.take(1)?))
}
