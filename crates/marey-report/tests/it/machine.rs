//! What samplers read, in text and in the profiling report.

use marey::{Run, SeriesInfo, Unit};
use marey_analysis::SessionRuns;
use marey_report::{
    Report, profiling_report, raw_profiling_data, raw_profiling_data_of_session, summary,
};
use marey_testing::RunBuilder;
use serde_json::{Value, json};

use crate::example::{latent_video, sampled_latent_video};
use crate::json::assert_follows_schema;
use crate::shown::{block, markdown, words};

const SECOND: u64 = 1_000_000_000;

fn document(run: &Run) -> Value {
    serde_json::from_slice(&profiling_report(&Report::new(run))).expect("valid JSON")
}

#[test]
fn the_machine_of_the_example() {
    let text = summary(&Report::new(&sampled_latent_video()));
    insta::assert_snapshot!(block(&text, "MACHINE"));
}

#[test]
fn the_sessions_of_the_example() {
    let text = summary(&Report::new(&sampled_latent_video()));
    insta::assert_snapshot!(block(&text, "SESSIONS"));
    let expected = "Sampler host: left out 2 rounds, up to 5.00 ms late, took 0.5 % of a core";
    assert!(words(&text).contains(expected), "{text}");
}

#[test]
fn a_machine_that_was_not_sampled_is_null_and_said_to_be_so_once() {
    let report = document(&latent_video());
    for key in ["gpu_metrics", "cpu_metrics", "streaming_analysis"] {
        assert_eq!(report[key], Value::Null, "{key}");
    }
    assert_eq!(report["summary"]["gpu"], Value::Null);
    assert_eq!(report["summary"]["cpu"], Value::Null);
    let expected = json!([
        {"what": "gpu_metrics", "why": "no GPU was sampled"},
        {"what": "cpu_metrics", "why": "the machine was not sampled"},
    ]);
    assert_eq!(report["data_quality"]["unavailable"], expected);
    let text = summary(&Report::new(&latent_video()));
    assert!(!text.contains("MACHINE"), "{text}");
}

#[test]
fn a_gpu_that_cannot_be_read_has_no_zeros() {
    let mut run = RunBuilder::new()
        .series(SeriesInfo::gauge("host.memory.used", "", Unit::Bytes), &[(0, 1.0)])
        .finish(SECOND);
    run.unavailable = vec![marey::Unavailable {
        what: "nvml".into(),
        why: "libnvidia-ml.so.1 was not found".into(),
    }];
    let report = document(&run);
    assert_follows_schema(&report);
    assert_eq!(report["gpu_metrics"], Value::Null);
    let expected = json!([{"what": "nvml", "why": "libnvidia-ml.so.1 was not found"}]);
    assert_eq!(report["data_quality"]["unavailable"], expected);
    let text = serde_json::to_string(&report).unwrap();
    assert_eq!(text.matches("libnvidia-ml").count(), 1);
    let shown = summary(&Report::new(&run));
    let expected = "GPU: not available: libnvidia-ml.so.1 was not found.";
    assert!(shown.contains(expected), "{shown}");
    // One reading of memory has no rate beside it.
    assert_eq!(report["cpu_metrics"]["cpu_analysis"], Value::Null);
    assert_eq!(report["cpu_metrics"]["total_samples"], 1);
}

#[test]
fn energy_in_the_report_is_5_56_wh_for_100_readings_of_400_w() {
    // The original said 555.6 Wh.
    let at = |n: u64| (SECOND / 4 + n * SECOND / 2, 400.0);
    let readings: Vec<(u64, f64)> = (0..100).map(at).collect();
    let run = RunBuilder::new()
        .series(SeriesInfo::gauge("gpu.power", "GPU-1", Unit::Watts), &readings)
        .finish(50 * SECOND);
    let power = &document(&run)["gpu_metrics"]["power_analysis"];
    let energy = power["total_energy_wh"].as_f64().unwrap();
    assert!((energy - 20_000.0 / 3600.0).abs() < 1e-9, "{energy}");
    assert_eq!(power["energy_source"], "power");
}

#[test]
fn several_gpus_have_an_object_each() {
    let power = |uuid: &str| SeriesInfo::gauge("gpu.power", uuid, Unit::Watts);
    let run = RunBuilder::new()
        .series(power("GPU-a"), &[(0, 100.0), (SECOND, 300.0)])
        .series(power("GPU-b"), &[(0, 50.0), (SECOND, 50.0)])
        .finish(SECOND);
    let report = document(&run);
    assert_follows_schema(&report);
    let gpus = &report["gpu_metrics"];
    assert_eq!(gpus["power_analysis"]["peak_power_watts"], 350.0);
    let of = |uuid: &str| gpus["devices"][uuid]["power_analysis"]["total_energy_joules"].clone();
    assert_eq!((of("GPU-a"), of("GPU-b")), (json!(200.0), json!(50.0)));
    assert_eq!(gpus["power_analysis"]["total_energy_joules"], 250.0);
    assert_eq!(gpus["timeline"][1]["power"], 350.0);
}

#[test]
fn how_busy_each_gpu_and_its_memory_controller_was_is_said_by_name() {
    let share = |name: &str, uuid: &str| SeriesInfo::gauge(name, uuid, Unit::Ratio);
    let run = RunBuilder::new()
        .series(share("gpu.utilization", "GPU-a"), &[(0, 0.25), (SECOND, 0.75)])
        .series(share("gpu.utilization", "GPU-b"), &[(0, 0.875), (SECOND, 0.875)])
        .series(share("gpu.memory_controller.utilization", "GPU-a"), &[(0, 0.125), (SECOND, 0.25)])
        .with(|run| {
            let uuids = [("gpu.0.uuid", "GPU-a"), ("gpu.1.uuid", "GPU-b")];
            run.info.facts = uuids.map(|(key, uuid)| (key.into(), uuid.into())).into();
        })
        .finish(SECOND);
    let report = Report::new(&run);
    let text = block(&summary(&report), "MACHINE");
    let row = |what: &str| {
        let line = text.lines().find(|line| line.starts_with(what));
        let figures = line.unwrap_or_default().trim_start_matches(what);
        let mut figures = figures.split_whitespace();
        figures.by_ref().take(4).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(row("GPU 0 busy"), "50.0 % 75.0 %");
    assert_eq!(row("GPU 1 busy"), "87.5 % 87.5 %");
    assert_eq!(row("GPU 0 memory controller busy"), "18.8 % 25.0 %");
    assert_eq!(row("GPU 1 memory controller busy"), "");
    let markdown = markdown(&report);
    let expected = "- GPU busy: GPU 0 50.0 % · GPU 1 87.5 %\n";
    assert!(markdown.contains(expected), "{markdown}");
}

#[test]
fn raw_data_are_all_points_of_all_series() {
    let run = sampled_latent_video();
    let raw: Value = serde_json::from_slice(&raw_profiling_data(&run)).unwrap();
    assert_eq!(raw["session_id"], "workstation-4242-1700000000125000000");
    assert_eq!(raw["gpu_data"].as_array().unwrap().len(), 6);
    assert_eq!(raw["cpu_data"].as_array().unwrap().len(), 13);
    let memory = &raw["gpu_data"][0];
    assert_eq!((&memory["name"], &memory["unit"]), (&json!("gpu.memory.used"), &json!("B")));
    assert_eq!(memory["points"].as_array().unwrap().len(), 5);
    assert_eq!(memory["points"][1]["timestamp"], 1_700_000_000.15);
    assert_eq!(memory["points"][1]["mean"], 9_663_676_416.0);
    let session = SessionRuns::new(&run).get(0).unwrap();
    let session: Value = serde_json::from_slice(&raw_profiling_data_of_session(&session)).unwrap();
    assert_eq!(session["session_id"], "first prompt");
    // From 1 ms to 78 ms: the readings at 1, 25, 50 and 75 ms.
    assert_eq!(session["gpu_data"][0]["points"].as_array().unwrap().len(), 4);
}
