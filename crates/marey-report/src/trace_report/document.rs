//! What a file is: who wrote it, about whom, and how much of it there is.

use marey_analysis::import::chrome::Metadata;
use marey_analysis::{HostKind, TraceAnswers};

use super::devices;
use crate::document::{Cell, Table};
use crate::model::TraceFile;
use crate::quantity::{bytes, counted, duration_ns, float, percent};

/// Of a trace of the profiler's own rows.
const NOTHING: &str = "no operator, kernel or range was recorded: the active steps of the schedule did not come, or the window ended first";

/// Devices and documents that are listed.
const MAX_LISTED: usize = 8;
/// Kept apart from versions: they say nothing about what made the file.
const VERSIONS: [(&str, &str); 6] = [
    ("torch_version", "torch"),
    ("pytorch_version", "torch"),
    ("cuda_runtime_version", "CUDA"),
    ("cuda_driver_version", "driver"),
    ("hip_runtime_version", "HIP"),
    ("cupti_version", "CUPTI"),
];

/// A line a fact, with the most important first.
pub(crate) fn facts(file: &TraceFile) -> Table {
    let mut table = Table::new("trace", "Trace", &[("fact", "Fact"), ("value", "Value")]);
    let Some(answers) = &file.answers else {
        let problem = file.problem.clone();
        let problem = problem.unwrap_or_else(|| "it was not read".into());
        table.row(vec![Cell::text("Not read"), Cell::Text(problem)]);
        return table;
    };
    let mut fact = |what: &str, value: String| {
        if !value.is_empty() {
            table.row(vec![Cell::text(what), Cell::Text(value)]);
        }
    };
    if let Some(scope) = &answers.scope {
        fact("Only", scope.name.clone());
    }
    fact("Made by", made_by(answers));
    fact("Rank", ranks(answers));
    fact("Devices", busy(answers));
    fact("Time", time(answers));
    fact("Read", read(answers));
    fact("Missing", not_recorded(answers));
    table
}

/// What torch's profiler was not set to record, each with its option, so that nobody looks for tables that cannot be there. Empty
/// for traces of others, which have no operators, and for a part, which may be without what the trace has.
fn not_recorded(answers: &TraceAnswers) -> String {
    let operators = &answers.operators;
    let mut rows = operators.rows.iter();
    if answers.scope.is_some() || !rows.any(|row| row.kind == HostKind::Operator) {
        return String::new();
    }
    let missing = [
        (operators.by_shape.is_empty(), "shapes (record_shapes=True)"),
        (answers.modules.rows.is_empty(), "modules and Python functions (with_stack=True)"),
        (answers.memory.is_empty(), "memory (profile_memory=True)"),
    ];
    let missing = missing.iter().filter(|(is_missing, _)| *is_missing);
    let missing: Vec<&str> = missing.map(|(_, what)| *what).collect();
    if missing.is_empty() {
        return String::new();
    }
    format!("{}: options of torch.profiler", missing.join(", "))
}

fn made_by(answers: &TraceAnswers) -> String {
    let versions = |document: &Metadata| {
        let known = VERSIONS.iter().filter_map(|(key, name)| {
            let version = document.others.get(*key)?;
            Some(format!("{name} {version}"))
        });
        known.collect::<Vec<_>>().join(", ")
    };
    several(answers.documents.iter().map(versions))
}

fn ranks(answers: &TraceAnswers) -> String {
    let rank = |document: &Metadata| {
        let world = document.world_size.map(|size| format!(" of {size}"));
        let backend = document.backend.as_ref().filter(|name| !name.is_empty());
        let backend = backend.map(|name| format!(" ({name})"));
        let about = world.unwrap_or_default() + &backend.unwrap_or_default();
        document.rank.map(|rank| format!("{rank}{about}")).unwrap_or_default()
    };
    several(answers.documents.iter().map(rank))
}

/// Each device with its model and how busy it was.
fn busy(answers: &TraceAnswers) -> String {
    if answers.quality.n_events == 0 {
        return String::new();
    }
    if answers.devices.is_empty() {
        let not_analysed = &answers.quality.n_not_analysed;
        if not_analysed.is_empty() {
            let lack = answers.coverage.lack();
            return lack
                .unwrap_or_else(|| "none did anything: the trace is of the host alone".into());
        }
        let rows = not_analysed
            .iter()
            .map(|(category, n)| format!("{} of {category}", counted(*n, "row", "rows")));
        let rows: Vec<String> = rows.collect();
        let rows = rows.join(", ");
        return format!("work of a device that is not analysed: {rows}");
    }
    several(answers.devices.iter().map(|device| {
        let name = devices::name(answers, device);
        let model = device.model.as_ref().map(|model| format!(" ({model})"));
        let used = &device.utilization;
        let busy = (used.span_ns > 0).then(|| {
            let ratio = percent(float(used.busy_ns) / float(used.span_ns));
            format!(", busy {ratio} of {}", duration_ns(used.span_ns))
        });
        format!("{name}{}{}", model.unwrap_or_default(), busy.unwrap_or_default())
    }))
}

fn time(answers: &TraceAnswers) -> String {
    let events = counted(answers.n_rows, "event with a duration", "events with a duration");
    let wall = answers.account.as_ref().map(|account| account.wall);
    let wall_ns = wall.map_or(answers.span_ns, |wall| wall.length_ns());
    let own = (wall_ns < answers.span_ns).then(|| {
        let all = duration_ns(answers.span_ns);
        format!("; {all} with the spans of the profiler itself")
    });
    [format!("{}, {events}", duration_ns(wall_ns))].into_iter().chain(own).collect()
}

/// How much was read, and whether that is all.
fn read(answers: &TraceAnswers) -> String {
    let quality = &answers.quality;
    let is_empty = answers.account.is_none() && quality.n_not_analysed.is_empty();
    let empty = (is_empty && answers.scope.is_none()).then(|| NOTHING.to_owned());
    let events = counted(quality.n_events, "event", "events");
    let read = format!("{events}, {} of JSON", bytes(quality.n_bytes));
    let said = std::iter::once(read).chain(empty).chain(remarks(answers));
    said.collect::<Vec<String>>().join("; ")
}

/// What to know of the file: what of it is not in the answers, and whether a tool put ranks together in it.
pub(crate) fn remarks(answers: &TraceAnswers) -> Vec<String> {
    let n_ranks = answers.n_merged_ranks;
    let merged = (n_ranks > 1).then(|| format!("{n_ranks} ranks were merged into one file"));
    losses(answers).into_iter().chain(merged).collect()
}

/// What of the file is not in the answers, in words.
pub(crate) fn losses(answers: &TraceAnswers) -> Vec<String> {
    let quality = &answers.quality;
    let cut = quality.is_truncated;
    let cut =
        cut.then(|| "the file ends within its events: it was cut, or its writer was killed".into());
    let damage = quality.damage.as_ref();
    let damage = damage.map(|what| format!("the compressed data is damaged: {what}"));
    let broken = (quality.n_broken > 0).then(|| {
        let places = counted(quality.n_broken, "place", "places");
        let first = quality.broken.first().map_or("", |broken| &broken.reason);
        format!("{places} could not be read: {first}")
    });
    let without_time = (quality.n_without_time > 0).then(|| {
        let events = counted(quality.n_without_time, "event", "events");
        format!("{events} without a time")
    });
    let years = (quality.n_out_of_range > 0).then(|| {
        let events = counted(quality.n_out_of_range, "event", "events");
        format!("{events} longer than a year, or so far from the others")
    });
    let early = answers.devices.iter().filter_map(|device| {
        let before_ns = device.launches.before_launch_ns?;
        Some((before_ns, device.launches.n_before_launch))
    });
    let early = early.max().map(|(before_ns, n)| {
        let ops = counted(n, "operation begins", "operations begin");
        let before = duration_ns(before_ns);
        format!("{ops} before being launched: clocks of host and GPU differ by {before} or more")
    });
    let lack = answers.coverage.lack();
    [cut, damage, lack, without_time, years, early, broken].into_iter().flatten().collect()
}

/// Those that say something, once each.
fn several(each: impl Iterator<Item = String>) -> String {
    let mut distinct: Vec<String> = Vec::new();
    for text in each.filter(|text| !text.is_empty()) {
        if !distinct.contains(&text) {
            distinct.push(text);
        }
    }
    let n_more = distinct.len().saturating_sub(MAX_LISTED);
    distinct.truncate(MAX_LISTED);
    if n_more > 0 {
        distinct.push(format!("and {n_more} more"));
    }
    distinct.join("; ")
}
