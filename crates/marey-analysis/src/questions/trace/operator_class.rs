//! What kind of work an operator does, as far as its name tells.

use super::KernelClass;

/// Beginnings of names without what is before `::` and without underscores in front, and what they mean. The first that
/// fits counts.
const BEGINNINGS: [(&str, KernelClass); 41] = [
    ("scaled_dot_product", KernelClass::Attention),
    ("flash_attention", KernelClass::Attention),
    ("efficient_attention", KernelClass::Attention),
    ("cudnn_attention", KernelClass::Attention),
    ("conv", KernelClass::Convolution),
    ("cudnn_conv", KernelClass::Convolution),
    ("miopen_conv", KernelClass::Convolution),
    ("mkldnn_conv", KernelClass::Convolution),
    ("slow_conv", KernelClass::Convolution),
    ("thnn_conv", KernelClass::Convolution),
    ("linear", KernelClass::Gemm),
    ("addmm", KernelClass::Gemm),
    ("matmul", KernelClass::Gemm),
    ("baddbmm", KernelClass::Gemm),
    ("addbmm", KernelClass::Gemm),
    ("bmm", KernelClass::Gemm),
    ("mm", KernelClass::Gemm),
    ("scaled_mm", KernelClass::Gemm),
    ("int_mm", KernelClass::Gemm),
    ("einsum", KernelClass::Gemm),
    ("layer_norm", KernelClass::Normalization),
    ("native_layer_norm", KernelClass::Normalization),
    ("group_norm", KernelClass::Normalization),
    ("native_group_norm", KernelClass::Normalization),
    ("batch_norm", KernelClass::Normalization),
    ("native_batch_norm", KernelClass::Normalization),
    ("cudnn_batch_norm", KernelClass::Normalization),
    ("miopen_batch_norm", KernelClass::Normalization),
    ("instance_norm", KernelClass::Normalization),
    ("rms_norm", KernelClass::Normalization),
    ("fused_rms_norm", KernelClass::Normalization),
    ("softmax", KernelClass::Softmax),
    ("log_softmax", KernelClass::Softmax),
    ("upsample", KernelClass::Layout),
    ("cat", KernelClass::Layout),
    ("index", KernelClass::Indexing),
    ("gather", KernelClass::Indexing),
    ("scatter", KernelClass::Indexing),
    ("embedding", KernelClass::Indexing),
    ("randn", KernelClass::Random),
    ("normal_", KernelClass::Random),
];

/// What an operator of torch (`aten::conv2d`) does; `None` when its name does not tell. Operators of other libraries have
/// their own meanings for the same words and are not told.
pub fn operator_class(name: &str) -> Option<KernelClass> {
    let name = name.strip_prefix("aten::")?.trim_start_matches('_');
    let fits = |(beginning, _): &&(&str, KernelClass)| {
        let rest = name.strip_prefix(beginning);
        // `cat` is no `categorical`, `mm` no `mmap`; `conv` is `conv2d`, `convolution` and `conv_transpose3d`.
        rest.is_some_and(|rest| {
            matches!(*beginning, "conv" | "scaled_dot_product" | "upsample")
                || beginning.ends_with("conv")
                || !rest.starts_with(|c: char| c.is_ascii_alphanumeric())
        })
    };
    BEGINNINGS.iter().find(fits).map(|found| found.1)
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
