//! What holds for all rules together: a healthy run has no findings, each rule has a run in which it finds something, and the
//! documentation names every rule and every limit.

mod cases;
mod documented;
mod extremes;
mod healthy;

use marey::Run;
use marey_analysis::findings::{Facts, Findings, Thresholds, findings};

/// What all rules say of a run.
fn all(run: &Run) -> Findings {
    let limits = Thresholds::of(run);
    let sections = marey_analysis::sections(run);
    let (memory, streaming) = (marey_analysis::memory(run), marey_analysis::streaming(run));
    let diffusion = marey_analysis::diffusion(run, &limits);
    let caches = marey_analysis::caches(run);
    findings(&Facts {
        run,
        sections: &sections,
        stages: &marey_analysis::stages(&sections),
        iterations: &marey_analysis::iterations(run),
        memory: memory.as_ref(),
        telemetry: &marey_analysis::telemetry(run),
        streaming: streaming.as_ref(),
        diffusion: diffusion.as_ref(),
        caches: caches.as_ref(),
        windows: marey_analysis::windows(run, diffusion.as_ref()).as_ref(),
        thresholds: &limits,
    })
}
