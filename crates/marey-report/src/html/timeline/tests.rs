//! The timeline of drawn runs, decoded again as a page does.

use marey::{OpenSection, Section};
use marey_testing::RunBuilder;

use super::rows::RowKind;
use super::*;

/// Start, end, path and flags of each slice.
type Decoded = (u64, u64, u64, u64);

/// Reads the columns as `web/src/data/slices.ts` does, in nanoseconds.
fn decode(timeline: &Timeline, mut bytes: &[u8]) -> Vec<Decoded> {
    let n = timeline.n_slices;
    let mut columns = timeline.widths.iter().take(4).map(|width| {
        let (planes, rest) = bytes.split_at(n * width);
        bytes = rest;
        let number = |i| (0..*width).map(move |k| u64::from(planes[k * n + i]) << (8 * k));
        (0..n).map(|i| number(i).sum()).collect::<Vec<u64>>()
    });
    let mut next = || columns.next().unwrap();
    let [gaps, lengths, paths, flags] = [next(), next(), next(), next()];
    let mut found = Vec::new();
    let rows = timeline.groups.iter().flat_map(|group| &group.rows);
    for row in rows {
        let mut at = 0;
        for _ in 0..row.slices.len() {
            let i = found.len();
            let start = at + gaps[i];
            at = start + lengths[i];
            let unit = timeline.unit_ns;
            found.push((start * unit, at * unit, paths[i], flags[i]));
        }
    }
    found
}

fn titles(timeline: &Timeline) -> Vec<(&str, Vec<(RowKind, usize)>)> {
    let rows = |group: &Group| group.rows.iter().map(|r| (r.kind, r.slices.len())).collect();
    let groups = timeline.groups.iter();
    groups.map(|g| (g.title.as_str(), rows(g))).collect()
}

#[test]
fn every_slice_comes_back_to_the_nanosecond_in_its_row() {
    // session     |------------------->      open
    // main    |---load---|   |---denoise---|
    //           |-vae-|        ^ event
    // decoder                      |-decode-----|
    let run = RunBuilder::new()
        .session("one", 5, None, vec![])
        .section("load", 1, 11, |s| {
            s.section("vae", 3, 9, |_| {});
        })
        .section("denoise", 15, 29, |_| {})
        .event("here", 17, vec![])
        .thread("decoder")
        .section("decode", 21, 34, |_| {})
        .finish(40);
    let (timeline, columns) = Timeline::new(&run, None, MAX_SLICES);
    assert_eq!((timeline.unit_ns, timeline.end_ns), (1, 40));
    assert_eq!(
        titles(&timeline),
        [
            ("sessions", vec![(RowKind::Nested, 1)]),
            ("main", vec![(RowKind::Events, 1), (RowKind::Nested, 2), (RowKind::Nested, 1)]),
            ("decoder", vec![(RowKind::Nested, 1)]),
        ]
    );
    let open = u64::from(Slice::OPEN);
    // Nodes 1 to 4 are load, vae, denoise, decode; then the session's and the event's name.
    assert_eq!(
        decode(&timeline, &columns),
        [
            (5, 40, 5, open),
            (17, 17, 6, 0),
            (1, 11, 1, 0),
            (15, 29, 3, 0),
            (3, 9, 2, 0),
            (21, 34, 4, 0),
        ]
    );
}

#[test]
fn open_and_failed_sections_are_marked() {
    let run = RunBuilder::new()
        .open("denoise", 10, |s| {
            s.section("step", 12, 18, |_| {});
        })
        .with(|run| run.sections[0].is_failed = true)
        .finish(50);
    let (timeline, columns) = Timeline::new(&run, None, MAX_SLICES);
    assert_eq!(
        decode(&timeline, &columns),
        [(10, 50, 1, Slice::OPEN.into()), (12, 18, 2, Slice::FAILED.into())]
    );
}

#[test]
fn a_section_open_in_a_task_lies_beside_the_threads_own() {
    // own     |--main----------|
    // task      |--fetch------->
    let run = RunBuilder::new()
        .section("main", 0, 30, |_| {})
        .open("fetch", 5, |_| {})
        .with(|run| run.nodes[2].is_detached = true)
        .finish(40);
    let (timeline, _) = Timeline::new(&run, None, MAX_SLICES);
    assert_eq!(titles(&timeline), [("main", vec![(RowKind::Nested, 1), (RowKind::Beside, 1)])]);
}

#[test]
fn times_that_are_many_are_rounded_to_the_nearest_and_errors_do_not_add_up() {
    let slice = |n: u64| (n * 1_000_003 + n * n % 977, 400_000 + n * 7_919 % 499_979);
    let run = RunBuilder::new().section("a", 0, 1, |_| {}).with(|run| {
        run.sections = (0..1_000_000)
            .map(|n| {
                let (start_ns, length) = slice(n);
                Section { start_ns, end_ns: start_ns + length, ..run.sections[0] }
            })
            .collect();
    });
    let run = run.finish(1_000_003_000_000);
    let (timeline, columns) = Timeline::new(&run, None, MAX_SLICES);
    let unit = timeline.unit_ns;
    assert!(unit >= 10, "{unit}");
    let found = decode(&timeline, &columns);
    assert_eq!(found.len(), 1_000_000);
    for (n, (start, end, ..)) in (0..).zip(found) {
        let (start_ns, length) = slice(n);
        assert!(start.abs_diff(start_ns) <= unit / 2);
        assert!(end.abs_diff(start_ns + length) <= unit / 2);
    }
}

#[test]
fn a_run_of_extremes_or_of_nothing_has_a_timeline() {
    let empty = Timeline::new(&Run::default(), None, MAX_SLICES).0;
    assert_eq!((empty.n_slices, empty.end_ns), (0, 0));
    let run = RunBuilder::new()
        .section("a", 0, u64::MAX, |s| {
            s.section("b", u64::MAX, u64::MAX, |_| {});
        })
        .session("s", u64::MAX, None, vec![])
        .with(|run| {
            let thread = Some(99);
            let (node, start_ns) = (77, u64::MAX - 1);
            run.open.push(OpenSection { thread, node, start_ns, until_ns: u64::MAX });
            run.sections[0].thread = 50;
        })
        .counter("c", u64::MAX, f64::MAX)
        .finish(u64::MAX);
    let (timeline, columns) = Timeline::new(&run, None, MAX_SLICES);
    assert_eq!(timeline.n_slices, 4);
    assert_eq!(decode(&timeline, &columns).len(), 4);
}
