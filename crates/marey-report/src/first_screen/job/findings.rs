//! Findings of a job: lost ranks, one rank that ends after all others, waiting, idle GPUs.

use marey_analysis::findings::{Confidence, Evidence, FigureUnit, Finding};
use marey_analysis::ranks::{CollectiveWaiting, JobAnswers, RankWaitingRow};

use super::account::{devices, parts, range_text, step_means, waiting_ratio, wall_ns};
use super::headline::ends_later_ns;
use super::{has_lost_ranks, rank_name};
use crate::first_screen::finding::target;
use crate::first_screen::{ScreenFinding, capitalised};
use crate::quantity::{Column, Unit, counted, float, share, signed_share, time_ns};

/// Parts that differ by less are even.
const EVEN: f64 = 0.02;
/// From this share of rank time without any work on the GPUs are a finding.
const IDLE: f64 = 0.5;
/// A rank that comes last so many times as often as any other is the one that comes late.
const OFTEN: f64 = 1.5;
/// Names in a sentence.
const MOST_NAMES: usize = 3;

/// What costs most first. Of a job that lost ranks only that: what is left of it says nothing of speed.
pub(super) fn findings(job: &JobAnswers, total_ns: u64) -> Vec<ScreenFinding> {
    let found = &job.findings.found;
    if has_lost_ranks(job) {
        let lost = found.iter().filter(|found| found.rule == "lost-ranks");
        return lost.filter_map(|found| ScreenFinding::of_rule(found, total_ns)).collect();
    }
    let later = ends_later(job, total_ns);
    let later_ns = later.as_ref().and_then(|found| found.cost);
    let mut is_slow_shown = false;
    let ruled: Vec<ScreenFinding> = found
        .iter()
        .filter_map(|found| match found.rule {
            "rank-waiting" => waiting(job, found, total_ns),
            // Where the job ends later because of it, that is said, unless others waited longer for it.
            "slow-rank" => {
                let slow = ScreenFinding::of_rule(found, total_ns)?;
                is_slow_shown = later_ns.is_none_or(|later_ns| slow.cost > Some(later_ns));
                is_slow_shown.then_some(slow)
            }
            _ => ScreenFinding::of_rule(found, total_ns),
        })
        .collect();
    let own = later
        .filter(|_| !is_slow_shown)
        .into_iter()
        .chain(alone(job, total_ns))
        .chain(idle_gpus(job, total_ns));
    ScreenFinding::costliest(ruled.into_iter().chain(own).collect())
}

/// `Rank 2: the job ends 197 ms after the other ranks (23 % of 847.6 ms)`
fn ends_later(job: &JobAnswers, total_ns: u64) -> Option<ScreenFinding> {
    let found = job.slowest.as_ref().filter(|found| found.is_slow)?;
    let later_ns = ends_later_ns(job, found)?;
    let ratio = float(later_ns) / float(total_ns.max(1));
    let total = Column::of(Unit::Time, total_ns).text(total_ns);
    let name = rank_name(job, found.place);
    let usual = rank_name(job, found.usual);
    let evidence: Vec<String> = [steps(job), even_parts(job)].into_iter().flatten().collect();
    let evidence = match evidence.as_slice() {
        [] => "All others had ended, so that it waited for none of them in that time.".into(),
        all => format!("{}.", all.join("; ")),
    };
    let figure = format!(
        "the job ends {} after the other ranks ({} of {total})",
        time_ns(later_ns),
        share(ratio)
    );
    let found = ScreenFinding {
        evidence,
        figures: vec![
            Evidence::new("wall or own time of the slowest", float(found.ns[0]), FigureUnit::Ns),
            Evidence::new("of the usual rank", float(found.ns[1]), FigureUnit::Ns),
        ],
        tries: format!(
            "the CPU, GPU clock and input size of {name}; swap {name} and {usual} to tell machine from data."
        ),
        ..ScreenFinding::new("late-rank", capitalised(&name), figure)
    };
    Some(found.costing(later_ns, total_ns))
}

/// `Rank 0: alone for 500 ms after the other ranks had ended (21 % of 2.397 s)`
fn alone(job: &JobAnswers, total_ns: u64) -> Option<ScreenFinding> {
    let last = job.last.as_ref()?;
    if job.slowest.as_ref().is_some_and(|slow| slow.is_slow && slow.place == last.place) {
        return None;
    }
    let ratio = float(last.alone_ns) / float(total_ns.max(1));
    let total = Column::of(Unit::Time, total_ns).text(total_ns);
    let figure = format!(
        "alone for {} after the other ranks had ended ({} of {total})",
        time_ns(last.alone_ns),
        share(ratio)
    );
    let section = last.section.as_ref().map(|(section, ns)| {
        format!("{section} takes {} there and is on no other rank.", time_ns(*ns))
    });
    let what = last.section.as_ref().map_or("the last part", |(section, _)| section);
    let found = ScreenFinding {
        evidence: section.unwrap_or_default(),
        figures: vec![Evidence::new("alone", float(last.alone_ns), FigureUnit::Ns)],
        tries: format!("{what} split over the ranks, or other work on these meanwhile."),
        ..ScreenFinding::new("last-rank", capitalised(&rank_name(job, last.place)), figure)
    };
    Some(found.costing(last.alone_ns, total_ns))
}

/// `All 10 steps are 50 % slower`
fn steps(job: &JobAnswers) -> Option<String> {
    let [slow, usual] = step_means(job, job.slowest.as_ref()?)?;
    let is_slower = |(slow, usual): &(&u64, &u64)| float(**slow) > float(**usual) * (1.0 + EVEN);
    let n_slower = slow.iter().zip(&usual).filter(is_slower).count();
    let sum = |steps: &[u64]| float(steps.iter().sum());
    let ratio = sum(&slow) / sum(&usual).max(1.0) - 1.0;
    let n = slow.len();
    if n_slower == 0 {
        return None;
    }
    let all = if n_slower == n {
        format!("All {n} steps take")
    } else {
        format!("{n_slower} of {n} steps take")
    };
    Some(format!("{all} longer, {} in the mean", signed_share(ratio)))
}

/// `model_load and vae_decode are even`
fn even_parts(job: &JobAnswers) -> Option<String> {
    let parts = parts(job, job.slowest.as_ref()?)?;
    let is_even =
        |[slow, usual]: [u64; 2]| float(slow.abs_diff(usual)) <= EVEN * float(usual) && usual > 0;
    let even = parts.iter().filter(|part| part.name != "other" && is_even(part.held));
    let names: Vec<&str> = even.map(|part| part.name.as_str()).take(MOST_NAMES).collect();
    let (last, first) = names.split_last()?;
    Some(match first {
        [] => format!("{last} is even"),
        first => format!("{} and {last} are even", first.join(", ")),
    })
}

/// Waiting in turn, without a rank that is slow.
fn waiting(job: &JobAnswers, found: &Finding, total_ns: u64) -> Option<ScreenFinding> {
    let shown = ScreenFinding::of_rule(found, total_ns)?;
    let ratio = waiting_ratio(job)?;
    let waiting = job.waiting.as_ref()?;
    let all_ns: u64 = waiting.ranks.iter().map(|row| row.waiting_ns).sum();
    let waiting_of = |row: &&CollectiveWaiting| row.waiting_ns.unwrap_or(0);
    let most = waiting.collectives.iter().filter(|row| !row.is_start_up).max_by_key(waiting_of)?;
    let evidence = format!(
        "{} of {} waiting are in {}. {}",
        time_ns(waiting_of(&most)),
        time_ns(all_ns),
        most.name,
        who_is_late(job, &waiting.ranks)?
    );
    let target = target(found).unwrap_or_default();
    Some(ScreenFinding {
        evidence,
        subject: "Ranks wait for each other".into(),
        figure: format!("{} of rank time is waiting{target}", share(ratio)),
        ..shown
    })
}

/// Who comes last, unless the others do so about as often.
fn who_is_late(job: &JobAnswers, ranks: &[RankWaitingRow]) -> Option<String> {
    let last = ranks.iter().max_by_key(|row| (row.n_last, row.caused_ns))?;
    let others = ranks.iter().filter(|row| row.place != last.place);
    let next = others.map(|row| row.n_last).max().unwrap_or(0);
    if float(next) * OFTEN > float(last.n_last) {
        return Some("No rank comes last much more often than another.".into());
    }
    let waits = ranks.iter().max_by_key(|row| row.waiting_ns)?;
    Some(format!(
        "{} comes last in {}; {} waits most.",
        capitalised(&rank_name(job, last.place)),
        counted(last.n_last, "call", "calls"),
        rank_name(job, waits.place)
    ))
}

/// `GPUs are at work for 7 % of the time`
fn idle_gpus(job: &JobAnswers, total_ns: u64) -> Option<ScreenFinding> {
    let each = devices(job)?;
    let n = each.len() as u64;
    let working: u64 = each.iter().map(|device| device.working_ns).sum();
    let idle: u64 = each.iter().map(|device| device.idle_ns).sum();
    let all = wall_ns(job);
    let ratio = float(idle) / float(all.max(1));
    if ratio < IDLE {
        return None;
    }
    let works = each.iter().map(|device| device.working_ns);
    let walls = job.members.iter().map(|member| member.wall_ns);
    let range = |of: Vec<u64>| Some([*of.iter().min()?, *of.iter().max()?]);
    let evidence = format!(
        "{n} GPUs do {} of work in {}; for {} of the time no kernel runs.",
        range_text(range(works.collect())?),
        range_text(range(walls.collect())?),
        share(ratio)
    );
    let figure = format!("at work for {} of rank time", share(float(working) / float(all.max(1))));
    let found = ScreenFinding {
        evidence,
        tries: "a larger batch per rank, or CUDA graphs (torch.compile mode=\"reduce-overhead\")."
            .into(),
        confidence: Confidence::Medium,
        ..ScreenFinding::new("gpu-idle-time", "GPUs", figure)
    };
    Some(found.costing(idle / n.max(1), total_ns))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_comes_last_about_as_often_as_another_is_not_to_blame() {
        let row =
            |place: u32, n_last: u64| RankWaitingRow { place, n_last, ..RankWaitingRow::default() };
        let said = |each: &[RankWaitingRow]| who_is_late(&JobAnswers::default(), each).unwrap();
        let even = said(&[row(0, 67), row(1, 68)]);
        assert_eq!(even, "No rank comes last much more often than another.");
        let late = said(&[row(0, 5), row(1, 68)]);
        assert!(late.contains("comes last in 68 calls"), "{late}");
    }
}
