//! `data_quality`: how far the figures can be trusted.

use serde::Serialize;

use super::{Pairs, seconds};
use crate::model::{OpenCall, Report};

/// `data_quality` of the report.
#[derive(Serialize)]
pub(super) struct DataQuality<'a> {
    is_complete: bool,
    how_measured: &'a str,
    clock: Option<&'a str>,
    synchronised_sections: Vec<SynchronisedObject<'a>>,
    losses: Pairs<&'static str, u64>,
    warnings: &'a [String],
    open_sections: Vec<OpenObject<'a>>,
}

#[derive(Serialize)]
struct SynchronisedObject<'a> {
    section: u32,
    path: Vec<&'a str>,
    calls: u64,
    is_at_least: bool,
}

#[derive(Serialize)]
struct OpenObject<'a> {
    section: u32,
    path: Vec<&'a str>,
    thread: Option<&'a str>,
    start: f64,
    so_far: f64,
}

impl<'a> DataQuality<'a> {
    pub(super) fn new(report: &'a Report) -> Self {
        let quality = &report.quality;
        let losses = quality.losses.iter();
        Self {
            is_complete: quality.is_complete,
            how_measured: &quality.how_measured,
            clock: report.run.clock.as_deref(),
            synchronised_sections: quality
                .synchronised
                .iter()
                .map(|row| SynchronisedObject {
                    section: row.node,
                    path: report.call_path(row.node),
                    calls: row.n_calls,
                    is_at_least: row.is_at_least,
                })
                .collect(),
            losses: Pairs(losses.map(|loss| (loss.kind, loss.count)).collect()),
            warnings: &quality.warnings,
            open_sections: quality
                .open
                .iter()
                .map(|open| OpenObject::new(report, open))
                .collect(),
        }
    }
}

impl<'a> OpenObject<'a> {
    fn new(report: &'a Report, open: &'a OpenCall) -> Self {
        Self {
            section: open.node,
            path: report.call_path(open.node),
            thread: open.thread.as_deref(),
            start: seconds(open.start_ns),
            so_far: seconds(open.so_far_ns),
        }
    }
}
