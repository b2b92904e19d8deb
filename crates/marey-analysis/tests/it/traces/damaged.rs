//! Traces that are cut, or broken in places.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;

use super::{complete, kernel, try_read};

/// Ten kernels, in the layout of Kineto.
fn ten_kernels() -> String {
    let kernels: Vec<String> =
        (0..10).map(|n| kernel(&format!("k{n}"), n * 10, n * 10 + 5)).collect();
    let events = kernels.join(",\n  ");
    format!(
        "{{\n  \"schemaVersion\": 1,\n  \"traceEvents\": [\n  {events}\n  ],\n  \"traceName\": \"a\"\n}}\n"
    )
}

fn compressed(text: &str) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn a_trace_that_is_cut_anywhere_has_what_came_before() {
    let text = ten_kernels();
    let mut n_before = 0;
    for length in 0..text.trim_end().len() {
        let cut = &text[..length];
        let n_complete = cut.matches("}}").count();
        match try_read(cut) {
            Ok(trace) => {
                assert_eq!(trace.rows.len(), n_complete, "{length}");
                assert!(trace.quality.is_truncated, "{length}");
                n_before = n_complete;
            }
            Err(_) => assert_eq!((n_before, n_complete), (0, 0), "{length}"),
        }
    }
    let trace = try_read(&text).unwrap();
    assert_eq!((trace.rows.len(), trace.quality.is_truncated), (10, false));
    assert_eq!(trace.quality.n_bytes, text.len() as u64);
}

#[test]
fn a_compressed_trace_may_have_many_members() {
    let text = ten_kernels();
    let (first, second) = text.split_at(700);
    let members = [compressed(first), compressed(""), compressed(second)].concat();
    let trace = try_read(members).unwrap();
    assert_eq!((trace.rows.len(), trace.quality.damage.clone()), (10, None));
}

#[test]
fn a_compressed_trace_that_is_cut_or_damaged_has_what_came_before() {
    let whole = compressed(&ten_kernels());
    let mut n_before = 0;
    for length in 2..whole.len() {
        if let Ok(trace) = try_read(&whole[..length]) {
            assert!(trace.quality.damage.is_some(), "{length}");
            assert!(trace.rows.len() >= n_before, "{length}");
            n_before = trace.rows.len();
        }
    }
    // All but the checksum at the end.
    assert_eq!(n_before, 10);
    let mut followed = whole;
    followed.extend(b"something else");
    let trace = try_read(followed).unwrap();
    assert_eq!(trace.rows.len(), 10);
    assert!(trace.quality.damage.is_some());
}

/// Events of which one is broken.
const BROKEN: [&str; 10] = [
    // A quote that is not escaped: in a name, in an argument, an odd and an even number of them.
    r#"{"ph": "X", "name": "say "hi"", "pid": 0, "tid": 7, "ts": 1, "dur": 1, "args": {"a": [1, 2]}}"#,
    r#"{"ph": "X", "name": "say "hi", "pid": 0, "tid": 7, "ts": 1, "dur": 1, "args": {"a": [1, 2]}}"#,
    r#"{"ph": "X", "name": "a", "pid": 0, "tid": 7, "ts": 1, "dur": 1, "args": {"a": "say "hi", "b": {}}}"#,
    // A value is missing, a comma, a colon.
    r#"{"ph": "X", "name": "a", "pid": 0, "tid": 7, "ts": , "dur": 1}"#,
    r#"{"ph": "X" "name": "a", "pid": 0, "tid": 7, "ts": 1, "dur": 1}"#,
    r#"{"ph": "X", "name" "a", "pid": 0, "tid": 7, "ts": 1, "dur": 1}"#,
    // No times.
    r#"{"ph": "X", "name": "a", "pid": 0, "tid": 7, "ts": "soon", "dur": 1}"#,
    r#"{"ph": "X", "name": "a", "pid": 0, "tid": 7, "ts": 1e99, "dur": 1}"#,
    // Written over by something else in the middle.
    r#"{"ph": "X", "name": "a", "pi{"ph"#,
    r"N/A",
];

#[test]
fn an_event_that_is_broken_costs_no_other() {
    for broken in BROKEN {
        for place in 0..=10 {
            let mut events: Vec<String> =
                (0..10).map(|n| kernel(&format!("k{n}"), n * 10, n * 10 + 5)).collect();
            events.insert(place, broken.to_owned());
            let text =
                format!(r#"{{"traceEvents": [{}], "baseTimeNanoseconds": 17}}"#, events.join(", "));
            let trace = try_read(&text).unwrap();
            let about = format!("{broken} at {place}: {:?}", trace.quality.broken);
            assert_eq!(trace.rows.len(), 10, "{about}");
            assert_eq!(trace.quality.n_broken, 1, "{about}");
            assert!(!trace.quality.is_truncated, "{about}");
            assert_eq!(trace.metadata[0].base_unix_ns, Some(17), "{about}");
            let example = &trace.quality.broken[0];
            let lost = &text[usize::try_from(example.at_byte).unwrap()..];
            assert!(lost.starts_with(broken), "{about}");
            assert!(trace.quality.n_bytes_broken >= broken.len() as u64, "{about}");
        }
    }
}

#[test]
fn what_is_no_json_but_hides_nothing_is_read() {
    let text = format!(
        "[{},, {} {}",
        // Control characters and bytes that are no text in a name, bare words in arguments.
        "{\"ph\": \"X\", \"name\": \"a\n\u{1}\", \"pid\": 0, \"tid\": 7, \"ts\": 1, \"dur\": 1}",
        complete(
            "kernel",
            "b",
            0,
            5,
            6,
            r#""est. achieved occupancy %": N/A, "x": -nan, "correlation": 9"#
        ),
        "{\"ph\": \"X\", \"name\": \"c\", \"pid\": 0, \"tid\": 7, \"ts\": 1, \"dur\": 1}]",
    );
    let mut bytes = text.into_bytes();
    let last = bytes.iter().rposition(|byte| *byte == b'c').unwrap();
    bytes[last] = 0xFF;
    let trace = try_read(bytes).unwrap();
    assert_eq!((trace.rows.len(), trace.quality.n_broken), (3, 0));
    assert_eq!(trace.name_of(0), "a\n\u{1}");
    assert_eq!(trace.name_of(2), "\u{FFFD}");
    assert_eq!(trace.quality.n_damaged_names, 1);
    assert_eq!(trace.work[0].correlation, Some(9));
}

/// Times that only the general reader understands: two microseconds.
const UNUSUAL_TIMES: [&str; 4] = [
    r#""ts": "12.5", "dur": 2"#,
    r#""ts": 1694128201545123000, "dur": 2000"#,
    r#""ts": 12.5000, "dur": 2.0000"#,
    r#""ts": 1.25e1, "dur": "2""#,
];

#[test]
fn unusual_times_do_not_make_a_reader_strict() {
    // What follows the times: names, and arguments that are no JSON.
    let rests: [(&[u8], &str); 9] = [
        (b"\"name\": \"a\nb\"", "a\nb"),
        (b"\"name\": \"a\x01\"", "a\u{1}"),
        (b"\"name\": \"\xFFa\"", "\u{FFFD}a"),
        (b"\"name\": \"a\", \"args\": {\"x\": N/A, \"correlation\": 9}", "a"),
        (b"\"name\": \"a\", \"args\": {\"x\": NaN, \"correlation\": 9}", "a"),
        (b"\"name\": \"a\", \"args\": {\"x\": [-Infinity, None]}", "a"),
        (b"\"name\": \"a\", \"args\": {\"x\": \"\t\xFE\"}", "a"),
        (b"\"name\": \"a\", \"\xFE\": \"\x02\"", "a"),
        (b"\"n\\u0061me\": \"a\x02\", \"x\": N/A", "a\u{2}"),
    ];
    for times in UNUSUAL_TIMES {
        for (rest, name) in rests {
            let head = format!(
                r#"[{}, {{"ph": "X", "cat": "kernel", "pid": 0, "tid": 7, {times}, "#,
                kernel("first", 1, 2)
            );
            let text = [head.as_bytes(), rest, b"}]"].concat();
            let about = String::from_utf8_lossy(&text).into_owned();
            let trace = try_read(&text).unwrap();
            let quality = &trace.quality;
            assert_eq!((quality.n_broken, quality.n_unusual), (0, 1), "{about}");
            assert_eq!(trace.name_of(1), name, "{about}");
            assert_eq!(trace.rows.duration_of(1), 2_000, "{about}");
            let correlation = about.contains("correlation").then_some(9);
            assert_eq!(trace.work[1].correlation, correlation, "{about}");
            let n_damaged = u64::from(name.contains('\u{FFFD}'));
            assert_eq!(quality.n_damaged_names, n_damaged, "{about}");
        }
    }
}

#[test]
fn a_word_for_no_number_is_no_number() {
    for word in ["N/A", "NaN", "-nan", "Infinity", "None", "null"] {
        let text = format!(
            r#"[{{"ph": "X", "name": "a", "pid": 0, "tid": 7, "ts": 1, "dur": {word}}},
                {{"ph": "X", "name": "a", "pid": 0, "tid": 7, "ts": {word}, "dur": 1}}, {}]"#,
            kernel("b", 1, 2)
        );
        let trace = try_read(text).unwrap();
        assert_eq!((trace.rows.len(), trace.quality.n_broken), (1, 0), "{word}");
        assert_eq!(trace.quality.n_without_time, 2, "{word}");
    }
}

#[test]
fn only_the_first_broken_events_are_shown() {
    let events = [r#"{"ph": }"#; 100].join(&format!(",{},", kernel("a", 0, 1)));
    let trace = try_read(format!(r#"{{"traceEvents": [{events}]}}"#)).unwrap();
    assert_eq!((trace.quality.n_broken, trace.quality.broken.len()), (100, 5));
    assert_eq!(trace.rows.len(), 99);
}

#[test]
fn broken_keys_before_the_events_do_not_hide_them() {
    let kernel = kernel("a", 0, 1);
    for broken in [
        r#""INFO": ["say "hi" to them"],"#,
        r#""INFO": ["say "hi to them"],"#,
        r#""a" "b","#,
        r"17, [}",
        r#""a": "the word \"traceEvents\": [ in a text","#,
    ] {
        let text = format!(r#"{{{broken} "traceEvents": [{kernel}], "schemaVersion": 1}}"#);
        let trace = try_read(text).unwrap();
        assert_eq!(trace.rows.len(), 1, "{broken}");
        assert_eq!(trace.metadata[0].others["schemaVersion"], "1", "{broken}");
    }
}

#[test]
fn what_is_no_trace_is_told_by_what_it_is() {
    let why = |bytes: &[u8]| try_read(bytes).unwrap_err().to_string();
    assert_eq!(why(b""), "is no JSON: it begins with nothing");
    assert_eq!(why(b"<html>\n"), r#"is no JSON: it begins with "<html>\n""#);
    // A packed file of which there are four bytes.
    assert_eq!(
        why(b"\x1f\x8b\x08\x00"),
        "cannot be unpacked as far as its events: unexpected end of file; it is damaged, or cut"
    );
    let spans = br#"{"spans": [], "resource": {}}"#;
    assert_eq!(why(spans), "has no traceEvents; it has spans, resource");
    assert_eq!(
        why(br#"{"a": 1, "traceEvents": "x"}"#),
        "holds no events: its traceEvents is no list"
    );
    assert_eq!(
        why("[".repeat(1_000_000).as_bytes()),
        "holds no event that can be read: is no event at byte 1"
    );
    assert_eq!(
        why(br#"{"traceEvents": [{"ph": }]}"#),
        "holds no event that can be read: a value is missing at byte 17"
    );
    let rocprofiler = br#"{"rocprofiler-sdk-tool": [{"metadata": {}}]}"#;
    assert!(why(rocprofiler).starts_with("is rocprofiler-sdk's own JSON"));
}

#[test]
fn an_empty_trace_is_a_trace() {
    for text in ["[]", r#"{"traceEvents": []}"#, "\u{FEFF}[]\n"] {
        let trace = try_read(text).unwrap();
        assert_eq!((trace.rows.len(), trace.first_ns), (0, None));
        assert!(!trace.quality.is_truncated);
    }
}
