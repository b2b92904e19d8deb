//! What a run and each of its sessions did, under the same keys: `session_info`, `summary`, `gpu_metrics` and so on.

use serde::Serialize;

use super::figures::Scope;
use super::object::{Fields, object};
use super::section_resources::used;
use super::{MaybeEmpty, cpu, gpu, seconds};
use super::{
    allocations, blocks, caches, diffusion, layers, models, recommendations, run, stages,
    streaming, summary,
};
use crate::model::{Activity, NamedValues, Report, SessionFacts};

/// A session, and what it did unless there are very many of them.
pub(super) fn session<'a>(report: &'a Report, session: &'a SessionFacts) -> impl Serialize + 'a {
    object! {
        name: &session.name,
        start: seconds(session.start_ns),
        duration: session.duration_ns.map(seconds),
        outcome: session.outcome,
        tags: &session.tags,
        resources: session.used.as_ref().map(|found| object! {
            process: used(found.process),
            growth_bytes: found.growth_bytes,
        }),
        parent: session.parent,
        sections_missing: session.n_sections_missing,
        ..session.activity.as_deref().map(|activity| did(report, session, activity)),
    }
}

fn did<'a>(
    report: &'a Report,
    session: &'a SessionFacts,
    activity: &'a Activity,
) -> impl Fields + Serialize + 'a {
    let named = Some((session.name.as_str(), &session.tags));
    let scope = Scope::new(report, activity);
    object! {
        session_info: info(scope, named, session.duration_ns.is_some()),
        summary: summary::of(activity),
        stage_analysis: stages::of(&activity.stages),
        ..measured(scope),
        events: run::events(activity),
        recommendations: recommendations::of(scope),
    }
}

/// What was measured and what the program reported.
pub(super) fn measured(scope: Scope<'_>) -> impl Fields + Serialize {
    let activity = scope.activity;
    object! {
        gpu_metrics: gpu::of(scope),
        cpu_metrics: cpu::of(scope),
        streaming_analysis: streaming::of(activity),
        diffusion_analysis: diffusion::of(activity),
        model_analysis: models::of(activity),
        block_analysis: blocks::of(activity),
        layer_analysis: activity.layers.as_ref().map(layers::of),
        memory_events: allocations::of(activity),
        cache_analysis: caches::of(activity),
    }
}

/// `session_info` of the run, or of the session that the report is about.
pub(super) fn session_info(report: &Report) -> impl Serialize + '_ {
    let scope = Scope::new(report, &report.activity);
    match &report.session {
        Some(session) => {
            let named = (session.name.as_str(), &session.tags);
            info(scope, Some(named), session.has_ended)
        }
        None => info(scope, None, report.status.has_ended()),
    }
}

/// Which run or session it is.
fn info<'a>(
    Scope { report, activity }: Scope<'a>,
    named: Option<(&'a str, &'a NamedValues)>,
    has_ended: bool,
) -> impl Serialize + use<'a> {
    let wall_ns = activity.stages.wall_ns;
    let end_ns = activity.start_unix_ns.saturating_add(wall_ns);
    let id: &str = &report.run.id;
    object! {
        id: named.map_or(id, |(name, _)| name),
        start_time: seconds(activity.start_unix_ns),
        end_time: has_ended.then(|| seconds(end_ns)),
        duration: has_ended.then(|| seconds(wall_ns)),
        tags: MaybeEmpty(named.map(|(_, tags)| tags)),
        generated_at: seconds(report.run.start_unix_ns.saturating_add(report.run.wall_ns)),
    }
}
