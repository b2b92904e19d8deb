//! A causal video pipeline that streams: load, text encoding, blocks of denoising steps, VAE decoding in a thread of its own,
//! a cache, and the machine meanwhile.

use marey::{
    Allocation, BlockComputation, CacheEvent, CacheOutcome, DiffusionStep, Generation,
    LayerComputation, MemoryReading, MemorySource, ModelParameters, Run, SeriesInfo,
    StreamingEvent, Unit, Value,
};
use marey_testing::RunBuilder;

const MS: u64 = 1_000_000;
const S: u64 = 1_000 * MS;
const GIB: u64 = 1 << 30;
const BLOCKS: u64 = 7;
const STEPS: u64 = 4;

/// Makes a name of a name.
pub(crate) type Naming = fn(&str) -> String;

/// Names as a program would have them.
pub(crate) const PLAIN: Naming = |name| name.to_owned();

/// Names that try to become markup, a path or a control code.
pub(crate) const HOSTILE: Naming = |name| {
    format!(
        "{name}</script><img src=x onerror=\"window.injected=1\">\x1b[31m../{{{{columns}}}}&amp;\u{202e}"
    )
};

/// The run, every name in it made by `naming`.
pub(crate) fn run(naming: Naming) -> Run {
    let name = |plain: &str| naming(plain);
    let mut builder = RunBuilder::new()
        .with(|run| {
            run.info.pid = 4711;
            run.info.host = naming("studio");
            run.info.job_id = naming("20261120-video");
            run.info.start_unix_ns = 1_795_000_000_000_000_000;
            run.info.clock = "tsc".into();
            run.info.command =
                ["python", "generate.py", "--prompt", "(redacted)"].map(naming).into();
            run.info.facts = vec![
                ("marey.version".into(), "0.1.0".into()),
                ("python.version".into(), "3.12.4".into()),
                (naming("host.cpu"), naming("16 cores")),
                ("host.cpus".into(), "16".into()),
                ("host.memory_bytes".into(), (64 * GIB).to_string()),
            ];
            run.threads[0].os_id = 4711;
            run.threads[0].name = naming("main");
        })
        .session(
            &name("generation"),
            1_500 * MS,
            Some(10_650 * MS),
            vec![(name("model"), Value::Text(naming("self_forcing")))],
        )
        .section(&name("load_models"), 20 * MS, 1_400 * MS, |s| {
            s.section(&naming("load_transformer"), 40 * MS, 1_000 * MS, |_| {});
            s.section(&naming("load_vae"), 1_000 * MS, 1_380 * MS, |_| {});
        })
        .section(&name("text_encoding"), 1_500 * MS, 1_900 * MS, |_| {})
        .event(&name("prompt ready"), 1_905 * MS, vec![(name("tokens"), Value::Int(77))])
        .generation(
            1_450 * MS,
            Some(0),
            Generation::Model(ModelParameters {
                name: name("causal transformer"),
                count: Some(1_300_000_000),
                kind: Some(name("transformer")),
                ..ModelParameters::default()
            }),
        );
    let mut at = 2_000 * MS;
    let mut decoded = Vec::new();
    for block in 0..BLOCKS {
        let begun = at;
        // The first step compiles; steps grow with the context; a cache answers every fourth.
        let steps: Vec<(u64, u64, bool)> = (0..STEPS)
            .map(|step| {
                let is_cached = step == 3 && block > 0;
                let first = if block == 0 && step == 0 { 900 } else { 0 };
                let spike = if block == 4 && step == 1 { 350 } else { 0 };
                let length = if is_cached { 70 } else { 210 + 12 * block + first + spike };
                let start = at + 5 * MS;
                at = start + length * MS;
                (start, at, is_cached)
            })
            .collect();
        let cleaned = (at + 5 * MS, at + 120 * MS);
        at = cleaned.1 + 10 * MS;
        let ended = at;
        builder = builder.iteration(&name("block"), begun, ended, |s| {
            for (start, end, _) in &steps {
                s.iteration(&naming("denoising_step"), *start, *end, |s| {
                    let third = (end - start) / 3;
                    s.section(&naming("transformer_forward"), start + MS, start + 2 * third, |s| {
                        s.section(&naming("attention"), start + 2 * MS, start + third, |_| {});
                    });
                    s.section(&naming("scheduler_step"), end - 8 * MS, end - MS, |_| {});
                });
            }
            s.section(&naming("kv_cache_commit"), cleaned.0, cleaned.1, |_| {});
        });
        for (step, (start, end, is_cached)) in (0_u32..).zip(&steps) {
            builder = builder
                .generation(
                    *end,
                    Some(0),
                    Generation::Step(DiffusionStep {
                        step: Some(u64::from(step)),
                        timestep: Some(1000.0 - 250.0 * f64::from(step)),
                        block_size: Some(3),
                        computation_ns: Some(end - start),
                        guidance_scale: Some(3.0),
                    }),
                )
                .cache_event(CacheEvent {
                    at_ns: start + MS,
                    cache: name("teacache"),
                    outcome: if *is_cached { CacheOutcome::Hit } else { CacheOutcome::Miss },
                    step: Some(u64::from(step)),
                    block: Some(block),
                    score: Some(if *is_cached { 0.04 } else { 0.11 }),
                    threshold: Some(0.05),
                    held_bytes: Some(256 << 20),
                    attributes: vec![],
                    session: Some(0),
                });
        }
        builder = builder.generation(
            ended,
            Some(0),
            Generation::Block(BlockComputation {
                index: Some(block),
                size: Some(3),
                computation_ns: Some(ended - begun),
                memory_bytes: Some(9 * GIB + block * (200 << 20)),
            }),
        );
        decoded.push((ended + 10 * MS, ended + 290 * MS));
    }
    for (block, (_, end)) in decoded.iter().enumerate() {
        builder = builder.generation(
            *end,
            Some(0),
            Generation::Streaming(StreamingEvent {
                frames: Some(if block == 0 { 9 } else { 12 }),
                encoding_ns: Some(30 * MS),
                network_latency_ns: Some(12 * MS),
                buffer_occupancy: Some(0.5),
            }),
        );
    }
    builder = reports(builder, naming);
    builder = machine(builder, at, naming);
    builder = builder.thread(&name("decoder"));
    for (start, end) in decoded {
        builder = builder.section(&name("vae_decode"), start, end, |_| {});
    }
    builder.finish(at + 600 * MS)
}

/// Layers, allocations and releases that the program reported.
fn reports(mut builder: RunBuilder, naming: Naming) -> RunBuilder {
    for (layer, ms, parameters) in [
        ("attention", 25, Some(590_000_000)),
        ("mlp", 35, Some(710_000_000)),
        ("norm", 25, None),
        ("attention", 15, Some(590_000_000)),
    ] {
        let layer =
            LayerComputation { name: naming(layer), computation_ns: Some(ms * MS), parameters };
        builder = builder.generation(3 * S, Some(0), Generation::Layer(layer));
    }
    for (at_s, is_release, bytes, context) in [
        (2, false, 3 * GIB, Some("kv_cache")),
        (3, false, GIB, None),
        (9, true, 2 * GIB, Some("kv_cache")),
    ] {
        let allocation = Allocation {
            is_release,
            bytes,
            allocator: Some(naming("cuda")),
            context: context.map(naming),
        };
        builder = builder.generation(at_s * S, Some(0), Generation::Allocation(allocation));
    }
    builder
}

/// What samplers and memory readings said.
fn machine(mut builder: RunBuilder, end: u64, naming: Naming) -> RunBuilder {
    let gpu = naming("GPU-5f6e");
    let times: Vec<u64> = (0..end / (100 * MS)).map(|n| n * 100 * MS).collect();
    let over = |value: &dyn Fn(f64) -> f64| -> Vec<(u64, f64)> {
        times
            .iter()
            .map(|at| (*at, value(f64::from(u32::try_from(at / MS).unwrap_or(0)) / 1000.0)))
            .collect()
    };
    let gib = 1_073_741_824.0;
    let wave = |t: f64| (t * 4.0).sin();
    let is_busy = |t: f64| if t > 2.0 { 1.0 } else { 0.1 };
    for (name, subject, unit, values) in [
        ("host.memory.used", "", Unit::Bytes, over(&|t| (20.0 + t.min(4.0) * 3.0) * gib)),
        ("process.memory.resident", "", Unit::Bytes, over(&|t| (2.0 + t.min(4.0) * 2.0) * gib)),
        (
            "gpu.memory.used",
            gpu.as_str(),
            Unit::Bytes,
            over(&|t| (1.0 + t.min(3.0) * 4.0 + wave(t)) * gib),
        ),
        ("gpu.memory.total", gpu.as_str(), Unit::Bytes, over(&|_| 24.0 * gib)),
        (
            "gpu.utilization",
            gpu.as_str(),
            Unit::Ratio,
            over(&|t| is_busy(t) * (0.8 + 0.15 * wave(t))),
        ),
        ("gpu.temperature", gpu.as_str(), Unit::Celsius, over(&|t| 45.0 + t * 2.0)),
        ("gpu.power", gpu.as_str(), Unit::Watts, over(&|t| is_busy(t) * (280.0 + 40.0 * wave(t)))),
        ("gpu.clock.sm", gpu.as_str(), Unit::Hertz, over(&|t| 1.9e9 - t * 1e7)),
    ] {
        builder = builder.series(SeriesInfo::gauge(name, subject, unit), &values);
    }
    for (name, subject, unit, values) in [
        ("host.cpu.busy", "", Unit::Seconds, over(&|t| t * 6.0)),
        ("host.cpu.total", "", Unit::Seconds, over(&|t| t * 16.0)),
        ("process.cpu.user", "", Unit::Seconds, over(&|t| t * 1.2)),
        ("process.disk.read", "", Unit::Bytes, over(&|t| t.min(1.4) * 2.1e9)),
        ("pressure.io.some", "", Unit::Seconds, over(&|t| t.min(1.4) * 0.3)),
        ("pressure.cpu.some", "", Unit::Seconds, over(&|t| t * 0.05)),
    ] {
        builder = builder.series(SeriesInfo::cumulative(name, subject, unit), &values);
    }
    for (at_ns, label, allocated, reserved) in [
        (10 * MS, Some("start"), 1, 2),
        (1_390 * MS, Some("after_load"), 5, 6),
        (1_950 * MS, Some("after_text_encoding"), 6, 8),
        (5_000 * MS, None, 12, 16),
        (8_000 * MS, None, 13, 17),
        (end + 300 * MS, Some("after_decode"), 5, 17),
    ] {
        builder = builder.memory(MemoryReading {
            at_ns,
            label: label.map(naming),
            source: MemorySource::TorchCuda(0),
            allocated_bytes: allocated * GIB,
            reserved_bytes: Some(reserved * GIB),
            peak_bytes: Some(allocated * GIB + GIB / 2),
            session: None,
        });
    }
    builder.counter(&naming("sigma"), 3_000 * MS, 0.8).counter(&naming("sigma"), 6_000 * MS, 0.4)
}
