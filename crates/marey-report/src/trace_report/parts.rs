//! Steps and phases, and what devices did for them.

use marey_analysis::{
    PartFigures, PartList, PartSpread, RestOfWork, RestPlace, StepKind, StepRule, TraceAnswers,
    TracePart,
};

use super::devices;
use crate::model::{Cell, Table};

/// Steps, profiler steps and phases: a table for each list.
pub(super) fn tables(answers: &TraceAnswers) -> Vec<Table> {
    let parts = &answers.parts;
    let steps = parts.steps.iter().map(|list| {
        let what = match list.rule {
            Some(StepRule::KernelPeriod) => "Repeated kernels",
            Some(rule) if !rule.finds_steps() => "Denoiser calls",
            _ => "Steps",
        };
        table(answers, list, "steps", what)
    });
    let profiler = parts.profiler_steps.iter();
    let profiler = profiler.map(|list| table(answers, list, "profiler_steps", "Profiler steps"));
    let phases = parts.phases.iter();
    let phases = phases.map(|list| table(answers, list, "phases", "Phases"));
    steps.chain(profiler).chain(phases).collect()
}

const COLUMNS: [(&str, &str); 18] = [
    ("name", "Part"),
    ("start_ns", "At"),
    ("count", "Times"),
    ("host_ns", "Host"),
    ("n_ops", "Ops"),
    ("device_start_ns", "Device from"),
    ("span_ns", "Span"),
    ("busy_ns", "Busy"),
    ("idle_ns", "Idle"),
    ("compute_ns", "Compute"),
    ("communication_ns", "Comm."),
    ("exposed_communication_ns", "Exposed comm."),
    ("memory_ns", "Copies"),
    ("exposed_memory_ns", "Exposed copies"),
    ("opening_gap_ns", "Gap before"),
    ("delay_ns", "Behind"),
    ("synchronising_ns", "Synchronising"),
    ("own_work_ns", "Own work"),
];

fn table(answers: &TraceAnswers, list: &PartList, key: &'static str, what: &str) -> Table {
    let mut table = Table::new(key, title(answers, list, what), &COLUMNS);
    for part in &list.parts {
        table.row(row(part));
    }
    for rest in &list.rest {
        table.row(rest_row(rest));
    }
    if let (Some(rule), Some(source)) = (list.rule, &list.source) {
        table
            .notes
            .push(format!("Told by {}: {source}", words(rule)));
        if rule == StepRule::KernelPeriod {
            let note = "Steps, calls of a model and equal layers of one call all look like this.";
            table.notes.push(note.into());
        } else if !rule.finds_steps() {
            let note = "Guidance may call the denoiser twice a step, a cache not at all.";
            table.notes.push(note.into());
        }
    }
    table.notes.extend(notes(list));
    table
}

/// Figures of all parts, or of full and cached ones.
fn notes(list: &PartList) -> Vec<String> {
    let first = list.parts.first();
    let is_warm_up = first.is_some_and(|part| part.is_warm_up);
    if list.groups.is_empty() {
        let figures = list.figures.iter();
        return figures
            .flat_map(|figures| figure_notes(figures, "", is_warm_up))
            .collect();
    }
    let mut notes = Vec::new();
    let cached = list.groups.iter().find(|g| g.kind == StepKind::Cached);
    if let Some(cached) = cached {
        notes.push(format!(
            "{} of {} took half as long as the others or less: a cache may have skipped work.",
            cached.n_parts,
            list.parts.len()
        ));
    }
    for group in &list.groups {
        let (kind, is_warm_up) = match group.kind {
            StepKind::Full => (" full ones", is_warm_up),
            StepKind::Cached => (" short ones", false),
        };
        let figures = group.figures.iter();
        notes.extend(figures.flat_map(|figures| figure_notes(figures, kind, is_warm_up)));
    }
    notes
}

/// With its device when the trace has several lists of the kind.
fn title(answers: &TraceAnswers, list: &PartList, what: &str) -> String {
    let is_its = |device: &&marey_analysis::DeviceAnswers| {
        device.document == list.document && Some(&device.device) == list.device.as_ref()
    };
    let device = answers.devices.iter().find(is_its);
    match device.filter(|_| answers.devices.len() > 1) {
        Some(device) => format!("{what} · {}", devices::name(answers, device)),
        None => what.to_owned(),
    }
}

fn row(part: &TracePart) -> Vec<Cell> {
    let name = match part.kind {
        _ if part.is_warm_up => format!("{} (warm-up)", part.name),
        Some(StepKind::Cached) => format!("{} (cached?)", part.name),
        _ => part.name.clone(),
    };
    let work = part.work;
    let duration = |figure: fn(&marey_analysis::PartWork) -> u64| {
        Cell::known(work.as_ref().map(figure), Cell::Duration)
    };
    vec![
        Cell::Text(name),
        Cell::Moment(part.start_ns),
        Cell::Count(part.count),
        Cell::Duration(part.host_ns),
        Cell::known(work.map(|work| work.n_ops), Cell::Count),
        Cell::known(work.and_then(|work| work.device_start_ns), Cell::Moment),
        duration(|work| work.span_ns),
        duration(|work| work.busy_ns),
        duration(|work| work.idle_ns),
        duration(|work| work.compute_ns),
        duration(|work| work.communication_ns),
        duration(|work| work.exposed_communication_ns),
        duration(|work| work.memory_ns),
        duration(|work| work.exposed_memory_ns),
        Cell::known(work.and_then(|work| work.opening_gap_ns), Cell::Duration),
        Cell::known(work.and_then(|work| work.delay_ns), Cell::Duration),
        Cell::Duration(part.synchronising_ns),
        duration(|work| work.own_work_ns),
    ]
}

/// Work of no part: what is not known of it stays away.
fn rest_row(rest: &RestOfWork) -> Vec<Cell> {
    let name = match rest.place {
        RestPlace::Before => "(before)",
        RestPlace::Between => "(between)",
        RestPlace::After => "(after)",
        RestPlace::NotLaunched => "(without a launch)",
    };
    COLUMNS
        .iter()
        .map(|(key, _)| match *key {
            "name" => Cell::text(name),
            "n_ops" => Cell::Count(rest.n_ops),
            "busy_ns" => Cell::Duration(rest.busy_ns),
            "own_work_ns" => Cell::Duration(rest.work_ns),
            _ => Cell::Absent,
        })
        .collect()
}

fn words(rule: StepRule) -> &'static str {
    match rule {
        StepRule::Annotations => "ranges that are named like steps",
        StepRule::SchedulerAnnotations => "ranges of the scheduler",
        StepRule::CompiledGraph => "calls of a compiled graph",
        StepRule::GraphLaunches => "launches of equal graphs",
        StepRule::Scheduler => "Python functions of the scheduler",
        StepRule::Modules => "calls of a module",
        StepRule::KernelPeriod => "kernels that repeat, from",
    }
}

/// `kind` is what they are called, if they are not all.
fn figure_notes(figures: &PartFigures, kind: &str, is_warm_up: bool) -> Vec<String> {
    let of = figures.n_parts;
    let without = if is_warm_up {
        format!("Of the {of}{kind} after the warm-up")
    } else {
        format!("Of all {of}{kind}")
    };
    let line = |what: &str, spread: Option<PartSpread>| {
        let spread = spread?;
        let duration = crate::quantity::duration;
        let deviation = spread.std_dev_ns.map_or_else(String::new, |std_dev_ns| {
            format!(", standard deviation {}", duration(std_dev_ns))
        });
        Some(format!(
            "{without}: {what} {} on average, median {}{deviation}.",
            duration(spread.mean_ns),
            duration(spread.median_ns),
        ))
    };
    let lines = match figures.span {
        Some(_) => [line("busy", figures.busy), line("idle", figures.idle)],
        None => [line("host time", Some(figures.host)), None],
    };
    lines.into_iter().flatten().collect()
}
