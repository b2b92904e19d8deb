//! What did one session do? The run restricted to it, so that every question has an answer for it, too.
//!
//! ```text
//! run       0         10        20        30
//! session         |------ A ------|                 A: 0 to 16
//! sections    |-- none --|
//!                    |- in A -|                     3 to 11
//! power     ^    ^    ^    ^    ^    ^    ^         the readings that lie within it
//! ```
//!
//! A model that was named outside of a session, or in one that the session is nested in, stays what it is: the session has it, too, unless
//! that was after its end.

mod cut;
mod device_work;
mod in_full;
mod members;
mod pipelines;

use std::ops::Range;

use marey::{Generation, MemoryReading, Run};

use cut::{Cut, Parts};
use members::Members;
pub use pipelines::Pipeline;

use super::sections::{NotAvailable, Sections, UnderNoSection, sections};
use super::session_assignment::SessionAssignment;
use crate::intervals::Interval;

/// The sessions of a run, each as a run of its own.
#[derive(Debug)]
pub struct SessionRuns<'a> {
    run: &'a Run,
    assignment: SessionAssignment<'a>,
    sections: Members,
    open: Members,
    events: Members,
    memory: Members,
    counters: Members,
    cache_events: Members,
    generation: Members,
    /// Places of models in `Run::generation`, and whose they are.
    models: Vec<(usize, Option<u32>)>,
    windows: Members,
    n_missing: u64,
    /// Nodes of which calls are in the totals only.
    is_incomplete: Vec<bool>,
}

/// One session as a run.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionRun {
    /// Only what belongs to the session. It begins with the session and lasts as long. Its first session is this one; those
    /// that are nested in it follow. Totals are of recorded sections. Threads and nodes keep their numbers.
    pub run: Run,
    /// Sections of the run that were not recorded one by one: some of them may have been this session's, whose counts are
    /// then too low.
    pub n_sections_missing: u64,
    is_incomplete: Vec<bool>,
}

impl<'a> SessionRuns<'a> {
    /// Sorts everything that was recorded into sessions.
    pub fn new(run: &'a Run) -> Self {
        let losses = &run.losses;
        let n_missing = losses.sections_missing();
        let n_missing = n_missing.saturating_add(losses.sections_unrecorded);
        Self::with(run, n_missing, incomplete_nodes(run))
    }

    /// The same within one session: that one first, then those that are nested in it.
    pub fn within(session: &'a SessionRun) -> Self {
        let is_incomplete = session.is_incomplete.clone();
        Self::with(&session.run, session.n_sections_missing, is_incomplete)
    }

    /// Time: sorts of what was recorded, however many sessions there are and however deep they are nested.
    fn with(run: &'a Run, n_missing: u64, is_incomplete: Vec<bool>) -> Self {
        let assignment = SessionAssignment::new(run);
        let nesting = assignment.nesting();
        let of = |said, thread, at_ns| assignment.of_record(said, thread, at_ns);
        let sections = (0..run.sections.len()).map(|section| assignment.of_section(section));
        let open = run.open.iter().map(|open| assignment.of_open_section(open));
        let memory = run.memory.iter().map(|reading| {
            let is_its = !is_of_process(reading);
            is_its.then(|| of(reading.session, None, reading.at_ns)).flatten()
        });
        let events = run.events.iter();
        let cache_events = run.cache_events.iter();
        let generation = run.generation.iter();
        let places = generation.clone().enumerate();
        let models = places.filter(|(_, made)| matches!(made.what, Generation::Model(_)));
        let models = models.map(|(place, made)| {
            let whose = of(made.session, Some(made.thread), made.at_ns);
            (place, whose)
        });
        let windows = run.windows.iter();
        let counters = run.counters.iter();
        Self {
            run,
            models: models.collect(),
            sections: Members::new(nesting, sections),
            open: Members::new(nesting, open),
            memory: Members::new(nesting, memory),
            events: Members::new(
                nesting,
                events.map(|event| of(event.session, Some(event.thread), event.at_ns)),
            ),
            cache_events: Members::new(
                nesting,
                cache_events.map(|event| of(event.session, None, event.at_ns)),
            ),
            generation: Members::new(
                nesting,
                generation.map(|made| of(made.session, Some(made.thread), made.at_ns)),
            ),
            windows: Members::new(
                nesting,
                windows.map(|window| of(window.session, Some(window.thread), window.opened_ns)),
            ),
            counters: Members::new(
                nesting,
                counters.map(|reading| of(reading.session, None, reading.at_ns)),
            ),
            assignment,
            n_missing,
            is_incomplete,
        }
    }

    /// The session with this index into `Run::sessions`; `None` when there is none.
    pub fn get(&self, session: usize) -> Option<SessionRun> {
        let number = u32::try_from(session).ok()?;
        self.run.sessions.get(session)?;
        let time = self.assignment.interval(number);
        let places = self.assignment.nesting().places(number);
        let mut parts = self.parts(&[places], time);
        parts.generation.extend(self.models_around(number, time));
        parts.generation.sort_unstable();
        let cut = Cut { run: self.run, time, parts: &parts };
        Some(SessionRun {
            run: cut.run(),
            n_sections_missing: self.n_missing,
            is_incomplete: self.is_incomplete.clone(),
        })
    }

    /// Models that were known in a session without being its own: those of no session, and of the sessions around it.
    fn models_around(&self, session: u32, time: Interval) -> impl Iterator<Item = usize> {
        let around: Vec<u32> = self.assignment.chain(session).skip(1).collect();
        let models = self.models.iter().filter(move |(place, whose)| {
            let is_known = self.run.generation[*place].at_ns <= time.end_ns;
            is_known && whose.is_none_or(|whose| around.contains(&whose))
        });
        models.map(|(place, _)| *place)
    }

    /// As in [`SessionRun`]: the same for each of them.
    pub fn n_sections_missing(&self) -> u64 {
        self.n_missing
    }

    /// What belongs to the sessions of these places, which lie in this time.
    fn parts(&self, places: &[Range<u32>], time: Interval) -> Parts {
        let nesting = self.assignment.nesting();
        let all = places.iter().flat_map(|places| nesting.at(places));
        let mut sessions: Vec<usize> = all.map(|session| *session as usize).collect();
        sessions.sort_unstable();
        let is_during = |r: &MemoryReading| time.start_ns <= r.at_ns && r.at_ns <= time.end_ns;
        let readings = self.run.memory.iter().enumerate();
        let of_process = readings.filter(|(_, r)| is_of_process(r) && is_during(r));
        let mut memory = self.memory.within(places);
        memory.extend(of_process.map(|(index, _)| index));
        memory.sort_unstable();
        Parts {
            sections: self.sections.within(places),
            open: self.open.within(places),
            events: self.events.within(places),
            memory,
            counters: self.counters.within(places),
            cache_events: self.cache_events.within(places),
            generation: self.generation.within(places),
            windows: self.windows.within(places),
            sessions,
        }
    }
}

/// What the user read belongs to a session; what the recorder reads by itself is of the whole process, like a series: of every
/// session that was open then.
fn is_of_process(reading: &MemoryReading) -> bool {
    reading.label.is_none() && reading.session.is_none()
}

fn incomplete_nodes(run: &Run) -> Vec<bool> {
    let mut recorded = vec![0u64; run.nodes.len()];
    for section in &run.sections {
        if let Some(count) = recorded.get_mut(section.node as usize) {
            *count += 1;
        }
    }
    let counted = run.totals.iter().map(|totals| totals.count);
    recorded.iter().zip(counted).map(|(recorded, counted)| counted > *recorded).collect()
}

impl SessionRun {
    /// Where the time of the session went. Shares and self times are absent where calls are missing that may have been this
    /// session's.
    pub fn sections(&self) -> Sections {
        let mut found = sections(&self.run);
        if self.n_sections_missing == 0 {
            return found;
        }
        found.under_no_section =
            UnderNoSection::Unknown(NotAvailable::NotRecordedOneByOne(self.n_sections_missing));
        let mut is_doubtful = self.is_incomplete.clone();
        for (id, node) in self.run.nodes.iter().enumerate() {
            // A call that is missing is also missing in what its parent is without it.
            if let (true, Some(parent)) = (self.is_incomplete.get(id) == Some(&true), node.parent) {
                is_doubtful[parent as usize] = true;
            }
        }
        let is_set = |list: &[bool], node: u32| list.get(node as usize) == Some(&true);
        let mut doubtful_names = Vec::new();
        let mut incomplete_names = Vec::new();
        for row in &mut found.tree {
            if is_set(&is_doubtful, row.node) {
                row.self_ns = None;
                doubtful_names.push(row.name.clone());
            }
            if is_set(&self.is_incomplete, row.node) {
                row.share_of_wall_ratio = None;
                incomplete_names.push(row.name.clone());
            }
        }
        for row in &mut found.by_name {
            if doubtful_names.contains(&row.name) {
                row.self_ns = None;
            }
            if incomplete_names.contains(&row.name) {
                row.share_of_wall_ratio = None;
            }
        }
        found
    }
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "figures of a few round numbers are exact")]
mod tests;
