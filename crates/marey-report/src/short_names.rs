//! Names of kernels and operators, and call paths, short enough for people. JSON and CSV have them whole.
//!
//! ```text
//! void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>, at::detail::Array<char*, 1>>(int, float)
//! vectorized_elementwise_kernel<…>                              alone in its table
//! vectorized_elementwise_kernel<4, FillFunctor<…>, Array<…>>    beside another of that name
//! ```

use std::collections::{BTreeMap, BTreeSet};

use marey_analysis::{Brackets, function_of};

use crate::escape::{cut, visible};
use crate::width::{back, columns, fits, without_middle};

/// Left out of names: they say where a kernel is written, and not which.
const NAMESPACES: [&str; 8] = [
    "(anonymous namespace)::",
    "at::native::",
    "at::cuda::",
    "at::detail::",
    "at::",
    "c10::",
    "std::",
    "cutlass::kernel::",
];

/// Levels of [`folded`] that are tried, and after those the whole name.
const LEVELS: usize = 4;
const WHOLE: usize = LEVELS;

/// The names of a column, safe to print, each at most `width` columns wide unless it takes more to tell it from another: two
/// different names never look the same.
pub(crate) fn short_names(names: &[&str], width: usize) -> Vec<String> {
    let mut level: BTreeMap<&str, usize> = names.iter().map(|name| (*name, 0)).collect();
    for _ in 0..WHOLE {
        for name in alike(&level) {
            level.entry(name).and_modify(|at| *at = (*at + 1).min(WHOLE));
        }
    }
    let mut shown: BTreeMap<&str, String> =
        level.iter().map(|(name, at)| (*name, cut(&folded(name, *at), width))).collect();
    for group in same(&shown) {
        let whole: Vec<String> = group.iter().map(|name| folded(name, level[name])).collect();
        for (name, told) in group.iter().zip(told_apart(&whole, width)) {
            shown.insert(*name, told);
        }
    }
    // What looks the same even so is shown as it is.
    for name in same(&shown).into_iter().flatten() {
        shown.insert(name, visible(name));
    }
    names.iter().map(|name| shown[name].clone()).collect()
}

/// Names that are written like another one.
fn alike<'a>(level: &BTreeMap<&'a str, usize>) -> Vec<&'a str> {
    let shown = level.iter().map(|(name, at)| (*name, folded(name, *at)));
    same(&shown.collect()).into_iter().flatten().collect()
}

/// Groups of several names that look the same.
fn same<'a>(shown: &BTreeMap<&'a str, String>) -> Vec<Vec<&'a str>> {
    let mut groups: BTreeMap<&str, Vec<&'a str>> = BTreeMap::new();
    for (name, text) in shown {
        groups.entry(text).or_default().push(name);
    }
    let groups = groups.into_values();
    groups.filter(|group| group.len() > 1).collect()
}

/// The front that they have in common cut short, so that what differs can be seen.
///
/// ```text
/// Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT128x64x128_MI16x16x1
/// Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT128x64x128_MI32x32x1
/// Cijk_Alik_Bljk_BBS_B…128x64x128_MI16x16x1
/// ```
fn told_apart(names: &[String], width: usize) -> Vec<String> {
    let first: Vec<char> = names.first().map(|n| n.chars().collect()).unwrap_or_default();
    let common = names.iter().map(|name| {
        let equal = first.iter().zip(name.chars()).take_while(|(a, b)| *a == b);
        equal.count()
    });
    let common = common.min().unwrap_or(0);
    let (front, before) = (width / 3, width / 6);
    let each = names.iter().map(|name| {
        let rest: String = name.chars().skip(common.saturating_sub(before)).collect();
        let begin: String = name.chars().take(front).collect();
        let left = width.saturating_sub(columns(&visible(&begin)) + 1);
        format!("{}…{}", visible(&begin), cut(&rest, left))
    });
    let each: Vec<String> = each.collect();
    let mut sorted = each.clone();
    sorted.sort_unstable();
    sorted.dedup();
    if sorted.len() == each.len() {
        return each;
    }
    // They differ at their ends.
    names.iter().map(|name| back(&visible(name), width)).collect()
}

/// A name by itself, as short as it can be.
pub(crate) fn short_name(name: &str, width: usize) -> String {
    cut(&folded(name, 0), width)
}

/// The name without what returns, where it is declared, what it is called with, and what stands in angle brackets deeper than
/// `level`. From [`WHOLE`] on the name as it is, as is one whose brackets do not match.
fn folded(name: &str, level: usize) -> String {
    let plain = |name: &str| !name.contains("::") && !name.contains('<');
    if level >= WHOLE || plain(name) {
        return name.to_owned();
    }
    let mut text = function_of(name).replace(", void ", ", ");
    for namespace in NAMESPACES {
        text = text.replace(namespace, "");
    }
    let keep = if level + 1 == LEVELS { usize::MAX } else { level };
    let Some(text) = without_templates(&text, keep) else {
        return name.to_owned();
    };
    if text.is_empty() { name.to_owned() } else { text }
}

/// Template arguments that are deeper than `keep` as `…`; `None` when their brackets do not match.
fn without_templates(text: &str, keep: usize) -> Option<String> {
    let mut shown = String::with_capacity(text.len());
    let mut brackets = Brackets::default();
    for c in text.chars() {
        let before = brackets.angle_depth();
        brackets.pass(c);
        let depth = brackets.angle_depth();
        // Brackets themselves belong to what is around them.
        if before.min(depth) <= keep {
            shown.push(c);
        }
        if depth > before && before == keep {
            shown.push('…');
        }
    }
    (brackets.depth() == 0 && !brackets.is_broken()).then_some(shown)
}

/// Columns of each name of a path.
const MAX_NAME: usize = 44;

/// The paths of a column, safe to print, in the same order: of each the last names, as many as fit, and at least one. Different
/// paths never look the same.
///
/// ```text
/// generate / vae_decode
/// … / transformer_blocks / attention / to_q
/// … / transformer_blocks / attention / to_q [2]      another one that ends so
/// ```
pub(crate) fn short_paths(paths: &[&[String]], width: usize) -> Vec<String> {
    let mut alike: BTreeMap<String, BTreeSet<&[String]>> = BTreeMap::new();
    for path in paths {
        alike.entry(last_names(path, width)).or_default().insert(path);
    }
    let shown = |path: &&[String]| {
        let shown = last_names(path, width);
        let place = alike.get(&shown).and_then(|all| {
            let place = all.iter().position(|one| one == path);
            place.filter(|_| all.len() > 1)
        });
        match place {
            Some(place) => format!("{shown} [{}]", place + 1),
            None => shown,
        }
    };
    paths.iter().map(shown).collect()
}

fn last_names(path: &[String], width: usize) -> String {
    let mut shown = String::new();
    for (depth, name) in path.iter().enumerate().rev() {
        let name = without_middle(&visible(name), MAX_NAME);
        let longer = if shown.is_empty() { name } else { format!("{name} / {shown}") };
        if !shown.is_empty() && !fits(&longer, width - 4 * usize::from(depth > 0)) {
            return format!("… / {shown}");
        }
        shown = longer;
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(name: &str) -> String {
        short_names(&[name], 60).remove(0)
    }

    #[test]
    fn a_kernel_of_torch_is_its_own_name() {
        let fill = "void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>, at::detail::Array<char*, 1> >(int, at::native::FillFunctor<float>, at::detail::Array<char*, 1>)";
        assert_eq!(one(fill), "vectorized_elementwise_kernel<…>");
        let norm = "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<float, float>(int, float)";
        assert_eq!(one(norm), "vectorized_layer_norm_kernel<…>");
        let fused = "std::enable_if<(((8)>(0)))&&vllm::_typeConvert<c10::BFloat16>::exists, void>::type vllm::fused_add_rms_norm_kernel<c10::BFloat16, 8>(c10::BFloat16*, long)";
        assert_eq!(one(fused), "vllm::fused_add_rms_norm_kernel<…>");
    }

    #[test]
    fn what_is_no_template_stays() {
        for name in [
            "Memcpy HtoD (Pageable -> Device)",
            "sage_fwd",
            "aten::scaled_dot_product_attention",
            "</script>",
            "torch/nn/modules/module.py(1751): _call_impl",
            "## Call CompiledFxGraph <fabc> ##",
            "a -> b",
        ] {
            assert_eq!(one(name), name);
        }
        assert_eq!(one("op<a"), "op<a");
        assert_eq!(one("at::f(a))"), "at::f(a))");
        assert_eq!(one("at::"), "at::");
    }

    #[test]
    fn two_kernels_of_one_template_show_what_differs() {
        let a = "void at::native::elementwise<4, at::native::AddFunctor<float>>(int)";
        let b = "void at::native::elementwise<4, at::native::MulFunctor<float>>(int)";
        let shown = short_names(&[a, b, a], 60);
        assert_eq!(shown[0], "elementwise<4, AddFunctor<…>>");
        assert_eq!(shown[1], "elementwise<4, MulFunctor<…>>");
        assert_eq!(shown[2], shown[0]);
    }

    #[test]
    fn names_that_differ_after_the_cut_or_in_what_was_left_out_stay_apart() {
        let long = "Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT128x64x128_MI16x16x1_SN";
        let cases = [
            (format!("{long}_K1"), format!("{long}_K2")),
            (format!("{long}a{long}1"), format!("{long}b{long}1")),
            ("at::native::f(int)".into(), "at::native::f(float)".into()),
            ("at::f<int>".into(), "std::f<int>".into()),
        ];
        for (a, b) in cases {
            let shown = short_names(&[&a, &b], 60);
            assert_ne!(shown[0], shown[1]);
        }
    }

    #[test]
    fn nothing_in_a_name_reaches_the_terminal() {
        assert_eq!(one("at::a\x1b[31m<int>"), "a\\x1b[31m<…>");
    }

    fn path(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn a_path_that_fits_is_whole_and_of_a_longer_one_the_last_names_are_left() {
        let short = path(&["generate", "decode"]);
        let long = path(&[
            "generation",
            "a transformer with a long name",
            "transformer_blocks",
            "attention",
            "to_q",
        ]);
        let shown = short_paths(&[&short, &long], 56);
        assert_eq!(shown, ["generate / decode", "… / transformer_blocks / attention / to_q"]);
        assert!(fits(&shown[1], 56));
    }

    #[test]
    fn paths_that_end_alike_are_told_apart() {
        let [a, b] = ["first", "second"].map(|name| path(&[name, &"x".repeat(40), "to_q"]));
        let shown = short_paths(&[&b, &a, &b], 52);
        assert_eq!(shown[0], shown[2]);
        assert_eq!(shown[0], format!("… / {} / to_q [2]", "x".repeat(40)));
        assert_eq!(shown[1], format!("… / {} / to_q [1]", "x".repeat(40)));
    }
}
