//! Work that is calculated by hand beside each case.

use super::*;

/// FLOPs and bytes of a call; types are all the same where one is given.
fn work(name: &str, shapes: &str, types: &[&str], values: &str) -> (Option<u64>, Option<u64>) {
    let types = serde_json::to_string(types).unwrap();
    let arguments = Arguments::new(shapes, &types, Some(values)).unwrap();
    let (_, formula) = formula(name).unwrap();
    let found = formula(&arguments).unwrap_or_default();
    (found.flops, found.bytes)
}

const BF16: &str = "c10::BFloat16";
const UNKNOWN: (Option<u64>, Option<u64>) = (None, None);

#[test]
fn a_product_of_matrices_is_two_operations_for_each_pair_of_numbers() {
    // 2 · 2 · 5 · 3 = 60; 4 · (2 · 3 + 3 · 5 + 2 · 5) = 124
    let mm = work("aten::mm", "[[2, 3], [3, 5]]", &["float", "float"], "[]");
    assert_eq!(mm, (Some(60), Some(124)));
    // The result that is given is written, and not read.
    let out = work("aten::mm", "[[2, 3], [3, 5], [2, 5]]", &["float"; 3], "[]");
    assert_eq!(out, mm);
    // With a bias of 5 numbers: 20 bytes more.
    let shapes = "[[5], [2, 3], [3, 5], [], []]";
    let types = ["float", "float", "float", "Scalar", "Scalar"];
    assert_eq!(work("aten::addmm", shapes, &types, "[]"), (Some(60), Some(144)));
    // Seven of them.
    let bmm = work("aten::bmm", "[[7, 2, 3], [7, 3, 5]]", &["float", "float"], "[]");
    assert_eq!(bmm, (Some(420), Some(868)));
    // A matrix and a vector: 2 · 2 · 3; 4 · (6 + 3 + 2)
    assert_eq!(work("aten::mv", "[[2, 3], [3]]", &["float", "float"], "[]"), (Some(12), Some(44)));
}

#[test]
fn products_of_small_numbers_have_results_of_other_types() {
    // 8 bits in, 32 bits out: 6 + 15 + 4 · 10
    let types = ["signed char", "signed char"];
    assert_eq!(work("aten::_int_mm", "[[2, 3], [3, 5]]", &types, "[]"), (Some(60), Some(61)));
    // fp8 in, bfloat16 (15) out, a scale of 4 bytes each, which is a single number: 6 + 15 + 4 + 4 + 2 · 10
    let shapes = "[[2, 3], [3, 5], [], [], [], [], [], []]";
    let fp8 = "c10::Float8_e4m3fn";
    let types = [fp8, fp8, "float", "float", "", "", "Scalar", "Scalar"];
    let values = r#"["", "", "", "", "", "", "15", "True"]"#;
    assert_eq!(work("aten::_scaled_mm", shapes, &types, values), (Some(60), Some(49)));
    // fp4: two numbers a byte, 6 in a row. 2 · 2 · 5 · 6
    let fp4 = "c10::Float4_e2m1fn_x2";
    let types = [fp4, fp4, "float", "float", "", "", "Scalar", "Scalar"];
    assert_eq!(work("aten::_scaled_mm", shapes, &types, values), (Some(120), Some(49)));
}

/// Of a convolution in two dimensions in float.
fn conv(input: &str, weight: &str, settings: [&str; 6]) -> (Option<u64>, Option<u64>) {
    let [stride, padding, dilation, transposed, more, groups] = settings;
    let shapes = format!("[{input}, {weight}, [], [], [], [], [], [], []]");
    let list = "ScalarList";
    let types = ["float", "float", "", list, list, list, "Scalar", list, "Scalar"];
    let values = format!(
        r#"["", "", "", "{stride}", "{padding}", "{dilation}", "{transposed}", "{more}", "{groups}"]"#
    );
    work("aten::convolution", &shapes, &types, &values)
}

#[test]
fn a_convolution_multiplies_its_weight_at_each_place_of_its_output() {
    // (5 + 2 · 1 - 3) / 2 + 1 = 3 places each way. 2 · 2 · 3 · 3 · (4 · 3 · 3 · 3) = 3,888; 4 · (2 · 3 · 25 + 108 + 2 · 4 · 9) = 1,320
    let plain = ["[2, 2]", "[1, 1]", "[1, 1]", "False", "[0, 0]", "1"];
    assert_eq!(conv("[2, 3, 5, 5]", "[4, 3, 3, 3]", plain), (Some(3_888), Some(1_320)));
    // With a dilation of 2 the kernel reaches over 5: (5 + 2 - 5) / 1 + 1 = 3.
    let dilated = ["[1, 1]", "[1, 1]", "[2, 2]", "False", "[0, 0]", "1"];
    assert_eq!(conv("[2, 3, 5, 5]", "[4, 3, 3, 3]", dilated), (Some(3_888), Some(1_320)));
    // Two groups of 2 channels each: 2 · 1 · 9 · (4 · 2 · 9) = 1,296; 4 · (4 · 25 + 72 + 4 · 9) = 832
    let grouped = ["[2, 2]", "[1, 1]", "[1, 1]", "False", "[0, 0]", "2"];
    assert_eq!(conv("[1, 4, 5, 5]", "[4, 2, 3, 3]", grouped), (Some(1_296), Some(832)));
    // Transposed, from 3 to (3 - 1) · 2 - 2 · 1 + 3 + 1 = 6, two groups of 5 channels:
    // 2 · 1 · 9 · (4 · 5 · 9) = 3,240; 4 · (4 · 9 + 180 + 10 · 36) = 2,304
    let transposed = ["[2, 2]", "[1, 1]", "[1, 1]", "True", "[1, 1]", "2"];
    assert_eq!(conv("[1, 4, 3, 3]", "[4, 5, 3, 3]", transposed), (Some(3_240), Some(2_304)));
}

#[test]
fn convolutions_have_one_to_three_dimensions() {
    // 10 - 3 + 1 = 8: 2 · 1 · 8 · (2 · 1 · 3) = 96; 4 · (10 + 6 + 16)
    let line = ["[1]", "[0]", "[1]", "False", "[0]", "1"];
    assert_eq!(conv("[1, 1, 10]", "[2, 1, 3]", line), (Some(96), Some(128)));
    // 4 - 2 + 1 = 3: 2 · 1 · 27 · (1 · 1 · 8) = 432; 4 · (64 + 8 + 27)
    let room = ["[1, 1, 1]", "[0]", "[1]", "False", "[0]", "1"];
    assert_eq!(conv("[1, 1, 4, 4, 4]", "[1, 1, 2, 2, 2]", room), (Some(432), Some(396)));
    // A kernel that does not fit, and settings that the trace does not say.
    let none = ["[1]", "[0]", "[1]", "False", "[0]", "1"];
    assert_eq!(conv("[1, 1, 2]", "[2, 1, 3]", none), UNKNOWN);
    assert_eq!(conv("[1, 1, 10]", "[2, 1, 3]", ["", "", "", "", "", ""]), UNKNOWN);
}

#[test]
fn causal_attention_has_the_pairs_that_its_mask_lets_through() {
    let flash = |shapes: &str, causal: &str| {
        let types = [BF16, BF16, BF16, "Scalar", "Scalar", "Scalar", ""];
        let values = format!(r#"["", "", "", "0.", "{causal}", "False", ""]"#);
        work("aten::_scaled_dot_product_flash_attention", shapes, &types, &values)
    };
    // 2 · (2 · 3) · (4 · 4) · (8 + 8) = 3,072; 2 · 4 · (2 · 3 · 4 · 8) = 1,536
    let square = "[[2, 3, 4, 8], [2, 3, 4, 8], [2, 3, 4, 8], [], [], [], []]";
    assert_eq!(flash(square, "False"), (Some(3_072), Some(1_536)));
    // 1 + 2 + 3 + 4 = 10 pairs: 2 · 6 · 10 · 16
    assert_eq!(flash(square, "True"), (Some(1_920), Some(1_536)));
    // 2 queries of 4 heads, 3 keys of 1 head that they share: 2 · 4 · 6 · 16 = 768; 2 · (64 + 24 + 24 + 64)
    let shared = "[[1, 4, 2, 8], [1, 1, 3, 8], [1, 1, 3, 8], [], [], [], []]";
    assert_eq!(flash(shared, "False"), (Some(768), Some(352)));
    // The first to the first: 1 + 2 = 3 pairs.
    assert_eq!(flash(shared, "True"), (Some(384), Some(352)));
    assert_eq!(flash(shared, ""), UNKNOWN);
}

#[test]
fn flash_attention_counts_windows_and_aligns_the_last_with_the_last() {
    let flash = |queries: u64, keys: u64, causal: &str, window: [i64; 2]| {
        let shapes = format!(
            "[[1, {queries}, 1, 1], [1, {keys}, 1, 1], [1, {keys}, 1, 1], [], [], [], [], []]"
        );
        let scalar = "Scalar";
        let types = [BF16, BF16, BF16, scalar, scalar, scalar, scalar, scalar];
        let [left, right] = window;
        let values = format!(r#"["", "", "", "0.", "1.", "{causal}", "{left}", "{right}"]"#);
        // 4 operations for a pair.
        work("flash_attn::_flash_attn_forward", &shapes, &types, &values).0.map(|flops| flops / 4)
    };
    // 3 queries, 5 keys. All: 15. Causal: 3 + 4 + 5. One to the left, none to the right: 2 + 2 + 2.
    assert_eq!(flash(3, 5, "False", [-1, -1]), Some(15));
    assert_eq!(flash(3, 5, "True", [-1, -1]), Some(12));
    assert_eq!(flash(3, 5, "True", [1, 0]), Some(6));
    // 5 queries, 3 keys: the first two see none, then 1 + 2 + 3.
    assert_eq!(flash(5, 3, "True", [-1, -1]), Some(6));
    // 4 and 4, one to each side: 2 + 3 + 3 + 2.
    assert_eq!(flash(4, 4, "False", [1, 1]), Some(10));
}

#[test]
fn lengths_of_sequences_are_known_where_all_are_the_longest() {
    let flash = |all: u64, n: u64, longest: u64| {
        let one = format!("[{all}, 2, 8]");
        let starts = format!("[{}]", n + 1);
        let shapes =
            format!("[{one}, {one}, {one}, {starts}, {starts}, [], [], [], [], [], [], []]");
        let types =
            [BF16, BF16, BF16, "int", "int", "Scalar", "Scalar", "Scalar", "", "Scalar", "", ""];
        let values = format!(
            r#"["", "", "", "", "", "{longest}", "{longest}", "0.", "", "False", "-1", "-1"]"#
        );
        work("flash_attn::_flash_attn_varlen_forward", &shapes, &types, &values)
    };
    // 3 sequences of 4: 2 · (3 · 2) · 16 · 16 = 3,072; 2 · 4 · (12 · 2 · 8) = 1,536
    assert_eq!(flash(12, 3, 4), (Some(3_072), Some(1_536)));
    // One of them is shorter: the products are not known, the bytes are.
    assert_eq!(flash(11, 3, 4), (None, Some(1_408)));
}

#[test]
fn other_operators_have_bytes_alone() {
    // 2 · (2 · 3) read, 2 · 3 read, stretched to 2 · 3 and written: 12 + 6 + 12
    assert_eq!(
        work("aten::add", "[[2, 3], [3], []]", &[BF16, BF16, "Scalar"], "[]"),
        (None, Some(30))
    );
    // A number of the host is none of the bytes: 12 + 12.
    assert_eq!(work("aten::mul", "[[2, 3], []]", &[BF16, "double"], "[]"), (None, Some(24)));
    // Whole numbers and others make others: 8 · 6 + 4 · 6 + 4 · 6; a comparison a byte each: 12 + 6.
    let types = ["long int", "float"];
    assert_eq!(work("aten::mul", "[[2, 3], [2, 3]]", &types, "[]"), (None, Some(96)));
    assert_eq!(work("aten::gt", "[[2, 3], []]", &[BF16, "Scalar"], "[]"), (None, Some(18)));
    // From float to bfloat16: 24 + 12.
    let types = [BF16, "float", "Scalar"];
    assert_eq!(work("aten::copy_", "[[2, 3], [2, 3], []]", &types, "[]"), (None, Some(36)));
    // Input, weight, bias, output: 12 + 6 + 6 + 12.
    let types = [BF16, "ScalarList", BF16, BF16, "Scalar"];
    let shapes = "[[2, 3], [], [3], [3], []]";
    assert_eq!(work("aten::native_layer_norm", shapes, &types, "[]"), (None, Some(36)));
    // From the second of three dimensions on 2 · 4 are left: 2 · 24 + 2 · 8. Of all dimensions one number.
    let types = [BF16, "ScalarList", "Scalar", ""];
    let mean = |dims: &str| {
        let values = format!(r#"["", "{dims}", "True", ""]"#);
        work("aten::mean", "[[2, 3, 4], [], [], []]", &types, &values)
    };
    assert_eq!((mean("[1]"), mean("[-2]")), ((None, Some(64)), (None, Some(64))));
    assert_eq!(mean(""), (None, Some(50)));
    // 5 rows of 4 numbers out of 100: 8 · 5 + 2 · (2 · 20).
    let types = [BF16, "Scalar", "long int"];
    let rows = work("aten::index_select", "[[100, 4], [], [5]]", &types, r#"["", "0", ""]"#);
    assert_eq!(rows, (None, Some(120)));
    // From 3 · 3 to 6 · 6: 2 · 9 + 2 · 36.
    let types = [BF16, "", "ScalarList"];
    let values = r#"["", "", "[2., 2.]"]"#;
    let larger = work("aten::upsample_nearest2d", "[[1, 1, 3, 3], [], []]", &types, values);
    assert_eq!(larger, (None, Some(90)));
}

/// Where each operator has its causal flag: of 3 queries and 3 keys 9 pairs, 6 of causal ones; 4 operations a pair of one number each. Every
/// other flag says the opposite.
#[test]
fn the_causal_flag_is_looked_for_where_the_operator_has_it() {
    let pairs = |name: &str, values: &[&str]| {
        let shapes = format!(
            "[[1, 1, 3, 1], [1, 1, 3, 1], [1, 1, 3, 1]{}]",
            ", []".repeat(values.len() - 3)
        );
        let types = [&[BF16; 3][..], &vec!["Scalar"; values.len() - 3]].concat();
        let values = serde_json::to_string(values).unwrap();
        work(name, &shapes, &types, &values).0.map(|flops| flops / 4)
    };
    for (causal, other, n) in [("True", "False", 6), ("False", "True", 9)] {
        for (name, at) in [
            ("aten::_scaled_dot_product_flash_attention", 4),
            ("aten::_scaled_dot_product_efficient_attention", 6),
            ("aten::_scaled_dot_product_cudnn_attention", 6),
            ("aten::_scaled_dot_product_fused_attention_overrideable", 5),
        ] {
            let mut values = ["", "", "", other, other, other, other, other];
            values[at] = causal;
            assert_eq!(pairs(name, &values), Some(n), "{name}");
        }
    }
}

#[test]
fn of_xformers_windows_and_lengths_are_not_known() {
    // [1, 3, 1, 1] is a batch of one with 3 queries: 4 operations for each of 9 pairs, of 6 causal ones.
    let forward = |mask: &str, window_at: Option<usize>| {
        let shape = "[1, 3, 1, 1]";
        let shapes = format!("[{shape}, {shape}, {shape}{}]", ", []".repeat(11));
        let types = [&[BF16; 3][..], &[""; 11]].concat();
        let mut values = [""; 14];
        values[9] = mask;
        if let Some(at) = window_at {
            values[at] = "64";
        }
        let values = serde_json::to_string(&values).unwrap();
        work("xformers::efficient_attention_forward_cutlass", &shapes, &types, &values).0
    };
    assert_eq!((forward("0", None), forward("1", None)), (Some(36), Some(24)));
    assert_eq!((forward("0", Some(12)), forward("0", Some(13))), (None, None));
    assert_eq!((forward("", None), forward("3", None)), (None, None));
}

#[test]
fn a_bias_of_attention_is_not_read_as_often_as_it_is_stretched() {
    let one = "[1, 1, 3, 1]";
    let shapes = format!("[{one}, {one}, {one}, [1, 1, 3, 3], [], [], []]");
    let types = [BF16, BF16, BF16, BF16, "Scalar", "Scalar", "Scalar"];
    let values = r#"["", "", "", "", "False", "0.", "False"]"#;
    let found = work("aten::_scaled_dot_product_efficient_attention", &shapes, &types, values);
    // Three read, one written, of 3 numbers each: 2 · 4 · 3.
    assert_eq!(found, (Some(36), Some(24)));
}

#[test]
fn where_dimensions_are_not_said_nothing_is_known_of_what_is_left() {
    let types = [BF16, "ScalarList", "Scalar", ""];
    let shapes = "[[2, 3, 4], [], [], []]";
    // No values, a type where dimensions could be, a text that is no list of numbers.
    assert_eq!(work("aten::mean", shapes, &types, "[]"), UNKNOWN);
    assert_eq!(work("aten::sum", shapes, &types, r#"["", "2", "", ""]"#), UNKNOWN);
    assert_eq!(work("aten::mean", shapes, &types, r#"["", "[x]", "", ""]"#), UNKNOWN);
    // All of them: 2 · 24 + 2.
    assert_eq!(work("aten::sum", shapes, &types, r#"["", "[]", "", ""]"#), (None, Some(50)));
    let whole = ["long int", "ScalarList", "Scalar", ""];
    assert_eq!(work("aten::sum", shapes, &whole, r#"["", "[1]", "", ""]"#), UNKNOWN);
    // The norm has its order first, the largest one's place is a number of 8 bytes: 2 · 24 + 2 · 8, 2 · 24 + 8 · 8.
    let norm = work("aten::linalg_vector_norm", shapes, &types, r#"["", "2", "[1]", ""]"#);
    assert_eq!(norm, (None, Some(64)));
    let most = work("aten::argmax", shapes, &types, r#"["", "1", "False", ""]"#);
    assert_eq!(most, (None, Some(112)));
    // The same in float: 2 · 24 read, 4 · 24 written. Of 5 places: 8 · 5 + 2 · 2 · 5. What is filled is written: 2 · 24.
    let softmax = work("aten::_softmax", shapes, &types, r#"["", "2", "True"]"#);
    assert_eq!(softmax, (None, Some(144)));
    let types = [BF16, "Scalar", "long int"];
    assert_eq!(work("aten::gather", "[[2, 3], [], [5]]", &types, "[]"), (None, Some(60)));
    assert_eq!(work("aten::fill_", "[[2, 3, 4], []]", &[BF16, "Scalar"], "[]"), (None, Some(48)));
    // A type of the result that the trace does not say.
    let fp8 = "c10::Float8_e4m3fn";
    let types = [fp8, fp8, "float", "float"];
    let scaled = work("aten::_scaled_mm", "[[2, 3], [3, 5], [], []]", &types, "[]");
    assert_eq!(scaled, (Some(60), None));
}

#[test]
fn what_is_not_as_expected_is_not_known() {
    let types = ["float", "float"];
    for shapes in ["[[2, 3], [4, 5]]", "[[2, 3]]", "[[2, -3], [3, 5]]", "[\"x\", [3, 5]]", "[]"] {
        assert_eq!(work("aten::mm", shapes, &types, "[]"), UNKNOWN, "{shapes}");
    }
    assert_eq!(work("aten::mm", "[[2, 3], [3, 5]]", &["float", "Unheard"], "[]"), UNKNOWN);
    // A list of tensors of a type that is not said.
    assert_eq!(work("aten::add", "[[[2], [3]], [2]]", &["TensorList", "float"], "[]"), UNKNOWN);
    let huge = "[[4294967296, 4294967296], [4294967296, 4294967296]]";
    assert_eq!(work("aten::mm", huge, &types, "[]"), UNKNOWN);
    let long = format!("[{0}, {0}, {0}, [], [], [], []]", "[1, 1, 18446744073709551615, 1]");
    let types = [BF16, BF16, BF16, "Scalar", "Scalar", "Scalar", ""];
    let values = r#"["", "", "", "0.", "True", "False", ""]"#;
    let found = work("aten::_scaled_dot_product_flash_attention", &long, &types, values);
    assert_eq!(found, UNKNOWN);
    assert!(Arguments::new("[[2]", "[]", None).is_none());
    assert!(formula("aten::linear").is_none());
}

#[test]
fn values_are_kept_of_operators_whose_work_depends_on_them_alone() {
    let names = ["aten::convolution", "aten::_scaled_mm", "flash_attn::_flash_attn_forward"];
    assert!(names.into_iter().chain(["aten::sum", "aten::upsample_nearest2d"]).all(needs_values));
    // They only call others or have no formula here, and of a product the shapes are enough.
    let names = ["aten::conv2d", "aten::cumsum", "aten::scaled_dot_product_attention", "aten::mm"];
    assert!(!names.into_iter().any(needs_values));
}

#[test]
fn a_kernel_of_inductor_moves_each_of_its_tensors_once_as_far_as_it_goes_through_them() {
    // 4 · 6 values of 2 bytes in and out, 6 of a bias, of 4 bytes: 48 + 24 + 48
    let types = [BF16, "float", BF16, "Scalar", "Scalar"];
    let values = r#"["", "", "", "4", "6"]"#;
    let name = "triton_per_fused_add_native_layer_norm_3";
    let whole = work(name, "[[4, 6], [6], [4, 6], [], []]", &types, values);
    assert_eq!(whole, (None, Some(120)));
    // Of a table with 1,000 rows of 6 it reads 4: no more than it writes.
    let rows = work(name, "[[1000, 6], [6], [4, 6], [], []]", &types, values);
    assert_eq!(rows, (None, Some(120)));
    // A number that is no size, here 0, takes nothing away.
    let types_of_four = [BF16, "float", BF16, "Scalar", "Scalar", "Scalar"];
    let shapes = "[[4, 6], [6], [4, 6], [], [], []]";
    let offset = work(name, shapes, &types_of_four, r#"["", "", "", "0", "4", "6"]"#);
    assert_eq!(offset, whole);
    // How many it goes through is not said.
    let silent = work(name, "[[5, 6], [6], [4, 6], [], []]", &types, "[]");
    assert_eq!(silent, (None, Some(132)));
    let strange = ["c10::Strange", "float", BF16, "Scalar", "Scalar"];
    assert_eq!(work(name, "[[4, 6], [6], [4, 6], [], []]", &strange, values), UNKNOWN);
    // A template multiplies matrices; what else is fused into it changes what its inputs are.
    assert!(formula("triton_tem_fused_addmm_3").is_none());
    assert!(formula("triton_my_own_kernel").is_none());
}
