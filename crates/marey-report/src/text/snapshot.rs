//! Memory snapshots: what there was when, what it was, and why it did not fit.

use marey_analysis::{
    AliveInSection, AliveRow, DeviceMemory, GrowthOf, Level, MemoryGrowth, OutOfMemory,
    OutOfMemoryCause, PoolUse, StackFrame, StackFrames, TimeOrigin,
};

use super::block;
use super::columns::{Columns, Last};
use super::sections::shown_path;
use crate::escape::{cut, visible};
use crate::model::SnapshotFile;
use crate::quantity::{UNKNOWN, bytes, counted, duration_ns, growth, known, percent, time_s};

const MAX_STACKS: usize = 12;
const MAX_SECTIONS: usize = 12;
const MAX_POOLS: usize = 8;
const MAX_STEPS: usize = 12;
const PATH_WIDTH: usize = 60;
const WIDTH: usize = 80;

/// Everything that one file says, for people. Ends with a line feed.
pub fn snapshot_text(file: &SnapshotFile) -> String {
    let title = format!("MEMORY SNAPSHOT {}", visible(&file.file));
    let Some(answers) = &file.answers else {
        let problem = file.problem.as_deref().unwrap_or("not read");
        return block::titled(&title, &[format!("not read: {}", visible(problem))], WIDTH);
    };
    let mut lines = vec![match answers.time_origin {
        TimeOrigin::Run => "Times are since the start of the run.".into(),
        TimeOrigin::FirstEvent => "Times are since the first event of the device.".into(),
    }];
    if answers.devices.is_empty() {
        lines.push("It is empty: no device had memory or a history.".into());
    }
    let warnings = answers.warnings.iter();
    lines.extend(warnings.map(|(what, count)| format!("Passed over: {count} {what}.")));
    let mut parts = vec![block::titled(&title, &lines, WIDTH)];
    for device in &answers.devices {
        parts.extend(tables(device));
    }
    parts.join("\n")
}

fn tables(device: &DeviceMemory) -> Vec<String> {
    let mut parts = vec![levels(device)];
    parts.extend(
        device
            .out_of_memory
            .iter()
            .map(|failed| failure(device, failed)),
    );
    parts.push(alive(device));
    parts.extend(
        device
            .alive
            .by_section
            .as_ref()
            .map(|rows| sections(device, rows)),
    );
    parts.extend(device.growth.as_ref().map(|found| steps(device, found)));
    parts.push(pools(device));
    parts
}

fn named(device: &DeviceMemory, title: &str) -> String {
    format!("{title} · cuda:{}", device.device)
}

fn levels(device: &DeviceMemory) -> String {
    let headers = [
        "Moment",
        "Allocated",
        "Reserved",
        "Awaiting free",
        "Free",
        "Largest free",
        "Unused",
        "At",
    ];
    let mut table = Columns::new(&headers, Last::Figure);
    let mut row = |what: &str, level: &Level| {
        table.row(vec![
            what.into(),
            bytes(level.allocated_bytes),
            bytes(level.reserved_bytes),
            bytes(level.awaiting_free_bytes),
            bytes(level.free_bytes),
            bytes(level.largest_free_bytes),
            known(level.fragmentation_ratio, percent),
            known(level.at_ns, |ns| format!("{} s", time_s(ns))),
        ]);
    };
    if device.n_events > 0 {
        row("Start of the history", &device.start);
    }
    if let Some(peak) = &device.peak {
        row("Most allocated", peak);
    }
    if let Some(peak) = &device.reserved_peak {
        row("Most reserved", peak);
    }
    row("Snapshot", &device.end);
    table.block(&named(device, "MEMORY"), &notes(device))
}

fn notes(device: &DeviceMemory) -> Vec<String> {
    let mut notes = Vec::new();
    if device.n_events == 0 {
        notes.push("No history was recorded: only the moment of the snapshot is known.".into());
        return notes;
    }
    let events = counted(device.n_events, "event", "events");
    notes.push(match device.recorded_ns {
        Some(ns) => format!("{events} in {}.", duration_ns(ns)),
        None => format!("{events}; no times."),
    });
    if device.start.allocated_bytes > 0 {
        notes.push(format!(
            "{} were there before the history begins: their stacks and sections are not known.",
            bytes(device.start.allocated_bytes)
        ));
    }
    if device.is_rounding_unusual {
        notes.push("Sizes are rounded by an unusual rule (roundup_power2_divisions): before the snapshot `allocated` may be too low.".into());
    }
    if device.n_contradictions > 0 {
        notes.push(format!(
            "{} contradict the rest: a part of the history is missing, levels before the snapshot are not exact.",
            counted(device.n_contradictions, "event", "events")
        ));
    }
    notes
}

fn failure(device: &DeviceMemory, failed: &OutOfMemory) -> String {
    let level = &failed.level;
    let mut lines = vec![format!(
        "Asked for {} at {}; the device had {} left.",
        bytes(failed.asked_bytes),
        known(failed.at_ns, |ns| format!("{} s", time_s(ns))),
        known(failed.device_free_bytes, bytes),
    )];
    lines.push(format!(
        "Allocated {}, reserved {}, free within that {} (largest piece {}).",
        bytes(level.allocated_bytes),
        bytes(level.reserved_bytes),
        bytes(level.free_bytes),
        bytes(level.largest_free_bytes),
    ));
    lines.push(because(failed.cause).into());
    if !failed.section.is_empty() {
        let path: Vec<&str> = failed.section.iter().map(String::as_str).collect();
        lines.push(format!("In {}", shown_path(&path, PATH_WIDTH)));
    }
    if let Some(stack) = &failed.stack {
        lines.push(format!("By {}", place(Some(stack))));
    }
    block::titled(&named(device, "OUT OF MEMORY"), &lines, WIDTH)
}

fn because(cause: OutOfMemoryCause) -> &'static str {
    match cause {
        OutOfMemoryCause::Fragmentation => {
            "Fragmentation: enough was free, in pieces that were too small."
        }
        OutOfMemoryCause::AwaitingFree => {
            "Enough had been given back, but work of other streams still needed it."
        }
        OutOfMemoryCause::Limit => {
            "The device had enough: a limit of the process or the driver stood in the way."
        }
        OutOfMemoryCause::TooLarge => "It is more than what was left.",
        OutOfMemoryCause::Unknown => "Why is not known: the snapshot does not say what was left.",
    }
}

fn alive(device: &DeviceMemory) -> String {
    let headers = ["Bytes", "Share", "Count", "Largest", "Allocated by"];
    let mut table = Columns::new(&headers, Last::Text);
    let rows = &device.alive.by_stack;
    for row in rows.iter().take(MAX_STACKS) {
        table.row(vec![
            bytes(row.bytes),
            known(row.share, percent),
            row.count.to_string(),
            bytes(row.largest_bytes),
            allocated_by(row),
        ]);
    }
    let shown: u64 = rows
        .iter()
        .take(MAX_STACKS)
        .map(|row| row.bytes)
        .fold(0, u64::saturating_add);
    let mut notes = Vec::new();
    if device.alive.bytes > shown {
        notes.push(format!(
            "… and {} of other stacks",
            bytes(device.alive.bytes - shown)
        ));
    }
    notes.push("The innermost place in your own code ← the innermost one outside of torch; JSON has whole stacks.".into());
    let title = if device.n_events > 0 {
        "ALLOCATED WHEN IT WAS MOST, BY STACK"
    } else {
        "ALLOCATED AT THE SNAPSHOT, BY STACK"
    };
    table.block(&named(device, title), &notes)
}

fn allocated_by(row: &AliveRow) -> String {
    let place = place(row.stack.as_ref());
    if row.is_before_recording {
        return format!("before the recording: {place}");
    }
    place
}

/// `film.py:12 generate ← attention.py:115 forward`.
fn place(stack: Option<&StackFrames>) -> String {
    let Some(stack) = stack else {
        return "(no stack)".into();
    };
    let frame = |index: Option<usize>| stack.frames.get(index?);
    let user = frame(stack.user_frame);
    let caller = frame(stack.caller_frame).or(stack.frames.first());
    match (user, caller) {
        (Some(user), Some(caller)) if user != caller => {
            format!("{} ← {}", shown_frame(user), shown_frame(caller))
        }
        (Some(one), _) | (None, Some(one)) => shown_frame(one),
        (None, None) => UNKNOWN.into(),
    }
}

fn shown_frame(frame: &StackFrame) -> String {
    let file = frame.file.rsplit('/').next().unwrap_or_default();
    let line = frame.line.map(|line| format!(":{line}"));
    let place = format!("{}{}", cut(file, 40), line.unwrap_or_default());
    format!("{place} {}", cut(&frame.name, 40))
}

fn sections(device: &DeviceMemory, rows: &[AliveInSection]) -> String {
    let headers = ["Section", "Bytes", "Share", "Count"];
    let mut table = Columns::new(&headers, Last::Figure);
    for row in rows.iter().take(MAX_SECTIONS) {
        let path: Vec<&str> = row.path.iter().map(String::as_str).collect();
        let section = match (row.is_before_recording, path.is_empty()) {
            (true, _) => "(before the recording of memory)".into(),
            (false, true) => "(under no section)".into(),
            (false, false) => shown_path(&path, PATH_WIDTH),
        };
        let share = known(row.share, percent);
        table.row(vec![
            section,
            bytes(row.bytes),
            share,
            row.count.to_string(),
        ]);
    }
    let mut notes = Vec::new();
    if rows.len() > MAX_SECTIONS {
        notes.push(format!("… and {} more", rows.len() - MAX_SECTIONS));
    }
    notes.push("By the section that was open in the main thread when it was allocated.".into());
    table.block(
        &named(device, "ALLOCATED WHEN IT WAS MOST, BY SECTION"),
        &notes,
    )
}

fn steps(device: &DeviceMemory, found: &MemoryGrowth) -> String {
    let headers = ["Moment", "Allocated", "Reserved", "Growth", "At"];
    let mut table = Columns::new(&headers, Last::Figure);
    let one_loop = found.points.iter().all(|point| point.loop_number == 0);
    for point in found.points.iter().take(MAX_STEPS) {
        let moment = match (found.of, one_loop) {
            (GrowthOf::Snapshots, _) => format!("snapshot {}", point.number),
            (GrowthOf::Steps, true) => format!("step {}", point.number),
            (GrowthOf::Steps, false) => format!("loop {} step {}", point.loop_number, point.number),
        };
        table.row(vec![
            moment,
            bytes(point.allocated_bytes),
            bytes(point.reserved_bytes),
            known(point.growth_bytes, growth),
            known(point.at_ns, |ns| format!("{} s", time_s(ns))),
        ]);
    }
    let mut notes = Vec::new();
    if found.points.len() > MAX_STEPS {
        notes.push(format!("… and {} more", found.points.len() - MAX_STEPS));
    }
    if let Some(total) = found.total_bytes {
        notes.push(format!(
            "Grew {} of {} times, by {} in all.",
            found.n_grew,
            found.n_compared,
            growth(total)
        ));
    }
    let title = match found.of {
        GrowthOf::Steps => "ALLOCATED AFTER EACH STEP",
        GrowthOf::Snapshots => "ALLOCATED AT EACH SNAPSHOT",
    };
    table.block(&named(device, title), &notes)
}

fn pools(device: &DeviceMemory) -> String {
    let headers = [
        "Pool",
        "Segments",
        "Reserved",
        "Allocated",
        "Rounding",
        "Awaiting free",
        "Free",
        "Pieces",
        "Largest",
    ];
    let mut table = Columns::new(&headers, Last::Figure);
    for pool in device.pools.iter().take(MAX_POOLS) {
        table.row(vec![
            pool_name(pool),
            pool.n_segments.to_string(),
            bytes(pool.reserved_bytes),
            bytes(pool.allocated_bytes),
            known(pool.rounding_bytes, bytes),
            bytes(pool.awaiting_free_bytes),
            bytes(pool.free_bytes),
            pool.n_free.to_string(),
            bytes(pool.largest_free_bytes),
        ]);
    }
    let mut notes = Vec::new();
    if device.pools.len() > MAX_POOLS {
        notes.push(format!("… and {} more", device.pools.len() - MAX_POOLS));
    }
    table.block(&named(device, "HELD AT THE SNAPSHOT"), &notes)
}

fn pool_name(pool: &PoolUse) -> String {
    let mut name = pool.kind.to_owned();
    if let Some((a, b)) = pool.pool.filter(|pool| *pool != (0, 0)) {
        name = format!("{name} pool {a}.{b}");
    }
    match pool.stream {
        Some(stream) if stream != 0 => format!("{name} stream {stream:#x}"),
        _ => name,
    }
}
