//! Real traces, figure for figure what a brute-force reference in Python's integers says: equal to the nanosecond.
//!
//! The small ones are in `tests/data/traces`. With `TRACE_FIXTURES=<folder>` every trace below that folder is read, too; what
//! is compared is whatever `exact_ns.json` lies in a folder of the trace's name.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};

use marey_analysis::import::chrome::{Limits, ReadError, Trace, read};
use marey_analysis::{
    AttentionPath, ByLaunch, DeviceAnswers, DeviceTimeline, Gap, GapCause, HostRows, LaunchedWork,
    Thresholds, WorkKind, annotations, attention, device_timelines, idle_gaps, kernels, overlap,
    profiler_steps, trace_answers, trace_findings, transfers, utilization,
};
use serde_json::{Value, json};

#[test]
fn the_small_traces_are_equal_to_the_nanosecond() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/traces");
    let (n_traces, n_compared) = check_all(&folder);
    assert!(n_traces >= 15, "{n_traces} traces");
    assert_eq!(n_traces, n_compared);
}

#[test]
fn all_traces_of_the_given_folder_are_equal_to_the_nanosecond() {
    #[expect(
        clippy::disallowed_methods,
        reason = "a test is told where its files are"
    )]
    let Ok(folder) = std::env::var("TRACE_FIXTURES") else {
        return;
    };
    let (n_traces, n_compared) = check_all(Path::new(&folder));
    assert!(
        n_compared > 0,
        "{n_traces} traces, and nothing to compare with"
    );
}

/// Checks all traces below a folder: how many there are, how many of them have a reference.
fn check_all(folder: &Path) -> (usize, usize) {
    let files = files_below(folder);
    let expected: BTreeMap<String, &PathBuf> = files
        .iter()
        .filter(|path| path.ends_with("exact_ns.json"))
        .filter_map(|path| {
            let name = path.parent()?.file_name()?.to_str()?;
            Some((name.to_owned(), path))
        })
        .collect();
    let (mut n_traces, mut n_compared) = (0, 0);
    for path in &files {
        let is_expectation = path.components().any(|part| part.as_os_str() == "expected");
        let Some(name) = trace_name(path).filter(|_| !is_expectation) else {
            continue;
        };
        let trace = match read(File::open(path).unwrap(), Limits::default()) {
            Ok(trace) => trace,
            Err(ReadError::Rocprofiler) if name.starts_with("rocprof") => continue,
            // Execution traces and memory snapshots lie beside traces, and are none.
            Err(ReadError::NoEvents(_)) => continue,
            Err(error) => panic!("{name} {error}"),
        };
        n_traces += 1;
        check_sound(&name, &trace);
        check_attention(&name, &trace);
        check_parts(&name, &trace);
        check_bounds(&name, &trace);
        if let Some(expected) = expected.get(&name) {
            let expected = serde_json::from_reader(File::open(expected).unwrap()).unwrap();
            check_figures(&name, &trace, &expected);
            n_compared += 1;
        }
    }
    (n_traces, n_compared)
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in folder.read_dir().unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}

/// The file's name without `.json` and `.gz`; `None` when it has no such ending.
fn trace_name(path: &Path) -> Option<String> {
    let name = path.file_name()?.to_str()?;
    let name = name.strip_suffix(".gz").unwrap_or(name);
    Some(name.strip_suffix(".json")?.to_owned())
}

/// What holds for every trace: nothing lost, and the parts of each device's span come to the span.
fn check_sound(name: &str, trace: &Trace) {
    assert_eq!(
        trace.quality.n_broken, 0,
        "{name} {:?}",
        trace.quality.broken
    );
    assert!(!trace.quality.is_truncated, "{name}");
    assert_eq!(trace.quality.damage, None, "{name}");
    super::critical_path::check_path(trace);
    for timeline in device_timelines(trace) {
        let used = utilization(trace, &timeline);
        let parts =
            used.compute_ns + used.exposed_communication_ns + used.exposed_memory_ns + used.idle_ns;
        assert_eq!(parts, used.span_ns, "{name} {}", used.device);
        assert_eq!(
            idle_gaps(trace, &HostRows::new(trace), &timeline).total_ns,
            used.idle_ns,
            "{name}"
        );
        let kernels = kernels(trace, &timeline);
        assert!(kernels.total_ns >= used.busy_ns, "{name}");
    }
}

type Known = (AttentionPath, u64, u64);

/// Attention of traces that somebody looked through by hand: path, kernels, and kernels that prepare.
const ATTENTION: [(&str, &[Known]); 3] = [
    (
        "traces__inference__xdit_flux.1_aiter_sage__profile_trace_rank_0",
        &[
            (AttentionPath::Sage, 228, 228),
            (AttentionPath::Eager, 24, 0),
        ],
    ),
    (
        "flux1_split_iter0",
        &[
            // The denoiser, and the text encoder and the VAE.
            (AttentionPath::Flash, 228 + 13, 0),
            (AttentionPath::Eager, 24, 0),
        ],
    ),
    (
        "traces__inference__vllm_decode_full__graph_execution",
        &[(AttentionPath::Paged, 24, 0)],
    ),
];

/// Causes on the host save no more than a device did nothing, work no more than it took.
fn check_bounds(name: &str, trace: &Trace) {
    let answers = trace_answers(trace, None);
    let used = || answers.devices.iter().map(|device| &device.utilization);
    let idle_ns = used().map(|used| used.idle_ns).max().unwrap_or_default();
    let busy_ns = used().map(|used| used.busy_ns).max().unwrap_or_default();
    for finding in trace_findings(&answers, &Thresholds::default()).found {
        let limit_ns = match finding.rule {
            "low-gpu-utilization" | "launch-bound" | "data-bound" | "synchronisation-points" => {
                idle_ns
            }
            "exposed-transfers" | "exposed-communication" | "eager-attention" => busy_ns,
            _ => answers.span_ns,
        };
        let at_most_ns = finding.saving.as_ref().and_then(|saving| saving.at_most_ns);
        assert!(
            at_most_ns.is_none_or(|most| most <= limit_ns),
            "{name} {finding:?}"
        );
    }
}

fn check_attention(name: &str, trace: &Trace) {
    let known = ATTENTION.iter().find(|(known, _)| *known == name);
    for (path, count, n_preparing) in known.map_or(&[][..], |(_, known)| known) {
        let uses = attention(trace, &device_timelines(trace)[0]);
        let found = uses.iter().find(|found| found.path == *path);
        let found = found.map(|found| (found.count, found.n_preparing));
        assert_eq!(found, Some((*count, *n_preparing)), "{name} {uses:?}");
    }
}

fn check_figures(name: &str, trace: &Trace, expected: &Value) {
    assert_eq!(
        json!(trace.quality.n_events),
        expected["n_events"],
        "{name}"
    );
    assert_eq!(json!(trace.work.len()), expected["n_gpu"], "{name}");
    let timelines = device_timelines(trace);
    let devices = expected["devices"].as_object().unwrap();
    assert_eq!(timelines.len(), devices.len(), "{name}");
    for timeline in &timelines {
        let device = trace.process_label(timeline.process);
        let expected = &devices[&device];
        let about = format!("{name}, device {device}");
        same(&about, &figures(trace, timeline), expected);
        check_overlap_percent(&about, timeline, &expected["comm_overlap_pct"]);
        check_kernels(&about, trace, timeline, &expected["top_kernels"]);
        same(
            &about,
            &gaps(trace, timeline),
            &without(&expected["gaps"], "largest"),
        );
        check_longest_gaps(&about, trace, timeline, &expected["gaps"]["largest"]);
        assert_eq!(
            transferred(trace, timeline),
            expected["transfers"],
            "{about}"
        );
        assert_eq!(streams(trace, timeline), expected["per_stream"], "{about}");
        let steps = profiler_steps(trace);
        check_launched(&about, trace, timeline, &steps, &expected["profiler_steps"]);
        let named = annotations(trace);
        if !expected["user_annotations"].is_null() {
            check_launched(
                &about,
                trace,
                timeline,
                &named,
                &expected["user_annotations"],
            );
        }
    }
}

/// Every key of `found` has the same value in `expected`.
fn same(about: &str, found: &Value, expected: &Value) {
    for (key, value) in found.as_object().unwrap() {
        assert_eq!(value, &expected[key], "{about}: {key}");
    }
}

fn without(object: &Value, key: &str) -> Value {
    let mut object = object.clone();
    object.as_object_mut().unwrap().remove(key);
    object
}

fn figures(trace: &Trace, timeline: &DeviceTimeline) -> Value {
    let used = utilization(trace, timeline);
    let overlap = overlap(timeline);
    json!({
        "span": used.span_ns,
        "busy": used.busy_ns,
        "idle": used.idle_ns,
        "compute_union": used.compute_ns,
        "comm_union": used.communication_ns,
        "mem_union": used.memory_ns,
        "comm_overlapped_by_compute": overlap.overlapped_communication_ns,
        "exposed_comm": overlap.exposed_communication_ns,
        "exposed_mem": overlap.exposed_memory_ns,
    })
}

fn check_overlap_percent(about: &str, timeline: &DeviceTimeline, expected: &Value) {
    let found = overlap(timeline).communication_overlap_ratio;
    match (found, expected.as_f64()) {
        (Some(found), Some(expected)) => {
            assert!((found * 100.0 - expected).abs() < 1e-4, "{about}");
        }
        (found, expected) => assert_eq!(found, expected, "{about}"),
    }
}

/// The reference lists the 25 that took most; of equals any.
fn check_kernels(about: &str, trace: &Trace, timeline: &DeviceTimeline, expected: &Value) {
    let kernels = kernels(trace, timeline);
    let totals: Vec<Value> = kernels
        .rows
        .iter()
        .take(25)
        .map(|r| json!(r.total_ns))
        .collect();
    let rows = expected.as_array().unwrap();
    let expected_totals: Vec<Value> = rows.iter().map(|row| row["sum"].clone()).collect();
    assert_eq!(totals, expected_totals, "{about}");
    for expected in rows {
        let is_same = |kind| match kind {
            WorkKind::Compute | WorkKind::Communication => expected["kind"] == "kernel",
            WorkKind::Memcpy => expected["kind"] == "memcpy",
            WorkKind::Memset => expected["kind"] == "memset",
        };
        let mut rows = kernels.rows.iter();
        let found = rows.find(|row| expected["name"] == row.name && is_same(row.kind));
        let found = found.unwrap_or_else(|| panic!("{about}: {}", expected["name"]));
        let figures = json!({
            "count": found.count,
            "sum": found.total_ns,
            "max": found.max_ns,
            "min": found.min_ns,
        });
        same(about, &figures, expected);
    }
}

fn cause(cause: GapCause) -> &'static str {
    match cause {
        GapCause::LaunchLate => "launch_late",
        GapCause::LaunchedBefore => "launched_before_gap",
        GapCause::NotKnown => "no_launch_link",
    }
}

fn gaps(trace: &Trace, timeline: &DeviceTimeline) -> Value {
    let gaps = idle_gaps(trace, &HostRows::new(trace), timeline);
    let causes = gaps.causes.iter();
    let times: BTreeMap<_, _> = causes
        .clone()
        .map(|c| (cause(c.cause), c.total_ns))
        .collect();
    let counts: BTreeMap<_, _> = causes.map(|c| (cause(c.cause), c.n_gaps)).collect();
    json!({
        "count": gaps.n_gaps,
        "sum_by_cause": times,
        "count_by_cause": counts,
        "gt_10us": gaps.n_over_10us,
        "gt_100us": gaps.n_over_100us,
    })
}

/// Gaps that are longer than the last one that is listed, since of equals any may be.
fn check_longest_gaps(about: &str, trace: &Trace, timeline: &DeviceTimeline, expected: &Value) {
    let expected = expected.as_array().unwrap();
    let shortest = expected.last().map_or(0, |gap| gap["ns"].as_u64().unwrap());
    let longer = |ns: u64| ns > shortest || expected.len() < 10;
    let first_ns = timeline.span().start_ns;
    let gaps = idle_gaps(trace, &HostRows::new(trace), timeline).longest;
    let found: BTreeMap<u64, Value> = gaps
        .iter()
        .filter(|gap| longer(gap.length_ns))
        .map(|gap| {
            let at = gap.start_ns - first_ns;
            let next: String = gap.next.chars().take(80).collect();
            assert_eq!(gap.synchronising_ns, waited_in(trace, gap), "{about}");
            // The reference looks at gaps over 20 µs only, and says 0 without calls.
            let waited = gap.synchronising_ns.filter(|_| gap.length_ns > 20_000);
            let waited = waited.unwrap_or(0);
            let row = json!({
                "ns": gap.length_ns, "at": at, "cause": cause(gap.cause), "next": next,
                "host_sync_overlap": waited,
            });
            (at, row)
        })
        .collect();
    let expected: BTreeMap<u64, Value> = expected
        .iter()
        .filter(|gap| longer(gap["ns"].as_u64().unwrap()))
        .map(|gap| (gap["at"].as_u64().unwrap(), gap.clone()))
        .collect();
    assert_eq!(found, expected, "{about}");
}

/// Time in a gap that host threads spent in calls that wait, row by row; `None` without calls.
fn waited_in(trace: &Trace, gap: &Gap) -> Option<u64> {
    let gap_end_ns = gap.start_ns + gap.length_ns;
    let rows = trace.calls.iter().map(|call| call.row);
    let waits = rows.filter(|row| trace.name_of(*row).contains("Synchronize"));
    let shared = waits.map(|row| {
        let end_ns = trace.rows.end_ns(row).min(gap_end_ns);
        end_ns.saturating_sub(trace.rows.start_of(row).max(gap.start_ns))
    });
    let waited_ns = shared.sum();
    (!trace.calls.is_empty()).then_some(waited_ns)
}

fn transferred(trace: &Trace, timeline: &DeviceTimeline) -> Value {
    let transfers = transfers(trace, timeline).into_iter().map(|row| {
        let figures = json!({"count": row.count, "ns": row.total_ns, "bytes": row.bytes});
        (row.direction, figures)
    });
    Value::Object(transfers.collect())
}

fn streams(trace: &Trace, timeline: &DeviceTimeline) -> Value {
    let streams = utilization(trace, timeline).streams.into_iter().map(|row| {
        let figures = json!({
            "n": row.n_ops, "busy": row.busy_ns, "span": row.span_ns,
            "self_overlap": row.self_overlap_ns,
        });
        (row.stream, figures)
    });
    Value::Object(streams.collect())
}

/// What was launched in each of these ranges. The reference cuts names at 100 characters and orders equal times by name.
fn check_launched(
    about: &str,
    trace: &Trace,
    timeline: &DeviceTimeline,
    rows: &[u32],
    expected: &Value,
) {
    let by_launch = ByLaunch::new(trace, timeline);
    let first_ns = i128::from(timeline.span().start_ns);
    let figures = |launched: LaunchedWork| {
        let name: String = launched.name.chars().take(100).collect();
        json!({
            "name": name,
            "cpu_start": i64::try_from(i128::from(launched.start_ns) - first_ns).unwrap(),
            "cpu_dur": launched.duration_ns,
            "gpu_ops": launched.n_ops,
            "gpu_busy": launched.busy_ns,
            "gpu_span": launched.device_span_ns,
        })
    };
    let mut found: Vec<Value> = rows.iter().map(|row| figures(by_launch.of(*row))).collect();
    let mut expected = expected.as_array().unwrap().clone();
    let order = |row: &Value| row.to_string();
    found.sort_by_cached_key(order);
    expected.sort_by_cached_key(order);
    assert_eq!(found, expected, "{about}");
}

/// Calls of the denoiser of traces that somebody looked through by hand: operations, and time the device was busy.
const CALLS: [(&str, [(u64, u64); 4]); 2] = [
    (
        "traces__inference__xdit_flux.1_aiter_sage__profile_trace_rank_0",
        [
            (1573, 42_404),
            (1573, 43_162),
            (1573, 42_474),
            (1573, 43_089),
        ],
    ),
    (
        "flux1_split_iter0",
        [
            (1000, 35_610),
            (1000, 34_819),
            (1000, 35_037),
            (1000, 34_938),
        ],
    ),
];

/// What no part launched and the parts come to all work; reasons of gaps come to their causes.
fn check_parts(name: &str, trace: &Trace) {
    let answers = trace_answers(trace, None);
    let parts = &answers.parts;
    let all = [&parts.steps, &parts.profiler_steps, &parts.phases];
    for list in all.into_iter().flatten() {
        let Some(device) = &list.device else { continue };
        let is_its = |d: &&DeviceAnswers| d.document == list.document && d.device == *device;
        let device = answers.devices.iter().find(is_its).unwrap();
        let of_parts = list.parts.iter().filter_map(|part| part.work);
        let own = of_parts.map(|work| (work.own_n_ops, work.own_work_ns));
        let rest = list.rest.iter().map(|rest| (rest.n_ops, rest.work_ns));
        let sum = own.chain(rest).fold((0, 0), |a, b| (a.0 + b.0, a.1 + b.1));
        let all = (device.utilization.n_ops, device.kernels.total_ns);
        assert_eq!(sum, all, "{name}");
        for (part, work) in list.parts.iter().filter_map(|p| Some((&p.name, p.work?))) {
            let exposed_ns = work.exposed_communication_ns + work.exposed_memory_ns;
            let sum_ns = work.compute_ns + exposed_ns + work.idle_ns;
            assert_eq!(sum_ns, work.span_ns, "{name}: {part}");
        }
    }
    for device in &answers.devices {
        for cause in &device.idle_gaps.causes {
            let reasons = device.idle_gaps.reasons.iter();
            let reasons = reasons.filter(|reason| reason.cause == cause.cause);
            let sum = reasons.fold((0, 0), |a, b| (a.0 + b.n_gaps, a.1 + b.total_ns));
            assert_eq!(sum, (cause.n_gaps, cause.total_ns), "{name}");
        }
    }
    if let Some((_, calls)) = CALLS.iter().find(|(known, _)| *known == name) {
        let works = parts.steps[0].parts.iter().filter_map(|part| part.work);
        let rounded = works.map(|work| (work.n_ops, (work.busy_ns + 500) / 1_000));
        assert_eq!(rounded.collect::<Vec<_>>(), calls, "{name}");
    }
}
