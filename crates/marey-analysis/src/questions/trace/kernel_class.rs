//! What kind of work a kernel does, as far as its name tells.

use serde::Serialize;

use super::device_timeline::is_communication;

/// A kind of kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum KernelClass {
    /// Talks to other devices.
    Communication,
    /// Attention in one kernel, whatever the library.
    Attention,
    /// Convolutions.
    Convolution,
    /// Products of matrices.
    Gemm,
    /// Layer, group, batch and RMS normalization.
    Normalization,
    /// Softmax by itself: of eager attention, or of a classifier.
    Softmax,
    /// Sums, means, largest values.
    Reduction,
    /// Value by value.
    Elementwise,
    /// Copies, concatenations, other layouts.
    Layout,
    /// Gathers, scatters, embeddings, sorting.
    Indexing,
    /// Random numbers.
    Random,
    /// Fused by a compiler, so that its name lists what it was made of.
    Fused,
    /// None of these by its name.
    Other,
}

/// Fused kernels of Inductor are named after everything around them, attention included: told first.
const FUSED: [&str; 4] = ["triton_poi_", "triton_red_", "triton_per_", "triton_for_"];

/// Have attention in their names, but only bring data into shape for it.
const NOT_ATTENTION: [&str; 4] = [
    "reshape_and_cache",
    "kv_indices",
    "sage_quant",
    "quantize_with_block_size",
];

/// Parts of names, in lower case, and what they mean. The first that fits counts.
const PARTS: [(&str, KernelClass); 66] = [
    ("flash_fwd", KernelClass::Attention),
    ("flash_bwd", KernelClass::Attention),
    ("fmha", KernelClass::Attention),
    ("attn_fwd", KernelClass::Attention),
    ("attn_bwd", KernelClass::Attention),
    ("sage_fwd", KernelClass::Attention),
    ("sageattn", KernelClass::Attention),
    ("qk_int_sv", KernelClass::Attention),
    ("unified_attention", KernelClass::Attention),
    ("paged_attention", KernelClass::Attention),
    ("attention_kernel", KernelClass::Attention),
    ("attentionkernel", KernelClass::Attention),
    ("memeff", KernelClass::Attention),
    ("sdpa", KernelClass::Attention),
    ("mha_fwd", KernelClass::Attention),
    ("conv_depthwise", KernelClass::Convolution),
    ("implicitgemmconvolution", KernelClass::Convolution),
    ("implicit_gemm", KernelClass::Convolution),
    ("implicit_convolve", KernelClass::Convolution),
    ("winograd", KernelClass::Convolution),
    ("conv2d", KernelClass::Convolution),
    ("conv3d", KernelClass::Convolution),
    ("convolve", KernelClass::Convolution),
    ("convolution", KernelClass::Convolution),
    ("dgrad", KernelClass::Convolution),
    ("wgrad", KernelClass::Convolution),
    ("fprop", KernelClass::Convolution),
    ("igemm", KernelClass::Convolution),
    ("gemm", KernelClass::Gemm),
    ("gemv", KernelClass::Gemm),
    ("cijk_", KernelClass::Gemm),
    ("nvjet", KernelClass::Gemm),
    ("matmul", KernelClass::Gemm),
    ("splitk", KernelClass::Gemm),
    ("xmma", KernelClass::Gemm),
    ("cutlass", KernelClass::Gemm),
    ("layer_norm", KernelClass::Normalization),
    ("layernorm", KernelClass::Normalization),
    ("rms_norm", KernelClass::Normalization),
    ("rmsnorm", KernelClass::Normalization),
    ("group_norm", KernelClass::Normalization),
    ("groupnorm", KernelClass::Normalization),
    ("batch_norm", KernelClass::Normalization),
    ("batchnorm", KernelClass::Normalization),
    ("rowwisemoments", KernelClass::Normalization),
    ("cudnn::bn_", KernelClass::Normalization),
    ("softmax", KernelClass::Softmax),
    ("distribution_", KernelClass::Random),
    ("philox", KernelClass::Random),
    ("random", KernelClass::Random),
    ("reduce", KernelClass::Reduction),
    ("catarray", KernelClass::Layout),
    ("nchwtonhwc", KernelClass::Layout),
    ("nhwctonchw", KernelClass::Layout),
    ("transpose", KernelClass::Layout),
    ("direct_copy", KernelClass::Layout),
    ("upsample", KernelClass::Layout),
    ("gather", KernelClass::Indexing),
    ("scatter", KernelClass::Indexing),
    ("index", KernelClass::Indexing),
    ("embedding", KernelClass::Indexing),
    ("sort", KernelClass::Indexing),
    ("topk", KernelClass::Indexing),
    ("elementwise", KernelClass::Elementwise),
    ("fillfunctor", KernelClass::Elementwise),
    ("pointwise", KernelClass::Elementwise),
];

/// A compiler made this kernel, and named it after what is in it and around it.
pub(super) fn is_fused(name: &str) -> bool {
    FUSED.iter().any(|beginning| name.starts_with(beginning))
}

/// What a kernel of this name does. A name may mislead; this is what it says.
pub fn kernel_class(name: &str) -> KernelClass {
    if is_fused(name) {
        return KernelClass::Fused;
    }
    if is_communication(name) {
        return KernelClass::Communication;
    }
    let lower = name.to_ascii_lowercase();
    let is_preparation = NOT_ATTENTION.iter().any(|part| lower.contains(part));
    let fits = |(part, class): &&(&str, KernelClass)| {
        lower.contains(part) && !(is_preparation && *class == KernelClass::Attention)
    };
    PARTS
        .iter()
        .find(fits)
        .map_or(KernelClass::Other, |found| found.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_of_many_libraries_are_told_by_their_names() {
        for (name, class) in [
            (
                "ncclKernel_AllReduce_RING_LL_Sum_float(ncclDevComm*)",
                KernelClass::Communication,
            ),
            ("multimem_all_reduce_kernel", KernelClass::Communication),
            (
                "void pytorch_flash::flash_fwd_kernel<Flash_fwd_kernel_traits<64>>",
                KernelClass::Attention,
            ),
            ("aiter::fmha_fwd_hd128_bf16_causal", KernelClass::Attention),
            (
                "fmhaSm100aKernel_QkvBfloat16OBfloat16H128PagedKv",
                KernelClass::Attention,
            ),
            ("attn_fwd", KernelClass::Attention),
            (
                "cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16",
                KernelClass::Attention,
            ),
            (
                "fmha_cutlassF_bf16_aligned_64x128_rf_sm80(PyTorchMemEffAttention::AttentionKernel)",
                KernelClass::Attention,
            ),
            ("sage_fwd", KernelClass::Attention),
            ("kernel_unified_attention_2d", KernelClass::Attention),
            (
                "_ZN19cutlass_cudnn_train6KernelINS_4conv6kernel23ImplicitGemmConvolution",
                KernelClass::Convolution,
            ),
            (
                "void cutlass::Kernel<cutlass_80_tensorop_s1688gemm_256x64_16x4_nn_align4>",
                KernelClass::Gemm,
            ),
            ("Cijk_Alik_Bljk_BBS_BH_Bias", KernelClass::Gemm),
            ("nvjet_tst_192x192_64x4_2x1_v_bz_TNT", KernelClass::Gemm),
            (
                "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<float>",
                KernelClass::Normalization,
            ),
            (
                "void cudnn::bn_fw_tr_1C11_kernel_NCHW<float>",
                KernelClass::Normalization,
            ),
            (
                "void (anonymous namespace)::softmax_warp_forward<float>",
                KernelClass::Softmax,
            ),
            (
                "void at::native::reduce_kernel<512, 1>",
                KernelClass::Reduction,
            ),
            (
                "void at::native::vectorized_elementwise_kernel<4>",
                KernelClass::Elementwise,
            ),
            (
                "void at::native::(anonymous namespace)::CatArrayBatchedCopy<float>",
                KernelClass::Layout,
            ),
            (
                "void at::native::vectorized_gather_kernel<16, long>",
                KernelClass::Indexing,
            ),
            ("foo", KernelClass::Other),
        ] {
            assert_eq!(kernel_class(name), class, "{name}");
        }
    }

    #[test]
    fn kernels_that_are_named_after_attention_are_not_taken_for_it() {
        for name in [
            "triton_poi_fused__scaled_dot_product_flash_attention_1",
            "triton_red_fused_fmha_v3_fwd_4",
        ] {
            assert_eq!(kernel_class(name), KernelClass::Fused, "{name}");
        }
        for name in [
            "vllm::reshape_and_cache_flash_kernel",
            "create_flashinfer_kv_indices_triton",
            "sage_quant_kernel",
        ] {
            assert_ne!(kernel_class(name), KernelClass::Attention, "{name}");
        }
    }
}
