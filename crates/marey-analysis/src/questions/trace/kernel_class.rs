//! What kind of work a kernel does, as far as its name tells.

use serde::{Deserialize, Serialize};

use super::device_timeline::is_communication;
use super::function_name::own_name;

/// A kind of kernel.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema,
)]
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
    /// Largest or mean values of neighbours.
    Pooling,
    /// Values into types with fewer bits, with their scales.
    Quantization,
    /// Random numbers.
    Random,
    /// Fused by a compiler, so that its name lists what it was made of.
    Fused,
    /// None of these by its name.
    Other,
}

/// Fused kernels of Inductor are named after everything around them, attention included: looked for first.
/// Torch 2.0 numbered them without saying what is in them (`triton__0d1d2d`). Its templates (`triton_tem_`) are products of
/// matrices, convolutions and attention, and known by the rest of the name.
const FUSED: &str =
    "triton_poi_ triton_red_ triton_per_ triton_for_ triton_mix_ triton_fused_ triton__";

/// Have attention in their names, but only bring data into shape for it.
const NOT_ATTENTION: &str = "reshape_and_cache kv_indices sage_quant quantize_with_block_size";

/// What names mean that have one of these parts, in lower case. The first that fits counts.
const PARTS: &[(KernelClass, &str)] = &[
    (
        KernelClass::Attention,
        "flash_fwd flash_bwd fmha attn_fwd attn_bwd sage_fwd sageattn qk_int_sv unified_attention \
         paged_attention flex_attention flashattn prefillwithpagedkv decodewithpagedkv \
         attention_kernel attentionkernel memeff sdpa mha_fwd",
    ),
    (
        KernelClass::Convolution,
        "conv_depthwise implicitgemmconvolution implicit_gemm implicit_convolve winograd conv2d \
         conv3d convolve convolution dgrad wgrad fprop igemm",
    ),
    // Convolutions of cuDNN in single precision, and what it prepares for its own.
    (KernelClass::Convolution, "scudnn cask_cudnn im2d2col im2col col2im"),
    // cuBLASLt's bias and activation behind a product, as a kernel of its own.
    (KernelClass::Elementwise, "epilogue::impl"),
    (KernelClass::Gemm, "gemm gemv cijk_ nvjet matmul splitk xmma cutlass triton_tem_"),
    (
        KernelClass::Normalization,
        "layer_norm layernorm rms_norm rmsnorm group_norm groupnorm batch_norm batchnorm \
         rowwisemoments cudnn::bn_ gammabeta computefusedparams computebackwardfusedparams \
         computeinternalgradients",
    ),
    (KernelClass::Softmax, "softmax"),
    (KernelClass::Pooling, "max_pool avg_pool average_pool maxpool avgpool"),
    (KernelClass::Reduction, "lpnormfunctor"),
    (KernelClass::Elementwise, "multi_tensor_apply act_and_mul"),
    (KernelClass::Random, "distribution_ philox dropout random"),
    (KernelClass::Reduction, "reduce"),
    // Of cuBLAS: the product of two vectors, whose sums another kernel adds up, and a vector times a number.
    (KernelClass::Reduction, "dot_kernel"),
    (KernelClass::Elementwise, "scal_kernel"),
    (KernelClass::Reduction, "devicescan scan_config"),
    (
        KernelClass::Layout,
        "reshape_and_cache store_kvcache catarray nchwtonhwc nhwctonchw transpose permute \
         direct_copy upsample",
    ),
    (KernelClass::Quantization, "sage_quant quantize_with fp8_quant int8_quant"),
    (KernelClass::Indexing, "gather scatter index indices routing embedding sort topk"),
    (KernelClass::Elementwise, "elementwise fillfunctor pointwise scalepackedtensor subtensorop"),
];

/// Functions that do whatever their template arguments do: by the last part of their names, in lower case.
const WRAPPERS: &str = "kernel kernel2 device_kernel kentry kentry2 trampoline_kernel globalkernel \
     multi_tensor_apply_kernel compute_cuda_kernel";

/// The part of a name that says what a kernel does, in lower case: the function's own name, and of a wrapper all of it. What
/// other functions have as template arguments are types, which come from libraries for something else: `cutlass::bfloat16_t`.
fn telling(name: &str) -> String {
    let own = own_name(name).to_ascii_lowercase();
    let last = own.rsplit("::").next().unwrap_or_default();
    let is_wrapper =
        WRAPPERS.split(' ').any(|wrapper| wrapper == last) || last.contains("elementwise_kernel");
    if is_wrapper { name.to_ascii_lowercase() } else { own }
}

/// A compiler made this kernel, and named it after what is in it and around it.
pub(super) fn is_fused(name: &str) -> bool {
    FUSED.split(' ').any(|beginning| name.starts_with(beginning))
}

/// What a kernel of this name does. A name may mislead; this is what it says.
pub fn kernel_class(name: &str) -> KernelClass {
    if is_fused(name) {
        return KernelClass::Fused;
    }
    if is_communication(name) {
        return KernelClass::Communication;
    }
    let lower = telling(name);
    // Batched products of TensorRT-LLM are named by types and tiles: `bmm_Bfloat16_MxE2m1MxE4m3_Fp32_t128x16`.
    if lower.starts_with("bmm_") {
        return KernelClass::Gemm;
    }
    let is_preparation = NOT_ATTENTION.split(' ').any(|part| lower.contains(part));
    let fits = |(class, parts): &&(KernelClass, &str)| {
        !(is_preparation && *class == KernelClass::Attention)
            && parts.split(' ').any(|part| lower.contains(part))
    };
    PARTS.iter().find(fits).map_or(KernelClass::Other, |found| found.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_of_many_libraries_are_told_by_their_names() {
        for (name, class) in [
            ("ncclKernel_AllReduce_RING_LL_Sum_float(ncclDevComm*)", KernelClass::Communication),
            ("multimem_all_reduce_kernel", KernelClass::Communication),
            ("void rcclGenericKernel", KernelClass::Communication),
            ("vllm::cross_device_reduce_1stage", KernelClass::Communication),
            ("deep_ep::intranode::dispatch", KernelClass::Communication),
            (
                "void pytorch_flash::flash_fwd_kernel<Flash_fwd_kernel_traits<64>>",
                KernelClass::Attention,
            ),
            ("aiter::fmha_fwd_hd128_bf16_causal", KernelClass::Attention),
            ("fmhaSm100aKernel_QkvBfloat16OBfloat16H128PagedKv", KernelClass::Attention),
            ("attn_fwd", KernelClass::Attention),
            ("cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16", KernelClass::Attention),
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
            ("void cudnn::bn_fw_tr_1C11_kernel_NCHW<float>", KernelClass::Normalization),
            ("void (anonymous namespace)::softmax_warp_forward<float>", KernelClass::Softmax),
            ("void at::native::reduce_kernel<512, 1>", KernelClass::Reduction),
            ("void at::native::vectorized_elementwise_kernel<4>", KernelClass::Elementwise),
            (
                "void at::native::(anonymous namespace)::CatArrayBatchedCopy<float>",
                KernelClass::Layout,
            ),
            ("void at::native::vectorized_gather_kernel<16, long>", KernelClass::Indexing),
            (
                "void cutlass::device_kernel<flash::enable_sm90<flash::FlashAttnFwdSm90<",
                KernelClass::Attention,
            ),
            ("triton_tem_fused_flex_attention_0", KernelClass::Attention),
            ("triton_tem_fused_addmm_3", KernelClass::Gemm),
            ("triton__0d1d2d3d", KernelClass::Fused),
            ("cudnn_volta_scudnn_128x64_relu_xregs_large_nn_v1", KernelClass::Convolution),
            ("void at::native::max_pool_forward_nchw<float, float>", KernelClass::Pooling),
            ("sage_quant_kernel", KernelClass::Quantization),
            ("SubTensorOpWithScalar1d", KernelClass::Elementwise),
            (
                "void moe::dev::finalize::finalizeKernelVecLoad<moe::KernelParams<cutlass::bfloat16_t, 4, true> >(moe::KernelParams<cutlass::bfloat16_t, 4, true>)",
                KernelClass::Other,
            ),
            (
                "std::enable_if<(((8)>(0)))&&vllm::_typeConvert<c10::BFloat16>::exists, void>::type vllm::fused_add_rms_norm_kernel<c10::BFloat16, 8>(c10::BFloat16*, long)",
                KernelClass::Normalization,
            ),
            (
                "void at::native::elementwise_kernel<128, 4, at::native::gpu_kernel_impl<at::native::direct_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda()#1}> >(int)",
                KernelClass::Layout,
            ),
            (
                "void split_embedding_codegen_forward_weighted_kernel<float>(at::GenericPackedTensorAccessor<float, 1ul>)",
                KernelClass::Indexing,
            ),
            (
                "void dot_kernel<float, 128, 0, cublasDotParams<cublasGemvTensorStridedBatched<float const> > >(int)",
                KernelClass::Reduction,
            ),
            (
                "void scal_kernel<float, float, 1>(cublasTransposeParams<float>, float const*)",
                KernelClass::Elementwise,
            ),
            (
                "void at::native::(anonymous namespace)::fused_dropout_kernel_vec<float>(at::PhiloxCudaState)",
                KernelClass::Random,
            ),
            (
                "void ck_tile::kentry<1, ck_tile::FmhaFwdKernel<ck_tile::Pipeline> >(int)",
                KernelClass::Attention,
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
            "quantize_with_block_size_attn_fwd",
        ] {
            assert_ne!(kernel_class(name), KernelClass::Attention, "{name}");
        }
    }
}
