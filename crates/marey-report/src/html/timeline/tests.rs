//! The timeline of drawn runs, decoded again as a page does.

use marey::{GpuSpan, OpenSection, Section};
use marey_testing::RunBuilder;

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
        for _ in 0..row.n_slices {
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
    let rows = |group: &GroupObject| group.rows.iter().map(|r| (r.kind, r.n_slices)).collect();
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
            (
                "main",
                vec![
                    (RowKind::Events, 1),
                    (RowKind::Nested, 2),
                    (RowKind::Nested, 1)
                ]
            ),
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
fn what_a_gpu_did_lies_in_rows_of_its_stream_below_the_threads() {
    // main     |-loop-|                 node 1
    //          |step|                   node 2
    // GPU 0      |---loop---|           2 to 13
    //              |-step-|             4 to 11; the last span lies nowhere
    let span = |node, delay_ns, gpu_ns| GpuSpan {
        thread: 0,
        node,
        start_ns: 0,
        device: 0,
        stream: 0,
        delay_ns,
        gpu_ns,
        error_ns: None,
    };
    let run = RunBuilder::new()
        .section("loop", 0, 7, |s| {
            s.section("step", 0, 5, |_| {});
        })
        .with(|run| {
            run.gpu_spans = vec![span(1, Some(2), 11), span(2, Some(4), 7), span(2, None, 3)];
        })
        .finish(20);
    let (timeline, columns) = Timeline::new(&run, None, MAX_SLICES);
    assert_eq!(
        titles(&timeline)[1],
        ("GPU 0", vec![(RowKind::Nested, 1), (RowKind::Nested, 1)])
    );
    assert_eq!(
        decode(&timeline, &columns)[2..],
        [(2, 13, 3, 0), (4, 11, 4, 0)]
    );
    let paths = serde_json::to_value(&timeline.paths).unwrap();
    assert_eq!(paths["names"][4], "step (GPU)");
    assert_eq!(paths["parents"], serde_json::json!([0, 0, 1, 0, 1]));
    assert_eq!(paths["categories"], "00066");
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
        [
            (10, 50, 1, Slice::OPEN.into()),
            (12, 18, 2, Slice::FAILED.into())
        ]
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
    assert_eq!(
        titles(&timeline),
        [("main", vec![(RowKind::Nested, 1), (RowKind::Beside, 1)])]
    );
}

#[test]
fn times_that_are_many_are_rounded_to_the_nearest_and_errors_do_not_add_up() {
    let slice = |n: u64| (n * 1_000_003 + n * n % 977, 400_000 + n * 7_919 % 499_979);
    let run = RunBuilder::new().section("a", 0, 1, |_| {}).with(|run| {
        run.sections = (0..1_000_000)
            .map(|n| {
                let (start_ns, length) = slice(n);
                Section {
                    start_ns,
                    end_ns: start_ns + length,
                    ..run.sections[0]
                }
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
            run.open.push(OpenSection {
                thread,
                node,
                start_ns,
                until_ns: u64::MAX,
            });
            run.sections[0].thread = 50;
        })
        .counter("c", u64::MAX, f64::MAX)
        .finish(u64::MAX);
    let (timeline, columns) = Timeline::new(&run, None, MAX_SLICES);
    assert_eq!(timeline.n_slices, 4);
    assert_eq!(decode(&timeline, &columns).len(), 4);
}

#[test]
fn beyond_the_limit_slices_are_put_together_and_counted() {
    let run = (0..500).fold(RunBuilder::new(), |builder, n| {
        builder.section("a", n * 10, n * 10 + 4, |_| {})
    });
    let run = run.finish(10_000);
    let (timeline, _) = Timeline::new(&run, None, 100);
    assert!(timeline.n_slices + timeline.n_parts <= 100);
    let json = serde_json::to_value(&timeline).unwrap();
    assert_eq!(json["recorded"]["sections"], 500);
    assert!(json["summarised"]["n_slices"].as_u64().unwrap() > 400);
}

#[test]
fn work_of_a_trace_lies_below_the_ranges_that_launched_it() {
    // µs       0         10        20        30
    // host     |---a-----||---b----|
    //            ↓1           ↓2
    // stream 7       |-k-|        |-k-|
    let event = |category: &str, name: &str, pid: u32, at: u32, length: u32, args: &str| {
        format!(
            r#"{{"ph": "X", "cat": "{category}", "name": "{name}", "pid": {pid}, "tid": 7, "ts": {at}, "dur": {length}, "args": {{{args}}}}}"#
        )
    };
    let launch = |at, n| {
        let args = format!(r#""correlation": {n}"#);
        event("cuda_runtime", "cudaLaunchKernel", 1, at, 1, &args)
    };
    let kernel = |at, n| {
        let args = format!(r#""stream": 7, "correlation": {n}"#);
        event("kernel", "k", 0, at, 4, &args)
    };
    let events = [
        event("user_annotation", "a", 1, 0, 10, ""),
        launch(2, 1),
        event("user_annotation", "b", 1, 11, 9, ""),
        launch(14, 2),
        kernel(6, 1),
        kernel(19, 2),
    ];
    let json = format!(r#"{{"traceEvents": [{}]}}"#, events.join(","));
    let limits = marey_analysis::import::chrome::Limits::default();
    let trace = marey_analysis::import::chrome::read(json.as_bytes(), limits).unwrap();
    let run = marey_analysis::import::chrome::run_of(&trace);
    let (timeline, columns) = Timeline::new(&run, Some(&trace), MAX_SLICES);
    assert_eq!(
        titles(&timeline),
        [
            ("thread 7", vec![(RowKind::Nested, 2), (RowKind::Nested, 2)]),
            (
                "GPU 0, stream 7",
                vec![(RowKind::Nested, 2), (RowKind::Nested, 2)]
            ),
        ]
    );
    let names = serde_json::to_value(&timeline.paths).unwrap()["names"].clone();
    let on_device = &decode(&timeline, &columns)[4..];
    let on_device: Vec<(u64, u64, &str)> = on_device
        .iter()
        .map(|(start, end, path, _)| {
            let name = names[usize::try_from(*path).unwrap()].as_str().unwrap();
            (start / 1_000, end / 1_000, name)
        })
        .collect();
    assert_eq!(
        on_device,
        [
            (6, 10, "a (GPU)"),
            (19, 23, "b (GPU)"),
            (6, 10, "k"),
            (19, 23, "k")
        ]
    );
}
