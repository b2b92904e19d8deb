//! Where the wall time of a trace went.

use marey_analysis::{PartList, PhaseRole, StepKind, TraceAccountRow};

use super::{Told, are_steps};
use crate::first_screen::brief::seconds;
use crate::first_screen::parts::is_waiting;
use crate::first_screen::{AccountRows, Part, Row, RowFacts};
use crate::quantity::{Unit, counted, float, like, share, time};

/// What the loop of all steps is called.
pub(super) const DENOISE: &str = "denoise";
/// Rows, *other* not counted.
const MOST_ROWS: usize = 7;
/// Share of the wall from which on something is a row.
const ROW: f64 = 0.01;
/// The same of phases that are known.
const KNOWN: f64 = 0.0005;
/// From this ratio of the longest to the shortest step on a mean says little.
const SPREAD: u64 = 3;
/// Steps that are listed one by one.
const FEW: usize = 6;

/// By phases, or by what the device did where no phase has a name.
pub(super) fn account(told: &Told<'_>) -> Option<AccountRows> {
    let rows = match told.account.phases() {
        [] => by_device(told)?,
        rows => by_phase(told, rows),
    };
    AccountRows::new("wall", Unit::Time, told.wall_ns(), rows)
}

fn by_phase(told: &Told<'_>, rows: &[TraceAccountRow]) -> Vec<Row> {
    let wall = float(told.wall_ns());
    let has_device = !told.answers.devices.is_empty();
    let is_shown = |row: &&TraceAccountRow| {
        let least = if row.role.is_some() { KNOWN } else { ROW };
        (has_device || !row.is_between) && float(row.held_ns) >= least * wall
    };
    let mut shown: Vec<&TraceAccountRow> = rows.iter().filter(is_shown).collect();
    shown.sort_by_key(|row| (std::cmp::Reverse(row.held_ns), &row.name));
    shown.truncate(MOST_ROWS);
    let row = |row: &TraceAccountRow| Row {
        part: if row.is_between && is_idle(row) || is_waiting(&row.name) {
            Part::Waiting
        } else {
            Part::Work
        },
        note: note(told, row),
        facts: RowFacts {
            calls: Some(row.count).filter(|n| *n > 0),
            device_busy_s: has_device.then(|| seconds(row.busy_ns)),
            ..RowFacts::default()
        },
        ..Row::new(&row.name, row.held_ns)
    };
    shown.into_iter().map(row).collect()
}

/// `4 calls × 35.1 ms, GPU 99 % busy`
fn note(told: &Told<'_>, row: &TraceAccountRow) -> Option<String> {
    let has_device = !told.answers.devices.is_empty();
    let least = told.at_least();
    let busy = has_device.then(|| match row.busy_ns {
        _ if is_idle(row) && least.is_empty() => "GPU idle".to_owned(),
        busy_ns => format!("GPU {least}{} busy", share(float(busy_ns) / float(row.held_ns.max(1)))),
    });
    let is_denoising = row.role == Some(PhaseRole::Denoising);
    let calls = match row.count {
        _ if is_denoising && !has_device => steps(told),
        0 | 1 => None,
        n => Some(format!("{} × {}", times(told, row), time(float(row.held_ns) / float(n)))),
    };
    let said: Vec<String> = calls.into_iter().chain(busy).collect();
    (!said.is_empty()).then(|| said.join(", "))
}

/// The device did next to nothing for it.
fn is_idle(row: &TraceAccountRow) -> bool {
    row.busy_ns < row.held_ns / 100
}

fn times(told: &Told<'_>, row: &TraceAccountRow) -> String {
    let is_denoising = row.role == Some(PhaseRole::Denoising);
    match told.steps() {
        Some(steps) if is_denoising && are_steps(steps) => counted(row.count, "step", "steps"),
        _ => counted(row.count, "call", "calls"),
    }
}

/// `6 steps × 897 ms`; the first apart where it is a warm-up, both kinds where a cache may answer some, each where they differ too much
/// for a mean.
fn steps(told: &Told<'_>) -> Option<String> {
    let list = told.steps()?;
    let each: Vec<u64> = list.parts.iter().map(|step| step.host_ns).collect();
    let (least, most) = (each.iter().min()?, each.iter().max()?);
    let n = told.made()?.replace("denoiser ", "");
    let mean = |all: &[u64]| time(float(all.iter().sum()) / float(all.len() as u64));
    if *most <= SPREAD * least {
        return Some(format!("{n} × {}", mean(&each)));
    }
    if let Some((first, rest)) = warm_up(list) {
        return Some(format!("{n}: first {}, then {}", time(first), mean(&rest)));
    }
    let of_kind = |kind| {
        let parts = list.parts.iter().filter(|step| step.kind == Some(kind));
        let all: Vec<u64> = parts.map(|step| step.host_ns).collect();
        (!all.is_empty()).then(|| format!("{} × {}", all.len(), mean(&all)))
    };
    if let (Some(full), Some(cached)) = (of_kind(StepKind::Full), of_kind(StepKind::Cached)) {
        return Some(format!("{n}: {full}, cached {cached}"));
    }
    if each.len() > FEW {
        return Some(format!("{n}, {} to {}", time(float(*least)), time(float(*most))));
    }
    let longest = time(float(*most));
    let unit = longest.rsplit(' ').next().unwrap_or_default();
    let like = each.iter().map(|ns| like(float(*ns), float(*most)));
    let each: Vec<String> = like.collect();
    Some(format!("{n}: {} {unit}", each.join(", ")))
}

/// The first step and the others, where it took so much longer than any of them that a mean of all says nothing.
pub(super) fn warm_up(steps: &PartList) -> Option<(f64, Vec<u64>)> {
    let (first, rest) = steps.parts.split_first()?;
    let rest: Vec<u64> = rest.iter().map(|step| step.host_ns).collect();
    (first.host_ns / SPREAD > *rest.iter().max()?).then(|| (float(first.host_ns), rest))
}

/// Where nobody says what the host does: what the only device did, and that it did nothing.
fn by_device(told: &Told<'_>) -> Option<Vec<Row>> {
    let [device] = told.answers.devices.as_slice() else {
        return None;
    };
    let parts = device.utilization.parts_of(told.wall_ns()).into_iter();
    let rows = parts.map(|(name, ns)| Row {
        part: match name {
            "communication" | "GPU idle" | "GPU work not recorded" => Part::Waiting,
            _ => Part::Work,
        },
        note: (name == "communication" || name == "copies")
            .then(|| "not overlapped by compute".into()),
        ..Row::new(name, ns)
    });
    let mut rows: Vec<Row> = rows.collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.held));
    Some(rows)
}
