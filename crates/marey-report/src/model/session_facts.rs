//! A session of a run, and what it did.

use marey::{Run, Session};
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

impl SessionFacts {
    /// The sessions of a run from the `first` on, in the order of their start. Parents before that are none.
    pub(super) fn of(run: &Run, runs: &SessionRuns<'_>, first: usize) -> Vec<Self> {
        let in_full = runs.in_full(first);
        let each = run.sessions.iter().enumerate().skip(first);
        let each = each.map(|(index, session)| {
            let parent = session.parent.map(|parent| parent as usize);
            let in_full = in_full.contains(&index).then(|| runs.get(index)).flatten();
            Self {
                parent: parent.and_then(|parent| parent.checked_sub(first)),
                activity: in_full.map(|session| Box::new(activity(&session))),
                ..Self::new(session, runs.n_sections_missing())
            }
        });
        each.collect()
    }

    /// That of a session's run, whose first session it is.
    pub(super) fn itself(session: &SessionRun) -> Option<Self> {
        let itself = session.run.sessions.first()?;
        Some(Self::new(itself, session.n_sections_missing))
    }

    /// Without what is around it and what it did.
    fn new(session: &Session, n_sections_missing: u64) -> Self {
        Self {
            name: session.name.clone(),
            start_ns: session.start_ns,
            duration_ns: session.end_ns.map(|end| end.saturating_sub(session.start_ns)),
            outcome: session.outcome.name(),
            tags: NamedValues::new(&session.tags),
            used: UsedInSession::of(session),
            parent: None,
            n_sections_missing,
            activity: None,
        }
    }
}

fn activity(session: &SessionRun) -> Activity {
    let (run, sections) = (&session.run, session.sections());
    let account = marey_analysis::wall_account(run, &sections);
    let iterations = marey_analysis::iterations(run);
    let memory = marey_analysis::memory(run);
    Activity::new(run, &sections, &iterations, memory.as_ref(), account.as_ref())
}
