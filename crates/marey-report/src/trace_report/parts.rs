//! Steps and phases, and what devices did for them.

use marey_analysis::{
    PartFigures, PartList, PartSpread, RestOfWork, RestPlace, StepKind, StepRule, TraceAnswers,
};

use super::devices;
use crate::document::{Cell, Table};
use crate::short_names::short_name;

/// Columns that a name in a note may take.
const NAME_WIDTH: usize = 80;

/// Steps, profiler steps and phases: a table for each list.
pub(super) fn tables(answers: &TraceAnswers) -> Vec<Table> {
    let parts = &answers.parts;
    let steps = parts.steps.iter();
    let steps = steps.map(|list| table(answers, list, "steps", steps_are(list)));
    let profiler = parts.profiler_steps.iter();
    let profiler = profiler.map(|list| table(answers, list, "profiler_steps", "Profiler steps"));
    let phases = parts.phases.iter();
    let phases = phases.map(|list| table(answers, list, "phases", "Phases"));
    steps.chain(profiler).chain(phases).collect()
}

/// What the parts of a list of steps are called: only some rules find steps.
pub(crate) fn steps_are(list: &PartList) -> &'static str {
    match list.rule {
        Some(StepRule::KernelPeriod) => "Repeated kernels",
        Some(rule) if !rule.finds_steps() => "Denoiser calls",
        _ => "Steps",
    }
}

const COLUMNS: &str = "name: Part, place: Place, is_warm_up: Warm-up, start_ns: At, count: Count, \
    host_ns: Host, n_ops: Ops, device_start_ns: Device from, span_ns: Span, busy_ns: Busy, \
    idle_ns: Idle, compute_ns: Compute, communication_ns: Comm., \
    exposed_communication_ns: Exposed comm., memory_ns: Copies, exposed_memory_ns: Exposed copies, \
    opening_gap_ns: Gap before, delay_ns: Behind, synchronising_ns: Synchronising, \
    own_work_ns: Own work, flops: FLOPs, flops_per_second: Speed, utilization_ratio: MFU, \
    roofline_ratio: Of roofline, headroom_ns: Headroom, modelled_ratio: Work known";

fn table(answers: &TraceAnswers, list: &PartList, key: &'static str, what: &str) -> Table {
    let parts = &list.parts;
    let mut table = Table::of_fields(key, title(answers, list, what), parts, COLUMNS)
        .shows("place", parts, |part| {
            Cell::text(if part.kind == Some(StepKind::Cached) { CACHED } else { PART })
        })
        .shows("is_warm_up", parts, |part| Cell::text(part.is_warm_up.to_string()));
    for rest in &list.rest {
        let cells = table.columns.iter().map(|column| rest_cell(rest, column.key));
        table.row(cells.collect());
    }
    if let (Some(rule), Some(source)) = (list.rule, &list.source) {
        table.notes.push(format!("Found by {}: {}", words(rule), short_name(source, NAME_WIDTH)));
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
        return figures.flat_map(|figures| figure_notes(figures, "", is_warm_up)).collect();
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
pub(crate) fn title(answers: &TraceAnswers, list: &PartList, what: &str) -> String {
    let is_its = |device: &&marey_analysis::DeviceAnswers| {
        device.document == list.document && Some(&device.device) == list.device.as_ref()
    };
    let device = answers.devices.iter().find(is_its);
    match device.filter(|_| answers.devices.len() > 1) {
        Some(device) => format!("{what} · {}", devices::name(answers, device)),
        None => what.to_owned(),
    }
}

/// The place of what is a part.
const PART: &str = "part";
/// Likewise, of a part that took half as long as others or less.
const CACHED: &str = "cached";

/// Steps and phases as people read them: what is said of the name is in one column with it, `0 (warm-up)`, `(between)`. Other tables stay.
pub(super) fn for_people(mut table: Table) -> Table {
    if !matches!(table.key, "steps" | "profiler_steps" | "phases") {
        return table;
    }
    for row in &mut table.rows {
        let words = match &row[..] {
            [Cell::Text(name), _, Cell::Text(is_warm_up), ..] if is_warm_up == "true" => {
                Some(format!("{name} (warm-up)"))
            }
            [Cell::Text(name), Cell::Text(place), ..] if place == CACHED => {
                Some(format!("{name} (cached?)"))
            }
            [Cell::Absent, Cell::Text(place), ..] => Some(format!("({place})")),
            _ => None,
        };
        if let (Some(name), Some(words)) = (row.first_mut(), words) {
            *name = Cell::Text(words);
        }
    }
    let keys = table.columns.iter().map(|column| column.key);
    let kept: Vec<bool> = keys.map(|key| !matches!(key, "place" | "is_warm_up")).collect();
    table.keep_columns(&kept);
    table
}

/// A cell of work of no part: what is not known of it stays away.
fn rest_cell(rest: &RestOfWork, key: &str) -> Cell {
    match key {
        "place" => Cell::text(match rest.place {
            RestPlace::Before => "before",
            RestPlace::Between => "between",
            RestPlace::After => "after",
            RestPlace::NotLaunched => "without a launch",
        }),
        "n_ops" => Cell::Count(rest.n_ops),
        "busy_ns" => Cell::Duration(rest.busy_ns),
        "own_work_ns" => Cell::Duration(rest.work_ns),
        _ => Cell::Absent,
    }
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
