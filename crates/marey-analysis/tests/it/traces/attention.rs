//! Attention by the names of kernels, and what only looks like it.

use marey_analysis::{
    AttentionPath, FallbackReason, HostKind, PhaseRole, TraceAnswers, attention, trace_answers,
};

use super::{complete, events, kernel, only_device};

/// Paths with their number of kernels, from kernels of these names that follow each other.
fn paths(names: &[&str]) -> Vec<(AttentionPath, u64)> {
    let kernels: Vec<String> =
        (0_u64..).zip(names).map(|(n, name)| kernel(name, n * 10, n * 10 + 5)).collect();
    let trace = events(&kernels.join(","));
    let mut found: Vec<_> = attention(&trace, &only_device(&trace))
        .into_iter()
        .map(|row| (row.path, row.count))
        .collect();
    found.sort_unstable();
    found
}

#[test]
fn each_library_has_its_names() {
    let names = [
        "void pytorch_flash::flash_fwd_kernel<Flash_fwd_kernel_traits<64> >",
        "attn_fwd",
        "aiter::fmha_fwd_hd128_bf16_rtz",
        "fmhaSm100aKernel_QkvBfloat16",
        "fmha_cutlassF_bf16_aligned_64x128_rf_sm80(PyTorchMemEffAttention::AttentionKernel)",
        "cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16",
        "sage_fwd",
        "kernel_unified_attention_2d",
        "paged_attention_ll4mi_QKV_mfma16_kernel",
        "_ZN7ck_tile38FmhaBatchPrefillWithPagedKVCacheKernel",
    ];
    let expected = [
        (AttentionPath::Flash, 4),
        (AttentionPath::MemoryEfficient, 1),
        (AttentionPath::Cudnn, 1),
        (AttentionPath::Sage, 1),
        (AttentionPath::Paged, 3),
    ];
    assert_eq!(paths(&names), expected);
}

#[test]
fn a_softmax_between_products_is_eager_attention_and_others_are_not() {
    let (gemm, softmax) = ("Cijk_Alik_Bljk", "void softmax_warp_forward<float>");
    let (scale, cast) = ("vectorized_elementwise_kernel", "direct_copy_kernel_cuda");
    let eager = [(AttentionPath::Eager, 1)];
    assert_eq!(paths(&[gemm, softmax, gemm]), eager);
    assert_eq!(paths(&[gemm, scale, cast, softmax, cast, gemm]), eager);
    // The bias by position is looked up in the first layer.
    assert_eq!(paths(&[gemm, "vectorized_gather_kernel", scale, softmax, gemm]), eager);
    // A sampler: it picks among the most likely, and looks up what it picked.
    assert_eq!(paths(&[gemm, "topk_kernel", softmax, gemm]), []);
    assert_eq!(paths(&[gemm, softmax, "vectorized_gather_kernel", gemm]), []);
    // A classifier; a softmax of something else; one whose product is long past.
    assert_eq!(paths(&[gemm, softmax, "reduce_kernel"]), []);
    assert_eq!(paths(&["reduce_kernel", softmax, gemm]), []);
    assert_eq!(paths(&[gemm, "reduce_kernel", softmax, gemm]), []);
    assert_eq!(paths(&[gemm, softmax, softmax, gemm]), []);
    assert_eq!(paths(&[gemm, "softmax_warp_backward", gemm]), []);
}

#[test]
fn preparation_is_counted_apart() {
    // µs   0          5     10   12    20
    //      |sage_quant|     |fwd|      |-gemm-| to 28
    let trace = events(
        &[kernel("sage_quant_kernel", 0, 5), kernel("sage_fwd", 10, 12), kernel("gemm", 20, 28)]
            .join(","),
    );
    let found = attention(&trace, &only_device(&trace));
    let [sage] = &found[..] else { panic!("{found:?}") };
    assert_eq!((sage.count, sage.total_ns), (1, 2_000));
    assert_eq!((sage.n_preparing, sage.preparing_ns), (1, 5_000));
    assert_eq!(sage.ratio, Some(7.0 / 15.0));
    assert_eq!(sage.kernels, ["sage_fwd", "sage_quant_kernel"]);
}

/// An operator of torch on thread 7 of the host.
fn operator(name: &str, start: u64, end: u64, args: &str) -> String {
    complete("cpu_op", name, 99, start, end, args)
}

fn module(name: &str, start: u64, end: u64) -> String {
    let name = format!("nn.Module: {name}");
    complete("python_function", &name, 99, start, end, "")
}

/// A call at `at` that launches a kernel which runs from `start` to `end`.
fn launched(name: &str, number: u64, at: u64, start: u64, end: u64) -> String {
    let tie = format!(r#""correlation": {number}"#);
    let call = complete("cuda_runtime", "cudaLaunchKernel", 99, at, at + 1, &tie);
    let stream = format!(r#""stream": 7, {tie}"#);
    format!("{call},{}", complete("kernel", name, 0, start, end, &stream))
}

/// Attention of a text encoder step by step, then that of a denoiser: fused once, and once step by step as well.
///
/// ```text
/// µs       0    10   20   30   40  50      100       110  120                150  160  170  180
/// module   |------ T5EncoderModel_0 -|     |--------------- FluxTransformer2DModel_0 ----------|
///          |------ T5Attention_3 ----|     |- FluxAttention_0 -|             |-FluxAttention_1-|
/// operator |mm| |softmax| |mm|             |sdpa(flash)|                     |mm| |softmax| |mm|
/// ```
fn generation() -> Vec<String> {
    vec![
        module("T5EncoderModel_0", 0, 50),
        module("T5Attention_3", 0, 49),
        operator("aten::matmul", 0, 10, ""),
        launched("gemm_a", 1, 5, 200, 210),
        operator("aten::softmax", 12, 20, ""),
        launched("softmax_warp_forward", 2, 15, 210, 214),
        operator("aten::matmul", 22, 30, ""),
        launched("gemm_b", 3, 25, 214, 220),
        module("FluxTransformer2DModel_0", 100, 190),
        module("FluxAttention_0", 100, 120),
        operator("aten::scaled_dot_product_attention", 100, 110, ""),
        operator("aten::_scaled_dot_product_flash_attention", 101, 109, ""),
        launched("flash_fwd_kernel", 4, 105, 230, 237),
        module("FluxAttention_1", 150, 185),
    ]
}

fn eager_in_the_denoiser() -> Vec<String> {
    vec![
        operator(
            "aten::bmm",
            150,
            155,
            r#""Input Dims": [[4, 24, 60], [4, 60, 24]], "Input type": ["float", "float"]"#,
        ),
        launched("gemm_c", 5, 151, 240, 250),
        operator("aten::mul", 156, 157, ""),
        operator("aten::softmax", 158, 160, ""),
        launched("softmax_warp_forward", 6, 159, 250, 253),
        operator("aten::bmm", 162, 166, ""),
        launched("gemm_d", 7, 163, 253, 260),
    ]
}

fn answers(parts: &[Vec<String>]) -> TraceAnswers {
    trace_answers(&events(&parts.concat().join(",")), None)
}

#[test]
fn attention_step_by_step_is_told_by_operators_of_one_module() {
    let found = answers(&[generation()]);
    let [eager, fused] = &found.attention_operators[..] else {
        panic!("{:?}", found.attention_operators)
    };
    // From the first product to the last: 10 + 8 + 8 µs.
    assert_eq!(eager.owner.as_deref(), Some("T5Attention"));
    assert_eq!((eager.path, eager.count), (Some(AttentionPath::Eager), 1));
    assert_eq!((eager.host_ns, eager.device_ns, eager.n_launched), (26_000, 20_000, 3));
    assert_eq!(fused.owner.as_deref(), Some("FluxAttention"));
    assert_eq!(fused.path, Some(AttentionPath::Flash));
    assert_eq!((fused.host_ns, fused.device_ns, fused.n_launched), (10_000, 7_000, 1));
}

#[test]
fn layers_of_weights_and_other_modules_are_no_attention() {
    let paths = |names: &[&str]| {
        let mut each = Vec::new();
        for (at, name) in (0..).step_by(10).zip(names) {
            each.push(operator(name, at, at + 5, ""));
        }
        answers(&[each]).attention_operators.len()
    };
    let (product, softmax) = ("aten::matmul", "aten::softmax");
    assert_eq!(paths(&[product, "aten::add", softmax, product]), 1);
    assert_eq!(paths(&["aten::linear", softmax, product]), 0);
    assert_eq!(paths(&[product, softmax, "aten::linear"]), 0);
    assert_eq!(paths(&[product, softmax, "aten::argmax", product]), 0);
    assert_eq!(paths(&[product, softmax, "aten::embedding", product]), 0);
    assert_eq!(paths(&[product, "aten::embedding", softmax, product]), 1);
    // The second product is of another module.
    let apart = answers(&[vec![
        module("A_0", 0, 20),
        operator(product, 0, 5, ""),
        operator(softmax, 10, 15, ""),
        module("B_0", 30, 40),
        operator(product, 30, 35, ""),
    ]]);
    assert_eq!(apart.attention_operators, []);
}

#[test]
fn kernels_belong_to_the_module_that_launched_them_and_have_its_role() {
    let found = answers(&[generation()]);
    let owners: Vec<_> = found.devices[0]
        .attention_owners
        .iter()
        .map(|row| (row.owner.as_deref(), row.role, row.path, row.count, row.total_ns))
        .collect();
    assert_eq!(
        owners,
        [
            (Some("FluxAttention"), Some(PhaseRole::Denoising), AttentionPath::Flash, 1, 7_000),
            (Some("T5Attention"), Some(PhaseRole::TextEncoder), AttentionPath::Eager, 1, 4_000),
        ]
    );
}

#[test]
fn attention_of_a_replayed_graph_belongs_to_what_launched_the_graph() {
    // The range that names the graph, and the only call in it; two kernels have its correlation.
    let call = complete("cuda_runtime", "hipGraphLaunch", 99, 5, 8, r#""correlation": 1"#);
    let kernel = |start| {
        complete("kernel", "sage_fwd", 0, start, start + 3, r#""stream": 7, "correlation": 1"#)
    };
    let range = complete("user_annotation", "## Call CompiledFxGraph fq ##", 99, 0, 10, "");
    let owned = |events: Vec<String>| {
        let found = answers(&[events]);
        let [only] = &found.devices[0].attention_owners[..] else {
            panic!("{:?}", found.devices[0].attention_owners)
        };
        assert_eq!((only.count, only.total_ns, only.role), (2, 6_000, None));
        (only.owner.clone().unwrap(), only.kind.unwrap())
    };
    let graph = vec![call, kernel(20), kernel(30)];
    assert_eq!(owned(graph.clone()), ("hipGraphLaunch".into(), HostKind::Call));
    assert_eq!(
        owned([graph, vec![range]].concat()),
        ("## Call CompiledFxGraph fq ##".into(), HostKind::Range)
    );
}

#[test]
fn a_text_encoder_without_fused_kernels_is_listed_and_a_denoiser_warned_of() {
    let found = answers(&[generation()]);
    let rows: Vec<_> = found
        .attention_fallbacks
        .iter()
        .map(|row| (row.owner.as_deref(), row.is_warning))
        .collect();
    assert_eq!(rows, [(Some("T5Attention"), false)]);
    let found = answers(&[generation(), eager_in_the_denoiser()]);
    let rows: Vec<_> = found
        .attention_fallbacks
        .iter()
        .map(|row| (row.owner.as_deref(), row.is_warning))
        .collect();
    assert_eq!(rows, [(Some("FluxAttention"), true), (Some("T5Attention"), false)]);
    let denoiser = &found.attention_fallbacks[0];
    assert_eq!((denoiser.path, denoiser.count), (AttentionPath::Eager, 1));
    // 5 + 1 + 2 + 4 µs on the host; 10 + 3 + 7 on the device.
    assert_eq!((denoiser.host_ns, denoiser.device_ns), (12_000, 20_000));
    assert_eq!(
        (denoiser.element_type.as_deref(), denoiser.head_size, denoiser.has_mask),
        (Some("float"), Some(60), None)
    );
    assert_eq!(denoiser.reasons, [FallbackReason::ElementType, FallbackReason::HeadSize]);
}

#[test]
fn attention_step_by_step_throughout_is_a_choice_and_no_fallback() {
    let found =
        answers(&[vec![module("UNet2DConditionModel_0", 140, 190)], eager_in_the_denoiser()]);
    assert_eq!(found.attention_operators.len(), 1);
    assert_eq!(found.attention_fallbacks, []);
}

#[test]
fn what_torch_computed_without_a_fused_kernel_is_a_fallback_with_what_inputs_say() {
    let inputs = r#""Input Dims": [[1, 4, 24, 64], [1, 4, 24, 64], [1, 4, 24, 64], [24, 24], [], []], "Input type": ["c10::BFloat16", "c10::BFloat16", "c10::BFloat16", "bool", "Scalar", "Scalar"]"#;
    let math = |inputs: &str| {
        answers(&[vec![
            operator("aten::scaled_dot_product_attention", 0, 50, inputs),
            operator("aten::_scaled_dot_product_attention_math", 1, 49, ""),
            operator("aten::bmm", 2, 10, ""),
            launched("gemm_a", 1, 3, 100, 110),
            operator("aten::_softmax", 12, 20, ""),
            launched("softmax_warp_forward", 2, 13, 110, 114),
            operator("aten::bmm", 22, 30, ""),
            launched("gemm_b", 3, 23, 114, 120),
        ]])
    };
    let found = math(inputs);
    let [only] = &found.attention_fallbacks[..] else { panic!("{:?}", found.attention_fallbacks) };
    assert_eq!(only.operator, "aten::scaled_dot_product_attention");
    assert_eq!((only.path, only.is_warning), (AttentionPath::Math, true));
    assert_eq!((only.head_size, only.has_mask), (Some(64), Some(true)));
    assert_eq!(only.reasons, [FallbackReason::Mask]);
    assert_eq!((only.host_ns, only.device_ns, only.n_launched), (50_000, 20_000, 3));
    // The softmax is that of the path of torch, not of a program.
    let owned = &found.devices[0].attention_owners;
    assert_eq!((owned.len(), owned[0].path), (1, AttentionPath::Math));
    // Without inputs nothing is said of the cause.
    let unknown = &math("").attention_fallbacks[0];
    assert_eq!((unknown.head_size, unknown.has_mask), (None, None));
    assert_eq!(unknown.reasons, []);
}
