//! Notes to the lists of the run.

use std::collections::{BTreeMap, HashMap};

use super::decode::RawNote;
use super::samples::Groups;
use crate::clock_map::ClockMap;
use crate::device_work::{GpuSpan, SectionKey, SectionMemory};
use crate::generation::GenerationRecord;
use crate::note::Note;
use crate::resources::SectionResources;
use crate::run::{CacheEvent, CounterReading, Event, MemoryReading, Run, Session, SessionWork};
use crate::window::Window;

/// Sessions by their number in the process.
#[derive(Debug, Default)]
pub(super) struct Sessions(HashMap<u64, u32>);

impl Sessions {
    /// The index of a session; `None` for a number that no session has.
    pub(super) fn index(&self, number: Option<u64>) -> Option<u32> {
        self.0.get(&number?).copied()
    }
}

/// Puts the sessions into the run, ordered by start.
pub(super) fn place_sessions(
    run: &mut Run,
    notes: &[RawNote],
    clock: &ClockMap,
    thread: &impl Fn(u32) -> u32,
) -> Sessions {
    let mut found: BTreeMap<u64, (Session, Option<u64>)> = BTreeMap::new();
    for raw in notes {
        let at_ns = clock.ns(raw.ticks);
        match &raw.note {
            Note::SessionStart(session) => {
                let thread = thread(raw.thread);
                let opened = Session { start_ns: at_ns, thread, ..session.clone() };
                found.insert(session.number, (opened, raw.session));
            }
            Note::SessionEnd { session, outcome, used } => {
                if let Some((session, _)) = found.get_mut(session) {
                    session.outcome = *outcome;
                    session.used = *used;
                    session.end_ns = Some(at_ns.max(session.start_ns));
                }
            }
            _ => {}
        }
    }
    let mut ordered: Vec<_> = found.into_iter().collect();
    ordered.sort_by_key(|(number, (session, _))| (session.start_ns, *number));
    let index = ordered.iter().map(|(number, _)| *number).zip(0..).collect();
    let sessions = Sessions(index);
    let within_parent = |(_, (session, parent)): (u64, (Session, Option<u64>))| Session {
        parent: sessions.index(parent),
        ..session
    };
    run.sessions = ordered.into_iter().map(within_parent).collect();
    sessions
}

/// Sorts the other notes into the lists of the run.
pub(super) fn place(
    run: &mut Run,
    notes: Vec<RawNote>,
    sessions: &Sessions,
    clock: &ClockMap,
    thread: &impl Fn(u32) -> u32,
) {
    let mut groups = Groups::default();
    let mut windows: BTreeMap<u64, Window> = BTreeMap::new();
    let n_nodes = run.nodes.len();
    let of_section = |section: SectionKey| {
        let is_known = (section.node as usize) < n_nodes;
        let place = || (thread(section.thread), section.node, clock.ns(section.start_ticks));
        is_known.then(place)
    };
    for raw in notes {
        let at_ns = clock.ns(raw.ticks);
        let session = sessions.index(raw.session);
        match raw.note {
            Note::Event(event) => {
                run.events.push(Event { at_ns, thread: thread(raw.thread), session, ..event });
            }
            Note::Memory(reading) => {
                run.memory.push(MemoryReading { at_ns, session, ..reading });
            }
            Note::Counter(reading) if reading.value.is_finite() => {
                run.counters.push(CounterReading { at_ns, session, ..reading });
            }
            Note::Cache(event) => run.cache_events.push(CacheEvent { at_ns, session, ..event }),
            Note::Generation(what) => {
                let (thread, flow) = (thread(raw.thread), raw.flow);
                run.generation.push(GenerationRecord { at_ns, thread, flow, session, what });
            }
            Note::Window { window, change } => {
                let place = windows.entry(window).or_insert_with(|| Window {
                    number: window,
                    thread: thread(raw.thread),
                    opened_ns: at_ns,
                    session,
                    ..Window::default()
                });
                place.change(at_ns, change);
            }
            Note::GpuSpan(section, span) => {
                let place = |(thread, node, start_ns)| GpuSpan { thread, node, start_ns, ..span };
                run.gpu_spans.extend(of_section(section).map(place));
            }
            Note::SectionMemory(section, figures) => {
                let place =
                    |(thread, node, start_ns)| SectionMemory { thread, node, start_ns, figures };
                run.section_memory.extend(of_section(section).map(place));
            }
            Note::SectionResources(section, used) => {
                let place =
                    |(thread, node, start_ns)| SectionResources { thread, node, start_ns, used };
                run.section_resources.extend(of_section(section).map(place));
            }
            Note::SessionWork { start_ticks, is_over, flow } => {
                run.session_work.extend(session.map(|session| SessionWork {
                    session,
                    thread: thread(raw.thread),
                    flow,
                    start_ns: clock.ns(start_ticks),
                    end_ns: is_over.then_some(at_ns),
                }));
            }
            Note::Series { group, index, info } => groups.define(group, index, info),
            Note::Samples(samples) => groups.add(samples, raw.ticks),
            Note::Unavailable(what) => run.unavailable.push(what),
            Note::Fact { key, value } => run.info.facts.push((key, value)),
            Note::Counter(_)
            | Note::Thread(..)
            | Note::SectionAttributes { .. }
            | Note::SessionStart(_)
            | Note::SessionEnd { .. } => {}
        }
    }
    run.events.sort_by_key(|e| e.at_ns);
    run.memory.sort_by_key(|m| m.at_ns);
    run.counters.sort_by_key(|c| c.at_ns);
    run.cache_events.sort_by_key(|c| c.at_ns);
    run.generation.sort_by_key(|g| g.at_ns);
    run.windows = windows.into_values().collect();
    run.windows.sort_by_key(|w| (w.opened_ns, w.number));
    run.gpu_spans.sort_by_key(|s| (s.start_ns, s.thread));
    run.section_memory.sort_by_key(|m| (m.start_ns, m.thread, m.figures.device));
    run.section_resources.sort_by_key(|used| (used.start_ns, used.thread));
    run.series = groups.finish(clock);
}
