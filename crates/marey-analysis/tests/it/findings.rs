//! What holds for all rules together: a healthy run has no findings, and the documentation names every rule and every limit.

mod extremes;
mod healthy;

use marey::{Run, SeriesInfo, Unit};
use marey_analysis::findings::{Facts, Findings, Severity, Thresholds, findings};
use marey_testing::RunBuilder;

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
        account: marey_analysis::wall_account(run, &sections).as_ref(),
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

#[test]
fn the_most_severe_finding_stands_first() {
    let gauge = |name, unit| SeriesInfo::gauge(name, "GPU-1", unit);
    let run = RunBuilder::new()
        .section("load", 0, 80, |_| {})
        .series(gauge("gpu.temperature", Unit::Celsius), &[(10, 86.0)])
        .series(gauge("gpu.memory.used", Unit::Bytes), &[(10, 95.0)])
        .series(gauge("gpu.memory.total", Unit::Bytes), &[(10, 100.0)])
        .finish(100);
    let found = all(&run).found;
    let severities: Vec<Severity> = found.iter().map(|f| f.severity).collect();
    assert_eq!(severities, [Severity::High, Severity::Medium, Severity::Low]);
}
