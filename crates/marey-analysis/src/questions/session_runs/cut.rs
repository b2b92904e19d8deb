//! A part of a run, in time and by what belongs to it, as a run of its own.

use std::ops::Range;

use marey::{
    Gap, Losses, NodeTotals, OpenSection, Run, Section, SectionAttributes, Series, SeriesPoint,
    Session, SessionWork, Status,
};

use crate::calls::totals_of;
use crate::intervals::Interval;
use crate::readings::reading;
use crate::stats::float;

/// The kernel's count of the most memory that the process had since it began.
const HIGH_WATER: &str = "process.memory.peak";

/// What belongs to sessions, as ascending indices into the lists of the run.
pub(super) struct Parts {
    pub(super) sections: Vec<usize>,
    pub(super) open: Vec<usize>,
    pub(super) events: Vec<usize>,
    pub(super) memory: Vec<usize>,
    pub(super) counters: Vec<usize>,
    pub(super) cache_events: Vec<usize>,
    pub(super) generation: Vec<usize>,
    pub(super) windows: Vec<usize>,
    pub(super) sessions: Vec<usize>,
}

/// Takes out of a run what belongs to sessions.
pub(super) struct Cut<'a> {
    pub(super) run: &'a Run,
    pub(super) time: Interval,
    pub(super) parts: &'a Parts,
}

impl Cut<'_> {
    pub(super) fn run(&self) -> Run {
        let run = self.run;
        let sessions = self.sessions();
        let mut outermost = sessions.iter().filter(|session| session.parent.is_none());
        let have_ended = outermost.all(|session| session.end_ns.is_some());
        let mut info = run.info.clone();
        info.start_unix_ns = info.start_unix_ns.saturating_add(self.time.start_ns);
        let sections: Vec<Section> = self.parts.sections.iter().map(|i| self.section(*i)).collect();
        Run {
            info,
            status: if have_ended { Status::Finished } else { run.status.clone() },
            wall_ns: self.time.length_ns(),
            nodes: run.nodes.clone(),
            threads: run.threads.clone(),
            totals: totals(&sections, run.nodes.len()),
            sections,
            open: self.parts.open.iter().map(|i| self.open(*i)).collect(),
            section_attributes: self.section_attributes(),
            sessions,
            events: self
                .records(&run.events, &self.parts.events, |r| (&mut r.at_ns, &mut r.session)),
            memory: self
                .records(&run.memory, &self.parts.memory, |r| (&mut r.at_ns, &mut r.session)),
            counters: self
                .records(&run.counters, &self.parts.counters, |r| (&mut r.at_ns, &mut r.session)),
            cache_events: self.records(&run.cache_events, &self.parts.cache_events, |r| {
                (&mut r.at_ns, &mut r.session)
            }),
            generation: self.records(&run.generation, &self.parts.generation, |r| {
                (&mut r.at_ns, &mut r.session)
            }),
            windows: self.windows(),
            gpu_spans: self.gpu_spans(),
            section_memory: self.section_memory(),
            section_resources: self.section_resources(),
            session_work: self.session_work(),
            series: run.series.iter().filter_map(|s| self.series(s)).collect(),
            unavailable: run.unavailable.clone(),
            losses: self.losses(),
            gaps: self.gaps(),
            warnings: run.warnings.clone(),
        }
    }

    /// A moment since the start of the session.
    pub(super) fn shifted(&self, at_ns: u64) -> u64 {
        at_ns.saturating_sub(self.time.start_ns)
    }

    /// What may be missing of this session: of the sections that are not in the capture only those of gaps that reach into it, where gaps say
    /// of all of them where they lie.
    fn losses(&self) -> Losses {
        let (all, mine) = (&self.run.gaps, self.gaps());
        let sum = |gaps: &[Gap]| gaps.iter().map(|gap| gap.sections).sum::<u64>();
        let missing = self.run.losses.sections_not_written;
        Losses {
            sections_not_written: if sum(all) == missing { sum(&mine) } else { missing },
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
    pub(super) fn renumbered(&self, session: Option<u32>) -> Option<u32> {
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
            until_ns: self.shifted(open.until_ns),
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

    /// Those that are nested in none of the others are nested in none.
    fn sessions(&self) -> Vec<Session> {
        let sessions = self.parts.sessions.iter();
        sessions
            .map(|index| {
                let found = &self.run.sessions[*index];
                Session {
                    start_ns: self.shifted(found.start_ns),
                    end_ns: found.end_ns.map(|end_ns| self.shifted(end_ns)),
                    parent: self.renumbered(found.parent),
                    ..found.clone()
                }
            })
            .collect()
    }

    fn session_work(&self) -> Vec<SessionWork> {
        let each = self.run.session_work.iter().filter_map(|work| {
            Some(SessionWork {
                session: self.renumbered(Some(work.session))?,
                start_ns: self.shifted(work.start_ns),
                end_ns: work.end_ns.map(|end_ns| self.shifted(end_ns)),
                ..*work
            })
        });
        each.collect()
    }

    /// Records of these places, with time and session as the session has them; `place` says where they stand in one.
    fn records<T: Clone>(
        &self,
        all: &[T],
        places: &[usize],
        place: impl Fn(&mut T) -> (&mut u64, &mut Option<u32>),
    ) -> Vec<T> {
        let kept = places.iter().map(|index| {
            let mut record = all[*index].clone();
            let (at_ns, session) = place(&mut record);
            (*at_ns, *session) = (self.shifted(*at_ns), self.renumbered(*session));
            record
        });
        kept.collect()
    }

    /// The points that lie within the session; `None` without any.
    fn series(&self, series: &Series) -> Option<Series> {
        let points = &series.points;
        let from = points.partition_point(|p| p.first_ns < self.time.start_ns);
        let until = points.partition_point(|p| p.last_ns <= self.time.end_ns);
        let mut within = if series.info.name == HIGH_WATER {
            self.peaks(points, from..until)
        } else {
            points.get(from..until)?.to_vec()
        };
        for point in &mut within {
            point.first_ns = self.shifted(point.first_ns);
            point.last_ns = self.shifted(point.last_ns);
        }
        (!within.is_empty()).then(|| Series { info: series.info.clone(), points: within })
    }

    /// Of the count of the most memory that the process ever had what was reached in the session: what the session read at its end, else
    /// readings that are higher than one before them that is the session's, too.
    fn peaks(&self, points: &[SeriesPoint], within: Range<usize>) -> Vec<SeriesPoint> {
        let itself = self.parts.sessions.first();
        let itself = itself.map(|session| &self.run.sessions[*session]);
        let is_one = |session: &&Session| Some(self.time.end_ns) == session.end_ns;
        if let Some(used) = itself.filter(is_one).and_then(|session| session.used) {
            let reached = used.peak_bytes.map(float);
            return reached.into_iter().map(|peak| reading(self.time.end_ns, peak)).collect();
        }
        let within = points.get(within).unwrap_or_default();
        let pairs = within.iter().zip(within.iter().skip(1));
        let rises = pairs.filter(|(before, point)| point.last > before.last);
        rises.map(|(_, point)| *point).collect()
    }
}

/// Totals of recorded sections.
fn totals(sections: &[Section], n_nodes: usize) -> Vec<NodeTotals> {
    let mut totals = totals_of(sections, n_nodes);
    for section in sections {
        if let Some(of_node) = totals.get_mut(section.node as usize) {
            of_node.histogram.get_or_insert_default().add(section.duration_ns());
        }
    }
    totals
}
