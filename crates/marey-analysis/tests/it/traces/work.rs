//! What operators had to do, and how fast they did it, on timelines that are drawn.

use marey_analysis::{Bound, KernelClass, ModelledWork, NumberFormat, TraceContext, modelled_work};

use super::{complete, events, launch, launched, try_read};

fn operator(name: &str, start: u64, end: u64, inputs: &str) -> String {
    complete("cpu_op", name, 9, start, end, inputs)
}

/// Of the only device of a trace.
fn found(rows: &[String]) -> Option<ModelledWork> {
    let trace = events(&rows.join(","));
    let context = TraceContext::new(&trace, None);
    modelled_work(&context, &context.timelines[0])
}

const LINEAR: &str =
    r#""Input Dims": [[2, 3], [5, 3], [5]], "Input type": ["float", "float", "float"]"#;
const ADDMM: &str = r#""Input Dims": [[5], [2, 3], [3, 5], [], []], "Input type": ["float", "float", "float", "Scalar", "Scalar"]"#;
const ADD: &str =
    r#""Input Dims": [[2, 5], [2, 5], []], "Input type": ["float", "float", "Scalar"]"#;

#[test]
fn each_kernel_belongs_to_one_call() {
    // µs       0    2    4    6    8   10   12   14   16   18   20
    // linear   |-----------------------|
    // addmm       |------------------|
    // launch         |1|  |2|
    // add                                  |--------|              12 - 16
    // launch                                  |3|
    // unknown                                           |----|     17 - 19
    // launch                                             |4|
    // device             |1||-- 2 --|            |-3-|       |4|   1, 3, 2 and 4 µs
    let work = found(&[
        operator("aten::linear", 0, 10, LINEAR),
        operator("aten::addmm", 2, 9, ADDMM),
        launch(1, 3, 4),
        launch(2, 5, 6),
        operator("aten::add", 12, 16, ADD),
        launch(3, 13, 14),
        operator("aten::unheard_of", 17, 19, ADD),
        launch(4, 18, 19),
        launched("memset", 1, 4, 5),
        launched("gemm", 2, 6, 9),
        launched("add", 3, 14, 16),
        launched("other", 4, 19, 23),
    ]);
    let work = work.unwrap();
    assert_eq!(work.rows.len(), 2);
    let addmm = &work.rows[0];
    assert_eq!((addmm.operator.as_str(), addmm.class), ("aten::addmm", KernelClass::Gemm));
    assert_eq!((addmm.all.count, addmm.all.n_launched, addmm.all.device_ns), (1, 2, 4_000));
    // 2 · 2 · 5 · 3 in 4 µs; 4 · (5 + 6 + 15 + 10) bytes.
    assert_eq!((addmm.call_flops, addmm.call_bytes), (Some(60), Some(144)));
    assert_eq!(addmm.all.flops_per_second, Some(15e6));
    assert_eq!(addmm.all.bytes_per_second, Some(36e6));
    assert_eq!(addmm.all.flops_per_byte, Some(60.0 / 144.0));
    // 3 · 4 · 10 bytes in 2 µs, and no products.
    let add = &work.rows[1];
    assert_eq!((add.call_flops, add.call_bytes, add.all.flops), (None, Some(120), None));
    assert_eq!((add.all.bytes_per_second, add.all.flops_per_second), (Some(60e6), None));
    // 4 + 2 of 10 µs.
    assert_eq!((work.modelled_ns, work.modelled_ratio), (6_000, Some(0.6)));
}

#[test]
fn calls_with_equal_inputs_are_one_row_and_calls_with_other_work_are_not() {
    let attention = |start: u64, causal: &str| {
        let shape = "[1, 1, 4, 8]";
        let values = format!(r#"["", "", "", "0.", "{causal}", "False", "0.{start}"]"#);
        let inputs = format!(
            r#""Concrete Inputs": {values}, "Input Dims": [{shape}, {shape}, {shape}, [], [], [], []],
               "Input type": ["float", "float", "float", "Scalar", "Scalar", "Scalar", ""]"#
        );
        operator("aten::_scaled_dot_product_flash_attention", start, start + 8, &inputs)
    };
    // The second differs from the first in a scale, which changes no work; the third is causal.
    let mut rows = Vec::new();
    for (number, causal) in [(1, "False"), (2, "False"), (3, "True")] {
        let start = u64::from(number) * 10;
        rows.push(attention(start, causal));
        rows.push(launch(number, start + 1, start + 2));
        rows.push(launched("flash_fwd", number, start + 3, start + 4));
    }
    let work = found(&rows).unwrap();
    let figures: Vec<_> = work.rows.iter().map(|row| (row.all.count, row.call_flops)).collect();
    // 2 · 16 · (8 + 8), and 10 of the 16 pairs.
    assert_eq!(figures, [(2, Some(512)), (1, Some(320))]);
    let class = &work.classes[0];
    assert_eq!((work.classes.len(), class.class), (1, KernelClass::Attention));
    assert_eq!((class.all.count, class.all.flops), (3, Some(1_344)));
}

#[test]
fn an_operator_whose_inputs_are_not_understood_is_listed_and_not_known() {
    let inputs = r#""Input Dims": [[2, 3], [4, 5]], "Input type": ["float", "float"]"#;
    let work =
        found(&[operator("aten::mm", 0, 8, inputs), launch(1, 1, 2), launched("gemm", 1, 3, 5)]);
    let work = work.unwrap();
    assert_eq!(
        (work.rows.len(), work.rows[0].call_flops, work.rows[0].call_bytes),
        (1, None, None)
    );
    assert_eq!((work.modelled_ns, work.modelled_ratio), (0, Some(0.0)));
}

#[test]
fn without_shapes_there_is_no_answer() {
    let rows = [operator("aten::mm", 0, 8, ""), launch(1, 1, 2), launched("gemm", 1, 3, 5)];
    assert_eq!(found(&rows), None);
}

/// Of a device of this name; each call has a kernel of its own, from 10 µs after the call on.
fn on_device(device: &str, calls: &[(&str, &str, &str, u64)]) -> ModelledWork {
    let mut rows = Vec::new();
    for (number, (name, inputs, kernel, duration)) in (1..).zip(calls) {
        let start = u64::from(number) * 1_000;
        rows.push(operator(name, start, start + 8, inputs));
        rows.push(launch(number, start + 1, start + 2));
        rows.push(launched(kernel, number, start + 10, start + 10 + duration));
    }
    let devices = format!(r#"[{{"id": 0, "name": "{device}"}}]"#);
    let events = rows.join(",");
    let json = format!(r#"{{"deviceProperties": {devices}, "traceEvents": [{events}]}}"#);
    let trace = try_read(json).unwrap();
    let context = TraceContext::new(&trace, None);
    modelled_work(&context, &context.timelines[0]).unwrap()
}

fn mm(element_type: &str) -> String {
    format!(
        r#""Input Dims": [[1000, 1000], [1000, 1000]], "Input type": ["{element_type}", "{element_type}"]"#
    )
}

#[test]
fn calls_are_held_against_what_the_device_can_do() {
    // An L4 does 121 TFLOP/s in bfloat16, 60 in TF32, 30.3 in float, and moves 300 GB/s. 2 · 10⁹ FLOPs take 16.53, 33.33 and 66.01 µs,
    // 3 · 10⁶ numbers 20 µs of two bytes and 40 µs of four.
    let calls = [
        ("aten::mm", mm("c10::BFloat16"), "sm80_xmma_gemm_bf16", 40),
        ("aten::mm", mm("float"), "volta_sgemm_128x64_tn", 100),
        ("aten::mm", mm("double"), "dgemm", 300),
        ("aten::add", ADD.to_owned(), "add", 2),
    ];
    let calls = calls.each_ref().map(|(name, inputs, kernel, ns)| (*name, &**inputs, *kernel, *ns));
    let work = on_device("NVIDIA L4", &calls);
    let row = |at: usize| {
        let all = work.rows[at].all;
        let shown = |ratio: Option<f64>| ratio.map(|ratio| format!("{ratio:.4}"));
        (
            work.rows[at].format,
            work.rows[at].bound,
            shown(all.peak_ratio),
            shown(all.roofline_ratio),
        )
    };
    let known = |ratio: &str| Some(ratio.to_owned());
    // Its speed in double is not known, and so nothing of it.
    assert_eq!(row(0), (Some(NumberFormat::Fp64), None, None, None));
    let float = (Some(NumberFormat::Fp32), Some(Bound::Compute));
    assert_eq!(row(1), (float.0, float.1, known("0.6601"), known("0.6601")));
    let bfloat = (Some(NumberFormat::Bf16), Some(Bound::Memory));
    assert_eq!(row(2), (bfloat.0, bfloat.1, known("0.4132"), known("0.5000")));
    // 120 bytes would take 0.4 ns of 2 µs.
    assert_eq!(row(3), (None, Some(Bound::Latency), None, known("0.0002")));
    // At 70 % of the roofline 94.295 and 28.571 µs; no kernel is taken below 5 µs. Of the products 140 of 440 µs are known.
    let headroom = work.rows.iter().map(|row| row.all.headroom_ns);
    assert_eq!(headroom.collect::<Vec<_>>(), [None, Some(5_705), Some(11_429), Some(0)]);
    let headroom = work.classes.iter().map(|row| (row.class, row.all.headroom_ns));
    let expected = [(KernelClass::Gemm, None), (KernelClass::Elementwise, Some(0))];
    assert_eq!(headroom.collect::<Vec<_>>(), expected);
    // 16.53 + 66.01 µs of 1,010 to 4,012 µs.
    assert_eq!(format!("{:.5}", work.utilization_ratio.unwrap()), "0.02749");
    assert_eq!(work.peaks.unwrap().device, "NVIDIA L4");
}

#[test]
fn numbers_of_32_bits_are_tf32_where_a_kernel_uses_tensor_cores() {
    let inputs = mm("float");
    let calls = [("aten::mm", inputs.as_str(), "sm80_xmma_gemm_tf32f32", 80)];
    let work = on_device("NVIDIA L4", &calls);
    assert_eq!(work.rows[0].format, Some(NumberFormat::Tf32));
    // 33.33 µs for the FLOPs, 40 for the bytes.
    assert_eq!(
        (work.rows[0].bound, work.rows[0].all.roofline_ratio),
        (Some(Bound::Memory), Some(0.5))
    );
}

#[test]
fn a_device_without_a_data_sheet_has_speeds_and_no_shares() {
    let inputs = mm("c10::BFloat16");
    let calls = [("aten::mm", inputs.as_str(), "gemm", 40)];
    let work = on_device("NVIDIA L4 MIG 1g", &calls);
    assert_eq!((work.peaks, work.utilization_ratio), (None, None));
    let row = &work.rows[0];
    assert_eq!((row.bound, row.all.peak_ratio, row.all.roofline_ratio), (None, None, None));
    assert_eq!(row.all.flops_per_second, Some(5e13));
}
