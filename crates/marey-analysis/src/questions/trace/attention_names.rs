//! What names of kernels and of operators say of attention.

use super::attention::AttentionPath;
use super::kernel_class::{KernelClass, is_fused, kernel_class};

/// What a kernel, or an operator, is in attention.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// A kernel that does it all.
    Computes(AttentionPath),
    /// A kernel that only prepares inputs for one.
    Prepares(AttentionPath),
    /// A product of matrices; of operators that of two activations. Layers of weights (`linear`, `addmm`) are none.
    Product,
    /// A softmax, which is attention where it stands between products of matrices.
    Softmax,
    /// May stand between a product and a softmax: scales, masks, casts.
    Between,
    /// May stand between a product and a softmax, but not behind it: biases by position are looked up in a table.
    Lookup,
    /// None of these.
    Other,
}

/// Whose names have one of these parts, in lower case. The first that fits counts.
const PARTS: &[(AttentionPath, &str)] = &[
    (AttentionPath::Sage, "sage_fwd sageattn qk_int_sv"),
    (AttentionPath::Paged, "pagedkv unified_attention paged_attention"),
    (AttentionPath::Cudnn, "sdpa"),
    (
        AttentionPath::MemoryEfficient,
        "fmha_cutlass attentionkernel attention_kernel_batched memeff",
    ),
    (AttentionPath::Flash, "flash_fwd flash_bwd flashattn fmha attn_fwd attn_bwd mha_fwd"),
];

fn has(name: &str, parts: &str) -> bool {
    parts.split(' ').any(|part| name.contains(part))
}

/// A kernel that computes attention over a cache of pages: a language model generates, nothing is denoised.
pub(super) fn is_paged(name: &str) -> bool {
    role(name) == Role::Computes(AttentionPath::Paged)
}

/// What the name of a kernel says.
pub(super) fn role(name: &str) -> Role {
    // The template of a compiler, where other kernels of compilers are named after their neighbours.
    if name.starts_with("triton_tem_") && name.contains("flex_attention") {
        return Role::Computes(AttentionPath::Flex);
    }
    if is_fused(name) {
        return Role::Between;
    }
    let lower = name.to_ascii_lowercase();
    if lower.contains("sage_quant") {
        return Role::Prepares(AttentionPath::Sage);
    }
    match kernel_class(name) {
        KernelClass::Attention => {
            let found = PARTS.iter().find(|(_, parts)| has(&lower, parts));
            found.map_or(Role::Other, |(path, _)| Role::Computes(*path))
        }
        KernelClass::Softmax if lower.contains("backward") => Role::Other,
        KernelClass::Softmax => Role::Softmax,
        KernelClass::Gemm => Role::Product,
        KernelClass::Elementwise | KernelClass::Layout => Role::Between,
        KernelClass::Indexing if !lower.contains("sort") && !lower.contains("topk") => Role::Lookup,
        _ => Role::Other,
    }
}

/// What the name of an operator says; `None` when it is none: those of torch have a namespace, ranges of older profilers look like
/// operators without one.
pub(super) fn step(name: &str) -> Option<Role> {
    let Some(short) = name.strip_prefix("aten::") else {
        return name.contains("::").then_some(Role::Other);
    };
    let ends = ["conv", "norm", "attention", "loss", "backward"];
    Some(match short {
        "matmul" | "bmm" | "baddbmm" | "einsum" => Role::Product,
        "softmax" | "_softmax" | "_safe_softmax" => Role::Softmax,
        "embedding" | "index_select" | "index" | "gather" => Role::Lookup,
        "linear" | "addmm" | "mm" | "topk" | "sort" | "argmax" | "multinomial" | "log_softmax" => {
            Role::Other
        }
        _ if ends.iter().any(|part| short.contains(part)) => Role::Other,
        _ => Role::Between,
    })
}

/// The path that an operator of attention takes whose name has one of these parts. The first that fits counts.
const OPERATORS: &[(Option<AttentionPath>, &str)] = &[
    (Some(AttentionPath::Flash), "_scaled_dot_product_flash_attention"),
    (Some(AttentionPath::MemoryEfficient), "_scaled_dot_product_efficient_attention"),
    (Some(AttentionPath::Cudnn), "_scaled_dot_product_cudnn_attention"),
    (Some(AttentionPath::Math), "_scaled_dot_product_attention_math"),
    (None, "_scaled_dot_product_fused_attention_overrideable"),
    (Some(AttentionPath::Flash), "_flash_attention_forward _flash_attention_backward"),
    (
        Some(AttentionPath::MemoryEfficient),
        "_efficient_attention_forward _efficient_attention_backward",
    ),
    (Some(AttentionPath::Cudnn), "_cudnn_attention_forward"),
    (None, "scaled_dot_product_attention"),
    (
        Some(AttentionPath::Flash),
        "flash_attn:: flash_attn_2:: flash_attn_3:: aiter::fmha aiter::mha",
    ),
    (Some(AttentionPath::MemoryEfficient), "xformers::efficient_attention"),
    (Some(AttentionPath::Flash), "xformers_flash"),
    (Some(AttentionPath::Sage), "sageattn sageattention"),
    (Some(AttentionPath::Paged), "vllm::unified_attention"),
    (Some(AttentionPath::Flex), "flex_attention"),
];

/// `None` for everything that is not attention; the path is `None` when the name does not say it.
#[expect(clippy::option_option, reason = "attention of a path that is not said")]
pub(super) fn said(name: &str) -> Option<Option<AttentionPath>> {
    let is_fused = name.starts_with("triton_") || name.starts_with("Torch-Compiled");
    let found = OPERATORS.iter().find(|(_, parts)| has(name, parts));
    found.filter(|_| !is_fused).map(|(path, _)| *path)
}

/// Attention step by step: a product, a softmax and a product that follow each other in one place, with nothing but scales, masks and
/// casts in between, and lookups of biases before the softmax. Of each the places of these three in the sequence.
///
/// ```text
/// product  scale  softmax  cast  product        eager attention
/// product  gather  add  softmax  product        eager attention with a bias by position
/// product  softmax  argmax                      a classifier
/// ```
///
/// `most` is how many may follow the first product; `is_shared` says that the last one may be the first of the next.
pub(super) fn eager<T, P: PartialEq>(
    sequence: &[(T, Role)],
    place: impl Fn(&T) -> P,
    most: usize,
    is_shared: bool,
) -> Vec<[usize; 3]> {
    let mut found = Vec::new();
    let mut first: Option<(usize, P)> = None;
    let mut softmax = None;
    for (at, (one, role)) in sequence.iter().enumerate() {
        let is_here = || first.as_ref().is_some_and(|(_, first)| *first == place(one));
        let n_before = first.as_ref().map_or(most, |(first, _)| at - first);
        match (role, softmax) {
            (Role::Product, _) => {
                let ended = softmax.take().filter(|_| is_here());
                let ended =
                    first.take().zip(ended).map(|((first, _), softmax)| [first, softmax, at]);
                first = (is_shared || ended.is_none()).then(|| (at, place(one)));
                found.extend(ended);
            }
            (Role::Softmax, None) if is_here() => softmax = Some(at),
            (Role::Lookup, None) | (Role::Between, _) if n_before < most => {}
            _ => (first, softmax) = (None, None),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operators_say_that_they_are_attention_and_often_which() {
        let known = |path| Some(Some(path));
        for (name, expected) in [
            ("aten::_scaled_dot_product_flash_attention_for_cpu", known(AttentionPath::Flash)),
            ("aiter::fmha_v3_fwd", known(AttentionPath::Flash)),
            ("flash_attn::_flash_attn_forward", known(AttentionPath::Flash)),
            ("sageattention::qk_int8_sv_f16", known(AttentionPath::Sage)),
            (
                "xformers::efficient_attention_forward_cutlass",
                known(AttentionPath::MemoryEfficient),
            ),
            ("aten::_scaled_dot_product_attention_math", known(AttentionPath::Math)),
            ("flex_attention", known(AttentionPath::Flex)),
            ("aten::scaled_dot_product_attention", Some(None)),
            ("triton_red_fused_addmm_fmha_v3_fwd_mean_4", None),
            ("triton_poi_fused__scaled_dot_product_flash_attention_1", None),
            ("aten::mm", None),
        ] {
            assert_eq!(said(name), expected, "{name}");
        }
    }

    #[test]
    fn products_of_activations_are_told_from_layers_of_weights() {
        assert_eq!(step("aten::matmul"), Some(Role::Product));
        assert_eq!(step("aten::linear"), Some(Role::Other));
        assert_eq!(step("aten::softmax"), Some(Role::Softmax));
        assert_eq!(step("aten::masked_fill"), Some(Role::Between));
        assert_eq!(step("aten::embedding"), Some(Role::Lookup));
        assert_eq!(step("aten::native_layer_norm"), Some(Role::Other));
        assert_eq!(step("vllm::unified_attention"), Some(Role::Other));
        assert_eq!(step("denoise"), None);
    }
}
