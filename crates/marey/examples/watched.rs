//! Does what the lines on its standard input say, and says `ok` after each: a process for others to look at.
//!
//! `open NAME` · `close` (what was opened last) · `section NAME N` · `turn NAME N` (N turns of a loop) · `step N` · `at STEP` (a step of that number; without one `at -`) · `schedule MADE STEPS` · `cache OUTCOME N` · `block FRAMES` ·
//! `streamed FRAMES` · `dropped FRAMES` (reports of the program) · `sample MEMORY UTILIZATION READ` (what the sampler reads from then
//! on; returns when it has) · `rank RANK WORLD` (what the program says) · `finish` · `again` (records once more)
//!
//! Ends when its input does.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test program")]

use std::sync::Mutex;
use std::time::Duration;

use marey::{
    BlockComputation, CacheEvent, CacheOutcome, DiffusionStep, Generation, NodeKind, Note,
    SamplerOptions, SeriesInfo, Source, StreamingEvent, Unit,
};

/// What the sampler reads: bytes of memory, a share, bytes read from a disk so far.
static READINGS: Mutex<[f64; 3]> = Mutex::new([f64::NAN; 3]);

struct Scripted;

impl Source for Scripted {
    fn series(&self) -> Vec<SeriesInfo> {
        vec![
            SeriesInfo::gauge("process.memory.resident", "", Unit::Bytes),
            SeriesInfo::gauge("gpu.utilization", "GPU-\x1b[31m", Unit::Ratio),
            SeriesInfo::cumulative("process.disk.read", "", Unit::Bytes),
        ]
    }

    fn read(&mut self, values: &mut [f64]) {
        values.copy_from_slice(&*READINGS.lock().unwrap());
    }
}

fn main() {
    let mut recording = marey::start_from_env();
    let options = SamplerOptions {
        name: "scripted",
        interval: Duration::from_millis(1),
        max_points: 10_000,
        switches: 0,
        has_own_descriptors: true,
    };
    let recorder = marey::recorder().expect("MAREY_ENABLED=1");
    recorder.start_sampler(options, || Box::new(Scripted));
    let mut open = Vec::new();
    for line in std::io::stdin().lines() {
        let line = line.unwrap();
        let words: Vec<&str> = line.split(' ').collect();
        match words[..] {
            ["open", name] => open.push(marey::section_named(name)),
            ["close"] => drop(open.pop()),
            ["section", name, n] => calls(name, NodeKind::Section, n),
            ["turn", name, n] => calls(name, NodeKind::Iteration, n),
            ["step", n] => (0..n.parse().unwrap())
                .for_each(|_| report(Generation::Step(DiffusionStep::default()))),
            ["schedule", n_made, n_steps] => {
                recorder.tell_schedule(n_made.parse().unwrap(), n_steps.parse().unwrap());
            }
            ["at", step] => report(Generation::Step(DiffusionStep {
                step: step.parse().ok(),
                ..DiffusionStep::default()
            })),
            ["cache", outcome, n] => (0..n.parse().unwrap()).for_each(|_| cache(outcome)),
            ["block", frames] => report(Generation::Block(BlockComputation {
                size: Some(frames.parse().unwrap()),
                ..BlockComputation::default()
            })),
            ["streamed", frames] => report(Generation::Streaming(StreamingEvent {
                frames: Some(frames.parse().unwrap()),
                ..StreamingEvent::default()
            })),
            ["dropped", frames] => {
                report(Generation::DroppedFrames { count: frames.parse().unwrap() });
            }
            ["sample", memory, utilization, read] => {
                sample([memory, utilization, read].map(|value| value.parse().unwrap()));
            }
            ["rank", rank, world] => {
                let [rank, world] = [rank, world].map(|number| number.parse().unwrap());
                assert!(marey::set_rank(rank, world, None));
            }
            ["finish"] => drop(recording.take()),
            ["again"] => recording = marey::start_from_env(),
            _ => unreachable!("{line}"),
        }
        println!("ok");
    }
}

fn calls(name: &str, kind: NodeKind, n: &str) {
    let lane = marey::lane().unwrap();
    let slot = lane.recorder().take_slots(1).unwrap()[0];
    let node = lane.node(lane.recorder().name(name.as_bytes()), kind, false);
    for _ in 0..n.parse().unwrap() {
        lane.enter(slot, node, 0);
        lane.exit(slot, marey::Ending::default());
    }
}

fn cache(outcome: &str) {
    let outcome = match outcome {
        "hit" => CacheOutcome::Hit,
        "miss" => CacheOutcome::Miss,
        "lookup" => CacheOutcome::Lookup,
        _ => CacheOutcome::Eviction,
    };
    marey::recorder().unwrap().note(&Note::Cache(CacheEvent {
        cache: "teacache".into(),
        outcome,
        ..CacheEvent::default()
    }));
}

fn report(what: Generation) {
    marey::recorder().unwrap().note(&Note::Generation(what));
}

fn sample(readings: [f64; 3]) {
    *READINGS.lock().unwrap() = readings;
    let is_read = |at: usize| {
        let latest = marey::recorder().unwrap().latest_readings();
        let is_it = |value: &f64| value.to_bits() == readings[at].to_bits();
        latest.iter().any(|(_, value, _)| is_it(value))
    };
    while !(0..3).all(is_read) {
        std::thread::yield_now();
    }
}
