//! Notes, sessions, what the program reports of its own work, and what samplers read last.

use std::sync::atomic::Ordering::Relaxed;

use super::series_table::{Bucket, GroupPlace, SeriesTable};
use super::{Recorder, lane, process_words};
use crate::clock;
use crate::generation::{DiffusionStep, Generated, Generation, ReportTimes};
use crate::note::{Note, Readings};
use crate::profiling_config::ProfilingConfig;
use crate::resources::{Counted, Resources};
use crate::run::{CacheOutcome, Outcome, Session};
use crate::series::SeriesInfo;
use crate::thresholds::Threshold;
use crate::value::Attributes;

/// A session of a recorder that was begun, to end it.
#[derive(Clone, Copy, Debug)]
pub struct StartedSession {
    /// Its number in the process.
    pub number: u64,
    before: Option<Counted>,
}

/// `profiling.<key>` and value of what a configuration sets otherwise than another one; of limits each by itself.
pub(super) fn settings_beside(
    config: &ProfilingConfig,
    other: &ProfilingConfig,
) -> Vec<(String, String)> {
    let pairs = config.settings().into_iter().zip(other.settings());
    let changed =
        pairs.filter(|((key, setting), (_, theirs))| key.name != "thresholds" && setting != theirs);
    changed
        .map(|((key, setting), _)| (format!("profiling.{}", key.name), setting))
        .chain(limits_beside(&config.thresholds, &other.thresholds))
        .collect()
}

/// Limits that differ, and the defaults of those that only the other one sets.
fn limits_beside(limits: &[(String, f64)], theirs: &[(String, f64)]) -> Vec<(String, String)> {
    let changed = limits.iter().filter(|limit| !theirs.contains(limit));
    let is_set = |name: &str| limits.iter().any(|(known, _)| known == name);
    let back = theirs.iter().filter(|(name, _)| !is_set(name));
    let changed = changed.filter_map(|(name, value)| Some((Threshold::of(name).ok()?, *value)));
    let back = back.filter_map(|(name, _)| Threshold::of(name).ok().map(|t| (t, t.default)));
    let all = changed.chain(back);
    all.map(|(limit, value)| (limit.fact(), format!("{value:?}"))).collect()
}

impl Recorder {
    /// Appends a note from the calling thread, now.
    pub fn note(&self, note: &Note) {
        self.note_in(None, note);
    }

    /// As [`Self::note`], for what belongs to the session of that number.
    pub fn note_in(&self, session: Option<u64>, note: &Note) {
        self.note_in_flow(session, 0, note);
    }

    /// As [`Self::note_in`], for what is reported in that flow: tasks of one thread report their steps in turn.
    pub fn note_in_flow(&self, session: Option<u64>, flow: u16, note: &Note) {
        let Some(lane) = lane().filter(|lane| std::ptr::eq(lane.recorder(), self)) else {
            return;
        };
        let now = clock::ticks();
        match note {
            Note::Generation(report) => {
                let is_pass = lane.is_pass_of_last_step(report, (session, flow));
                self.count_generated(report, now, is_pass);
            }
            Note::Cache(event) => self.count_cache(event.outcome),
            _ => {}
        }
        match note.encode_in(flow, now, session) {
            Some(words) => lane.note(&words),
            None => lane.drop_note(),
        }
    }

    /// Notes what a configuration sets otherwise than the one that the recording was started with, as facts.
    pub fn note_settings(&self, config: &ProfilingConfig) {
        for (key, value) in settings_beside(config, &self.config.profiling) {
            self.note(&Note::Fact { key, value });
        }
    }

    /// Counts a note that its caller could not make: the losses of the calling thread say so.
    pub fn count_unnoted(&self) {
        if let Some(lane) = lane().filter(|lane| std::ptr::eq(lane.recorder(), self)) {
            lane.drop_note();
        }
    }

    /// Tells live viewers how many denoising steps of its schedule the program has made, and of how many; 0 of 0 when it uses none.
    pub fn tell_schedule(&self, n_made: u32, n_steps: u32) {
        let word = u64::from(n_made) << 32 | u64::from(n_steps);
        self.header()[process_words::SCHEDULE].store(word, Relaxed);
    }

    /// Counts for live viewers. Another pass of a step is no step.
    fn count_generated(&self, report: &Generation, ticks: u64, is_pass: bool) {
        if is_pass {
            let is_first = self.header()[process_words::GENERATED].load(Relaxed) == 1;
            let words = &self.header()[process_words::REPORT_TIMES..];
            ReportTimes::note_pass(words, is_first, ticks);
            return;
        }
        if let Generation::Step(DiffusionStep { step, .. }) = report {
            let said = step.and_then(|step| step.checked_add(1)).unwrap_or(0);
            self.header()[process_words::STEP].store(said, Relaxed);
        }
        ReportTimes::note(&self.header()[process_words::REPORT_TIMES..], report, ticks);
        let words = &self.header()[process_words::GENERATED..];
        for (word, more) in words.iter().zip(Generated::of(report).words()) {
            word.fetch_add(more, Relaxed);
        }
    }

    /// Counts for live viewers, all caches together.
    fn count_cache(&self, outcome: CacheOutcome) {
        let word = match outcome {
            CacheOutcome::Hit => process_words::CACHE_HITS,
            CacheOutcome::Miss => process_words::CACHE_MISSES,
            CacheOutcome::Eviction | CacheOutcome::Lookup => return,
        };
        self.header()[word].fetch_add(1, Relaxed);
    }

    /// What the program has reported of its own work in this recording, counted.
    pub fn generated(&self) -> Generated {
        let words = &self.header()[process_words::GENERATED..];
        Generated::of_words(std::array::from_fn(|at| words[at].load(Relaxed)))
    }

    /// When the program made its newest reports in this recording.
    pub fn report_times(&self) -> ReportTimes {
        let words = &self.header()[process_words::REPORT_TIMES..];
        let first = self.first_anchor().ticks;
        ReportTimes::of_words(std::array::from_fn(|at| words[at].load(Relaxed)), |ticks| {
            self.duration_ns(ticks.saturating_sub(first))
        })
    }

    /// Opens a session, for [`Self::end_session`]; reads what the process has used until now. `within` is the session that it is nested in, `flow` the flow that it begins
    /// in (0 for the thread's own stack).
    pub fn start_session(
        &self,
        name: &str,
        tags: Attributes,
        within: Option<u64>,
        flow: u16,
    ) -> StartedSession {
        let number = self.n_sessions.fetch_add(1, Relaxed);
        let start = Session { number, name: name.into(), tags, flow, ..Session::default() };
        self.note_in(within, &Note::SessionStart(start));
        StartedSession { number, before: Counted::now() }
    }

    /// Beginnings and ends of sessions by now.
    pub(crate) fn session_edges(&self) -> u64 {
        self.n_sessions.load(Relaxed) + self.n_sessions_ended.load(Relaxed)
    }

    /// Ends a session.
    pub fn end_session(&self, session: &StartedSession, outcome: Outcome) {
        let used = session.before.and_then(|before| {
            let used = Counted::now()?.since(&before);
            // Others may have worked for it, and another may end it.
            Some(Resources { thread: None, ..used })
        });
        self.n_sessions_ended.fetch_add(1, Relaxed);
        self.note(&Note::SessionEnd { session: session.number, outcome, used });
    }

    /// A place in the table of series for a sampler. Its series are read by live viewers from then on.
    pub(crate) fn place_series(&self, infos: &[SeriesInfo]) -> Option<GroupPlace> {
        let _alone = self.lanes();
        let group = self.n_samplers.fetch_add(1, Relaxed);
        self.series_table().place(infos, group)
    }

    /// Shows a sampler's series to nobody any more.
    pub(crate) fn retire_series(&self, place: GroupPlace) {
        self.series_table().retire(place);
    }

    /// Shows a round to live viewers.
    pub(crate) fn publish_series(&self, place: GroupPlace, bucket: Bucket, values: &[Readings]) {
        self.series_table().publish(place, bucket, values);
    }

    /// The latest reading of every series of this process's samplers, and how long ago it was taken, in nanoseconds. Empty without
    /// samplers, or before their first round.
    pub fn latest_readings(&self) -> Vec<(SeriesInfo, f64, u64)> {
        let now = clock::ticks();
        let age = |ticks: u64| self.duration_ns(now.saturating_sub(ticks));
        let latest = self.series_table().latest().into_iter();
        latest.map(|(info, value, ticks)| (info, value, age(ticks))).collect()
    }

    /// Time since the recording began, in nanoseconds.
    pub fn uptime_ns(&self) -> u64 {
        self.duration_ns(clock::ticks().saturating_sub(self.first_anchor().ticks))
    }

    pub(super) fn series_table(&self) -> SeriesTable<'static> {
        SeriesTable::new(self.process.words(), &self.layout)
    }
}
