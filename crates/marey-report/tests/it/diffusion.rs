//! Steps, blocks, delivery and models in the formats.

use marey::{
    BlockComputation, CacheEvent, CacheOutcome, DiffusionStep, Generation, ModelParameters, Run,
    StreamingEvent,
};
use marey_report::{Report, profiling_report, summary};
use marey_testing::RunBuilder;
use serde_json::{Value, json};

use crate::json::assert_follows_schema;
use crate::shown::block as shown_block;

const MS: u64 = 1_000_000;

fn document(run: &Run) -> Value {
    let document = serde_json::from_slice(&profiling_report(&Report::new(run)));
    let document = document.expect("valid JSON");
    assert_follows_schema(&document);
    document
}

fn step(number: u64, ms: u64) -> Generation {
    Generation::Step(DiffusionStep {
        step: Some(number),
        timestep: [1.0, 0.75, 0.5, 0.25].get(usize::try_from(number).unwrap_or(4)).copied(),
        block_size: Some(3),
        computation_ns: Some(ms * MS),
        guidance_scale: None,
    })
}

fn block(index: u64, ms: u64) -> Generation {
    Generation::Block(BlockComputation {
        index: Some(index),
        size: Some(3),
        computation_ns: Some(ms * MS),
        memory_bytes: Some(8420 << 20),
    })
}

/// Four blocks of four steps in a session, delivered as they come, the last one too late.
///
/// ```text
/// ms      0    100                  1300       1700       2140       2620  2700
/// session      |-----------------------------------------------------------|
/// steps         900 100 100 100      4 × 100    4 × 110    4 × 120
/// block         |-------- 0 -------| |-- 1 --|  |-- 2 ---| |--- 3 ----|
/// cache         m   m   h            …
/// viewer                            12         12                    12
/// ```
fn streamed() -> Run {
    let mut builder = RunBuilder::new()
        .with(|run| {
            run.info.start_unix_ns = 1_700_000_000_000_000_000;
            run.info.facts.push(("gpu.0.name".into(), "NVIDIA H200".into()));
        })
        .session("clip", 100 * MS, Some(2_700 * MS), vec![])
        .generation(
            200 * MS,
            Some(0),
            Generation::Model(ModelParameters {
                name: "causal \x1b[31mtransformer</script>".into(),
                count: Some(1_300_000_000),
                kind: Some("transformer".into()),
                flops_per_call: Some(20e12),
                calls_per_step: Some(1.0),
            }),
        );
    let mut at_ns = 100 * MS;
    for (index, steps) in (0..).zip([[900, 100, 100, 100], [100; 4], [110; 4], [120; 4]]) {
        let begun_ns = at_ns;
        for (number, ms) in (0..).zip(steps) {
            at_ns += ms * MS;
            builder = builder.generation(at_ns, Some(0), step(number, ms));
        }
        builder = builder.cache_event(CacheEvent {
            at_ns: at_ns - 50 * MS,
            cache: "teacache".into(),
            outcome: if index == 1 { CacheOutcome::Hit } else { CacheOutcome::Miss },
            step: Some(3),
            block: Some(index),
            score: None,
            threshold: None,
            held_bytes: None,
            attributes: vec![],
            session: Some(0),
        });
        let length_ms = (at_ns - begun_ns) / MS;
        builder = builder.generation(at_ns, Some(0), block(index, length_ms));
        if index != 2 {
            let frames = StreamingEvent { frames: Some(12), ..StreamingEvent::default() };
            builder = builder.generation(at_ns, Some(0), Generation::Streaming(frames));
        }
    }
    builder.finish(3_000 * MS)
}

#[test]
fn the_documented_keys_are_there_with_ours_beside_them() {
    let document = document(&streamed());
    let shown = json!({
        "diffusion_analysis": without(&document["diffusion_analysis"], "steps", 2),
        "model_analysis": document["model_analysis"],
        "block_analysis": without(&document["block_analysis"], "blocks", 2),
    });
    insta::assert_snapshot!(serde_json::to_string_pretty(&shown).expect("plain values"));
}

/// The object with the first few of a list.
fn without(object: &Value, list: &str, n: usize) -> Value {
    let mut object = object.clone();
    if let Some(items) = object[list].as_array_mut() {
        items.truncate(n);
    }
    object
}

#[test]
fn long_lists_are_cut_and_figures_are_of_all() {
    // 10 003 blocks of one step each, delivered at once: all take 1 ms, only the last one 8 ms.
    let mut builder = RunBuilder::new();
    for number in 0..10_003 {
        let ms = if number == 10_002 { 8 } else { 1 };
        let frames = StreamingEvent { frames: Some(3), ..StreamingEvent::default() };
        let at_ns = (number + ms) * MS;
        builder = builder
            .generation(at_ns, None, step(number, ms))
            .generation(at_ns, None, block(number, ms))
            .generation(at_ns, None, Generation::Streaming(frames));
    }
    let document = document(&builder.finish(11_000 * MS));
    let (diffusion, blocks) = (&document["diffusion_analysis"], &document["block_analysis"]);
    let delivery = &diffusion["delivery"];
    for (object, list) in [(diffusion, "steps"), (blocks, "blocks"), (delivery, "deliveries")] {
        let items = object[list].as_array().expect("a list");
        assert_eq!(items.len(), 10_000, "{list}");
        assert_eq!(object[format!("{list}_left_out")], 3, "{list}");
    }
    // 10 002 ms and 8 ms.
    assert_eq!(blocks["total_blocks"], 10_003);
    assert_eq!(blocks["total_computation_time_ms"], 10_010.0);
    assert_eq!(blocks["max_computation_time_ms"], 8.0);
    assert_eq!(blocks["blocks"][9_999]["block_index"], 9_999);
    assert_eq!(diffusion["total_computation_time_ms"], 10_010.0);
    // The one that took longer is not listed.
    assert_eq!(diffusion["outliers"], json!([]));
}

#[test]
fn a_session_has_its_own_analyses() {
    let document = document(&streamed());
    let session = &document["sessions"][0];
    let of_run = &document["diffusion_analysis"];
    let of_session = &session["diffusion_analysis"];
    assert_eq!(of_session["total_steps"], 16);
    assert_eq!(of_session["steady"], of_run["steady"]);
    // Moments are the same on the wall clock.
    assert_eq!(of_session["steps"][3], of_run["steps"][3]);
    assert_eq!(session["block_analysis"]["time_to_first_block_ms"], 1200.0);
    assert_eq!(document["block_analysis"]["time_to_first_block_ms"], 1200.0);
    assert_eq!(session["model_analysis"]["total_parameters_readable"], "1.30B");
}

#[test]
fn a_run_without_any_of_it_has_null() {
    let document = document(&RunBuilder::new().section("work", 0, 10, |_| {}).finish(10));
    for key in ["diffusion_analysis", "model_analysis", "block_analysis"] {
        assert_eq!(document[key], Value::Null, "{key}");
    }
    let report = Report::new(&RunBuilder::new().finish(10));
    assert!(!summary(&report).contains("STEPS AND BLOCKS"));
}

#[test]
fn figures_that_are_not_known_are_null() {
    let run = RunBuilder::new()
        .generation(10, None, Generation::Step(DiffusionStep::default()))
        .generation(20, None, Generation::Block(BlockComputation::default()))
        .generation(30, None, Generation::Model(ModelParameters::default()))
        .finish(40);
    let document = document(&run);
    let diffusion = &document["diffusion_analysis"];
    assert_eq!(diffusion["total_steps"], 1);
    for key in
        ["total_computation_time_ms", "fps", "bps", "avg_timestep", "min_block_size", "warm_up"]
    {
        assert_eq!(diffusion[key], Value::Null, "{key}");
    }
    let models = &document["model_analysis"];
    assert_eq!(models["total_parameters_readable"], Value::Null);
}

#[test]
fn the_largest_numbers_follow_the_schema() {
    let most = u64::MAX;
    let run = RunBuilder::new()
        .generation(
            most,
            None,
            Generation::Step(DiffusionStep {
                step: Some(most),
                timestep: Some(f64::NAN),
                block_size: Some(most),
                computation_ns: Some(most),
                guidance_scale: Some(f64::INFINITY),
            }),
        )
        .generation(
            most,
            None,
            Generation::Block(BlockComputation {
                index: Some(most),
                size: Some(most),
                computation_ns: Some(most),
                memory_bytes: Some(most),
            }),
        )
        .finish(most);
    let document = document(&run);
    assert_eq!(document["diffusion_analysis"]["steps"][0]["timestep"], Value::Null);
    assert!(summary(&Report::new(&run)).contains("STEPS AND BLOCKS"));
}

#[test]
fn the_diffusion_of_the_example() {
    let text = summary(&Report::new(&streamed()));
    let titles = ["STEPS AND BLOCKS", "TIMES OF STEPS AND BLOCKS"];
    let blocks = titles.map(|title| shown_block(&text, title));
    insta::assert_snapshot!(blocks.join("\n\n"));
}
