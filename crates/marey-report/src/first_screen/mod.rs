//! The first screen of a run: how it ended, where the time went, how fast it was, memory, the machine, and what is the matter. Built once, as
//! values; a terminal gets it as text in at most 25 lines, a program as JSON.

mod account_rows;
mod amount;
mod brief;
mod derived;
mod finding;
mod headline;
mod line;
mod note;
mod resources;
mod speed;
mod text;

use crate::model::{Report, StatusKind, signal_text};

pub use account_rows::{AccountRows, Measure, Part, Row};
pub use finding::{Checks, ScreenFinding};
pub use headline::{Headline, Work};
pub use note::{Note, Word};
pub use resources::{GpuFigures, MemoryFigures, Peak, SystemFigures};
pub use speed::{Speed, StepSpeed};
pub use text::Shown;

/// What a run shows first. Names in it are as the user gave them: text and JSON escape them.
#[derive(Clone, Debug, PartialEq)]
pub struct FirstScreen {
    /// What ran, how it ended, in what time.
    pub headline: Headline,
    /// Where the time went; `None` where nothing says so.
    pub account: Option<AccountRows>,
    /// How fast it was; `None` of a run that failed.
    pub speed: Option<Speed>,
    /// Most memory.
    pub memory: MemoryFigures,
    /// The machine; `None` of a run that failed.
    pub system: Option<SystemFigures>,
    /// What was done when it failed; `None` of a run that did not.
    pub failure: Option<Failure>,
    /// What is the matter, the most important first.
    pub findings: Vec<ScreenFinding>,
    /// What was looked for; only where nothing was found.
    pub checks: Option<Checks>,
    /// What was not recorded, or lost, in words; `None` where nothing is missing. Not safe to print.
    pub lost: Option<String>,
    /// What was recorded of the run says nothing of its insides.
    pub is_nothing_recorded: bool,
    /// Where more is to be seen.
    pub next: Next,
}

/// What was done when a run failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Denoising steps that were completed.
    pub steps_done: u64,
    /// It was a step that failed.
    pub is_step: bool,
    /// How long the innermost section had run that the error left.
    pub ran_ns: Option<u64>,
}

/// Where more is to be seen. Paths and commands, safe to print.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Next {
    /// The page of the run; `None` where none is written.
    pub page: Option<String>,
    /// The command that shows everything.
    pub full: String,
    /// The command that shows all ranks.
    pub ranks: String,
}

impl FirstScreen {
    /// Of a run's report.
    pub fn new(report: &Report, next: Next) -> Self {
        let headline = Headline::new(report);
        let account = AccountRows::new(report);
        let kind = headline.outcome;
        let system = SystemFigures::new(report);
        let all = ScreenFinding::all(report, account.as_ref(), &system);
        let findings: Vec<ScreenFinding> =
            all.into_iter().filter(ScreenFinding::is_costly).collect();
        let has_failed = kind.is_cut_short();
        let checks = findings.is_empty() && !has_failed;
        Self {
            speed: (!has_failed).then(|| Speed::new(report, &headline.work)),
            memory: MemoryFigures::new(report, account.as_ref()),
            system: (!has_failed).then_some(system),
            failure: failure(report, &headline),
            checks: checks.then(|| Checks::new(report)),
            lost: lost(report, account.is_none()),
            is_nothing_recorded: finding::is_nothing_recorded(report),
            headline,
            account,
            findings,
            next,
        }
    }
}

fn failure(report: &Report, headline: &Headline) -> Option<Failure> {
    let is_error = matches!(
        headline.outcome,
        StatusKind::Failed | StatusKind::OutOfMemory
    );
    let launch = report.run.launch.as_ref();
    let is_killed = launch.is_some_and(|launch| launch.signal.is_some());
    let has_raised = is_error && !is_killed;
    let ran_ns = report.stop.as_ref().and_then(|stop| stop.innermost_ns);
    has_raised.then_some(Failure {
        steps_done: headline.work.steps.unwrap_or(0),
        is_step: headline
            .stopped_in
            .last()
            .is_some_and(|name| name.contains("step")),
        ran_ns,
    })
}

fn lost(report: &Report, has_no_account: bool) -> Option<String> {
    let quality = &report.quality;
    let is_unknown = has_no_account && report.account.is_none();
    if quality.is_complete && !is_unknown {
        return None;
    }
    let losses = quality.losses.iter().filter(|loss| !loss.is_only_risk);
    let losses = losses.map(|loss| format!("{} {}", loss.count, loss.meaning));
    let warnings = quality.warnings.iter().cloned();
    let unknown = is_unknown.then(|| {
        "records of several threads are missing, so what held the run up is not known".into()
    });
    let all: Vec<String> = unknown.into_iter().chain(losses).chain(warnings).collect();
    let all: Vec<String> = all.iter().map(|one| without_folders(one)).collect();
    Some(all.join(" · "))
}

/// A sentence with the names of files that it has, without their folders.
fn without_folders(sentence: &str) -> String {
    let short = |word: &str| match word.rsplit_once('/') {
        Some((folders, name)) if folders.starts_with('/') => name.to_owned(),
        _ => word.to_owned(),
    };
    let words: Vec<String> = sentence.split(' ').map(short).collect();
    words.join(" ")
}

/// `SIGKILL` of 9.
fn signal_name(signal: i32) -> String {
    let text = signal_text(signal);
    text.split(" (").next().unwrap_or_default().to_owned()
}
