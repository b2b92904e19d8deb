use serde_json::{Value, json};

use crate::job::{Ended, RankSummary, Ranks, Source};

fn of(report: &Value) -> RankSummary {
    RankSummary::of_report(report, "rank_3/profiling_report.json", Some(3)).unwrap()
}

/// As document 002 has it.
fn documented() -> Value {
    json!({
        "session_info": {"id": "s", "start_time": 1000.0, "duration": 2.5, "tags": {"rank": "1"}},
        "summary": {
            "gpu": {"peak_memory_usage_mb": 9800.0, "avg_memory_usage_mb": 8420.0, "avg_gpu_utilization": 85.0},
            "cpu": {"avg_cpu_usage": 45.0, "peak_cpu_usage": 90.0}
        },
        "stage_analysis": {"total_stages": 1, "stages": {
            "denoise": {"total_time": 2.0, "call_count": 4, "avg_time": 0.5, "min_time": 0.25, "max_time": 1.0}
        }},
        "diffusion_analysis": {"total_steps": 2, "steps": [
            {"timestamp": 1000.5, "computation_time_ms": 500.0},
            {"timestamp": 1001.0, "computation_time_ms": 250.0}
        ]}
    })
}

#[test]
fn a_report_in_the_shape_of_the_documents_is_read() {
    let found = of(&documented());
    assert_eq!(found.source, Source::Report);
    assert_eq!((found.process.rank, found.wall_ns), (Some(1), 2_500_000_000));
    assert_eq!(found.process.start_unix_ns, 1_000_000_000_000);
    let [gpu] = &found.machine.gpus[..] else { panic!() };
    let memory = gpu.memory_bytes.unwrap();
    let mib = 1_048_576.0;
    assert_eq!((memory.mean, memory.max), (8420.0 * mib, 9800.0 * mib));
    assert_eq!(gpu.utilization_ratio.unwrap().mean, 0.85);
    assert_eq!(found.machine.host_cpu_ratio.unwrap().max, 0.9);
    let [section] = &found.sections[..] else { panic!() };
    assert_eq!((section.path.join(""), section.count), ("denoise".into(), 4));
    assert_eq!(section.total_ns, 2_000_000_000);
    assert_eq!(section.durations, None);
    let steps = found.steps.unwrap();
    let lengths: Vec<u64> = steps.cells.iter().map(|cell| cell.total_ns).collect();
    assert_eq!((steps.count, lengths.iter().sum()), (2, 750_000_000_u64));
    assert_eq!((steps.cells[1].start_ns, steps.cells[1].end_ns), (750_000_000, 1_000_000_000));
    assert_eq!(steps.median_ns, Some(250_000_000));
}

#[test]
fn a_name_tells_the_rank_that_the_report_does_not_say() {
    let mut report = documented();
    report["session_info"]["tags"] = json!({});
    assert_eq!(of(&report).process.rank, Some(3));
}

#[test]
fn what_is_absent_or_of_another_shape_is_not_known() {
    let broken = [
        json!({"summary": null}),
        json!({"summary": {"gpu": [], "cpu": 3}, "sections": {}, "gpu_metrics": "x"}),
        json!({"session_info": {"duration": "long", "tags": []}, "timing_stats": [1]}),
        json!({"summary": {}, "diffusion_analysis": {"steps": 1, "total_steps": -1}}),
        json!({"summary": {}, "sections": [{"name": 1}, {"id": 0, "parent": 0, "name": "a", "total": -1.0, "count": 1.5}]}),
        json!({"session_info": {"start_time": 1e300, "duration": 1e300}, "block_analysis": {"blocks": [{"timestamp": 1e301, "computation_time_ms": 1e300}]}}),
    ];
    for report in broken {
        let found = of(&report);
        assert!(found.machine.gpus.is_empty(), "{report}");
        let mut ranks = Ranks::new();
        ranks.add(found);
        let again = Ranks::from_json(&ranks.to_json()).unwrap();
        assert_eq!(again, ranks, "{report}");
    }
    for other in [json!([]), json!({"nodes": 1}), json!(null)] {
        assert_eq!(RankSummary::of_report(&other, "x", None), None);
    }
}

#[test]
fn a_number_that_no_float_tells_exactly_is_absent() {
    let frames = |total: Value| {
        of(&json!({"summary": {}, "block_analysis": {"total_frames": total}})).work.latent_frames
    };
    assert_eq!(frames(json!(81)), Some(81));
    assert_eq!(frames(json!(81.0)), Some(81));
    assert_eq!(frames(json!(u64::MAX)), Some(u64::MAX));
    assert_eq!(frames(json!("18446744073709551615")), Some(u64::MAX));
    // One more is read as a float, which is another number; so is a float above 2 to the 53.
    let beyond: Value = serde_json::from_str("18446744073709551616").unwrap();
    assert_eq!(frames(beyond), None);
    assert_eq!(frames(json!(9_007_199_254_740_994.0)), None);
}

#[test]
fn the_end_of_a_process_is_read() {
    let ended = |status: Value| of(&json!({"summary": {}, "status": status})).ended;
    assert_eq!(ended(json!({"kind": "killed", "signal": 9})), Ended::Killed(9));
    assert_eq!(ended(json!({"kind": "failed", "reason": "x"})), Ended::Failed("x".into()));
    assert_eq!(ended(json!({"kind": "later"})), Ended::NotKnown);
}
