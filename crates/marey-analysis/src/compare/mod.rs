//! What got slower, hungrier or different between two runs, or between repeats of two versions, and is it more than chance?
//!
//! ```text
//! runs ──► observations ──► pairs ──► tests ──► Holm ──► verdicts ──► totals ──► headline
//!            each run       by measure   chance    for all     better, worse, same, cannot tell
//! ```
//!
//! Where both sides have repeats, each run is a sample: only repeats show how runs differ. Else the calls of a section and
//! the iterations of a loop are samples of the two runs, which says nothing about what differs between any two runs; a floor
//! stands for that. What a run has once is decided by floors alone. How each is done is in `docs/comparing.md`.

mod bootstrap;
mod call_path;
mod comparison;
mod distributions;
mod environment;
mod floors;
mod headline;
mod held_processors;
mod holm;
mod judge;
mod mann_whitney;
mod matching;
mod means;
mod measure;
mod measure_kind;
mod observations;
mod obstacles;
mod options;
mod outer_ranges;
mod pair;
mod random;
mod repeats;
mod replaced;
mod ruling;
mod totals;
mod traced;
mod traced_parts;
mod traced_preparation;
mod traced_work;
mod trend;
mod verdict;
mod welch;

use std::collections::{BTreeMap, BTreeSet};

use marey::Run;

pub use comparison::{Comparison, Side};
pub use environment::{Difference, EnvironmentCategory};
pub use headline::Headline;
pub use matching::SectionMatch;
pub use means::{MeanChance, MeanChange, adjust};
pub use measure::{Better, Change, Measure, Observed, Subject};
pub use measure_kind::{Area, MeasureKind};
pub use obstacles::Obstacle;
pub use options::CompareOptions;
pub use traced::TracedSide;
pub use traced_work::WorkChange;
pub use trend::{Trend, TrendMeasure, TrendPoint, trend};
pub use verdict::{Basis, Verdict};

use crate::account::{PathTimes, SharedAccount, path_times};
use crate::findings::Confidence;
use call_path::Path;
use floors::READ_SHARE;
use holm::{Test, holm};
use judge::Judge;
use observations::Observations;
use pair::{Pair, Samples, pairs};
use traced_preparation::Prepared;

/// The candidate against the baseline; each side is one run or several repeats of one, whose order does not matter.
pub fn compare(baseline: &[Run], candidate: &[Run], options: &CompareOptions) -> Comparison {
    let mut found =
        compare_with([baseline, candidate], [vec![], vec![]], SamplesAre::Repeats, options);
    found.account = account(baseline, candidate, &found.sections);
    found
}

/// The same of traces: their sections, and what their devices did. Traces of the ranks of a job are no repeats: of several the
/// median is compared, and there are no tests.
pub fn compare_traces(
    baseline: &TracedSide,
    candidate: &TracedSide,
    options: &CompareOptions,
) -> Comparison {
    let mut kernels = baseline.largest_kernels();
    kernels.extend(candidate.largest_kernels());
    let devices = [baseline, candidate].map(|side| side.figures_of(&kernels));
    let prepared = Prepared::new(baseline, candidate);
    let [first, second] = &prepared.outlines;
    let samples = if prepared.are_ranks { SamplesAre::NoRepeats } else { SamplesAre::Repeats };
    let mut found = compare_with([first, second], devices, samples, options);
    found.notes.extend(prepared.notes);
    if let Some(obstacle) = obstacles::missing_work([baseline, candidate]) {
        found.verdict = Verdict::CannotTell;
        let of_devices = |one: &&mut Measure| one.kind.area() == Area::Device;
        let of_devices = found.measures.iter_mut().filter(of_devices);
        of_devices.for_each(|one| one.verdict = Verdict::CannotTell);
        found.time = None;
        found.headline = headline::headline(&found.measures, &found.sections, found.verdict);
        found.obstacles.push(obstacle);
    }
    found.account = TracedSide::accounts([baseline, candidate]).map(SharedAccount::new);
    if found.time.is_some() {
        found.work = traced_work::work_changes(&baseline.work, &candidate.work);
        found.notes.extend(found.work_said());
    }
    found
}

/// What the runs of a side are to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SamplesAre {
    /// Each is a sample.
    Repeats,
    /// They depend on each other, and so do their calls.
    NoRepeats,
}

/// Runs, and what is known of each of them otherwise, in the same order; nothing for those beyond.
fn compare_with(
    [baseline, candidate]: [&[Run]; 2],
    others: [Vec<Observations>; 2],
    samples: SamplesAre,
    options: &CompareOptions,
) -> Comparison {
    let (here, there) = (matching::tree(baseline), matching::tree(candidate));
    let sections = matching::matches(&here, &there);
    let mut names = matching::repeated_names(&here);
    names.extend(matching::repeated_names(&there));
    let in_words_of_baseline = in_words_of_baseline(&sections);
    let are_repeats = samples == SamplesAre::Repeats;
    let observed = |(run, other)| {
        let found = Observations::new(run, &names).with(other);
        if are_repeats { found } else { found.without_calls() }
    };
    let [of_baseline, of_candidate] = others.map(|known| {
        let none = std::iter::repeat_with(Observations::default);
        known.into_iter().chain(none)
    });
    let of_baseline: Vec<Observations> = baseline.iter().zip(of_baseline).map(observed).collect();
    let of_candidate: Vec<Observations> = candidate
        .iter()
        .zip(of_candidate)
        .map(|pair| observed(pair).renamed(&in_words_of_baseline))
        .collect();
    let sides = [side(baseline), side(candidate)];
    let ends = obstacles::ends(baseline, candidate);
    let judge = Judge {
        options,
        is_repeated: are_repeats && baseline.len() >= 2 && candidate.len() >= 2,
        cut_short: sides.each_ref().map(|side| ends.is_some() && side.n_unfinished > 0),
    };
    let (mut measures, n_tests) = judged(&judge, pairs(&of_baseline, &of_candidate));
    let held = held_processors::leave_open(&mut measures, baseline, candidate);
    let is_there = !baseline.is_empty() && !candidate.is_empty();
    let obstacles = if is_there {
        let found = obstacles::obstacles(ends, &measures, &sections);
        found.into_iter().chain(held).collect()
    } else {
        vec![]
    };
    let [of_baseline, of_candidate] = sides;
    let verdict =
        if is_there { totals::verdict(&measures, &obstacles) } else { Verdict::CannotTell };
    Comparison {
        verdict,
        time: totals::time(&measures),
        obstacles,
        basis: if judge.is_repeated {
            Basis::Repeats
        } else if !are_repeats {
            Basis::SingleValues
        } else {
            Basis::Calls
        },
        environment: if is_there { environment::differences(baseline, candidate) } else { vec![] },
        headline: headline::headline(&measures, &sections, verdict),
        account: None,
        work: Vec::new(),
        notes: notes(are_repeats && !judge.is_repeated, &of_baseline, &of_candidate),
        unknown_environment: environment::unknown(baseline, candidate),
        baseline: of_baseline,
        candidate: of_candidate,
        sections,
        measures,
        n_tests,
    }
}

/// The baseline's path for each of the candidate's that has another there.
fn in_words_of_baseline(sections: &[SectionMatch]) -> BTreeMap<Path, Path> {
    let renamed = |row: &SectionMatch| Some((row.candidate_path.clone()?, row.path.clone()));
    sections.iter().filter_map(renamed).collect()
}

/// What held the runs of both sides up, the baseline's first; call paths of the candidate in the baseline's words.
fn account(
    baseline: &[Run],
    candidate: &[Run],
    sections: &[SectionMatch],
) -> Option<SharedAccount> {
    let in_words_of_baseline = in_words_of_baseline(sections);
    let renamed = |(wall_ns, mut times): PathTimes| {
        for time in &mut times {
            if let Some(path) = in_words_of_baseline.get(&time.path) {
                time.path.clone_from(path);
            }
        }
        (wall_ns, times)
    };
    let baseline = baseline.iter().map(path_times);
    let candidate = candidate.iter().map(|run| Some(renamed(path_times(run)?)));
    let mut runs = baseline.collect::<Option<Vec<PathTimes>>>()?;
    let mut others = candidate.collect::<Option<Vec<PathTimes>>>()?;
    // In whatever order they were given.
    runs.sort_unstable();
    others.sort_unstable();
    runs.append(&mut others);
    Some(SharedAccount::new(runs))
}

/// All measures with their verdicts, and how many tests were made.
fn judged(judge: &Judge<'_>, pairs: Vec<Pair>) -> (Vec<Measure>, u64) {
    let pairs = with_single_calls(without_small_reads(pairs));
    let mut measured: Vec<(Measure, Option<Test>)> =
        pairs.iter().map(|p| judge.measured(p)).collect();
    let mut tests: Vec<Test> = measured.iter().filter_map(|(_, test)| *test).collect();
    let tested = measured.iter();
    let weights: Vec<(MeasureKind, f64)> =
        tested.filter_map(|(measure, test)| Some((measure.kind, test.as_ref()?.weight))).collect();
    for (test, weight) in tests.iter_mut().zip(totals::weights(&weights)) {
        test.weight = weight;
    }
    let mut adjusted = holm(&tests).into_iter();
    for (measure, _) in measured.iter_mut().filter(|(_, test)| test.is_some()) {
        if let Some(change) = &mut measure.change {
            change.adjusted_p_value = adjusted.next();
        }
    }
    let mut measures: Vec<Measure> = measured.into_iter().map(|(measure, _)| measure).collect();
    // What became of a call is known before that of the total of all calls.
    let (totals, others): (Vec<usize>, Vec<usize>) =
        (0..pairs.len()).partition(|at| of_a_call(pairs[*at].kind).is_some());
    for at in others {
        judge.decide(&pairs[at], &mut measures[at], None);
    }
    for at in totals {
        let known = of_each_call(&measures, at);
        judge.decide(&pairs[at], &mut measures[at], known);
    }
    judge_reads(&mut measures);
    judge_cold_files(&mut measures);
    replaced::mark(&mut measures);
    (measures, tests.len() as u64)
}

/// The kinds of a call's duration and of the number of calls, for a total.
fn of_a_call(total: MeasureKind) -> Option<[MeasureKind; 2]> {
    match total {
        MeasureKind::SectionTotal => Some([MeasureKind::SectionPerCall, MeasureKind::SectionCalls]),
        MeasureKind::NameTotal => Some([MeasureKind::NamePerCall, MeasureKind::NameCalls]),
        MeasureKind::KernelTotal => Some([MeasureKind::KernelPerCall, MeasureKind::KernelCalls]),
        _ => None,
    }
}

/// What became of a call, and whether there are as many, for a total.
fn of_each_call(measures: &[Measure], total: usize) -> Option<(Verdict, bool)> {
    let subject = &measures[total].subject;
    let [per_call, calls] = of_a_call(measures[total].kind)?;
    let find = |kind| measures.binary_search_by(|m| (m.kind, &m.subject).cmp(&(kind, subject)));
    let is_as_many = find(calls).is_ok_and(|at| measures[at].verdict == Verdict::Same);
    let verdict = find(per_call).map_or(Verdict::CannotTell, |at| measures[at].verdict);
    Some((verdict, is_as_many))
}

/// What a side did once has no figure of a call, for it is that of the total. Against a side that did it more often it stands for
/// a call: it is not gone.
fn with_single_calls(mut pairs: Vec<Pair>) -> Vec<Pair> {
    let at = |pairs: &[Pair], kind: MeasureKind, subject: &Subject| {
        pairs.binary_search_by(|pair| (pair.kind, &pair.subject).cmp(&(kind, subject)))
    };
    for total in 0..pairs.len() {
        let Some([per_call, calls]) = of_a_call(pairs[total].kind) else {
            continue;
        };
        let subject = pairs[total].subject.clone();
        let (Ok(per_call), Ok(calls)) =
            (at(&pairs, per_call, &subject), at(&pairs, calls, &subject))
        else {
            continue;
        };
        let is_once = |samples: &Samples| samples.figures.iter().all(|n| *n <= 1.0);
        let [baseline, candidate] = [
            is_once(&pairs[calls].baseline).then(|| pairs[total].baseline.once()),
            is_once(&pairs[calls].candidate).then(|| pairs[total].candidate.once()),
        ];
        let pair = &mut pairs[per_call];
        for (side, once) in [(&mut pair.baseline, baseline), (&mut pair.candidate, candidate)] {
            if let Some(once) = once.filter(|_| side.figures.is_empty()) {
                *side = once;
            }
        }
    }
    pairs
}

/// What was read during sections matters where they take some of the time.
fn without_small_reads(pairs: Vec<Pair>) -> Vec<Pair> {
    let large: BTreeSet<Subject> = pairs
        .iter()
        .filter(|pair| pair.kind == MeasureKind::SectionTotal && pair.share() >= READ_SHARE)
        .map(|pair| pair.subject.clone())
        .collect();
    let is_read =
        |kind| matches!(kind, MeasureKind::SectionReadRate | MeasureKind::SectionBytesRead);
    let is_kept =
        |pair: &Pair| !is_read(pair.kind) || (pair.is_on_both() && large.contains(&pair.subject));
    pairs.into_iter().filter(is_kept).collect()
}

/// A section that reads slower and takes longer starves for its reads; one that reads slower and takes no longer has its
/// files in memory. Where the machine says how long its tasks waited for disks, and that is less than half of what the section took
/// longer, it did something else in that time.
fn judge_reads(measures: &mut [Measure]) {
    let totals = measures.iter().filter(|m| m.kind == MeasureKind::SectionTotal);
    let became: BTreeMap<Subject, (Verdict, f64)> = totals
        .filter_map(|m| Some((m.subject.clone(), (m.verdict, m.change?.difference))))
        .collect();
    let waited_ns = waited_for_disks_ns(measures);
    let is_rate = |m: &&mut Measure| m.kind == MeasureKind::SectionReadRate;
    let changed = measures.iter_mut().filter(is_rate);
    for rate in changed.filter(|m| m.verdict == Verdict::Different) {
        let fell = rate.change.is_some_and(|change| change.difference < 0.0);
        let (verdict, why) = match (became.get(&rate.subject), fell) {
            (Some((Verdict::Worse, _)), true) => (Verdict::Worse, "the section took longer"),
            (Some((Verdict::Better, _)), false) => (Verdict::Better, "the section took less time"),
            _ => continue,
        };
        let longer_ns = became.get(&rate.subject).map_or(0.0, |(_, ns)| *ns);
        if waited_ns.is_some_and(|ns| ns / longer_ns < 0.5) {
            continue;
        }
        rate.verdict = verdict;
        rate.reason.push_str(", while ");
        rate.reason.push_str(why);
    }
}

/// What tasks of the machine waited longer for disks in a run of the candidate; `None` unless both sides say.
fn waited_for_disks_ns(measures: &[Measure]) -> Option<f64> {
    let of = |kind| measures.iter().find(|m| m.kind == kind && m.subject == Subject::Run);
    let (wall, share) = (of(MeasureKind::WallTime)?, of(MeasureKind::IoPressure)?);
    let ns = |wall: Option<Observed>, share: Option<Observed>| Some(wall?.value * share?.value);
    Some(ns(wall.candidate, share.candidate)? - ns(wall.baseline, share.baseline)?)
}

/// What is done once and takes longer while it reads more from disks found its files in the page cache before: that says
/// nothing of the program. So says the wall time, where that is most of its change.
fn judge_cold_files(measures: &mut [Measure]) {
    let is_changed = |m: &Measure| matches!(m.verdict, Verdict::Worse | Verdict::Better);
    let difference = |m: &Measure| m.change.map_or(0.0, |change| change.difference);
    let reads: BTreeMap<Subject, f64> = measures
        .iter()
        .filter(|m| m.kind == MeasureKind::SectionBytesRead && m.verdict == Verdict::Different)
        .map(|m| (m.subject.clone(), difference(m)))
        .collect();
    let mut of_files_ns: f64 = 0.0;
    let is_once =
        |m: &Measure| m.kind == MeasureKind::SectionTotal && m.basis == Basis::SingleValues;
    for total in measures.iter_mut().filter(|m| is_once(m)) {
        let read = reads.get(&total.subject).copied().unwrap_or(0.0);
        if read * difference(total) > 0.0 {
            let ns = difference(total);
            of_files_ns = if ns.abs() > of_files_ns.abs() { ns } else { of_files_ns };
            if is_changed(total) {
                leave_open(total);
            }
        }
    }
    let is_wall =
        |m: &&mut Measure| m.kind == MeasureKind::WallTime && m.basis == Basis::SingleValues;
    for wall in measures.iter_mut().filter(is_wall) {
        if is_changed(wall) && of_files_ns / difference(wall) >= 0.5 {
            leave_open(wall);
        }
    }
}

fn leave_open(measure: &mut Measure) {
    measure.verdict = Verdict::CannotTell;
    measure.confidence = Confidence::Low;
    measure
        .reason
        .push_str(", but files came from disks on one side and from the page cache on the other");
}

fn side(runs: &[Run]) -> Side {
    let mut walls: Vec<u64> = runs.iter().map(|run| run.wall_ns).collect();
    walls.sort_unstable();
    Side {
        n_runs: runs.len() as u64,
        n_unfinished: runs.iter().filter(|run| obstacles::is_unfinished(run)).count() as u64,
        wall_ns: crate::stats::median(&walls),
        n_with_losses: runs.iter().filter(|run| !run.losses.is_none()).count() as u64,
    }
}

fn notes(is_single: bool, baseline: &Side, candidate: &Side) -> Vec<String> {
    let mut notes = Vec::new();
    if is_single {
        notes.push(
            "With one run on a side, what differs between any two runs of the same program cannot be seen; \
             three or more repeats of each would show it."
                .to_owned(),
        );
    }
    for (name, side) in [("baseline", baseline), ("candidate", candidate)] {
        if side.n_runs == 0 {
            notes.push(format!("The {name} has no runs."));
        }
        if side.n_unfinished > 0 {
            notes.push(format!(
                "{} of {} runs of the {name} failed or did not end by themselves: wall times, totals and counts are not of the whole work.",
                side.n_unfinished, side.n_runs
            ));
        }
        if side.n_with_losses > 0 {
            notes.push(format!(
                "{} of {} runs of the {name} lost records: figures of single calls are not of all calls.",
                side.n_with_losses, side.n_runs
            ));
        }
    }
    notes
}

#[cfg(test)]
mod tests;
