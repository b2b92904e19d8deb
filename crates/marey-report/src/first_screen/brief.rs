//! The first screen as one line of JSON: stable keys, SI units in their names, rows that add up, and what is not known.

use marey_analysis::findings::Evidence;
use serde::Serialize;

use super::account_rows::{AccountRows, Measure, Part, Row};
use super::finding::ScreenFinding;
use super::note::{Note, Word};
use super::{FirstScreen, Next, Speed, SystemFigures, Work};
use crate::escape;
use crate::json::object::{Fields, object};
use crate::model::{Report, StatusKind};
use crate::quantity::float;

/// Bytes that it has at most.
const MOST_BYTES: usize = 4096;
const NAME: usize = 60;
const TEXT: usize = 240;

/// What is shown where all would be too long: findings, whether with their evidence, whether the checks are listed, columns of what was lost.
#[derive(Clone, Copy)]
struct Room {
    findings: usize,
    evidence: bool,
    checks: bool,
    lost: usize,
}

/// The least telling goes first.
const ROOMS: [Room; 6] = [
    Room::new(2, true, true, TEXT),
    Room::new(2, true, false, TEXT),
    Room::new(2, false, false, TEXT),
    Room::new(2, false, false, NAME),
    Room::new(1, false, false, NAME),
    Room::new(0, false, false, NAME),
];

impl Room {
    const fn new(findings: usize, evidence: bool, checks: bool, lost: usize) -> Self {
        Self {
            findings,
            evidence,
            checks,
            lost,
        }
    }
}

impl FirstScreen {
    /// As one line of JSON of at most 4 KiB, which ends with a line feed.
    pub fn json(&self, report: &Report) -> String {
        let text = |room: Room| {
            let text = serde_json::to_string(&brief(self, report, room)).unwrap_or_default() + "\n";
            escape::json(&text).into_owned()
        };
        let mut shown = String::new();
        for room in ROOMS {
            shown = text(room);
            if shown.len() <= MOST_BYTES {
                break;
            }
        }
        shown
    }
}

/// The keys are stable: a new one is added, none changes what it means.
fn brief<'a>(screen: &'a FirstScreen, report: &'a Report, room: Room) -> impl Serialize + use<'a> {
    let head = &screen.headline;
    let launch = report.run.launch.as_ref();
    let oom_kills = launch.and_then(|launch| launch.oom_kills);
    let open: Vec<String> = head.stopped_in.iter().map(|name| short(name)).collect();
    let peaks = screen.memory.peaks.iter().map(|peak| {
        let place = peak.place.as_ref().or(peak.label.as_ref());
        object! {
            peak_bytes: peak.bytes,
            source: &peak.whose,
            peak_at_s?: peak.at_ns.map(seconds),
            peak_in?: place.map(|place| short(place)),
        }
    });
    let findings = screen.findings.iter().take(room.findings);
    let system = screen.system.as_ref().filter(|system| !system.is_empty());
    let checks = screen.checks.as_ref().filter(|_| room.checks);
    object! {
        v: 1,
        kind: "run",
        command: command(&report.run.command),
        outcome: head.outcome,
        reason?: head.reason.as_ref().map(|reason| short(reason)),
        signal: head.signal,
        exit_code: head.exit_code,
        oom_kills?: oom_kills.filter(|_| head.outcome.has_failed()),
        wall_s: seconds(head.total_ns),
        work: work(&head.work),
        open?: Some(open).filter(|open| !open.is_empty()),
        account: screen.account.as_ref().map(account),
        speed?: screen.speed.as_ref().map(speed),
        memory: peaks.collect::<Vec<_>>(),
        machine_free_bytes?: screen.memory.machine_free_bytes.map(|[free, _]| free),
        system?: system.map(machine),
        findings: findings.map(|found| finding(found, room.evidence)).collect::<Vec<_>>(),
        checks?: checks.map(|found| object! { passed: &found.passed, skipped: found.n_skipped }),
        lost?: screen.lost.as_ref().map(|lost| escape::cut(lost, room.lost)),
        not_known: not_known(screen, report),
        next: next(&screen.next),
    }
}

fn work(found: &Work) -> impl Serialize + use<> {
    object! {
        generations?: Some(found.generations).filter(|n| *n > 0),
        unit?: found.unit,
        most_at_once?: found.most_at_once,
        blocks?: found.blocks,
        steps_done?: found.steps,
        frames?: found.frames,
    }
}

fn machine(found: &SystemFigures) -> impl Serialize + use<> {
    let gpus: Vec<f64> = found
        .gpus
        .iter()
        .map(|gpu| rounded(gpu.busy_ratio))
        .collect();
    object! {
        cpu_cores?: found.own_cores.map(rounded),
        cpu_busy_ratio?: found.busy_ratio.map(rounded),
        cores?: found.n_cores,
        gpu_busy_ratios?: Some(gpus).filter(|gpus| !gpus.is_empty()),
    }
}

fn speed(found: &Speed) -> impl Serialize + use<> {
    let steps = found.steps.as_ref();
    let apart = steps.and_then(|steps| steps.computed_and_cached_ns);
    let median_ns = steps
        .filter(|_| apart.is_none())
        .map(|steps| steps.median_ns);
    object! {
        requests_hz?: found.requests_hz.map(rounded),
        frames_hz?: found.frames_hz.map(rounded),
        blocks_hz?: found.blocks_hz.map(rounded),
        first_block_s?: found.first_block_ns.map(seconds),
        steps_hz?: found.all_steps_hz.or(median_ns.map(|ns| 1e9 / ns)).map(rounded),
        step_median_s?: median_ns.map(in_seconds),
        computed_step_median_s?: apart.map(|[computed, _]| in_seconds(computed)),
        cached_step_median_s?: apart.map(|[_, cached]| in_seconds(cached)),
    }
}

fn account(found: &AccountRows) -> impl Serialize + use<> {
    let (measure, requests) = match found.measure {
        Measure::Wall => ("wall", None),
        Measure::MeanRequest { n, .. } => ("mean_request", Some(n)),
    };
    object! {
        measure: measure,
        total_s: seconds(found.total_ns),
        requests?: requests,
        rows: found.rows.iter().map(row).collect::<Vec<_>>(),
    }
}

fn row(found: &Row) -> impl Serialize + use<> {
    object! {
        name: short(&found.name),
        held_s: seconds(found.held_ns),
        open?: found.is_open.then_some(true),
        waiting?: (found.part == Part::Waiting).then_some(true),
        ..found.note.as_ref().map(note),
    }
}

/// Counts, and times of one.
fn note(found: &Note) -> impl Fields + use<> {
    let (mut steps, mut calls, mut cached) = (None, None, None);
    let (mut mean_s, mut first_s, mut p95_s, mut range) = (None, None, None, None);
    match found {
        Note::Calls {
            n,
            of,
            mean_ns,
            first_ns,
            p95_ns,
        } => {
            *(if *of == Word::Steps {
                &mut steps
            } else {
                &mut calls
            }) = Some(*n);
            mean_s = Some(in_seconds(*mean_ns));
            (first_s, p95_s) = (first_ns.map(seconds), p95_ns.map(seconds));
        }
        Note::Range { n, min_ns, max_ns } => {
            calls = Some(*n);
            range = Some([seconds(*min_ns), seconds(*max_ns)]);
        }
        Note::Cached { n, n_cached, .. } => (steps, cached) = (Some(*n), Some(*n_cached)),
        Note::Outside { n, .. } => calls = Some(*n),
        Note::Waits { .. } => {}
    }
    object! {
        steps?: steps,
        calls?: calls,
        cached?: cached,
        mean_s?: mean_s,
        first_s?: first_s,
        p95_s?: p95_s,
        min_s?: range.map(|[min, _]| min),
        max_s?: range.map(|[_, max]| max),
    }
}

fn finding(found: &ScreenFinding, has_evidence: bool) -> impl Serialize + use<> {
    let figure = |one: &Evidence| {
        object! {
            what: short(&one.what),
            value: rounded(one.figure.value),
            unit: one.figure.unit,
        }
    };
    let figures = found.figures.iter().filter(|_| has_evidence);
    object! {
        rule: found.rule,
        subject: escape::cut(&found.subject, TEXT),
        figure: escape::cut(&found.figure, TEXT),
        cost_s?: found.cost_ns.map(seconds),
        share_ratio?: found.share_ratio.map(rounded),
        evidence: figures.map(figure).collect::<Vec<_>>(),
        confidence: found.confidence,
        try: escape::cut(&found.tries, TEXT),
    }
}

/// The command without the folders of its programs and files.
fn command(command: &[String]) -> String {
    let short = |part: &String| match part.rsplit_once('/') {
        Some((_, name)) if part.starts_with('/') => name.to_owned(),
        _ => part.clone(),
    };
    let parts: Vec<String> = command.iter().map(short).collect();
    escape::cut(&parts.join(" "), TEXT)
}

/// What was not recorded, and what to do for it.
fn not_known(screen: &FirstScreen, report: &Report) -> Vec<impl Serialize + use<>> {
    let system = screen.system.as_ref();
    let why_no_gpu = system.and_then(|system| system.why_no_gpu.as_deref());
    let is_empty = screen.is_nothing_recorded;
    let missing = [
        (why_no_gpu.is_some(), "gpu", why_no_gpu.unwrap_or_default()),
        (
            is_empty,
            "sections",
            "marey.profile_section or marey.diffusers.instrument",
        ),
        (
            screen.account.is_none() && !is_empty,
            "account",
            "sections; their records without losses",
        ),
        (
            screen.headline.outcome == StatusKind::Killed,
            "sender of the signal",
            "not recorded by the kernel",
        ),
        (
            screen.memory.peaks.is_empty(),
            "memory",
            "marey run, or marey.MemoryTracker",
        ),
        (report.run.launch.is_none(), "exit_code", "marey run"),
    ];
    let missing = missing.into_iter().filter(|(is_missing, ..)| *is_missing);
    let missing = missing.map(|(_, what, record)| object! { what: what, record: short(record) });
    missing.collect()
}

fn next(next: &Next) -> Vec<String> {
    let full = Some(next.full.clone()).filter(|full| !full.is_empty());
    full.into_iter().chain(next.page.clone()).collect()
}

fn short(name: &str) -> String {
    escape::cut(name, NAME)
}

fn seconds(ns: u64) -> f64 {
    float(ns) / 1e9
}

/// A length of time in seconds, to the nanosecond.
fn in_seconds(ns: f64) -> f64 {
    ns.round() / 1e9
}

/// Four decimals: more than a share or a rate is known to.
fn rounded(value: f64) -> f64 {
    (value * 1e4).round() / 1e4
}
