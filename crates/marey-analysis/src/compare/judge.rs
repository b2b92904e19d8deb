//! Is a measure better, worse, the same, or is that more than the runs can tell?
//!
//! ```text
//! change          −10 %      −3 %   0   +3 %      +10 %
//! interval                          |---+----|             above the floor and no chance: worse
//!                             |--+--|                      nothing larger than twice the floor is left: the same
//!                        |----------+---------------|      cannot tell
//! ```

use super::bootstrap::{Bootstrap, Statistic, autocorrelation, inflation};
use super::floors::{
    BETWEEN_RUNS, DEVICE_RATIO, ONCE_NS, ONCE_RATIO, OTHER_COUNT_RATIO, Rule, least_amount,
};
use super::holm::Test;
use super::mann_whitney::mann_whitney;
use super::options::CompareOptions;
use super::pair::{Pair, Samples};
use super::repeats::repeated;
use super::ruling::{Both, Ruling, chance, open};
use super::verdict::{Basis, Verdict};
use super::{Area, Change, Measure, MeasureKind};
use crate::findings::{Confidence, FigureUnit};
use crate::quantity::rounded_percent;

/// Weight of a test of what is no part of the wall time; that of others is their share of it.
const WEIGHT_OF_RATES: f64 = 0.1;

/// Judges measures of two sides.
#[derive(Clone, Copy, Debug)]
pub(super) struct Judge<'a> {
    pub(super) options: &'a CompareOptions,
    /// Each run is a sample.
    pub(super) is_repeated: bool,
    /// Sides of which runs did not finish, where they ended otherwise than those of the other: what they did all together cannot be
    /// compared.
    pub(super) cut_short: [bool; 2],
}

impl Judge<'_> {
    /// The measure without its verdict, and the test that is to be made of it together with all others, if any is.
    pub(super) fn measured(&self, pair: &Pair) -> (Measure, Option<Test>) {
        let basis = self.basis(pair);
        let mut measure = Measure {
            kind: pair.kind,
            subject: pair.subject.clone(),
            unit: pair.kind.unit(),
            better: pair.kind.better(),
            baseline: pair.baseline.observed(basis == Basis::Calls),
            candidate: pair.candidate.observed(basis == Basis::Calls),
            change: None,
            basis,
            verdict: Verdict::CannotTell,
            confidence: Confidence::Low,
            reason: String::new(),
            impact_ns: None,
        };
        let Some((a, b)) = pair.baseline.figure().zip(pair.candidate.figure()) else {
            return (measure, None);
        };
        let mut change = Change {
            difference: b - a,
            ratio: (a > 0.0 && b >= 0.0).then(|| b / a).filter(|ratio| ratio.is_finite()),
            ..Change::default()
        };
        measure.impact_ns = impact_ns(pair, b - a);
        if !pair.is_identical() && self.is_considered(pair) {
            self.add_chance(pair, basis, &mut change);
        }
        let is_tested = pair.kind.rule() != Rule::Total || basis == Basis::Repeats;
        let test = change
            .p_value
            .filter(|_| is_tested)
            .map(|p_value| Test { p_value, weight: weight(pair) });
        measure.change = Some(change);
        (measure, test)
    }

    fn basis(&self, pair: &Pair) -> Basis {
        let rule = pair.kind.rule();
        if matches!(rule, Rule::Amount(_) | Rule::Count) {
            return Basis::SingleValues;
        }
        let (a, b) = (&pair.baseline, &pair.candidate);
        if self.is_repeated && a.figures.len() >= 2 && b.figures.len() >= 2 {
            return Basis::Repeats;
        }
        let has_calls = a.calls.len() >= 2 && b.calls.len() >= 2;
        match rule {
            Rule::Each | Rule::Total if has_calls => Basis::Calls,
            _ => Basis::SingleValues,
        }
    }

    /// Small parts of the run are not tested.
    fn is_considered(&self, pair: &Pair) -> bool {
        pair.kind.unit() != FigureUnit::Ns || pair.share() >= self.options.min_share_ratio
    }

    fn add_chance(&self, pair: &Pair, basis: Basis, change: &mut Change) {
        let (a, b) = (&pair.baseline, &pair.candidate);
        match basis {
            Basis::Repeats => {
                let found = repeated(&a.figures, &b.figures);
                change.p_value = found.map(|f| f.p_value);
                change.interval = found.and_then(|f| f.interval);
            }
            Basis::Calls => {
                let is_total = pair.kind.rule() == Rule::Total;
                let statistic = if is_total { Statistic::Mean } else { Statistic::Median };
                let bootstrap = Bootstrap {
                    statistic,
                    n_resamples: self.options.n_resamples,
                    seed: self.options.seed,
                };
                let (calls_a, calls_b) = (a.thinned(statistic), b.thinned(statistic));
                let interval = bootstrap.ratio_interval(&calls_a, &calls_b);
                // The total is a mean times the number of calls.
                let count_ratio =
                    if is_total { b.calls_per_run() / a.calls_per_run() } else { 1.0 };
                change.interval =
                    interval.map(|(low, high)| (low * count_ratio, high * count_ratio));
                if !is_total {
                    change.p_value =
                        chance_beyond_runs(pair.kind, &calls_a, &calls_b, change.difference > 0.0);
                }
            }
            Basis::SingleValues => {}
        }
    }

    /// Gives the measure its verdict. Its change has its chance after correction; `of_a_call` is what became of a call, for a
    /// total, and whether the calls are as many.
    pub(super) fn decide(
        &self,
        pair: &Pair,
        measure: &mut Measure,
        of_a_call: Option<(Verdict, bool)>,
    ) {
        let ruling = self.ruling(pair, measure, of_a_call);
        measure.verdict = ruling.verdict;
        measure.confidence = ruling.confidence;
        measure.reason = ruling.reason;
        // What is ruled by something else than its interval, few values far apart, has none that says so.
        let is_change = matches!(ruling.verdict, Verdict::Better | Verdict::Worse);
        if let Some(change) = measure.change.as_mut().filter(|_| is_change) {
            change.interval = change.interval.filter(|(low, high)| *low > 1.0 || *high < 1.0);
        }
    }

    fn ruling(&self, pair: &Pair, measure: &Measure, of_a_call: Option<(Verdict, bool)>) -> Ruling {
        let Some(change) = &measure.change else {
            let (verdict, whose) = if pair.baseline.figures.is_empty() {
                (Verdict::New, "the baseline")
            } else {
                (Verdict::Gone, "the candidate")
            };
            return Ruling::new(verdict, Confidence::High, format!("{whose} does not have it"));
        };
        if pair.is_identical() {
            return Ruling::new(Verdict::Same, Confidence::High, "equal to the last digit");
        }
        if !self.is_considered(pair) {
            let share = rounded_percent(self.options.min_share_ratio);
            let reason = format!("less than {share} of the wall time on both sides");
            return Ruling::new(Verdict::Same, Confidence::Medium, reason);
        }
        let rule = pair.kind.rule();
        let is_whole =
            matches!(rule, Rule::Total | Rule::Count) || pair.kind == MeasureKind::WallTime;
        let direction = measure.better.verdict(change.difference);
        let [baseline, candidate] = self.cut_short;
        // Who died early may not have had its peak.
        let has_less = match direction {
            Verdict::Worse => baseline,
            _ => candidate,
        };
        let is_memory = measure.kind.area() == Area::Memory;
        if is_whole && (baseline || candidate) || is_memory && has_less {
            let reason = "the sides did not end alike, and not both by themselves";
            return Ruling::new(Verdict::CannotTell, Confidence::Low, reason);
        }
        let both = Both::new(pair);
        match (rule, measure.basis) {
            (Rule::Count, _) => both.exact(direction),
            (Rule::Amount(ratio), _) => both.beyond(direction, ratio, least_amount(measure.unit)),
            (_, Basis::Repeats | Basis::Calls) if change.adjusted_p_value.is_some() => {
                self.tested(&both, measure, change, direction)
            }
            (Rule::Total, Basis::Calls) => self.total(&both, measure, change, direction, of_a_call),
            (Rule::Once(ratio), _) => {
                let is_of_host =
                    measure.unit == FigureUnit::Ns && measure.kind.area() != Area::Device;
                let least_ns = if is_of_host { ONCE_NS } else { 0.0 };
                self.once(&both, change, direction, ratio, least_ns)
            }
            (Rule::Each, Basis::SingleValues) => {
                let (ratio, least_ns) = large(measure.kind);
                let mut ruling = self.once(&both, change, direction, ratio, least_ns);
                if ruling.verdict == Verdict::CannotTell && pair.has_one_call() {
                    "one call is too few".clone_into(&mut ruling.reason);
                }
                ruling
            }
            _ => self.once(&both, change, direction, ONCE_RATIO, ONCE_NS),
        }
    }

    fn floor(&self, basis: Basis) -> f64 {
        match basis {
            Basis::Repeats => self.options.min_repeated_change_ratio,
            _ => self.options.min_change_ratio,
        }
    }

    fn tested(
        &self,
        both: &Both,
        measure: &Measure,
        change: &Change,
        direction: Verdict,
    ) -> Ruling {
        let floor = self.floor(measure.basis);
        let p = change.adjusted_p_value.unwrap_or(1.0);
        let is_certain = p <= self.options.alpha;
        let is_beyond = both.distance() >= floor.ln_1p();
        let chance = format!("corrected chance {}", chance(p));
        if is_certain && is_beyond {
            let is_sure = measure.basis == Basis::Repeats || both.distance() >= 0.1_f64.ln_1p();
            let confidence = if is_sure { Confidence::High } else { Confidence::Medium };
            return Ruling::new(direction, confidence, chance);
        }
        let (ratio, least_ns) = large(measure.kind);
        let is_large =
            both.is_beyond(ratio) && measure.impact_ns.is_some_and(|ns| ns.abs() >= least_ns);
        if is_large && both.is_apart {
            let reason = format!(
                "{chance}, but every value is beyond all of the other side, and the median by a factor of {ratio}"
            );
            return Ruling::new(direction, Confidence::Low, reason);
        }
        if is_certain {
            let reason = format!("below the floor of {}", rounded_percent(floor));
            return Ruling::new(Verdict::Same, Confidence::High, reason);
        }
        open(change, floor, &chance)
    }

    /// The total of calls whose single durations were judged already.
    fn total(
        &self,
        both: &Both,
        measure: &Measure,
        change: &Change,
        direction: Verdict,
        of_a_call: Option<(Verdict, bool)>,
    ) -> Ruling {
        let floor = self.floor(measure.basis);
        let is_beyond = both.distance() >= floor.ln_1p();
        match of_a_call {
            Some((_, false)) if both.is_beyond(OTHER_COUNT_RATIO) => {
                return Ruling::new(direction, Confidence::Medium, "another number of calls");
            }
            Some((of_a_call, true)) if of_a_call == direction && is_beyond => {
                return Ruling::new(direction, Confidence::High, "as each of its calls");
            }
            _ => {}
        }
        let is_large = both.is_beyond(ONCE_RATIO) && change.difference.abs() >= ONCE_NS;
        if is_large {
            let reason = "by a factor of two, but not by most of its calls";
            return Ruling::new(direction, Confidence::Low, reason);
        }
        if !is_beyond {
            let reason = format!("below the floor of {}", rounded_percent(floor));
            return Ruling::new(Verdict::Same, Confidence::Medium, reason);
        }
        let reason = match of_a_call {
            Some((Verdict::CannotTell, _)) => "whether a call changed is not certain",
            _ => "the difference is in few of its calls",
        };
        open(change, floor, reason)
    }

    /// Something that each run has once.
    fn once(
        &self,
        both: &Both,
        change: &Change,
        direction: Verdict,
        ratio: f64,
        absolute: f64,
    ) -> Ruling {
        let floor = self.floor(Basis::SingleValues);
        if both.distance() < floor.ln_1p() {
            let reason = format!("below the floor of {}", rounded_percent(floor));
            return Ruling::new(Verdict::Same, Confidence::Low, reason);
        }
        let least = if absolute > 0.0 { " and a second" } else { "" };
        if both.is_beyond(ratio) && change.difference.abs() >= absolute && both.is_apart {
            let reason = format!("one value on each side, a factor of {ratio}{least} apart");
            return Ruling::new(direction, Confidence::Low, reason);
        }
        let reason = format!("one value on each side, not a factor of {ratio}{least} apart");
        Ruling::new(Verdict::CannotTell, Confidence::Low, reason)
    }
}

/// Of so few values on both sides nobody can tell how much each resembles the one before it; what devices did for a step strays little.
const FEW: usize = 12;

/// Chance of calls that differ by more than two runs of one program do.
fn chance_beyond_runs(kind: MeasureKind, a: &[f64], b: &[f64], is_longer: bool) -> Option<f64> {
    let slower = |calls: &[f64]| -> Vec<f64> { calls.iter().map(|ns| ns * BETWEEN_RUNS).collect() };
    let are_few = a.len() + b.len() <= FEW;
    let inflation = if are_few && matches!(kind, MeasureKind::StepBusy | MeasureKind::DeviceStep) {
        1.0
    } else {
        inflation(autocorrelation(a, b))
    };
    if is_longer {
        mann_whitney(&slower(a), b, inflation)
    } else {
        mann_whitney(a, &slower(b), inflation)
    }
}

/// A change of few values counts from this factor on, and from so many nanoseconds in a run. Devices take the same time for each
/// step, within their clocks.
fn large(kind: MeasureKind) -> (f64, f64) {
    match kind {
        MeasureKind::StepBusy | MeasureKind::DeviceStep => (DEVICE_RATIO, 0.0),
        _ => (ONCE_RATIO, ONCE_NS),
    }
}

fn weight(pair: &Pair) -> f64 {
    let share = f64::midpoint(pair.baseline.share, pair.candidate.share);
    if share > 0.0 { share } else { WEIGHT_OF_RATES }
}

/// What the change adds to the time of a run.
fn impact_ns(pair: &Pair, difference: f64) -> Option<f64> {
    let calls = |side: &Samples| side.calls_per_run().max(1.0);
    match pair.kind.rule() {
        Rule::Total | Rule::Once(_) if pair.kind.unit() == FigureUnit::Ns => Some(difference),
        Rule::Each => {
            Some(difference * f64::midpoint(calls(&pair.baseline), calls(&pair.candidate)))
        }
        _ => None,
    }
}
