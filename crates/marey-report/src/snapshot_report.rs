//! Memory snapshots: what there was when, what it was, and why it did not fit.

use std::collections::BTreeSet;

use marey_analysis::{
    AliveInSection, AliveRow, DeviceMemory, Findings, GrowthOf, MemoryGrowth, OutOfMemory,
    OutOfMemoryCause, PoolUse, StackFrame, StackFrames, TimeOrigin,
};

use crate::document::{Block, Cell, Document, Facts, Table, name_of};
use crate::first_screen::FirstScreen;
use crate::model::SnapshotFile;
use crate::quantity::{UNKNOWN, bytes, counted, duration_ns, growth};

const MAX_STACKS: usize = 12;
const MAX_SECTIONS: usize = 12;
const MAX_POOLS: usize = 8;
const MAX_STEPS: usize = 12;

/// Everything that one file says.
pub fn snapshot_document(file: &SnapshotFile) -> Document {
    let title = Block::Title(format!("Memory snapshot {}", file.file));
    let mut found = Document::from(vec![title]);
    let Some(answers) = &file.answers else {
        let problem = file.problem.as_deref().unwrap_or("for a reason that is not known");
        found.push(Block::Text(format!("not read: {problem}")));
        return found;
    };
    let mut facts = Facts::default();
    facts.row(
        "Times",
        match answers.time_origin {
            TimeOrigin::Run => "since the start of the run",
            TimeOrigin::FirstEvent => "since the first event of the device",
        },
    );
    if answers.is_outside_of_run == Some(true) {
        facts.row(
            "Run",
            "all of them lie outside of this run: another process, or another recording. Sections are not known",
        );
    }
    if answers.devices.is_empty() {
        facts.row("Devices", "it is empty: no device had memory or a history");
    }
    for (what, count) in &answers.warnings {
        facts.row("Passed over", format!("{count} {what}"));
    }
    found.push(Block::Facts(facts));
    found.facts(findings(file));
    for device in &answers.devices {
        let first = found.blocks.len();
        found.tables([levels(device), failures(device), alive(device)]);
        found.tables(device.alive.by_section.as_ref().map(|rows| sections(device, rows)));
        found.tables(device.growth.as_ref().map(|found| steps(device, found)));
        found.tables([pools(device)]);
        for block in found.blocks.iter_mut().skip(first) {
            if let Block::Table(table) = block {
                table.origin = Some(("file", file.file.clone()));
                table.device = Some(format!("cuda:{}", device.device));
            }
        }
    }
    found
}

/// Every table, for programs: those that say what its first screen does, then those of its document.
pub fn snapshot_tables(file: &SnapshotFile) -> Vec<Table> {
    let screen = FirstScreen::of_snapshot(file);
    let of_screen = screen.map(|screen| screen.tables(&Findings::default()));
    let of_screen = of_screen.into_iter().flatten();
    let of_file = of_screen.map(|table| table.of("file", &file.file));
    of_file.chain(snapshot_document(file).into_tables()).collect()
}

/// Those of the first screen.
fn findings(file: &SnapshotFile) -> Facts {
    let mut facts = Facts::default();
    for found in FirstScreen::of_snapshot(file).iter().flat_map(|screen| &screen.findings) {
        let said = format!("{}. {} Try {}", found.title(), found.evidence, found.tries);
        facts.row("Finding", said);
    }
    facts
}

fn named(device: &DeviceMemory, title: &str) -> String {
    format!("{title} · cuda:{}", device.device)
}

fn levels(device: &DeviceMemory) -> Table {
    let moments = [
        ("Start of the history", Some(&device.start).filter(|_| device.n_events > 0)),
        ("Most allocated", device.peak.as_ref()),
        ("Most reserved", device.reserved_peak.as_ref()),
        ("Snapshot", Some(&device.end)),
    ];
    let known = moments.into_iter().filter_map(|(moment, level)| Some((moment, level?)));
    let mut table = Table::of_each(
        "memory_levels",
        named(device, "Memory"),
        known,
        &[
            ("moment", "Moment", &|(moment, _)| Cell::text(*moment)),
            ("allocated_bytes", "Allocated", &|(_, level)| Cell::Bytes(level.allocated_bytes)),
            ("reserved_bytes", "Reserved", &|(_, level)| Cell::Bytes(level.reserved_bytes)),
            ("awaiting_free_bytes", "Awaiting free", &|(_, level)| {
                Cell::Bytes(level.awaiting_free_bytes)
            }),
            ("free_bytes", "Free", &|(_, level)| Cell::Bytes(level.free_bytes)),
            ("largest_free_bytes", "Largest free", &|(_, l)| Cell::Bytes(l.largest_free_bytes)),
            ("fragmentation_ratio", "Unused", &|(_, l)| Cell::ratio(l.fragmentation_ratio)),
            ("at_ns", "At", &|(_, level)| Cell::moment(level.at_ns)),
        ],
    );
    table.notes = notes(device);
    table
}

fn notes(device: &DeviceMemory) -> Vec<String> {
    let mut notes =
        vec!["Reserved: what torch holds of the GPU. Unused: the part of it in no tensor.".into()];
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

/// Requests that were not met.
fn failures(device: &DeviceMemory) -> Table {
    let failures = &device.out_of_memory;
    let section = |failed: &OutOfMemory| {
        let path = Some(&failed.section).filter(|path| !path.is_empty());
        Cell::known(path, |path| Cell::Text(path.join(" / ")))
    };
    let by = |failed: &OutOfMemory| {
        Cell::known(failed.stack.as_ref(), |stack| Cell::Text(place(Some(stack))))
    };
    let mut table = Table::of_each(
        "oom",
        named(device, "Out of memory"),
        failures,
        &[
            ("at_ns", "At", &|f| Cell::moment(f.at_ns)),
            ("requested_bytes", "Requested", &|f| Cell::Bytes(f.asked_bytes)),
            ("device_free_bytes", "GPU free", &|f| Cell::bytes(f.device_free_bytes)),
            ("allocated_bytes", "Allocated", &|f| Cell::Bytes(f.level.allocated_bytes)),
            ("reserved_bytes", "Reserved", &|f| Cell::Bytes(f.level.reserved_bytes)),
            ("free_bytes", "Free", &|f| Cell::Bytes(f.level.free_bytes)),
            ("largest_free_bytes", "Largest", &|f| Cell::Bytes(f.level.largest_free_bytes)),
            ("cause", "Why", &|f| Cell::text(name_of(&f.cause))),
            ("section", "Section", &|f| section(f)),
            ("stack", "By", &|f| by(f)),
        ],
    );
    let causes = failures.iter().map(|failed| because(failed.cause));
    table.notes.extend(causes.collect::<BTreeSet<_>>());
    table.noted("Free, and the largest piece of it: within what was reserved.")
}

/// `too large: it is more than what was left.`
fn because(cause: OutOfMemoryCause) -> String {
    let why = match cause {
        OutOfMemoryCause::Fragmentation => "enough was free, in pieces that were too small",
        OutOfMemoryCause::OtherPool => {
            "enough was free, but in memory pools of CUDA graphs or of the program, which this request may not use"
        }
        OutOfMemoryCause::AwaitingFree => {
            "enough had been given back, but work of other streams still needed it"
        }
        OutOfMemoryCause::Limit => {
            "the device had enough, a limit of the process or the driver stood in the way"
        }
        OutOfMemoryCause::TooLarge => "it is more than what was left",
        OutOfMemoryCause::Unknown => "the snapshot does not say what was left",
    };
    format!("{}: {why}.", name_of(&cause))
}

/// `what` happened when most was allocated, or at the snapshot where there is no history.
fn at_peak(device: &DeviceMemory, by: &str) -> String {
    let when = if device.n_events > 0 { "when it was most" } else { "at the snapshot" };
    named(device, &format!("Allocated {when}, by {by}"))
}

fn alive(device: &DeviceMemory) -> Table {
    let rows = &device.alive.by_stack;
    let mut table = Table::of_each(
        "memory_by_stack",
        at_peak(device, "stack"),
        rows,
        &[
            ("bytes", "Bytes", &|r| Cell::Bytes(r.bytes)),
            ("share_ratio", "Share", &|r| Cell::ratio(r.share)),
            ("count", "Count", &|r| Cell::Count(r.count)),
            ("largest_bytes", "Largest", &|r| Cell::Bytes(r.largest_bytes)),
            ("stack", "Allocated by", &|r| Cell::Text(allocated_by(r))),
        ],
    )
    .limited(MAX_STACKS);
    let shown = rows.iter().take(MAX_STACKS).map(|row| row.bytes);
    note_others(&mut table, device, shown, "stacks");
    table.noted("A row is a stack: the innermost place in your own code ← the innermost one outside of torch. JSON has whole stacks.")
}

fn allocated_by(row: &AliveRow) -> String {
    let place = place(row.stack.as_ref());
    if row.is_before_recording {
        return format!("before the history: {place}");
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

pub(crate) fn shown_frame(frame: &StackFrame) -> String {
    format!("{} {}", line_of(frame), frame.name)
}

/// `film.py:12`
pub(crate) fn line_of(frame: &StackFrame) -> String {
    let file = frame.file.rsplit('/').next().unwrap_or_default();
    match frame.line {
        Some(line) => format!("{file}:{line}"),
        None => file.to_owned(),
    }
}

fn sections(device: &DeviceMemory, rows: &[AliveInSection]) -> Table {
    let section = |row: &AliveInSection| match (row.is_before_recording, row.path.is_empty()) {
        (true, _) => "(before the history)".into(),
        (false, true) => "(under no section)".into(),
        (false, false) => row.path.join(" / "),
    };
    let title = at_peak(device, "section");
    let mut table = Table::of_each(
        "memory_by_section",
        title,
        rows,
        &[
            ("section", "Section", &|r| Cell::Text(section(r))),
            ("bytes", "Bytes", &|r| Cell::Bytes(r.bytes)),
            ("share_ratio", "Share", &|r| Cell::ratio(r.share)),
            ("count", "Count", &|r| Cell::Count(r.count)),
        ],
    )
    .limited(MAX_SECTIONS);
    let shown = rows.iter().take(MAX_SECTIONS).map(|row| row.bytes);
    note_others(&mut table, device, shown, "sections");
    table.noted("By the section of the main thread, or the range that torch noted, that was open when it was allocated.")
}

/// How much of what was allocated is in no row.
fn note_others(
    table: &mut Table,
    device: &DeviceMemory,
    shown: impl Iterator<Item = u64>,
    what: &str,
) {
    let shown_bytes = shown.fold(0, u64::saturating_add);
    let others = device.alive.bytes.saturating_sub(shown_bytes);
    if others > 0 {
        let said = format!("{} are of other {what}.", bytes(others));
        table.notes.push(said);
    }
}

fn steps(device: &DeviceMemory, found: &MemoryGrowth) -> Table {
    let title = match found.of {
        GrowthOf::Steps => "Allocated after each step",
        GrowthOf::Snapshots => "Allocated at each snapshot",
    };
    let one_loop = found.points.iter().all(|point| point.loop_number == 0);
    let mut table = Table::of_each(
        "memory_growth",
        named(device, title),
        &found.points,
        &[
            ("moment", "Moment", &|p| {
                Cell::Text(match (found.of, one_loop) {
                    (GrowthOf::Snapshots, _) => format!("snapshot {}", p.number),
                    (GrowthOf::Steps, true) => format!("step {}", p.number),
                    (GrowthOf::Steps, false) => format!("loop {} step {}", p.loop_number, p.number),
                })
            }),
            ("allocated_bytes", "Allocated", &|p| Cell::Bytes(p.allocated_bytes)),
            ("reserved_bytes", "Reserved", &|p| Cell::Bytes(p.reserved_bytes)),
            ("growth_bytes", "Growth", &|p| Cell::known(p.growth_bytes, Cell::Growth)),
            ("at_ns", "At", &|p| Cell::moment(p.at_ns)),
        ],
    )
    .limited(MAX_STEPS);
    let (n_grew, n) = (found.n_grew, found.n_compared);
    let total = found.total_bytes.map(growth);
    let times = counted(n, "time", "times");
    let grew = total.map(|total| format!("Grew {n_grew} of {times}, by {total} in all."));
    table.notes.extend(grew);
    table
}

fn pools(device: &DeviceMemory) -> Table {
    Table::of_each(
        "memory_pools",
        named(device, "Held at the snapshot"),
        &device.pools,
        &[
            ("pool", "Pool", &|p| Cell::Text(pool_name(p))),
            ("n_segments", "Segments", &|p| Cell::Count(p.n_segments)),
            ("reserved_bytes", "Reserved", &|p| Cell::Bytes(p.reserved_bytes)),
            ("allocated_bytes", "Allocated", &|p| Cell::Bytes(p.allocated_bytes)),
            ("rounding_bytes", "Rounding", &|p| Cell::bytes(p.rounding_bytes)),
            ("awaiting_free_bytes", "Awaiting free", &|p| Cell::Bytes(p.awaiting_free_bytes)),
            ("free_bytes", "Free", &|p| Cell::Bytes(p.free_bytes)),
            ("n_free", "Pieces", &|p| Cell::Count(p.n_free)),
            ("largest_free_bytes", "Largest", &|p| Cell::Bytes(p.largest_free_bytes)),
        ],
    )
    .limited(MAX_POOLS)
    .noted("Pieces, and the largest of them: of what is free.")
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
