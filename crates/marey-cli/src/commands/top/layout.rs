//! What stands where, for any size.
//!
//! ```text
//! job, rank, pid, uptime, how it ended       header
//! command
//! In    path of what is open                 phase
//! Loop  name, turns, last, mean, p50, p95
//! Rate  frames, blocks, steps a second
//! GPU   ▁▂▃▄ …  CPU … Memory … Disk …        lanes
//! Section      calls  total  mean  last      table, as many rows as fit
//! ! what somebody should know                warnings
//! ```

use std::time::Duration;

use marey_report::{RunStatus, escape, quantity, width};

use super::lanes::Lane;
use super::line::{Line, Role};
use super::sections::open_for_ns;
use super::sections::{shown_path, table};
use super::shown::Shown;
use super::warnings;

/// From this size on there is room for everything.
const FULL: (usize, usize) = (60, 14);
/// Below this size nothing can be said.
const LEAST: (usize, usize) = (16, 3);
const MAX_WARNINGS: usize = 3;
/// Columns of the words at the beginning of lines.
const LABEL: usize = 8;

/// A process in so many columns and lines; `skipped` rows of its table are above the first.
pub(super) fn process(shown: &Shown, columns: usize, rows: usize, skipped: usize) -> Vec<Line> {
    if columns < LEAST.0 || rows < LEAST.1 {
        let text = format!("{columns}x{rows} is too small");
        return vec![Line::of(Role::Warning, text)];
    }
    let mut lines = if columns < FULL.0 || rows < FULL.1 {
        compact(shown, columns)
    } else {
        header(shown, columns)
    };
    let warnings: Vec<Line> = warnings::of(&shown.look)
        .into_iter()
        .take(MAX_WARNINGS)
        .map(|text| Line::of(Role::Warning, format!("! {text}")))
        .collect();
    let room = rows.saturating_sub(lines.len() + warnings.len());
    if let Some(n_rows) = room.checked_sub(1).filter(|n| *n > 0) {
        let mut table = table(&shown.look, columns, skipped, n_rows);
        table.resize(room, Line::default());
        lines.append(&mut table);
    }
    lines.truncate(rows.saturating_sub(warnings.len()));
    lines.extend(warnings);
    lines
}

/// A process with everything that there is, for `--once`.
pub(super) fn whole(shown: &Shown, columns: usize) -> Vec<Line> {
    let mut lines = header(shown, columns);
    lines.extend(table(&shown.look, columns, 0, usize::MAX));
    let warnings = warnings::of(&shown.look).into_iter();
    lines.extend(warnings.map(|text| Line::of(Role::Warning, format!("! {text}"))));
    lines
}

/// Who it is, in one line.
pub(super) fn name(shown: &Shown) -> String {
    let rank = shown.process.rank.map(|rank| format!("rank {rank} "));
    format!("{}pid {}", rank.unwrap_or_default(), shown.process.pid())
}

/// How it stands, in a few words.
pub(super) fn status(shown: &Shown) -> String {
    if shown.is_running() {
        return match shown.look.is_alive {
            None if !shown.look.nodes.is_empty() => "in another container".into(),
            _ => "running".into(),
        };
    }
    escape::cut(&RunStatus::new(&shown.look.status).text(), 60)
}

fn header(shown: &Shown, columns: usize) -> Vec<Line> {
    let process = &shown.process;
    let job = process
        .job_id
        .as_deref()
        .map(|job| format!("job {}  ", escape::cut(job, 30)));
    let title = format!("{}{}  ", job.unwrap_or_default(), name(shown));
    let up = format!("up {}  ", uptime(shown.look.at_ns));
    let role = if shown.is_running() {
        Role::Open
    } else {
        Role::Warning
    };
    let mut lines = vec![
        Line::of(Role::Title, title)
            .and(Role::Value, up)
            .and(role, status(shown)),
    ];
    if !process.command.is_empty() {
        let command: Vec<String> = process.command.iter().map(|a| escape::visible(a)).collect();
        let command = escape::cut(&command.join(" "), columns);
        lines.push(Line::of(Role::Faint, command));
    }
    lines.push(phase(shown, columns, true));
    lines.extend(turns(shown, columns));
    lines.extend(rates(shown));
    let lanes = shown.lanes.all();
    lines.extend(lanes.iter().map(|lane| full_lane(lane, columns)));
    lines
}

/// The least that is worth knowing.
fn compact(shown: &Shown, columns: usize) -> Vec<Line> {
    let role = if shown.is_running() {
        Role::Open
    } else {
        Role::Warning
    };
    let mut lines = vec![
        Line::of(Role::Title, name(shown) + " ").and(role, status(shown)),
        phase(shown, columns, false),
    ];
    if let Some(newest) = shown.newest_loop() {
        let rate = shown
            .turns_per_second()
            .map(|rate| format!(" {}", quantity::rate(rate)));
        let figures = format!(
            " {} {}",
            newest.count,
            quantity::duration_ns(newest.last_ns)
        ) + &rate.unwrap_or_default();
        let room = columns.saturating_sub(width::columns(&figures)).max(8);
        lines
            .push(Line::of(Role::Value, escape::cut(&newest.name, room)).and(Role::Value, figures));
    }
    lines.extend(rates(shown));
    for lane in shown.lanes.all() {
        let values: Vec<&str> = lane.cells.iter().map(|cell| cell.value.as_str()).collect();
        let line = Line::of(Role::Label, format!("{} ", lane.name));
        lines.push(line.and(Role::Value, values.join(" ")));
    }
    lines
}

/// `3:07`, `1:02:03`, `2 d 1:02:03`.
fn uptime(ns: u64) -> String {
    let seconds = Duration::from_nanos(ns).as_secs();
    let (days, hours) = (seconds / 86_400, seconds / 3600 % 24);
    let (minutes, seconds) = (seconds / 60 % 60, seconds % 60);
    match (days, hours) {
        (0, 0) => format!("{minutes}:{seconds:02}"),
        (0, _) => format!("{hours}:{minutes:02}:{seconds:02}"),
        _ => format!("{days} d {hours}:{minutes:02}:{seconds:02}"),
    }
}

fn label(text: &str) -> Line {
    Line::of(Role::Label, width::pad_end(text, LABEL))
}

/// What it is in, with a word before it where there is room.
fn phase(shown: &Shown, columns: usize, is_labelled: bool) -> Line {
    let look = &shown.look;
    let line = match (is_labelled, shown.is_running()) {
        (false, _) => Line::default(),
        (true, true) => label("In"),
        (true, false) => label("Was in"),
    };
    let Some(open) = look.phase() else {
        return line.and(Role::Faint, "no section");
    };
    let since = open_for_ns(look, open)
        .map_or_else(String::new, |ns| format!("  {}", quantity::duration_ns(ns)));
    let others = look.open.iter().filter(|other| other.lane != open.lane);
    let mut lanes: Vec<u32> = others.map(|other| other.lane).collect();
    lanes.sort_unstable();
    lanes.dedup();
    let more = match lanes.len() {
        0 => String::new(),
        1 => "  and 1 more thread".into(),
        n => format!("  and {n} more threads"),
    };
    let taken = line.columns() + width::columns(&since) + width::columns(&more);
    let path = shown_path(&look.path(open.node), columns.saturating_sub(taken).max(8));
    let line = line.and(Role::Open, path);
    line.and(Role::Value, since).and(Role::Faint, more)
}

/// The loop that turned last: as many of its figures as there is room for, most telling first.
fn turns(shown: &Shown, columns: usize) -> Option<Line> {
    let newest = shown.newest_loop()?;
    let figure = |name: &str, ns: Option<u64>| {
        ns.map(|ns| format!("  {name} {}", quantity::duration_ns(ns)))
    };
    let of_newest = |quantile| newest.newest.quantile_ns(quantile);
    let figures = [
        Some(format!("  {}", newest.count)),
        shown
            .turns_per_second()
            .map(|rate| format!("  {}", quantity::rate(rate))),
        figure("last", Some(newest.last_ns)),
        figure("p50", of_newest(0.5)),
        figure("p95", of_newest(0.95)),
        Some(format!("  mean {}", quantity::duration(newest.mean_ns()))),
    ];
    let mut line = label("Loop").and(Role::Value, escape::cut(&newest.name, 24));
    for figure in figures.into_iter().flatten() {
        if line.columns() + width::columns(&figure) > columns {
            break;
        }
        line = line.and(Role::Value, figure);
    }
    Some(line)
}

fn rates(shown: &Shown) -> Option<Line> {
    let per_second = |rate: Option<f64>, what: &str| rate.map(|rate| format!("{rate:.2} {what}"));
    // Latent frames are not what a viewer sees.
    let frames = if shown.look.generated.streamed_frames > 0 {
        "FPS"
    } else {
        "latent FPS"
    };
    let dropped = shown.look.generated.dropped_frames;
    let known = [
        per_second(shown.frames_per_second(), frames),
        per_second(shown.blocks_per_second(), "blocks/s"),
        per_second(shown.steps_per_second(), "steps/s"),
        (dropped > 0).then(|| quantity::counted(dropped, "frame dropped", "frames dropped")),
    ];
    let known: Vec<String> = known.into_iter().flatten().collect();
    (!known.is_empty()).then(|| label("Rate").and(Role::Value, known.join("  ")))
}

/// Figures with bars, as many cells as fit; what is left of the width goes to the bars of the first two.
fn full_lane(lane: &Lane, columns: usize) -> Line {
    let mut line = label(&lane.name);
    let (barred, plain) = lane.cells.split_at(lane.cells.len().min(2));
    let plain: Vec<&str> = plain.iter().map(|cell| cell.value.as_str()).collect();
    let plain = plain.join("  ");
    let room = columns.saturating_sub(LABEL + width::columns(&plain) + 2) / 2;
    for cell in barred {
        let text = width::pad_end(&cell.value, 18);
        let bars = room.saturating_sub(width::columns(&text) + 2);
        line = line
            .and(Role::Value, text + " ")
            .and(Role::Bars, cell.bars(bars));
        line = line.and(Role::Value, " ");
    }
    line.and(Role::Value, plain)
}
