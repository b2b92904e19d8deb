//! The keys of the brief, in their order. They are stable: a new one is added, none changes what it means.

use marey_analysis::findings::{Confidence, FigureUnit};
use serde::Serialize;

use crate::model::StatusKind;

#[derive(Serialize)]
pub(super) struct Brief {
    pub(super) v: u32,
    pub(super) kind: &'static str,
    pub(super) command: String,
    pub(super) outcome: StatusKind,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reason: Option<String>,
    pub(super) signal: Option<i32>,
    pub(super) exit_code: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) oom_kills: Option<u64>,
    pub(super) wall_s: f64,
    pub(super) work: Work,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) open: Vec<String>,
    pub(super) account: Option<Account>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) speed: Option<Speed>,
    pub(super) memory: Vec<Memory>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) machine_free_bytes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) system: Option<System>,
    pub(super) findings: Vec<Found>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) checks: Option<Checks>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) lost: Option<String>,
    pub(super) not_known: Vec<NotKnown>,
    pub(super) next: Vec<String>,
}

#[derive(Serialize)]
pub(super) struct Work {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) generations: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) unit: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) most_at_once: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) blocks: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) steps_done: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) frames: Option<u64>,
}

#[derive(Serialize)]
pub(super) struct Account {
    pub(super) measure: &'static str,
    pub(super) total_s: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) requests: Option<u64>,
    pub(super) rows: Vec<AccountRow>,
}

#[derive(Default, Serialize)]
pub(super) struct AccountRow {
    pub(super) name: String,
    pub(super) held_s: f64,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) open: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) waiting: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) steps: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) calls: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) cached: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) mean_s: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) first_s: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) p95_s: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) min_s: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) max_s: Option<f64>,
}

#[derive(Serialize)]
pub(super) struct Speed {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) requests_hz: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) frames_hz: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) blocks_hz: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) first_block_s: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) steps_hz: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) step_median_s: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) computed_step_median_s: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) cached_step_median_s: Option<f64>,
}

#[derive(Serialize)]
pub(super) struct Memory {
    pub(super) peak_bytes: u64,
    pub(super) source: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) peak_at_s: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) peak_in: Option<String>,
}

#[derive(Serialize)]
pub(super) struct System {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) cpu_cores: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) cpu_busy_ratio: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) cores: Option<u64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) gpu_busy_ratios: Vec<f64>,
}

#[derive(Serialize)]
pub(super) struct Found {
    pub(super) rule: &'static str,
    pub(super) subject: String,
    pub(super) figure: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) cost_s: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) share_ratio: Option<f64>,
    pub(super) evidence: Vec<Figure>,
    pub(super) confidence: Confidence,
    pub(super) r#try: String,
}

#[derive(Serialize)]
pub(super) struct Figure {
    pub(super) what: String,
    pub(super) value: f64,
    pub(super) unit: FigureUnit,
}

#[derive(Serialize)]
pub(super) struct Checks {
    pub(super) passed: Vec<&'static str>,
    pub(super) skipped: u64,
}

#[derive(Serialize)]
pub(super) struct NotKnown {
    pub(super) what: &'static str,
    pub(super) record: String,
}
