//! What kind of work an operator does, as far as its name tells.

use super::KernelClass;

/// What names mean that begin so, without what is before `::` and without underscores in front. The first that fits counts.
const BEGINNINGS: &[(KernelClass, &str)] = &[
    (
        KernelClass::Attention,
        "scaled_dot_product flash_attention efficient_attention cudnn_attention",
    ),
    (KernelClass::Convolution, "conv cudnn_conv miopen_conv mkldnn_conv slow_conv thnn_conv"),
    (KernelClass::Gemm, "linear addmm matmul baddbmm addbmm bmm mm scaled_mm int_mm einsum"),
    (
        KernelClass::Normalization,
        "layer_norm native_layer_norm group_norm native_group_norm batch_norm native_batch_norm \
         cudnn_batch_norm miopen_batch_norm instance_norm rms_norm fused_rms_norm",
    ),
    (KernelClass::Softmax, "softmax log_softmax"),
    (KernelClass::Layout, "upsample cat"),
    (KernelClass::Indexing, "index gather scatter embedding"),
    (KernelClass::Random, "randn normal_"),
];

/// What an operator of torch (`aten::conv2d`) does; `None` when its name does not tell. Operators of other libraries have
/// their own meanings for the same words and are left out.
pub fn operator_class(name: &str) -> Option<KernelClass> {
    let name = name.strip_prefix("aten::")?.trim_start_matches('_');
    // `cat` is no `categorical`, `mm` no `mmap`; `conv` is `conv2d`, `convolution` and `conv_transpose3d`.
    let fits = |beginning: &str| {
        name.strip_prefix(beginning).is_some_and(|rest| {
            matches!(beginning, "scaled_dot_product" | "upsample")
                || beginning.ends_with("conv")
                || !rest.starts_with(|c: char| c.is_ascii_alphanumeric())
        })
    };
    let found = BEGINNINGS.iter().find(|(_, beginnings)| beginnings.split(' ').any(fits));
    found.map(|(class, _)| *class)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operators_are_told_by_whole_words() {
        for (name, class) in [
            ("aten::conv2d", Some(KernelClass::Convolution)),
            ("aten::_convolution", Some(KernelClass::Convolution)),
            ("aten::convolution_backward", Some(KernelClass::Convolution)),
            ("aten::_scaled_dot_product_flash_attention", Some(KernelClass::Attention)),
            ("aten::native_layer_norm", Some(KernelClass::Normalization)),
            ("aten::mm", Some(KernelClass::Gemm)),
            ("aten::_softmax", Some(KernelClass::Softmax)),
            ("aten::categorical", None),
            ("aten::linalg_vector_norm", None),
            ("aten::add", None),
            ("vllm::linear", None),
            ("conv2d", None),
        ] {
            assert_eq!(operator_class(name), class, "{name}");
        }
    }
}
