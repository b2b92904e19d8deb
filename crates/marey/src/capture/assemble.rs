//! What was decoded, put together: ticks to nanoseconds, lanes to threads, notes to the lists of the run.

use std::collections::{BTreeMap, HashMap};

use super::decode::{Decode, RawNote, RawSection};
use super::merge::Merged;
use super::notes::Sessions;
use crate::clock::ClockKind;
use crate::clock_map::ClockMap;
use crate::note::Note;
use crate::recorder::RANK_NOT_BELIEVED;
use crate::run::{
    Gap, Losses, NodeTotals, OpenSection, Run, RunInfo, Section, SectionAttributes, Status, Thread,
};
use crate::value::Attributes;
use crate::warning::Warning;

impl Decode {
    /// The run. `status` is for a capture that does not say itself how the process ended.
    pub(crate) fn finish(mut self, status: Status) -> Run {
        let clock_kind = if self.fact("clock") == Some("monotonic") {
            ClockKind::Monotonic
        } else {
            ClockKind::Tsc
        };
        let clock = ClockMap::new(clock_kind, std::mem::take(&mut self.anchors));
        clock.jumps().into_iter().for_each(|jump| self.warn(jump));
        let not_believed = self.facts.iter().filter(|(k, _)| k == RANK_NOT_BELIEVED);
        let not_believed: Vec<String> = not_believed.map(|(_, said)| said.clone()).collect();
        for said in not_believed {
            self.warn(Warning::RankNotBelieved { said });
        }
        let threads = self.threads();
        let dense: HashMap<u32, u32> =
            threads.keys().zip(0..).map(|(number, index)| (*number, index)).collect();
        let thread = |number: u32| dense.get(&number).copied().unwrap_or(0);
        let mut run = Run {
            info: self.run_info(&clock, clock_kind),
            wall_ns: clock.ns(self.last_ticks),
            totals: self.node_totals(&clock),
            losses: self.run_losses(),
            gaps: self.gaps(&clock),
            nodes: self.tables.run_nodes(),
            open: self.open_sections(&clock, &dense),
            status: self.status.take().unwrap_or(status),
            ..Run::default()
        };
        let mut sections = std::mem::take(&mut self.sections);
        // A duration that the program measured by itself, and that reaches back before the run: its length is in the totals alone.
        sections.retain(|raw| !clock.precedes_run(raw.start));
        for raw in &mut sections {
            raw.thread = thread(raw.thread);
        }
        if !sections.is_sorted_by_key(|raw| (raw.thread, raw.end)) {
            sections.sort_by_key(|raw| (raw.thread, raw.end));
        }
        let found = super::notes::place_sessions(&mut run, &self.notes, &clock, &thread);
        run.section_attributes = place_attributes(&sections, self.attribute_keys(&thread, &found));
        count_threads(&sections, &mut run.totals);
        run.sections = sections
            .into_iter()
            .map(|raw| Section {
                thread: raw.thread,
                node: raw.node,
                start_ns: clock.ns(raw.start),
                end_ns: clock.ns(raw.end),
                flow: raw.flow,
                is_failed: raw.is_failed,
                has_pauses: raw.has_pauses,
            })
            .collect();
        run.threads = threads.into_values().collect();
        let notes = std::mem::take(&mut self.notes);
        super::notes::place(&mut run, notes, &found, &clock, &thread);
        self.check_totals(&run);
        run.warnings = self.warnings;
        run
    }

    /// Threads by number, also those whose name was not recorded.
    fn threads(&self) -> BTreeMap<u32, Thread> {
        let mut threads: BTreeMap<u32, Thread> = BTreeMap::new();
        for lane in self.lanes.values().filter(|lane| lane.n_records > 0) {
            threads.entry(lane.thread).or_default();
        }
        for raw in &self.sections {
            threads.entry(raw.thread).or_default();
        }
        for RawNote { thread, note, .. } in &self.notes {
            match note {
                Note::Thread(number, thread) => {
                    threads.insert(*number, thread.clone());
                }
                Note::Event(_)
                | Note::SessionStart(_)
                | Note::Generation(_)
                | Note::Window { .. } => {
                    threads.entry(*thread).or_default();
                }
                Note::GpuSpan(section, _)
                | Note::SectionMemory(section, _)
                | Note::SectionResources(section, _) => {
                    threads.entry(section.thread).or_default();
                }
                _ => {}
            }
        }
        threads
    }

    fn run_info(&self, clock: &ClockMap, kind: ClockKind) -> RunInfo {
        let text = |key: &str| self.fact(key).unwrap_or_default().to_owned();
        let number = |key: &str| self.fact(key).and_then(|v| v.parse().ok());
        let all = |wanted: &str| {
            self.facts.iter().filter(|(k, _)| k == wanted).map(|(_, v)| v.clone()).collect()
        };
        let known =
            ["pid", "host", "job_id", "rank", "world_size", "local_rank", "argument", "clock"];
        RunInfo {
            start_unix_ns: clock.start_unix_ns(),
            // Of the program, also where another process recorded it.
            pid: number("outside_of").or(number("pid")).unwrap_or(0),
            host: text("host"),
            job_id: text("job_id"),
            rank: number("rank"),
            world_size: number("world_size"),
            local_rank: number("local_rank"),
            command: all("argument"),
            clock: kind.name().to_owned(),
            facts: self
                .facts
                .iter()
                .filter(|(k, _)| !known.contains(&k.as_str()))
                .cloned()
                .collect(),
        }
    }

    /// Totals of all lanes and epochs together, and the records that came after them.
    fn node_totals(&self, clock: &ClockMap) -> Vec<NodeTotals> {
        let unit_ns = ns_of_a_tick(clock);
        let mut merged: Vec<Merged> =
            std::iter::repeat_with(Merged::default).take(self.tables.n_nodes()).collect();
        for ((lane, _), snapshot) in &self.totals {
            snapshot
                .nodes
                .iter()
                .for_each(|node| merged[node.node as usize].add(*lane, node, unit_ns));
        }
        for (lane, seen) in &self.lanes {
            seen.after_totals
                .values()
                .for_each(|node| merged[node.node as usize].add(*lane, node, unit_ns));
        }
        merged.into_iter().map(|m| m.finish(clock)).collect()
    }

    fn run_losses(&self) -> Losses {
        // Of the epochs of a lane, the latest knows all drops so far.
        let mut ring_full: BTreeMap<u32, u64> = BTreeMap::new();
        for ((lane, _), totals) in &self.totals {
            let known = ring_full.entry(*lane).or_default();
            *known = totals.dropped.max(*known);
        }
        let [
            sections_unrecorded,
            threads_in_private_memory,
            sections_not_written,
            notes_dropped,
            children_unrecorded,
        ] = self.losses;
        let other =
            self.totals.values().flat_map(|t| &t.nodes).filter(|n| n.node == 1).map(|n| n.count);
        let later = self.lanes.values().filter_map(|l| l.after_totals.get(&1)).map(|n| n.count);
        // Every committed record has a position; those that were not found are missing, whatever the reason.
        let heads: BTreeMap<u32, u64> =
            self.totals.iter().map(|((lane, _), totals)| (*lane, totals.head)).collect();
        let missing = |(lane, head): (&u32, &u64)| {
            let seen = self.lanes.get(lane)?;
            let later = sum(seen.after_totals.values().map(|node| node.count));
            Some(head.saturating_sub(seen.n_records.saturating_sub(later)))
        };
        let sections_not_written = if heads.is_empty() {
            sections_not_written
        } else {
            sum(heads.iter().filter_map(missing))
        };
        Losses {
            sections_ring_full: sum(ring_full.into_values()),
            sections_not_written,
            notes_dropped,
            calls_without_name: sum(other.chain(later)),
            sections_unrecorded,
            threads_in_private_memory,
            children_unrecorded,
        }
    }

    /// Positions that no record was found at.
    fn gaps(&self, clock: &ClockMap) -> Vec<Gap> {
        let mut gaps = Vec::new();
        let mut add = |start_ns, end_ns, sections| {
            if sections > 0 {
                gaps.push(Gap { start_ns, end_ns, sections });
            }
        };
        for (lane, seen) in &self.lanes {
            let (mut next, mut start_ns) = (1, 0);
            for stretch in seen.records.stretches() {
                let end_ns = clock.ns(stretch.first_ticks);
                add(start_ns, end_ns, stretch.first.saturating_sub(next));
                (next, start_ns) = (stretch.next, clock.ns(stretch.last_ticks));
            }
            let known = self.totals.range((*lane, 0)..=(*lane, u32::MAX));
            let head = known.map(|(_, totals)| totals.head).max().unwrap_or(0);
            let missing = head.saturating_add(1).saturating_sub(next);
            add(start_ns, clock.ns(self.last_ticks), missing);
        }
        gaps.sort_by_key(|gap| gap.start_ns);
        gaps.dedup_by(|later, kept| {
            let is_joined = later.start_ns <= kept.end_ns;
            if is_joined {
                kept.end_ns = kept.end_ns.max(later.end_ns);
                kept.sections = kept.sections.saturating_add(later.sections);
            }
            is_joined
        });
        gaps
    }

    fn open_sections(&self, clock: &ClockMap, dense: &HashMap<u32, u32>) -> Vec<OpenSection> {
        let thread_of =
            |lane: u32| self.lanes.get(&lane).and_then(|seen| dense.get(&seen.thread)).copied();
        let open = |(start, node, lane): &(u64, u32, u32)| OpenSection {
            thread: thread_of(*lane),
            node: *node,
            start_ns: clock.ns(*start),
            until_ns: clock.ns(self.last_ticks),
        };
        self.open.iter().map(open).collect()
    }

    /// Attributes and session by the section they belong to.
    fn attribute_keys(
        &mut self,
        thread: &impl Fn(u32) -> u32,
        sessions: &Sessions,
    ) -> AttributeKeys {
        let mut keys = AttributeKeys::new();
        self.notes.retain_mut(|raw| {
            let Note::SectionAttributes { node, start_ticks, attributes } = &mut raw.note else {
                return true;
            };
            let (given, session) =
                keys.entry((thread(raw.thread), *node, *start_ticks)).or_default();
            given.append(attributes);
            *session = session.or(sessions.index(raw.session));
            false
        });
        keys
    }

    /// Says so when the totals are not the last word.
    fn check_totals(&mut self, run: &Run) {
        if !run.status.is_closed()
            && self.lanes.values().any(|lane| !lane.after_totals.is_empty())
            && !self.totals.is_empty()
        {
            self.warn(Warning::TotalsAreOld);
        }
    }
}

/// Attributes and session by the section they belong to: thread, node, start in ticks.
type AttributeKeys = HashMap<(u32, u32, u64), (Attributes, Option<u32>)>;

#[expect(clippy::cast_precision_loss, reason = "16 digits are more than the anchors give")]
fn ns_of_a_tick(clock: &ClockMap) -> f64 {
    const TICKS: u64 = 1 << 40;
    clock.duration_ns(TICKS) as f64 / TICKS as f64
}

fn sum(numbers: impl Iterator<Item = u64>) -> u64 {
    numbers.fold(0, u64::saturating_add)
}

/// Finds the section of each set of attributes. Those of sections that were not recorded are dropped.
fn place_attributes(sections: &[RawSection], mut keys: AttributeKeys) -> Vec<SectionAttributes> {
    let mut placed = Vec::new();
    for (section, raw) in sections.iter().enumerate() {
        if keys.is_empty() {
            break;
        }
        let given = keys.remove(&(raw.thread, raw.node, raw.start));
        placed.extend(given.map(|(attributes, session)| SectionAttributes {
            section,
            attributes,
            session,
        }));
    }
    placed
}

/// A lane is used by one thread after another, so lanes alone count too few threads. Sections are ordered by thread.
fn count_threads(sections: &[RawSection], totals: &mut [NodeTotals]) {
    let mut seen: Vec<(Option<u32>, u32)> = vec![(None, 0); totals.len()];
    for raw in sections {
        let (last, n) = &mut seen[raw.node as usize];
        if last.replace(raw.thread) != Some(raw.thread) {
            *n += 1;
        }
    }
    for (totals, (_, n)) in totals.iter_mut().zip(seen) {
        totals.n_threads = totals.n_threads.max(n);
    }
}
