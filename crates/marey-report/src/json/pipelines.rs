//! `pipelines`: what each pipeline of the run did.

use marey_analysis::Pipeline;

use super::calls::timing_stats;
use super::diffusion::frame_rate;
use super::figures::durations;
use super::models;
use super::object::{Json, object};
use super::{Pairs, seconds};

/// One pipeline.
pub(super) fn pipeline(found: &Pipeline) -> impl Json {
    let sections = found.sections.iter();
    let sections = sections.map(|row| (row.name.as_str(), timing_stats(row)));
    object! {
        /// What one pipeline did: sessions with its name as the tag `pipeline`, and sessions within them that have none.
        struct Pipeline;
        /// The tag of its sessions.
        name: &found.name,
        /// Sessions with that tag.
        calls: found.n_calls,
        /// Calls that an error left.
        failed: found.n_failed,
        /// Calls that were stopped before their end, or that nobody ended.
        cut_off: found.n_cut_off,
        /// Seconds in which at least one of its calls went on, with other pipelines within it.
        total: seconds(found.calls_ns),
        /// Denoising steps.
        total_steps: found.n_steps,
        /// Its first step; null when its duration is not known.
        warm_up: durations(found.warm_up.as_ref()),
        /// All other steps; null when there is none whose duration is known.
        steady: durations(found.steady.as_ref()),
        /// Steady steps in a second of their time.
        steps_per_second: found.steps_per_second,
        frame_rates: found.rates.iter().map(frame_rate).collect::<Vec<_>>(),
        /// Its models; null when none was named.
        model_analysis: found.models.as_ref().map(models::named),
        /// Its sections by name, longest total first; those that were recorded one by one. Shares are of the time from the beginning of its
        /// first call to the end of its last.
        timing_stats: Pairs(sections.collect()),
    }
}
