//! How far apart the means of two sides are. Means and not medians: those of the parts of a run add up to that of the run.

use super::holm::{Test, holm};
use super::repeats::LEAST_DEVIATION;
use super::welch::{Sample, Welch};
use crate::stats::float;

/// The means of two sides, and what chance says of their difference.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeanChange {
    /// Mean of the baseline's runs.
    pub baseline: f64,
    /// Mean of the candidate's.
    pub candidate: f64,
    /// `None` where a side has a single run, whose chance nobody knows.
    pub chance: Option<MeanChance>,
}

/// What the runs of two sides say of the difference of their means.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeanChance {
    /// The difference lies within so much of the measured one with 95 % confidence (Welch).
    pub half_width: f64,
    /// Chance of such a difference when nothing changed. After [`adjust`] that of any of several.
    pub p_value: f64,
    /// The smallest difference that would have been found four times in five.
    pub detectable: f64,
    /// Runs that each side needs for a change of 1 % of the baseline to be found four times in five; `None` beyond 1000.
    pub n_runs_for_one_percent: Option<u64>,
}

impl MeanChange {
    /// Of the runs of both sides; `None` where one has none.
    pub fn new(baseline: &[u64], candidate: &[u64]) -> Option<Self> {
        let floats = |values: &[u64]| values.iter().map(|ns| float(*ns)).collect::<Vec<f64>>();
        let (a, b) = (floats(baseline), floats(candidate));
        let mean = |values: &[f64]| {
            (!values.is_empty()).then(|| values.iter().sum::<f64>() / float(values.len() as u64))
        };
        let (of_a, of_b) = (mean(&a)?, mean(&b)?);
        let stray = |mean: f64| LEAST_DEVIATION * mean;
        let samples = Sample::new(a, stray).zip(Sample::new(b, stray));
        let is_nothing = of_a + of_b <= 0.0;
        let chance = samples.filter(|_| !is_nothing).map(|(a, b)| {
            let found = Welch::new(&a, &b);
            MeanChance {
                half_width: found.half_width(),
                p_value: found.p_value(),
                detectable: found.detectable(),
                n_runs_for_one_percent: found.n_for(of_a / 100.0),
            }
        });
        Some(Self { baseline: of_a, candidate: of_b, chance })
    }

    /// Candidate less baseline.
    pub fn difference(&self) -> f64 {
        self.candidate - self.baseline
    }

    /// That as a share of the baseline; `None` where that is nothing.
    pub fn ratio(&self) -> Option<f64> {
        (self.baseline > 0.0).then(|| self.difference() / self.baseline)
    }

    /// The 95 % interval of [`MeanChange::ratio`].
    pub fn ratio_interval(&self) -> Option<[f64; 2]> {
        let (ratio, half) = (self.ratio()?, self.chance?.half_width / self.baseline);
        Some([ratio - half, ratio + half])
    }

    /// No change is not within the 95 % interval. `false` of single runs.
    pub fn is_beyond_chance(&self) -> bool {
        let is_beyond = |chance: MeanChance| self.difference().abs() > chance.half_width;
        self.chance.is_some_and(is_beyond)
    }
}

/// Corrects the chances of several changes for their number (Holm); what takes more of the whole gets more of the allowed chance.
pub fn adjust(changes: &mut [MeanChange]) {
    let tests: Vec<Test> = changes
        .iter()
        .filter_map(|change| {
            Some(Test {
                p_value: change.chance?.p_value,
                weight: change.baseline + change.candidate,
            })
        })
        .collect();
    let chances = changes.iter_mut().filter_map(|one| one.chance.as_mut());
    for (chance, adjusted) in chances.zip(holm(&tests)) {
        chance.p_value = adjusted;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_add_up_and_single_runs_have_no_chance() {
        let found = MeanChange::new(&[10, 20, 60], &[40]).unwrap();
        assert!((found.baseline - 30.0).abs() < 1e-9 && (found.difference() - 10.0).abs() < 1e-9);
        assert_eq!((found.chance, found.is_beyond_chance()), (None, false));
        assert!((found.ratio().unwrap() - 1.0 / 3.0).abs() < 1e-9);
        assert_eq!(MeanChange::new(&[], &[1]), None);
        let nothing = MeanChange::new(&[0, 0], &[0, 0]).unwrap();
        assert_eq!((nothing.chance, nothing.ratio()), (None, None));
    }

    #[test]
    fn a_change_beyond_chance_has_an_interval_without_none() {
        // Deviation 1.581 on both sides, 3 apart: error 1, 8 degrees, quantile 2.306.
        let found = MeanChange::new(&[98, 99, 100, 101, 102], &[101, 102, 103, 104, 105]).unwrap();
        let [low, high] = found.ratio_interval().unwrap();
        assert!((low - 0.006_94).abs() < 1e-5 && (high - 0.053_06).abs() < 1e-5);
        assert!(found.is_beyond_chance());
    }

    #[test]
    fn chances_of_several_are_corrected() {
        let one = MeanChange::new(&[98, 99, 100, 101, 102], &[101, 102, 103, 104, 105]).unwrap();
        let single = MeanChange::new(&[1], &[2]).unwrap();
        let mut both = [one, single, one];
        adjust(&mut both);
        let p = |change: MeanChange| change.chance.unwrap().p_value;
        assert!((p(both[0]) - 2.0 * p(one)).abs() < 1e-9);
        assert_eq!(both[1], single);
    }
}
