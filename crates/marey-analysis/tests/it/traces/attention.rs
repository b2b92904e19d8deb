//! Attention by the names of kernels, and what only looks like it.

use marey_analysis::{AttentionPath, attention};

use super::{events, kernel, only_device};

/// Paths with their number of kernels, from kernels of these names that follow each other.
fn paths(names: &[&str]) -> Vec<(AttentionPath, u64)> {
    let kernels: Vec<String> = (0_u64..)
        .zip(names)
        .map(|(n, name)| kernel(name, n * 10, n * 10 + 5))
        .collect();
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
fn what_is_named_after_attention_is_none() {
    let names = [
        "triton_poi_fused__scaled_dot_product_flash_attention_1",
        "triton_red_fused_fmha_v3_fwd_4",
        "void vllm::reshape_and_cache_flash_kernel<__hip_bfloat16>",
        "create_flashinfer_kv_indices_triton",
        "quantize_with_block_size_attn_fwd",
    ];
    assert_eq!(paths(&names), []);
}

#[test]
fn a_softmax_between_products_is_eager_attention_and_others_are_not() {
    let (gemm, softmax) = ("Cijk_Alik_Bljk", "void softmax_warp_forward<float>");
    let (scale, cast) = ("vectorized_elementwise_kernel", "direct_copy_kernel_cuda");
    let eager = [(AttentionPath::Eager, 1)];
    assert_eq!(paths(&[gemm, softmax, gemm]), eager);
    assert_eq!(paths(&[gemm, scale, cast, softmax, cast, gemm]), eager);
    // The bias by position is looked up in the first layer.
    assert_eq!(
        paths(&[gemm, "vectorized_gather_kernel", scale, softmax, gemm]),
        eager
    );
    // A sampler: it picks among the most likely, and looks up what it picked.
    assert_eq!(paths(&[gemm, "topk_kernel", softmax, gemm]), []);
    assert_eq!(
        paths(&[gemm, softmax, "vectorized_gather_kernel", gemm]),
        []
    );
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
        &[
            kernel("sage_quant_kernel", 0, 5),
            kernel("sage_fwd", 10, 12),
            kernel("gemm", 20, 28),
        ]
        .join(","),
    );
    let found = attention(&trace, &only_device(&trace));
    let [sage] = &found[..] else {
        panic!("{found:?}")
    };
    assert_eq!((sage.count, sage.total_ns), (1, 2_000));
    assert_eq!((sage.n_preparing, sage.preparing_ns), (1, 5_000));
    assert_eq!(sage.ratio, Some(7.0 / 15.0));
    assert_eq!(sage.kernels, ["sage_fwd", "sage_quant_kernel"]);
}
