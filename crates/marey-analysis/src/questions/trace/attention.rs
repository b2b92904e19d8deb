//! Which attention ran, who called it, and what did it take? The answers; `attention_kernels` and `attention_calls` find them.

use serde::Serialize;

use super::{HostKind, PhaseRole};

/// A way to compute attention.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AttentionPath {
    /// Flash attention, of whatever library.
    Flash,
    /// The memory-efficient kernels of torch and xFormers.
    MemoryEfficient,
    /// That of cuDNN.
    Cudnn,
    /// With quantised queries and keys.
    Sage,
    /// Over a cache of pages, as servers of language models have it.
    Paged,
    /// Compiled for what the program does to its scores (`flex_attention`).
    Flex,
    /// Without a fused kernel, inside `scaled_dot_product_attention`: what torch takes when no other can be.
    Math,
    /// Step by step: a product of matrices, a softmax, another product. The slowest.
    Eager,
}

impl AttentionPath {
    /// One kernel does it all, without a matrix of the size of the sequence squared in memory.
    pub fn is_fused(self) -> bool {
        !matches!(self, Self::Math | Self::Eager)
    }
}

/// The kernels of one path.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct AttentionUse {
    /// Which.
    pub path: AttentionPath,
    /// Kernels that compute it; of `Eager` the softmaxes, one a call.
    pub count: u64,
    /// Their durations together; of `Eager` without the products of matrices.
    pub total_ns: u64,
    /// Kernels that only prepare its inputs.
    pub n_preparing: u64,
    /// Their durations together.
    pub preparing_ns: u64,
    /// Share of the durations of all kernels of the device, with preparation, 0 to 1; `None` when all are zero.
    pub ratio: Option<f64>,
    /// Names of the kernels, in alphabetical order.
    pub kernels: Vec<String>,
}

/// The attention kernels of one path that one owner launched.
///
/// ```text
/// module   |---------- T5EncoderModel_0 ----------|      role: text encoder
///            |--------- T5Attention_3 ----------|        owner: T5Attention
/// operator      |matmul| |softmax| |matmul|
///                          ↓ launch
/// device                      |softmax_warp_forward|
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct AttentionOwner {
    /// The innermost module of attention around the launch, by its type; without one the innermost module or named range, the
    /// operator, or the call itself, as when a graph is replayed. `None` when the trace does not have the launch.
    pub owner: Option<String>,
    /// What the owner is, likewise.
    pub kind: Option<HostKind>,
    /// What it does in a generation, by the names around the launch; `None` when they do not say.
    pub role: Option<PhaseRole>,
    /// Which path. By the kernel; by the operator where that took the path of torch without fused kernels.
    pub path: AttentionPath,
    /// Kernels that compute it; of attention without a fused kernel the softmaxes.
    pub count: u64,
    /// Their durations together.
    pub total_ns: u64,
    /// Kernels that only prepare its inputs.
    pub n_preparing: u64,
    /// Their durations together.
    pub preparing_ns: u64,
}

/// Calls of attention operators of one owner and path. A call is the outermost operator of attention: those within it say the
/// path. Of eager attention it is the softmax, and its time that of the products and what is between them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct AttentionOperator {
    /// The innermost module around it, without its number: `T5Attention`. `None` when the trace has no modules.
    pub owner: Option<String>,
    /// The operator that was called.
    pub operator: String,
    /// Which path it took; `None` when neither its name nor the operators within it tell.
    pub path: Option<AttentionPath>,
    /// The operator that the path is known from, likewise.
    pub told_by: Option<String>,
    /// How many calls.
    pub count: u64,
    /// Their durations on the host together.
    pub host_ns: u64,
    /// Durations of the kernels, copies and fills that were launched in them.
    pub device_ns: u64,
    /// How many of these there were.
    pub n_launched: u64,
}

/// Calls of attention without a fused kernel: those of `scaled_dot_product_attention` that took the path of torch's own
/// formulas, and those that a program computes step by step while other attention of the trace is fused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct AttentionFallback {
    /// The module, range or operator around them, as [`AttentionOwner::owner`].
    pub owner: Option<String>,
    /// What that does in a generation; `None` when names do not say.
    pub role: Option<PhaseRole>,
    /// The operator that was called; of eager attention its softmax.
    pub operator: String,
    /// `Math` or `Eager`.
    pub path: AttentionPath,
    /// Likely a loss: `Math`, since a fused kernel was asked for and not taken; `Eager` only in the denoiser, and only when
    /// other attention there is fused. A text encoder that is written so is listed, and no more.
    pub is_warning: bool,
    /// The type of the queries' elements; this and what follows `None` without recorded inputs (`record_shapes=True`).
    pub element_type: Option<String>,
    /// The size of a head.
    pub head_size: Option<u64>,
    /// A mask was given; `None` also for eager attention, which takes none.
    pub has_mask: Option<bool>,
    /// What of that some fused kernels do not take; empty when nothing is known against them.
    pub reasons: Vec<FallbackReason>,
    /// How many calls.
    pub count: u64,
    /// Their durations on the host together.
    pub host_ns: u64,
    /// Durations of what was launched in them.
    pub device_ns: u64,
    /// How much that was.
    pub n_launched: u64,
}

/// What fused kernels do not take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FallbackReason {
    /// Elements are not of 16 bits: flash kernels of GPUs take no others.
    ElementType,
    /// The size of a head is not a multiple of 8, or above 256.
    HeadSize,
    /// A mask: flash kernels take none.
    Mask,
}
