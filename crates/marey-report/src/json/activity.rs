//! The keys that a run and each of its sessions have: `session_info`, `summary`, `gpu_metrics` and so on.

use serde::Serialize;

use super::allocations::MemoryEvents;
use super::blocks::BlockAnalysis;
use super::caches::CacheAnalysis;
use super::cpu::CpuMetrics;
use super::diffusion::DiffusionAnalysis;
use super::figures::Scope;
use super::gpu::GpuMetrics;
use super::layers::LayerAnalysis;
use super::models::ModelAnalysis;
use super::recommendations::Recommendation;
use super::run::EventObject;
use super::section_resources::SessionResourcesObject;
use super::stages::StageAnalysis;
use super::streaming::StreamingAnalysis;
use super::summary::Summary;
use super::{MaybeEmpty, seconds};
use crate::model::{Activity, NamedValues, Report, SessionFacts};

/// A session, and what it did unless there are very many of them.
#[derive(Serialize)]
pub(super) struct SessionObject<'a> {
    name: &'a str,
    start: f64,
    duration: Option<f64>,
    outcome: &'static str,
    tags: &'a NamedValues,
    resources: Option<SessionResourcesObject>,
    parent: Option<usize>,
    sections_missing: u64,
    #[serde(flatten)]
    did: Option<Box<SessionActivity<'a>>>,
}

/// What a session did, under the keys that the whole run has, too.
#[derive(Serialize)]
struct SessionActivity<'a> {
    session_info: SessionInfo<'a>,
    summary: Summary,
    stage_analysis: StageAnalysis<'a>,
    gpu_metrics: Option<GpuMetrics<'a>>,
    cpu_metrics: Option<CpuMetrics<'a>>,
    streaming_analysis: Option<StreamingAnalysis>,
    diffusion_analysis: Option<DiffusionAnalysis<'a>>,
    model_analysis: Option<ModelAnalysis<'a>>,
    block_analysis: Option<BlockAnalysis<'a>>,
    layer_analysis: Option<LayerAnalysis<'a>>,
    memory_events: Option<MemoryEvents<'a>>,
    cache_analysis: Option<CacheAnalysis<'a>>,
    events: Vec<EventObject<'a>>,
    recommendations: Vec<Recommendation<'a>>,
}

/// `session_info`: which run or session it is.
#[derive(Serialize)]
pub(super) struct SessionInfo<'a> {
    id: &'a str,
    start_time: f64,
    end_time: Option<f64>,
    duration: Option<f64>,
    tags: MaybeEmpty<&'a NamedValues>,
    generated_at: f64,
}

impl<'a> SessionObject<'a> {
    pub(super) fn new(report: &'a Report, session: &'a SessionFacts) -> Self {
        let activity = session.activity.as_deref();
        Self {
            name: &session.name,
            start: seconds(session.start_ns),
            duration: session.duration_ns.map(seconds),
            outcome: session.outcome,
            tags: &session.tags,
            resources: session.used.as_ref().map(SessionResourcesObject::new),
            parent: session.parent,
            sections_missing: session.n_sections_missing,
            did: activity.map(|it| Box::new(SessionActivity::new(report, session, it))),
        }
    }
}

impl<'a> SessionActivity<'a> {
    fn new(report: &'a Report, session: &'a SessionFacts, activity: &'a Activity) -> Self {
        let scope = Scope::new(report, activity);
        Self {
            session_info: SessionInfo {
                id: &session.name,
                tags: MaybeEmpty(Some(&session.tags)),
                ..SessionInfo::unnamed(report, activity, session.duration_ns.is_some())
            },
            summary: Summary::new(activity),
            stage_analysis: StageAnalysis::new(&activity.stages),
            gpu_metrics: GpuMetrics::new(scope),
            cpu_metrics: CpuMetrics::new(scope),
            streaming_analysis: StreamingAnalysis::new(activity),
            diffusion_analysis: DiffusionAnalysis::new(activity),
            model_analysis: ModelAnalysis::new(activity),
            block_analysis: BlockAnalysis::new(activity),
            layer_analysis: activity.layers.as_ref().map(LayerAnalysis::new),
            memory_events: MemoryEvents::new(activity),
            cache_analysis: CacheAnalysis::new(activity),
            events: EventObject::of(activity),
            recommendations: Recommendation::of(scope),
        }
    }
}

impl<'a> SessionInfo<'a> {
    /// Of the run, or of the session that the report is about.
    pub(super) fn new(report: &'a Report) -> Self {
        let activity = &report.activity;
        match &report.session {
            Some(session) => Self {
                id: &session.name,
                tags: MaybeEmpty(Some(&session.tags)),
                ..Self::unnamed(report, activity, session.has_ended)
            },
            None => Self::unnamed(report, activity, report.status.has_ended()),
        }
    }

    fn unnamed(report: &'a Report, activity: &Activity, has_ended: bool) -> Self {
        let wall_ns = activity.stages.wall_ns;
        let end_ns = activity.start_unix_ns.saturating_add(wall_ns);
        Self {
            id: &report.run.id,
            start_time: seconds(activity.start_unix_ns),
            end_time: has_ended.then(|| seconds(end_ns)),
            duration: has_ended.then(|| seconds(wall_ns)),
            tags: MaybeEmpty(None),
            generated_at: seconds(report.run.start_unix_ns.saturating_add(report.run.wall_ns)),
        }
    }
}
