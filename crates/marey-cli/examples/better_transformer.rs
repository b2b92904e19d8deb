//! The pipeline of a regression that really happened, 400 times as fast: the other side of the tests of `marey compare`.
//!
//! `better_transformer before|after`. A faster attention was switched on; it kept the model on the GPU, where
//! nothing was left for the rest:
//!
//! ```text
//!            vae_decode    of that sdpa    GPU memory
//! before        45 s           4 s          8.2 GiB
//! after        428 s         384 s         23.8 GiB
//! ```
//!
//! Sections are real, the memory is made up.

#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "a test program")]

use std::time::Duration;

use marey::{SamplerOptions, SeriesInfo, Source, Unit};

const CALLS: u32 = 12;
const GIB: f64 = 1_073_741_824.0;
const TIMES_AS_FAST: f64 = 400.0;

/// What differs.
#[derive(Clone, Copy)]
struct Pipeline {
    attention_s: f64,
    gpu_bytes: f64,
}

const BEFORE: Pipeline = Pipeline { attention_s: 4.0, gpu_bytes: 8.2 * GIB };

const AFTER: Pipeline = Pipeline { attention_s: 384.0, gpu_bytes: 23.8 * GIB };

/// The time of the decoder outside of attention, in all calls.
const CONVOLUTION_S: f64 = 41.0;

/// The machine as it would have been seen.
struct Machine {
    pipeline: Pipeline,
}

impl Source for Machine {
    fn series(&self) -> Vec<SeriesInfo> {
        vec![
            SeriesInfo::gauge("gpu.memory.used", "GPU-1", Unit::Bytes),
            SeriesInfo::gauge("gpu.memory.total", "GPU-1", Unit::Bytes),
        ]
    }

    fn read(&mut self, values: &mut [f64]) {
        values[0] = self.pipeline.gpu_bytes;
        values[1] = 24.0 * GIB;
    }
}

fn main() {
    let pipeline = match std::env::args().nth(1).as_deref() {
        Some("before") => BEFORE,
        Some("after") => AFTER,
        other => panic!("before or after, not {other:?}"),
    };
    let recording = marey::start_from_env().expect("MAREY_ENABLED=1");
    let options = SamplerOptions {
        name: "machine",
        interval: Duration::from_millis(5),
        max_points: 1000,
        switches: 0,
        has_own_descriptors: true,
    };
    let machine = Machine { pipeline };
    assert!(marey::recorder().unwrap().start_sampler(options, || Box::new(machine)));
    for call in 0..CALLS {
        let _decode = marey::section!("vae_decode");
        take(CONVOLUTION_S, call);
        let _attention = marey::section!("sdpa");
        take(pipeline.attention_s, call);
    }
    recording.finish();
}

/// One call's share of a time, give or take two percent.
fn take(all_calls_s: f64, call: u32) {
    let uneven = 1.0 + 0.02 * (f64::from(call % 5) - 2.0) / 2.0;
    std::thread::sleep(Duration::from_secs_f64(
        all_calls_s / f64::from(CALLS) / TIMES_AS_FAST * uneven,
    ));
}
