//! What steps, phases and modules had to do, on timelines that are drawn.
//!
//! Of the L4: a product of 1 000 × 1 000 matrices in bfloat16 has 2 · 10⁹ FLOPs, which take 16.529 µs at 121 TFLOP/s, and 6 · 10⁶ bytes,
//! which take 20 µs at 300 GB/s. The sum of ten numbers has 120 bytes: 0.4 ns.

use marey_analysis::import::chrome::Trace;
use marey_analysis::{ModelledPart, TraceContext, TracePart, modelled_work, modules, part_lists};

use super::{complete, launch, launched, try_read};

const MM: &str = r#""Input Dims": [[1000, 1000], [1000, 1000]], "Input type": ["c10::BFloat16", "c10::BFloat16"]"#;
const ADD: &str =
    r#""Input Dims": [[2, 5], [2, 5], []], "Input type": ["float", "float", "Scalar"]"#;

fn operator(name: &str, start: u64, end: u64, inputs: &str) -> String {
    complete("cpu_op", name, 9, start, end, inputs)
}

fn range(name: &str, start: u64, end: u64) -> String {
    complete("user_annotation", name, 9, start, end, "")
}

fn module(name: &str, start: u64, end: u64) -> String {
    complete("python_function", &format!("nn.Module: {name}"), 9, start, end, "")
}

/// Of an L4.
fn on_l4(rows: &[String]) -> Trace {
    let devices = r#"[{"id": 0, "name": "NVIDIA L4"}]"#;
    let events = rows.join(",");
    try_read(format!(r#"{{"deviceProperties": {devices}, "traceEvents": [{events}]}}"#)).unwrap()
}

fn shown(ratio: Option<f64>) -> String {
    ratio.map_or_else(|| "-".to_owned(), |ratio| format!("{ratio:.4}"))
}

/// Known, MFU, of the roofline.
fn shares(part: &ModelledPart) -> [String; 3] {
    [part.modelled_ratio, part.utilization_ratio, part.all.roofline_ratio].map(shown)
}

fn of(part: &TracePart) -> ModelledPart {
    part.modelled.unwrap()
}

#[test]
fn steps_and_phases_have_the_calls_that_launched_in_them() {
    // µs       0                    100       200                  300      320   400
    // run      |------------------------------------------------------------|
    // step     |---------0----------|          |---------1---------|
    // call      |mm 1|       |add 2|             |mm 3|    |?? 4|     |mm 5|
    // device      |-1: 40-|    |2: 2|              |-3: 50-|  |4: 10|  |-5: 40-|
    //            12      52   62   64            212     262 282   292  322   362
    let trace = on_l4(&[
        range("run", 0, 400),
        range("denoise_step_0", 0, 100),
        range("denoise_step_1", 200, 300),
        operator("aten::mm", 5, 15, MM),
        launch(1, 10, 11),
        launched("sm80_xmma_gemm_bf16", 1, 12, 52),
        operator("aten::add", 58, 63, ADD),
        launch(2, 60, 61),
        launched("add", 2, 62, 64),
        operator("aten::mm", 205, 215, MM),
        launch(3, 210, 211),
        launched("sm80_xmma_gemm_bf16", 3, 212, 262),
        operator("aten::unheard_of", 275, 285, MM),
        launch(4, 280, 281),
        launched("other", 4, 282, 292),
        operator("aten::mm", 315, 325, MM),
        launch(5, 320, 321),
        launched("sm80_xmma_gemm_bf16", 5, 322, 362),
    ]);
    let lists = part_lists(&TraceContext::new(&trace, None));
    let steps = &lists.steps[0].parts;
    assert_eq!(steps.len(), 2);
    let first = of(&steps[0]);
    assert_eq!((first.all.count, first.all.device_ns), (2, 42_000));
    assert_eq!((first.all.flops, first.all.bytes), (Some(2_000_000_000), Some(6_000_120)));
    assert_eq!(first.all.flops_per_second, Some(5e13));
    // All; 16.529 of 52 µs from 12 to 64; 20.0004 of 42 µs.
    assert_eq!(shares(&first), ["1.0000", "0.3179", "0.4762"]);
    // 28.571 µs of the product at 70 % of its roofline; the sum takes less than 5 µs.
    assert_eq!(first.all.headroom_ns, Some(11_429));
    // 50 of 60 µs; 16.529 of 80 µs from 212 to 292; 20 of the 50 µs that are known.
    let second = of(&steps[1]);
    assert_eq!((second.all.count, second.all.device_ns), (1, 50_000));
    assert_eq!(shares(&second), ["0.8333", "0.2066", "0.4000"]);
    // Of five sixths nothing is said of the whole.
    assert_eq!(second.all.headroom_ns, None);
    // Of all: 132 of 142 µs; 3 · 16.529 of 350 µs; 60.0004 of 132 µs.
    let phases = &lists.phases[0].parts;
    let run = phases.iter().find(|phase| phase.name == "run").map(of).unwrap();
    assert_eq!((run.all.count, run.all.flops), (4, Some(6_000_000_000)));
    assert_eq!(shares(&run), ["0.9296", "0.1417", "0.4545"]);
    // 11.429 + 21.429 + 11.429 µs.
    assert_eq!(run.all.headroom_ns, Some(44_287));
}

#[test]
fn a_call_at_the_end_of_a_step_is_in_that_step_alone() {
    // µs       0          100        200
    // step     |-----0-----||----1----|
    // mm              |--------|
    // launch           |1|   |2|
    // device             |fill|  |gemm|      10 and 40 µs
    let trace = on_l4(&[
        range("denoise_step_0", 0, 100),
        range("denoise_step_1", 100, 200),
        operator("aten::mm", 85, 115, MM),
        launch(1, 90, 91),
        launched("fill", 1, 92, 102),
        launch(2, 110, 111),
        launched("sm80_xmma_gemm_bf16", 2, 112, 152),
    ]);
    let context = TraceContext::new(&trace, None);
    let steps = part_lists(&context).steps.remove(0).parts;
    let flops = steps.iter().map(|step| of(step).all.flops);
    assert_eq!(flops.collect::<Vec<_>>(), [Some(2_000_000_000), None]);
    // No more than all, though 50 µs are those of a step with 10.
    assert_eq!(shares(&of(&steps[0]))[0], "1.0000");
    assert_eq!(shares(&of(&steps[1])), ["0.0000", "-", "-"]);
    let whole = modelled_work(&context, &context.timelines[0]).unwrap();
    assert_eq!(whole.classes[0].all.flops, Some(2_000_000_000));
}

#[test]
fn modules_have_the_work_of_those_in_them() {
    // µs          0                             100
    // Block_0     |-------------------------------|
    // Linear_0      |-mm 1-|
    // Linear_1                |-mm 2-|
    //                                    add 3
    // device          |1: 40|    |2: 50|   |3: 2|
    let trace = on_l4(&[
        module("Block_0", 0, 100),
        module("Linear_0", 5, 25),
        operator("aten::mm", 10, 20, MM),
        launch(1, 12, 13),
        launched("sm80_xmma_gemm_bf16", 1, 14, 54),
        module("Linear_1", 30, 50),
        operator("aten::mm", 35, 45, MM),
        launch(2, 37, 38),
        launched("sm80_xmma_gemm_bf16", 2, 54, 104),
        operator("aten::add", 70, 80, ADD),
        launch(3, 72, 73),
        launched("add", 3, 104, 106),
    ]);
    let found = modules(&TraceContext::new(&trace, None));
    let figures = |rows: &[marey_analysis::ModuleRow]| -> Vec<_> {
        let each = rows.iter().map(|row| {
            let part = row.modelled.unwrap();
            (row.name.clone(), part.all.count, part.all.flops, shown(part.all.roofline_ratio))
        });
        each.collect()
    };
    let expected = |rows: &[(&str, u64, u64, &str)]| -> Vec<_> {
        let each = rows.iter().map(|(name, count, giga, ratio)| {
            ((*name).to_owned(), *count, Some(giga * 1_000_000_000), (*ratio).to_owned())
        });
        each.collect()
    };
    // 40.0004 of 92 µs, 20 of 50 and of 40 µs.
    let of_paths = [
        ("Block_0", 3, 4, "0.4348"),
        ("Block_0 / Linear_1", 1, 2, "0.4000"),
        ("Block_0 / Linear_0", 1, 2, "0.5000"),
    ];
    assert_eq!(figures(&found.rows), expected(&of_paths));
    let headroom = found.rows.iter().map(|row| row.modelled.unwrap().all.headroom_ns);
    assert_eq!(headroom.collect::<Vec<_>>(), [Some(32_858), Some(21_429), Some(11_429)]);
    // 40 of 90 µs.
    let of_types = [("Block", 3, 4, "0.4348"), ("Linear", 2, 4, "0.4444")];
    assert_eq!(figures(&found.types), expected(&of_types));
}

#[test]
fn without_shapes_parts_have_no_work_that_is_known() {
    let trace = on_l4(&[
        range("denoise_step_0", 0, 100),
        range("denoise_step_1", 100, 200),
        operator("aten::mm", 5, 15, ""),
        launch(1, 10, 11),
        launched("gemm", 1, 12, 52),
        launch(2, 110, 111),
        launched("gemm", 2, 112, 152),
    ]);
    let lists = part_lists(&TraceContext::new(&trace, None));
    assert!(lists.steps[0].parts.iter().all(|step| step.modelled.is_none()));
}
