//! Does the allocator hold much memory that no tensor ever used?
//!
//! ```text
//! allocated   2     7     6     1       most at once: 7
//! reserved    4    11    11    11       at most 11: 4 of 11 are 36 %, more than 30 %, found
//! ```
//!
//! What is compared are the highest of both. That a caching allocator keeps what a stage gave back is how it works: reserved memory far above
//! what is allocated *now* is no fault.

use marey::{MemoryReading, MemorySource};

use crate::findings::prelude::*;
use crate::intervals::Interval;
use crate::quantity::rounded_percent;
use crate::{fragmentation_ratio, memory_source_name};

pub(super) const RULE: Rule = Rule {
    id: "fragmentation",
    category: Category::Memory,
    checks: "the allocator holds much memory that no tensor ever used",
    limits: &["fragmentation_ratio", "memory_ratio"],
    saves: "what was held and never used, as a bound",
    of: &[Check::Run("reserved memory of an allocator", check)],
};

/// Less than this is what an allocator rounds up, in bytes.
const MIN_BYTES: u64 = 256 << 20;

/// Of one source.
struct Held<'a> {
    source: MemorySource,
    reserved: &'a MemoryReading,
    reserved_bytes: u64,
    used_bytes: u64,
    ratio: f64,
}

fn check(facts: &Facts<'_>) -> Outcome {
    let mut sources: Vec<MemorySource> = facts.run.memory.iter().map(|r| r.source).collect();
    sources.sort_unstable();
    sources.dedup();
    let known: Vec<Held<'_>> =
        sources.into_iter().filter_map(|source| held(facts, source)).collect();
    let Some(worst) = known.iter().map(|held| held.ratio).reduce(f64::max) else {
        return Outcome::Unknown(
            "no allocator's reserved memory was read (record_memory with torch on a GPU)".into(),
        );
    };
    let limit = facts.thresholds.fragmentation_ratio;
    let is_large = |held: &&Held<'_>| {
        held.ratio > limit && held.reserved_bytes.saturating_sub(held.used_bytes) >= MIN_BYTES
    };
    let found: Vec<Finding> =
        known.iter().filter(is_large).map(|held| finding(facts, held, limit)).collect();
    if found.is_empty() {
        return Outcome::Passed(format!(
            "{} of what it held was never used",
            rounded_percent(worst)
        ));
    }
    Outcome::Found(found)
}

fn held<'a>(facts: &Facts<'a>, source: MemorySource) -> Option<Held<'a>> {
    let of_source = || facts.run.memory.iter().filter(move |r| r.source == source);
    let reserved = of_source()
        .filter(|reading| reading.reserved_bytes.is_some())
        .max_by_key(|reading| (reading.reserved_bytes, std::cmp::Reverse(reading.at_ns)))?;
    let reserved_bytes = reserved.reserved_bytes?;
    // The source's own count sees what lay between two readings.
    let used = of_source().map(|r| r.allocated_bytes.max(r.peak_bytes.unwrap_or(0)));
    let used_bytes = used.max()?;
    Some(Held {
        source,
        reserved,
        reserved_bytes,
        used_bytes,
        ratio: fragmentation_ratio(used_bytes, Some(reserved_bytes))?,
    })
}

fn finding(facts: &Facts<'_>, held: &Held<'_>, limit: f64) -> Finding {
    let unused = held.reserved_bytes.saturating_sub(held.used_bytes);
    let gpus = facts.telemetry.gpus.as_ref();
    let fullest = gpus.and_then(|gpus| gpus.together.peak_memory_ratio);
    let is_short = fullest.is_some_and(|ratio| ratio > facts.thresholds.memory_ratio);
    let at = Interval { start_ns: held.reserved.at_ns, end_ns: held.reserved.at_ns };
    Finding {
        severity: if is_short { Severity::High } else { Severity::Medium },
        issue: format!(
            "{} of the memory that the allocator of {} held was never used by a tensor",
            rounded_percent(held.ratio),
            memory_source_name(held.source)
        ),
        remedy: "Set PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True before the program starts; call torch.cuda.empty_cache() between \
                 stages of very different sizes; decode in tiles (enable_tiling), so that no single block is large."
            .into(),
        evidence: vec![
            Evidence::ratio("share of what was held that was never used", held.ratio).against(limit),
            Evidence::new("most held", float(held.reserved_bytes), FigureUnit::Bytes),
            Evidence::new("most used at once", float(held.used_bytes), FigureUnit::Bytes),
        ],
        intervals: vec![at],
        saving: Some(Saving::of_memory(
            unused,
            "what was held and never used; a part is rounding, which stays",
        )),
        confidence: Confidence::Medium,
        ..RULE.finding()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::rules::tests::check_run;
    use marey::Run;
    use marey_testing::RunBuilder;

    const MIB: u64 = 1 << 20;

    /// Readings in MiB: allocated, reserved, peak.
    fn run(readings: &[(u64, Option<u64>, Option<u64>)]) -> Run {
        let mut builder = RunBuilder::new();
        for (n, (allocated, reserved, peak)) in readings.iter().enumerate() {
            builder = builder.memory(MemoryReading {
                at_ns: n as u64 * 10,
                label: None,
                source: MemorySource::TorchCuda(0),
                allocated_bytes: allocated * MIB,
                reserved_bytes: reserved.map(|mib| mib * MIB),
                peak_bytes: peak.map(|mib| mib * MIB),
                session: None,
            });
        }
        builder.finish(100)
    }

    #[test]
    fn four_of_eleven_gibibytes_that_were_never_used_are_found() {
        let gib = |n: u64| n * 1024;
        let run = run(&[
            (gib(2), Some(gib(4)), None),
            (gib(7), Some(gib(11)), None),
            (gib(1), Some(gib(11)), None),
        ]);
        let Outcome::Found(found) = check_run(&RULE, &run) else {
            panic!("not found");
        };
        assert_eq!(
            found[0].issue,
            "36.4 % of the memory that the allocator of cuda:0 held was never used by a tensor"
        );
        let saving = found[0].saving.as_ref().unwrap();
        assert_eq!(saving.at_most_bytes, Some(4096 * MIB));
        assert_eq!(found[0].intervals[0].start_ns, 10);
    }

    #[test]
    fn thirty_percent_is_not_more_than_thirty() {
        let expected = Outcome::Passed("30 % of what it held was never used".into());
        assert_eq!(check_run(&RULE, &run(&[(7000, Some(10_000), None)])), expected);
    }

    #[test]
    fn memory_that_a_stage_gave_back_and_a_peak_between_readings_are_no_fragmentation() {
        let freed = run(&[(9000, Some(10_000), None), (500, Some(10_000), None)]);
        assert!(matches!(check_run(&RULE, &freed), Outcome::Passed(_)));
        let between = run(&[(500, Some(10_000), Some(9500))]);
        assert!(matches!(check_run(&RULE, &between), Outcome::Passed(_)));
        let small = run(&[(20, Some(100), None)]);
        assert!(matches!(check_run(&RULE, &small), Outcome::Passed(_)));
    }

    #[test]
    fn without_reserved_memory_nobody_can_tell() {
        let found = check_run(&RULE, &run(&[(7000, None, None)]));
        assert!(matches!(found, Outcome::Unknown(_)), "{found:?}");
        let found = check_run(&RULE, &run(&[]));
        assert!(matches!(found, Outcome::Unknown(_)), "{found:?}");
    }
}
