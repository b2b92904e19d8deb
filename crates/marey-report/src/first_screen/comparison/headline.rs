//! The verdict of a comparison in one line: whether a change of the time is decided, and how much the total changed.

use marey_analysis::compare::Verdict;

use super::interval_text;
use crate::compare::{ComparedTime, ComparisonReport, both_text, change_text, difference};
use crate::first_screen::{Headline, Mood};
use crate::json::object::{Fields, Json, object};
use crate::quantity::{counted, float, signed_share};

/// *No change* is said where the interval holds no change of more than this many times the least that counts.
const EXCLUDED: f64 = 2.0;

/// What became of the time. [`marey_analysis::compare::Comparison::time`] decides whether it changed, as it does for the exit code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// The candidate died and the baseline did not, in words.
    Worse(String),
    /// The sides are not two whole runs of one program, in words; whether one of them did not finish.
    CannotTell(String, bool),
    /// It is decided that it takes longer, and the total does.
    Slower,
    /// Shorter.
    Faster,
    /// What is decided, better or worse, is of parts; the total does not show it.
    InParts(Verdict),
    /// No change is decided, of single runs.
    NotProven,
    /// The same to the last digit that is shown, of single runs.
    Equal,
    /// No more than chance, and a change that matters is excluded.
    NoChange,
    /// No more than chance, and one that matters is not excluded.
    Inconclusive,
    /// Nothing on a side says how long it took.
    NotKnown,
}

impl Outcome {
    pub(super) fn new(report: &ComparisonReport, time: Option<&ComparedTime>) -> Self {
        let comparison = &report.comparison;
        let is_cut = comparison.baseline.n_unfinished + comparison.candidate.n_unfinished > 0;
        if let Some(obstacle) = comparison.obstacles.first() {
            let text = obstacle.text.clone();
            return match obstacle.verdict {
                Verdict::Worse => Self::Worse(text),
                _ => Self::CannotTell(text, is_cut),
            };
        }
        let Some(time) = time else {
            return Self::NotKnown;
        };
        let total = &time.total;
        let (verdict, towards) = if total.difference() > 0.0 {
            (Verdict::Worse, Self::Slower)
        } else {
            (Verdict::Better, Self::Faster)
        };
        let interval = total.ratio_interval();
        let is_seen = time.is_seen(difference(time.total_ns));
        let is_moved = is_seen && (interval.is_none() || total.is_beyond_chance());
        let excluded = EXCLUDED * report.min_change_ratio();
        match (comparison.time, interval) {
            (Some(decided), _) if decided == verdict && is_moved => towards,
            (Some(decided), _) => Self::InParts(decided),
            (None, None) if is_seen => Self::NotProven,
            (None, None) => Self::Equal,
            (None, Some(_)) if is_moved && is_below_floor(report, time) => towards,
            (None, Some([low, high])) if low.abs().max(high.abs()) <= excluded => Self::NoChange,
            (None, Some(_)) => Self::Inconclusive,
        }
    }

    /// Times are not those of the whole work.
    pub(super) fn is_cut_short(&self) -> bool {
        matches!(self, Self::Worse(_) | Self::CannotTell(_, true))
    }

    /// Nothing is known to have changed.
    pub(super) fn is_open(&self) -> bool {
        matches!(self, Self::NoChange | Self::Inconclusive)
    }

    /// What it is called, and how that is.
    fn word(&self) -> (&'static str, Mood) {
        match self {
            Self::Worse(_) => ("worse", Mood::Bad),
            Self::CannotTell(..) | Self::Inconclusive => ("inconclusive", Mood::Plain),
            Self::Slower => ("slower", Mood::Bad),
            Self::Faster => ("faster", Mood::Good),
            Self::InParts(Verdict::Worse) => ("slower in parts", Mood::Bad),
            Self::InParts(_) => ("faster in parts", Mood::Plain),
            Self::NotProven => ("no proven change", Mood::Plain),
            Self::Equal => ("no difference", Mood::Plain),
            Self::NoChange => ("no change", Mood::Good),
            Self::NotKnown => ("nothing to compare", Mood::Plain),
        }
    }
}

/// A change of the total that is certain, and too small to matter.
pub(super) fn is_below_floor(report: &ComparisonReport, time: &ComparedTime) -> bool {
    let ratio = time.total.ratio();
    ratio.is_some_and(|ratio| ratio.abs() < report.min_change_ratio())
}

/// `slower by 51.7 ms (+2.9 %, 95 % CI +1.0 … +4.7 %): 1812.7 → 1864.4 ms · 5 runs a side`
pub(super) fn headline(
    report: &ComparisonReport,
    outcome: &Outcome,
    time: Option<&ComparedTime>,
) -> Headline {
    let after = match (outcome, time) {
        (Outcome::Worse(why) | Outcome::CannotTell(why, _), _) => format!(": {why}"),
        (_, None) => ": a side has no runs".into(),
        // With a verdict that no repeats stand behind it has to be said.
        (_, Some(time)) if !report.are_repeats() => {
            format!("{} · {}", after(outcome, time), runs_text(report))
        }
        (_, Some(time)) => after(outcome, time),
    };
    let is_repeated = report.are_repeats() && !outcome.is_cut_short();
    let (word, mood) = outcome.word();
    Headline {
        subject: String::new(),
        outcome: word.into(),
        mood,
        after,
        parts: is_repeated.then(|| runs_text(report)).into_iter().collect(),
    }
}

/// For programs.
pub(super) fn facts(
    report: &ComparisonReport,
    outcome: &Outcome,
    time: Option<&ComparedTime>,
) -> impl Fields + Json + use<> {
    let times = time.map(|time| {
        let [before_s, after_s] = time.total_ns.map(|ns| float(ns) / 1e9);
        object! {
            before_s: before_s,
            after_s: after_s,
            /// What the difference is of the first.
            ratio?: time.total.ratio(),
            /// Where that lies with 95 % confidence; absent of single runs.
            interval?: time.total.ratio_interval(),
        }
    });
    object! {
        /// What the headline says.
        outcome: outcome.word().0.replace(' ', "_"),
        verdict: report.comparison.verdict,
        /// Whether the command ends with 0.
        passed: report.is_passed(),
        /// Runs of each side.
        runs: [&report.baseline, &report.candidate].map(|side| side.runs.len()),
        ..times,
    }
}

fn after(outcome: &Outcome, time: &ComparedTime) -> String {
    let column = time.column();
    let both = both_text(column, time.total_ns);
    let ratio = time.total.ratio().map(signed_share).unwrap_or_default();
    let interval = time.total.ratio_interval().map(interval_text);
    let interval = interval.map(|text| format!(", 95 % CI {text}")).unwrap_or_default();
    match outcome {
        Outcome::Slower | Outcome::Faster => {
            let by = change_text(column, time.total_ns);
            let by = by.trim_start_matches(['+', '−']);
            format!(" by {by} ({ratio}{interval}): {both}")
        }
        Outcome::Equal => format!(": {both}"),
        _ => format!(": {both} ({ratio}{interval})"),
    }
}

/// `5 runs a side`, `5 against 3 runs`
fn runs_text(report: &ComparisonReport) -> String {
    let [before, after] = [&report.baseline, &report.candidate].map(|side| side.runs.len() as u64);
    let are_ranks = !report.baseline.ranks.is_empty() || !report.candidate.ranks.is_empty();
    let (one, several) = if are_ranks { ("rank", "ranks") } else { ("run", "runs") };
    match (before, after) {
        (before, after) if before == after => format!("{} a side", counted(before, one, several)),
        (before, after) => format!("{before} against {}", counted(after, one, several)),
    }
}
