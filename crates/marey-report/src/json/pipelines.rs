//! `pipelines`: what each pipeline of the run did.

use marey_analysis::Pipeline;
use serde::Serialize;

use super::calls::timing_stats;
use super::diffusion::frame_rate;
use super::figures::durations;
use super::models;
use super::object::object;
use super::{Pairs, seconds};

/// One pipeline.
pub(super) fn pipeline(found: &Pipeline) -> impl Serialize {
    let sections = found.sections.iter();
    let sections = sections.map(|row| (row.name.as_str(), timing_stats(row)));
    object! {
        name: &found.name,
        calls: found.n_calls,
        failed: found.n_failed,
        cut_off: found.n_cut_off,
        total: seconds(found.calls_ns),
        total_steps: found.n_steps,
        warm_up: durations(found.warm_up.as_ref()),
        steady: durations(found.steady.as_ref()),
        steps_per_second: found.steps_per_second,
        frame_rates: found.rates.iter().map(frame_rate).collect::<Vec<_>>(),
        model_analysis: found.models.as_ref().map(models::named),
        timing_stats: Pairs(sections.collect()),
    }
}
