//! Does one GPU hold much more than the others?
//!
//! ```text
//! GPU of rank 0   |################|    40 GiB: what limits the job
//! GPU of rank 1   |########|            20 GiB
//! ```

use crate::findings::job_facts::{JobFacts, sentence};
use crate::findings::prelude::*;
use crate::quantity::{bytes_of, rounded_percent};
use crate::ranks::RankGpu;

pub(super) const RULE: Rule = Rule {
    id: "uneven-memory",
    category: Category::Memory,
    checks: "GPUs of the job hold much more than others",
    limits: &["memory_ratio", "uneven_memory_ratio", "unused_gpu_ratio"],
    saves: "half of what the fullest and the emptiest are apart, off the peak of the fullest",
    of: &[Check::Job("memory of GPUs", check)],
};

/// A GPU and the most that was in use of its memory.
type Used<'a> = (&'a RankGpu, f64);

fn check(facts: &JobFacts<'_>) -> Outcome {
    let idle = facts.thresholds.unused_gpu_ratio;
    let gpus = facts.job.resources.gpus.iter();
    // One that does nothing is for `idle-gpus`.
    let works = gpus.filter(|row| row.gpu.utilization_ratio.is_none_or(|use_| use_.mean >= idle));
    let used = works.filter_map(|row| Some((row, row.gpu.memory_bytes?.max)));
    let used: Vec<Used<'_>> = used.filter(|(_, most)| most.is_finite()).collect();
    let by_most = |a: &&Used<'_>, b: &&Used<'_>| a.1.total_cmp(&b.1);
    let Some((fullest, least)) = used.iter().rev().max_by(by_most).zip(used.iter().min_by(by_most))
    else {
        return Outcome::Unknown("no memory of GPUs was read".into());
    };
    if used.len() < 2 {
        return Outcome::Unknown("there are no two GPUs that worked, to compare".into());
    }
    let share = (fullest.1 - least.1) / fullest.1.max(1.0);
    let limit = facts.thresholds.uneven_memory_ratio;
    if share <= limit {
        return Outcome::Passed(format!(
            "the emptiest of {} GPUs held {} less than the fullest",
            used.len(),
            rounded_percent(share)
        ));
    }
    Outcome::Found(vec![finding(facts, *fullest, *least, share)])
}

fn finding(facts: &JobFacts<'_>, fullest: Used<'_>, least: Used<'_>, share: f64) -> Finding {
    let named = |gpu: &RankGpu| {
        let place = gpu.places.first().copied().unwrap_or(u32::MAX);
        format!("the GPU of {}", facts.named(place))
    };
    let total = fullest.0.gpu.memory_total_bytes.filter(|total| *total > 0.0);
    let filled = total.map(|total| fullest.1 / total);
    let is_short = filled.is_some_and(|filled| filled > facts.thresholds.memory_ratio);
    let mut evidence = vec![
        Evidence::ratio("less in use of the emptiest, as a share of the fullest", share)
            .against(facts.thresholds.uneven_memory_ratio),
        Evidence::new("most in use of the fullest", fullest.1, FigureUnit::Bytes),
        Evidence::new("most in use of the emptiest", least.1, FigureUnit::Bytes),
    ];
    evidence
        .extend(filled.map(|filled| Evidence::ratio("share of the fullest one's memory", filled)));
    Finding {
        severity: if is_short { Severity::Medium } else { Severity::Low },
        issue: sentence(&format!(
            "{} held up to {}, {} only {}",
            named(fullest.0),
            bytes_of(fullest.1),
            named(least.0),
            bytes_of(least.1)
        )),
        remedy: "The fullest GPU limits what all can do. Move what one rank alone holds (text encoder, VAE, gathered outputs) to the rank \
                 with room, or split it among all."
            .into(),
        evidence,
        saving: Some(saving(fullest.1 - least.1)),
        confidence: Confidence::Medium,
        ..RULE.finding()
    }
}

fn saving(apart: f64) -> Saving {
    let half = whole(apart / 2.0);
    Saving::of_memory(half, "half of what the two are apart, off the peak of the fullest GPU")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::job_facts::tests::{check, job};
    use crate::findings::rules::tests::only;
    use crate::job::{GpuSums, Range};
    use crate::ranks::JobAnswers;

    const GIB: f64 = 1_073_741_824.0;

    fn with(peaks: &[(f64, f64)]) -> JobAnswers {
        let mut job = job(2);
        let gpu = |(place, (gib, utilization)): (u32, &(f64, f64))| RankGpu {
            places: vec![place],
            gpu: GpuSums {
                memory_bytes: Some(Range { max: gib * GIB, ..Range::default() }),
                memory_total_bytes: Some(48.0 * GIB),
                utilization_ratio: Some(Range { mean: *utilization, ..Range::default() }),
                ..GpuSums::default()
            },
            ..RankGpu::default()
        };
        job.resources.gpus = (0..).zip(peaks).map(gpu).collect();
        job
    }

    #[test]
    fn the_fullest_gpu_is_named_with_the_emptiest() {
        let found = only(check(&RULE, &with(&[(20.0, 0.9), (40.0, 0.9)])));
        assert_eq!(
            found.issue,
            "The GPU of rank 1 held up to 40.0 GiB, the GPU of rank 0 only 20.0 GiB"
        );
        assert_eq!(found.severity, Severity::Low);
        assert_eq!(found.saving.unwrap().at_most_bytes, Some(10 << 30));
        let full = only(check(&RULE, &with(&[(20.0, 0.9), (47.0, 0.9)])));
        assert_eq!(full.severity, Severity::Medium);
    }

    #[test]
    fn even_gpus_pass_and_idle_ones_are_left_to_their_own_rule() {
        let even = check(&RULE, &with(&[(36.0, 0.9), (40.0, 0.9)]));
        assert!(matches!(even, Outcome::Passed(_)), "{even:?}");
        let idle = check(&RULE, &with(&[(1.0, 0.01), (40.0, 0.9)]));
        assert!(matches!(idle, Outcome::Unknown(_)), "{idle:?}");
        assert!(matches!(check(&RULE, &job(2)), Outcome::Unknown(_)));
    }
}
