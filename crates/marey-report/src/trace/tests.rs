use marey::{CacheEvent, CacheOutcome, GpuSpan, Value};
use marey_testing::RunBuilder;
use serde_json::Value as Json;

use super::*;

fn written(runs: &[Run], format: TraceFormat) -> Vec<u8> {
    let base = runs.iter().map(|run| run.info.start_unix_ns).min();
    let base = base.unwrap_or(0);
    let mut writer = TraceWriter::new(Vec::new(), format, Compression::None, base).unwrap();
    for run in runs {
        writer.add(run).unwrap();
    }
    writer.finish().unwrap()
}

fn json(runs: &[Run], format: TraceFormat) -> Json {
    serde_json::from_slice(&written(runs, format)).unwrap()
}

/// Events of a kind, each as the values of some keys.
fn events(trace: &Json, phase: &str, keys: &[&str]) -> Vec<String> {
    let events = trace["traceEvents"].as_array().unwrap();
    let of_phase = events.iter().filter(|event| event["ph"] == phase);
    let shown = |event: &Json| {
        let values = keys.iter().map(|key| match &event[*key] {
            Json::String(text) => text.clone(),
            other => other.to_string(),
        });
        values.collect::<Vec<_>>().join(" ")
    };
    of_phase.map(shown).collect()
}

/// ```text
/// µs      0  1  2  3  4  5  6
/// main    |--- a ------|          1 and 5 µs
///            |b||-c-|             2 to 3, 3 to 4.5 µs
/// stream 7     |--b---|           2.5 to 4.5 µs
/// ```
fn drawn() -> Run {
    let mut run = RunBuilder::new()
        .section("a", 1_000, 5_000, |s| {
            s.section("b", 2_000, 3_000, |_| {});
            s.section("c", 3_000, 4_500, |_| {});
        })
        .with(|run| {
            run.info.pid = 1;
            run.info.start_unix_ns = 1_795_000_000_000_000_001;
        })
        .finish(6_000);
    run.gpu_spans = vec![GpuSpan {
        thread: 0,
        node: 2,
        start_ns: 2_000,
        device: 1,
        stream: 7,
        delay_ns: Some(500),
        gpu_ns: 2_000,
        error_ns: None,
    }];
    run
}

/// All moments of a trace in Perfetto's format, and what has this name in it.
fn perfetto_times(trace: &[u8]) -> Vec<u64> {
    // Packets are field 1 of the trace, a time is field 8 of a packet.
    let varint = |bytes: &[u8], at: &mut usize| {
        let (mut value, mut shift) = (0_u64, 0);
        loop {
            let byte = bytes[*at];
            *at += 1;
            value |= u64::from(byte & 0x7f) << shift;
            shift += 7;
            if byte & 0x80 == 0 {
                return value;
            }
        }
    };
    let (mut at, mut times) = (0, Vec::new());
    while at < trace.len() {
        assert_eq!(varint(trace, &mut at), 1 << 3 | 2);
        let length = usize::try_from(varint(trace, &mut at)).unwrap();
        let packet = &trace[at..at + length];
        at += length;
        let mut inner = 0;
        while inner < packet.len() {
            let tag = varint(packet, &mut inner);
            let value = varint(packet, &mut inner);
            match (tag >> 3, tag & 7) {
                (8, _) => times.push(value),
                (_, 2) => inner += usize::try_from(value).unwrap(),
                _ => {}
            }
        }
    }
    times
}

#[test]
fn a_process_lies_where_the_common_axis_has_it_whatever_its_own_clock_says() {
    // base    0        its own clock is an hour ahead
    // run          |---- a from 1 to 5 µs ----|      40 ns after the base
    let mut run = drawn();
    let base = run.info.start_unix_ns;
    run.info.start_unix_ns += 3_600_000_000_000;
    let format = TraceFormat::Perfetto;
    let mut writer = TraceWriter::new(Vec::new(), format, Compression::None, base).unwrap();
    writer.add_at(&run, 40, &[]).unwrap();
    writer.remark("ranks 1-3 are not in the trace").unwrap();
    let trace = writer.finish().unwrap();
    let times: Vec<u64> = perfetto_times(&trace).iter().map(|at| at - base).collect();
    assert_eq!(times.first(), Some(&1_040));
    assert_eq!(times.iter().max(), Some(&5_040));
    // The remark stands at the beginning.
    assert_eq!(times.last(), Some(&0));
    let remark = b"ranks 1-3 are not in the trace";
    assert!(trace.windows(remark.len()).any(|bytes| bytes == remark));
}

#[test]
fn waiting_and_transfer_of_collectives_have_a_track_of_their_own() {
    // µs      1   2   3   4
    // first   |~~~|-------|       waits 1, then transfer
    // second      |-------|       nobody to wait for, on another group at the same time
    let call = |start_ns, transfer_start_ns, end_ns| CallParts {
        name: "all_reduce".into(),
        start_ns,
        transfer_start_ns,
        end_ns,
    };
    let calls = [call(1_000, 2_000, 4_000), call(2_500, 2_500, 4_500)];
    let run = drawn();
    let base = run.info.start_unix_ns;
    let format = TraceFormat::Chrome;
    let mut writer = TraceWriter::new(Vec::new(), format, Compression::None, base).unwrap();
    writer.add_at(&run, 0, &calls).unwrap();
    let trace: Json = serde_json::from_slice(&writer.finish().unwrap()).unwrap();
    let slices = events(&trace, "X", &["name", "ts", "dur"]);
    let of_calls: Vec<&str> = slices[4..].iter().map(String::as_str).collect();
    assert_eq!(
        of_calls,
        [
            "all_reduce 1.0 3.0",
            "waits for others 1.0 1.0",
            "transfer 2.0 2.0",
            "all_reduce 2.5 2.0",
            "transfer 2.5 2.0",
        ]
    );
}

#[test]
fn slices_come_in_the_order_in_which_they_begin_with_exact_times() {
    let text = String::from_utf8(written(&[drawn()], TraceFormat::Chrome)).unwrap();
    let slices: Vec<&str> = text.lines().filter(|line| line.contains(r#""ph":"X""#)).collect();
    let times = |line: &str| {
        line[line.find("\"name\"").unwrap()..line.find(",\"args\"").unwrap()].to_owned()
    };
    let slices: Vec<String> = slices.into_iter().map(times).collect();
    // The GPU has the number that Kineto gives it; the process's is 1 as well, so it gets another one.
    insta::assert_snapshot!(slices.join("\n"), @r#"
    "name":"a","pid":1,"tid":1,"ts":1.000,"dur":4.000
    "name":"b","pid":1,"tid":1,"ts":2.000,"dur":1.000
    "name":"c","pid":1,"tid":1,"ts":3.000,"dur":1.500
    "name":"b","pid":4194305,"tid":4194305,"ts":2.500,"dur":2.000
    "#);
    assert!(text.contains("\"baseTimeNanoseconds\":1795000000000000001"));
}

#[test]
fn work_whose_section_was_not_recorded_has_no_arrow_and_work_at_no_known_time_is_left_out() {
    let mut run = drawn();
    run.gpu_spans[0].start_ns = 2_001;
    let unknown = GpuSpan { delay_ns: None, ..run.gpu_spans[0] };
    run.gpu_spans.push(unknown);
    let trace = json(&[run], TraceFormat::Chrome);
    assert_eq!(events(&trace, "X", &["name"]).len(), 4);
    assert!(events(&trace, "s", &["id"]).is_empty());
    assert!(events(&trace, "f", &["id"]).is_empty());
}

#[test]
fn processes_of_one_number_stay_apart_and_their_times_count_from_the_first() {
    let mut later = drawn();
    later.info.start_unix_ns += 10_000;
    later.info.rank = Some(1);
    let trace = json(&[drawn(), later], TraceFormat::Chrome);
    let found = events(&trace, "X", &["name", "pid", "ts"]);
    assert_eq!(found[0], "a 1 1.0");
    assert_eq!(found[4], "a 4194305 11.0");
    // A reader of ranks must not take the trace of several for that of one.
    assert!(trace.get("distributedInfo").is_none());
}

#[test]
fn the_only_process_of_a_trace_says_its_rank_as_readers_of_ranks_look_for_it() {
    let mut run = drawn();
    run.info.rank = Some(3);
    run.info.world_size = Some(8);
    let text = String::from_utf8(written(&[run], TraceFormat::Chrome)).unwrap();
    assert!(text.contains(r#""rank": 3, "world_size": 8}"#), "{text}");
}

#[test]
fn numbers_that_are_none_are_left_out_and_names_of_users_shadow_no_other() {
    let run = RunBuilder::new()
        .counter("loss", 1, f64::NAN)
        .counter("loss", 2, 0.25)
        .event(
            "e",
            3,
            vec![
                ("stream".into(), Value::Int(7)),
                ("stream".into(), Value::Int(8)),
                ("x".into(), Value::Float(f64::INFINITY)),
            ],
        )
        .cache_event(CacheEvent {
            at_ns: 4,
            cache: "first_block".into(),
            outcome: CacheOutcome::Hit,
            step: Some(2),
            block: None,
            score: Some(f64::NAN),
            threshold: Some(0.5),
            held_bytes: None,
            attributes: vec![],
            session: None,
        })
        .finish(10);
    let trace = json(&[run], TraceFormat::Chrome);
    assert_eq!(events(&trace, "C", &["name", "ts", "args"]), [r#"loss 0.002 {"count":0.25}"#]);
    assert_eq!(
        events(&trace, "i", &["name", "args"]),
        [
            r#"e {"attributes":{"stream":7},"kind":"event"}"#,
            r#"hit {"kind":"cache","step":2,"threshold":0.5}"#
        ]
    );
}

#[test]
fn tensorboard_finds_steps_by_their_names_and_takes_nothing_else_for_one() {
    let run = RunBuilder::new()
        .iteration("denoising_step", 0, 10, |_| {})
        .section("ProfilerStep#x", 10, 20, |_| {})
        .section("ProfilerStep#12", 20, 22, |_| {})
        .iteration("denoising_step", 22, 30, |_| {})
        .finish(30);
    let run = [run];
    let trace = json(&run, TraceFormat::TensorBoard);
    assert_eq!(
        events(&trace, "X", &["name"]),
        ["ProfilerStep#0", "‘ProfilerStep#x’", "‘ProfilerStep#12’", "ProfilerStep#1"]
    );
    let trace = json(&run, TraceFormat::Chrome);
    assert_eq!(
        events(&trace, "X", &["name"]),
        ["denoising_step", "‘ProfilerStep#x’", "ProfilerStep#12", "denoising_step"]
    );
}

#[test]
fn no_trace_holds_what_a_terminal_or_a_page_would_act_on() {
    let name = "</script>\u{1b}[31m\u{202e}\"\0";
    let run = RunBuilder::new()
        .section(name, 0, 2, |s| {
            s.section(name, 0, 1, |_| {}).attributes(vec![(name.into(), Value::Text(name.into()))]);
        })
        .counter(name, 0, 1.0)
        .finish(1);
    for format in [TraceFormat::Chrome, TraceFormat::TensorBoard] {
        let text = String::from_utf8(written(std::slice::from_ref(&run), format)).unwrap();
        assert!(text.chars().all(|c| c == '\n' || !c.is_control()));
        assert!(!text.contains('<') && !text.contains('\u{202e}'));
    }
    let trace = json(&[run], TraceFormat::Chrome);
    assert_eq!(events(&trace, "X", &["name"]), [name, name]);
}

#[test]
fn runs_of_nothing_and_times_of_no_end_are_written() {
    let mut last = RunBuilder::new()
        .section("x", u64::MAX - 1, u64::MAX, |_| {})
        .open("y", u64::MAX, |_| {})
        .finish(u64::MAX);
    last.info.start_unix_ns = u64::MAX;
    last.open[0].node = 77;
    for run in [Run::default(), RunBuilder::new().finish(0), last] {
        for format in [TraceFormat::Chrome, TraceFormat::TensorBoard] {
            json(std::slice::from_ref(&run), format);
        }
        assert!(!written(&[run], TraceFormat::Perfetto).is_empty());
    }
}
