//! The first screen as one line of JSON: stable keys, SI units in their names, rows that add up, and what is not known.

mod keys;

use marey_analysis::findings::Evidence;

use super::account_rows::{AccountRows, Measure, Part, Row};
use super::finding::ScreenFinding;
use super::note::{Note, Word};
use super::{FirstScreen, Next};
use crate::escape;
use crate::model::{Report, StatusKind};

use crate::quantity::float;
use keys::{
    Account, AccountRow, Brief, Checks, Figure, Found, Memory, NotKnown, Speed, System, Work,
};

/// Bytes that it has at most.
const MOST_BYTES: usize = 4096;
const MOST_FINDINGS: usize = 2;
const NAME: usize = 60;
const TEXT: usize = 240;

impl FirstScreen {
    /// As one line of JSON of at most 4 KiB, which ends with a line feed.
    pub fn json(&self, report: &Report) -> String {
        let mut brief = Brief::new(self, report);
        // What is left out where it is too long, the least telling first.
        let shorter: [fn(&mut Brief); 5] = [
            |brief| brief.checks = None,
            |brief| {
                brief
                    .findings
                    .iter_mut()
                    .for_each(|found| found.evidence.clear());
            },
            |brief| brief.lost = brief.lost.take().map(|lost| escape::cut(&lost, NAME)),
            |brief| brief.findings.truncate(1),
            |brief| brief.findings.clear(),
        ];
        let text = |brief: &Brief| serde_json::to_string(brief).unwrap_or_default() + "\n";
        let mut shown = escape::json(&text(&brief)).into_owned();
        for shorten in shorter {
            if shown.len() <= MOST_BYTES {
                break;
            }
            shorten(&mut brief);
            shown = escape::json(&text(&brief)).into_owned();
        }
        shown
    }
}

impl Brief {
    fn new(screen: &FirstScreen, report: &Report) -> Self {
        let head = &screen.headline;
        let launch = report.run.launch.as_ref();
        let has_failed = head.outcome.has_failed();
        Self {
            v: 1,
            kind: "run",
            command: command(&report.run.command),
            outcome: head.outcome,
            reason: head.reason.as_ref().map(|reason| escape::cut(reason, NAME)),
            signal: head.signal,
            exit_code: head.exit_code,
            oom_kills: launch
                .and_then(|launch| launch.oom_kills)
                .filter(|_| has_failed),
            wall_s: seconds(head.total_ns),
            work: Work::new(screen),
            open: head
                .stopped_in
                .iter()
                .map(|name| escape::cut(name, NAME))
                .collect(),
            account: screen.account.as_ref().map(Account::new),
            speed: screen.speed.as_ref().map(Speed::new),
            memory: screen
                .memory
                .peaks
                .iter()
                .map(|peak| Memory {
                    peak_bytes: peak.bytes,
                    source: peak.whose.clone(),
                    peak_at_s: peak.at_ns.map(seconds),
                    peak_in: peak
                        .place
                        .as_ref()
                        .or(peak.label.as_ref())
                        .map(|place| escape::cut(place, NAME)),
                })
                .collect(),
            machine_free_bytes: screen.memory.machine_free_bytes.map(|[free, _]| free),
            system: screen
                .system
                .as_ref()
                .filter(|system| !system.is_empty())
                .map(|system| System {
                    cpu_cores: system.own_cores.map(rounded),
                    cpu_busy_ratio: system.busy_ratio.map(rounded),
                    cores: system.n_cores,
                    gpu_busy_ratios: system
                        .gpus
                        .iter()
                        .map(|gpu| rounded(gpu.busy_ratio))
                        .collect(),
                }),
            findings: screen
                .findings
                .iter()
                .take(MOST_FINDINGS)
                .map(Found::new)
                .collect(),
            checks: screen.checks.as_ref().map(|checks| Checks {
                passed: checks.passed.clone(),
                skipped: checks.n_skipped,
            }),
            lost: screen.lost.as_ref().map(|lost| escape::cut(lost, TEXT)),
            not_known: not_known(screen, report),
            next: next(&screen.next),
        }
    }
}

impl Work {
    fn new(screen: &FirstScreen) -> Self {
        let work = &screen.headline.work;
        Self {
            generations: Some(work.generations).filter(|n| *n > 0),
            unit: work.unit,
            most_at_once: work.most_at_once,
            blocks: work.blocks,
            steps_done: work.steps,
            frames: work.frames,
        }
    }
}

impl Speed {
    fn new(speed: &super::Speed) -> Self {
        let steps = speed.steps.as_ref();
        let apart = steps.and_then(|steps| steps.computed_and_cached_ns);
        let median_ns = steps
            .filter(|_| apart.is_none())
            .map(|steps| steps.median_ns);
        Self {
            requests_hz: speed.requests_hz.map(rounded),
            frames_hz: speed.frames_hz.map(rounded),
            blocks_hz: speed.blocks_hz.map(rounded),
            first_block_s: speed.first_block_ns.map(seconds),
            steps_hz: speed
                .all_steps_hz
                .or(median_ns.map(|ns| 1e9 / ns))
                .map(rounded),
            step_median_s: median_ns.map(in_seconds),
            computed_step_median_s: apart.map(|[computed, _]| in_seconds(computed)),
            cached_step_median_s: apart.map(|[_, cached]| in_seconds(cached)),
        }
    }
}

impl Account {
    fn new(account: &AccountRows) -> Self {
        let (measure, requests) = match account.measure {
            Measure::Wall => ("wall", None),
            Measure::MeanRequest { n, .. } => ("mean_request", Some(n)),
        };
        Self {
            measure,
            total_s: seconds(account.total_ns),
            requests,
            rows: account.rows.iter().map(AccountRow::new).collect(),
        }
    }
}

impl AccountRow {
    fn new(row: &Row) -> Self {
        let mut shown = Self {
            name: escape::cut(&row.name, NAME),
            held_s: seconds(row.held_ns),
            open: row.is_open,
            waiting: row.part == Part::Waiting,
            ..Self::default()
        };
        match &row.note {
            Some(Note::Calls {
                n,
                of,
                mean_ns,
                first_ns,
                p95_ns,
            }) => {
                let count = if *of == Word::Steps {
                    &mut shown.steps
                } else {
                    &mut shown.calls
                };
                *count = Some(*n);
                shown.mean_s = Some(in_seconds(*mean_ns));
                shown.first_s = first_ns.map(seconds);
                shown.p95_s = p95_ns.map(seconds);
            }
            Some(Note::Range { n, min_ns, max_ns }) => {
                shown.calls = Some(*n);
                shown.min_s = Some(seconds(*min_ns));
                shown.max_s = Some(seconds(*max_ns));
            }
            Some(Note::Cached { n, n_cached, .. }) => {
                shown.steps = Some(*n);
                shown.cached = Some(*n_cached);
            }
            Some(Note::Outside { n, .. }) => shown.calls = Some(*n),
            Some(Note::Waits { .. }) | None => {}
        }
        shown
    }
}

impl Found {
    fn new(found: &ScreenFinding) -> Self {
        let figure = |one: &Evidence| Figure {
            what: escape::cut(&one.what, NAME),
            value: rounded(one.figure.value),
            unit: one.figure.unit,
        };
        Self {
            rule: found.rule,
            subject: escape::cut(&found.subject, TEXT),
            figure: escape::cut(&found.figure, TEXT),
            cost_s: found.cost_ns.map(seconds),
            share_ratio: found.share_ratio.map(rounded),
            evidence: found.figures.iter().map(figure).collect(),
            confidence: found.confidence,
            r#try: escape::cut(&found.tries, TEXT),
        }
    }
}

/// The command without the folders of its programs and files.
fn command(command: &[String]) -> String {
    let short = |part: &String| {
        let is_path = part.starts_with('/');
        let last = part.rsplit('/').next().unwrap_or(part);
        if is_path {
            last.to_owned()
        } else {
            part.clone()
        }
    };
    let parts: Vec<String> = command.iter().map(short).collect();
    escape::cut(&parts.join(" "), TEXT)
}

/// What was not recorded, and what to do for it.
fn not_known(screen: &FirstScreen, report: &Report) -> Vec<NotKnown> {
    let mut found = Vec::new();
    let mut add = |is_missing: bool, what: &'static str, record: &str| {
        if is_missing {
            found.push(NotKnown {
                what,
                record: escape::cut(record, NAME),
            });
        }
    };
    let why = screen
        .system
        .as_ref()
        .and_then(|system| system.why_no_gpu.as_deref());
    add(why.is_some(), "gpu", why.unwrap_or_default());
    add(
        screen.is_nothing_recorded,
        "sections",
        "marey.profile_section or marey.diffusers.instrument",
    );
    add(
        screen.account.is_none() && !screen.is_nothing_recorded,
        "account",
        "sections; their records without losses",
    );
    let is_killed = screen.headline.outcome == StatusKind::Killed;
    add(
        is_killed,
        "sender of the signal",
        "not recorded by the kernel",
    );
    add(
        screen.memory.peaks.is_empty(),
        "memory",
        "marey run, or marey.MemoryTracker",
    );
    add(report.run.launch.is_none(), "exit_code", "marey run");
    found
}

fn next(next: &Next) -> Vec<String> {
    let full = Some(next.full.clone()).filter(|full| !full.is_empty());
    full.into_iter().chain(next.page.clone()).collect()
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
