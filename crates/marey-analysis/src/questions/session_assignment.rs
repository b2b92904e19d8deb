//! Which session does something belong to?
//!
//! ```text
//! time       0         10        20        30        40
//! session A  |--------------------------------|            begun in thread 1
//! session B                |------|                        begun in thread 2
//! session C           |-- C, in A ---|                     begun in thread 1
//! thread 1    |- a -|  |- c -|      |-- a --|   |- none -|
//! thread 2                  |- b -|
//! thread 3   |- a ---|       |none|           |none|
//! thread 4     |--- for B (said so) ----|
//!                   |- b -|
//! thread 5            |- b -|   |none|                     started in B
//! ```
//!
//! The first of these rules that answers:
//!
//! 1. What was recorded for a session belongs to it: what a task or `asyncio.to_thread` opens outermost says whose it is, and so do
//!    events and decisions of caches, where the code that runs knows its session.
//! 2. A section belongs to what it lies within, in its own thread and flow: to the session that an enclosing section was
//!    opened for, to the session that was begun there, or to that which the thread worked for, whichever is innermost.
//! 3. What a thread begins that was started in a session belongs to that as long as it lasts, and then to those that it is nested in.
//! 4. Anything else belongs to the only session that was open then. Sessions that are nested in each other are one: the
//!    innermost that was open all the time.
//! 5. Otherwise it belongs to none: which one is not known.
//!
//! Records carry no flow. One without a session of its own belongs to the session that was begun in its thread when there
//! is only one such, or all such are nested; then rules 3 and 4 count.

use std::cell::Cell;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::OnceLock;

use marey::{OpenSection, Run, Section, Session};

use super::nesting::Nesting;
use super::open_sessions::OpenSessions;
use crate::intervals::Interval;

/// The innermost session of each section, by the section's place in `Run::sections`. Memory: 4 bytes a section.
#[derive(Debug, Default)]
pub struct SectionSessions(Vec<u32>);

impl SectionSessions {
    const NONE: u32 = u32::MAX;

    fn new(sessions: impl Iterator<Item = Option<u32>>) -> Self {
        let or_none = |session: Option<u32>| session.unwrap_or(Self::NONE);
        Self(sessions.map(or_none).collect())
    }

    /// An index into `Run::sessions`; `None` for a section that is not there, too.
    pub fn of(&self, section: usize) -> Option<u32> {
        let session = self.0.get(section).copied();
        session.filter(|session| *session != Self::NONE)
    }
}

/// Sessions of the sections of a run, and the rule for everything else.
#[derive(Debug)]
pub struct SessionAssignment<'a> {
    run: &'a Run,
    /// Found when first asked for.
    sections: OnceLock<SectionSessions>,
    open: OpenSessions,
    nesting: Nesting,
    /// By thread the session that it was started in.
    started_in: BTreeMap<u32, u32>,
}

impl<'a> SessionAssignment<'a> {
    /// No section is looked at before one is asked for.
    pub fn new(run: &'a Run) -> Self {
        Self {
            run,
            sections: OnceLock::new(),
            open: OpenSessions::new(run),
            nesting: Nesting::new(&run.sessions),
            started_in: started_in(run),
        }
    }

    /// The innermost session of a recorded section; an index into `Run::sessions`.
    pub fn of_section(&self, section: usize) -> Option<u32> {
        self.sections().of(section)
    }

    /// The sessions of all sections, without what found them.
    pub fn into_sections(self) -> SectionSessions {
        self.sections();
        self.sections.into_inner().unwrap_or_default()
    }

    /// Finds the session of every section. Time: for each the logarithm of the number of sessions; for those that lie in no session of their own
    /// thread a look at the sessions that were open then.
    fn sections(&self) -> &SectionSessions {
        let are_none = self.run.sessions.is_empty();
        self.sections.get_or_init(|| {
            if are_none { SectionSessions::default() } else { self.place_sections() }
        })
    }

    /// The innermost session of a record. `said` is what the record says itself; `thread` is `None` when not known.
    pub fn of_record(&self, said: Option<u32>, thread: Option<u32>, at_ns: u64) -> Option<u32> {
        if said.is_some_and(|session| (session as usize) < self.run.sessions.len()) {
            return said;
        }
        let moment = Interval { start_ns: at_ns, end_ns: at_ns };
        let of_thread = |session: &u32| {
            let session = &self.run.sessions[*session as usize];
            Some(session.thread) == thread && session.flow != Session::IN_NO_FLOW
        };
        let open = self.open.at(at_ns);
        let begun_here: Vec<u32> = open.iter().copied().filter(of_thread).collect();
        self.only_one(&begun_here, moment)
            .or_else(|| self.elsewhere(thread, moment, || self.only_one(&open, moment)))
    }

    /// The session of what lies in none of its own thread: that which the thread was started in, `otherwise` where it was started in none.
    fn elsewhere(
        &self,
        thread: Option<u32>,
        time: Interval,
        otherwise: impl FnOnce() -> Option<u32>,
    ) -> Option<u32> {
        match thread.and_then(|thread| self.started_in.get(&thread)) {
            None => otherwise(),
            Some(session) => self.chain(*session).find(|session| {
                let open = self.interval(*session);
                open.start_ns <= time.start_ns && time.start_ns <= open.end_ns
            }),
        }
    }

    /// The innermost session of a section that had not ended.
    pub fn of_open_section(&self, open: &OpenSection) -> Option<u32> {
        self.of_record(None, open.thread, open.start_ns)
    }

    /// The session and those that it is nested in, innermost first.
    pub fn chain(&self, session: u32) -> impl Iterator<Item = u32> + '_ {
        self.nesting.chain(session)
    }

    /// The outermost of those.
    pub(crate) fn outermost(&self, session: Option<u32>) -> Option<u32> {
        self.chain(session?).last()
    }

    pub(crate) fn nesting(&self) -> &Nesting {
        &self.nesting
    }

    /// From start to end, or to the end of the run.
    pub(crate) fn interval(&self, session: u32) -> Interval {
        super::open_sessions::interval(self.run, session)
    }

    /// The innermost of the sessions that were open all that time, if all that were open then are nested with it.
    fn only_one(&self, open: &[u32], time: Interval) -> Option<u32> {
        let lasts = |session: &&u32| contains(self.interval(**session), time);
        let key = |session: &&u32| {
            let start_ns = self.run.sessions[**session as usize].start_ns;
            (self.nesting.depth(**session), start_ns)
        };
        let innermost = *open.iter().filter(lasts).max_by_key(key)?;
        let is_nested = |other: &u32| {
            self.nesting.is_within(*other, innermost) || self.nesting.is_within(innermost, *other)
        };
        open.iter().all(is_nested).then_some(innermost)
    }

    fn place_sections(&self) -> SectionSessions {
        let run = self.run;
        let mut around: BTreeMap<(u32, u16), Vec<Enclosing>> = BTreeMap::new();
        for (number, session) in (0..).zip(&run.sessions) {
            if session.flow == Session::IN_NO_FLOW {
                continue;
            }
            let here = around.entry((session.thread, session.flow)).or_default();
            here.push(Enclosing {
                order: (session.start_ns, false, Reverse(0), 0, number as usize),
                end_ns: self.interval(number).end_ns,
                is_by_begin: false,
                session: number,
            });
        }
        for work in &run.session_work {
            let here = around.entry((work.thread, work.flow)).or_default();
            here.extend(work.end_ns.map(|end_ns| Enclosing {
                order: (work.start_ns, false, Reverse(0), 0, 0),
                end_ns,
                is_by_begin: true,
                session: work.session,
            }));
        }
        let mut said: BTreeMap<usize, u32> = BTreeMap::new();
        for given in &run.section_attributes {
            let known = given.session.filter(|s| (*s as usize) < run.sessions.len());
            let section = run.sections.get(given.section);
            if let (Some(session), Some(section)) = (known, section)
                && said.insert(given.section, session).is_none()
            {
                let here = around.entry((section.thread, section.flow)).or_default();
                here.push(Enclosing {
                    order: order(section, given.section),
                    end_ns: section.end_ns,
                    is_by_begin: false,
                    session,
                });
            }
        }
        let around: BTreeMap<_, Around> =
            around.into_iter().map(|(place, enclosing)| (place, Around::new(enclosing))).collect();
        let mut last = None;
        let placed = run.sections.iter().enumerate().map(|(index, section)| {
            // Mostly that of the section before.
            let place = (section.thread, section.flow);
            let here = match last {
                Some((known, here)) if known == place => here,
                _ => around.get(&place),
            };
            last = Some((place, here));
            let within = || here?.innermost(order(section, index), section.end_ns);
            let time = Interval::of(section);
            let known = said.get(&index).copied().or_else(within);
            let only_one = || self.only_one(&self.open.during(time), time);
            known.or_else(|| self.elsewhere(Some(section.thread), time, only_one))
        });
        SectionSessions::new(placed)
    }
}

/// Something that encloses sections of its thread and flow, and for which session: a session that was begun there, work for one, or a section
/// that was opened for one.
#[derive(Clone, Copy)]
struct Enclosing {
    order: Order,
    end_ns: u64,
    /// It encloses what begins before its end, also where that ends later.
    is_by_begin: bool,
    session: u32,
}

/// What comes later lies within what comes before it, if it ends no later: by start, sessions before sections, the longer section first, then the
/// one with the smaller node, which is the outer one.
type Order = (u64, bool, Reverse<u64>, u32, usize);

fn order(section: &Section, index: usize) -> Order {
    let end = Reverse(section.end_ns);
    (section.start_ns, true, end, section.node, index)
}

/// What encloses the sections of one thread and flow.
struct Around {
    /// In order.
    all: Vec<Enclosing>,
    /// Of each the last one before it that ends later.
    outer: Vec<Option<usize>>,
    /// How many had begun when the last section did: the next one, which ends later, mostly finds as many.
    n_begun: Cell<usize>,
}

impl Around {
    fn new(mut all: Vec<Enclosing>) -> Self {
        all.sort_by_key(|enclosing| enclosing.order);
        let mut outer: Vec<Option<usize>> = Vec::with_capacity(all.len());
        for enclosing in &all {
            let mut before = outer.len().checked_sub(1);
            while let Some(place) = before
                && all[place].end_ns <= enclosing.end_ns
            {
                before = outer[place];
            }
            outer.push(before);
        }
        Self { all, outer, n_begun: Cell::new(0) }
    }

    /// The session of the innermost that encloses a section. Time: the logarithm of their number, and how deep they are nested.
    fn innermost(&self, order: Order, end_ns: u64) -> Option<u32> {
        let mut next = self.begun_before(order).checked_sub(1);
        while let Some(place) = next {
            let enclosing = self.all[place];
            let until_ns = if enclosing.is_by_begin { order.0 } else { end_ns };
            if enclosing.end_ns >= until_ns {
                return Some(enclosing.session);
            }
            next = self.outer[place];
        }
        None
    }

    fn begun_before(&self, order: Order) -> usize {
        let (all, last) = (&self.all, self.n_begun.get());
        let is_so = |n: &usize| {
            *n <= all.len()
                && (*n == 0 || all[*n - 1].order < order)
                && all.get(*n).is_none_or(|enclosing| enclosing.order >= order)
        };
        let n_begun = [last, last + 1].into_iter().find(is_so);
        let n_begun = n_begun.unwrap_or_else(|| all.partition_point(|e| e.order < order));
        self.n_begun.set(n_begun);
        n_begun
    }
}

/// By thread the session that it was started in.
fn started_in(run: &Run) -> BTreeMap<u32, u32> {
    let started = run.session_work.iter().filter(|work| work.end_ns.is_none());
    started.map(|work| (work.thread, work.session)).collect()
}

fn contains(outer: Interval, inner: Interval) -> bool {
    outer.start_ns <= inner.start_ns && inner.end_ns <= outer.end_ns
}

#[cfg(test)]
mod tests;
