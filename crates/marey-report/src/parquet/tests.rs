//! Tables of drawn runs.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type};
use arrow_array::{Array, RecordBatch};
use arrow_schema::DataType;
use marey::{
    Allocation, Generation, LayerComputation, MemoryReading, MemorySource, ModelParameters, Run,
    Section, SeriesInfo, StreamingEvent, Unit, Value,
};
use marey_testing::RunBuilder;
use serde_json::{Value as Json, json};

use super::{Batches, Kind, Process};

fn process(run: Run) -> Arc<Process> {
    Arc::new(Process::new(Arc::new(run)))
}

fn value(batch: &RecordBatch, column: usize, row: usize) -> Json {
    let column = batch.column(column);
    if column.is_null(row) {
        return Json::Null;
    }
    match column.data_type() {
        DataType::Int64 => column.as_primitive::<Int64Type>().value(row).into(),
        DataType::Float64 => column.as_primitive::<Float64Type>().value(row).into(),
        DataType::Boolean => column.as_boolean().value(row).into(),
        _ => column.as_string::<i32>().value(row).into(),
    }
}

/// These columns of the rows of a run, in order.
fn rows(run: Run, kind: Kind, columns: &[&str]) -> Vec<Json> {
    let schema = kind.schema();
    let places = columns.iter().map(|name| schema.index_of(name).unwrap());
    let places: Vec<usize> = places.collect();
    let batches = kind.rows(process(run)).map(Result::unwrap);
    let rows = batches.flat_map(|batch| {
        let row = |row| Json::Array(places.iter().map(|c| value(&batch, *c, row)).collect());
        (0..batch.num_rows()).map(row).collect::<Vec<_>>()
    });
    rows.collect()
}

/// ```text
/// time        0    100   200   300   400   500   600   700
/// main        |------ denoise --------------|     |decode|
/// step          |- 0 ------| |- 1 ----|              (decode is left by an error)
/// attn            |-|
/// ```
fn drawn() -> Run {
    RunBuilder::new()
        .section("denoise", 0, 500, |s| {
            s.iteration("denoising_step", 20, 220, |s| {
                s.section("attn", 40, 90, |_| {}).attributes(vec![
                    ("heads".into(), Value::Int(8)),
                    ("scale".into(), Value::Float(f64::NAN)),
                ]);
            });
            s.iteration("denoising_step", 240, 400, |_| {});
        })
        .section("decode", 600, 700, |_| {})
        .session("clip", 0, Some(550), vec![("seed".into(), Value::Int(7))])
        .with(|run| {
            run.info.host = "node".into();
            run.info.pid = 42;
            run.info.rank = Some(3);
            run.info.start_unix_ns = 1_000_000;
        })
        .finish(800)
}

#[test]
fn sections_are_in_order_of_their_start_with_the_step_that_they_lie_in() {
    let mut run = drawn();
    let last = run.sections.len() - 1;
    run.sections[last].is_failed = true;
    let columns = [
        "process",
        "rank",
        "start_unix_ns",
        "start_ns",
        "end_ns",
        "duration_ns",
        "path",
        "depth",
        "is_iteration",
        "is_failed",
        "step",
        "session",
        "attributes",
    ];
    let id = "node-42-1000000";
    let attributes = r#"{"heads":8,"scale":null}"#;
    let (step, attn) = ("denoise / denoising_step", "denoise / denoising_step / attn");
    let expected = [
        json!([id, 3, 1_000_000, 0, 500, 500, "denoise", 0, false, false, null, "clip", null]),
        json!([id, 3, 1_000_020, 20, 220, 200, step, 1, true, false, 0, "clip", null]),
        json!([id, 3, 1_000_040, 40, 90, 50, attn, 2, false, false, 0, "clip", attributes]),
        json!([id, 3, 1_000_240, 240, 400, 160, step, 1, true, false, 1, "clip", null]),
        json!([id, 3, 1_000_600, 600, 700, 100, "decode", 0, false, true, null, null, null]),
    ];
    assert_eq!(rows(run, Kind::Sections, &columns), expected);
}

#[test]
fn numbers_beyond_63_bits_are_null_and_counted() {
    let reading = |allocated_bytes| MemoryReading {
        at_ns: 1,
        label: None,
        source: MemorySource::TorchCuda(1),
        allocated_bytes,
        reserved_bytes: Some(i64::MAX as u64),
        peak_bytes: None,
        session: None,
    };
    let run = RunBuilder::new().memory(reading(1 << 63)).memory(reading(7)).finish(2);
    let columns = ["source", "device", "allocated_bytes", "reserved_bytes", "peak_bytes"];
    let expected = [
        json!(["torch_cuda", 1, null, i64::MAX, null]),
        json!(["torch_cuda", 1, 7, i64::MAX, null]),
    ];
    assert_eq!(rows(run.clone(), Kind::Memory, &columns), expected);
    let mut counted = Kind::Memory.rows(process(run));
    assert_eq!(counted.by_ref().count(), 1);
    assert_eq!(counted.n_too_large(), 1);
}

#[test]
fn reports_of_a_kind_are_a_table_and_what_was_not_said_is_null() {
    let model = |count, flops_per_call| {
        Generation::Model(ModelParameters {
            name: "dit".into(),
            count,
            kind: count.map(|_| "transformer".into()),
            flops_per_call,
            calls_per_step: flops_per_call.map(|_| 2.0),
        })
    };
    let layer = |computation_ns, parameters| {
        Generation::Layer(LayerComputation { name: "mlp".into(), computation_ns, parameters })
    };
    let delivery = Generation::Streaming(StreamingEvent {
        frames: Some(9),
        encoding_ns: Some(5),
        network_latency_ns: None,
        buffer_occupancy: Some(0.5),
    });
    let allocation = |is_release, context: Option<&str>| {
        Generation::Allocation(Allocation {
            is_release,
            bytes: 4096,
            allocator: Some("cuda".into()),
            context: context.map(str::to_owned),
        })
    };
    let run = RunBuilder::new()
        .session("clip", 0, Some(50), vec![])
        .generation(1, None, model(Some(7), Some(1e12)))
        .generation(2, Some(0), model(None, None))
        .generation(3, Some(0), layer(Some(20), Some(3)))
        .generation(4, None, layer(None, None))
        .generation(5, Some(0), delivery)
        .generation(6, None, Generation::DroppedFrames { count: 2 })
        .generation(7, Some(0), allocation(false, Some("latents")))
        .generation(8, None, allocation(true, None))
        .finish(60);
    let models =
        ["at_ns", "name", "kind", "parameters", "flops_per_call", "calls_per_step", "session"];
    let expected = [
        json!([1, "dit", "transformer", 7, 1e12, 2.0, null]),
        json!([2, "dit", null, null, null, null, "clip"]),
    ];
    assert_eq!(rows(run.clone(), Kind::Models, &models), expected);
    let layers = ["at_ns", "name", "duration_ns", "parameters", "thread"];
    let expected = [json!([3, "mlp", 20, 3, 0]), json!([4, "mlp", null, null, 0])];
    assert_eq!(rows(run.clone(), Kind::Layers, &layers), expected);
    let deliveries = [
        "frames",
        "dropped_frames",
        "encoding_ns",
        "network_latency_ns",
        "buffer_occupancy",
        "session",
    ];
    let expected =
        [json!([9, null, 5, null, 0.5, "clip"]), json!([null, 2, null, null, null, null])];
    assert_eq!(rows(run.clone(), Kind::Deliveries, &deliveries), expected);
    let allocations = ["at_ns", "is_release", "bytes", "allocator", "context"];
    let expected =
        [json!([7, false, 4096, "cuda", "latents"]), json!([8, true, 4096, "cuda", null])];
    assert_eq!(rows(run, Kind::Allocations, &allocations), expected);
}

/// Sections that name nodes and threads that are not there, times at the end of 64 bits, a run of no time at all.
#[test]
fn nothing_stops_the_tables_of_an_absurd_run() {
    let absurd = RunBuilder::new()
        .section("a", u64::MAX - 1, u64::MAX, |_| {})
        .with(|run| {
            run.sections.push(Section {
                thread: 9,
                node: 99,
                start_ns: 5,
                end_ns: 2,
                flow: 0,
                is_failed: false,
                has_pauses: false,
            });
            run.info.start_unix_ns = u64::MAX;
            run.series.push(marey::Series {
                info: SeriesInfo::gauge("empty", "", Unit::Ratio),
                points: Vec::new(),
            });
        })
        .finish(0);
    let columns = ["start_unix_ns", "start_ns", "duration_ns", "path", "name"];
    let expected = [json!([null, 5, 0, null, null]), json!([null, null, 1, "a", "a"])];
    assert_eq!(rows(absurd, Kind::Sections, &columns), expected);
    for kind in Kind::ALL {
        let empty = kind.rows(process(Run::default()));
        assert_eq!(empty.len(), usize::from(kind == Kind::Processes), "{kind:?}");
        assert!(empty.map(Result::unwrap).all(|batch| batch.num_rows() == 1));
    }
}

#[test]
fn batches_of_several_processes_follow_each_other_and_hold_few_rows_each() {
    let many = |n: u64, rank| {
        let mut drawn = RunBuilder::new();
        for place in 0..n {
            drawn = drawn.counter("n", place, 0.5);
        }
        process(drawn.with(|run| run.info.rank = rank).finish(n))
    };
    let batches =
        Batches::new(Kind::Counters, vec![many(10_000, None), many(0, Some(1)), many(1, Some(2))]);
    let sizes: Vec<usize> = batches.map(|batch| batch.unwrap().num_rows()).collect();
    assert_eq!(sizes, [8192, 1808, 1]);
}
