//! What the first screen concludes itself: why a run ended, that nothing was recorded, what the first step, growth and waiting cost.

use marey_analysis::findings::{Confidence, Evidence, FigureUnit};
use marey_analysis::{ContextGrowth, Steps};

use super::account::total_ns;
use super::headline::{INTERRUPT, signal_name};
use super::resources::{Peak, peaks};
use crate::escape;
use crate::first_screen::{AccountRows, Part, ScreenFinding, capitalised};
use crate::model::{AttributeValue, Report, StatusKind};
use crate::quantity::{counted, float, more, share, size, size_of, time, time_ns, whole};

/// A first step this much longer than the others is a finding where it costs enough.
const FIRST: f64 = 1.5;

/// Why it was killed, or ran out of memory; `None` of a run that failed, whose own message says it.
pub(super) fn cause(report: &Report) -> Option<ScreenFinding> {
    let launch = report.run.launch.as_ref();
    let oom_kills = launch.and_then(|launch| launch.oom_kills);
    let host = report.activity.telemetry.memory.as_ref();
    let last = host.and_then(|host| host.process_resident.as_ref());
    let peaks = peaks(report, None);
    // Of one far below the peak nobody knows whether the memory was given back, or the reading is older.
    let near = peaks.last().map_or(0.0, |peak| 0.9 * float(peak.bytes));
    let last = last.filter(|last| last.n_readings > 1 && last.last >= near).map(|last| last.last);
    if let Some(error) = raised_for_memory(report) {
        return Some(no_room(report, error, &peaks));
    }
    let peak = peaks.last().map(|peak| peak.bytes);
    let mut figures = Vec::new();
    let kills = oom_kills.map(float);
    figures.extend(kills.map(|n| Evidence::new("OOM kills in the cgroup", n, FigureUnit::Count)));
    figures.extend(
        last.map(|size| Evidence::new("last reading of the process", size, FigureUnit::Bytes)),
    );
    let last = last.map(|bytes| format!("the last reading of the process was {}", size(bytes)));
    let evidence = |kills: Option<String>| {
        let said: Vec<String> = kills.into_iter().chain(last).collect();
        let stop = if said.is_empty() { "" } else { "." };
        capitalised(&said.join("; ")) + stop
    };
    if report.status.kind == StatusKind::OutOfMemory {
        let limit = host.and_then(|host| Some(host.cgroup_limit.as_ref()?.min));
        let limit = limit.or_else(|| Some(float(host?.total_bytes?)));
        let of = limit.map(|limit| format!(" of {}", size(limit))).unwrap_or_default();
        let figure = peak.map(|peak| format!("peak {}{of}", size_of(peak)));
        let killed = |n| format!("The kernel killed {} for it", counted(n, "process", "processes"));
        return Some(ScreenFinding {
            evidence: evidence(oom_kills.map(killed)),
            figures,
            tries: "fewer pixels or frames, a smaller batch, VAE tiling, offloading, or a higher limit.".into(),
            ..ScreenFinding::new("out-of-memory", "Killed for lack of memory", figure.unwrap_or_default())
        });
    }
    let signal = report.status.signal.filter(|signal| *signal != INTERRUPT)?;
    let name = signal_name(signal);
    let is_fault = [4, 6, 7, 8, 11].contains(&signal);
    let (figure, tries) = match (signal, oom_kills) {
        (9, Some(0)) => (
            "not by the kernel's OOM killer, sender not known",
            "the time limit of the scheduler or container, a parent's timeout, dmesg.",
        ),
        (9, _) => (
            "whether by the kernel's OOM killer is not known",
            "dmesg, the memory limit of the container, the time limit of the scheduler.",
        ),
        _ if is_fault => (
            "a fault in native code",
            "python -X faulthandler, which shows where; a newer build of the library there.",
        ),
        _ => (
            "sender not known",
            "the time limit of the scheduler or container, a parent's timeout.",
        ),
    };
    let kills = oom_kills.filter(|_| signal == 9);
    Some(ScreenFinding {
        evidence: evidence(kills.map(|n| format!("{n} OOM kills counted in the cgroup"))),
        figures,
        tries: tries.into(),
        confidence: Confidence::Medium,
        ..ScreenFinding::new("killed", format!("Killed by {name} ({signal})"), figure.into())
    })
}

/// Processes of the job that are gone while it went on.
pub(super) fn lost(report: &Report) -> Option<ScreenFinding> {
    let lost = report.status.lost_text()?;
    Some(ScreenFinding {
        tries: "its own output; dmesg, which names what the OOM killer ended; what may have sent it a signal.".into(),
        ..ScreenFinding::new("lost-process", lost, String::new())
    })
}

/// The error that said that memory ran out; `None` where the kernel killed the program for it, and where it did not run out.
pub(super) fn raised_for_memory(report: &Report) -> Option<&str> {
    let launch = report.run.launch.as_ref();
    let is_killed = report.status.signal.is_some()
        || launch.and_then(|launch| launch.oom_kills).is_some_and(|n| n > 0);
    let is_it = report.status.kind == StatusKind::OutOfMemory && !is_killed;
    report.status.reason.as_deref().filter(|_| is_it)
}

/// An allocator found no room: torch's of a GPU, or that of the process.
fn no_room(report: &Report, error: &str, peaks: &[Peak]) -> ScreenFinding {
    let is_of_gpu = error.contains("OutOfMemoryError");
    let telemetry = &report.activity.telemetry;
    let gpus = telemetry.gpus.as_ref().map_or(&[][..], |gpus| &gpus.each);
    let gpu = match gpus {
        [only] => Some(only),
        _ => None,
    };
    let peak = peaks.iter().find(|peak| (peak.whose != "process") == is_of_gpu);
    let peak = peak.map(|peak| format!("peak {}", size_of(peak.bytes)));
    let total = gpu.and_then(|gpu| gpu.memory_total.as_ref());
    let total = total.filter(|_| is_of_gpu).map(|total| format!(" of {}", size(total.max)));
    let used = gpu.and_then(|gpu| gpu.memory_used.as_ref()).filter(|_| is_of_gpu);
    let used = used
        .map(|used| format!("; at most {} of it were in use, by all processes", size(used.max)));
    let (subject, tries) = if is_of_gpu {
        (
            "GPU memory ran out",
            "fewer pixels or frames, a smaller batch, VAE tiling or slicing, model offload.",
        )
    } else {
        ("Memory ran out", "a smaller batch, fewer workers, models loaded in a smaller data type.")
    };
    ScreenFinding {
        evidence: format!("The program raised {error}{}.", used.unwrap_or_default()),
        tries: tries.into(),
        ..ScreenFinding::new(
            "out-of-memory",
            subject,
            peak.unwrap_or_default() + &total.unwrap_or_default(),
        )
    }
}

/// The program was there, and said nothing of itself.
pub(super) fn nothing_recorded(report: &Report) -> ScreenFinding {
    let total = total_ns(report);
    let (evidence, tries) = match (report.run.why_outside(), models_seen(report)) {
        (Some(why), _) => (
            format!("{why}."),
            "python -m of the program itself, or the Rust crate marey in it; see docs/how-to/troubleshooting.md.",
        ),
        (None, Some(models)) => (
            format!("It made torch models: {models}. Marey does not know their classes."),
            "import marey.diffusers; marey.diffusers.instrument(transformer=model, vae=vae, scheduler=scheduler) \
             once they are made; see docs/how-to/diffusers.md.",
        ),
        (None, None) => (
            "Marey was loaded into the program. It opened no section and ran no diffusers pipeline.".into(),
            "with marey.profile_section(\"denoise\"): … around what takes time, or \
             marey.diffusers.instrument(pipe) for a pipeline; see docs/how-to/python.md.",
        ),
    };
    ScreenFinding {
        evidence,
        tries: tries.into(),
        ..ScreenFinding::new(
            "nothing-recorded",
            "No section, step or pipeline was recorded",
            format!("{} are unexplained", time_ns(total)),
        )
    }
}

/// Classes of the torch models of a program of which nothing but imports and loading was recorded, the largest first.
pub(super) fn models_seen(report: &Report) -> Option<String> {
    let is_loading = |name: &str| {
        ["import", "model_load", "load_"].iter().any(|loading| name.starts_with(loading))
    };
    let mut events = report.activity.events.iter();
    let seen = events.find(|event| event.name == "models_seen")?;
    let is_nothing_else = report.sections.tree.iter().all(|row| is_loading(&row.name))
        && report.activity.diffusion.is_none();
    let (_, models) = seen.data.0.iter().find(|(key, _)| key == "models")?;
    match models {
        AttributeValue::Text(models) if is_nothing_else => Some(escape::visible(models)),
        _ => None,
    }
}

/// What costs time in this run that no rule looks for.
pub(super) fn of_run(report: &Report, account: Option<&AccountRows>) -> Vec<ScreenFinding> {
    let found = report.activity.diffusion.as_ref();
    let steps = found.and_then(|found| found.steps.as_ref());
    let is_concurrent = report.requests.is_some();
    let first = steps.filter(|_| !is_concurrent);
    let first = first.and_then(|steps| first_step(report, steps));
    let growth =
        found.and_then(|found| growth(report, found.steps.as_ref()?, found.growth.as_ref()?));
    let waiting = account.and_then(|account| waiting(report, account));
    first.into_iter().chain(growth).chain(waiting).collect()
}

fn first_step(report: &Report, steps: &Steps) -> Option<ScreenFinding> {
    let first = steps.warm_up.as_ref().filter(|first| first.count == 1)?;
    let caching = report.activity.diffusion.as_ref()?.caching.as_ref();
    let computed = caching.and_then(|found| found.computed.as_ref());
    let usual = float(computed.or(steps.steady.as_ref())?.p50_ns);
    let extra = float(first.max_ns) - usual;
    let times = float(first.max_ns) / usual.max(1.0);
    if times < FIRST {
        return None;
    }
    let total = total_ns(report);
    let share_ratio = extra / float(total.max(1));
    let others = match computed {
        Some(_) => "the other computed steps",
        None => "the other steps",
    };
    let is_later = |block: u64| {
        let mut own = steps.each.iter().filter(|step| step.block == Some(block) && step.step == 0);
        own.all(|step| step.duration_ns.is_none_or(|ns| float(ns) < FIRST * usual))
    };
    let n_blocks = steps.each.iter().filter_map(|step| step.block).max();
    let later = n_blocks.filter(|last| *last > 0 && (1..=*last).all(is_later));
    let later = later.map(|last| match last {
        1 => " The first step of block 1 shows no such extra.".to_owned(),
        2 => " First steps of blocks 1 and 2 show no such extra.".to_owned(),
        last => format!(" First steps of blocks 1 to {last} show no such extra."),
    });
    let found = ScreenFinding {
        evidence: format!(
            "The extra {} are {} of the run.{}",
            time(extra),
            share(share_ratio),
            later.unwrap_or_default()
        ),
        figures: vec![
            Evidence::new("first step", float(first.max_ns), FigureUnit::Ns),
            Evidence::new("median of the others", usual, FigureUnit::Ns),
        ],
        tries: "a warm-up generation before you measure; in a server, warm up before the first request.".into(),
        ..ScreenFinding::new(
            "first-step",
            "First step",
            format!("{}, {} {others} ({})", time_ns(first.max_ns), more(times), time(usual)),
        )
    };
    Some(found.costing(first.max_ns - whole(usual), total))
}

/// Steps that take longer the more context they have.
fn growth(report: &Report, steps: &Steps, growth: &ContextGrowth) -> Option<ScreenFinding> {
    if growth.per_block_ns <= 0.0 || growth.first_ns <= 0.0 {
        return None;
    }
    let of_blocks = steps.each.iter().filter(|step| {
        let at = step.block_at;
        at.is_some_and(|at| growth.between[0] < at) && step.is_cached != Some(true)
    });
    let excess =
        of_blocks.filter_map(|step| Some((float(step.duration_ns?) - growth.first_ns).max(0.0)));
    let excess: f64 = excess.sum();
    let total = total_ns(report);
    let share_ratio = excess / float(total.max(1));
    let blocks = &report.activity.diffusion.as_ref()?.blocks.as_ref()?.each;
    let number = |at: usize| blocks.get(at).map_or(0, |block| block.step);
    let [first, last] = growth.between.map(number);
    let found = ScreenFinding {
        is_growing: true,
        evidence: format!(
            "That adds {} ({}), and each block more adds {} to a step.",
            time(excess),
            share(share_ratio),
            time(growth.per_block_ns)
        ),
        figures: vec![
            Evidence::new("step of the first block", growth.first_ns, FigureUnit::Ns),
            Evidence::new("step of the last block", growth.last_ns, FigureUnit::Ns),
            Evidence::new("growth with each block", growth.per_block_ns, FigureUnit::Ns),
        ],
        tries: "a bounded KV cache (local_attn_size with sink tokens).".into(),
        confidence: Confidence::Medium,
        ..ScreenFinding::new(
            "step-growth",
            "Steps slow down",
            format!(
                "{} → {} from block {first} to block {last} ({})",
                time(growth.first_ns),
                time(growth.last_ns),
                more(growth.last_ns / growth.first_ns)
            ),
        )
    };
    Some(found.costing(whole(excess), total))
}

/// Requests that wait for something that only one of them can have.
fn waiting(report: &Report, account: &AccountRows) -> Option<ScreenFinding> {
    let n = report.requests.as_ref()?.durations_ns.len();
    let row = account.rows.iter().find(|row| row.part == Part::Waiting)?;
    let ratio = float(row.held) / float(account.total.max(1));
    let found = ScreenFinding {
        evidence: format!(
            "That is {} of {} in the mean of {n} requests.",
            time_ns(row.held),
            time_ns(account.total)
        ),
        figures: vec![Evidence::new("waiting of a mean request", float(row.held), FigureUnit::Ns)],
        tries:
            "fewer requests at once, batching them, or a second device. More threads do not help."
                .into(),
        ..ScreenFinding::new(
            "requests-wait",
            "Requests wait",
            format!("{} of their time is {}", share(ratio), row.name),
        )
    };
    Some(found.costing(row.held, account.total))
}
