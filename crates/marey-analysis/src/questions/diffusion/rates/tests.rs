use super::*;
use crate::{Thresholds, diffusion};
use marey::{BlockComputation, DiffusionStep, Generation, StreamingEvent};
use marey_testing::RunBuilder;

const SECOND: u64 = 1_000_000_000;

fn block(index: u64, frames: u64, ns: u64) -> Generation {
    Generation::Block(BlockComputation {
        index: Some(index),
        size: Some(frames),
        computation_ns: Some(ns),
        memory_bytes: None,
    })
}

fn delivered(frames: u64) -> Generation {
    Generation::Streaming(StreamingEvent { frames: Some(frames), ..StreamingEvent::default() })
}

fn of(run: &Run) -> Vec<FrameRate> {
    diffusion(run, &Thresholds::default()).unwrap().rates
}

fn figures(rates: &[FrameRate]) -> Vec<(f64, Option<bool>, Option<bool>)> {
    let figures = |r: &FrameRate| (r.per_second, r.includes_text_encoding, r.includes_vae);
    rates.iter().map(figures).collect()
}

#[test]
fn text_encoding_and_vae_decoding_are_counted_where_a_rate_says_so() {
    // s          0   2     6     10    12
    // main       |txt||blk 0||blk 1|
    //                    |vae|              1 s of block 0, in its thread
    // worker               |vae|   |vae|    5.5 to 7 and 10 to 12; 1 s of the first beside block 1
    let run = RunBuilder::new()
        .section("text_encoding", 0, 2 * SECOND, |_| {})
        .section("vae_decode", 5 * SECOND, 6 * SECOND, |_| {})
        .generation(6 * SECOND, None, block(0, 6, 4 * SECOND))
        .generation(10 * SECOND, None, block(1, 6, 4 * SECOND))
        .thread("worker")
        .section("vae.decode", 6 * SECOND, 7 * SECOND, |_| {})
        .section("vae.decode", 10 * SECOND, 12 * SECOND, |_| {})
        .finish(20 * SECOND);
    let rates = of(&run);
    // Without both 8 − 1 s; with VAE 8 + 2 s; with both 2 s more.
    let expected = [
        (12.0 / 7.0, Some(false), Some(false)),
        (12.0 / 10.0, Some(false), Some(true)),
        (12.0 / 12.0, Some(true), Some(true)),
    ];
    assert_eq!(figures(&rates), expected);
    let words: Vec<&str> = rates.iter().map(|rate| rate.meaning.as_str()).collect();
    assert_eq!(
        words,
        [
            "latent frames in a second of blocks, without text encoding and VAE decoding",
            "latent frames in a second of blocks, with VAE decoding, without text encoding",
            "latent frames in a second of blocks, with text encoding and VAE decoding",
        ]
    );
}

#[test]
fn latent_and_pixel_frames_are_two_rates() {
    // 120 latent frames in 80 s become 477 pixel frames.
    let run = RunBuilder::new()
        .generation(80 * SECOND, None, block(0, 120, 80 * SECOND))
        .generation(81 * SECOND, None, delivered(477))
        .finish(90 * SECOND);
    let rates = of(&run);
    assert_eq!(rates.len(), 2);
    let latent = &rates[0];
    assert_eq!((latent.kind, latent.per_second), (FrameKind::Latent, 1.5));
    assert_eq!((latent.frames, latent.over_ns), (120, 80 * SECOND));
    assert_eq!(
        latent.meaning,
        "latent frames in a second of blocks; text encoding and VAE decoding not recorded apart"
    );
    let pixel = &rates[1];
    assert_eq!((pixel.kind, pixel.frames), (FrameKind::Pixel, 477));
    assert_eq!(pixel.per_second, 5.9625);
}

#[test]
fn delivered_frames_have_the_rate_of_their_delivery_too() {
    let run = RunBuilder::new()
        .section("vae_decode", SECOND, 3 * SECOND, |_| {})
        .section("text_encoding", 0, SECOND, |_| {})
        .generation(SECOND, None, delivered(8))
        .generation(3 * SECOND, None, delivered(8))
        .finish(4 * SECOND);
    let rates = of(&run);
    assert_eq!(figures(&rates), [(4.0, Some(false), Some(true))]);
    assert_eq!((rates[0].frames, rates[0].over_ns), (8, 2 * SECOND));
}

#[test]
fn each_session_delivers_for_itself() {
    // s      0    1    2    3    …   12   13   14
    // A           8    8                            8 in 1 s
    // vae                    |vae|                  between the two
    // B                                   8    8    8 in 1 s
    let run = RunBuilder::new()
        .session("A", 0, Some(2 * SECOND), vec![])
        .session("B", 12 * SECOND, Some(14 * SECOND), vec![])
        .section("vae_decode", 4 * SECOND, 5 * SECOND, |_| {})
        .generation(SECOND, Some(0), delivered(8))
        .generation(2 * SECOND, Some(0), delivered(8))
        .generation(13 * SECOND, Some(1), delivered(8))
        .generation(14 * SECOND, Some(1), delivered(8))
        .finish(20 * SECOND);
    let rates = of(&run);
    assert_eq!(figures(&rates), [(8.0, None, Some(false))]);
    assert_eq!((rates[0].frames, rates[0].over_ns), (16, 2 * SECOND));
    assert_eq!(
        rates[0].meaning,
        "pixel frames delivered in a second, from each session's first delivery to its last, with all that went on meanwhile"
    );
}

#[test]
fn without_blocks_the_frames_of_a_loop_count_once() {
    let mut builder = RunBuilder::new();
    for n in 0..8 {
        let step = DiffusionStep {
            step: Some(n % 4),
            block_size: Some(3),
            computation_ns: Some(SECOND / 10),
            ..DiffusionStep::default()
        };
        builder = builder.generation((n + 1) * SECOND / 10, None, Generation::Step(step));
    }
    let rates = of(&builder.finish(SECOND));
    assert_eq!((rates.len(), rates[0].frames), (1, 6));
    assert_eq!(rates[0].per_second, 7.5);
    assert!(rates[0].meaning.starts_with("latent frames in a second of denoising steps;"));
}

#[test]
fn reports_that_come_at_once_keep_the_times_that_they_say() {
    // As a program does that reports everything at its end.
    let run = RunBuilder::new()
        .generation(1, None, block(0, 3, 400_000_000))
        .generation(2, None, block(1, 3, 400_000_000))
        .finish(10);
    assert_eq!(of(&run)[0].per_second, 7.5);
}

#[test]
fn calls_that_were_not_recorded_are_not_taken_for_known() {
    let mut run = RunBuilder::new()
        .section("vae_decode", 0, 10, |_| {})
        .section("vae_decode", 20, 30, |_| {})
        .generation(100, None, block(0, 3, 100))
        .finish(200);
    run.sections.pop();
    let rates = of(&run);
    assert_eq!((rates.len(), rates[0].includes_vae), (1, None));
}

#[test]
fn blocks_that_took_no_time_have_no_rate() {
    let run = RunBuilder::new().generation(100, None, block(0, 3, 0)).finish(200);
    assert!(of(&run).is_empty());
}

/// Calls of the VAE, each with the frames that it says, if it does; a block of 4 s before them.
fn decoding(calls: &[Option<i64>]) -> Run {
    let mut builder = RunBuilder::new().generation(4 * SECOND, None, block(0, 3, 4 * SECOND));
    for n in 0..calls.len() as u64 {
        let start_ns = (4 + n) * SECOND;
        builder = builder.section("vae_decode", start_ns, start_ns + SECOND, |_| {});
    }
    let mut run = builder.finish(20 * SECOND);
    let said = calls.iter().enumerate();
    let said = said.filter_map(|(section, frames)| {
        Some(marey::SectionAttributes {
            section,
            attributes: vec![("frames".into(), (*frames)?.into())],
            session: None,
        })
    });
    run.section_attributes = said.collect();
    run
}

#[test]
fn where_nothing_was_delivered_decoded_frames_count() {
    // s     0              4      5      6
    //       |--- block ----||- 12-||- 9 -|    21 frames in 4 s, and in 6 s with the VAE
    let rates = of(&decoding(&[Some(12), Some(9)]));
    let pixel = rates.iter().filter(|rate| rate.kind == FrameKind::Pixel);
    let pixel: Vec<&FrameRate> = pixel.collect();
    let figures: Vec<_> = pixel.iter().map(|r| (r.frames, r.per_second)).collect();
    assert_eq!(figures, [(21, 5.25), (21, 3.5)]);
    assert_eq!(
        pixel[1].meaning,
        "pixel frames in a second of blocks, with VAE decoding; text encoding not recorded apart; \
         decoded, by the attribute `frames` of vae_decode"
    );
}

#[test]
fn a_call_that_failed_decoded_nothing() {
    let mut run = decoding(&[Some(12), Some(9), Some(12)]);
    let failed = run.section_attributes[1].section;
    run.sections[failed].is_failed = true;
    let rates = of(&run);
    let pixel = rates.iter().find(|rate| rate.kind == FrameKind::Pixel);
    assert_eq!(pixel.unwrap().frames, 24);
}

#[test]
fn generations_that_deliver_and_others_that_decode_count_together() {
    // s     0       4    5  6             10   11
    // A     |-block-|vae| 24 delivered
    // B                     |--- block ---|vae|  40 decoded
    let mut run = RunBuilder::new()
        .session("A", 0, Some(6 * SECOND), vec![])
        .session("B", 6 * SECOND, Some(12 * SECOND), vec![])
        .generation(4 * SECOND, Some(0), block(0, 3, 4 * SECOND))
        .section("vae_decode", 4 * SECOND, 5 * SECOND, |_| {})
        .generation(5 * SECOND, Some(0), delivered(24))
        .generation(10 * SECOND, Some(1), block(0, 3, 4 * SECOND))
        .section("vae_decode", 10 * SECOND, 11 * SECOND, |_| {})
        .finish(12 * SECOND);
    let pixels = |run: &Run| -> Vec<(u64, f64)> {
        let rates = of(run).into_iter();
        let pixel = rates.filter(|rate| rate.kind == FrameKind::Pixel);
        pixel.map(|rate| (rate.frames, rate.per_second)).collect()
    };
    // What B decoded is not known: nor is any rate of both.
    assert_eq!(pixels(&run), []);
    for (section, frames) in [(0, 30_i64), (1, 40)] {
        run.section_attributes.push(marey::SectionAttributes {
            section,
            attributes: vec![("frames".into(), frames.into())],
            session: None,
        });
    }
    // The third: from the beginning of A to the end of B.
    assert_eq!(pixels(&run), [(64, 8.0), (64, 6.4), (64, 64.0 / 12.0)]);
}

#[test]
fn decoded_frames_count_only_when_all_calls_say_them() {
    let is_pixel = |rate: &FrameRate| rate.kind == FrameKind::Pixel;
    for calls in [&[Some(12), None][..], &[Some(0)], &[Some(-1)], &[]] {
        assert!(!of(&decoding(calls)).iter().any(is_pixel), "{calls:?}");
    }
    let mut cut = decoding(&[Some(12), Some(12)]);
    cut.sections.pop();
    cut.section_attributes.pop();
    assert!(!of(&cut).iter().any(is_pixel));
}

#[test]
fn blocks_of_two_threads_at_once_take_their_time_once() {
    // s        0       4       8
    // main     |- blk -||- blk -|
    //                |vae|            3 to 4, and so in the worker
    // worker   |- blk -||- blk -|
    let mut builder = RunBuilder::new();
    for thread in ["", "worker"] {
        if !thread.is_empty() {
            builder = builder.thread(thread);
        }
        builder = builder
            .section("vae_decode", 3 * SECOND, 4 * SECOND, |_| {})
            .generation(4 * SECOND, None, block(0, 7, 4 * SECOND))
            .generation(8 * SECOND, None, block(1, 7, 4 * SECOND));
    }
    let run = builder.finish(20 * SECOND);
    let rates = of(&run);
    let expected = [(28.0 / 7.0, None, Some(false)), (28.0 / 8.0, None, Some(true))];
    assert_eq!(figures(&rates), expected);
    let found = diffusion(&run, &Thresholds::default()).unwrap();
    let blocks = found.blocks.unwrap();
    assert_eq!(blocks.loops_per_second, Some(0.5));
    assert_eq!(blocks.frames_per_second, Some(3.5));
}

#[test]
fn pixel_frames_are_of_all_blocks_and_latent_ones_of_those_that_said_theirs() {
    // block 0, 3 latent frames, 100 ms; block 1 does not say, 100 ms; 5 pixel frames delivered after each
    let silent = Generation::Block(BlockComputation {
        index: Some(1),
        size: None,
        computation_ns: Some(SECOND / 10),
        memory_bytes: None,
    });
    let run = |second: Generation| {
        RunBuilder::new()
            .generation(SECOND / 10, None, block(0, 3, SECOND / 10))
            .generation(SECOND / 10, None, delivered(5))
            .generation(SECOND / 5, None, second)
            .generation(SECOND / 5, None, delivered(5))
            .finish(SECOND)
    };
    let rates = of(&run(silent));
    let of_blocks: Vec<(FrameKind, u64, f64)> = rates
        .iter()
        .filter(|rate| rate.meaning.contains("of blocks"))
        .map(|rate| (rate.kind, rate.frames, rate.per_second))
        .collect();
    assert_eq!(of_blocks, [(FrameKind::Latent, 3, 30.0), (FrameKind::Pixel, 10, 50.0)]);
    // A block of which nobody knows how long it took: no time to divide by.
    let unknown =
        Generation::Block(BlockComputation { index: Some(1), ..BlockComputation::default() });
    let rates = of(&run(unknown));
    let is_pixel = |rate: &&FrameRate| rate.meaning.contains("pixel frames in a second of blocks");
    assert_eq!(rates.iter().filter(is_pixel).count(), 0);
}

#[test]
fn frames_that_a_decoder_returned_have_a_rate_where_each_call_said() {
    // step |-- 1 s --| |-- 1 s --|  vae_decode |-- 16 frames --|
    let run = |n_events: usize| {
        let mut builder = RunBuilder::new()
            .iteration("denoising_step", 0, SECOND, |_| {})
            .iteration("denoising_step", SECOND, 2 * SECOND, |_| {})
            .section("vae_decode", 2 * SECOND, 3 * SECOND, |_| {});
        for _ in 0..n_events {
            let frames = vec![("frames".to_owned(), marey::Value::Int(16))];
            builder = builder.event("frames_decoded", 3 * SECOND, frames);
        }
        builder.finish(3 * SECOND)
    };
    let rates = of(&run(1));
    let first = &rates[0];
    assert_eq!((first.frames, first.over_ns), (16, 2 * SECOND));
    assert!(first.meaning.ends_with("decoded, by what the decoder returned"), "{}", first.meaning);
    assert!(of(&run(2)).is_empty(), "two events of one call");
}

#[test]
fn steps_of_a_pipeline_within_steps_of_another_take_no_time_of_their_own() {
    // outer    |------------ 1 s ------------||------ 1 s ------|
    // inner       |- 0.2 -||- 0.2 -|                                3 latent frames each
    let step = |frames, took_ns: u64| marey::DiffusionStep {
        block_size: frames,
        computation_ns: Some(took_ns),
        ..marey::DiffusionStep::default()
    };
    let mut run = RunBuilder::new().session("outer", 0, Some(2 * SECOND), vec![]).session(
        "inner",
        SECOND / 10,
        Some(SECOND / 2),
        vec![],
    );
    let ends = [(1, 300, Some(3), 200), (1, 500, Some(3), 200)];
    let outer = [(0, 1000, Some(5), 1000), (0, 2000, Some(5), 1000)];
    for (session, end_ms, frames, took_ms) in ends.into_iter().chain(outer) {
        let made = Generation::Step(step(frames, took_ms * 1_000_000));
        run = run.generation(end_ms * 1_000_000, Some(session), made);
    }
    let rates = of(&run.finish(2 * SECOND));
    let rate = &rates[0];
    assert_eq!((rate.frames, rate.over_ns), (5 + 3, 2 * SECOND), "{rates:?}");
}
