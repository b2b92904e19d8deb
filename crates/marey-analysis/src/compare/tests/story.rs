//! Document 000's regression, drawn.

use super::*;

/// Document 000, before and after the change: the decoder kept its weights on the GPU, which left no room for what streams
/// from the SSD.
///
/// ```text
///                before              after
/// encode         5 s                 5 s
/// denoise        50 × 2 s            50 × 2 s
/// vae_decode     12 × 3.75 s = 45 s  12 × 35.7 s = 428 s
///   sdpa                             12 × 31.7 s = 380 s
/// reads          2.1 GB/s            0.03 GB/s        while vae_decode is open
/// GPU            8.2 GB              23.8 GB          at its peak
/// ```
pub(super) fn better_transformer(is_after: bool, seed: u64) -> Run {
    let decode_ns = if is_after { 428 * SECOND / 12 } else { 45 * SECOND / 12 };
    let decodes = durations(seed + 7, 12, decode_ns);
    let steps_ns = durations(seed, 50, 2 * SECOND);
    let denoised = 5 * SECOND + steps_ns.iter().sum::<u64>();
    let end = denoised + decodes.iter().sum::<u64>();
    let per_second = if is_after { 0.03 * GB } else { 2.1 * GB };
    let memory = |at_ns, allocated_bytes| MemoryReading {
        at_ns,
        label: None,
        source: MemorySource::TorchCuda(0),
        allocated_bytes,
        reserved_bytes: Some(allocated_bytes + 300_000_000),
        peak_bytes: Some(allocated_bytes),
        session: None,
    };
    let peak = if is_after { 23_800_000_000 } else { 8_200_000_000 };
    RunBuilder::new()
        .section("generate", 0, end, |s| {
            s.section("encode", 0, 5 * SECOND, |_| {});
            s.section("denoise", 5 * SECOND, denoised, |s| {
                let mut at = 5 * SECOND;
                for step_ns in &steps_ns {
                    s.iteration("step", at, at + step_ns, |_| {});
                    at += step_ns;
                }
            });
            let mut at = denoised;
            for decode_ns in &decodes {
                s.section("vae_decode", at, at + decode_ns, |s| {
                    if is_after {
                        s.section("sdpa", at, at + decode_ns * 380 / 428, |_| {});
                    }
                });
                at += decode_ns;
            }
        })
        .used("vae_decode", |ns| reads(per_second * crate::stats::float(ns) / 1e9))
        .memory(memory(3 * SECOND, 6_000_000_000))
        .memory(memory(end - SECOND, peak))
        .finish(end)
}

#[test]
fn the_story_of_document_000_is_in_the_first_three_lines() {
    let found = one(&better_transformer(false, 1), &better_transformer(true, 2));
    assert_eq!(found.verdict, Verdict::Worse);
    let lines: Vec<(&str, &Measure)> =
        found.headline.iter().map(|line| (line.what, &found.measures[line.measure])).collect();
    let [time, memory, reads] = lines[..3] else { panic!("{lines:?}") };
    let decode = path(&["generate", "vae_decode"]);
    let value = |side: Option<Observed>| side.unwrap().value;
    let seconds = |side| (value(side) / 1e9).round();
    assert_eq!((time.0, &time.1.subject), ("slower", &decode));
    assert_eq!(time.1.kind, MeasureKind::SectionTotal);
    assert!((44.0..=46.0).contains(&seconds(time.1.baseline)));
    assert!((420.0..=436.0).contains(&seconds(time.1.candidate)));

    assert_eq!((memory.0, &memory.1.subject), ("more memory", &Subject::Memory("cuda:0".into())));
    assert_eq!(memory.1.kind, MeasureKind::MemoryPeak);
    assert_eq!((value(memory.1.baseline), value(memory.1.candidate)), (8.2e9, 23.8e9));

    assert_eq!((reads.0, &reads.1.subject), ("reads from disk starve", &decode));
    assert_eq!(reads.1.kind, MeasureKind::SectionReadRate);
    let near = |found, bytes: f64| (value(found) / bytes - 1.0).abs() < 1e-6;
    assert!(near(reads.1.baseline, 2.1 * GB) && near(reads.1.candidate, 0.03 * GB), "{reads:?}");
}

#[test]
fn what_got_faster_is_told_the_same_way_the_other_way_round() {
    let found = one(&better_transformer(true, 1), &better_transformer(false, 2));
    assert_eq!(found.verdict, Verdict::Better);
    let told: Vec<&str> = found.headline[..3].iter().map(|line| line.what).collect();
    assert_eq!(told, ["faster", "less memory", "reads from disk flow"]);
}
