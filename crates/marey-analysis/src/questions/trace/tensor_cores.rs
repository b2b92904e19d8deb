//! How much of the work with matrices ran on the units that are made for it?

use serde::Serialize;

use super::function_name::own_name;
use super::kernel_class::KernelClass;
use super::kernels::{KernelRow, Kernels};
use crate::stats::ratio;

/// Tensor cores (NVIDIA) and matrix cores (AMD), as far as names of kernels tell. Only products of matrices, convolutions and
/// attention are asked about. Sums of durations; the three parts come to all.
#[derive(Clone, Debug, Default, PartialEq, Serialize, schemars::JsonSchema)]
pub struct TensorCores {
    /// Kernels whose names say that they use them.
    pub used: MatrixTime,
    /// Kernels whose names say that they compute without them.
    pub unused: MatrixTime,
    /// Kernels whose names do not tell.
    pub not_known: MatrixTime,
    /// Those without, the ones that took most first; at most ten names.
    pub largest_unused: Vec<MatrixKernel>,
}

/// Time of a part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, schemars::JsonSchema)]
pub struct MatrixTime {
    /// How many kernels ran.
    pub count: u64,
    /// Their durations together.
    pub total_ns: u64,
    /// Share of the three parts, 0 to 1; `None` when all are zero.
    pub ratio: Option<f64>,
}

/// All kernels of a name.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct MatrixKernel {
    /// Which.
    pub name: String,
    /// What it computes.
    pub class: KernelClass,
    /// How often.
    pub count: u64,
    /// All durations together.
    pub total_ns: u64,
}

/// How many names are listed.
const N_LARGEST: usize = 10;

/// Parts of names that say a kernel multiplies value by value. They are asked first: `sm80_xmma_gemm_…_ffma` is one.
///
/// `simt` is the class of operations without tensor cores in the names of CUTLASS; `ffma`, `dfma`, `hfma2` are instructions of
/// the usual units; `scudnn` and `sgemm` are the kernels of cuDNN and cuBLAS in single precision.
const WITHOUT: &str = "simt ffma dfma hfma2 scudnn sgemm_ _sgemm";

/// Parts of names that say it uses them.
///
/// `tensorop` and `wmma` are the classes of operations with them in the names of CUTLASS (`cutlass_tensorop_s1688gemm`), and
/// the numbers are shapes of the instruction: 8x8x4, 16x8x8, 16x8x16. `hmma`, `imma`, `wgmma`, `utcmma` are instructions of NVIDIA,
/// `mfma` of AMD; `_mi16x16` and `_mi32x32` are how Tensile names the shape of it. Kernels of cuBLAS that are called `nvjet` exist
/// for Hopper and later and are built on `wgmma`. The tensor-core list of the `TensorBoard` plugin of Kineto
/// (`torch_tb_profiler/profiler/tensor_core.py`) has the same shapes.
const WITH: &str = "tensorop wmma hmma imma wgmma utcmma mfma s884 h884 s1688 h1688 c1688 16816 i8816 i16832 \
     sm90_xmma sm100_xmma tf32 nvjet _mi16x16 _mi32x32 _mi4x4";

/// Types of 8 and 4 bits in a function's own name (`bmm_MxE4m3_MxE2m1MxE4m3_Fp32_t128x8`). Of NVIDIA's instructions only those of
/// tensor cores multiply them: in PTX `.e4m3`, `.e5m2` and `.e2m1` are types of `mma`, `wgmma.mma_async` and `tcgen05.mma`, beside those
/// of conversions. A product with a vector (`gemv`) may convert them and multiply without.
const SMALL_TYPES: &str = "e4m3 e5m2 e2m1";

/// A kernel of this name uses tensor cores or matrix cores; `None` when the name does not tell.
pub fn uses_tensor_cores(name: &str) -> Option<bool> {
    let lower = name.to_ascii_lowercase();
    let has = |parts: &str| parts.split(' ').any(|part| lower.contains(part));
    let is_tensor_operation = lower.contains("tensorop");
    if !is_tensor_operation && has(WITHOUT) {
        return Some(false);
    }
    if has(WITH) {
        return Some(true);
    }
    let own = own_name(name).to_ascii_lowercase();
    let is_small = SMALL_TYPES.split(' ').any(|part| own.contains(part));
    (is_small && !own.contains("gemv")).then_some(true)
}

/// Of the kernels of a device; `None` when none works with matrices.
pub fn tensor_cores(kernels: &Kernels) -> Option<TensorCores> {
    let mut found = TensorCores::default();
    let is_matrix = |row: &&KernelRow| {
        matches!(
            row.class,
            Some(KernelClass::Gemm | KernelClass::Convolution | KernelClass::Attention)
        )
    };
    for row in kernels.rows.iter().filter(is_matrix) {
        let part = match uses_tensor_cores(&row.name) {
            Some(true) => &mut found.used,
            Some(false) => &mut found.unused,
            None => &mut found.not_known,
        };
        part.count = part.count.saturating_add(row.count);
        part.total_ns = part.total_ns.saturating_add(row.total_ns);
        let is_unused = uses_tensor_cores(&row.name) == Some(false);
        if is_unused && found.largest_unused.len() < N_LARGEST {
            found.largest_unused.push(MatrixKernel {
                name: row.name.clone(),
                class: row.class.unwrap_or(KernelClass::Other),
                count: row.count,
                total_ns: row.total_ns,
            });
        }
    }
    let parts = [found.used, found.unused, found.not_known];
    let all_ns: u128 = parts.iter().map(|part| u128::from(part.total_ns)).sum();
    for part in [&mut found.used, &mut found.unused, &mut found.not_known] {
        part.ratio = (all_ns > 0).then(|| ratio(u128::from(part.total_ns), all_ns));
    }
    parts.iter().any(|part| part.count > 0).then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_whether_tensor_cores_are_used_or_nothing() {
        for (name, used) in [
            ("cutlass_80_tensorop_s1688gemm_256x64_16x4_nn_align4", Some(true)),
            ("ampere_bf16_s16816gemm_bf16_128x64_ldg8_f2f_tn", Some(true)),
            ("sm80_xmma_fprop_implicit_gemm_tf32f32_tf32f32_f32", Some(true)),
            ("sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64", Some(true)),
            ("nvjet_tst_192x192_64x4_2x1_v_bz_TNT", Some(true)),
            ("Cijk_Alik_Bljk_BBS_BH_MT64x64x64_MI16x16x16x1", Some(true)),
            ("paged_attention_ll4mi_QKV_mfma16_kernel", Some(true)),
            ("sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize32x32x8_ffma", Some(false)),
            ("volta_sgemm_128x64_tn", Some(false)),
            ("cutlass_80_simt_sgemm_128x64_8x5_nt_align1", Some(false)),
            ("volta_scudnn_128x128_stridedB_small_nn_v1", Some(false)),
            ("bmm_MxE4m3_MxE2m1MxE4m3_Fp32_t128x8x512u2_s7_et128x8_m128x8x32", Some(true)),
            ("bmm_Bfloat16_E2m1E2m1_Fp32_t128x16x512_dynBatch_sm100f", Some(true)),
            // A type of the values, and not of the products; a product that may convert first.
            ("void gemm_simple<Scales<e4m3> >(e4m3*)", None),
            ("gemv_fp8_e4m3_kernel", None),
            ("Cijk_Alik_Bljk_BBS_BH_Bias", None),
            ("void pytorch_flash::flash_fwd_kernel<Flash_fwd_kernel_traits<64>>", None),
            ("void gemv2T_kernel_val<int, int, float>", None),
        ] {
            assert_eq!(uses_tensor_cores(name), used, "{name}");
        }
    }
}
