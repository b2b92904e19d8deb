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

use crate::intervals::Interval;

/// Sessions of the sections of a run, and the rule for everything else.
#[derive(Debug)]
pub struct Belonging<'a> {
    run: &'a Run,
    /// By section.
    sections: Vec<Option<u32>>,
    /// Sessions, in order of their start.
    order: Vec<u32>,
    /// How many sessions each one is nested in.
    depths: Vec<u32>,
}

/// Something that encloses a section: since when, until when, and for which session.
#[derive(Clone, Copy)]
struct Enclosing {
    time: Interval,
    session: Option<u32>,
}

impl<'a> Belonging<'a> {
    /// Finds the session of every section. Time: a sort of the sections, and for each one a look at the sessions that were
    /// open then.
    pub fn new(run: &'a Run) -> Self {
        let mut order: Vec<u32> = (0..).take(run.sessions.len()).collect();
        order.sort_by_key(|session| run.sessions[*session as usize].start_ns);
        let mut belonging = Self {
            run,
            sections: vec![None; run.sections.len()],
            order,
            depths: Vec::new(),
        };
        belonging.depths = (0..run.sessions.len())
            .map(|session| {
                let above = belonging.ancestors(u32::try_from(session).unwrap_or(u32::MAX));
                u32::try_from(above.count()).unwrap_or(u32::MAX)
            })
            .collect();
        if !run.sessions.is_empty() {
            belonging.place_sections();
        }
        belonging
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
        let open = || self.open_during(moment);
        let begun_here: Vec<u32> = open().filter(of_thread).collect();
        self.only_one(&begun_here, moment)
            .or_else(|| self.only_one(&open().collect::<Vec<u32>>(), moment))
    }

    /// The innermost session of a section that had not ended.
    pub fn of_open_section(&self, open: &OpenSection) -> Option<u32> {
        self.of_record(None, open.thread, open.start_ns)
    }

    /// The session and those that it is nested in, innermost first.
    pub fn chain(&self, session: u32) -> impl Iterator<Item = u32> + '_ {
        std::iter::once(session).chain(self.ancestors(session))
    }

    /// From start to end, or to the end of the run.
    pub(crate) fn interval(&self, session: u32) -> Interval {
        let session = &self.run.sessions[session as usize];
        let end_ns = session.end_ns.unwrap_or(self.run.wall_ns);
        Interval {
            start_ns: session.start_ns,
            end_ns: end_ns.max(session.start_ns),
        }
    }

    fn ancestors(&self, session: u32) -> impl Iterator<Item = u32> + '_ {
        let parent = |session: &u32| {
            let parent = self.run.sessions.get(*session as usize)?.parent?;
            ((parent as usize) < self.run.sessions.len()).then_some(parent)
        };
        let first = parent(&session);
        // A damaged capture may claim a circle.
        std::iter::successors(first, parent).take(self.run.sessions.len())
    }

    fn is_within(&self, inner: u32, outer: u32) -> bool {
        self.chain(inner).any(|session| session == outer)
    }

    /// Sessions that were open at some moment of that time, in order of their start.
    fn open_during(&self, time: Interval) -> impl Iterator<Item = u32> + '_ {
        let begun = self
            .order
            .partition_point(|s| self.run.sessions[*s as usize].start_ns <= time.end_ns);
        let is_open = move |session: &u32| self.interval(*session).end_ns >= time.start_ns;
        self.order[..begun].iter().copied().filter(is_open)
    }

    /// The innermost of the sessions that were open all that time, if all that were open then are nested with it.
    fn only_one(&self, open: &[u32], time: Interval) -> Option<u32> {
        let lasts = |session: &&u32| contains(self.interval(**session), time);
        let key = |session: &&u32| {
            let start_ns = self.run.sessions[**session as usize].start_ns;
            (self.depths[**session as usize], start_ns)
        };
        let innermost = *open.iter().filter(lasts).max_by_key(key)?;
        let is_nested =
            |other: &u32| self.is_within(*other, innermost) || self.is_within(innermost, *other);
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
        for &session in &self.order {
            let begun = &run.sessions[session as usize];
            let here = begun_in.entry((begun.thread, begun.flow)).or_default();
            here.push(session);
        }
        let mut sweep = Sweep::default();
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
            sweep.advance(self, time.start_ns);
            placed[index] = within.or_else(|| sweep.only_one(self, time));
        }
        self.sections = placed;
    }
}

/// What encloses the sections of one thread and flow, in order of their start.
struct Lane<'a> {
    /// Sessions that were begun here and are yet to come.
    begun: &'a [u32],
    /// Outermost first.
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
        self.enclosing.retain(|e| e.time.end_ns >= time.start_ns);
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

/// Sessions that are open, while time goes on.
#[derive(Default)]
struct Sweep {
    open: Vec<u32>,
    next: usize,
}

impl Sweep {
    /// Goes on to a moment, which is not before the last one.
    fn advance(&mut self, belonging: &Belonging<'_>, at_ns: u64) {
        let start_ns = |session: u32| belonging.run.sessions[session as usize].start_ns;
        while let Some(&session) = belonging.order.get(self.next) {
            if start_ns(session) > at_ns {
                break;
            }
            self.open.push(session);
            self.next += 1;
        }
        self.open
            .retain(|session| belonging.interval(*session).end_ns >= at_ns);
    }

    /// [`Belonging::only_one`] of the sessions that are open now or begin until the end of that time.
    fn only_one(&self, belonging: &Belonging<'_>, time: Interval) -> Option<u32> {
        let later = belonging.order[self.next..].iter().copied();
        let begins = |session: &u32| belonging.interval(*session).start_ns < time.end_ns;
        let mut open = self.open.clone();
        open.extend(later.take_while(begins));
        belonging.only_one(&open, time)
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
mod tests {
    use super::*;
    use marey::RunBuilder;

    /// Names of sections that belong to each session, and to none.
    fn by_session(run: &Run) -> BTreeMap<String, Vec<String>> {
        let belonging = Belonging::new(run);
        let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (index, section) in run.sections.iter().enumerate() {
            let session = belonging.of_section(index);
            let session = session.map_or("none", |s| &run.sessions[s as usize].name);
            let name = run.nodes[section.node as usize].name.clone();
            found.entry(session.into()).or_default().push(name);
        }
        for names in found.values_mut() {
            names.sort();
        }
        found
    }

    fn drawn() -> Run {
        // time       0         10        20        30        40
        // session A  |--------------------------------|            begun in thread 1
        // session B                |------|                        begun in thread 2
        // session C           |-- C, in A ---|                     begun in thread 1
        // thread 1    |- a -|  |- c -|      |-- a --|   |- none -|
        // thread 2                  |- b -|
        // thread 3   |- a ---|       |none|           |none|
        // thread 4     |--- for B (said so) ----|
        //                   |- b -|
        RunBuilder::new()
            .session("A", 0, Some(33), vec![])
            .session("C", 9, Some(24), vec![])
            .section("a1", 1, 7, |_| {})
            .section("c1", 10, 16, |_| {})
            .section("a2", 25, 32, |_| {})
            .section("none1", 36, 40, |_| {})
            .thread("two")
            .session("B", 14, Some(21), vec![])
            .section("b1", 15, 20, |_| {})
            .thread("three")
            .section("a3", 0, 8, |_| {})
            .section("none2", 16, 20, |_| {})
            .section("none3", 34, 36, |_| {})
            .thread("four")
            .section("b2", 2, 26, |s| {
                s.section("b3", 7, 12, |_| {});
            })
            .with(|run| {
                run.sessions[1].parent = Some(0);
                let for_b = run.sections.len() - 1;
                run.section_attributes.push(marey::SectionAttributes {
                    section: for_b,
                    attributes: vec![],
                    session: Some(2),
                });
            })
            .finish(40)
    }

    #[test]
    fn sections_belong_to_the_sessions_of_the_drawing() {
        let found = by_session(&drawn());
        assert_eq!(found["A"], ["a1", "a2", "a3"]);
        assert_eq!(found["B"], ["b1", "b2", "b3"]);
        assert_eq!(found["C"], ["c1"]);
        assert_eq!(found["none"], ["none1", "none2", "none3"]);
    }

    #[test]
    fn a_record_belongs_to_the_session_that_it_names_then_to_that_of_its_thread() {
        let run = drawn();
        let belonging = Belonging::new(&run);
        // At 18, sessions A, C and B are open.
        assert_eq!(belonging.of_record(Some(2), Some(0), 18), Some(2));
        assert_eq!(belonging.of_record(None, Some(0), 18), Some(1));
        assert_eq!(belonging.of_record(None, Some(1), 18), Some(2));
        assert_eq!(belonging.of_record(None, Some(2), 18), None);
        assert_eq!(belonging.of_record(None, None, 18), None);
        // At 10, A and C are: one chain.
        assert_eq!(belonging.of_record(None, None, 10), Some(1));
        assert_eq!(belonging.of_record(None, Some(3), 38), None);
        // A session that the capture does not hold is none.
        assert_eq!(belonging.of_record(Some(9), None, 10), Some(1));
    }

    #[test]
    fn a_session_within_a_section_of_another_is_the_inner_one() {
        // 0         10        20
        // |------ for A ------|
        //    |--- B, in A --|
        //      |- x -|
        let run = RunBuilder::new()
            .session("A", 0, Some(20), vec![])
            .session("B", 3, Some(18), vec![])
            .section("stage", 0, 20, |s| {
                s.section("x", 5, 10, |_| {});
            })
            .with(|run| {
                run.sessions[1].parent = Some(0);
                run.section_attributes.push(marey::SectionAttributes {
                    section: 1,
                    attributes: vec![],
                    session: Some(0),
                });
            })
            .finish(20);
        let found = by_session(&run);
        assert_eq!(
            (&found["A"][0], &found["B"][0]),
            (&"stage".into(), &"x".into())
        );
    }

    #[test]
    fn tasks_of_one_thread_do_not_mix_their_sessions() {
        // 0         10        20
        // task 1 |-- session P --|    section p
        // task 2   |-- session Q --|  section q
        let mut run = RunBuilder::new()
            .session("P", 0, Some(16), vec![])
            .session("Q", 2, Some(18), vec![])
            .section("p", 3, 10, |_| {})
            .section("q", 4, 12, |_| {})
            .section("neither", 5, 6, |_| {})
            .finish(20);
        for (index, session) in run.sessions.iter_mut().enumerate() {
            session.flow = if index == 0 { 1 } else { 2 };
        }
        for section in &mut run.sections {
            section.flow = match run.nodes[section.node as usize].name.as_str() {
                "p" => 1,
                "q" => 2,
                _ => 3,
            };
        }
        let found = by_session(&run);
        assert_eq!((&found["P"][0], &found["Q"][0]), (&"p".into(), &"q".into()));
        assert_eq!(found["none"], ["neither"]);
    }

    #[test]
    fn sessions_that_claim_to_be_nested_in_each_other_end_the_search() {
        let mut run = RunBuilder::new()
            .session("A", 0, Some(10), vec![])
            .session("B", 0, Some(10), vec![])
            .section("x", 1, 2, |_| {})
            .finish(10);
        run.sessions[0].parent = Some(1);
        run.sessions[1].parent = Some(0);
        assert!(Belonging::new(&run).of_section(0).is_some());
    }
}
