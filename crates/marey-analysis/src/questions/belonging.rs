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
//! ```
//!
//! The first of these rules that answers:
//!
//! 1. What was recorded for a session belongs to it.
//! 2. A section belongs to what it lies within, in its own thread and flow: to the session that an enclosing section was
//!    opened for, or to the session that was begun there, whichever is innermost.
//! 3. Anything belongs to the only session that was open then. Sessions that are nested in each other are one: the
//!    innermost that was open all the time.
//! 4. Otherwise it belongs to none: which one is not known.
//!
//! Records carry no flow. One without a session of its own belongs to the session that was begun in its thread when there
//! is only one such, or all such are nested; then rule 3 counts.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use marey::{OpenSection, Run, Section};

use super::nesting::Nesting;
use super::open_sessions::OpenSessions;
use crate::intervals::Interval;

/// Sessions of the sections of a run, and the rule for everything else.
#[derive(Debug)]
pub struct Belonging<'a> {
    run: &'a Run,
    /// By section.
    sections: Vec<Option<u32>>,
    open: OpenSessions,
    nesting: Nesting,
}

/// Something that encloses a section: since when, until when, and for which session.
#[derive(Clone, Copy)]
struct Enclosing {
    time: Interval,
    session: Option<u32>,
}

impl<'a> Belonging<'a> {
    /// Finds the session of every section. Time: a sort of the sections, and for those that lie in no session of their own
    /// thread a look at the sessions that were open then.
    pub fn new(run: &'a Run) -> Self {
        let mut belonging = Self::of_records(run);
        if !run.sessions.is_empty() {
            belonging.place_sections();
        }
        belonging
    }

    /// Only for [`Self::of_record`]: no section is looked at, and none has a session.
    pub(crate) fn of_records(run: &'a Run) -> Self {
        Self {
            run,
            sections: Vec::new(),
            open: OpenSessions::new(run),
            nesting: Nesting::new(&run.sessions),
        }
    }

    /// The innermost session of a recorded section; an index into `Run::sessions`.
    pub fn of_section(&self, section: usize) -> Option<u32> {
        *self.sections.get(section)?
    }

    /// The innermost session of a record. `said` is what the record says itself; `thread` is `None` when not known.
    pub fn of_record(&self, said: Option<u32>, thread: Option<u32>, at_ns: u64) -> Option<u32> {
        if said.is_some_and(|session| (session as usize) < self.run.sessions.len()) {
            return said;
        }
        let moment = Interval {
            start_ns: at_ns,
            end_ns: at_ns,
        };
        let of_thread = |session: &u32| Some(self.run.sessions[*session as usize].thread) == thread;
        let open = self.open.at(at_ns);
        let begun_here: Vec<u32> = open.iter().copied().filter(of_thread).collect();
        self.only_one(&begun_here, moment)
            .or_else(|| self.only_one(&open, moment))
    }

    /// The innermost session of a section that had not ended.
    pub fn of_open_section(&self, open: &OpenSection) -> Option<u32> {
        self.of_record(None, open.thread, open.start_ns)
    }

    /// The session and those that it is nested in, innermost first.
    pub fn chain(&self, session: u32) -> impl Iterator<Item = u32> + '_ {
        self.nesting.chain(session)
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

    fn place_sections(&mut self) {
        let run = self.run;
        let mut said: BTreeMap<usize, u32> = BTreeMap::new();
        for given in &run.section_attributes {
            let known = given.session.filter(|s| (*s as usize) < run.sessions.len());
            said.extend(known.map(|session| (given.section, session)));
        }
        let mut begun_in: BTreeMap<(u32, u16), Vec<u32>> = BTreeMap::new();
        for &session in self.open.in_order() {
            let begun = &run.sessions[session as usize];
            let here = begun_in.entry((begun.thread, begun.flow)).or_default();
            here.push(session);
        }
        let mut order: Vec<usize> = (0..run.sections.len()).collect();
        order.sort_by_key(|index| {
            let s = &run.sections[*index];
            (s.start_ns, Reverse(s.end_ns), s.node)
        });
        let mut lanes: BTreeMap<(u32, u16), Lane<'_>> = BTreeMap::new();
        let mut placed = vec![None; run.sections.len()];
        for index in order {
            let section = &run.sections[index];
            let key = (section.thread, section.flow);
            let lane = lanes.entry(key).or_insert_with(|| Lane {
                begun: begun_in.get(&key).map_or(&[][..], Vec::as_slice),
                enclosing: Vec::new(),
            });
            let time = interval(section);
            let within = lane.enter(self, time, said.get(&index).copied());
            placed[index] = within.or_else(|| self.only_one(&self.open.during(time), time));
        }
        self.sections = placed;
    }
}

/// What encloses the sections of one thread and flow, in order of their start.
struct Lane<'a> {
    /// Sessions that were begun here and are yet to come.
    begun: &'a [u32],
    /// Outermost first. What lies under one that still goes on may have ended.
    enclosing: Vec<Enclosing>,
}

impl Lane<'_> {
    /// Enters a section; returns the session that it was opened for, or lies within.
    fn enter(
        &mut self,
        belonging: &Belonging<'_>,
        time: Interval,
        said: Option<u32>,
    ) -> Option<u32> {
        let has_ended = |e: &mut Enclosing| e.time.end_ns < time.start_ns;
        while self.enclosing.pop_if(has_ended).is_some() {}
        while let Some((&session, rest)) = self.begun.split_first() {
            let of_session = belonging.interval(session);
            if of_session.start_ns > time.start_ns {
                break;
            }
            self.begun = rest;
            if of_session.end_ns >= time.start_ns {
                self.enclosing.push(Enclosing {
                    time: of_session,
                    session: Some(session),
                });
            }
        }
        let around = self.enclosing.iter().rev();
        let within = around
            .filter(|e| contains(e.time, time))
            .find_map(|e| e.session);
        // Only what says more than what encloses it is worth keeping.
        if said.is_some() {
            self.enclosing.push(Enclosing {
                time,
                session: said,
            });
        }
        said.or(within)
    }
}

fn interval(section: &Section) -> Interval {
    Interval {
        start_ns: section.start_ns,
        end_ns: section.end_ns,
    }
}

fn contains(outer: Interval, inner: Interval) -> bool {
    outer.start_ns <= inner.start_ns && inner.end_ns <= outer.end_ns
}

#[cfg(test)]
mod tests;
