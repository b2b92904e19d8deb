//! From a `profiling_report.json` to a summary: of Marey's own reports, and of those in the shape of other profilers that write
//! `session_info`, `summary` and `stage_analysis`.

mod gpus;
mod iterations;
mod sections;

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "figures of a few round numbers are exact")]
mod tests;

use serde_json::Value;

use super::{Ended, MachineSums, Range, RankFinding, RankProcess, RankSummary, Source, Work};

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
        let (sections, n_sections_left_out) = sections::sections(report);
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
            sections,
            n_sections_left_out,
            steps: iterations::iterations(report, ("diffusion_analysis", "steps"), start_s),
            blocks: iterations::iterations(report, ("block_analysis", "blocks"), start_s),
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

fn machine(report: &Value) -> MachineSums {
    let usage = ["min_usage", "avg_usage", "peak_usage"];
    let usage_mb = ["min_usage_mb", "avg_usage_mb", "peak_usage_mb"];
    let busy = ["", "avg_cpu_usage", "peak_cpu_usage"];
    let used_mb = ["", "avg_memory_usage_mb", "peak_memory_usage_mb"];
    let bytes = |path: &str| number(report, path).map(|mb| crate::stats::whole(mb * MIB));
    MachineSums {
        gpus: gpus::gpus(report),
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
