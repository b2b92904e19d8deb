//! Does the GPU of a rank stand idle while those of others work?
//!
//! ```text
//! GPU of rank 0   |########-######|     90 %
//! GPU of rank 1   |-#-------------|      4 %
//! ```

use super::RULE;
use crate::findings::job_facts::{JobFacts, listed, sentence};
use crate::findings::prelude::*;
use crate::quantity::rounded_percent;

pub(super) fn check(facts: &JobFacts<'_>) -> Outcome {
    let gpus = facts.job.resources.gpus.iter();
    let known = gpus.filter_map(|row| Some((row, row.gpu.utilization_ratio?.mean)));
    let known: Vec<_> = known.filter(|(_, mean)| mean.is_finite()).collect();
    if known.len() < 2 {
        return Outcome::Unknown("the utilisation of two GPUs or more was not read".into());
    }
    let busiest = known.iter().map(|(_, mean)| *mean).fold(0.0, f64::max);
    let (limit, works) =
        (facts.thresholds.unused_gpu_ratio, facts.thresholds.gpu_utilization_ratio);
    let idle: Vec<_> = known.iter().filter(|(_, mean)| *mean < limit).collect();
    if idle.is_empty() || busiest < works {
        return Outcome::Passed(format!(
            "{} of {} GPUs were idle, and the busiest worked {} of the time",
            idle.len(),
            known.len(),
            rounded_percent(busiest)
        ));
    }
    let names: Vec<String> = idle
        .iter()
        .map(|(row, _)| facts.named(row.places.first().copied().unwrap_or(u32::MAX)))
        .collect();
    let most_of_idle = idle.iter().map(|(_, mean)| *mean).fold(0.0, f64::max);
    Outcome::Found(vec![Finding {
        severity: Severity::Medium,
        issue: sentence(&format!(
            "the GPU of {} was idle while the busiest worked {} of the time",
            listed(&names),
            rounded_percent(busiest)
        )),
        remedy: "See that each rank sets its own device (torch.cuda.set_device(LOCAL_RANK)) and gets work; leave out ranks that have none."
            .into(),
        evidence: vec![
            Evidence::ratio("highest mean utilisation of the idle ones", most_of_idle).against(limit),
            Evidence::ratio("mean utilisation of the busiest", busiest),
            Evidence::count("idle GPUs", idle.len() as u64),
            Evidence::count("GPUs", known.len() as u64),
        ],
        confidence: Confidence::Medium,
        ..RULE.finding()
    }])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::job_facts::tests::{check, job};
    use crate::findings::rules::tests::only;
    use crate::job::{GpuSums, Range};
    use crate::ranks::{JobAnswers, RankGpu};

    fn with(means: &[f64]) -> JobAnswers {
        let mut job = job(3);
        let gpu = |(place, mean): (u32, &f64)| RankGpu {
            places: vec![place],
            gpu: GpuSums {
                utilization_ratio: Some(Range { mean: *mean, ..Range::default() }),
                ..GpuSums::default()
            },
            ..RankGpu::default()
        };
        job.resources.gpus = (0..).zip(means).map(gpu).collect();
        job
    }

    #[test]
    fn the_rank_whose_gpu_is_idle_is_named() {
        let found = only(check(&RULE, &with(&[0.9, 0.04, 0.8])));
        assert_eq!(
            found.issue,
            "The GPU of rank 1 was idle while the busiest worked 90 % of the time"
        );
    }

    #[test]
    fn gpus_that_all_work_or_of_which_none_does_pass() {
        for means in [[0.9, 0.5, 0.8], [0.05, 0.04, 0.3]] {
            let outcome = check(&RULE, &with(&means));
            assert!(matches!(outcome, Outcome::Passed(_)), "{outcome:?}");
        }
        assert!(matches!(check(&RULE, &with(&[0.9])), Outcome::Unknown(_)));
    }
}
