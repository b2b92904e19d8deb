//! Where the wall time of a trace went.

use marey_analysis::{PhaseRole, TraceAccountRow};

use super::Told;
use crate::first_screen::brief::seconds;
use crate::first_screen::{AccountRows, Facts, Part, Row};
use crate::json::object::object;
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
    let rows = match told.account.rows.as_slice() {
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
        part: if row.is_between && is_idle(row) {
            Part::Waiting
        } else {
            Part::Work
        },
        note: note(told, row),
        facts: Facts::of(&object! {
            calls?: Some(row.count).filter(|n| *n > 0),
            device_busy_s?: has_device.then(|| seconds(row.busy_ns)),
        }),
        ..Row::new(&row.name, row.held_ns)
    };
    shown.into_iter().map(row).collect()
}

/// `4 calls × 35.1 ms, GPU 99 % busy`
fn note(told: &Told<'_>, row: &TraceAccountRow) -> Option<String> {
    let has_device = !told.answers.devices.is_empty();
    let busy = has_device.then(|| match row.busy_ns {
        _ if is_idle(row) => "GPU idle".to_owned(),
        busy_ns => format!(
            "GPU {} busy",
            share(float(busy_ns) / float(row.held_ns.max(1)))
        ),
    });
    let is_denoising = row.role == Some(PhaseRole::Denoising);
    let calls = match row.count {
        _ if is_denoising && !has_device => steps(told),
        0 | 1 => None,
        n => Some(format!(
            "{} × {}",
            times(told, row),
            time(float(row.held_ns) / float(n))
        )),
    };
    let said: Vec<String> = calls.into_iter().chain(busy).collect();
    (!said.is_empty()).then(|| said.join(", "))
}

/// The device did next to nothing for it.
fn is_idle(row: &TraceAccountRow) -> bool {
    row.busy_ns < row.held_ns / 100
}

fn times(told: &Told<'_>, row: &TraceAccountRow) -> String {
    let rule = told.steps().and_then(|steps| steps.rule);
    let is_denoising = row.role == Some(PhaseRole::Denoising);
    match rule {
        Some(rule) if is_denoising && rule.finds_steps() => counted(row.count, "step", "steps"),
        _ => counted(row.count, "call", "calls"),
    }
}

/// `6 steps × 897 ms`; each where they differ too much for a mean.
fn steps(told: &Told<'_>) -> Option<String> {
    let steps = told.steps()?;
    let each: Vec<u64> = steps.parts.iter().map(|step| step.host_ns).collect();
    let (least, most) = (each.iter().min()?, each.iter().max()?);
    let n = told.made()?.replace("denoiser ", "");
    let total_ns: u64 = each.iter().sum();
    let mean = float(total_ns) / float(each.len() as u64);
    if *most <= SPREAD * least {
        return Some(format!("{n} × {}", time(mean)));
    }
    let longest = time(float(*most));
    let unit = longest.rsplit(' ').next().unwrap_or_default();
    let like = |ns: &u64| like(float(*ns), float(*most));
    if each.len() <= FEW {
        let each: Vec<String> = each.iter().map(like).collect();
        return Some(format!("{n}: {} {unit}", each.join(", ")));
    }
    Some(format!("{n}, {} to {longest}", like(least)))
}

/// Where nobody says what the host does: what the only device did, and that it did nothing.
fn by_device(told: &Told<'_>) -> Option<Vec<Row>> {
    let [device] = told.answers.devices.as_slice() else {
        return None;
    };
    let used = &device.utilization;
    let idle_ns = told.wall_ns().saturating_sub(used.busy_ns);
    let rows = [
        ("GPU compute", used.compute_ns, Part::Work),
        (
            "communication",
            used.exposed_communication_ns,
            Part::Waiting,
        ),
        ("copies", used.exposed_memory_ns, Part::Work),
        ("GPU idle", idle_ns, Part::Waiting),
    ];
    let rows = rows.into_iter().filter(|(_, ns, _)| *ns > 0);
    let rows = rows.map(|(name, ns, part)| Row {
        part,
        note: (name == "communication" || name == "copies")
            .then(|| "not overlapped by compute".into()),
        ..Row::new(name, ns)
    });
    let mut rows: Vec<Row> = rows.collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.held));
    Some(rows)
}
