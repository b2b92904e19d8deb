//! What got worse: parts of the time that take longer by more than chance, the whole of it at once, and memory.

use std::path::Path;

use marey_analysis::SharedAccount;
use marey_analysis::compare::{Area, Measure, MeasureKind, Subject, Verdict};
use marey_analysis::findings::{Confidence, Evidence, FigureUnit};

use super::decided;
use crate::compare::{
    ComparedPart, ComparedRank, ComparedTime, ComparisonReport, change_text, short, subject,
    without_unit,
};
use crate::escape::visible;
use crate::first_screen::ScreenFinding;
use crate::first_screen::line::name;
use crate::quantity::{counted, float, like, signed_share, time_ns, whole};

/// A section within a part stands for its change from this share of it on.
const MOST_OF_IT: f64 = 0.8;
/// Parts below this share of the total say nothing of the machine.
const LARGE: f64 = 0.05;
/// So many parts that change alike are not one section's matter.
const ALIKE: usize = 3;
/// Columns of a name.
const NAME: usize = 40;

/// What costs most first.
pub(super) fn findings(
    report: &ComparisonReport,
    time: Option<&ComparedTime>,
) -> Vec<ScreenFinding> {
    let mut all = Vec::new();
    if let Some(time) = time {
        all.extend(slower_rank(report, time));
        match all_alike(time) {
            Some(found) => all.push(found),
            None => all.extend(slower_parts(report, time)),
        }
        let has_none = all.is_empty() && report.comparison.time == Some(Verdict::Worse);
        all.extend(has_none.then(|| decided::slower(report, time)).flatten());
    }
    all.extend(memory(report));
    all
}

/// `Rank 1: denoise 0.5 → 14.7 s (+2 840 %)`, where it is one rank of the job that takes longer.
fn slower_rank(report: &ComparisonReport, time: &ComparedTime) -> Option<ScreenFinding> {
    let ranks = report.ranks();
    let found = ComparedRank::apart(&ranks)?;
    let cost = found.moved_ns();
    if float(cost) < report.min_change_ratio() * float(time.total_ns[0]) {
        return None;
    }
    let [before, after] = found.held_ns.map(float);
    let wall = from_to(found.wall_ns);
    let others = time_of(float(ranks.get(1)?.moved_ns()));
    let path = visible(&report.candidate.path);
    let found = ScreenFinding {
        evidence: format!(
            "Its wall time: {wall}. No part of another rank changed by more than {others}, waiting left out."
        ),
        figures: vec![
            Evidence::new("before", before, FigureUnit::Ns),
            Evidence::new("after", after, FigureUnit::Ns),
        ],
        tries: format!("marey report {path} --rank {} --table sections.", found.rank),
        ..ScreenFinding::new(
            "slower-rank",
            format!("Rank {}", found.rank),
            format!("{} {}", name(&found.part, NAME), from_to(found.held_ns)),
        )
    };
    Some(found.costing(cost, time.total_ns[0]))
}

fn slower_parts(report: &ComparisonReport, time: &ComparedTime) -> Vec<ScreenFinding> {
    let has_changed = |part: &&ComparedPart| part.has_changed();
    let n_changed = time.parts.iter().filter(has_changed).count();
    let slower = time.parts.iter().filter(has_changed);
    let slower = slower.filter(|part| part.difference_ns() > 0 && !part.is_other);
    slower.filter_map(|part| slower_part(report, time, part, n_changed == 1)).collect()
}

/// `vae_decode: 459 → 524 ms (+14 %), the only section that changed`
fn slower_part(
    report: &ComparisonReport,
    time: &ComparedTime,
    part: &ComparedPart,
    is_only: bool,
) -> Option<ScreenFinding> {
    let chance = part.change.chance?;
    let only = if is_only { ", the only section that changed" } else { "" };
    let figure = format!("{}{only}", from_to(part.held_ns));
    let n_runs = &time.n_runs;
    let p = match chance.p_value {
        p if p < 0.001 => "Adjusted p < 0.001".to_owned(),
        p => format!("Adjusted p = {p:.3}"),
    };
    let calls = calls(report, time, part).map(|calls| format!("; {calls}"));
    let within = within(time, part).map(|within| format!(" {within}"));
    let rest = if is_only { " The rest is within noise." } else { "" };
    let evidence = format!(
        "{p} with {} against {}{}.{}{rest}",
        n_runs[0],
        counted(n_runs[1], "run", "runs"),
        calls.unwrap_or_default(),
        within.unwrap_or_default()
    );
    let cost = part.difference_ns().unsigned_abs();
    let found = ScreenFinding {
        evidence,
        figures: figures(part),
        tries: tries(report, Some(&part.name)),
        ..ScreenFinding::new("slower-section", &part.name, figure)
    };
    Some(found.costing(cost, time.total_ns[0]))
}

/// `459 → 524 ms (+14 %)`
fn from_to([before, after]: [u64; 2]) -> String {
    let ratio = float(after) / float(before.max(1)) - 1.0;
    let shown = time_ns(after);
    if before == 0 {
        return format!("{shown}, new");
    }
    let before = like(float(before), float(after));
    format!("{before} → {shown} ({})", signed_share(ratio))
}

fn figures(part: &ComparedPart) -> Vec<Evidence> {
    let [before, after] = part.held_ns.map(float);
    let mut figures = vec![
        Evidence::new("before, mean of the runs", before, FigureUnit::Ns),
        Evidence::new("after, mean of the runs", after, FigureUnit::Ns),
    ];
    let p_value = part.change.chance.map(|chance| chance.p_value);
    figures.extend(p_value.map(|p| Evidence::new("adjusted p", p, FigureUnit::Number)));
    figures
}

/// `1 call in each run`, `12 → 9 calls in a run`
fn calls(report: &ComparisonReport, time: &ComparedTime, part: &ComparedPart) -> Option<String> {
    let [node] = part.nodes.as_slice() else {
        return None;
    };
    let path = Subject::Path(path(time.account.as_ref()?, *node));
    let mut measures = report.comparison.measures.iter();
    let counted_calls =
        measures.find(|m| m.kind == MeasureKind::SectionCalls && m.subject == path)?;
    let [before, after] =
        [counted_calls.baseline?.value, counted_calls.candidate?.value].map(whole);
    Some(match (before, after) {
        (before, after) if before == after => {
            format!("{} in each run", counted(before, "call", "calls"))
        }
        (before, after) => format!("{before} → {} in a run", counted(after, "call", "calls")),
    })
}

fn path(account: &SharedAccount, node: usize) -> Vec<String> {
    let up = std::iter::successors(Some(node), |at| account.rows.get(*at)?.parent);
    let mut path: Vec<String> =
        up.filter_map(|at| Some(account.rows.get(at)?.name.clone())).collect();
    path.reverse();
    path
}

/// The innermost section that has most of the change: `decoder › upsample takes 61.0 ms of it.`
fn within(time: &ComparedTime, part: &ComparedPart) -> Option<String> {
    let account = time.account.as_ref()?;
    let [top] = part.nodes.as_slice() else {
        return None;
    };
    let held = account.held_ns();
    let difference = |at: usize| {
        let [before, after] = time.means(&held[at]);
        after - before
    };
    let least = MOST_OF_IT * difference(*top);
    let mut names: Vec<String> = Vec::new();
    let mut at = *top;
    loop {
        let below = (0..account.rows.len()).filter(|row| account.rows[*row].parent == Some(at));
        let most = below.max_by(|a, b| difference(*a).total_cmp(&difference(*b)));
        let Some(next) = most.filter(|next| difference(*next) >= least) else {
            break;
        };
        names.push(name(&account.rows[next].name, NAME / 2));
        at = next;
    }
    let last = names.len().saturating_sub(2);
    let shown = names.get(last..).filter(|shown| !shown.is_empty())?;
    Some(format!("{} has {} of it.", shown.join(" › "), time_of(difference(at))))
}

pub(super) fn time_of(ns: f64) -> String {
    crate::quantity::time(ns)
}

/// Where to look, with the run to look at; of what devices did without a name of the user's code.
pub(super) fn tries(report: &ComparisonReport, part: Option<&str>) -> String {
    let side = &report.candidate;
    let path = visible(&side.path);
    let path = path.trim_end_matches('/');
    let at = match side.runs.as_slice() {
        [first, _, ..] => format!("{path}/{}", visible(&first.name)),
        _ => path.to_owned(),
    };
    let is_file_of_json = |name: &str| {
        let ending = Path::new(name).extension();
        ending.is_some_and(|ending| ending == "json" || ending == "gz")
    };
    let is_trace = side.runs.iter().all(|run| is_file_of_json(&run.name));
    let look = if is_trace {
        format!("marey analyze {at} --table kernels")
    } else {
        format!("marey report {at} --table sections")
    };
    match part {
        Some(part) => format!("git diff of what {} calls; {look}.", name(part, NAME)),
        None => format!("{look}, and the same of the other side."),
    }
}

/// All large parts changed alike: `Everything is slower: 3 of 3 large parts by +4.8 to +5.3 %`.
fn all_alike(time: &ComparedTime) -> Option<ScreenFinding> {
    let is_large = |part: &&ComparedPart| {
        !part.is_other && float(part.held_ns[0]) >= LARGE * float(time.total_ns[0])
    };
    let large: Vec<&ComparedPart> = time.parts.iter().filter(is_large).collect();
    let ratios: Option<Vec<f64>> = large.iter().map(|part| part.change.ratio()).collect();
    let ratios = ratios.filter(|ratios| ratios.len() >= ALIKE)?;
    let low = ratios.iter().copied().fold(f64::INFINITY, f64::min);
    let high = ratios.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let are_alike = low > 0.0 && high <= 2.0 * low;
    if !are_alike || !time.total.is_beyond_chance() {
        return None;
    }
    let column = time.column();
    let n_changed = large.iter().filter(|part| part.has_changed()).count();
    let (low, high) = (signed_share(low), signed_share(high));
    let by = if low == high { low } else { format!("{low} to {high}") };
    let by = format!("all {} large parts by {by}", large.len());
    let evidence = format!(
        "{} in all; {n_changed} of them by more than chance. A change of one section does not do that; clocks, other load or another build do.",
        change_text(column, time.total_ns)
    );
    let found = ScreenFinding {
        evidence,
        tries:
            "the two sides by turns on one idle machine; then its clocks and what else runs there."
                .into(),
        confidence: Confidence::Medium,
        ..ScreenFinding::new("all-slower", "Everything is slower", by)
    };
    Some(found.costing(time.total_ns[0].abs_diff(time.total_ns[1]), time.total_ns[0]))
}

/// The peak that grew most, of the run or, where none of these did, of a section.
fn memory(report: &ComparisonReport) -> Option<ScreenFinding> {
    let is_worse = |m: &&Measure| m.verdict == Verdict::Worse && m.kind.area() == Area::Memory;
    let is_peak = |m: &&Measure| m.unit == FigureUnit::Bytes;
    let worse: Vec<&Measure> =
        report.comparison.measures.iter().filter(is_worse).filter(is_peak).collect();
    let growth = |m: &Measure| m.change.map_or(0.0, |change| change.difference);
    let of_run = worse.iter().filter(|m| m.kind != MeasureKind::SectionMemoryPeak);
    let by_growth = |a: &&&Measure, b: &&&Measure| growth(a).total_cmp(&growth(b));
    let most = of_run.max_by(by_growth).or_else(|| worse.iter().max_by(by_growth))?;
    let [before, after] = [most.baseline?, most.candidate?].map(|side| most.unit.text(side.value));
    let ratio = most
        .change
        .and_then(|change| change.ratio)
        .map(|ratio| format!(" ({})", signed_share(ratio - 1.0)));
    let whose = subject(&most.subject, str::to_owned);
    let whose = whose.map_or_else(String::new, |whose| format!("{whose}, "));
    let others = worse.iter().filter(|m| !std::ptr::eq(**m, *most));
    let others: Vec<String> = others.map(|m| short(m)).collect();
    let n = counted(others.len() as u64, "more memory figure", "more memory figures");
    let more = (!others.is_empty()).then(|| format!(" {n} got worse: {}.", others.join("; ")));
    let by = most.unit.text(growth(most));
    let sides = [&report.baseline, &report.candidate].map(|side| visible(&side.path));
    Some(ScreenFinding {
        evidence: format!("{by} more.{}", more.unwrap_or_default()),
        figures: vec![
            Evidence::new("before", most.baseline?.value, most.unit),
            Evidence::new("after", most.candidate?.value, most.unit),
        ],
        tries: format!(
            "marey compare --table changed {} shows which sections have it.",
            sides.join(" ")
        ),
        confidence: most.confidence,
        ..ScreenFinding::new(
            "more-memory",
            format!("{whose}{}", most.kind.label()),
            format!("{}{}", without_unit(&before, &after), ratio.unwrap_or_default()),
        )
    })
}
