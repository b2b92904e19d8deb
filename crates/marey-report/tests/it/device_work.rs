//! GPU time and torch's memory by section, in each format.
//!
//! ```text
//! ms        0     10   20   30    40
//! host      |-denoise----||-<b>-|
//!            |step||step|
//! stream        |--step--|--step--|      9 and 9, delays 2 and 6; the call of <b> was not measured
//! ```

use marey::{DeviceMemory, GpuSpan, Run, SectionMemory, Unavailable};
use marey_analysis::GPU_TIMES;
use marey_report::{Cell, Report, profiling_report, summary};
use marey_testing::RunBuilder;
use serde_json::{Value, json};

use crate::json::assert_follows_schema;
use crate::shown::{block, markdown, row, table, words};

const MS: u64 = 1_000_000;
const MIB: u64 = 1 << 20;

fn drawn() -> Run {
    let span = |start_ms: u64, delay_ms: u64| GpuSpan {
        thread: 0,
        node: 2,
        start_ns: start_ms * MS,
        device: 0,
        stream: 7,
        delay_ns: Some(delay_ms * MS),
        gpu_ns: 9 * MS,
        error_ns: Some(3000),
    };
    let memory = SectionMemory {
        thread: 0,
        node: 3,
        start_ns: 16 * MS,
        figures: DeviceMemory {
            device: 1,
            allocated_before: 10 * MIB,
            allocated_after: 14 * MIB,
            allocated_peak: 30 * MIB,
            reserved_before: 40 * MIB,
            reserved_after: 40 * MIB,
            reserved_peak: 40 * MIB,
            inactive_split: None,
            ..DeviceMemory::default()
        },
    };
    RunBuilder::new()
        .section("denoise", 0, 15 * MS, |s| {
            s.section("step", MS, 6 * MS, |_| {});
            s.section("step", 7 * MS, 12 * MS, |_| {});
        })
        .section("<b>", 16 * MS, 24 * MS, |_| {})
        .with(|run| {
            run.gpu_spans = vec![span(1, 2), span(7, 5)];
            run.section_memory = vec![memory];
            run.info.facts = vec![("gpu_times".into(), "CUDA events".into())];
        })
        .finish(40 * MS)
}

#[test]
fn why_sections_have_no_gpu_time_is_said_also_where_none_has_one() {
    let why = "3 not measured: 3 ran on a device that is not known: several were in use, and none was chosen";
    let mut run = drawn();
    let (what, why_not) = (GPU_TIMES.to_owned(), why.to_owned());
    run.unavailable.push(Unavailable { what, why: why_not });
    let said = |run: &Run| {
        let report = Report::new(run);
        let document: Value = serde_json::from_slice(&profiling_report(&report)).unwrap();
        assert_follows_schema(&document);
        assert_eq!(document["data_quality"]["unavailable"][0]["why"], why);
        [summary(&report), markdown(&report)].map(|text| words(&text))
    };
    let measured = "Measured by CUDA events, 2 of 2 calls;";
    let [text, markdown] = said(&run);
    assert!(text.contains(&format!("GPU time {why}")), "{text}");
    assert!(markdown.contains(&format!("- GPU time: {why}")), "{markdown}");
    assert!(text.contains(measured) && markdown.contains(measured));
    run.gpu_spans.clear();
    let [text, markdown] = said(&run);
    assert!(text.contains(&format!("GPU time {why}")), "{text}");
    assert!(markdown.contains(&format!("- GPU time: {why}")), "{markdown}");
    assert!(!text.contains(measured) && !markdown.contains(measured));
}

/// Two more calls of `<b>` whose memory was not measured.
fn partly_measured() -> Run {
    let mut run = drawn();
    run.totals[3].count = 3;
    run
}

#[test]
fn where_calls_were_not_measured_every_format_says_so_and_the_peaks_are_at_least() {
    let report = Report::new(&partly_measured());
    let peaks = table(&partly_measured(), "section_peaks").unwrap();
    let at_least = |mib: u64| Cell::AtLeast(Box::new(Cell::Bytes(mib * MIB)));
    let expected = [Cell::Count(3), Cell::Count(1), at_least(30), at_least(40), at_least(20)];
    assert_eq!(row(&peaks, "<b>").unwrap()[2..7], expected);
    let shown = block(&summary(&report), "PEAK MEMORY BY SECTION");
    let note = "≥ at least: not all calls were measured";
    for part in ["<b> 1 3 1 ≥30.0 MiB ≥40.0 MiB ≥20.0 MiB", note] {
        assert!(words(&shown).contains(part), "{shown}");
    }
    let markdown = words(&markdown(&report));
    let row = "| `<b>` | 1 | 3 | 1 | ≥30.0 MiB | ≥40.0 MiB | ≥20.0 MiB | +4.0 MiB |";
    assert!(markdown.contains(row), "{markdown}");
    assert!(markdown.contains(note));
    let document: Value = serde_json::from_slice(&profiling_report(&report)).unwrap();
    assert_follows_schema(&document);
    let found = &document["section_memory"][0];
    assert_eq!((&found["calls_measured"], &found["calls"]), (&json!(1), &json!(3)));
    assert!(!summary(&Report::new(&drawn())).contains('≥'));
}

#[test]
fn where_torchs_own_peak_did_not_rise_the_peak_is_at_least() {
    let mut run = drawn();
    run.section_memory[0].figures.allocated_peak_error = 5 * MIB;
    let report = Report::new(&run);
    let shown = words(&block(&summary(&report), "PEAK MEMORY BY SECTION"));
    for part in ["<b> 1 1 1 ≥30.0 MiB 40.0 MiB ≥20.0 MiB", "torch counts one peak for all"] {
        assert!(shown.contains(part), "{shown}");
    }
    let document: Value = serde_json::from_slice(&profiling_report(&report)).unwrap();
    assert_follows_schema(&document);
    let found = &document["section_memory"][0];
    let is_at_least = ["allocated", "reserved", "added"]
        .map(|what| found[format!("is_{what}_at_least")] == json!(true));
    assert_eq!(is_at_least, [true, false, true]);
    assert_eq!(found["fragmentation"], Value::Null);
}

#[test]
fn the_json_has_the_same_and_follows_the_schema() {
    let bytes = profiling_report(&Report::new(&drawn()));
    let document: Value = serde_json::from_slice(&bytes).unwrap();
    assert_follows_schema(&document);
    let rows = document["sections"].as_array().unwrap();
    let row = |name: &str| rows.iter().find(|row| row["name"] == name).unwrap();
    assert_eq!(
        row("step")["gpu"],
        json!({
            "calls_measured": 2, "calls_not_measured": 0, "total": 0.018, "mean": 0.009, "median": 0.009, "p95": 0.009,
            "max": 0.009, "covered": 0.018, "share_of_wall": 0.45, "queue_delay_mean": 0.0035,
            "queue_delay_max": 0.005, "queue_delay_error": 3e-6,
        })
    );
    assert_eq!(row("denoise")["gpu"], Value::Null);
    assert_eq!(
        document["gpu_time"],
        json!({
            "measured_by": "CUDA events", "calls": 2, "calls_not_measured": 0,
            "streams": [{"device": 0, "stream": 7, "spans": 2, "covered": 0.018}],
        })
    );
    assert_eq!(
        document["section_memory"],
        json!([{
            "section": 3, "device": 1, "calls_measured": 1, "calls": 1, "allocated_mb": 30.0, "reserved_mb": 40.0, "added_mb": 20.0,
            "is_allocated_at_least": false, "is_reserved_at_least": false, "is_added_at_least": false,
            "growth_bytes": 4 * MIB, "fragmentation": 0.25, "inactive_split_mb": null,
        }])
    );
}
