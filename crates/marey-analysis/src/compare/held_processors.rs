//! Did other programs hold the processors beside one side? Then what took longer there says nothing of the program.
//!
//! ```text
//! baseline    |## ran ##|                      its threads had processors
//! candidate   |## ran ##|.. waited ..|         others had them: the same work took longer
//! ```
//!
//! A change is left open where other programs kept at least half a processor more at work, and where it is at most once and a half what the
//! threads of the process waited longer: who shares caches and halves of processors runs slower besides. Threads of the process that
//! take processors from each other are its own affair.

use marey::Run;

use super::obstacles::Obstacle;
use super::verdict::Verdict;
use super::{Area, Measure};
use crate::findings::{Confidence, FigureUnit};
use crate::quantity::rounded_percent;
use crate::questions::telemetry::brief_telemetry;
use crate::stats::float;

/// Processors that other programs used more.
const OTHERS: f64 = 0.5;
/// A change can be as many times as large as what was waited more.
const REACH: f64 = 1.5;

/// What a side had of the processors: medians of its runs.
struct Had {
    /// Nanoseconds in which its threads wanted a processor and had none.
    waited_ns: f64,
    /// The same as a share of the time in which they wanted one.
    waited_ratio: f64,
    /// Processors that other programs used.
    others: f64,
    wall_ns: f64,
}

/// Leaves changes open that other programs may have made, and says so.
pub(super) fn leave_open(
    measures: &mut [Measure],
    baseline: &[Run],
    candidate: &[Run],
) -> Option<Obstacle> {
    let (baseline, candidate) = (Had::of(baseline)?, Had::of(candidate)?);
    let is_candidate = candidate.waited_ns > baseline.waited_ns;
    let (name, held, other, seeming) = if is_candidate {
        ("candidate", &candidate, &baseline, Verdict::Worse)
    } else {
        ("baseline", &baseline, &candidate, Verdict::Better)
    };
    if held.others - other.others < OTHERS {
        return None;
    }
    let reach_ns = REACH * (held.waited_ns - other.waited_ns);
    let mut is_any = false;
    for measure in measures.iter_mut().filter(|m| m.verdict == seeming) {
        if is_within(measure, reach_ns, other.wall_ns) {
            is_any = true;
            measure.verdict = Verdict::CannotTell;
            measure.confidence = Confidence::Low;
            measure.reason.push_str(", but other programs held the processors");
        }
    }
    is_any.then(|| Obstacle {
        verdict: Verdict::CannotTell,
        text: format!(
            "other programs held the processors beside the {name}: its threads had none in {} of the time in which they wanted one, \
             those of the other side in {}",
            rounded_percent(held.waited_ratio),
            rounded_percent(other.waited_ratio)
        ),
    })
}

/// The change is no more than waiting can have made.
fn is_within(measure: &Measure, reach_ns: f64, wall_ns: f64) -> bool {
    let is_of_time = matches!(measure.kind.area(), Area::Time | Area::Generation);
    let is_rate = measure.unit == FigureUnit::PerSecond;
    if !is_of_time || !(is_rate || measure.unit == FigureUnit::Ns) {
        return false;
    }
    if let Some(impact_ns) = measure.impact_ns {
        return impact_ns.abs() <= reach_ns;
    }
    let ratio = measure.change.and_then(|change| change.ratio);
    ratio.is_some_and(|ratio| ratio.max(1.0 / ratio) <= 1.0 + reach_ns / wall_ns.max(1.0))
}

impl Had {
    /// `None` unless all of it is known of a run.
    fn of(runs: &[Run]) -> Option<Self> {
        let all: Vec<Self> = runs.iter().filter_map(Self::of_run).collect();
        let middle = |figure: fn(&Self) -> f64| {
            let mut sorted: Vec<f64> = all.iter().map(figure).collect();
            sorted.sort_unstable_by(f64::total_cmp);
            sorted.get(sorted.len() / 2).copied()
        };
        Some(Self {
            waited_ns: middle(|had| had.waited_ns)?,
            waited_ratio: middle(|had| had.waited_ratio)?,
            others: middle(|had| had.others)?,
            wall_ns: middle(|had| had.wall_ns)?,
        })
    }

    fn of_run(run: &Run) -> Option<Self> {
        let cpu = brief_telemetry(run).cpu?;
        let busy = cpu.busy_ratio?.mean * float(cpu.n_cores?);
        let children = cpu.children_cores.map_or(0.0, |cores| cores.mean);
        Some(Self {
            waited_ns: cpu.waited?.total * 1e9,
            waited_ratio: cpu.waited_ratio()?,
            others: busy - cpu.process?.cores?.mean - children,
            wall_ns: float(run.wall_ns),
        })
    }
}

#[cfg(test)]
mod tests {
    use marey::{Run, SeriesInfo, Unit};
    use marey_testing::RunBuilder;

    use super::super::tests::{one, path, verdict};
    use crate::compare::{MeasureKind, Subject, Verdict};

    const SECOND: u64 = 1_000_000_000;

    /// `denoise` for so long, all of it at work or waiting, on two processors of which all programs used so much.
    fn run(seconds: u64, waited_s: f64, busy_s: f64) -> Run {
        let wall_ns = seconds * SECOND;
        let mut builder = RunBuilder::new().section("denoise", 0, wall_ns, |_| {});
        let used_s = f64::from(u32::try_from(seconds).unwrap()) - waited_s;
        for (name, total) in [
            ("process.cpu.wait", waited_s),
            ("process.cpu.user", used_s),
            ("process.cpu.system", 0.0),
            ("host.cpu.busy", busy_s),
        ] {
            let info = SeriesInfo::cumulative(name, "", Unit::Seconds);
            builder = builder.series(info, &[(0, 0.0), (wall_ns, total)]);
        }
        let cpus = |run: &mut Run| run.info.facts.push(("host.cpus".into(), "2".into()));
        builder.with(cpus).finish(wall_ns)
    }

    #[test]
    fn a_run_beside_other_programs_is_not_slower() {
        // 10 s of work; beside others 22 s, of which its threads waited 10.
        let (quiet, beside) = (run(10, 0.0, 10.0), run(22, 10.0, 44.0));
        for (baseline, candidate, held) in
            [(&quiet, &beside, "candidate"), (&beside, &quiet, "baseline")]
        {
            let found = one(baseline, candidate);
            assert_eq!(found.verdict, Verdict::CannotTell);
            let denoise = path(&["denoise"]);
            let total = verdict(&found, MeasureKind::SectionTotal, &denoise);
            let wall = verdict(&found, MeasureKind::WallTime, &Subject::Run);
            assert_eq!((total, wall), (Verdict::CannotTell, Verdict::CannotTell));
            let text = &found.obstacles[0].text;
            assert!(text.contains(&format!("beside the {held}")), "{text}");
        }
    }

    #[test]
    fn more_than_waiting_can_explain_is_slower() {
        // Beside others 30 s, of which its threads waited 10.
        let found = one(&run(10, 0.0, 10.0), &run(30, 10.0, 60.0));
        assert_eq!(found.verdict, Verdict::Worse);
        assert_eq!(found.obstacles, []);
    }

    #[test]
    fn a_program_whose_own_threads_are_too_many_is_slower() {
        // 22 s in which only its own threads were at work, and waited for each other.
        let mut own = run(22, 10.0, 44.0);
        let user = own.series.iter_mut();
        let user = user.filter(|series| series.info.name == "process.cpu.user");
        user.flat_map(|series| &mut series.points).for_each(|point| {
            for value in [&mut point.min, &mut point.max, &mut point.sum, &mut point.last] {
                *value *= 44.0 / 12.0;
            }
        });
        assert_eq!(one(&run(10, 0.0, 10.0), &own).verdict, Verdict::Worse);
    }
}
