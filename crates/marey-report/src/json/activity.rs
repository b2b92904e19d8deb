//! What a run and each of its sessions did, under the same keys: `session_info`, `summary`, `gpu_metrics` and so on.

use super::figures::{MIB, PERCENT, Scope};
use super::object::{Fields, Json, object};
use super::sections::{stage_analysis, used};
use super::{MaybeEmpty, cpu, gpu, seconds};
use super::{caches, diffusion, memory, models, recommendations, run};
use crate::model::{Activity, NamedValues, Report, SessionFacts};

/// A session, and what it did unless there are very many of them.
pub(super) fn session<'a>(report: &'a Report, session: &'a SessionFacts) -> impl Json + 'a {
    object! {
        /// A session, with the keys of the whole run that are about it alone. What is nested in it counts, too.
        struct Session;
        /// The user's name for it.
        name: &session.name,
        /// Since the start of the run.
        start: seconds(session.start_ns),
        /// null if it had not ended.
        duration: session.duration_ns.map(seconds),
        /// `done`. `failed`: an error left it. `cut_off`: it was stopped before its end (Ctrl-C, a cancelled task, a pipeline's callback), or nobody
        /// ended it.
        outcome: session.outcome,
        tags: &session.tags,
        /// What the process used from the session's begin to its end; null for one that did not end, and for captures of before it was
        /// read.
        resources: session.used.as_ref().map(|found| object! {
            /// Of the whole process from the session's begin to its end, whichever thread did it.
            process: used(found.process),
            /// Resident memory of the process at the end less at the begin; null where it was not read.
            growth_bytes: found.growth_bytes,
        }),
        /// The session that it is nested in, as index into this list.
        parent: session.parent,
        /// Sections of the run that were not recorded one by one; some may have been this session's, whose counts are of recorded sections
        /// only.
        sections_missing: session.n_sections_missing,
        ..session.activity.as_deref().map(|activity| did(report, session, activity)),
    }
}

fn did<'a>(
    report: &'a Report,
    session: &'a SessionFacts,
    activity: &'a Activity,
) -> impl Fields + Json + 'a {
    let named = Some((session.name.as_str(), &session.tags));
    let scope = Scope::new(report, activity);
    object! {
        session_info: info(scope, named, session.duration_ns.is_some()),
        summary: summary(activity),
        stage_analysis: stage_analysis(&activity.stages),
        ..measured(scope),
        /// Points in time, in order.
        events: run::events(activity),
        /// Findings of the session alone; intervals are since its start.
        recommendations: recommendations::of(scope),
    }
}

/// What was measured and what the program reported.
pub(super) fn measured(scope: Scope<'_>) -> impl Fields + Json {
    let activity = scope.activity;
    object! {
        /// GPUs; null when none was read, data_quality says why.
        gpu_metrics: gpu::of(scope),
        /// The machine and the process; null when not read, data_quality says why.
        cpu_metrics: cpu::of(scope),
        /// null when nothing was streamed.
        streaming_analysis: diffusion::streaming_analysis(activity),
        /// null when no steps, frames or passes are known.
        diffusion_analysis: diffusion::diffusion_analysis(activity),
        /// null when no model was named.
        model_analysis: models::model_analysis(activity),
        /// null when there are no blocks.
        block_analysis: diffusion::block_analysis(activity),
        /// null when the program reported no layer.
        layer_analysis: activity.layers.as_ref().map(models::layer_analysis),
        /// null when the program reported none.
        memory_events: memory::memory_events(activity),
        cache_analysis: caches::of(activity),
    }
}

/// `session_info` of the run, or of the session that the report is about.
pub(super) fn session_info(report: &Report) -> impl Json + '_ {
    let scope = Scope::new(report, &report.activity);
    match &report.session {
        Some(session) => {
            let named = (session.name.as_str(), &session.tags);
            info(scope, Some(named), session.duration_ns.is_some())
        }
        None => info(scope, None, report.status.has_ended()),
    }
}

/// Which run or session it is.
fn info<'a>(
    Scope { report, activity }: Scope<'a>,
    named: Option<(&'a str, &'a NamedValues)>,
    has_ended: bool,
) -> impl Json + use<'a> {
    let wall_ns = activity.stages.wall_ns;
    let end_ns = activity.start_unix_ns.saturating_add(wall_ns);
    let id: &str = &report.run.id;
    object! {
        /// Which run or session it is.
        struct SessionInfo;
        /// The session's name; of a run host, process id and start.
        id: named.map_or(id, |(name, _)| name),
        /// Seconds since 1970.
        start_time: seconds(activity.start_unix_ns),
        /// Seconds since 1970; null when it had not ended.
        end_time: has_ended.then(|| seconds(end_ns)),
        /// Seconds; null when it had not ended.
        duration: has_ended.then(|| seconds(wall_ns)),
        /// The user's tags; {} for a run.
        tags: MaybeEmpty(named.map(|(_, tags)| tags)),
        /// The moment up to which the report knows the run, seconds since 1970: a report that is made again is the same.
        generated_at: seconds(report.run.start_unix_ns.saturating_add(report.run.wall_ns)),
    }
}

/// The figures that a person looks at first.
pub(super) fn summary(activity: &Activity) -> impl Json + use<> {
    object! {
        /// The figures that one looks at first.
        struct Summary;
        /// Wall time, seconds.
        duration: seconds(activity.stages.wall_ns),
        /// All GPUs together, as in gpu_metrics; null when none was read.
        gpu: gpu_summary(activity),
        /// The machine and the process; null when not read.
        cpu: cpu_summary(activity),
    }
}

fn gpu_summary(activity: &Activity) -> Option<impl Json + use<>> {
    let gpu = &activity.telemetry.gpus.as_ref()?.together;
    Some(object! {
        /// Highest memory in use.
        peak_memory_usage_mb: gpu.memory_used.map(|m| m.max * MIB),
        /// Mean over the time.
        avg_memory_usage_mb: gpu.memory_used.map(|m| m.mean * MIB),
        /// Highest share of the memory, percent.
        peak_memory_utilization: gpu.peak_memory_ratio.map(|ratio| ratio * PERCENT),
        /// Percent.
        avg_gpu_utilization: gpu.utilization.map(|u| u.mean * PERCENT),
        /// Percent.
        peak_gpu_utilization: gpu.utilization.map(|u| u.max * PERCENT),
        /// Energy, watt hours.
        total_energy_wh: gpu.energy.map(|e| e.watt_hours()),
    })
}

fn cpu_summary(activity: &Activity) -> Option<impl Json + use<>> {
    let telemetry = &activity.telemetry;
    let (cpu, memory) = (telemetry.cpu.as_ref(), telemetry.memory.as_ref());
    if cpu.is_none() && memory.is_none() {
        return None;
    }
    let busy = cpu.and_then(|cpu| cpu.busy_ratio);
    let used = memory.and_then(|memory| memory.used);
    let cores = cpu.and_then(|cpu| cpu.process?.cores);
    let resident = memory.and_then(|memory| memory.process_resident);
    Some(object! {
        /// Share of the machine's processor time, percent.
        avg_cpu_usage: busy.map(|b| b.mean * PERCENT),
        /// Percent.
        peak_cpu_usage: busy.map(|b| b.max * PERCENT),
        /// In use on the machine.
        avg_memory_usage_mb: used.map(|m| m.mean * MIB),
        /// In use on the machine.
        peak_memory_usage_mb: used.map(|m| m.max * MIB),
        /// Cores that the process kept busy.
        avg_process_cores: cores.map(|c| c.mean),
        /// Resident memory of the process.
        peak_process_memory_mb: resident.map(|m| m.max * MIB),
    })
}
