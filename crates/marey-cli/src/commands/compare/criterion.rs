//! `--fail-on`: what makes a comparison fail.

use std::str::FromStr;

use anyhow::bail;
use marey_analysis::CompareOptions;
use marey_analysis::compare::{Area, Better, Comparison, Measure, MeasureKind, Subject, Verdict};
use marey_report::Criterion;

use crate::console::Console;

/// What makes a comparison fail, as given.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct FailOn {
    given: String,
    what: What,
}

#[derive(Clone, Debug, PartialEq)]
enum What {
    /// Something is worse.
    Worse,
    /// Nothing.
    Never,
    /// Anything is not the same: better, worse, different, new, gone.
    AnyChange,
    /// The whole could not be decided.
    CannotTell,
    /// Something is more for the worse than a share of the baseline.
    Beyond { of: Of, ratio: f64 },
}

/// What a limit is for.
#[derive(Clone, Debug, PartialEq)]
enum Of {
    /// The time of the whole run, or what a section or loop adds to it.
    Time,
    /// All figures of an area.
    Area(Area),
    /// All figures of a kind.
    Kind(MeasureKind),
    /// Times of the sections of a name, or of a call path.
    Section(String),
    /// Times of the iterations of a loop.
    Loop(String),
}

const WORDS: &str = "worse, any-change, cannot-tell, never, or a limit such as \"time>5%\", \"memory>10%\" or \"section:NAME>3%\"";
const NAMES: &str = "time, memory, io, machine, generation, cache, device, section:NAME, loop:NAME, or a kind of figure such as wall_time or memory_peak";

impl FromStr for FailOn {
    type Err = String;

    fn from_str(given: &str) -> Result<Self, String> {
        let what = match given.trim() {
            "worse" => What::Worse,
            "never" => What::Never,
            "any-change" => What::AnyChange,
            "cannot-tell" => What::CannotTell,
            limit => {
                // A section's name may hold the sign.
                let (name, limit) =
                    limit.rsplit_once('>').ok_or_else(|| format!("it is {WORDS}"))?;
                What::Beyond { of: name.trim().parse()?, ratio: share(limit)? }
            }
        };
        let given = given.trim().to_owned();
        Ok(Self { given, what })
    }
}

/// `5%` or `0.5 %` as a share.
fn share(text: &str) -> Result<f64, String> {
    let wrong = || format!("after > there is a percentage such as 5%, not {:?}", text.trim());
    let number = text.trim().strip_suffix('%').ok_or_else(wrong)?;
    let percent: f64 = number.trim().parse().map_err(|_| wrong())?;
    let is_usable = percent.is_finite() && percent >= 0.0;
    is_usable.then_some(percent / 100.0).ok_or_else(wrong)
}

impl FromStr for Of {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        if let Some((kind, name)) = name.split_once(':') {
            return match (kind, name) {
                (_, "") => Err(format!("there is no name after {kind}:")),
                ("section", name) => Ok(Self::Section(name.to_owned())),
                ("loop", name) => Ok(Self::Loop(name.to_owned())),
                _ => Err(format!("before > there is {NAMES}, not {kind:?}")),
            };
        }
        let area = match name {
            "time" => return Ok(Self::Time),
            "memory" => Some(Area::Memory),
            "io" => Some(Area::Io),
            "machine" => Some(Area::Machine),
            "generation" => Some(Area::Generation),
            "cache" => Some(Area::Cache),
            "device" => Some(Area::Device),
            _ => None,
        };
        let kinds = MeasureKind::ALL.iter().copied();
        let kind = kinds.map(Self::Kind).find(|of| of.has_name(name));
        let found = area.map(Self::Area).or(kind);
        found.ok_or_else(|| format!("before > there is {NAMES}, not {name:?}"))
    }
}

impl Of {
    /// A kind's name is the one that JSON has.
    fn has_name(&self, name: &str) -> bool {
        let Self::Kind(kind) = self else {
            return false;
        };
        serde_json::to_value(kind).is_ok_and(|value| value == name)
    }

    fn includes(&self, measure: &Measure) -> bool {
        match self {
            Self::Time => measure.kind.area() == Area::Time || measure.kind.is_total_time(),
            Self::Area(area) => measure.kind.area() == *area,
            Self::Kind(kind) => measure.kind == *kind,
            Self::Section(name) => match &measure.subject {
                Subject::Path(path) => is_path(path, name),
                Subject::Name(of) => of == name,
                _ => false,
            },
            Self::Loop(name) => measure.subject == Subject::Loop(name.clone()),
        }
    }
}

/// Refuses what contradicts itself.
///
/// # Errors
/// When `never` is not alone.
pub(super) fn check(all: &[FailOn]) -> anyhow::Result<()> {
    if all.len() > 1 && all.iter().any(|one| one.what == What::Never) {
        bail!("--fail-on never and another --fail-on contradict each other");
    }
    Ok(())
}

/// Refuses a section or a loop that neither side has: a limit with a slip in its name would never be met.
///
/// # Errors
/// At the first one.
pub(super) fn check_names(all: &[FailOn], comparison: &Comparison) -> anyhow::Result<()> {
    for one in all {
        let What::Beyond { of, .. } = &one.what else {
            continue;
        };
        let (Of::Section(name) | Of::Loop(name)) = of else {
            continue;
        };
        let measured = comparison.measures.iter().any(|measure| of.includes(measure));
        let mut sections = comparison.sections.iter();
        let recorded = sections.any(|section| {
            let there = section.candidate_path.as_deref();
            is_path(&section.path, name) || there.is_some_and(|path| is_path(path, name))
        });
        if !measured && !recorded {
            bail!("--fail-on {}: neither side has it", one.given);
        }
    }
    Ok(())
}

/// The last name of a call path, or all of them with a slash in between.
fn is_path(path: &[String], name: &str) -> bool {
    path.last().is_some_and(|last| last == name)
        || path.join("/") == name
        || path.join(" / ") == name
}

/// The options of a comparison that can tell what is asked: a limit below the floor lowers it, where repeats allow that.
pub(super) fn options(
    all: &[FailOn],
    are_repeated: bool,
    console: &mut Console<'_>,
) -> CompareOptions {
    let usual = CompareOptions::default();
    let limits = all.iter().filter_map(FailOn::time_limit);
    let lowest = limits.fold(f64::INFINITY, f64::min);
    if are_repeated {
        return CompareOptions {
            min_repeated_change_ratio: usual.min_repeated_change_ratio.min(lowest),
            ..usual
        };
    }
    if lowest < usual.min_change_ratio {
        console.say(&format!(
            "changes of time below {} % are within what differs between any two runs of one program; repeat both sides to see smaller ones",
            usual.min_change_ratio * 100.0
        ));
    }
    usual
}

impl FailOn {
    /// The limit, if it is one of time.
    fn time_limit(&self) -> Option<f64> {
        let What::Beyond { of, ratio } = &self.what else {
            return None;
        };
        match of {
            Of::Time | Of::Section(_) | Of::Loop(_) => Some(*ratio),
            Of::Kind(kind) => (kind.area() == Area::Time).then_some(*ratio),
            Of::Area(_) => None,
        }
    }

    /// Whether it is the matter, and with what.
    pub(super) fn judge(&self, comparison: &Comparison) -> Criterion {
        let measures = comparison.measures.iter().enumerate();
        let is_met = |measure: &Measure| self.is_met_by(measure, comparison);
        let measures: Vec<usize> =
            measures.filter(|(_, measure)| is_met(measure)).map(|(index, _)| index).collect();
        let is_met_by_the_whole = match self.what {
            What::Worse => comparison.verdict == Verdict::Worse,
            What::CannotTell => comparison.verdict == Verdict::CannotTell,
            What::AnyChange => has_other_sections(comparison),
            What::Never | What::Beyond { .. } => false,
        };
        // Of a candidate that died no limit can be said to hold.
        let has_died = comparison.obstacles.iter();
        let has_died = has_died
            .filter(|_| self.what != What::Never)
            .any(|obstacle| obstacle.verdict == Verdict::Worse);
        Criterion {
            given: self.given.clone(),
            is_met: is_met_by_the_whole || has_died || !measures.is_empty(),
            measures,
        }
    }

    fn is_met_by(&self, measure: &Measure, comparison: &Comparison) -> bool {
        let verdict = measure.verdict;
        match &self.what {
            What::Worse => verdict == Verdict::Worse && comparison.verdict == Verdict::Worse,
            What::AnyChange => !matches!(verdict, Verdict::Same | Verdict::CannotTell),
            What::Never | What::CannotTell => false,
            What::Beyond { of, ratio } => {
                of.includes(measure)
                    && if *of == Of::Time && !measure.kind.is_total_time() {
                        lengthens_by(measure, comparison, *ratio)
                    } else {
                        is_worse_by(measure, *ratio)
                            || measure.kind.is_total_time() && is_surely_beyond(measure, *ratio)
                    }
            }
        }
    }
}

fn has_other_sections(comparison: &Comparison) -> bool {
    let mut sections = comparison.sections.iter();
    sections.any(|section| section.presence != Verdict::Same)
}

/// It is more than chance, and for the worse, or of unknown meaning, by more than a share of the baseline. From nothing to
/// something is beyond any share.
fn is_worse_by(measure: &Measure, limit: f64) -> bool {
    let Some(change) = &measure.change else {
        return false;
    };
    let ratio = change.ratio.unwrap_or(f64::INFINITY);
    let (is_more, is_less) = (ratio > 1.0 + limit, ratio < 1.0 - limit);
    match (measure.verdict, measure.better) {
        (Verdict::Worse, Better::Less) => is_more,
        (Verdict::Worse, Better::More) => is_less,
        (Verdict::Worse | Verdict::Different, Better::Neither) => is_more || is_less,
        _ => false,
    }
}

/// All that is possible with 95 % confidence is more than a share of the baseline, whatever else was tested beside it.
fn is_surely_beyond(measure: &Measure, limit: f64) -> bool {
    let interval = measure.change.and_then(|change| change.interval);
    interval.is_some_and(|(low, _)| low > 1.0 + limit)
}

/// What it adds to a run is more than a share of the baseline's wall time.
fn lengthens_by(measure: &Measure, comparison: &Comparison, limit: f64) -> bool {
    let (Some(impact), Some(wall)) = (measure.impact_ns, comparison.baseline.wall_ns) else {
        return false;
    };
    measure.verdict == Verdict::Worse && impact > limit * wall
}

#[cfg(test)]
mod tests;
