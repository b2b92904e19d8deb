//! Notes, sessions, and what the program reports of its own work.

use std::sync::atomic::Ordering::Relaxed;

use super::{Recorder, lane, process_words};
use crate::clock;
use crate::generation::{DiffusionStep, Generated, Generation};
use crate::note::Note;
use crate::profiling_config::{ProfilingConfig, Setting};
use crate::run::CacheOutcome;
use crate::thresholds::Threshold;
use crate::value::Attributes;

/// `profiling.<key>` and value of what a configuration sets otherwise than another one; of limits each by itself.
pub(super) fn settings_beside(
    config: &ProfilingConfig,
    other: &ProfilingConfig,
) -> Vec<(String, String)> {
    let pairs = config.settings().into_iter().zip(other.settings());
    pairs
        .filter(|((_, setting), (_, theirs))| setting != theirs)
        .flat_map(|((key, setting), (_, theirs))| match (setting, theirs) {
            (Setting::Limits(limits), Setting::Limits(theirs)) => limits_beside(&limits, &theirs),
            (setting, _) => vec![(format!("profiling.{}", key.name), setting.to_string())],
        })
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
    all.map(|(limit, value)| (limit.fact(), format!("{value:?}")))
        .collect()
}

impl Recorder {
    /// Appends a note from the calling thread, now.
    pub fn note(&self, note: &Note) {
        self.note_in(None, note);
    }

    /// As [`Self::note`], for what belongs to the session of that number.
    pub fn note_in(&self, session: Option<u64>, note: &Note) {
        let Some(lane) = lane().filter(|lane| std::ptr::eq(lane.recorder(), self)) else {
            return;
        };
        match note {
            Note::Generation(report) => self.count_generated(report),
            Note::Cache { outcome, .. } => self.count_cache(*outcome),
            _ => {}
        }
        match note.encode(clock::ticks(), session) {
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

    /// Counts for live viewers.
    fn count_generated(&self, report: &Generation) {
        let words = &self.header()[process_words::GENERATED..];
        for (word, more) in words.iter().zip(Generated::of(report).words()) {
            word.fetch_add(more, Relaxed);
        }
        if let Generation::Step(DiffusionStep { step, .. }) = report {
            let said = step.and_then(|step| step.checked_add(1)).unwrap_or(0);
            self.header()[process_words::STEP].store(said, Relaxed);
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

    /// Opens a session: a number for [`Self::end_session`]. `within` is the session that it is nested in, `flow` the flow that it begins
    /// in (0 for the thread's own stack).
    pub fn start_session(
        &self,
        name: &str,
        tags: Attributes,
        within: Option<u64>,
        flow: u16,
    ) -> u64 {
        let session = self.n_sessions.fetch_add(1, Relaxed);
        let start = Note::SessionStart {
            session,
            name: name.into(),
            tags,
            flow,
        };
        self.note_in(within, &start);
        session
    }

    /// Ends a session.
    pub fn end_session(&self, session: u64) {
        self.note(&Note::SessionEnd { session });
    }
}
