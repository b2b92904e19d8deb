//! What a program reported of its work, as figures.

use marey::live::Look;

use super::figures::{Figures, add, put};
use super::metric::Metric;
use crate::quantity::float;

/// What the program reported of its work. A count that is 0 was never reported: it is absent.
pub(super) fn program(look: &Look, figures: &mut Figures) {
    let is_running = f64::from(u8::from(look.is_running()));
    put(figures, Metric::Running, vec![], is_running);
    put(
        figures,
        Metric::RecordingTime,
        vec![],
        float(look.at_ns) / 1e9,
    );
    let generated = &look.generated;
    let counts = [
        (Metric::Steps, generated.steps),
        (Metric::Blocks, generated.blocks),
        (Metric::BlockFrames, generated.block_frames),
        (Metric::FramesDelivered, generated.streamed_frames),
        (Metric::FramesDropped, generated.dropped_frames),
    ];
    for (metric, count) in counts.into_iter().filter(|(_, count)| *count > 0) {
        add(figures, metric, vec![], float(count));
    }
    // Where lookups are reported, no hit is a number, too.
    if look.cache_hits > 0 || look.cache_misses > 0 {
        for (outcome, count) in [("hit", look.cache_hits), ("miss", look.cache_misses)] {
            let labels = vec![("outcome", outcome.to_owned())];
            add(figures, Metric::CacheLookups, labels, float(count));
        }
    }
    if let Some(step) = look.step.filter(|_| look.is_running()) {
        put(figures, Metric::StepNumber, vec![], float(step));
    }
    let losses = &look.losses;
    let lost = [
        losses.sections_ring_full,
        losses.sections_not_written,
        losses.sections_unrecorded,
        losses.notes_dropped,
    ];
    let lost = lost.into_iter().fold(0, u64::saturating_add);
    add(figures, Metric::RecordsLost, vec![], float(lost));
}
