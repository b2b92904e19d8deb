//! A run that is well, and says nearly all that a run can say.

use marey::{
    BlockComputation, CacheEvent, CacheOutcome, DiffusionStep, Generation, LayerComputation,
    MemoryReading, MemorySource, ModelParameters, Run, SeriesInfo, StreamingEvent, Unit, Window,
};
use marey_analysis::findings::RULES;
use marey_testing::{RunBuilder, Within};

use super::all;

const MS: u64 = 1_000_000;
const GB: u64 = 1_000_000_000;
const N_BLOCKS: u64 = 5;
/// Steps of a block, in ms; a cache answers the last one.
const STEPS: [u64; 4] = [75, 75, 75, 45];

/// Five blocks of four steps, delivered at 20 frames a second by one of two ranks.
///
/// ```text
/// ms            0      500    700 730   750            1300    1750   …            3100 3200
/// main          |-load-|-text-|offload| |--------------------- denoise ------------|
/// block                                 |--- 0 --------|-- 1 --|-- 2 --| … |-- 4 --|
/// step                                   compile, then 4 of 75 ± 4 %, the last of each from a cache in 45
/// decode, deliver                                   100, 30      at the end of each block
/// disk, GB/s       2      0       0     0
/// GPU, %           5     60      60     95
/// ```
fn healthy() -> Run {
    let mut builder = RunBuilder::new().section("load_pipeline", 0, 500 * MS, |_| {}).section(
        "generate",
        500 * MS,
        3150 * MS,
        |s| {
            encode(s, 500, "9f3c");
            encode(s, 600, "e3b0");
            s.section("offload_text_encoder", 700 * MS, 730 * MS, |_| {});
            s.attributes(vec![("bytes".into(), (4 * GB).into())]);
            s.section("denoise", 750 * MS, 3100 * MS, |s| {
                for block in 0..N_BLOCKS {
                    draw_block(s, block);
                }
                s.section("synchronize", 3099 * MS, 3100 * MS, |_| {});
            });
        },
    );
    for block in 0..N_BLOCKS {
        builder = report_block(builder, block);
    }
    let about = |run: &mut Run| {
        (run.info.rank, run.info.world_size) = (Some(0), Some(2));
        run.windows.push(Window {
            opened_ns: 800 * MS,
            stopped_ns: Some(900 * MS),
            ..Window::default()
        });
    };
    processor_and_disk(gpu(memory(models(builder)))).with(about).finish(3200 * MS)
}

fn encode(s: &mut Within<'_>, at_ms: u64, hash: &str) {
    s.section("text_encoding", at_ms * MS, (at_ms + 100) * MS, |_| {});
    s.attributes(vec![("prompt_hash".into(), hash.into())]);
}

/// Where a block begins and ends; the first one compiles for 100 ms.
fn block_ms(block: u64) -> (u64, u64) {
    let start_ms = if block == 0 { 750 } else { 850 + 450 * block };
    (start_ms, 1300 + 450 * block)
}

/// Start and end of a step, in ns: lengths differ by up to 4 %.
fn step_ns(block: u64, step: usize) -> (u64, u64) {
    let compiling_ms = if block == 0 { 100 } else { 0 };
    let start_ms = block_ms(block).0 + STEPS[..step].iter().sum::<u64>() + 3 * step as u64;
    let first = block == 0 && step == 0;
    let start_ns = (start_ms + if first { 0 } else { compiling_ms }) * MS;
    let per_mille = [1000, 970, 1030, 985][step] + 5 * (block % 3);
    let length_ns = STEPS[step] * MS / 1000 * per_mille;
    (start_ns, start_ns + length_ns + if first { compiling_ms * MS } else { 0 })
}

fn draw_block(s: &mut Within<'_>, block: u64) {
    let (start_ms, end_ms) = block_ms(block);
    s.section("block", start_ms * MS, end_ms * MS, |s| {
        for step in 0..STEPS.len() {
            let (start_ns, end_ns) = step_ns(block, step);
            s.iteration("denoising_step", start_ns, end_ns, |s| {
                if (block, step) == (0, 0) {
                    s.section("compile_transformer", start_ns, start_ns + 90 * MS, |_| {});
                }
                let from_ns = end_ns - 40 * MS;
                s.section("transformer", from_ns, end_ns - 5 * MS, |s| {
                    s.section("flash_attn", from_ns, from_ns + 10 * MS, |_| {});
                });
                s.section("all_gather", end_ns - 4 * MS, end_ns - 2 * MS, |_| {});
            });
        }
        let end_ns = end_ms * MS;
        s.section("vae_decode", end_ns - 140 * MS, end_ns - 40 * MS, |_| {});
        s.section("deliver", end_ns - 35 * MS, end_ns - 5 * MS, |_| {});
    });
}

fn report_block(mut builder: RunBuilder, block: u64) -> RunBuilder {
    let (start_ms, end_ms) = block_ms(block);
    for step in 0..STEPS.len() {
        let (start_ns, end_ns) = step_ns(block, step);
        let is_hit = step + 1 == STEPS.len();
        builder = builder.cache_event(CacheEvent {
            at_ns: start_ns + MS,
            cache: "first_block_cache".into(),
            outcome: if is_hit { CacheOutcome::Hit } else { CacheOutcome::Miss },
            step: Some(step as u64),
            block: Some(block),
            score: Some(if is_hit { 0.03 } else { 0.2 }),
            threshold: Some(0.08),
            held_bytes: Some(400_000_000),
            attributes: vec![],
            session: None,
        });
        let report = DiffusionStep {
            step: Some(step as u64),
            timestep: Some(1000.0),
            block_size: Some(3),
            computation_ns: Some(end_ns - start_ns),
            guidance_scale: Some(1.0),
        };
        builder = builder.generation(end_ns, None, Generation::Step(report));
    }
    let made = BlockComputation {
        index: Some(block),
        size: Some(3),
        computation_ns: Some((end_ms - start_ms) * MS),
        memory_bytes: None,
    };
    let delivered = StreamingEvent { frames: Some(9), ..StreamingEvent::default() };
    builder.generation(end_ms * MS, None, Generation::Block(made)).generation(
        end_ms * MS,
        None,
        Generation::Streaming(delivered),
    )
}

fn models(builder: RunBuilder) -> RunBuilder {
    let model = ModelParameters {
        name: "causal".into(),
        count: Some(900_000_000),
        kind: Some("transformer".into()),
        ..ModelParameters::default()
    };
    let builder = builder.generation(400 * MS, None, Generation::Model(model));
    let layers = ["attention", "mlp", "norm"];
    layers.into_iter().fold(builder, |builder, name| {
        let layer =
            LayerComputation { name: name.into(), computation_ns: Some(10 * MS), parameters: None };
        builder.generation(2000 * MS, None, Generation::Layer(layer))
    })
}

/// The text encoder gives its 4 GB back.
fn memory(builder: RunBuilder) -> RunBuilder {
    let read = [(480, 10, 11), (550, 14, 15), (740, 10, 15), (2000, 16, 17), (3180, 10, 17)];
    read.into_iter().fold(builder, |builder, (at_ms, used, held)| {
        builder.memory(MemoryReading {
            at_ns: at_ms * MS,
            label: None,
            source: MemorySource::TorchCuda(0),
            allocated_bytes: used * GB,
            reserved_bytes: Some(held * GB),
            peak_bytes: Some(16 * GB),
            session: None,
        })
    })
}

/// A reading each 50 ms, of what `value` says for that moment in ms.
fn each_50_ms(value: impl Fn(u32) -> f64) -> Vec<(u64, f64)> {
    let times = (0..=64).map(|n| n * 50);
    times.map(|at_ms| (u64::from(at_ms) * MS, value(at_ms))).collect()
}

/// What has come together up to a moment: so much in a second up to `until_ms`, and then no more.
fn grown(at_ms: u32, until_ms: u32, per_second: f64) -> f64 {
    let ms = at_ms.min(until_ms);
    f64::from(ms) * per_second / 1000.0
}

fn gpu(builder: RunBuilder) -> RunBuilder {
    let gauge = |name, unit| SeriesInfo::gauge(name, "GPU-1", unit);
    let worked = |at_ms| match at_ms {
        0..500 => 0.05,
        500..750 => 0.6,
        _ => 0.95,
    };
    builder
        .series(gauge("gpu.utilization", Unit::Ratio), &each_50_ms(worked))
        .series(gauge("gpu.temperature", Unit::Celsius), &each_50_ms(|_| 68.0))
        .series(gauge("gpu.throttle", Unit::Bits), &each_50_ms(|_| 0.0))
        .series(gauge("gpu.memory.used", Unit::Bytes), &each_50_ms(|_| 17e9))
        .series(gauge("gpu.memory.total", Unit::Bytes), &each_50_ms(|_| 24e9))
        .series(
            gauge("gpu.pcie.received", Unit::BytesPerSecond),
            &each_50_ms(|at_ms| if at_ms < 500 { 5e8 } else { 1e7 }),
        )
        .series(gauge("gpu.pcie.sent", Unit::BytesPerSecond), &each_50_ms(|_| 1e7))
}

fn processor_and_disk(builder: RunBuilder) -> RunBuilder {
    let counter = |name, unit| SeriesInfo::cumulative(name, "", unit);
    let always = |per_second| each_50_ms(move |at_ms| grown(at_ms, u32::MAX, per_second));
    let while_loading = |per_second| each_50_ms(move |at_ms| grown(at_ms, 500, per_second));
    let resident = SeriesInfo::gauge("host.memory.used", "", Unit::Bytes);
    builder
        .series(counter("process.cpu.user", Unit::Seconds), &always(0.6))
        .series(counter("process.cpu.system", Unit::Seconds), &always(0.1))
        .series(counter("host.cpu.busy", Unit::Seconds), &always(0.9))
        .series(counter("process.cpu.wait", Unit::Seconds), &always(0.02))
        .series(counter("host.swap.out", Unit::Bytes), &always(0.0))
        .series(counter("process.disk.read", Unit::Bytes), &while_loading(2e9))
        .series(counter("pressure.io.some", Unit::Seconds), &while_loading(0.1))
        .series(resident, &each_50_ms(|_| 20e9))
        .with(|run| {
            let facts = [("host.memory_bytes", "64000000000"), ("host.cpus", "8")];
            let facts = facts.map(|(name, value)| (name.into(), value.into()));
            run.info.facts.extend(facts);
        })
}

#[test]
fn a_healthy_run_has_no_findings_and_every_rule_has_looked() {
    let found = all(&healthy());
    assert!(found.found.is_empty(), "{:#?}", found.found);
    let of_runs = RULES.iter().filter(|rule| rule.goes_by().any(|(kind, _)| kind == "run"));
    assert_eq!(found.passed.len() + found.unchecked.len(), of_runs.count());
    assert!(found.unchecked.is_empty(), "{:#?}", found.unchecked);
}

#[test]
fn what_passed_says_what_it_saw() {
    let found = all(&healthy());
    assert!(found.passed.iter().all(|passed| !passed.what.is_empty()));
}
