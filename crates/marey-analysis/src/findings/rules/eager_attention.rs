//! Does attention run without a fused kernel?
//!
//! Known from names that hold the path (`attention_math`, `sdpa_math`, `eager_attention`), and from attributes about attention
//! (`attn_implementation="eager"`, `attention_backend="math"`). A section that says only "attention" says nothing of it.
//!
//! ```text
//! |--------- transformer ---------|
//!   |sdpa_math|     |sdpa_math|        both together, as a share of the wall time
//! ```

mod trace;

use std::collections::BTreeSet;

use marey::Value;
use marey::profiling_config::words_of_name;

use crate::findings::prelude::*;
use crate::intervals::{Interval, length_ns, union};
use crate::quantity::rounded_percent;
use crate::questions::work::{calls, has_phrase};

pub(super) const RULE: Rule = Rule {
    id: "eager-attention",
    category: Category::Performance,
    checks: "attention runs without a fused kernel",
    limits: &["eager_attention_ratio"],
    saves: "no estimate; at most these sections",
    of: &[
        Check::Run(
            "sections that name how attention is computed (`sdpa_math`, `flash_attn`), or an attribute that does (`attn_implementation`)",
            check,
        ),
        Check::Trace(
            "softmaxes between two products of matrices, as a share of the kernels' time",
            trace::check,
        ),
    ],
};

const ATTENTION: [&str; 4] = ["attention", "attn", "sdpa", "sdp"];
const EAGER: [&str; 4] = ["eager", "math", "naive", "vanilla"];
const FUSED: [&str; 6] = ["efficient", "xformers", "cudnn", "flex", "fused", "aiter"];
/// Words that begin so name fused kernels: `flash2`, `sageattn`.
const FUSED_FAMILIES: [&str; 2] = ["flash", "sage"];

/// How attention is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Path {
    Eager,
    Fused,
}

impl Path {
    fn of(words: &[String]) -> Option<Self> {
        let is_family = |word: &String| FUSED_FAMILIES.iter().any(|f| word.starts_with(f));
        if has_phrase(words, &EAGER) {
            Some(Self::Eager)
        } else if has_phrase(words, &FUSED) || words.iter().any(is_family) {
            Some(Self::Fused)
        } else {
            None
        }
    }

    fn of_name(name: &str) -> Option<Self> {
        let words = words_of_name(name);
        has_phrase(&words, &ATTENTION).then(|| Self::of(&words))?
    }

    fn of_attribute((name, value): &(String, Value)) -> Option<Self> {
        let Value::Text(value) = value else {
            return None;
        };
        has_phrase(&words_of_name(name), &ATTENTION).then(|| Self::of(&words_of_name(value)))?
    }
}

/// Sections whose path is known.
#[derive(Default)]
struct Known {
    eager: Vec<Interval>,
    /// Call paths of them, as far as they are not in names already.
    nodes: Vec<u32>,
    is_said: bool,
    n_fused: u64,
    n_missing: u64,
}

fn check(facts: &Facts<'_>) -> Outcome {
    let known = known(facts);
    if known.eager.is_empty() && known.n_fused == 0 {
        return Outcome::Unknown(
            "no section says how attention is computed, neither by its name (sdpa_math) nor by an attribute (attn_implementation)"
                .into(),
        );
    }
    let time = union(known.eager);
    let share = facts.share_of_wall(length_ns(&time));
    if share <= facts.thresholds.eager_attention_ratio {
        let what = format!(
            "attention without a fused kernel took {} of the wall time",
            rounded_percent(share)
        );
        return Outcome::passed_without(known.n_missing, what);
    }
    Outcome::Found(vec![finding(facts, time, share, known.nodes.first(), known.is_said)])
}

fn known(facts: &Facts<'_>) -> Known {
    let run = facts.run;
    let named = calls(run, |name| Path::of_name(name) == Some(Path::Eager));
    let fused = calls(run, |name| Path::of_name(name) == Some(Path::Fused));
    let mut known = Known {
        nodes: named.longest_node().into_iter().collect(),
        eager: named.each.iter().map(|call| call.time).collect(),
        is_said: false,
        n_fused: fused.each.len() as u64,
        n_missing: named.n_missing,
    };
    let mut seen = BTreeSet::new();
    for given in &run.section_attributes {
        let path = given.attributes.iter().find_map(Path::of_attribute);
        let Some((path, section)) = path.zip(run.sections.get(given.section)) else {
            continue;
        };
        if path == Path::Fused {
            known.n_fused += 1;
        } else if seen.insert(given.section) {
            known.is_said = true;
            known.nodes.push(section.node);
            known.eager.push(Interval { start_ns: section.start_ns, end_ns: section.end_ns });
        }
    }
    known
}

fn finding(
    facts: &Facts<'_>,
    time: Vec<Interval>,
    share: f64,
    node: Option<&u32>,
    is_said: bool,
) -> Finding {
    let limit = facts.thresholds.eager_attention_ratio;
    let eager_ns = length_ns(&time);
    Finding {
        severity: Severity::of_share(share),
        issue: format!(
            "Sections with attention that is not fused (math, eager) take {} of the wall time",
            rounded_percent(share)
        ),
        remedy: "Use scaled_dot_product_attention with half precision and no dense mask, or set the backend \
                 (diffusers: transformer.set_attention_backend(\"flash\")); sdpa_kernel tells why a fused one is refused. Check \
                 peak memory afterwards."
            .into(),
        evidence: vec![
            Evidence::ratio("share of the wall time", share).against(limit),
            Evidence::ns("time in these sections", eager_ns),
        ],
        intervals: Finding::longest(time),
        node: node.copied(),
        saving: Some(Saving::of_time(
            None,
            eager_ns,
            "these sections; how much faster a fused kernel is depends on the length of the sequence",
        )),
        confidence: if is_said {
            Confidence::High
        } else {
            Confidence::Medium
        },
        ..RULE.finding()
    }
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "figures of a few round numbers are exact")]
mod tests {
    use super::*;
    use crate::findings::rules::tests::{check_run, only};
    use marey::Run;
    use marey_testing::RunBuilder;

    /// A transformer of 100, in it attention of 10 with this name, in a run of `wall_ns`.
    fn run(name: &str, wall_ns: u64) -> Run {
        RunBuilder::new()
            .section("transformer", 0, 100, |s| {
                s.section(name, 20, 30, |_| {});
            })
            .finish(wall_ns)
    }

    #[test]
    fn attention_that_is_named_as_math_is_eager() {
        let found = only(check_run(&RULE, &run("sdpa_math", 100)));
        assert_eq!(found.evidence[0].figure.value, 0.1);
        assert_eq!(found.saving.unwrap().at_most_ns, Some(10));
        assert_eq!((found.node, found.confidence), (Some(2), Confidence::Medium));
    }

    #[test]
    fn an_attribute_says_it_for_sure() {
        let run = RunBuilder::new()
            .section("transformer", 0, 40, |_| {})
            .section("transformer", 40, 80, |s| {
                s.section("inner", 50, 60, |_| {});
            })
            .with(|run| {
                let attributes = vec![("attn_implementation".into(), "eager".into())];
                // By end: transformer 0–40, inner, transformer 40–80.
                run.section_attributes =
                    vec![marey::SectionAttributes { section: 0, attributes, session: None }];
            })
            .finish(100);
        let found = only(check_run(&RULE, &run));
        assert_eq!(found.evidence[1].figure.value, 40.0);
        assert_eq!(found.confidence, Confidence::High);
    }

    #[test]
    fn a_twentieth_of_the_time_is_not_above_it_and_flash_is_no_eager_path() {
        let passed = check_run(&RULE, &run("attention.eager", 200));
        assert!(matches!(passed, Outcome::Passed(_)), "{passed:?}");
        let passed = check_run(&RULE, &run("flash_attn", 100));
        let expected = "attention without a fused kernel took 0 % of the wall time";
        assert_eq!(passed, Outcome::Passed(expected.into()));
    }

    #[test]
    fn attention_without_its_path_says_nothing() {
        for name in ["attention", "eager_loading", "math"] {
            let unknown = check_run(&RULE, &run(name, 100));
            assert!(matches!(unknown, Outcome::Unknown(_)), "{name}: {unknown:?}");
        }
    }
}
