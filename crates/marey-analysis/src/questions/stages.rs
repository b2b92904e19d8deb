//! Which stages took the time?
//!
//! ```text
//! time       0         10        20
//! run        |--------------------|     share 100 %, own 2
//! denoise      |----------------|       share  90 %, own 2
//! step           |------||------|       share  80 %, own 16: the bottleneck
//! ```

use std::collections::BTreeMap;

use super::sections::{Kind, SectionRow, Sections, UnderNoSection};
use crate::calls::CallStats;
use crate::stats::float;

/// A stage with a larger own share of the wall time is a bottleneck.
const BOTTLENECK: f64 = 0.3;

/// Sections by name, as stages of the run.
#[derive(Clone, Debug, PartialEq)]
pub struct Stages {
    /// Wall time, which shares are of.
    pub wall_ns: u64,
    /// Wall time under any section; `None` when it is not known.
    pub covered_ns: Option<u64>,
    /// Each stage, longest total first.
    pub each: Vec<Stage>,
    /// Indices into `each` of those that took most of the time themselves, largest own share first.
    pub bottlenecks: Vec<usize>,
}

/// All sections of one name.
#[derive(Clone, Debug, PartialEq)]
pub struct Stage {
    /// As the user gave it; not safe to print.
    pub name: String,
    /// Completed calls; none where all that began had not ended when the run did.
    pub calls: CallStats,
    /// Share of the wall time during which at least one was open, 0 to 1; absent as in
    /// [`SectionRow`](crate::SectionRow).
    pub share_ratio: Option<f64>,
    /// Time that is under no other section. Iterations are no stages: their time is that of the stage around them.
    pub under_no_other_stage_ns: Option<u64>,
    /// `under_no_other_stage_ns` as a share of the wall time, at most `share_ratio`; `None` when either is not known.
    pub under_no_other_stage_ratio: Option<f64>,
}

/// The stages of a run or of a session: those of which a call has ended, then those of which some had begun when the run ended, which is
/// where a program was that was killed.
pub fn stages(sections: &Sections) -> Stages {
    let own = under_no_other_stage_ns(sections);
    let stage = |name: &str, calls: CallStats, share_ratio: Option<f64>, is_own_known: bool| {
        let own_ns = own.get(name).copied().flatten().filter(|_| is_own_known);
        let of_wall = |ns: u64| float(ns) / float(sections.wall_ns);
        let own_ratio = own_ns.zip(share_ratio).map(|(ns, share)| of_wall(ns).min(share));
        Stage {
            name: name.to_owned(),
            calls,
            share_ratio,
            under_no_other_stage_ns: own_ns,
            under_no_other_stage_ratio: own_ratio,
        }
    };
    let ended = sections.by_name.iter().map(|row| {
        stage(&row.name, row.calls.clone(), row.share_of_wall_ratio, row.self_ns.is_some())
    });
    let mut each: Vec<Stage> = ended.collect();
    let open = sections.tree.iter().filter(|row| row.open.is_some() && row.kind == Kind::Section);
    for row in open {
        match each.iter_mut().find(|stage| stage.name == row.name) {
            Some(known) if known.calls.count > 0 => {}
            // Of several call paths what they cover together is not known.
            Some(open) => (open.share_ratio, open.under_no_other_stage_ratio) = (None, None),
            None => {
                let share_ratio = row.share_of_wall_ratio;
                each.push(stage(&row.name, CallStats::default(), share_ratio, true));
            }
        }
    }
    let own_ratio = |at: &usize| each[*at].under_no_other_stage_ratio.unwrap_or(0.0);
    let mut bottlenecks: Vec<usize> =
        (0..each.len()).filter(|at| own_ratio(at) > BOTTLENECK).collect();
    bottlenecks.sort_by(|a, b| own_ratio(b).total_cmp(&own_ratio(a)));
    Stages {
        wall_ns: sections.wall_ns,
        covered_ns: match sections.under_no_section {
            UnderNoSection::Known(ns) => Some(sections.wall_ns.saturating_sub(ns)),
            UnderNoSection::Unknown(_) => None,
        },
        each,
        bottlenecks,
    }
}

/// Time of each name that is under no other section; `None` where what is under one took longer than it.
fn under_no_other_stage_ns(sections: &Sections) -> BTreeMap<&str, Option<u64>> {
    let rows: BTreeMap<u32, &SectionRow> = sections.tree.iter().map(|r| (r.node, r)).collect();
    let mut below: BTreeMap<u32, u64> = BTreeMap::new();
    for row in sections.tree.iter().filter(|r| r.kind == Kind::Section) {
        if let Some(stage) = stage_around(row, &rows) {
            let sum = below.entry(stage).or_default();
            *sum = sum.saturating_add(row.inclusive_ns);
        }
    }
    let mut own: BTreeMap<&str, Option<u64>> = BTreeMap::new();
    for row in sections.tree.iter().filter(|r| r.kind == Kind::Section) {
        let below_ns = below.get(&row.node).copied().unwrap_or(0);
        // Of a session, what is around may be none of it.
        let is_used = row.calls.count > 0 || row.inclusive_ns > 0;
        let of_row = row.inclusive_ns.checked_sub(if is_used { below_ns } else { 0 });
        let sum = own.entry(&row.name).or_insert(Some(0));
        *sum = sum.zip(of_row).map(|(sum, ns)| sum.saturating_add(ns));
    }
    own
}

/// The section that the row's time is part of; iterations in between are passed over.
fn stage_around(row: &SectionRow, rows: &BTreeMap<u32, &SectionRow>) -> Option<u32> {
    let mut inner = row;
    loop {
        if inner.is_detached {
            return None;
        }
        inner = rows.get(&inner.parent?)?;
        if inner.kind == Kind::Section {
            return Some(inner.node);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sections;
    use marey_testing::RunBuilder;

    fn shares(found: &Stages) -> Vec<(&str, Option<f64>)> {
        let each = found.each.iter();
        each.map(|s| (s.name.as_str(), s.share_ratio)).collect()
    }

    #[test]
    fn a_stage_that_had_not_ended_is_one_and_may_be_the_bottleneck() {
        // ms         0    4              100, killed
        // step       |----|
        // vae_decode      |---------------…
        let run = RunBuilder::new()
            .section("step", 0, 4, |_| {})
            .open("vae_decode", 4, |_| {})
            .finish(100);
        let found = stages(&sections(&run));
        assert_eq!(shares(&found), [("step", Some(0.04)), ("vae_decode", Some(0.96))]);
        assert_eq!(
            (found.each[1].calls.count, found.each[1].under_no_other_stage_ns),
            (0, Some(96))
        );
        assert_eq!(found.bottlenecks, [1]);
        assert_eq!(found.covered_ns, Some(100));
    }

    #[test]
    fn nested_stages_have_shares_of_the_wall_time_and_one_bottleneck() {
        // ms         0         10        20
        // run        |--------------------|
        // denoise      |----------------|
        // step           |------||------|
        // The original said 33.3 % each, and three bottlenecks.
        let ms = 1_000_000;
        let run = RunBuilder::new()
            .section("run", 0, 200 * ms, |s| {
                s.section("denoise", 20 * ms, 200 * ms, |s| {
                    s.section("step", 40 * ms, 120 * ms, |_| {});
                    s.section("step", 120 * ms, 200 * ms, |_| {});
                });
            })
            .finish(200 * ms);
        let found = stages(&sections(&run));
        let expected = [("run", Some(1.0)), ("denoise", Some(0.9)), ("step", Some(0.8))];
        assert_eq!(shares(&found), expected);
        assert_eq!(found.bottlenecks, [2]);
        assert_eq!(found.each[2].under_no_other_stage_ratio, Some(0.8));
        assert_eq!((found.wall_ns, found.covered_ns), (200 * ms, Some(200 * ms)));
    }

    #[test]
    fn turns_of_a_loop_are_time_of_the_stage_around_them() {
        // |- denoise -------|
        //   |step||step|
        //    |vae|
        let run = RunBuilder::new()
            .section("denoise", 0, 90, |s| {
                s.iteration("step", 0, 40, |s| {
                    s.section("vae", 10, 20, |_| {});
                });
                s.iteration("step", 40, 80, |_| {});
            })
            .finish(100);
        let found = stages(&sections(&run));
        let own: Vec<_> = found.each.iter().map(|s| s.under_no_other_stage_ns).collect();
        assert_eq!(own, [Some(80), Some(10)]);
        assert_eq!(found.bottlenecks, [0]);
    }

    #[test]
    fn stages_of_several_threads_have_no_share_above_the_whole() {
        let mut builder = RunBuilder::new();
        for name in ["main", "two", "three"] {
            builder = builder.thread(name).section("work", 0, 100, |_| {});
        }
        let found = stages(&sections(&builder.finish(100)));
        let work = &found.each[0];
        assert_eq!((work.calls.total_ns, work.under_no_other_stage_ns), (300, Some(300)));
        assert_eq!((work.share_ratio, work.under_no_other_stage_ratio), (Some(1.0), Some(1.0)));
    }

    #[test]
    fn a_run_of_many_short_stages_has_no_bottleneck() {
        let run = RunBuilder::new()
            .section("a", 0, 30, |_| {})
            .section("b", 30, 60, |_| {})
            .section("c", 60, 90, |_| {})
            .finish(100);
        assert!(stages(&sections(&run)).bottlenecks.is_empty());
    }
}
