//! What operators had to do, and how fast they did it, on timelines that are drawn.

use marey_analysis::{KernelClass, ModelledWork, TraceContext, modelled_work};

use super::{complete, events};

fn operator(name: &str, start: u64, end: u64, inputs: &str) -> String {
    complete("cpu_op", name, 9, start, end, inputs)
}

fn launch(id: u32, start: u64, end: u64) -> String {
    let args = format!(r#""correlation": {id}"#);
    complete("cuda_runtime", "cudaLaunchKernel", 9, start, end, &args)
}

fn launched(name: &str, id: u32, start: u64, end: u64) -> String {
    let args = format!(r#""stream": 7, "correlation": {id}"#);
    complete("kernel", name, 0, start, end, &args)
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
const ADD: &str = r#""Input Dims": [[2, 5], [2, 5], []], "Input type": ["float", "float", "Scalar"]"#;

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
    let work = found(&[
        operator("aten::mm", 0, 8, inputs),
        launch(1, 1, 2),
        launched("gemm", 1, 3, 5),
    ]);
    let work = work.unwrap();
    assert_eq!((work.rows.len(), work.rows[0].call_flops, work.rows[0].call_bytes), (1, None, None));
    assert_eq!((work.modelled_ns, work.modelled_ratio), (0, Some(0.0)));
}

#[test]
fn without_shapes_there_is_no_answer() {
    let rows = [operator("aten::mm", 0, 8, ""), launch(1, 1, 2), launched("gemm", 1, 3, 5)];
    assert_eq!(found(&rows), None);
}
