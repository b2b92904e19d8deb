//! What did one session do? The run restricted to it, so that every question has an answer for it, too.
//!
//! ```text
//! run       0         10        20        30
//! session         |------ A ------|                 A: 0 to 16
//! sections    |-- none --|
//!                    |- in A -|                     3 to 11
//! power     ^    ^    ^    ^    ^    ^    ^         the readings that lie within it
//! ```

mod device_work;
mod in_full;
mod members;

use marey::{
    CacheEvent, Event, Gap, GenerationRecord, Losses, MemoryReading, NodeTotals, OpenSection, Run,
    Section, SectionAttributes, Series, Session, Status,
};

use members::Members;

use super::belonging::Belonging;
use super::sections::{NotAvailable, Sections, UnderNoSection, sections};
use crate::intervals::Interval;

/// The sessions of a run, each as a run of its own.
#[derive(Debug)]
pub struct SessionRuns<'a> {
    run: &'a Run,
    belonging: Belonging<'a>,
    sections: Members,
    open: Members,
    events: Members,
    memory: Members,
    counters: Members,
    cache_events: Members,
    generation: Members,
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
        let belonging = Belonging::new(run);
        let nesting = belonging.nesting();
        let of = |said, thread, at_ns| belonging.of_record(said, thread, at_ns);
        let sections = (0..run.sections.len()).map(|section| belonging.of_section(section));
        let open = run.open.iter().map(|open| belonging.of_open_section(open));
        let memory = run.memory.iter().map(|reading| {
            let is_its = !is_of_process(reading);
            is_its
                .then(|| of(reading.session, None, reading.at_ns))
                .flatten()
        });
        let events = run.events.iter();
        let cache_events = run.cache_events.iter();
        let generation = run.generation.iter();
        let windows = run.windows.iter();
        let counters = run.counters.iter();
        Self {
            run,
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
                counters.map(|reading| of(None, None, reading.at_ns)),
            ),
            belonging,
            n_missing,
            is_incomplete,
        }
    }

    /// The session with this index into `Run::sessions`; `None` when there is none.
    pub fn get(&self, session: usize) -> Option<SessionRun> {
        let number = u32::try_from(session).ok()?;
        self.run.sessions.get(session)?;
        let cut = Cut {
            run: self.run,
            time: self.belonging.interval(number),
            parts: &self.parts(number),
        };
        Some(SessionRun {
            run: cut.run(session),
            n_sections_missing: self.n_missing,
            is_incomplete: self.is_incomplete.clone(),
        })
    }

    /// As in [`SessionRun`]: the same for each of them.
    pub fn n_sections_missing(&self) -> u64 {
        self.n_missing
    }

    fn parts(&self, session: u32) -> Parts {
        let places = self.belonging.nesting().places(session);
        let inner = self.belonging.nesting().at(&places).iter();
        let mut sessions: Vec<usize> = inner.map(|session| *session as usize).collect();
        sessions.sort_unstable();
        let time = self.belonging.interval(session);
        let is_during = |r: &MemoryReading| time.start_ns <= r.at_ns && r.at_ns <= time.end_ns;
        let readings = self.run.memory.iter().enumerate();
        let of_process = readings.filter(|(_, r)| is_of_process(r) && is_during(r));
        let mut memory = self.memory.within(&places);
        memory.extend(of_process.map(|(index, _)| index));
        memory.sort_unstable();
        Parts {
            sections: self.sections.within(&places),
            open: self.open.within(&places),
            events: self.events.within(&places),
            memory,
            counters: self.counters.within(&places),
            cache_events: self.cache_events.within(&places),
            generation: self.generation.within(&places),
            windows: self.windows.within(&places),
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
    recorded
        .iter()
        .zip(counted)
        .map(|(recorded, counted)| counted > *recorded)
        .collect()
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
                (row.self_ns, row.is_self_known) = (0, false);
            }
            if incomplete_names.contains(&row.name) {
                row.share_of_wall_ratio = None;
            }
        }
        found
    }
}

/// What belongs to a session or to one within it, as ascending indices into the lists of the run.
struct Parts {
    sections: Vec<usize>,
    open: Vec<usize>,
    events: Vec<usize>,
    memory: Vec<usize>,
    counters: Vec<usize>,
    cache_events: Vec<usize>,
    generation: Vec<usize>,
    windows: Vec<usize>,
    sessions: Vec<usize>,
}

/// Takes out of a run what belongs to a session.
struct Cut<'a> {
    run: &'a Run,
    time: Interval,
    parts: &'a Parts,
}

impl Cut<'_> {
    fn run(&self, session: usize) -> Run {
        let run = self.run;
        let mut info = run.info.clone();
        info.start_unix_ns = info.start_unix_ns.saturating_add(self.time.start_ns);
        let sections: Vec<Section> = self
            .parts
            .sections
            .iter()
            .map(|i| self.section(*i))
            .collect();
        Run {
            info,
            status: match run.sessions[session].end_ns {
                Some(_) => Status::Finished,
                None => run.status.clone(),
            },
            wall_ns: self.time.length_ns(),
            nodes: run.nodes.clone(),
            threads: run.threads.clone(),
            totals: totals(&sections, run.nodes.len()),
            sections,
            open: self.parts.open.iter().map(|i| self.open(*i)).collect(),
            section_attributes: self.section_attributes(),
            sessions: self.sessions(session),
            events: self.events(),
            memory: self.memory(),
            counters: self
                .parts
                .counters
                .iter()
                .map(|i| {
                    let mut reading = run.counters[*i].clone();
                    reading.at_ns = self.shifted(reading.at_ns);
                    reading
                })
                .collect(),
            cache_events: self.cache_events(),
            generation: self.generation(),
            windows: self.windows(),
            gpu_spans: self.gpu_spans(),
            section_memory: self.section_memory(),
            series: run.series.iter().filter_map(|s| self.series(s)).collect(),
            unavailable: run.unavailable.clone(),
            losses: self.losses(),
            gaps: self.gaps(),
            warnings: run.warnings.clone(),
        }
    }

    /// A moment since the start of the session.
    fn shifted(&self, at_ns: u64) -> u64 {
        at_ns.saturating_sub(self.time.start_ns)
    }

    /// What may be missing of this session: of the sections that are not in the capture only those of gaps that reach into it, where gaps say
    /// of all of them where they lie.
    fn losses(&self) -> Losses {
        let (all, mine) = (&self.run.gaps, self.gaps());
        let sum = |gaps: &[Gap]| gaps.iter().map(|gap| gap.sections).sum::<u64>();
        let missing = self.run.losses.sections_not_written;
        Losses {
            sections_not_written: if sum(all) == missing {
                sum(&mine)
            } else {
                missing
            },
            ..self.run.losses
        }
    }

    /// What is missing meanwhile, of this session or not: how many of it would have been in the session is not known.
    fn gaps(&self) -> Vec<Gap> {
        let (start_ns, end_ns) = (self.time.start_ns, self.time.end_ns);
        let gaps = self.run.gaps.iter();
        let meanwhile = gaps.filter(|gap| gap.start_ns < end_ns && start_ns < gap.end_ns);
        let gap = |gap: &Gap| Gap {
            start_ns: self.shifted(gap.start_ns),
            end_ns: self.shifted(gap.end_ns.min(end_ns)),
            ..*gap
        };
        meanwhile.map(gap).collect()
    }

    /// The new number of a session.
    fn renumbered(&self, session: Option<u32>) -> Option<u32> {
        let place = self.parts.sessions.binary_search(&(session? as usize));
        u32::try_from(place.ok()?).ok()
    }

    fn section(&self, index: usize) -> Section {
        let section = self.run.sections[index];
        Section {
            start_ns: self.shifted(section.start_ns),
            end_ns: self.shifted(section.end_ns),
            ..section
        }
    }

    fn open(&self, index: usize) -> OpenSection {
        let open = self.run.open[index];
        OpenSection {
            start_ns: self.shifted(open.start_ns),
            ..open
        }
    }

    fn section_attributes(&self) -> Vec<SectionAttributes> {
        let all = &self.run.section_attributes;
        let mut kept = Vec::new();
        for (new, old) in self.parts.sections.iter().enumerate() {
            let from = all.partition_point(|given| given.section < *old);
            let given = all[from..].iter().take_while(|given| given.section == *old);
            kept.extend(given.map(|given| SectionAttributes {
                section: new,
                attributes: given.attributes.clone(),
                session: self.renumbered(given.session),
            }));
        }
        kept
    }

    /// This session, then those within it.
    fn sessions(&self, session: usize) -> Vec<Session> {
        let sessions = self.parts.sessions.iter();
        sessions
            .map(|index| {
                let found = &self.run.sessions[*index];
                Session {
                    start_ns: self.shifted(found.start_ns),
                    end_ns: found.end_ns.map(|end_ns| self.shifted(end_ns)),
                    parent: (*index != session)
                        .then_some(found.parent)
                        .flatten()
                        .and_then(|parent| self.renumbered(Some(parent))),
                    ..found.clone()
                }
            })
            .collect()
    }

    fn events(&self) -> Vec<Event> {
        let events = self.parts.events.iter().map(|i| &self.run.events[*i]);
        events
            .map(|event| Event {
                at_ns: self.shifted(event.at_ns),
                session: self.renumbered(event.session),
                ..event.clone()
            })
            .collect()
    }

    fn memory(&self) -> Vec<MemoryReading> {
        let readings = self.parts.memory.iter().map(|i| &self.run.memory[*i]);
        readings
            .map(|reading| MemoryReading {
                at_ns: self.shifted(reading.at_ns),
                session: self.renumbered(reading.session),
                ..reading.clone()
            })
            .collect()
    }

    fn cache_events(&self) -> Vec<CacheEvent> {
        let events = self.parts.cache_events.iter();
        events
            .map(|index| {
                let event = &self.run.cache_events[*index];
                CacheEvent {
                    at_ns: self.shifted(event.at_ns),
                    session: self.renumbered(event.session),
                    ..event.clone()
                }
            })
            .collect()
    }

    fn generation(&self) -> Vec<GenerationRecord> {
        let records = self.parts.generation.iter();
        records
            .map(|index| {
                let record = &self.run.generation[*index];
                GenerationRecord {
                    at_ns: self.shifted(record.at_ns),
                    session: self.renumbered(record.session),
                    ..record.clone()
                }
            })
            .collect()
    }

    /// The points that lie within the session; `None` without any.
    fn series(&self, series: &Series) -> Option<Series> {
        let points = &series.points;
        let from = points.partition_point(|p| p.first_ns < self.time.start_ns);
        let until = points.partition_point(|p| p.last_ns <= self.time.end_ns);
        let mut within = points.get(from..until)?.to_vec();
        for point in &mut within {
            point.first_ns = self.shifted(point.first_ns);
            point.last_ns = self.shifted(point.last_ns);
        }
        (!within.is_empty()).then(|| Series {
            info: series.info.clone(),
            points: within,
        })
    }
}

/// Totals of recorded sections.
fn totals(sections: &[Section], n_nodes: usize) -> Vec<NodeTotals> {
    let mut totals = vec![NodeTotals::default(); n_nodes];
    let mut threads: Vec<Vec<u32>> = vec![Vec::new(); n_nodes];
    let mut begun = vec![u64::MAX; n_nodes];
    let mut ended = vec![0; n_nodes];
    for section in sections {
        let node = section.node as usize;
        let Some(of_node) = totals.get_mut(node) else {
            continue;
        };
        let ns = section.duration_ns();
        let is_first = of_node.count == 0;
        of_node.count += 1;
        of_node.sum_ns = of_node.sum_ns.saturating_add(ns);
        of_node.min_ns = if is_first { ns } else { of_node.min_ns.min(ns) };
        of_node.max_ns = of_node.max_ns.max(ns);
        of_node.errors += u64::from(section.is_failed);
        of_node.histogram.get_or_insert_default().add(ns);
        if section.start_ns < begun[node] {
            (begun[node], of_node.first_ns) = (section.start_ns, ns);
        }
        if is_first || section.end_ns >= ended[node] {
            (ended[node], of_node.last_ns) = (section.end_ns, ns);
        }
        // Sections are ordered by thread.
        if threads[node].last() != Some(&section.thread) {
            threads[node].push(section.thread);
        }
    }
    for (of_node, threads) in totals.iter_mut().zip(threads) {
        of_node.n_threads = u32::try_from(threads.len()).unwrap_or(u32::MAX);
    }
    totals
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "figures of a few round numbers are exact")]
mod tests;
