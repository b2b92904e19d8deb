//! What a call of an operator has to do at least, by its name and its inputs: operations and bytes.
//!
//! ```text
//! aten::addmm   [[768], [788, 768], [768, 768], [], []]   bfloat16
//!   FLOPs   2 · 788 · 768 · 768                            929,562,624
//!   bytes   2 · (768 + 788 · 768 + 768 · 768 + 788 · 768)    3,601,920
//! ```
//!
//! FLOPs are those of products, a multiplication and an addition each, as torch's `FlopCounterMode` counts them
//! (`torch/utils/flop_counter.py`): products of matrices, convolutions and attention. Others have none of these and are not counted:
//! how many operations an exponential is differs from device to device. Bytes are those of each input read once and each output written
//! once, whatever a kernel reads again; of several outputs the main one. What is not understood is `None`, never 0.

mod arguments;
mod attention;
mod convolutions;
mod moves;
mod peaks;
mod products;

use serde::Serialize;

use crate::questions::trace::{KernelClass, kernel_class};

pub(crate) use arguments::{Arguments, Tensor};
pub(crate) use peaks::{DevicePeaks, peaks};

/// The least that one call has to do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Work {
    /// Multiplications and additions of products; `None` when it has none, or they are not known.
    pub(crate) flops: Option<u64>,
    /// Bytes of inputs and outputs, each once; `None` when they are not known.
    pub(crate) bytes: Option<u64>,
    /// The numbers that it multiplies; `None` when they are of no format that devices have peaks for.
    pub(crate) format: Option<NumberFormat>,
}

/// A format of numbers that devices multiply at a speed of its own.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum NumberFormat {
    /// 4 bits with scales of blocks.
    Fp4,
    /// 8 bits, `e4m3` and `e5m2`.
    Fp8,
    /// Whole numbers of 8 bits.
    Int8,
    /// 16 bits with the range of 32.
    Bf16,
    /// 16 bits.
    Fp16,
    /// 32 bits, multiplied with 19 of them on tensor cores.
    Tf32,
    /// 32 bits.
    Fp32,
    /// 64 bits.
    Fp64,
}

impl NumberFormat {
    /// It has a point.
    pub(crate) fn is_float(self) -> bool {
        self != Self::Int8
    }
}

/// The work of a call; `None` when its inputs are not as expected.
pub(crate) type Formula = fn(&Arguments) -> Option<Work>;

/// Operators by the full names that traces have, with their class and formula. Operators that only call others of these
/// (`aten::linear`, `aten::conv2d`, `aten::matmul`) are left out, so that nothing is counted twice.
type Operators = &'static [(KernelClass, Formula, &'static str)];

/// Those whose work follows from the shapes and types of their inputs.
const OF_SHAPES: Operators = &[
    (KernelClass::Gemm, products::plain, "aten::mm aten::bmm aten::mv aten::dot aten::vdot"),
    (
        KernelClass::Gemm,
        products::added,
        "aten::addmm aten::addmm_ aten::_addmm_activation aten::baddbmm aten::baddbmm_ aten::addmv aten::addmv_",
    ),
    (KernelClass::Gemm, products::of_integers, "aten::_int_mm"),
    (
        KernelClass::Normalization,
        moves::normalization,
        "aten::native_layer_norm aten::native_group_norm aten::native_batch_norm aten::cudnn_batch_norm \
         aten::miopen_batch_norm aten::_batch_norm_with_update aten::_fused_rms_norm aiter::_groupnorm_run",
    ),
    (KernelClass::Elementwise, moves::elementwise, ELEMENTWISE),
    (
        KernelClass::Elementwise,
        moves::comparison,
        "aten::eq aten::ne aten::lt aten::le aten::gt aten::ge aten::logical_not aten::logical_and aten::logical_or aten::isnan",
    ),
    (KernelClass::Elementwise, moves::fill, "aten::fill_ aten::zero_ aten::normal_ aten::uniform_"),
    (KernelClass::Layout, moves::copy, "aten::copy_"),
    (KernelClass::Indexing, moves::gather, "aten::gather"),
];

/// Those whose work also depends on values: a stride, a mask, a dimension.
const OF_VALUES: Operators = &[
    (KernelClass::Gemm, products::scaled, "aten::_scaled_mm"),
    (KernelClass::Convolution, convolutions::convolution, "aten::convolution"),
    (
        KernelClass::Attention,
        attention::torch_flash,
        "aten::_scaled_dot_product_flash_attention aten::_scaled_dot_product_flash_attention_for_cpu",
    ),
    (
        KernelClass::Attention,
        attention::torch_masked,
        "aten::_scaled_dot_product_efficient_attention aten::_scaled_dot_product_cudnn_attention",
    ),
    (
        KernelClass::Attention,
        attention::torch_overrideable,
        "aten::_scaled_dot_product_fused_attention_overrideable",
    ),
    (
        KernelClass::Attention,
        attention::flash,
        "flash_attn::_flash_attn_forward aiter::fmha_v3_fwd aiter::mha_fwd",
    ),
    (KernelClass::Attention, attention::flash_of_lengths, "flash_attn::_flash_attn_varlen_forward"),
    (
        KernelClass::Attention,
        attention::xformers,
        "xformers::efficient_attention_forward_cutlass xformers::efficient_attention_forward_ck",
    ),
    (KernelClass::Softmax, moves::softmax, "aten::_softmax aten::_log_softmax"),
    (KernelClass::Reduction, moves::reduction, "aten::mean aten::amax aten::amin"),
    (KernelClass::Reduction, moves::summed, "aten::sum"),
    (KernelClass::Reduction, moves::norm, "aten::linalg_vector_norm"),
    (KernelClass::Reduction, moves::place_of_most, "aten::argmax aten::argmin"),
    (
        KernelClass::Layout,
        moves::upsample,
        "aten::upsample_nearest1d aten::upsample_nearest2d aten::upsample_nearest3d",
    ),
    (KernelClass::Indexing, moves::index_select, "aten::index_select"),
];

/// Operators that compute each value of their output from one value of each input.
const ELEMENTWISE: &str = "aten::add aten::add_ aten::sub aten::sub_ aten::rsub aten::mul aten::mul_ aten::div aten::div_ aten::pow aten::pow_ \
     aten::neg aten::abs aten::exp aten::exp_ aten::log aten::sqrt aten::rsqrt aten::reciprocal aten::sin aten::cos aten::tanh aten::tanh_ \
     aten::sigmoid aten::sigmoid_ aten::silu aten::silu_ aten::gelu aten::gelu_ aten::relu aten::relu_ aten::leaky_relu aten::hardswish \
     aten::clamp aten::clamp_ aten::clamp_min aten::clamp_max aten::maximum aten::minimum aten::floor aten::ceil aten::round aten::where \
     aten::masked_fill aten::masked_fill_ aten::lerp aten::addcmul aten::addcdiv aten::bitwise_and aten::bitwise_or aten::bitwise_not \
     aten::tril aten::triu";

/// The class and the formula of an operator; `None` when it has none here. Kernels of Inductor are operators with its names.
pub(crate) fn formula(name: &str) -> Option<(KernelClass, Formula)> {
    let fused = (KernelClass::Fused, moves::fused as Formula);
    let known = found(OF_SHAPES, name).or_else(|| found(OF_VALUES, name));
    known.or_else(|| is_fused(name).then_some(fused))
}

/// Its formula needs the values of inputs that are no tensors.
pub(crate) fn needs_values(name: &str) -> bool {
    found(OF_VALUES, name).is_some() || is_fused(name)
}

/// A kernel of Inductor that multiplies no matrices: its values say how much of its tensors it goes through.
fn is_fused(name: &str) -> bool {
    kernel_class(name) == KernelClass::Fused
}

fn found(operators: Operators, name: &str) -> Option<(KernelClass, Formula)> {
    let is_listed = |names: &str| names.split(' ').any(|listed| listed == name);
    let found = operators.iter().find(|(.., names)| is_listed(names));
    found.map(|(class, formula, _)| (*class, *formula))
}

#[cfg(test)]
mod tests;
