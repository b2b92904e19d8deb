//! The first screen of a run.

mod account;
mod derived;
mod findings;
mod headline;
mod note;
mod resources;
mod speed;

use std::marker::PhantomData;

use super::brief::keys_of;
use super::checks::Checks;
use super::{AccountRows, Facts, FirstScreen, Labelled, Next, Sentence};
use crate::json::object::{Fields, Json, object};
use crate::model::{Report, StatusKind};
use crate::quantity::{Unit, counted, float, share, time_ns};
use findings::is_nothing_recorded;
use headline::Work;
use resources::{Peak, SystemFigures};
use speed::speed;

/// Where more is to be seen of a run. Paths and commands, safe to print.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Places {
    /// The page of the run; `None` where none is written.
    pub page: Option<String>,
    /// The command that shows everything.
    pub full: String,
    /// The command that shows all ranks.
    pub ranks: String,
}

impl FirstScreen {
    /// Of a run's report.
    pub fn of_run(report: &Report, places: &Places) -> Self {
        let work = Work::new(report);
        let account = account::account(report);
        let system = SystemFigures::new(report);
        let peaks = resources::peaks(report, account.as_ref());
        let findings = findings::all(report, account.as_ref(), &system);
        let is_checked = findings.is_empty() && !report.status.kind.is_cut_short();
        let checks = is_checked.then(|| findings::checks(report, &system));
        let mut closing: Vec<Sentence> = failure(report, &work).into_iter().collect();
        closing.extend(checks.iter().flat_map(Checks::sentences));
        closing.extend(windows(report));
        let (lines, facts) = said(report, &work, &peaks, &system);
        Self {
            kind: "run",
            facts: Facts::of(&facts),
            unit: Unit::Time,
            headline: headline::headline(report, &work),
            not_known: not_known(report, account.as_ref(), &peaks, &system),
            lines,
            differences: None,
            closing,
            checks,
            data: lost(report, account.is_none()),
            next: next(report, places),
            account,
            findings,
        }
    }
}

/// The lines below the account, and the keys of this kind of screen as JSON. Of a run that ended badly without its speed and the machine.
fn said(
    report: &Report,
    work: &Work,
    peaks: &[Peak],
    system: &SystemFigures,
) -> (Vec<Labelled>, impl Fields + Json + use<>) {
    let is_whole = !report.status.kind.is_cut_short();
    let is_empty = is_nothing_recorded(report);
    let (speed, rates) = is_whole.then(|| speed(report, work)).unzip();
    let cpu = (is_whole && is_empty).then(|| Labelled::new("CPU", cpu_alone(report, system)));
    let shown = Some(system).filter(|system| is_whole && !system.is_empty());
    let machine = shown.filter(|_| !is_empty);
    let machine = machine.map(|of| Labelled { may_go: true, ..Labelled::new("System", of.text()) });
    let (memory, of_memory) = resources::memory(report, peaks);
    let lines = speed.into_iter().chain(cpu).chain([memory]).chain(machine);
    let facts = object! {
        ..headline::facts(report, work),
        /// Things in a second, and lengths of time.
        speed?: rates,
        ..of_memory,
        /// The processors and GPUs meanwhile.
        system?: shown.map(SystemFigures::facts),
    };
    (lines.collect(), facts)
}

/// Those of all runs.
pub(super) fn keys() -> PhantomData<impl Fields> {
    type Told<'a> = (&'a Report, &'a Work, &'a [Peak], &'a SystemFigures);
    keys_of(|(report, work, peaks, system): Told<'_>| said(report, work, peaks, system).1)
}

/// Processor time of a run of which nothing else is known.
fn cpu_alone(report: &Report, system: &SystemFigures) -> Vec<String> {
    let total_ns = account::total_ns(report);
    let said = system.own_cores.map(|own| {
        let used = own * float(total_ns) / 1e9;
        let idle = if own < 0.5 {
            ": idle otherwise (a timer, disk, network or another process)"
        } else {
            ""
        };
        let total = time_ns(total_ns);
        format!("{used:.2} s in {total} ({}){idle}", share(own))
    });
    said.into_iter().collect()
}

/// A shorter stop of the program by windows is not said.
const SHORT: f64 = 0.01;

/// `The torch window of 3 steps stopped the program for 12.4 s (4.0 % of the run); torch starts its profiler once.`
fn windows(report: &Report) -> Option<Sentence> {
    let windows = report.activity.windows.as_ref()?;
    let own_ns = windows.own_ns?;
    let of_run = float(own_ns) / float(account::total_ns(report).max(1));
    let what = match windows.each.as_slice() {
        [one] => match one.recorded_steps {
            Some(n) if n > 0 => format!("The torch window of {}", counted(n, "step", "steps")),
            _ => "The torch window".into(),
        },
        each => format!("The {} torch windows", each.len()),
    };
    let (took, of_run_text) = (time_ns(own_ns), share(of_run));
    (of_run >= SHORT).then(|| {
        Sentence::plain(format!(
            "{what} stopped the program for {took} ({of_run_text} of the run); torch starts its profiler once."
        ))
    })
}

/// `7 steps completed. The failing step ran for 10.6 µs before it raised; the traceback is in its output.` `None` of what did not raise, and
/// where nothing is known but that.
fn failure(report: &Report, work: &Work) -> Option<Sentence> {
    let kind = report.status.kind;
    let is_error = matches!(kind, StatusKind::Failed | StatusKind::OutOfMemory);
    let launch = report.run.launch.as_ref();
    if !is_error || launch.is_some_and(|launch| launch.signal.is_some()) {
        return None;
    }
    let steps = work.steps.filter(|steps| *steps > 0);
    let steps = steps.map(|steps| format!("{} completed. ", counted(steps, "step", "steps")));
    let steps = steps.unwrap_or_default();
    let open = headline::stopped_in(report);
    let is_step = open.last().is_some_and(|name| name.contains("step"));
    let what = if is_step { "The failing step" } else { "What failed" };
    let reason = report.status.reason.as_deref();
    let has_raised = reason.is_some_and(|reason| !reason.starts_with("exit code"));
    let stop = report.stop.as_ref().filter(|_| has_raised);
    let ran_ns = stop.and_then(|stop| stop.innermost_ns);
    let ran = ran_ns.map(|ran_ns| {
        let ran = time_ns(ran_ns);
        format!("{what} ran for {ran} before it raised; the traceback is in its output.")
    });
    let said = steps + &ran.unwrap_or_default();
    (!said.is_empty()).then(|| Sentence::plain(said.trim_end()))
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

/// What was not recorded, and what to do for it.
fn not_known(
    report: &Report,
    account: Option<&AccountRows>,
    peaks: &[Peak],
    system: &SystemFigures,
) -> Vec<(&'static str, String)> {
    let kind = report.status.kind;
    let why_no_gpu = system.why_no_gpu.as_deref();
    let why_no_gpu = why_no_gpu.filter(|_| !kind.is_cut_short());
    let is_empty = is_nothing_recorded(report);
    super::not_known([
        (why_no_gpu.is_some(), "gpu", why_no_gpu.unwrap_or_default()),
        (is_empty, "sections", "marey.profile_section or marey.diffusers.instrument"),
        (account.is_none() && !is_empty, "account", "sections; their records without losses"),
        (kind == StatusKind::Killed, "sender of the signal", "not recorded by the kernel"),
        (peaks.is_empty(), "memory", "marey run, or marey.MemoryTracker"),
        (report.run.launch.is_none(), "exit_code", "marey run"),
    ])
}

fn next(report: &Report, places: &Places) -> Next {
    let page = places.page.clone();
    let full = format!("all tables: {}", places.full);
    let about = |what: &str| page.as_ref().map(|page| format!("{what}: {page}"));
    let and_page = |first: String| [first].into_iter().chain(page.clone()).collect();
    let kind = report.status.kind;
    let has_raised = kind == StatusKind::Failed || derived::raised_for_memory(report).is_some();
    let parts: Vec<String> = match kind {
        _ if headline::rank(report).is_some() => and_page(format!("all ranks: {}", places.ranks)),
        _ if is_nothing_recorded(report) => and_page("marey top   watches it while it runs".into()),
        _ if has_raised => {
            vec!["fix the error, then run again".into(), about("what was recorded").unwrap_or(full)]
        }
        StatusKind::Killed | StatusKind::OutOfMemory => {
            vec![about("recorded up to then").unwrap_or(full)]
        }
        _ => page.clone().into_iter().chain([full]).collect(),
    };
    Next { parts, full: places.full.clone(), page }
}
