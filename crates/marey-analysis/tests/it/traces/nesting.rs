//! How rows of the host enclose each other, and that the order of a file decides nothing.

use marey_analysis::HostRows;
use marey_analysis::import::chrome::{Class, Trace};
use proptest::prelude::*;

use super::{complete, events, try_read};

/// The row with this name.
fn row(trace: &Trace, name: &str) -> u32 {
    let rows = 0..u32::try_from(trace.rows.len()).unwrap();
    let mut rows = rows.filter(|row| trace.name_of(*row) == name);
    rows.next().unwrap()
}

/// Each row's name, the name of the one it began in, and its own time in microseconds; in the order of its thread.
fn nested(trace: &Trace) -> Vec<(&str, Option<&str>, u64)> {
    let host = HostRows::new(trace);
    let of = |row: &u32| {
        let parent = host.parent(*row).map(|parent| trace.name_of(parent));
        (trace.name_of(*row), parent, host.self_ns(*row) / 1_000)
    };
    let tracks = 0..u32::try_from(trace.tracks.each.len()).unwrap();
    tracks.flat_map(|track| host.of_track(track).iter().map(of).collect::<Vec<_>>()).collect()
}

fn op(name: &str, start: u64, end: u64) -> String {
    complete("cpu_op", name, 9, start, end, "")
}

#[test]
fn a_row_belongs_to_the_innermost_that_is_open_when_it_begins() {
    // µs   0     2     4     6     8     10    12    14
    //      |-------------- a ---------------|
    //         |---- b ----|     |------- c --------|
    //            |-d-|                       |- e -|        e begins when a has ended: it is in c
    let trace = events(
        &[op("e", 10, 12), op("c", 8, 12), op("d", 3, 4), op("a", 0, 10), op("b", 2, 6)].join(","),
    );
    let expected = [
        ("a", None, 10 - 4 - 2),
        ("b", Some("a"), 3),
        ("d", Some("b"), 1),
        ("c", Some("a"), 2),
        ("e", Some("c"), 2),
    ];
    assert_eq!(nested(&trace), expected);
    let host = HostRows::new(&trace);
    assert_eq!(host.n_overlaps, 1);
    let around: Vec<&str> = host.around(row(&trace, "d")).map(|row| trace.name_of(row)).collect();
    assert_eq!(around, ["b", "a"]);
    let open_at = |us: u64| {
        let row = host.open_at(&trace, 0, us * 1_000);
        row.map(|row| trace.name_of(row))
    };
    let open: Vec<_> = [0, 3, 5, 7, 9, 10, 12].into_iter().map(open_at).collect();
    let names = [Some("a"), Some("d"), Some("b"), Some("a"), Some("c"), Some("e"), None];
    assert_eq!(open, names);
}

#[test]
fn what_sticks_out_of_the_row_it_began_in_is_no_time_of_the_rows_around_that() {
    // µs   0     2     4     6                      20    22
    //      |------------------ step ---------------------|
    //         |-- enter --|                                     Python's `__enter__` of record_function
    //               |----------- range ------------|
    //                           |- op -|                        8 - 11
    let trace = events(
        &[op("step", 0, 22), op("enter", 2, 6), op("range", 4, 20), op("op", 8, 11)].join(","),
    );
    let expected = [
        ("step", None, 2 + 2),
        ("enter", Some("step"), 2),
        ("range", Some("enter"), 16 - 3),
        ("op", Some("range"), 3),
    ];
    assert_eq!(nested(&trace), expected);
}

#[test]
fn of_rows_that_begin_together_the_longer_is_around_the_shorter() {
    // |---- a ----|     the empty ones are in what is open, and in nothing where a row ends
    // |-- b --|
    // |c          |d
    let trace = events(&[op("c", 0, 0), op("d", 9, 9), op("b", 0, 5), op("a", 0, 9)].join(","));
    let expected = [("a", None, 4), ("b", Some("a"), 5), ("c", Some("b"), 0), ("d", None, 0)];
    assert_eq!(nested(&trace), expected);
}

#[test]
fn of_rows_that_begin_and_end_together_what_they_are_decides() {
    // Times in whole microseconds make a call as long as what called it. Numbers grow as operators begin.
    let op =
        |name: &str, id: u32| complete("cpu_op", name, 9, 0, 5, &format!(r#""External id": {id}"#));
    let mut all = [
        complete("cuda_runtime", "cudaMalloc", 9, 0, 5, r#""correlation": 1"#),
        op("aten::empty", 12),
        op("aten::zeros", 11),
        complete("python_function", "zeros.py(3)", 9, 0, 5, ""),
        complete("user_annotation", "step", 9, 0, 5, ""),
    ];
    for _ in 0..5 {
        all.rotate_left(2);
        let expected = [
            ("step", None, 0),
            ("zeros.py(3)", Some("step"), 0),
            ("aten::zeros", Some("zeros.py(3)"), 0),
            ("aten::empty", Some("aten::zeros"), 0),
            ("cudaMalloc", Some("aten::empty"), 5),
        ];
        assert_eq!(nested(&events(&all.join(","))), expected);
    }
}

#[test]
fn threads_and_devices_are_apart() {
    let on = |category: &str, name: &str, tid: u32| {
        format!(
            r#"{{"ph": "X", "cat": "{category}", "name": "{name}", "pid": 9, "tid": {tid}, "ts": 1, "dur": 8}}"#
        )
    };
    let trace = events(
        &[on("cpu_op", "a", 1), on("cpu_op", "b", 2), on("kernel", "k", 1), on("overhead", "o", 2)]
            .join(","),
    );
    assert_eq!(nested(&trace), [("a", None, 8), ("b", None, 8)]);
    let host = HostRows::new(&trace);
    assert_eq!(host.parent(row(&trace, "k")), None);
    assert_eq!((host.parent(99), host.self_ns(99)), (None, 0));
    assert!(host.of_track(99).is_empty());
    assert_eq!(HostRows::new(&Trace::default()), HostRows::default());
}

#[test]
fn extremes_do_not_overflow() {
    let trace = events(
        r#"{"ph": "X", "cat": "cpu_op", "name": "a", "pid": 1, "tid": 1, "ts": -9000000000000000, "dur": 31536000000000},
           {"ph": "X", "cat": "cpu_op", "name": "b", "pid": 1, "tid": 1, "ts": 9000000000000000, "dur": 31536000000000}"#,
    );
    let host = HostRows::new(&trace);
    assert_eq!(host.n_overlaps, 0);
    assert!(host.self_ns(0) > 0);
}

/// What is drawn of a row: when it begins, how long it is, on which thread, and what it is.
type Drawn = (u64, u64, u32, usize);

fn drawn(rows: &[Drawn]) -> Vec<String> {
    const CATEGORIES: [&str; 4] = ["user_annotation", "python_function", "cpu_op", "cuda_runtime"];
    let write = |(n, (start, duration, tid, kind)): (usize, &Drawn)| {
        let category = CATEGORIES[kind % 4];
        format!(
            r#"{{"ph": "X", "cat": "{category}", "name": "n{}", "pid": 9, "tid": {tid}, "ts": {start}, "dur": {duration}, "args": {{"External id": {n}, "correlation": {n}}}}}"#,
            n % 5,
        )
    };
    let host = rows.iter().enumerate().map(write);
    // Every call launches a kernel that runs some time later.
    let launched = |(n, (start, duration, tid, kind)): (usize, &Drawn)| {
        let (at, name) = (start * 2 + 3, n % 3);
        (kind % 4 == 3).then(|| {
            format!(
                r#"{{"ph": "X", "cat": "kernel", "name": "k{name}", "pid": 0, "tid": {tid}, "ts": {at}, "dur": {duration}, "args": {{"stream": {tid}, "correlation": {n}}}}}"#,
            )
        })
    };
    let devices = rows.iter().enumerate().filter_map(launched);
    host.chain(devices).collect()
}

fn any_rows() -> impl Strategy<Value = Vec<Drawn>> {
    prop::collection::vec((0_u64..60, 0_u64..20, 1_u32..4, 0_usize..4), 0..40)
}

proptest! {
    #[test]
    fn what_rows_of_a_thread_took_themselves_comes_to_what_they_cover(rows in any_rows()) {
        let trace = events(&drawn(&rows).join(","));
        let host = HostRows::new(&trace);
        for tid in 1..4 {
            // Microsecond by microsecond.
            let is_covered = |us: &u64| rows.iter().any(|r| r.2 == tid && (r.0..r.0 + r.1).contains(us));
            let covered = (0..200).filter(is_covered).count() as u64;
            let own = (0_u32..).zip(&rows).filter(|(_, drawn)| drawn.2 == tid);
            let own: u64 = own.map(|(row, _)| host.self_ns(row)).sum();
            prop_assert_eq!(own, covered * 1_000);
        }
    }

    #[test]
    fn a_row_is_in_the_innermost_that_is_open(rows in any_rows()) {
        let trace = events(&drawn(&rows).join(","));
        let host = HostRows::new(&trace);
        for (row, drawn) in (0_u32..).zip(&rows) {
            prop_assert!(host.self_ns(row) <= drawn.1 * 1_000);
            let Some(parent) = host.parent(row) else { continue };
            let around = rows[parent as usize];
            prop_assert_eq!(around.2, drawn.2);
            prop_assert!((around.0..around.0 + around.1).contains(&drawn.0));
        }
    }

    #[test]
    fn the_order_of_the_file_changes_no_answer(
        (written, turned) in any_rows().prop_flat_map(|rows| {
            let written = drawn(&rows);
            (Just(written.clone()), Just(written).prop_shuffle())
        }),
    ) {
        let answers = |events: &[String]| {
            let trace = try_read(format!("[{}]", events.join(","))).unwrap();
            let host = HostRows::new(&trace);
            let name = |row| trace.name_of(row).to_owned();
            let mut nesting: Vec<_> = (0..u32::try_from(trace.rows.len()).unwrap())
                .filter(|row| !matches!(trace.class_of(*row), Class::Kernel | Class::Memcpy | Class::Memset))
                .map(|row| {
                    let parent = host.parent(row).map(name);
                    let number = trace.operator_number(row);
                    let own_ns = host.self_ns(row);
                    (trace.rows.start_of(row), name(row), number, parent, own_ns)
                })
                .collect();
            nesting.sort();
            (nesting, serde_json::to_string(&marey_analysis::trace_answers(&trace, None)).unwrap())
        };
        prop_assert_eq!(answers(&written), answers(&turned));
    }
}
