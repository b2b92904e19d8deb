//! The first screen of a trace of torch.profiler.

mod account;
mod lines;

use std::marker::PhantomData;

use marey_analysis::findings::{Evidence, Finding};
use marey_analysis::{DeviceAnswers, HostKind, PartList, StepRule, TraceAccount, TraceAnswers};

use super::brief::{keys_of, rounded, seconds};
use super::checks::Checks;
use super::finding::is_in;
use super::line::name;
use super::{Facts, FirstScreen, Headline, Labelled, Mood, Next, ScreenFinding, Sentence};
use crate::document::name_of;
use crate::escape::visible;
use crate::json::object::{Fields, Json, object};
use crate::model::TraceFile;
use crate::quantity::{Column, Unit, counted, float, share, time_ns};
use crate::trace_report::document::{losses, remarks};

/// Columns of the file's name.
const FILE: usize = 40;
/// The same for programs, which look for it.
const FACT: usize = 240;
/// A device that is idle for so much of the wall had more to do.
const IDLE: f64 = 0.2;
/// Share of the wall from which on what faster kernels would gain is said.
const HEADROOM: f64 = 0.05;

/// For a trace of launches without their work.
const NOT_RECORDED: &str = "Launches were recorded, but no GPU work: no permission for CUPTI, another profiler had it, or the window was too short.";

/// For a trace without a GPU in it.
const HOST_ALONE: &str =
    "No GPU was recorded. For its idle time, kernels and copies record ProfilerActivity.CUDA.";

/// What the parts of the screen are made from.
struct Told<'a> {
    file: &'a TraceFile,
    answers: &'a TraceAnswers,
    account: &'a TraceAccount,
}

impl FirstScreen {
    /// Of a whole trace; `None` where the file could not be read, or only a part is asked for.
    pub fn of_trace(file: &TraceFile) -> Option<Self> {
        let answers = file.answers.as_ref()?;
        let told = Told { file, answers, account: answers.account.as_ref()? };
        let account = account::account(&told);
        let findings = findings(&told);
        let checks = findings.is_empty().then(|| checks(&told));
        let mut closing: Vec<Sentence> = checks.iter().flat_map(Checks::sentences).collect();
        let not_analysed = !answers.quality.n_not_analysed.is_empty();
        match told.device() {
            None if is_of_torch(answers) && !not_analysed && checks.is_some() => {
                let lack = answers.coverage.lack();
                closing = vec![Sentence::plain(lack.map_or(HOST_ALONE, |_| NOT_RECORDED))];
            }
            Some(device) if checks.as_ref().is_some_and(|checks| checks.idle.is_some()) => {
                closing.insert(1, longest_gap(&told, device));
            }
            _ => {}
        }
        closing.extend(told.bound());
        closing.extend(told.headroom());
        let remarks = remarks(answers);
        let (lines, facts) = said(&told);
        Some(Self {
            kind: "trace",
            facts: Facts::of(&facts),
            unit: Unit::Time,
            headline: headline(&told),
            not_known: not_known(&told, account.is_none()),
            account,
            differences: None,
            lines,
            findings,
            closing,
            checks,
            data: super::joined(&remarks),
            next: next(&told),
        })
    }
}

impl Told<'_> {
    fn wall_ns(&self) -> u64 {
        self.account.wall.length_ns()
    }

    /// Before how busy devices were, where the trace lacks some of their work.
    fn at_least(&self) -> &'static str {
        let mut devices = self.answers.devices.iter();
        let is_unknown = devices.any(|device| {
            device.utilization.unknown_ns > 0 || device.utilization.unknown_around_ns > 0
        });
        if is_unknown { "at least " } else { "" }
    }

    /// The device that worked most.
    fn device(&self) -> Option<&DeviceAnswers> {
        let devices = self.answers.devices.iter();
        devices.max_by_key(|device| device.utilization.busy_ns)
    }

    /// Its steps, or calls of the denoiser, or else the steps of the profiler.
    fn steps(&self) -> Option<&PartList> {
        let parts = &self.answers.parts;
        let steps = parts.steps.iter();
        let mut steps = steps.filter(|list| list.rule.is_some_and(StepRule::is_told));
        let mut profiler_steps = parts.profiler_steps.iter();
        let steps = steps.find(|list| !list.parts.is_empty());
        steps.or_else(|| profiler_steps.find(|list| list.parts.len() > 1))
    }

    /// `4 steps`, `12 denoiser calls`.
    fn made(&self) -> Option<String> {
        let steps = self.steps()?;
        let n = steps.parts.len() as u64;
        Some(if are_steps(steps) {
            counted(n, "step", "steps")
        } else {
            counted(n, "denoiser call", "denoiser calls")
        })
    }

    /// Python's stacks were recorded: the host is slower for it.
    fn has_stacks(&self) -> bool {
        !self.answers.modules.rows.is_empty()
    }

    /// Where the device never waits, the host is not what to look at.
    fn bound(&self) -> Option<Sentence> {
        let rows = self.account.rows.iter();
        let mut denoising = rows.filter(|row| row.name == account::DENOISE);
        let row = denoising.next()?;
        let is_busy = row.busy_ns * 100 >= row.held_ns * 95;
        is_busy.then(|| {
            Sentence::plain(
                "Denoising is GPU-bound, without gaps. Only less GPU work helps: fewer steps, a step cache, fp8 GEMM.",
            )
        })
    }

    /// The class of operators that would gain most, where the wall time is that of the device.
    fn headroom(&self) -> Option<Sentence> {
        let work = self.device()?.work.as_ref()?;
        let known = work.classes.iter().filter_map(|row| Some((row, row.all.headroom_ns?)));
        let (row, gain_ns) = known.max_by_key(|(_, gain_ns)| *gain_ns)?;
        let is_bound = busy_ratio(self) > 1.0 - IDLE;
        let is_large = float(gain_ns) >= HEADROOM * float(self.wall_ns());
        (is_bound && is_large).then(|| {
            Sentence::plain(format!(
                "At 70 % of the roofline {} would take {}, not {} (--table work).",
                name_of(&row.class),
                time_ns(row.all.device_ns.saturating_sub(gain_ns)),
                time_ns(row.all.device_ns),
            ))
        })
    }
}

/// It has operators: the profiler was torch's.
fn is_of_torch(answers: &TraceAnswers) -> bool {
    let mut rows = answers.operators.rows.iter();
    rows.any(|row| row.kind == HostKind::Operator)
}

/// Steps of a generation or of the profiler, not calls of a denoiser.
fn are_steps(list: &PartList) -> bool {
    list.rule.is_none_or(StepRule::finds_steps)
}

/// `flux.json.gz · 4 steps in 29.4 ms · CPU only`
fn headline(told: &Told<'_>) -> Headline {
    let wall_ns = told.wall_ns();
    let wall = Column::of(Unit::Time, wall_ns).text(wall_ns);
    let file = file_name(told);
    let mean = busy_ratio(told);
    let least = told.at_least();
    let device = match told.answers.devices.as_slice() {
        [] => match told.answers.quality.n_not_analysed.iter().next() {
            Some((category, _)) => {
                let maker = category.split('_').next().unwrap_or_default().to_uppercase();
                format!("{maker} device not analysed")
            }
            None if told.answers.coverage.lack().is_some() => "GPU not recorded".to_owned(),
            None => "CPU only".to_owned(),
        },
        [only] => {
            let model = only.model.as_deref().filter(|model| !model.trim().is_empty());
            let model = model.map_or("GPU", short_model);
            format!("{} busy {least}{}", name(model, FILE), share(mean))
        }
        several => format!("{} GPUs busy {least}{} on average", several.len(), share(mean)),
    };
    let made = told.made();
    let made = made.map_or_else(|| wall.clone(), |made| format!("{made} in {wall}"));
    Headline {
        subject: name(file, FILE),
        outcome: String::new(),
        mood: Mood::Plain,
        after: format!(" · {made}"),
        parts: [Some(device), told.answers.coverage.lack()].into_iter().flatten().collect(),
    }
}

/// The file without its folders.
fn file_name<'a>(told: &Told<'a>) -> &'a str {
    told.file.file.rsplit('/').next().unwrap_or_default()
}

/// Of the wall time, how much of it devices worked in the mean.
fn busy_ratio(told: &Told<'_>) -> f64 {
    let devices = &told.answers.devices;
    let wall = float(told.wall_ns().max(1));
    let busy = devices.iter().map(|device| float(device.utilization.busy_ns) / wall);
    busy.sum::<f64>() / float(devices.len().max(1) as u64)
}

/// The lines below the account, and the keys of this kind of screen as JSON.
fn said(told: &Told<'_>) -> (Vec<Labelled>, impl Fields + Json + use<>) {
    let (lines, of_lines) = lines::lines(told);
    (lines, object! { ..facts(told), ..of_lines })
}

/// The keys of all traces.
pub(super) fn keys() -> PhantomData<impl Fields> {
    keys_of(|told: &Told<'_>| said(told).1)
}

fn facts(told: &Told<'_>) -> impl Fields + Json + use<> {
    let steps = told.steps();
    let n = steps.map(|steps| steps.parts.len());
    let are_steps = steps.map(are_steps);
    let device = told.device().map(|device| {
        object! {
            name: device.model.clone(),
            devices: told.answers.devices.len(),
            busy_s: seconds(device.utilization.busy_ns),
            /// Of the wall time; of several devices the mean.
            busy_ratio: rounded(busy_ratio(told)),
            of: "wall",
        }
    });
    let is_complete = losses(told.answers).is_empty();
    object! {
        /// Without its folders.
        file: crate::escape::cut(file_name(told), FACT),
        /// Whether anything of it is missing.
        outcome: if is_complete { "complete" } else { "incomplete" },
        /// From its first event to its last.
        wall_s: seconds(told.wall_ns()),
        work: object! {
            steps?: n.filter(|_| are_steps == Some(true)),
            /// Where nothing says what a step is: guidance makes two calls of it a step.
            denoiser_calls?: n.filter(|_| are_steps == Some(false)),
        },
        /// The one that worked most; null without any.
        device: device,
    }
}

/// `MI300X` of `AMD Instinct MI300X`.
fn short_model(model: &str) -> &str {
    let makers = ["NVIDIA ", "AMD ", "Instinct ", "GeForce "];
    makers.iter().fold(model, |model, maker| model.strip_prefix(maker).unwrap_or(model))
}

fn checks(told: &Told<'_>) -> Checks {
    let all = &told.file.findings;
    let is_host_alone = told.answers.devices.is_empty();
    let unchecked = all.unchecked.iter();
    // What only a device can show is no check of a program without one.
    let skipped = unchecked.filter(|_| !is_host_alone).count() as u64;
    let idle = told.device().and_then(|device| {
        let wall_ns = told.wall_ns();
        let used = &device.utilization;
        let known_ns = used.busy_ns + used.unknown_ns + used.unknown_around_ns;
        let idle_ns = wall_ns.saturating_sub(known_ns);
        let ratio = float(idle_ns) / float(wall_ns.max(1));
        (ratio >= IDLE).then(|| ("the GPU".into(), ratio))
    });
    let answers = told.answers;
    let parts = &answers.parts;
    let known = [
        ("steps", !parts.steps.is_empty() || !parts.profiler_steps.is_empty()),
        ("operators", !answers.operators.rows.is_empty()),
        ("other ranks", answers.ranks.is_some()),
    ];
    let missing = known.into_iter().filter(|(_, is_known)| !is_known);
    Checks {
        passed: all.passed.iter().map(|passed| passed.rule).collect(),
        n_skipped: skipped,
        n_open: skipped,
        missing: missing.map(|(what, _)| what).collect(),
        n_small: all.found.len() as u64,
        idle,
    }
}

/// `Longest: 8.20 s before its first work.`, `Longest: 212 ms, the host in aten::copy_.`
fn longest_gap(told: &Told<'_>, device: &DeviceAnswers) -> Sentence {
    let (used, wall) = (&device.utilization, told.account.wall);
    let before_ns = used.first_ns.saturating_sub(wall.start_ns);
    let after_ns = wall.end_ns.saturating_sub(used.first_ns.saturating_add(used.span_ns));
    let gap = device.idle_gaps.longest.first();
    let within_ns = gap.map_or(0, |gap| gap.length_ns);
    let host = gap.and_then(|gap| gap.host_during.as_ref().or(gap.host_at_start.as_ref()));
    let host = host.map(|host| format!(", the host in {}", name(host, FILE)));
    let (longest_ns, place) = [
        (within_ns, host.unwrap_or_default()),
        (before_ns, " before its first work".into()),
        (after_ns, " after its last work".into()),
    ]
    .into_iter()
    .max_by_key(|(ns, _)| *ns)
    .unwrap_or_default();
    Sentence::plain(format!("Longest: {}{place}.", time_ns(longest_ns)))
}

/// What was not recorded, and what to do for it.
fn not_known(told: &Told<'_>, has_no_account: bool) -> Vec<(&'static str, String)> {
    let answers = told.answers;
    let world = answers.documents.iter().filter_map(|one| one.world_size);
    let n_ranks = world.max().unwrap_or(1);
    let has_others = n_ranks > answers.documents.len().try_into().unwrap_or(i64::MAX);
    super::not_known([
        (answers.devices.is_empty(), "gpu", "ProfilerActivity.CUDA"),
        (answers.memory.is_empty(), "memory", "profile_memory=True"),
        (has_no_account, "account", "record_function around phases"),
        (has_others, "other_ranks", "files of all ranks"),
        (told.has_stacks(), "host time without tracing", "with_stack=False"),
    ])
}

fn next(told: &Told<'_>) -> Next {
    let table = match told.device() {
        Some(_) => "--table kernels",
        None => "--table operators",
    };
    let full = format!("marey analyze --full {}", visible(&told.file.file));
    Next { parts: vec![full.clone(), table.into()], full, page: None }
}

/// Rules that say why a device is idle.
const CAUSES: [&str; 3] = ["launch-bound", "data-bound", "host-idle"];

/// Findings: those that cost enough, what costs most first.
fn findings(told: &Told<'_>) -> Vec<ScreenFinding> {
    let found = &told.file.findings.found;
    // A device that has little to do: the cause says so, too.
    let is_said = found.iter().any(|one| CAUSES.contains(&one.rule));
    let found = found.iter();
    let found = found.filter(|found| !(is_said && found.rule == "low-gpu-utilization"));
    let mut found: Vec<ScreenFinding> = found.filter_map(|found| shown(told, found)).collect();
    if is_amd(told) {
        for one in &mut found {
            one.tries = one.tries.replace("CUDA graphs", "HIP graphs");
        }
    }
    ScreenFinding::costliest(found)
}

/// Shares are of the wall here. That which decided a rule is of the time from a device's first to its last work: only programs get it.
fn shown(told: &Told<'_>, found: &Finding) -> Option<ScreenFinding> {
    let is_said = |one: &&Evidence| one.limit.is_none() || is_in(one, &found.issue);
    let said = Finding {
        evidence: found.evidence.iter().filter(is_said).cloned().collect(),
        ..found.clone()
    };
    let shown = ScreenFinding::of_rule(&said, told.wall_ns())?;
    Some(ScreenFinding { figures: found.evidence.clone(), ..shown })
}

/// The trace was made on a GPU of AMD.
fn is_amd(told: &Told<'_>) -> bool {
    let documents = &told.answers.documents;
    documents.iter().any(|one| one.others.contains_key("hip_runtime_version"))
}
