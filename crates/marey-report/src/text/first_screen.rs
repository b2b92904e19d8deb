//! The first screen: outcome, where the time went, speed, memory, the machine and findings, in at most 25 lines.

use std::cmp::Reverse;
use std::collections::HashMap;

use marey::MemorySource;
use marey_analysis::findings::Finding;
use marey_analysis::job::program_name;
use marey_analysis::{Account, AccountRow, Diffusion, FrameKind, FrameRate, GpuUse, SourceMemory};

use crate::escape::{cut, visible};
use crate::figure;
use crate::model::{Report, StatusKind};
use crate::quantity::{
    bytes, bytes_of, counted, duration, duration_ns, float, per_second_of, percent, rate, time_s,
};
use crate::width::{columns, pad_end, pad_start};

/// Columns, where the terminal has no fewer.
const WIDTH: usize = 100;
const NAME_WIDTH: usize = 24;
const BAR_WIDTH: usize = 20;
/// Rows of where the time went, *other* not counted.
const MOST_ROWS: usize = 6;
const MOST_FINDINGS: usize = 2;
const MOST_OUTLIERS: usize = 2;
const MOST_GPUS: usize = 2;
/// A part of the wall time that is looked into when half of it has names.
const LARGE: f64 = 0.6;
/// Parts below it are no rows.
const SMALL: f64 = 0.001;

/// The first screen, in lines of at most `width` columns, with colours where asked for. `more` is what shows the rest.
pub fn first_screen(report: &Report, how: &Shown<'_>) -> String {
    let width = how.width.clamp(1, WIDTH);
    let mut lines = vec![headline(report, width), String::new()];
    lines.extend(where_time_went(report, width, how));
    lines.push(String::new());
    let figures = [
        speed(report),
        memory(report),
        system(report),
        outliers(report),
    ];
    let labels = ["Speed", "Memory", "System", "Outliers"];
    let figures = labels.iter().zip(figures);
    lines.extend(figures.filter_map(|(label, parts)| line(label, &parts, width)));
    lines.push(String::new());
    lines.extend(findings(report, how));
    let mut text = String::new();
    for line in lines {
        text += &painted(&line, width, how);
        text.push('\n');
    }
    text
}

/// How the first screen is shown.
#[derive(Clone, Copy, Debug)]
pub struct Shown<'a> {
    /// Columns that there are.
    pub width: usize,
    /// With colours of a terminal.
    pub has_colour: bool,
    /// The command that shows everything.
    pub more: &'a str,
}

/// `latent-video finished in 7.110 s · no data lost · 3 blocks · 12 steps · 12 frames`
fn headline(report: &Report, width: usize) -> String {
    let run = &report.run;
    let how_long = match report.status.kind {
        StatusKind::Finished => "in",
        _ => "after",
    };
    let mut parts = vec![format!(
        "{} {} {how_long} {}",
        program(&run.command),
        cut(&report.status.text(), 60),
        duration_ns(run.wall_ns)
    )];
    let lost = ["data was lost: see --full", "no data lost"];
    parts.push(lost[usize::from(report.quality.is_complete)].into());
    let ranks = report.run.rank.zip(report.run.world_size);
    let ranks = ranks.filter(|(_, world_size)| *world_size > 1);
    parts.extend(
        ranks.map(|(rank, world_size)| {
            format!("rank {rank} of {world_size}; of all: marey aggregate")
        }),
    );
    if let Some(found) = &report.activity.diffusion {
        parts.extend(made(report, found));
    }
    let sessions = report.sessions.len() as u64;
    if sessions > 0 {
        parts.push(counted(sessions, "generation", "generations"));
    }
    fitting(&parts, width)
}

/// Blocks, steps and frames: those that were delivered, else decoded, else latent.
fn made(report: &Report, found: &Diffusion) -> Vec<String> {
    let blocks = found.blocks.as_ref();
    let blocks = blocks.map(|blocks| counted(blocks.each.len() as u64, "block", "blocks"));
    let steps = found.steps.as_ref();
    let steps = steps.map(|steps| counted(steps.each.len() as u64, "step", "steps"));
    let streaming = report.activity.streaming.as_ref();
    let delivered = streaming.and_then(|streaming| streaming.frames);
    let frames = delivered.or_else(|| Some(end_to_end(found)?.frames));
    let frames = frames.map(|frames| counted(frames, "frame", "frames"));
    [blocks, steps, frames].into_iter().flatten().collect()
}

/// The rate over the longest time: of pixels where those are known.
fn end_to_end(found: &Diffusion) -> Option<&FrameRate> {
    let is_pixel = |rate: &FrameRate| rate.kind == FrameKind::Pixel;
    let rates = found.rates.iter();
    rates.max_by_key(|rate| (is_pixel(rate), rate.over_ns))
}

/// The program without its folders.
fn program(command: &[String]) -> String {
    match program_name(command) {
        "" => "the program".into(),
        name => cut(name, 40),
    }
}

/// Names with their time, which add up to the wall time.
struct Part {
    name: String,
    held_ns: u64,
    note: String,
}

fn where_time_went(report: &Report, width: usize, how: &Shown<'_>) -> Vec<String> {
    let Some(account) = &report.account else {
        return vec![
            "  Where the time went cannot be said: sections of several threads are missing from the records.".into(),
            format!("  What was counted: {}", how.more),
        ];
    };
    let (parts, other_ns) = parts(report, account);
    let name_width = parts.iter().map(|part| columns(&part.name)).max();
    let name_width = name_width.unwrap_or(0).max(columns("other"));
    let largest = parts
        .iter()
        .map(|part| part.held_ns)
        .chain([other_ns])
        .max();
    let largest = float(largest.unwrap_or(1).max(1));
    let wall = float(account.wall_ns.max(1));
    let line = |part: &Part| {
        let bar = bar(float(part.held_ns) / largest, BAR_WIDTH.min(width / 5));
        format!(
            "  {}  {}  {}  {bar}  {}",
            pad_end(&part.name, name_width),
            pad_start(&duration_ns(part.held_ns), 8),
            pad_start(&percent(float(part.held_ns) / wall), 7),
            part.note
        )
    };
    let other = Part {
        name: "other".into(),
        held_ns: other_ns,
        note: String::new(),
    };
    parts.iter().chain([&other]).map(line).collect()
}

/// The largest parts, and the sum of all else.
fn parts(report: &Report, account: &Account) -> (Vec<Part>, u64) {
    let by_parent = account.by_parent();
    let below = |parent: Option<usize>| by_parent.get(&parent).map_or(&[][..], Vec::as_slice);
    let wall = float(account.wall_ns.max(1));
    let mut parts: HashMap<String, Part> = HashMap::new();
    let mut waiting: Vec<usize> = below(None).to_vec();
    while let Some(index) = waiting.pop() {
        let row = &account.rows[index];
        let named_ns = row.held_ns.saturating_sub(row.self_ns);
        let is_large = float(row.held_ns) >= LARGE * wall || report.is_iteration(row.node);
        // A row is shown with what is below it, or only its own time where what is below it is shown.
        let is_open = is_large && named_ns > 0 && named_ns >= row.held_ns / 2;
        let largest = below(Some(index))
            .first()
            .map(|below| &account.rows[*below]);
        if is_open {
            waiting.extend(below(Some(index)));
        }
        let name = name(report, row);
        let part = parts.entry(name.clone());
        let part = part
            .and_modify(|part| part.note.clear())
            .or_insert_with(|| Part {
                name,
                held_ns: 0,
                note: note(report, row, largest, is_open),
            });
        part.held_ns += if is_open { row.self_ns } else { row.held_ns };
    }
    let mut parts: Vec<Part> = parts.into_values().collect();
    parts.sort_by(|a, b| (Reverse(a.held_ns), &a.name).cmp(&(Reverse(b.held_ns), &b.name)));
    let is_shown = |part: &&Part| float(part.held_ns) >= SMALL * wall;
    let kept = parts.iter().take(MOST_ROWS).take_while(is_shown).count();
    parts.truncate(kept);
    let shown_ns: u64 = parts.iter().map(|part| part.held_ns).sum();
    (parts, account.wall_ns.saturating_sub(shown_ns))
}

fn name(report: &Report, row: &AccountRow) -> String {
    let path = report.call_path(row.node);
    let name = path.last().unwrap_or(&"");
    // Blanks alone would be a row without a name.
    if name.trim().is_empty() {
        return cut(&format!("\"{name}\""), NAME_WIDTH);
    }
    cut(name, NAME_WIDTH)
}

/// The largest part of it, where that is at least half of it.
fn note(report: &Report, row: &AccountRow, largest: Option<&AccountRow>, is_open: bool) -> String {
    if is_open {
        return "itself".into();
    }
    let largest = largest.filter(|below| below.held_ns >= row.held_ns.div_ceil(2));
    largest.map_or_else(String::new, |below| {
        format!("{} {}", name(report, below), duration_ns(below.held_ns))
    })
}

/// A share in eighths of a column.
fn bar(ratio: f64, width: usize) -> String {
    let eighths = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let mut left = ratio.clamp(0.0, 1.0) * float(width as u64);
    let mut bar = String::new();
    while left >= 1.0 {
        bar.push('█');
        left -= 1.0;
    }
    let part = eighths
        .iter()
        .rev()
        .enumerate()
        .find(|(place, _)| left * 8.0 >= float(7 - *place as u64));
    bar += part.map_or("", |(_, eighth)| *eighth);
    pad_end(&bar, width)
}

fn speed(report: &Report) -> Vec<String> {
    let mut parts = Vec::new();
    let Some(found) = &report.activity.diffusion else {
        return parts;
    };
    let steady = found.steps.as_ref().and_then(|steps| steps.steady.as_ref());
    if let Some(steps) = steady.filter(|steps| steps.mean_ns > 0.0) {
        let p95 = duration_ns(steps.p95_ns);
        parts.push(rate(1e9 / steps.mean_ns));
        parts.push(format!("{} per step (p95 {p95})", duration(steps.mean_ns)));
    }
    let blocks = found.blocks.as_ref().and_then(|blocks| blocks.per_second);
    parts.extend(blocks.map(|blocks| format!("{} blocks/s", per_second_of(blocks))));
    parts.extend(
        end_to_end(found).map(|frames| format!("{} FPS", per_second_of(frames.per_second))),
    );
    let first = found
        .blocks
        .as_ref()
        .and_then(|blocks| blocks.time_to_first_ns);
    parts.extend(first.map(|ns| format!("first block after {}", duration_ns(ns))));
    parts
}

fn memory(report: &Report) -> Vec<String> {
    let sources = report.memory.iter().flat_map(|memory| &memory.sources);
    let part = |source: &SourceMemory| {
        let what = match source.source {
            MemorySource::Process => String::new(),
            MemorySource::TorchCuda(device) => format!("GPU {device} "),
        };
        let peak = source
            .counted_peak_bytes
            .unwrap_or(source.peak.allocated_bytes);
        let path = source.peak.node.map(|node| report.call_path(node));
        let name = path.as_ref().and_then(|path| path.last());
        let place = name.map(|name| format!(" in {}", cut(name, NAME_WIDTH)));
        // What was counted may lie between two readings: nobody knows where.
        let is_read = peak == source.peak.allocated_bytes;
        let at = format!(
            " at {} s{}",
            time_s(source.peak.at_ns),
            place.unwrap_or_default()
        );
        format!(
            "{what}peak {}{}",
            bytes(peak),
            if is_read { &at } else { "" }
        )
    };
    sources.take(3).map(part).collect()
}

fn system(report: &Report) -> Vec<String> {
    let found = &report.activity.telemetry;
    let mut parts = Vec::new();
    let cpu = found.cpu.as_ref();
    let busy = cpu.and_then(|cpu| Some((cpu.busy_ratio.as_ref()?.mean, cpu.n_cores?)));
    parts.extend(busy.map(|(busy, n_cores)| {
        let cores = counted(n_cores, "core", "cores");
        format!("CPU {} of {cores}", percent(busy))
    }));
    let gpus = found.gpus.as_ref().map(|gpus| gpus.each.as_slice());
    let gpus_read = gpus.unwrap_or_default();
    for gpu in gpus_read.iter().take(MOST_GPUS) {
        parts.extend(gpu_use(gpu));
    }
    let more = gpus_read.len().saturating_sub(MOST_GPUS) as u64;
    if more > 0 {
        parts.push(counted(more, "more GPU", "more GPUs"));
    }
    if gpus.is_none() {
        parts.push("no GPU sampled".into());
    }
    parts
}

fn gpu_use(gpu: &GpuUse) -> Option<String> {
    let busy = percent(gpu.utilization?.mean);
    let memory = gpu
        .memory_used
        .map(|used| format!(", {} at most", bytes_of(used.max)));
    let name = gpu.index.as_ref().unwrap_or(&gpu.uuid);
    Some(format!(
        "GPU {} {busy}{}",
        cut(name, 12),
        memory.unwrap_or_default()
    ))
}

fn outliers(report: &Report) -> Vec<String> {
    let found = report.activity.diffusion.as_ref();
    let Some(steps) = found.and_then(|found| found.steps.as_ref()) else {
        return Vec::new();
    };
    let outlier = |index: &usize| {
        let step = steps.each.get(*index)?;
        let took = duration_ns(step.duration_ns?);
        let block = step.block.map(|block| format!(" of block {block}"));
        let times = step
            .duration_ns
            .zip(step.usual_ns.filter(|usual| *usual > 0.0));
        let times = times.map(|(ns, usual)| format!(", {:.1} × the usual", float(ns) / usual));
        Some(format!(
            "step {}{} {took}{} at {} s",
            step.step,
            block.unwrap_or_default(),
            times.unwrap_or_default(),
            time_s(step.end_ns)
        ))
    };
    let shown = steps.outliers.iter().take(MOST_OUTLIERS);
    let mut parts: Vec<String> = shown.filter_map(outlier).collect();
    let more = steps.outliers.len().saturating_sub(MOST_OUTLIERS);
    if more > 0 {
        parts.push(format!("{more} more"));
    }
    parts
}

fn line(label: &str, parts: &[String], width: usize) -> Option<String> {
    let before = format!("  {} ", pad_end(label, 8));
    (!parts.is_empty()).then(|| before + &fitting(parts, width.saturating_sub(11)))
}

/// As many parts as fit into the width, the first one in any case.
fn fitting(parts: &[String], width: usize) -> String {
    let mut text = String::new();
    for part in parts {
        let next = match text.as_str() {
            "" => part.clone(),
            text => format!("{text} · {part}"),
        };
        if !text.is_empty() && columns(&next) > width {
            break;
        }
        text = next;
    }
    text
}

/// Each finding in three lines: a title, its evidence, what to try.
fn findings(report: &Report, how: &Shown<'_>) -> Vec<String> {
    let all = &report.activity.findings;
    let passed = counted(all.passed.len() as u64, "check", "checks");
    if all.found.is_empty() {
        return match all.passed.len() {
            0 => vec!["  No check could be made: data is missing".into()],
            _ => vec![format!("  No issues found ({passed})")],
        };
    }
    let shown = all.found.iter().take(MOST_FINDINGS);
    let mut lines: Vec<String> = shown.flat_map(finding).collect();
    let more = all.found.len().saturating_sub(MOST_FINDINGS) as u64;
    if more > 0 {
        let findings = counted(more, "more finding", "more findings");
        lines.push(format!("  {findings}: {}", how.more));
    }
    lines
}

fn finding(found: &Finding) -> [String; 3] {
    let severity = figure::severity(found.severity).to_uppercase();
    let figures: Vec<String> = found.evidence.iter().map(figure::evidence).collect();
    let indent = " ".repeat(10);
    [
        format!("  {} {}", pad_end(&severity, 7), visible(&found.issue)),
        format!("{indent}{}", visible(&figures.join(" · "))),
        format!("{indent}Try: {}", visible(&found.remedy)),
    ]
}

/// The line cut to the width, with its colours.
fn painted(line: &str, width: usize, how: &Shown<'_>) -> String {
    let line = cut(line, width);
    let line = line.trim_end();
    if !how.has_colour {
        return line.to_owned();
    }
    let start = line.trim_start();
    let colour = match start.split(' ').next() {
        Some("HIGH") => "\x1b[31m",
        Some("MEDIUM") => "\x1b[33m",
        Some("Speed" | "Memory" | "System" | "Outliers") => "\x1b[36m",
        _ => return line.to_owned(),
    };
    let (before, word) = line.split_at(line.len() - start.len());
    let (word, rest) = word.split_once(' ').unwrap_or((word, ""));
    format!("{before}{colour}{word}\x1b[0m {rest}")
}
