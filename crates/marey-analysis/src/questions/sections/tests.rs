use super::*;
use marey_testing::RunBuilder;

fn row<'a>(sections: &'a Sections, name: &str) -> &'a SectionRow {
    let mut rows = sections.tree.iter().filter(|row| row.name == name);
    let found = rows.next().expect(name);
    assert!(rows.next().is_none(), "{name} is there once");
    found
}

fn named<'a>(sections: &'a Sections, name: &str) -> &'a NameRow {
    sections.by_name.iter().find(|row| row.name == name).expect(name)
}

#[track_caller]
fn assert_ratio(found: Option<f64>, expected: f64) {
    let found = found.expect("a known ratio");
    assert!((found - expected).abs() < 1e-12, "{found} is not {expected}");
}

#[test]
fn nested_section_time_is_not_counted_twice() {
    // time    0         10        20        30        40
    //         |---- denoise ------|         |- decode -|
    //           |attn|   |attn |
    let run = RunBuilder::new()
        .section("denoise", 0, 20, |s| {
            s.section("attn", 2, 7, |_| {});
            s.section("attn", 10, 16, |_| {});
        })
        .section("decode", 30, 40, |_| {})
        .finish(40);
    let found = sections(&run);
    let denoise = row(&found, "denoise");
    assert_eq!((denoise.inclusive_ns, denoise.self_ns), (20, Some(9)));
    assert_ratio(denoise.share_of_wall_ratio, 0.5);
    let attn = row(&found, "attn");
    assert_eq!((attn.inclusive_ns, attn.self_ns), (11, Some(11)));
    assert_eq!(attn.calls.count, 2);
    assert_eq!(attn.calls.mean_ns, Some(5.5));
    assert_eq!(attn.calls.first_ns, Some(5));
    assert_eq!(attn.calls.rest_mean_ns, Some(6.0));
    assert_eq!((attn.depth, attn.parent), (1, Some(denoise.node)));
    assert_eq!(found.under_no_section, UnderNoSection::Known(10));
    let order: Vec<&str> = found.tree.iter().map(|r| r.name.as_str()).collect();
    assert_eq!(order, ["denoise", "attn", "decode"]);
}

#[test]
fn sections_of_two_threads_share_the_wall_time() {
    // time    0         10        20        30
    // main    |-- load ---|       |--decode-|
    // worker       |--- load ---|
    let run = RunBuilder::new()
        .section("load", 0, 12, |_| {})
        .section("decode", 20, 30, |_| {})
        .thread("worker")
        .section("load", 5, 18, |_| {})
        .finish(30);
    let found = sections(&run);
    let load = row(&found, "load");
    assert_eq!(load.inclusive_ns, 25);
    assert_ratio(load.share_of_wall_ratio, 18.0 / 30.0);
    assert_eq!(found.under_no_section, UnderNoSection::Known(2));
}

#[test]
fn a_section_that_was_never_left_counts_until_the_end() {
    // time    0         10        20        30
    //         |------ generate ---------------…
    //            |step|  |-- step -------------…
    let run = RunBuilder::new()
        .open("generate", 5, |s| {
            s.section("step", 8, 12, |_| {});
            s.open("step", 15, |_| {});
        })
        .finish(30);
    let found = sections(&run);
    let generate = row(&found, "generate");
    assert_eq!(generate.calls.count, 0);
    assert_eq!(generate.calls.mean_ns, None);
    assert_eq!((generate.inclusive_ns, generate.self_ns), (25, Some(6)));
    let open = OpenCalls { count: 1, so_far_ns: 25 };
    assert_eq!(generate.open, Some(open));
    let step = row(&found, "step");
    assert_eq!((step.calls.count, step.calls.total_ns), (1, 4));
    assert_eq!(step.inclusive_ns, 19);
    assert_ratio(step.share_of_wall_ratio, 19.0 / 30.0);
    assert_eq!(found.under_no_section, UnderNoSection::Known(5));
    assert_eq!(found.by_name.len(), 1, "only what completed");
}

#[test]
fn a_task_that_ran_beside_its_parent_does_not_reduce_its_self_time() {
    // time    0         10        20        30
    //         |---- serve --------|
    //             |~~~~ fetch (task) ~~~~|
    let run = RunBuilder::new()
        .section("serve", 0, 20, |s| {
            s.section("fetch", 5, 26, |_| {});
        })
        .with(|run| run.nodes[2].is_detached = true)
        .finish(30);
    let found = sections(&run);
    assert_eq!(row(&found, "serve").self_ns, Some(20));
    assert_eq!(row(&found, "fetch").self_ns, Some(21));
    assert_eq!(found.under_no_section, UnderNoSection::Known(4));
}

#[test]
fn self_time_is_not_known_where_children_overlap() {
    // time    0         10
    // main    |-- a -----|
    //          |-- b --|          b of another thread under the same call path
    // worker    |-- b --|
    let mut run = RunBuilder::new()
        .section("a", 0, 10, |s| {
            s.section("b", 1, 9, |_| {});
        })
        .finish(10);
    let beside = marey::Section { thread: 1, start_ns: 2, end_ns: 10, ..run.sections[0] };
    run.sections.push(beside);
    run.totals[2].count = 2;
    run.totals[2].sum_ns = 16;
    let found = sections(&run);
    assert_eq!(row(&found, "a").self_ns, None);
    assert_eq!(named(&found, "a").self_ns, None);
    assert_eq!(named(&found, "b").self_ns, Some(16));
}

#[test]
fn one_name_in_several_places_is_one_row_by_name() {
    // time    0         10        20        30
    //         |---- block ------|  |-attn-|
    //           |attn |
    //            |attn|                        attn within attn
    let run = RunBuilder::new()
        .section("block", 0, 18, |s| {
            s.section("attn", 2, 8, |s| {
                s.section("attn", 3, 8, |_| {});
            });
        })
        .section("attn", 21, 28, |_| {})
        .finish(30);
    let found = sections(&run);
    assert_eq!(found.tree.len(), 4);
    let attn = named(&found, "attn");
    assert_eq!(attn.calls.count, 3);
    assert_eq!(attn.calls.total_ns, 6 + 5 + 7, "every call counts");
    assert_eq!(attn.outermost_ns, Some(6 + 7), "without the call within a call of its own name");
    assert_eq!(named(&found, "block").outermost_ns, None);
    assert_eq!(attn.self_ns, Some(6 + 7), "time within counts once");
    assert_ratio(attn.share_of_wall_ratio, 13.0 / 30.0);
    assert_eq!(attn.calls.first_ns, Some(6));
    assert_eq!(attn.calls.last_ns, Some(7));
    assert_eq!(found.by_name[0].name, "attn", "equal totals are sorted by name");
}

#[test]
fn iterations_are_in_the_tree_but_not_among_the_names() {
    let run = RunBuilder::new()
        .section("denoise", 0, 20, |s| {
            s.iteration("step", 2, 7, |_| {});
        })
        .finish(20);
    let found = sections(&run);
    assert_eq!(row(&found, "step").kind, Kind::Iteration);
    assert_eq!(found.by_name.len(), 1);
}

#[test]
fn without_records_one_thread_still_has_exact_shares() {
    // time    0         10        20        30
    //         |---- denoise ----|    |decode|
    //          |attn|  |attn|               none of the attn recorded one by one
    let mut run = RunBuilder::new()
        .section("denoise", 0, 18, |s| {
            s.section("attn", 1, 6, |_| {});
            s.section("attn", 9, 14, |_| {});
        })
        .section("decode", 22, 29, |_| {})
        .finish(30);
    run.sections.clear();
    run.losses.sections_ring_full = 4;
    let found = sections(&run);
    assert_ratio(row(&found, "attn").share_of_wall_ratio, 10.0 / 30.0);
    assert_ratio(named(&found, "attn").share_of_wall_ratio, 10.0 / 30.0);
    assert_eq!(found.under_no_section, UnderNoSection::Known(5));
    let percentiles = row(&found, "attn").calls.percentiles.unwrap();
    assert!(!percentiles.is_exact);
    assert_eq!(percentiles.p99_ns, 5);
}

#[test]
fn without_records_calls_of_several_threads_have_no_share() {
    // time    0         10        20
    // main    |-- load ---|
    // worker       |--- load ---|
    let mut run = RunBuilder::new()
        .section("load", 0, 12, |_| {})
        .thread("worker")
        .section("load", 5, 18, |_| {})
        .finish(20);
    run.sections.truncate(1);
    run.losses.sections_ring_full = 1;
    let found = sections(&run);
    assert_eq!(row(&found, "load").share_of_wall_ratio, None);
    let missing = NotAvailable::NotRecordedOneByOne(1);
    assert_eq!(found.under_no_section, UnderNoSection::Unknown(missing));
}

#[test]
fn without_records_detached_calls_have_no_share() {
    let mut run = RunBuilder::new()
        .section("serve", 0, 10, |s| {
            s.section("task", 2, 8, |s| {
                s.section("inner", 3, 7, |_| {});
            });
        })
        .with(|run| run.nodes[2].is_detached = true)
        .finish(20);
    run.sections.clear();
    let found = sections(&run);
    assert_eq!(row(&found, "task").share_of_wall_ratio, None);
    assert_eq!(row(&found, "inner").share_of_wall_ratio, None);
    assert_ratio(row(&found, "serve").share_of_wall_ratio, 0.5);
}

#[test]
fn records_missing_deep_down_do_not_hide_the_time_under_no_section() {
    // Two threads; only calls within others were dropped.
    // time    0         10        20        30
    // main    |-- a -----|
    //          |b|
    // worker        |-- c -----|
    let mut run = RunBuilder::new()
        .section("a", 0, 11, |s| {
            s.section("b", 1, 3, |_| {});
        })
        .thread("worker")
        .section("c", 6, 17, |_| {})
        .finish(30);
    run.sections.retain(|section| section.node != 2);
    assert_eq!(sections(&run).under_no_section, UnderNoSection::Known(13));
}

#[test]
fn sections_that_were_never_recorded_leave_a_gap_that_is_said() {
    let mut run = RunBuilder::new().section("a", 0, 5, |_| {}).finish(10);
    run.losses.sections_unrecorded = 3;
    let unknown = UnderNoSection::Unknown(NotAvailable::NotRecorded(3));
    assert_eq!(sections(&run).under_no_section, unknown);
}

#[test]
fn no_figure_is_made_up_without_a_histogram() {
    let mut run = RunBuilder::new().section("a", 0, 5, |_| {}).finish(10);
    run.sections.clear();
    run.totals[1].histogram = None;
    let found = sections(&run);
    let a = row(&found, "a");
    assert_eq!(a.calls.percentiles, None);
    assert_eq!(a.calls.median_ns, None);
    assert_eq!(a.calls.max_ns, Some(5));
}

#[test]
fn an_empty_run_is_all_under_no_section() {
    let found = sections(&RunBuilder::new().finish(10));
    assert!(found.tree.is_empty() && found.by_name.is_empty());
    assert_eq!(found.under_no_section, UnderNoSection::Known(10));
    let nothing = sections(&RunBuilder::new().finish(0));
    assert_eq!(nothing.under_no_section, UnderNoSection::Known(0));
}

#[test]
fn a_run_of_no_length_has_no_shares() {
    let run = RunBuilder::new().section("a", 0, 0, |_| {}).finish(0);
    assert_eq!(row(&sections(&run), "a").share_of_wall_ratio, None);
}
