//! From a `profiling_report.json` to a summary: of Marey's own reports, and of those in the shape of other profilers that write
//! `session_info`, `summary` and `stage_analysis`.

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "figures of a few round numbers are exact")]
mod tests;

use std::cmp::Reverse;
use std::collections::BTreeMap;

use serde_json::Value;

use super::iteration_cells::{Iteration, iteration_sums};
use super::{
    Ended, GpuSums, IterationSums, MachineSums, Range, RankFinding, RankProcess, RankSummary,
    SectionSums, Source, Work,
};
use crate::intervals::Interval;

/// Keys of which a report has at least one.
const KEYS: [&str; 5] =
    ["session_info", "summary", "stage_analysis", "timing_stats", "gpu_metrics"];

/// A mebibyte.
const MIB: f64 = 1_048_576.0;

/// 2⁵³: floats beyond it leave out whole numbers.
const MAX_EXACT: f64 = 9_007_199_254_740_992.0;

impl RankSummary {
    /// What a report comes to, read from a file of this name; `rank` stands where the report does not say its own. `None` when it is no
    /// report. What it does not have, or has in another shape, is not known.
    pub fn of_report(report: &Value, file: &str, rank: Option<u32>) -> Option<Self> {
        let keys = report.as_object()?;
        if !KEYS.iter().any(|key| keys.contains_key(*key)) {
            return None;
        }
        let start_s =
            number(report, "run.start").or_else(|| number(report, "session_info.start_time"));
        let wall = ["run.wall", "session_info.duration", "summary.duration"];
        let wall_s = wall.iter().find_map(|path| number(report, path));
        Some(Self {
            process: process(report, rank, start_s),
            source: Source::Report,
            file: file.to_owned(),
            session_id: text(report, "session_info.id"),
            marey: text(report, "run.facts.marey"),
            ended: ended(report),
            wall_ns: wall_s.map_or(0, nanoseconds),
            n_lost: [
                "sections_ring_full",
                "sections_not_written",
                "notes_dropped",
                "sections_unrecorded",
            ]
            .iter()
            .filter_map(|key| whole(report, &format!("data_quality.{key}")))
            .fold(0, u64::saturating_add),
            sections: sections(report),
            steps: iterations(report, ("diffusion_analysis", "steps"), start_s),
            blocks: iterations(report, ("block_analysis", "blocks"), start_s),
            machine: machine(report),
            work: work(report),
            findings: findings(report),
            ..Self::default()
        })
    }
}

fn process(report: &Value, rank: Option<u32>, start_s: Option<f64>) -> RankProcess {
    let small = |path: &str| whole(report, path).and_then(|n| u32::try_from(n).ok());
    let said = [
        "run.rank",
        "rank",
        "session_info.rank",
        "session_info.tags.rank",
        "session_info.tags.global_rank",
    ];
    let worlds = ["run.world_size", "world_size", "session_info.tags.world_size"];
    let fact = |key: &str| text(report, &format!("run.facts.{key}"));
    RankProcess {
        job_id: text(report, "run.job_id").unwrap_or_default(),
        rank: said.iter().find_map(|path| small(path)).or(rank),
        host: text(report, "run.host").unwrap_or_default(),
        pid: small("run.pid").unwrap_or(0),
        start_unix_ns: start_s.map_or(0, nanoseconds),
        world_size: worlds.iter().find_map(|path| small(path)),
        local_rank: small("run.local_rank"),
        forked_from: fact("forked_from").and_then(|value| value.parse().ok()),
        boot_id: fact("boot_id").unwrap_or_default(),
    }
}

fn ended(report: &Value) -> Ended {
    let reason = || text(report, "status.reason").unwrap_or_default();
    match text(report, "status.kind").as_deref() {
        Some("finished") => Ended::Finished,
        Some("running") => Ended::Running,
        Some("failed") => Ended::Failed(reason()),
        Some("out_of_memory") => Ended::Failed(format!("out of memory: {}", reason())),
        Some("killed") => Ended::Killed(
            whole(report, "status.signal")
                .and_then(|signal| i32::try_from(signal).ok())
                .unwrap_or(0),
        ),
        Some("ended_without_closing") => Ended::WithoutClosing,
        _ => Ended::NotKnown,
    }
}

/// Call paths of Marey's reports; of others stages or timings by their names. In order of the path.
fn sections(report: &Value) -> Vec<SectionSums> {
    let mut rows = match report.get("sections").and_then(Value::as_array) {
        Some(listed) if !listed.is_empty() => of_tree(listed),
        _ => of_names(report),
    };
    rows.sort_by_key(|row| Reverse(row.total_ns.max(row.open_ns.unwrap_or(0))));
    rows.truncate(RankSummary::MAX_SECTIONS);
    rows.sort_by(|a, b| (&a.path, a.is_iteration).cmp(&(&b.path, b.is_iteration)));
    rows
}

/// A list in which each entry names its parent, which comes before it.
fn of_tree(listed: &[Value]) -> Vec<SectionSums> {
    let mut paths: BTreeMap<u64, Vec<String>> = BTreeMap::new();
    let row = |section: &Value| {
        let name = section.get("name")?.as_str()?.to_owned();
        let parent = whole(section, "parent").and_then(|parent| paths.get(&parent));
        let mut path = parent.cloned().unwrap_or_default();
        path.push(name);
        if let Some(id) = whole(section, "id") {
            paths.insert(id, path.clone());
        }
        Some(SectionSums {
            path,
            is_iteration: text(section, "kind").as_deref() == Some("iteration"),
            open_ns: number(section, "open.so_far").map(nanoseconds),
            ..sums(section, ["count", "total", "min", "max"])
        })
    };
    listed.iter().filter_map(row).collect()
}

fn of_names(report: &Value) -> Vec<SectionSums> {
    let named = [
        ("stage_analysis.stages", ["call_count", "total_time", "min_time", "max_time"]),
        ("timing_stats", ["count", "total", "min", "max"]),
    ];
    let of = |(path, keys): (&str, [&str; 4])| {
        let stages = at(report, path)?.as_object()?;
        let row = |(name, stage): (&String, &Value)| SectionSums {
            path: vec![name.clone()],
            ..sums(stage, keys)
        };
        (!stages.is_empty()).then(|| stages.iter().map(row).collect())
    };
    named.into_iter().find_map(of).unwrap_or_default()
}

fn sums(section: &Value, [count, total, min, max]: [&str; 4]) -> SectionSums {
    let time = |key: &str| number(section, key).map_or(0, nanoseconds);
    SectionSums {
        count: whole(section, count).unwrap_or(0),
        total_ns: time(total),
        min_ns: time(min),
        max_ns: time(max),
        errors: whole(section, "errors").unwrap_or(0),
        ..SectionSums::default()
    }
}

/// The steps, or blocks, under `kind` in one `analysis` of a report that began at `start_s` seconds since 1970: one by one where all are listed,
/// else their sums alone.
fn iterations(
    report: &Value,
    (analysis, kind): (&str, &str),
    start_s: Option<f64>,
) -> Option<IterationSums> {
    let analysis = report.get(analysis)?;
    let listed = analysis.get(kind).and_then(Value::as_array);
    let listed = listed.map_or(&[][..], Vec::as_slice);
    let is_whole = whole(analysis, &format!("{kind}_left_out")).unwrap_or(0) == 0;
    let start_s = start_s.or_else(|| number(listed.first()?, "timestamp"));
    if is_whole && let Some(start_s) = start_s {
        let mut generation = None;
        let iteration = |(index, point): (usize, &Value)| {
            let of = whole(point, "generation");
            let is_first = index == 0 || of != generation;
            generation = of;
            let duration_ns =
                number(point, "computation_time_ms").map(|ms| crate::stats::whole(ms * 1e6))?;
            let since_s = number(point, "timestamp")? - start_s;
            let end_ns = crate::stats::whole(since_s * 1e9);
            let said = at(point, "warm_up").and_then(Value::as_bool);
            Some(Iteration {
                time: Interval { start_ns: end_ns.saturating_sub(duration_ns), end_ns },
                duration_ns,
                is_warm_up: said.unwrap_or(is_first),
            })
        };
        let found: Vec<Iteration> = listed.iter().enumerate().filter_map(iteration).collect();
        return iteration_sums(&found, None);
    }
    let count = whole(analysis, &format!("total_{kind}")).filter(|count| *count > 0)?;
    Some(IterationSums {
        count,
        median_ns: number(analysis, "steady.p50_ms").map(|ms| crate::stats::whole(ms * 1e6)),
        per_cell: 1,
        cells: Vec::new(),
    })
}

fn machine(report: &Value) -> MachineSums {
    let usage = ["min_usage", "avg_usage", "peak_usage"];
    let usage_mb = ["min_usage_mb", "avg_usage_mb", "peak_usage_mb"];
    let busy = ["", "avg_cpu_usage", "peak_cpu_usage"];
    let used_mb = ["", "avg_memory_usage_mb", "peak_memory_usage_mb"];
    let bytes = |path: &str| number(report, path).map(|mb| crate::stats::whole(mb * MIB));
    MachineSums {
        gpus: gpus(report),
        process_cores: None,
        host_cpu_ratio: range(report, "cpu_metrics.cpu_analysis", usage, 0.01)
            .or_else(|| range(report, "summary.cpu", busy, 0.01)),
        host_memory_bytes: range(report, "cpu_metrics.memory_analysis", usage_mb, MIB)
            .or_else(|| range(report, "summary.cpu", used_mb, MIB)),
        process_memory_peak_bytes: bytes("summary.cpu.peak_process_memory_mb"),
        torch_allocated_peak_bytes: None,
        torch_reserved_peak_bytes: None,
    }
}

/// Each GPU by its key in `gpu_metrics.devices`; of a report without them all GPUs as one without a name.
fn gpus(report: &Value) -> Vec<GpuSums> {
    let devices = at(report, "gpu_metrics.devices").and_then(Value::as_object);
    if let Some(devices) = devices.filter(|devices| !devices.is_empty()) {
        let each = devices.iter();
        return each.map(|(uuid, device)| gpu(uuid, device)).collect();
    }
    let none = GpuSums::default();
    let found = report.get("gpu_metrics").map_or_else(|| none.clone(), |metrics| gpu("", metrics));
    let found = with_summary(found, report);
    if found == none { Vec::new() } else { vec![found] }
}

fn gpu(uuid: &str, of: &Value) -> GpuSums {
    let usage = ["min_usage_mb", "avg_usage_mb", "peak_usage_mb"];
    let busy = ["min_utilization", "avg_utilization", "peak_utilization"];
    let heat = ["min_temperature", "avg_temperature", "peak_temperature"];
    let watts = ["min_power_watts", "avg_power_watts", "peak_power_watts"];
    let joules = number(of, "power_analysis.total_energy_joules");
    let hours = number(of, "power_analysis.total_energy_wh");
    GpuSums {
        uuid: uuid.to_owned(),
        name: text(of, "name"),
        memory_bytes: range(of, "memory_analysis", usage, MIB),
        memory_total_bytes: number(of, "memory_analysis.total_memory_mb").map(|mb| mb * MIB),
        utilization_ratio: range(of, "utilization_analysis", busy, 0.01),
        temperature_celsius: range(of, "temperature_analysis", heat, 1.0),
        power_watts: range(of, "power_analysis", watts, 1.0),
        energy_joules: joules.or_else(|| hours.map(|hours| hours * 3600.0)),
        is_at_thermal_risk: at(of, "temperature_analysis.thermal_throttling_risk")
            .and_then(Value::as_bool),
    }
}

/// What only `summary.gpu` says.
fn with_summary(mut gpu: GpuSums, report: &Value) -> GpuSums {
    let summary = |keys: [&str; 3], factor: f64| range(report, "summary.gpu", keys, factor);
    let usage = ["", "avg_memory_usage_mb", "peak_memory_usage_mb"];
    let busy = ["", "avg_gpu_utilization", "peak_gpu_utilization"];
    let hours = number(report, "summary.gpu.total_energy_wh");
    gpu.memory_bytes = gpu.memory_bytes.or_else(|| summary(usage, MIB));
    gpu.utilization_ratio = gpu.utilization_ratio.or_else(|| summary(busy, 0.01));
    gpu.energy_joules = gpu.energy_joules.or_else(|| hours.map(|hours| hours * 3600.0));
    gpu
}

fn work(report: &Value) -> Work {
    let in_blocks_or_steps =
        |key: &str| [format!("block_analysis.{key}"), format!("diffusion_analysis.{key}")];
    let frames = in_blocks_or_steps("total_frames");
    let rates = in_blocks_or_steps("fps");
    let pixels = report.pointer("/diffusion_analysis/frame_rates");
    let pixels = pixels.and_then(Value::as_array).into_iter().flatten();
    let pixels = pixels.filter(|rate| text(rate, "frames").as_deref() == Some("pixel"));
    let longest = pixels.max_by(|a, b| {
        let time = |rate: &Value| number(rate, "time_ms").unwrap_or(0.0);
        time(a).total_cmp(&time(b))
    });
    let sessions = report.get("sessions").and_then(Value::as_array);
    let ended = sessions.map(|each| {
        let ended = each.iter().filter(|s| number(s, "duration").is_some());
        ended.count() as u64
    });
    Work {
        latent_frames: frames.iter().find_map(|path| whole(report, path)),
        pixel_frames: longest.and_then(|rate| whole(rate, "count")),
        latent_frames_per_second: rates.iter().find_map(|path| number(report, path)),
        pixel_frames_per_second: longest.and_then(|rate| number(rate, "fps")),
        blocks_per_second: number(report, "block_analysis.bps"),
        n_sessions: ended.unwrap_or(0),
    }
}

fn findings(report: &Value) -> Vec<RankFinding> {
    let given = report.get("recommendations").and_then(Value::as_array);
    let finding = |given: &Value| {
        Some(RankFinding {
            rule: text(given, "rule").or_else(|| text(given, "category"))?,
            severity: text(given, "severity")
                .or_else(|| text(given, "priority"))
                .unwrap_or_default(),
            issue: text(given, "issue")?,
        })
    };
    let found = given.into_iter().flatten().filter_map(finding);
    found.take(RankSummary::MAX_FINDINGS).collect()
}

/// What lies under these keys, one in the other.
fn at<'a>(value: &'a Value, path: &str) -> Option<&'a Value> {
    path.split('.').try_fold(value, |value, key| value.get(key))
}

/// A finite number that is not negative.
fn number(value: &Value, path: &str) -> Option<f64> {
    let number = at(value, path)?.as_f64()?;
    (number.is_finite() && number >= 0.0).then_some(number)
}

/// A whole number; also one that is written as a text or with a fraction of nothing, as tags are. Absent beyond 64 bits, and beyond what a
/// float tells exactly where it is one.
fn whole(value: &Value, path: &str) -> Option<u64> {
    match at(value, path)? {
        Value::String(text) => text.trim().parse().ok(),
        Value::Number(number) => number.as_u64().or_else(|| {
            let number = number.as_f64()?;
            let is_exact = (0.0..=MAX_EXACT).contains(&number) && number.fract() == 0.0;
            is_exact.then(|| crate::stats::whole(number))
        }),
        _ => None,
    }
}

/// A text that says something.
fn text(value: &Value, path: &str) -> Option<String> {
    let text = at(value, path)?.as_str()?;
    (!text.is_empty()).then(|| text.to_owned())
}

/// Seconds as nanoseconds. Whole seconds apart, because nanoseconds since 1970 do not fit into a float.
fn nanoseconds(seconds: f64) -> u64 {
    crate::stats::whole(seconds.floor())
        .saturating_mul(1_000_000_000)
        .saturating_add(crate::stats::whole((seconds.fract() * 1e9).round()))
}

/// Lowest, mean and highest below a path, as far as they are known, times a factor; a mean or a highest value alone stands for what is
/// missing. `None` when both are. An empty key says that there is none.
fn range(value: &Value, path: &str, keys: [&str; 3], factor: f64) -> Option<Range> {
    let [min, mean, max] = keys.map(|key| Some(number(value, &format!("{path}.{key}"))? * factor));
    let mean = mean.or(max)?;
    Some(Range { min: min.unwrap_or(mean), mean, max: max.unwrap_or(mean) })
}
