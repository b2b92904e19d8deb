//! Is the memory of a GPU, of the machine or of the container nearly full?
//!
//! ```text
//! used      ·  40 ·  70 · 95 · 60   of 100: peak 95 %, limit 90 %: found, at the reading of 95
//! ```

use crate::findings::prelude::*;
use crate::intervals::Interval;
use crate::quantity::rounded_percent;
use crate::readings::Figures;

pub(super) const RULE: Rule = Rule {
    id: "memory-pressure",
    category: Category::Memory,
    checks: "the memory of a GPU or of the machine is nearly full",
    limits: &["memory_ratio"],
    saves: "none: what fails saves nothing",
    of: &[Check::Run("memory of GPUs, or of the machine", check)],
};

fn check(facts: &Facts<'_>) -> Outcome {
    let gpus = facts.telemetry.gpus.iter().flat_map(|gpus| &gpus.each);
    let mut known: Vec<(String, f64, Figures)> = gpus
        .filter_map(|gpu| {
            let name = gpu.name.as_deref().unwrap_or(&gpu.uuid);
            Some((name.to_owned(), gpu.peak_memory_ratio?, gpu.memory_used?))
        })
        .collect();
    let host = facts.telemetry.memory.as_ref();
    known.extend(host.and_then(|host| {
        let bound = host.bound()?;
        let name = if bound.is_of_group { "the container" } else { "the machine" };
        Some((name.to_owned(), host.peak_used_ratio()?, bound.used))
    }));
    if known.is_empty() {
        return Outcome::Unknown("no memory of a GPU or of the machine was sampled".into());
    }
    let limit = facts.thresholds.memory_ratio;
    let full: Vec<Finding> = known
        .iter()
        .filter(|(_, ratio, _)| *ratio > limit)
        .map(|(name, ratio, used)| finding(name, *ratio, used, limit))
        .collect();
    if full.is_empty() {
        let highest = known.iter().map(|(_, ratio, _)| *ratio).fold(0.0, f64::max);
        return Outcome::Passed(format!("at most {} was in use", rounded_percent(highest)));
    }
    Outcome::Found(full)
}

fn finding(name: &str, ratio: f64, used: &Figures, limit: f64) -> Finding {
    Finding {
        severity: Severity::High,
        issue: format!("Memory of {name} was {} full at its peak", rounded_percent(ratio)),
        remedy: "Decode in tiles or slices, offload models that are not in use, or work on fewer frames at once; \
                 the next larger input will not fit."
            .into(),
        evidence: vec![
            Evidence::ratio("peak share in use", ratio).against(limit),
            Evidence::new("peak in use", used.max, FigureUnit::Bytes),
        ],
        intervals: vec![Interval {
            start_ns: used.peak.start_ns,
            end_ns: used.peak.end_ns,
        }],
        node: used.peak.node,
        ..RULE.finding()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::rules::tests::check_run;
    use marey::{Run, SeriesInfo, Unit};
    use marey_testing::RunBuilder;

    const GIB: f64 = 1_073_741_824.0;

    fn machine(used: &[(u64, f64)]) -> Run {
        RunBuilder::new()
            .section("decode", 20, 40, |_| {})
            .series(SeriesInfo::gauge("host.memory.used", "", Unit::Bytes), used)
            .with(|run| {
                let total = ("host.memory_bytes".into(), "107374182400".into());
                run.info.facts.push(total);
            })
            .finish(100)
    }

    #[test]
    fn a_machine_that_is_95_percent_full_while_decoding_is_named_with_that_moment() {
        let run = machine(&[(10, 40.0 * GIB), (30, 95.0 * GIB), (60, 60.0 * GIB)]);
        let Outcome::Found(found) = check_run(&RULE, &run) else {
            panic!("not found");
        };
        assert_eq!(found[0].issue, "Memory of the machine was 95 % full at its peak");
        assert_eq!((found[0].intervals[0].start_ns, found[0].node), (30, Some(1)));
    }

    #[test]
    fn a_machine_at_90_percent_is_not_above_it() {
        let run = machine(&[(10, 40.0 * GIB), (30, 90.0 * GIB)]);
        let expected = Outcome::Passed("at most 90 % was in use".into());
        assert_eq!(check_run(&RULE, &run), expected);
    }
}
