//! What holds for every run.

use marey::Run;
use marey_analysis::{Interval, UnderNoSection, sections, union_length_ns};
use marey_testing::{RunBuilder, Within};
use proptest::prelude::*;

/// A section relative to its parent: a pause, then what is within, then the rest.
#[derive(Clone, Debug)]
struct Drawn {
    name: u8,
    pause_ns: u64,
    rest_ns: u64,
    within: Vec<Drawn>,
}

impl Drawn {
    fn length_ns(&self) -> u64 {
        self.rest_ns + self.within.iter().map(|d| d.pause_ns + d.length_ns()).sum::<u64>()
    }
}

fn drawn() -> impl Strategy<Value = Drawn> {
    let leaf = (0..4u8, 0..20u64, 0..20u64).prop_map(|(name, pause_ns, rest_ns)| Drawn {
        name,
        pause_ns,
        rest_ns,
        within: vec![],
    });
    leaf.prop_recursive(4, 32, 4, |inner| {
        let within = prop::collection::vec(inner, 0..4);
        (0..4u8, 0..20u64, 0..20u64, within).prop_map(|(name, pause_ns, rest_ns, within)| Drawn {
            name,
            pause_ns,
            rest_ns,
            within,
        })
    })
}

fn threads() -> impl Strategy<Value = Vec<Vec<Drawn>>> {
    prop::collection::vec(prop::collection::vec(drawn(), 0..4), 1..4)
}

fn draw(into: &mut Within<'_>, given: &Drawn, start_ns: u64) {
    let end_ns = start_ns + given.length_ns();
    let name = format!("section {}", given.name);
    into.section(&name, start_ns, end_ns, |s| {
        let mut at = start_ns;
        for child in &given.within {
            at += child.pause_ns;
            draw(s, child, at);
            at += child.length_ns();
        }
    });
}

fn build(threads: &[Vec<Drawn>]) -> Run {
    let mut builder = RunBuilder::new();
    let mut wall_ns = 0;
    for (index, thread) in threads.iter().enumerate() {
        if index > 0 {
            builder = builder.thread("another");
        }
        let mut at = 0;
        for top in thread {
            at += top.pause_ns;
            let end = at + top.length_ns();
            let name = format!("section {}", top.name);
            builder = builder.section(&name, at, end, |s| {
                let mut within = at;
                for child in &top.within {
                    within += child.pause_ns;
                    draw(s, child, within);
                    within += child.length_ns();
                }
            });
            at = end;
        }
        wall_ns = wall_ns.max(at + 5);
    }
    builder.finish(wall_ns)
}

fn union_of_all_ns(run: &Run) -> u64 {
    let intervals =
        run.sections.iter().map(|s| Interval { start_ns: s.start_ns, end_ns: s.end_ns });
    union_length_ns(intervals.collect())
}

proptest! {
    #[test]
    fn shares_never_pass_the_whole(threads in threads(), keep in 0..40usize) {
        let mut run = build(&threads);
        run.sections.truncate(keep);
        let found = sections(&run);
        let shares = found.tree.iter().map(|row| row.share_of_wall_ratio);
        let by_name = found.by_name.iter().map(|row| row.share_of_wall_ratio);
        for share in shares.chain(by_name).flatten() {
            prop_assert!((0.0..=1.0).contains(&share), "{share}");
        }
    }

    #[test]
    fn the_union_is_at_most_the_sum_and_the_wall(threads in threads()) {
        let run = build(&threads);
        let found = sections(&run);
        let UnderNoSection::Known(outside) = found.under_no_section else {
            return Err(TestCaseError::fail("all records are there"));
        };
        let covered = run.wall_ns - outside;
        prop_assert_eq!(covered, union_of_all_ns(&run));
        let sum: u64 = run.sections.iter().map(marey::Section::duration_ns).sum();
        prop_assert!(covered <= sum);
        for row in &found.tree {
            prop_assert!(row.self_ns.is_some_and(|own| own <= row.inclusive_ns));
        }
    }

    #[test]
    fn self_times_of_one_thread_add_up_to_its_union(top in prop::collection::vec(drawn(), 0..4)) {
        let run = build(&[top]);
        let found = sections(&run);
        let self_ns: Option<u64> = found.tree.iter().map(|row| row.self_ns).sum();
        prop_assert_eq!(self_ns, Some(union_of_all_ns(&run)));
        let by_name: Option<u64> = found.by_name.iter().map(|row| row.self_ns).sum();
        prop_assert_eq!(by_name, self_ns);
    }

    #[test]
    fn lost_records_change_no_share_of_a_single_thread(
        top in prop::collection::vec(drawn(), 0..4),
        keep in 0..20usize,
    ) {
        let whole = build(&[top]);
        let mut cut = whole.clone();
        cut.sections.truncate(keep);
        let (whole, cut) = (sections(&whole), sections(&cut));
        prop_assert_eq!(whole.under_no_section, cut.under_no_section);
        for (a, b) in whole.tree.iter().zip(&cut.tree) {
            prop_assert_eq!(&a.name, &b.name);
            prop_assert_eq!(a.self_ns, b.self_ns);
            prop_assert_eq!(a.share_of_wall_ratio, b.share_of_wall_ratio);
        }
    }
}
