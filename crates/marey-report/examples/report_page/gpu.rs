//! A run whose sections were measured on two GPUs, with windows of torch's profiler.
//!
//! ```text
//! ms              0    100       300  400  500  600  700       900  1000
//! main            |load|--------- denoise ------------|- decode -|        0 to 100, 100 to 700, 700 to 900
//!                      |-step 0-|step|step|step|step|                     110 to 300, 310 to 400, 410 to 500, 510 to 610, 620 to 690
//! window profile                |-wait-|====|                             302 to 505, records from 405
//! window cut off                                       |========…         720 on, records from 730; never stopped
//! GPU 0, stream 7  |------------- denoise ------------|                   120 to 700
//!                  |---- step 0 ---|step1|    |step3|                     120 to 320, 325 to 405, 530 to 620
//! GPU 1                                               |- decode-|         705 to 885
//! ```
//!
//! It is not known when step 2 began on the GPU, which worked 85 ms for it; step 4 was not measured. [`crate::memory_snapshots`]
//! draws torch's memory.

use marey::{DeviceMemory, GpuSpan, Run, SectionMemory, Value, Window};
use marey::{WindowFailure, WindowFile};
use marey_testing::RunBuilder;

use crate::video::Naming;

pub(crate) const MS: u64 = 1_000_000;
pub(crate) const START_UNIX_NS: u64 = 1_795_000_000_000_000_000;
const MIB: u64 = 1 << 20;
/// From when to when each step was, in milliseconds.
const STEPS: [(u64, u64); 5] = [(110, 300), (310, 400), (410, 500), (510, 610), (620, 690)];

/// The run, every name in it made by `naming`.
pub(crate) fn run(naming: Naming) -> Run {
    let mut run = RunBuilder::new()
        .with(|run| {
            run.info.pid = 4713;
            run.info.start_unix_ns = START_UNIX_NS;
            run.info.facts = vec![("gpu_times".into(), naming("CUDA events"))];
            run.threads[0].name = naming("main");
            run.windows = vec![profile(naming), cut_off(naming)];
        })
        .section(&naming("load"), 0, 100 * MS, |_| {})
        .section(&naming("denoise"), 100 * MS, 700 * MS, |s| {
            for (start, end) in STEPS {
                s.iteration(&naming("denoising_step"), start * MS, end * MS, |_| {});
            }
            s.section("marey window start", 302 * MS, 305 * MS, |_| {});
            s.section("marey window stop", 501 * MS, 506 * MS, |_| {});
        })
        .section(&naming("decode"), 700 * MS, 900 * MS, |_| {})
        .finish(1_000 * MS);
    let node = |name: &str| {
        let found = run.nodes.iter().position(|node| node.name == naming(name));
        found.and_then(|index| u32::try_from(index).ok())
    };
    let (denoise, step, decode) = (node("denoise"), node("denoising_step"), node("decode"));
    run.gpu_spans = spans(denoise, step, decode);
    run.section_memory = memory(step, decode);
    run
}

fn spans(denoise: Option<u32>, step: Option<u32>, decode: Option<u32>) -> Vec<GpuSpan> {
    let span = |node: Option<u32>, (device, stream), start, delay: Option<u64>, gpu| GpuSpan {
        thread: 0,
        node: node.unwrap_or(0),
        start_ns: start * MS,
        device,
        stream,
        delay_ns: delay.map(|ms| ms * MS),
        gpu_ns: gpu * MS,
        error_ns: delay.map(|_| 3_000),
    };
    vec![
        span(denoise, (0, 7), 100, Some(20), 580),
        span(step, (0, 7), 110, Some(10), 200),
        span(step, (0, 7), 310, Some(15), 80),
        span(step, (0, 7), 410, None, 85),
        span(step, (0, 7), 510, Some(20), 90),
        span(decode, (1, 0), 700, Some(5), 180),
    ]
}

/// Two steps on one GPU, and the decoder on both, of which it has nothing on the first.
fn memory(step: Option<u32>, decode: Option<u32>) -> Vec<SectionMemory> {
    let held = |node: Option<u32>, start, device, allocated: [u64; 3], reserved, cut_up| {
        let [before, peak, after] = allocated;
        SectionMemory {
            thread: 0,
            node: node.unwrap_or(0),
            start_ns: start * MS,
            figures: DeviceMemory {
                device,
                allocated_before: before * MIB,
                allocated_peak: peak * MIB,
                allocated_after: after * MIB,
                reserved_before: reserved * MIB,
                reserved_peak: reserved * MIB,
                reserved_after: reserved * MIB,
                inactive_split: cut_up,
                ..DeviceMemory::default()
            },
        }
    };
    vec![
        held(step, 310, 0, [4096, 6144, 4608], 8192, Some(512 * MIB)),
        held(step, 410, 0, [4608, 7168, 4608], 8192, Some(256 * MIB)),
        held(decode, 700, 1, [2048, 3072, 1024], 3072, None),
        held(decode, 700, 0, [0, 0, 0], 0, None),
    ]
}

/// One that waits for a step, records the next one, and is written while the program goes on.
fn profile(naming: Naming) -> Window {
    Window {
        name: naming("profile"),
        instrument: naming("torch.profiler"),
        options: vec![(naming("wait"), Value::Int(1))],
        opened_ns: 302 * MS,
        recording_ns: Some(405 * MS),
        stopped_ns: Some(505 * MS),
        stop_reason: Some(naming("steps")),
        files: vec![WindowFile {
            path: naming("profiles/profile.trace.json.gz"),
            bytes: 3 * MIB,
            at_ns: 650 * MS,
            export_ns: 140 * MS,
        }],
        remarks: vec![naming("no shapes, hooks move the model")],
        ..Window::default()
    }
}

/// One that failed, and was open when the process ended.
fn cut_off(naming: Naming) -> Window {
    Window {
        number: 1,
        name: naming("decoder"),
        instrument: naming("torch.profiler"),
        opened_ns: 720 * MS,
        recording_ns: Some(730 * MS),
        failures: vec![WindowFailure {
            at_ns: 880 * MS,
            during: naming("stop"),
            error: naming("RuntimeError: no buffer"),
        }],
        ..Window::default()
    }
}
