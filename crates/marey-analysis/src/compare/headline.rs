//! What matters first.
//!
//! A slow section makes everything around it slow. One line tells of it: the innermost call path that holds most of the
//! loss.
//!
//! ```text
//! generate      +383 s         named by vae_decode
//!   vae_decode  +382 s         the line: it holds at least four fifths of what it is within
//!     sdpa      +200 s         no line of its own
//!   save          +9 s         a line of its own
//! ```

use std::cmp::Reverse;

use super::call_path::Path;
use super::matching::SectionMatch;
use super::verdict::Verdict;
use super::{Area, Measure, MeasureKind, Subject};
use crate::findings::FigureUnit;

/// One thing that matters: a line of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Headline {
    /// [`Verdict::Worse`] or [`Verdict::Better`]; [`Verdict::New`] or [`Verdict::Gone`] for a section that takes much time.
    pub verdict: Verdict,
    /// What it is about, in a few words: "slower", "reads from disk starve", "more memory".
    pub what: &'static str,
    /// Index into [`super::Comparison::measures`] of the figure that says so.
    pub measure: usize,
}

/// A call path within another one tells of it when it holds so much of its change.
const MOST: f64 = 0.8;

/// Lines about devices, of each verdict.
const MOST_OF_DEVICES: usize = 8;

/// New and gone sections matter from this share of the wall time on.
const MATTERS: f64 = 0.05;

/// All lines, most important first: those of the verdict of the whole, the first of devices, of time, of memory and of disks before all
/// others; then those of the opposite one; then sections that are new or gone. Regressions come first where neither is the whole's.
pub(super) fn headline(
    measures: &[Measure],
    sections: &[SectionMatch],
    whole: Verdict,
) -> Vec<Headline> {
    let teller = Teller { measures, sections };
    let mut lines = Vec::new();
    let mut verdicts = [Verdict::Worse, Verdict::Better];
    verdicts.sort_by_key(|verdict| *verdict != whole);
    for verdict in verdicts {
        let mut of_areas = [
            teller.devices(verdict),
            teller.times(verdict),
            teller.memory(verdict),
            teller.disks(verdict),
            teller.others(verdict),
        ];
        // Only traces say what devices did, and there that is what all else is for.
        let firsts = of_areas.iter_mut().take(4).filter_map(|lines| {
            let has_any = !lines.is_empty();
            has_any.then(|| lines.remove(0))
        });
        lines.extend(firsts.collect::<Vec<_>>());
        lines.extend(of_areas.into_iter().flatten());
    }
    for verdict in [Verdict::New, Verdict::Gone] {
        lines.extend(teller.one_sided(verdict));
    }
    lines
}

struct Teller<'a> {
    measures: &'a [Measure],
    sections: &'a [SectionMatch],
}

/// A measure at a place in the tree of sections.
#[derive(Clone, Debug)]
struct Placed {
    measure: usize,
    path: Path,
    /// Always above 0.
    impact: f64,
}

impl Teller<'_> {
    fn times(&self, verdict: Verdict) -> Vec<Headline> {
        let placed = self.placed(verdict, |m| self.is_time_of_place(m));
        let mut lines: Vec<Headline> = leaders(placed)
            .iter()
            .map(|leader| self.line(leader.measure, what(verdict, "slower", "faster")))
            .collect();
        let is_told = !lines.is_empty();
        // First iterations, first blocks, and the run itself where nothing in it says more.
        let is_rest = |m: &Measure| {
            let is_once = !matches!(m.subject, Subject::Path(_) | Subject::Name(_));
            let is_turn = matches!(m.kind, MeasureKind::Iteration) && self.path_of(m).is_some();
            is_once && !is_turn && (m.kind != MeasureKind::WallTime || !is_told)
        };
        let mut rest = self.of(verdict, Area::Time, is_rest);
        rest.sort_by(|a, b| self.impact(*b).total_cmp(&self.impact(*a)));
        lines.extend(rest.into_iter().map(|at| self.line(at, what(verdict, "slower", "faster"))));
        lines
    }

    /// Totals of call paths, durations of calls where the total does not say it, iterations.
    fn is_time_of_place(&self, measure: &Measure) -> bool {
        match (measure.kind, &measure.subject) {
            (MeasureKind::SectionTotal | MeasureKind::Iteration, _) => true,
            (MeasureKind::SectionPerCall, subject) => {
                let total = self.find(MeasureKind::SectionTotal, subject);
                total.is_none_or(|at| self.measures[at].verdict != measure.verdict)
            }
            _ => false,
        }
    }

    fn memory(&self, verdict: Verdict) -> Vec<Headline> {
        let what = what(verdict, "more memory", "less memory");
        let is_of_run = |m: &Measure| m.kind != MeasureKind::SectionMemoryPeak;
        let mut of_run = self.of(verdict, Area::Memory, is_of_run);
        // Shares come after bytes.
        let key = |at: &usize| (self.measures[*at].unit == FigureUnit::Bytes, self.difference(*at));
        of_run.sort_by(|a, b| {
            let ((a_bytes, a), (b_bytes, b)) = (key(a), key(b));
            b_bytes.cmp(&a_bytes).then(b.total_cmp(&a))
        });
        if of_run.is_empty() {
            let placed = self.placed(verdict, |m| m.kind == MeasureKind::SectionMemoryPeak);
            return leaders(placed).iter().map(|l| self.line(l.measure, what)).collect();
        }
        of_run.into_iter().map(|at| self.line(at, what)).collect()
    }

    fn disks(&self, verdict: Verdict) -> Vec<Headline> {
        let mut starved = self.placed(verdict, |m| m.kind == MeasureKind::SectionReadRate);
        for rate in &mut starved {
            let total = self.find(MeasureKind::SectionTotal, &self.measures[rate.measure].subject);
            rate.impact = total.map_or(0.0, |at| self.impact(at));
        }
        let what_of_reads = what(verdict, "reads from disk starve", "reads from disk flow");
        let mut lines: Vec<Headline> =
            leaders(starved).iter().map(|l| self.line(l.measure, what_of_reads)).collect();
        let is_rest = |m: &Measure| m.kind != MeasureKind::SectionReadRate;
        let rest = self.of(verdict, Area::Io, is_rest);
        let what = what(verdict, "waits for disks", "waits less for disks");
        lines.extend(rest.into_iter().map(|at| self.line(at, what)));
        lines
    }

    /// What devices did: busy time and steps, then what explains them, the largest first; the number of lines is bounded.
    fn devices(&self, verdict: Verdict) -> Vec<Headline> {
        let is_told = |m: &Measure| {
            // A kernel's total tells of its calls.
            m.kind != MeasureKind::KernelPerCall
        };
        let mut found = self.of(verdict, Area::Device, is_told);
        let place = |at: &usize| match self.measures[*at].kind {
            MeasureKind::StepBusy => 0,
            MeasureKind::DeviceStep => 1,
            MeasureKind::DeviceBusy => 2,
            _ => 3,
        };
        found.sort_by(|a, b| {
            let order = place(a).cmp(&place(b));
            order.then(self.difference(*b).total_cmp(&self.difference(*a)))
        });
        found.truncate(MOST_OF_DEVICES);
        let what = what(verdict, "more time", "less time");
        found.into_iter().map(|at| self.line(at, what)).collect()
    }

    fn others(&self, verdict: Verdict) -> Vec<Headline> {
        let areas = [Area::Generation, Area::Machine, Area::Cache];
        let found = areas.iter().flat_map(|area| self.of(verdict, *area, |_| true));
        found.map(|at| self.line(at, self.measures[at].kind.meaning())).collect()
    }

    /// Sections of one side only, the outermost of those within each other, with much of the time.
    fn one_sided(&self, verdict: Verdict) -> Vec<Headline> {
        let size = |at: usize| {
            let measure = &self.measures[at];
            let observed = measure.baseline.into_iter().chain(measure.candidate);
            observed.map(|observed| observed.value).fold(0.0, f64::max)
        };
        let of_run = |kind| self.find(kind, &Subject::Run).map_or(0.0, size);
        let (wall, busy) = (of_run(MeasureKind::WallTime), of_run(MeasureKind::DeviceBusy));
        let is_attention = |m: &Measure| m.kind == MeasureKind::AttentionTime;
        let mut attention = self.of(verdict, Area::Device, is_attention);
        attention.retain(|at| size(*at) >= MATTERS * busy);
        let is_outermost = |m: &Measure| match &m.subject {
            Subject::Path(path) => {
                let around = Subject::Path(path[..path.len() - 1].to_vec());
                let around = self.find(MeasureKind::SectionTotal, &around);
                around.is_none_or(|at| self.measures[at].verdict != verdict)
            }
            _ => false,
        };
        let is_total = |m: &Measure| m.kind == MeasureKind::SectionTotal && is_outermost(m);
        let mut found = self.of(verdict, Area::Time, is_total);
        found.retain(|at| size(*at) >= MATTERS * wall);
        found.sort_by(|a, b| size(*b).total_cmp(&size(*a)));
        let what = if verdict == Verdict::New { "new" } else { "gone" };
        let found = attention.into_iter().chain(found);
        found.map(|at| self.line(at, what)).collect()
    }

    fn of(&self, verdict: Verdict, area: Area, is_wanted: impl Fn(&Measure) -> bool) -> Vec<usize> {
        let is_it = |m: &Measure| m.verdict == verdict && m.kind.area() == area && is_wanted(m);
        (0..self.measures.len()).filter(|at| is_it(&self.measures[*at])).collect()
    }

    fn placed(&self, verdict: Verdict, is_wanted: impl Fn(&Measure) -> bool) -> Vec<Placed> {
        let wanted = self.measures.iter().enumerate();
        wanted
            .filter(|(_, m)| m.verdict == verdict && is_wanted(m))
            .filter_map(|(measure, m)| {
                Some(Placed {
                    measure,
                    path: self.path_of(m).filter(|path| !path.is_empty())?,
                    impact: self.impact(measure).max(self.difference(measure)),
                })
            })
            .collect()
    }

    /// Where something is in the tree; a loop where it is first.
    fn path_of(&self, measure: &Measure) -> Option<Path> {
        match &measure.subject {
            Subject::Path(path) | Subject::MemoryDuring { path, .. } => Some(path.clone()),
            Subject::Loop(name) => {
                let is_it = |row: &&SectionMatch| row.is_loop && row.path.last() == Some(name);
                self.sections.iter().find(is_it).map(|row| row.path.clone())
            }
            _ => None,
        }
    }

    fn find(&self, kind: MeasureKind, subject: &Subject) -> Option<usize> {
        let key = (kind, subject);
        let found = self.measures.binary_search_by(|m| (m.kind, &m.subject).cmp(&key));
        found.ok()
    }

    fn impact(&self, at: usize) -> f64 {
        self.measures[at].impact_ns.map_or(0.0, f64::abs)
    }

    fn difference(&self, at: usize) -> f64 {
        self.measures[at].change.map_or(0.0, |change| change.difference.abs())
    }

    fn line(&self, measure: usize, what: &'static str) -> Headline {
        Headline { verdict: self.measures[measure].verdict, what, measure }
    }
}

fn what(verdict: Verdict, worse: &'static str, better: &'static str) -> &'static str {
    if verdict == Verdict::Worse { worse } else { better }
}

/// Of places within each other the one that tells of them: from the largest change inwards, as long as something within
/// holds most of it. What lies on the way, and what is within the one that tells, has no line of its own.
fn leaders(mut places: Vec<Placed>) -> Vec<Placed> {
    let is_within = |inner: &Placed, outer: &Placed| {
        inner.path.len() > outer.path.len() && inner.path.starts_with(&outer.path)
    };
    places.sort_by(|a, b| {
        let outer_first = a.path.len().cmp(&b.path.len());
        b.impact.total_cmp(&a.impact).then(outer_first).then(a.path.cmp(&b.path))
    });
    let mut leaders = Vec::new();
    while let Some(mut leader) = places.first().cloned() {
        loop {
            let holds_most =
                |p: &&Placed| is_within(p, &leader) && p.impact >= MOST * leader.impact;
            let inner = places.iter().filter(holds_most);
            // The outermost of them next, so that each step is checked.
            let Some(next) = inner.min_by_key(|p| (p.path.len(), Reverse(p.measure))).cloned()
            else {
                break;
            };
            leader = next;
        }
        places
            .retain(|p| p.path != leader.path && !is_within(p, &leader) && !is_within(&leader, p));
        leaders.push(leader);
    }
    leaders
}
