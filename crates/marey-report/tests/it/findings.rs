//! Findings on a terminal and in JSON.

use marey::{Run, SeriesInfo, Unit};
use marey_report::{Report, profiling_report, summary};
use marey_testing::RunBuilder;
use serde_json::{Value, json};

use crate::json::assert_follows_schema;

const MS: u64 = 1_000_000;

/// A machine that is 95 % full while it decodes, for 40 of 100 ms.
fn full_machine(decode: &str) -> Run {
    let used = [(10, 40e9), (30, 95e9), (60, 60e9)].map(|(at_ms, bytes)| (at_ms * MS, bytes));
    RunBuilder::new()
        .section("generate", 0, 100 * MS, |s| {
            s.section("denoise", 0, 20 * MS, |_| {})
                .section(decode, 20 * MS, 60 * MS, |_| {})
                .section("save", 60 * MS, 90 * MS, |_| {});
        })
        .series(SeriesInfo::gauge("host.memory.used", "", Unit::Bytes), &used)
        .with(|run| {
            let total = ("host.memory_bytes".into(), "100000000000".into());
            run.info.facts.push(total);
        })
        .session("clip", 10 * MS, Some(95 * MS), vec![])
        .finish(100 * MS)
}

fn document(run: &Run) -> Value {
    serde_json::from_slice(&profiling_report(&Report::new(run))).expect("valid JSON")
}

/// The findings as they are shown, or the sentence that stands for them.
fn shown(run: &Run) -> String {
    let text = summary(&Report::new(run));
    let begin = text.find("\nFINDINGS\n").or(text.find("\nRules found nothing; "));
    let end = text.find("\nINCLUSIVE AND SELF TIME\n");
    let (begin, end) = begin.zip(end).expect("findings stand before sections");
    text[begin + 1..end].to_owned()
}

#[test]
fn findings_stand_before_the_tables_most_severe_first() {
    let shown = shown(&full_machine("vae_decode"));
    // How many checks there are is not the business of this test.
    let is_count = |line: &&str| line.contains("could not be made (--format json");
    assert_eq!(shown.lines().filter(is_count).count(), 1, "{shown}");
    let lines: Vec<&str> = shown.lines().filter(|line| !is_count(line)).collect();
    insta::assert_snapshot!(lines.join("\n"), @r"
    FINDINGS
    HIGH    Memory of the machine was 95 % full at its peak
            peak share in use 95.0 % (limit 90.0 %) · peak in use 88.5 GiB
            Where: in generate / vae_decode, at 0.030 s
            Decode in tiles or slices, offload models that are not in use, or work on fewer frames at
            once; the next larger input will not fit.

    MEDIUM  vae_decode took 40 % of the wall time by itself
            its own share of the wall time 40.0 % (limit 30.0 %) · its own time 40.0 ms · its calls 1
            Where: in generate / vae_decode, 0.020 to 0.060 s
            See that the decoder runs on the GPU in half precision; torch.compile(vae.decode),
            channels_last, or a small decoder (AutoencoderTiny) make it faster. enable_tiling() and
            enable_slicing() save memory and cost time: they help where memory ran out, not otherwise.
            Saves at most 40.0 ms: all of its own time

    ");
}

#[test]
fn where_nothing_is_the_matter_one_line_says_so() {
    let run = RunBuilder::new().section("denoise", 0, 90, |_| {}).finish(100);
    let line = shown(&run);
    assert!(line.starts_with("Rules found nothing; 1 check passed, "), "{line}");
    assert!(!line.contains("\n\n"), "{line}");
}

#[test]
fn a_recommendation_has_the_known_keys_and_its_evidence() {
    let report = document(&full_machine("vae_decode"));
    assert_follows_schema(&report);
    let first = &report["recommendations"][0];
    assert_eq!(first["category"], "memory");
    assert_eq!(first["priority"], "High");
    assert_eq!(first["issue"], "Memory of the machine was 95 % full at its peak");
    assert!(first["suggestion"].as_str().unwrap().contains("Decode in tiles"));
    assert_eq!(first["rule"], "memory-pressure");
    let expected = json!({
        "what": "peak share in use", "value": 0.95, "limit": 0.9, "unit": "ratio", "text": "95.0 %"
    });
    assert_eq!(first["evidence"][0], expected);
    assert_eq!(first["intervals"], json!([{"start": 0.03, "end": 0.03}]));
    assert_eq!((&first["saving"], &first["confidence"]), (&Value::Null, &json!("high")));
    assert_eq!(first["section"], json!(["generate", "vae_decode"]));
    let second = &report["recommendations"][1];
    assert_eq!(second["rule"], "stage-bottleneck");
    assert_eq!(second["saving"]["at_most"], 0.04);
}

#[test]
fn a_session_has_recommendations_of_its_own_since_its_start() {
    let report = document(&full_machine("vae_decode"));
    let of_session = &report["sessions"][0]["recommendations"];
    assert_eq!(of_session[0]["rule"], "memory-pressure");
    assert_eq!(of_session[0]["intervals"], json!([{"start": 0.02, "end": 0.02}]));
}

#[test]
fn checks_are_those_that_passed_and_those_that_could_not_be_made() {
    let report = document(&full_machine("vae_decode"));
    let rules = |key: &str| -> Vec<&Value> {
        let checks = report["checks"][key].as_array().unwrap();
        checks.iter().map(|check| &check["rule"]).collect()
    };
    assert!(rules("not_checked").contains(&&json!("dropped-frames")));
    assert!(!rules("passed").contains(&&json!("memory-pressure")));
    assert!(!rules("not_checked").contains(&&json!("memory-pressure")));
}

#[test]
fn names_in_findings_become_no_control_codes() {
    let hostile = format!("decode\x1b[31m</script>{}", "x".repeat(2000));
    let run = full_machine(&hostile);
    let text = summary(&Report::new(&run));
    assert!(!text.contains('\x1b'), "{text}");
    let longest = text.lines().map(|line| line.chars().count()).max();
    assert!(longest < Some(250), "{longest:?}");
    let json = profiling_report(&Report::new(&run));
    assert!(!String::from_utf8(json).unwrap().contains("</script>"));
}
