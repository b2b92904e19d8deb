//! The first screen of a trace of torch.profiler.

mod account;
mod findings;
mod lines;

use marey_analysis::{DeviceAnswers, PartList, StepRule, TraceAccount, TraceAnswers};

use super::brief::{rounded, seconds};
use super::checks::Checks;
use super::line::name;
use super::{Facts, FirstScreen, Headline, Mood, Next, Sentence};
use crate::json::object::object;
use crate::model::TraceFile;
use crate::quantity::{Column, Unit, counted, float, share};
use crate::trace_report::document::losses;

/// Columns of the file's name.
const FILE: usize = 48;
/// A device that is idle for so much of the wall had more to do.
const IDLE: f64 = 0.2;

/// What the parts of the screen are made from.
struct Told<'a> {
    file: &'a TraceFile,
    answers: &'a TraceAnswers,
    account: &'a TraceAccount,
}

impl FirstScreen {
    /// Of a whole trace; `None` where the file could not be read, or is told in part.
    pub fn of_trace(file: &TraceFile) -> Option<Self> {
        let answers = file.answers.as_ref()?;
        let told = Told {
            file,
            answers,
            account: answers.account.as_ref()?,
        };
        let account = account::account(&told);
        let findings = findings::all(&told);
        let checks = findings.is_empty().then(|| checks(&told));
        let mut closing: Vec<Sentence> = checks.iter().flat_map(Checks::sentences).collect();
        closing.extend(told.bound());
        let lost = losses(answers);
        Some(Self {
            kind: "trace",
            unit: Unit::Time,
            headline: headline(&told),
            not_known: not_known(&told, account.is_none()),
            account,
            differences: None,
            lines: lines::lines(&told),
            findings,
            closing,
            checks: checks.map(|checks| checks.facts()).unwrap_or_default(),
            data: (!lost.is_empty()).then(|| lost.join(" · ")),
            next: next(&told),
        })
    }
}

impl Told<'_> {
    fn wall_ns(&self) -> u64 {
        self.account.wall.length_ns()
    }

    /// The device that worked most.
    fn device(&self) -> Option<&DeviceAnswers> {
        let devices = self.answers.devices.iter();
        devices.max_by_key(|device| device.utilization.busy_ns)
    }

    /// Its steps, or calls of the denoiser.
    fn steps(&self) -> Option<&PartList> {
        let steps = self.answers.parts.steps.first()?;
        let is_told = steps.rule.is_some_and(StepRule::is_told);
        (is_told && !steps.parts.is_empty()).then_some(steps)
    }

    /// `4 steps`, `12 denoiser calls`.
    fn made(&self) -> Option<String> {
        let steps = self.steps()?;
        let n = steps.parts.len() as u64;
        Some(match steps.rule {
            Some(rule) if rule.finds_steps() => counted(n, "step", "steps"),
            _ => counted(n, "denoiser call", "denoiser calls"),
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
}

/// `flux.json.gz · 4 steps in 29.4 ms · CPU only`
fn headline(told: &Told<'_>) -> Headline {
    let wall_ns = told.wall_ns();
    let wall = Column::of(Unit::Time, wall_ns).text(wall_ns);
    let file = told.file.file.rsplit('/').next().unwrap_or_default();
    let devices = &told.answers.devices;
    let busy = |device: &DeviceAnswers| float(device.utilization.busy_ns) / float(wall_ns.max(1));
    let mean = devices.iter().map(busy).sum::<f64>() / float(devices.len().max(1) as u64);
    let device = match devices.as_slice() {
        [] => "CPU only".to_owned(),
        [only] => {
            let model = only.model.as_deref().map_or("GPU", short_model);
            format!("{} busy {}", name(model, FILE), share(mean))
        }
        several => format!("{} GPUs busy {} on average", several.len(), share(mean)),
    };
    let made = told.made();
    let made = made.map_or_else(|| wall.clone(), |made| format!("{made} in {wall}"));
    Headline {
        subject: name(file, FILE),
        outcome: String::new(),
        mood: Mood::Plain,
        after: format!(" · {made}"),
        parts: vec![device],
        facts: facts(told, file, mean),
    }
}

fn facts(told: &Told<'_>, file: &str, busy_ratio: f64) -> Facts {
    let steps = told.steps();
    let n = steps.map(|steps| steps.parts.len());
    let are_steps = steps.and_then(|steps| Some(steps.rule?.finds_steps()));
    let device = told.device().map(|device| {
        object! {
            name: device.model.clone(),
            devices: told.answers.devices.len(),
            busy_s: seconds(device.utilization.busy_ns),
            busy_ratio: rounded(busy_ratio),
            of: "wall",
        }
    });
    let is_complete = losses(told.answers).is_empty();
    Facts::of(&object! {
        file: super::brief::short(file),
        outcome: if is_complete { "complete" } else { "incomplete" },
        wall_s: seconds(told.wall_ns()),
        work: object! {
            steps?: n.filter(|_| are_steps == Some(true)),
            denoiser_calls?: n.filter(|_| are_steps == Some(false)),
        },
        device: device,
    })
}

/// `MI300X` of `AMD Instinct MI300X`.
fn short_model(model: &str) -> &str {
    let makers = ["NVIDIA ", "AMD ", "Instinct ", "GeForce "];
    makers.iter().fold(model, |model, maker| {
        model.strip_prefix(maker).unwrap_or(model)
    })
}

fn checks(told: &Told<'_>) -> Checks {
    let all = &told.file.findings;
    let is_host_alone = told.answers.devices.is_empty();
    let unchecked = all.unchecked.iter();
    // What only a device can show is no check of a program without one.
    let skipped = unchecked.filter(|_| !is_host_alone).count() as u64;
    let idle_ns = told.device().map(|device| {
        let busy_ns = device.utilization.busy_ns;
        told.wall_ns().saturating_sub(busy_ns)
    });
    let idle = idle_ns.map(|ns| float(ns) / float(told.wall_ns().max(1)));
    let answers = told.answers;
    let parts = &answers.parts;
    let known = [
        (
            "steps",
            !parts.steps.is_empty() || !parts.profiler_steps.is_empty(),
        ),
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
        idle: idle
            .filter(|ratio| *ratio >= IDLE)
            .map(|ratio| ("the GPU".into(), ratio)),
    }
}

/// What was not recorded, and what to do for it.
fn not_known(told: &Told<'_>, has_no_account: bool) -> Vec<(&'static str, String)> {
    let answers = told.answers;
    let world = answers.documents.iter().filter_map(|one| one.world_size);
    let n_ranks = world.max().unwrap_or(1);
    let has_others = n_ranks > answers.documents.len().try_into().unwrap_or(i64::MAX);
    let missing = [
        (answers.devices.is_empty(), "gpu", "ProfilerActivity.CUDA"),
        (answers.memory.is_empty(), "memory", "profile_memory=True"),
        (has_no_account, "account", "record_function around phases"),
        (has_others, "other_ranks", "files of all ranks"),
        (
            told.has_stacks(),
            "host time without tracing",
            "with_stack=False",
        ),
    ];
    let missing = missing.into_iter().filter(|(is_missing, ..)| *is_missing);
    missing
        .map(|(_, what, record)| (what, record.to_owned()))
        .collect()
}

fn next(told: &Told<'_>) -> Next {
    let table = match told.device() {
        Some(_) => "--table kernels",
        None => "--table operators",
    };
    let full = "marey analyze --full FILE".to_owned();
    Next {
        parts: vec![full.clone(), table.into()],
        full,
        page: None,
    }
}
