//! A run in Markdown, for pull requests, issues and wikis.

use std::cmp::Reverse;

use marey_analysis::{Durations, GpuTimes, Gpus, NameRow, SectionGpuTime, SectionPeak, WindowUse};

use super::escape::{code, text};
use super::findings::findings_of;
use super::table::{Column, Table};
use crate::escape::cut;
use crate::model::{LaunchFacts, Report, StatusKind};
use crate::quantity::{bytes, counted, duration, duration_ns, growth, known, percent};
use crate::render::markdown::markdown_text;
use crate::text::section_peaks::{measured_calls, peak};
use crate::trace_report::short;

/// More rows than this are for the page.
const MAX_ROWS: usize = 15;
const NAME_WIDTH: usize = 64;
/// More GPUs than this nobody compares in a table of two columns.
const MAX_GPUS: usize = 8;
const REASONS_WIDTH: usize = 480;
/// Facts that tell one process from another, and nothing to who wants to make the run again.
const OF_A_PROCESS: [&str; 4] = ["start_time", "boot_id", "pid_namespace", "ring_folder"];

/// The run's figures, what is the matter, where the time went, steps, memory, and how far the figures can be trusted. Ends with a line
/// feed; parts without content are left out.
pub fn markdown_report(report: &Report) -> String {
    let mut parts = vec![heading(report), key_figures(report)];
    parts.extend(findings_of(&report.activity.findings));
    parts.extend(stages(report));
    parts.extend(steps(report));
    parts.extend(loops(report));
    parts.extend(memory(report));
    parts.extend(gpu_times(report));
    parts.extend(section_peaks(report));
    parts.extend(
        report
            .trace_files
            .iter()
            .map(|file| markdown_text(&short(file))),
    );
    parts.push(quality(report));
    parts.extend(facts(report));
    parts.join("\n")
}

fn heading(report: &Report) -> String {
    let name = report
        .session
        .as_ref()
        .map(|session| &session.name)
        .or(report.run.job_id.as_ref())
        .unwrap_or(&report.run.id);
    format!("## Marey: {}\n", code(&cut(name, NAME_WIDTH)))
}

/// What a reader looks for first, as one table of two columns.
fn key_figures(report: &Report) -> String {
    let mut table = Table::new(&[Column::Text("Figure"), Column::Figure("Value")]);
    let mut row = |what: &str, value: Option<String>| {
        if let Some(value) = value {
            table.row(vec![what.into(), value]);
        }
    };
    let activity = &report.activity;
    row("Wall time", Some(duration_ns(activity.stages.wall_ns)));
    row(
        "Status",
        Some(text(&cut(&report.status.text(), NAME_WIDTH))),
    );
    let launch = report.run.launch.as_ref();
    row("Command", launch.and_then(LaunchFacts::text));
    let diffusion = activity.diffusion.as_ref();
    let steps = diffusion.and_then(|found| found.steps.as_ref());
    let steady = steps.and_then(|steps| steps.steady.as_ref());
    let of = |ns: u64| duration_ns(ns);
    row(
        "Denoising step, median",
        steady.map(|steady| of(steady.p50_ns)),
    );
    row(
        "Denoising step, p95",
        steady.map(|steady| of(steady.p95_ns)),
    );
    let blocks = diffusion.and_then(|found| found.blocks.as_ref());
    let first = blocks.and_then(|blocks| blocks.time_to_first_ns);
    row("Time to first block", first.map(of));
    for frames in diffusion.into_iter().flat_map(|found| &found.rates) {
        let value = format!("{:.2} frames/s", frames.per_second);
        row(&format!("FPS: {}", text(&frames.meaning)), Some(value));
    }
    let sources = report.memory.iter().flat_map(|memory| &memory.sources);
    for source in sources {
        let name = marey_analysis::memory_source_name(source.source);
        let peak = source
            .counted_peak_bytes
            .unwrap_or(source.peak.allocated_bytes);
        row(&format!("Peak memory, {}", text(&name)), Some(bytes(peak)));
    }
    let gpus = activity.telemetry.gpus.as_ref();
    for (what, mean) in gpus.into_iter().flat_map(busy_gpus) {
        row(&what, Some(percent(mean)));
    }
    let energy = gpus.and_then(|gpus| gpus.together.energy);
    row(
        "GPU energy",
        energy.map(|energy| format!("{:.2} Wh", energy.watt_hours())),
    );
    let caches = activity
        .caches
        .as_ref()
        .and_then(|caches| caches.all.hit_ratio);
    row("Cache hits", caches.map(percent));
    for window in activity.windows.iter().flat_map(|windows| &windows.each) {
        row(
            &format!("Profiler window {}", text(&cut(&window.name, NAME_WIDTH))),
            Some(text(&window_in_words(window))),
        );
    }
    table.text()
}

/// How busy each GPU was, by what it is called: the busiest says nothing of the others.
fn busy_gpus(gpus: &Gpus) -> Vec<(String, f64)> {
    let busy = gpus.each.iter().take(MAX_GPUS).filter_map(|gpu| {
        let name = gpu.index.as_ref().unwrap_or(&gpu.uuid);
        let what = match gpus.each.len() {
            1 => "GPU busy".to_owned(),
            _ => format!("GPU {} busy", text(&cut(name, NAME_WIDTH))),
        };
        Some((what, gpu.utilization?.mean))
    });
    busy.collect()
}

fn window_in_words(window: &WindowUse) -> String {
    let steps = window
        .recorded_steps
        .map(|steps| counted(steps, "step", "steps") + " ");
    let end = window.stop_reason.as_deref();
    let end = end.unwrap_or(if window.is_cut_off {
        "the process's end"
    } else {
        "nothing yet"
    });
    format!("{}recorded, ended by {end}", steps.unwrap_or_default())
}

fn stages(report: &Report) -> Option<String> {
    let names = &report.sections.by_name;
    let mut table = Table::new(&[
        Column::Text("Section"),
        Column::Figure("Count"),
        Column::Figure("Total"),
        Column::Figure("Mean"),
        Column::Figure("p50"),
        Column::Figure("p95"),
        Column::Figure("Share of wall time"),
    ]);
    for found in names.iter().take(MAX_ROWS) {
        table.row(stage(found));
    }
    let more = names.len().saturating_sub(MAX_ROWS);
    let more = (more > 0).then(|| format!("\n… and {more} more.\n"));
    (!table.is_empty()).then(|| {
        format!(
            "### Where the time went\n\n{}{}",
            table.text(),
            more.unwrap_or_default()
        )
    })
}

fn stage(found: &NameRow) -> Vec<String> {
    let calls = &found.calls;
    let percentile = calls.percentiles.as_ref();
    vec![
        code(&cut(&found.name, NAME_WIDTH)),
        calls.count.to_string(),
        duration_ns(calls.total_ns),
        known(calls.mean_ns, duration),
        known(percentile, |p| duration_ns(p.p50_ns)),
        known(percentile, |p| duration_ns(p.p95_ns)),
        known(found.share_of_wall_ratio, percent),
    ]
}

/// Denoising steps and blocks, the first apart from the rest.
fn steps(report: &Report) -> Option<String> {
    let found = report.activity.diffusion.as_ref()?;
    let mut table = durations_table("Work");
    let steps = found.steps.as_ref();
    let blocks = found.blocks.as_ref();
    for (what, times) in [
        ("first step", steps.and_then(|steps| steps.warm_up.as_ref())),
        (
            "steps after it",
            steps.and_then(|steps| steps.steady.as_ref()),
        ),
        (
            "first step on the GPU",
            steps.and_then(|steps| steps.gpu_warm_up.as_ref()),
        ),
        (
            "steps after it on the GPU",
            steps.and_then(|steps| steps.gpu_steady.as_ref()),
        ),
        (
            "first block",
            blocks.and_then(|blocks| blocks.warm_up.as_ref()),
        ),
        (
            "blocks after it",
            blocks.and_then(|blocks| blocks.steady.as_ref()),
        ),
        (
            "between blocks",
            blocks.and_then(|blocks| blocks.between.as_ref()),
        ),
    ] {
        if let Some(times) = times {
            table.row(durations(what, times));
        }
    }
    (!table.is_empty()).then(|| format!("### Steps and blocks\n\n{}", table.text()))
}

fn durations_table(first: &'static str) -> Table {
    Table::new(&[
        Column::Text(first),
        Column::Figure("Count"),
        Column::Figure("Mean"),
        Column::Figure("p50"),
        Column::Figure("p95"),
        Column::Figure("Max"),
    ])
}

fn durations(what: &str, found: &Durations) -> Vec<String> {
    vec![
        what.into(),
        found.count.to_string(),
        duration(found.mean_ns),
        duration_ns(found.p50_ns),
        duration_ns(found.p95_ns),
        duration_ns(found.max_ns),
    ]
}

fn loops(report: &Report) -> Option<String> {
    let mut table = durations_table("Loop");
    for found in report.iterations.iter().take(MAX_ROWS) {
        let calls = &found.calls;
        let percentile = calls.percentiles.as_ref();
        table.row(vec![
            code(&cut(&found.name, NAME_WIDTH)),
            calls.count.to_string(),
            known(calls.mean_ns, duration),
            known(percentile, |p| duration_ns(p.p50_ns)),
            known(percentile, |p| duration_ns(p.p95_ns)),
            known(calls.max_ns, duration_ns),
        ]);
    }
    (!table.is_empty()).then(|| format!("### Loops\n\n{}", table.text()))
}

fn memory(report: &Report) -> Option<String> {
    let found = report.memory.as_ref()?;
    let mut table = Table::new(&[
        Column::Text("Label"),
        Column::Text("Of"),
        Column::Figure("Allocated"),
        Column::Figure("Reserved"),
        Column::Figure("Peak so far"),
    ]);
    for reading in found.labelled.iter().take(MAX_ROWS) {
        table.row(vec![
            code(&cut(&reading.label, NAME_WIDTH)),
            text(&marey_analysis::memory_source_name(reading.source)),
            bytes(reading.allocated_bytes),
            known(reading.reserved_bytes, bytes),
            known(reading.peak_bytes, bytes),
        ]);
    }
    let more = found.labelled.len().saturating_sub(MAX_ROWS);
    let more = (more > 0).then(|| format!("\n… and {more} more.\n"));
    (!table.is_empty())
        .then(|| format!("### Memory\n\n{}{}", table.text(), more.unwrap_or_default()))
}

/// GPU time of call paths, and why some have none.
fn gpu_times(report: &Report) -> Option<String> {
    let measured = report.gpu_times.as_ref().map(|gpu| gpu_table(report, gpu));
    let why_not = report.quality.why_no_gpu_times();
    let why_not = why_not.map(|why| format!("{}.\n", text(&cut(why, REASONS_WIDTH))));
    let parts: Vec<String> = measured.into_iter().chain(why_not).collect();
    (!parts.is_empty()).then(|| format!("### GPU time of sections\n\n{}", parts.join("\n")))
}

/// Longest first, nested ones among them.
fn gpu_table(report: &Report, gpu: &GpuTimes) -> String {
    let mut rows: Vec<&SectionGpuTime> = gpu.sections.iter().collect();
    rows.sort_by_key(|row| (Reverse(row.gpu.total_ns), row.node));
    let mut table = Table::new(&[
        Column::Text("Section"),
        Column::Figure("Calls"),
        Column::Figure("GPU"),
        Column::Figure("Mean"),
        Column::Figure("p50"),
        Column::Figure("p95"),
        Column::Figure("Queue delay, mean"),
    ]);
    for row in rows.iter().take(MAX_ROWS) {
        table.row(vec![
            path(report, row.node),
            row.gpu.count.to_string(),
            duration_ns(row.gpu.total_ns),
            duration(row.gpu.mean_ns),
            duration_ns(row.gpu.p50_ns),
            duration_ns(row.gpu.p95_ns),
            known(row.delay.as_ref(), |delay| duration(delay.mean_ns)),
        ]);
    }
    let how = gpu.measured_by.as_deref().unwrap_or("events on the stream");
    let missing = gpu.n_not_measured;
    format!(
        "{}\nMeasured by {}; {} of {} not measured.\n",
        table.text(),
        text(&cut(how, NAME_WIDTH)),
        missing,
        counted(gpu.n_calls, "call", "calls")
    )
}

/// Most that torch's allocator held, highest first.
fn section_peaks(report: &Report) -> Option<String> {
    let mut rows: Vec<&SectionPeak> = report.section_peaks.iter().collect();
    rows.sort_by_key(|row| (Reverse(row.allocated_bytes), row.node, row.device));
    let mut table = Table::new(&[
        Column::Text("Section"),
        Column::Figure("GPU"),
        Column::Figure("Calls"),
        Column::Figure("Allocated"),
        Column::Figure("Reserved"),
        Column::Figure("Growth"),
    ]);
    for row in rows.iter().take(MAX_ROWS) {
        table.row(vec![
            path(report, row.node),
            row.device.to_string(),
            measured_calls(row),
            peak(row, row.allocated_bytes),
            peak(row, row.reserved_bytes),
            growth(row.growth_bytes),
        ]);
    }
    let is_at_least = rows.iter().any(|row| row.is_at_least());
    let note = if is_at_least {
        "\n≥: at least; not all calls were measured, and figures are of those that were.\n"
    } else {
        ""
    };
    (!table.is_empty()).then(|| format!("### Peak memory by section\n\n{}{note}", table.text()))
}

fn path(report: &Report, node: u32) -> String {
    code(&cut(&report.call_path(node).join(" / "), NAME_WIDTH))
}

fn quality(report: &Report) -> String {
    let quality = &report.quality;
    let mut lines = Vec::new();
    if report.status.kind == StatusKind::EndedWithoutClosing {
        lines.push("The recording ended without being closed.".to_owned());
    }
    for loss in &quality.losses {
        lines.push(format!("Lost: {} {}.", loss.count, loss.meaning));
    }
    lines.extend(
        quality
            .warnings
            .iter()
            .map(|warning| format!("Warning: {}.", text(warning))),
    );
    if quality.is_complete {
        lines.push("Data: complete, nothing was lost.".into());
    }
    lines.join("  \n") + "\n"
}

/// What somebody needs to make the run again.
fn facts(report: &Report) -> Option<String> {
    let run = &report.run;
    let mut table = Table::new(&[Column::Text("Fact"), Column::Text("Value")]);
    let command = run.command.join(" ");
    let known = [
        ("command", (!command.is_empty()).then_some(command.as_str())),
        ("host", run.host.as_deref()),
        ("job", run.job_id.as_deref()),
    ];
    for (what, value) in known {
        if let Some(value) = value {
            table.row(vec![what.into(), code(&cut(value, 200))]);
        }
    }
    let is_of_process = |key: &str| OF_A_PROCESS.contains(&key);
    for (key, value) in run.facts.iter().filter(|(key, _)| !is_of_process(key)) {
        table.row(vec![text(&cut(key, NAME_WIDTH)), code(&cut(value, 200))]);
    }
    (!table.is_empty()).then(|| {
        format!(
            "<details><summary>Environment and configuration</summary>\n\n{}\n</details>\n",
            table.text()
        )
    })
}
