//! A session of a run, and what it did.

use marey::Run;
use marey_analysis::{SessionRun, SessionRuns, UsedInSession};

use super::activity::Activity;
use super::attributes::NamedValues;

/// A named interval of the run.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionFacts {
    /// As the user gave it; not safe to print.
    pub name: String,
    /// When it began, since the start of the run.
    pub start_ns: u64,
    /// How long it took; `None` if it was open when the capture ended.
    pub duration_ns: Option<u64>,
    /// How it ended: `done`, `failed` or `cut_off`.
    pub outcome: &'static str,
    /// The user's tags.
    pub tags: NamedValues,
    /// What the process used from its begin to its end; `None` where that was not read.
    pub used: Option<UsedInSession>,
    /// The session that it is nested in: an index into the sessions of the report.
    pub parent: Option<usize>,
    /// Sections of the run that were not recorded one by one; some may have been this session's. Its counts are of recorded
    /// sections only.
    pub n_sections_missing: u64,
    /// What it did; `None` for those of very many sessions of which [`SessionRuns::in_full`] leaves that out.
    pub activity: Option<Box<Activity>>,
}

/// The session that a report is about.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionScope {
    /// As the user gave it; not safe to print.
    pub name: String,
    /// The user's tags.
    pub tags: NamedValues,
    /// It had ended when the capture did.
    pub has_ended: bool,
    /// As in [`SessionFacts`].
    pub n_sections_missing: u64,
}

impl SessionFacts {
    /// The sessions of a run from the `first` on, in the order of their start. Parents before that are none.
    pub(super) fn of(run: &Run, runs: &SessionRuns<'_>, first: usize) -> Vec<Self> {
        let in_full = runs.in_full(first);
        let each = run.sessions.iter().enumerate();
        each.skip(first)
            .map(|(index, session)| {
                let parent = session.parent.map(|parent| parent as usize);
                let in_full = in_full.contains(&index).then(|| runs.get(index)).flatten();
                Self {
                    tags: NamedValues::new(&session.tags),
                    name: session.name.clone(),
                    start_ns: session.start_ns,
                    duration_ns: session.end_ns.map(|end| end.saturating_sub(session.start_ns)),
                    outcome: session.outcome.name(),
                    used: UsedInSession::of(session),
                    parent: parent.and_then(|parent| parent.checked_sub(first)),
                    n_sections_missing: runs.n_sections_missing(),
                    activity: in_full.map(|session| Box::new(activity(&session))),
                }
            })
            .collect()
    }
}

fn activity(session: &SessionRun) -> Activity {
    let (run, sections) = (&session.run, session.sections());
    let account = marey_analysis::wall_account(run, &sections);
    let iterations = marey_analysis::iterations(run);
    let memory = marey_analysis::memory(run);
    Activity::new(run, &sections, &iterations, memory.as_ref(), account.as_ref())
}

impl SessionScope {
    /// Of a session's run, whose first session is that one.
    pub(super) fn new(session: &SessionRun) -> Option<Self> {
        let itself = session.run.sessions.first()?;
        Some(Self {
            name: itself.name.clone(),
            tags: NamedValues::new(&itself.tags),
            has_ended: itself.end_ns.is_some(),
            n_sections_missing: session.n_sections_missing,
        })
    }
}
