//! What stands where, for any size.
//!
//! ```text
//! job, rank, pid, uptime, how it ended       who
//! command
//! In    path of what is open                 phase
//! Loop  name, iterations, last, p50, p95, mean
//! Rate  frames, blocks, steps a second
//! GPU   ▁▂▃▄ …  CPU … Memory … Disk …        lanes
//! Section      calls  total  mean  last      table, as many rows as fit
//! ! what somebody should know                warnings
//! ```

use std::collections::BTreeSet;

use marey::live::{Process, Reading};
use marey_report::live::LiveSnapshot;
use marey_report::{Loss, RunStatus, escape, quantity, width};
use ratatui::text::{Line, Span};

use super::hangs::Hang;
use super::lanes::{Lane, Lanes};
use super::screen::{BARS, FAINT, LABEL, OPEN, TITLE, WARNING};
use super::sections::{shown_path, table};

/// From this size on there is room for everything.
const FULL: (usize, usize) = (60, 14);
/// Below this size nothing can be said.
const LEAST: (usize, usize) = (16, 3);
const MAX_WARNINGS: usize = 3;
/// A sampler that has not read for this long is worth a word.
const SILENT_NS: u64 = 10_000_000_000;

/// One process, as it is shown.
#[derive(Clone, Copy)]
pub(super) struct Shown<'a> {
    pub(super) process: &'a Process,
    pub(super) now: &'a LiveSnapshot,
    pub(super) lanes: &'a Lanes,
    /// What ranks of its job hang in.
    pub(super) hang: Option<&'a Hang>,
}

/// A process in so many columns and lines; `skipped` rows of its table are above the first.
pub(super) fn process(
    shown: Shown<'_>,
    columns: usize,
    rows: usize,
    skipped: usize,
) -> Vec<Line<'static>> {
    if columns < LEAST.0 || rows < LEAST.1 {
        let text = format!("{columns}x{rows} is too small");
        return vec![Line::styled(text, WARNING)];
    }
    let is_full = columns >= FULL.0 && rows >= FULL.1;
    let mut lines = header(shown, columns, is_full);
    let mut warnings = warnings(shown, columns);
    warnings.truncate(MAX_WARNINGS);
    let room = rows.saturating_sub(lines.len() + warnings.len());
    if let Some(n_rows) = room.checked_sub(1).filter(|n| *n > 0) {
        let mut table = table(shown.now, columns, skipped, n_rows);
        table.resize(room, Line::default());
        lines.append(&mut table);
    }
    lines.truncate(rows.saturating_sub(warnings.len()));
    lines.extend(warnings);
    lines
}

/// A process with everything that there is, as text for `--once`.
pub(super) fn whole(shown: Shown<'_>, columns: usize) -> String {
    let mut lines = header(shown, columns, true);
    lines.extend(table(shown.now, columns, 0, usize::MAX));
    lines.extend(warnings(shown, columns));
    let lines = lines.iter().map(ToString::to_string);
    let lines: Vec<String> = lines.map(|line| line.trim_end().to_owned()).collect();
    lines.join("\n") + "\n"
}

/// Who it is, in one line.
pub(super) fn name(process: &Process) -> String {
    let rank = process.rank.map(|rank| format!("rank {rank} "));
    format!("{}pid {}", rank.unwrap_or_default(), process.pid())
}

/// Everything but the table: where there is no room for all of it the least that is worth knowing.
fn header(shown: Shown<'_>, columns: usize, is_full: bool) -> Vec<Line<'static>> {
    let Shown { process, now, lanes, .. } = shown;
    let label_width = if is_full { 8 } else { 0 };
    let mut lines = vec![who(process, now, is_full)];
    if is_full && !process.command.is_empty() {
        let command: Vec<String> = process.command.iter().map(|a| escape::visible(a)).collect();
        let command = escape::cut(&command.join(" "), columns);
        lines.push(Line::styled(command, FAINT));
    }
    let mut labelled = |label: &str, line: Option<Line<'static>>| {
        if let Some(mut line) = line {
            let label = width::pad_end(label, label_width);
            if is_full {
                line.spans.insert(0, Span::styled(label, LABEL));
            }
            lines.push(line);
        }
    };
    let columns = columns - label_width;
    let is_in = if now.look.is_running() { "In" } else { "Was in" };
    labelled(is_in, Some(phase(now, columns)));
    labelled("Loop", iterations(now, columns));
    labelled("Rate", rates(now));
    for lane in lanes.all(now) {
        if is_full {
            labelled(&lane.name, Some(full_lane(&lane, columns)));
        } else {
            let values: Vec<&str> = lane.cells.iter().map(|cell| cell.text.as_str()).collect();
            let name = Span::styled(format!("{} ", lane.name), LABEL);
            labelled("", Some(Line::from(vec![name, values.join(" ").into()])));
        }
    }
    lines
}

fn who(process: &Process, now: &LiveSnapshot, is_full: bool) -> Line<'static> {
    let status = match now.look.is_alive {
        _ if !now.look.is_running() => {
            let text = RunStatus::new(&now.look.status).text();
            Span::styled(escape::cut(&text, 60), WARNING)
        }
        None => Span::styled("in another container", OPEN),
        _ => Span::styled("running", OPEN),
    };
    let name = name(process);
    if !is_full {
        return Line::from(vec![Span::styled(name + " ", TITLE), status]);
    }
    let job = process.job_id.as_deref();
    let job = job.map_or_else(String::new, |job| format!("job {}  ", escape::cut(job, 30)));
    let up = format!("  up {}  ", uptime(now.look.at_ns));
    Line::from(vec![Span::styled(job + &name, TITLE), up.into(), status])
}

/// `3:07`, `1:02:03`, `2 d 1:02:03`.
fn uptime(ns: u64) -> String {
    let seconds = ns / 1_000_000_000;
    let (days, hours) = (seconds / 86_400, seconds / 3600 % 24);
    let (minutes, seconds) = (seconds / 60 % 60, seconds % 60);
    match (days, hours) {
        (0, 0) => format!("{minutes}:{seconds:02}"),
        (0, _) => format!("{hours}:{minutes:02}:{seconds:02}"),
        _ => format!("{days} d {hours}:{minutes:02}:{seconds:02}"),
    }
}

/// What it is in, and at which step of its schedule.
fn phase(now: &LiveSnapshot, columns: usize) -> Line<'static> {
    let look = &now.look;
    let step = look.schedule.filter(|_| look.is_running());
    let step = step.map_or_else(String::new, |(n_made, n)| format!("  step {n_made}/{n}"));
    let Some(open) = look.phase() else {
        return Line::from(vec![Span::styled("no section", FAINT), step.into()]);
    };
    let since = now.open_for_ns(open).map(quantity::duration_ns);
    let since = since.map_or_else(String::new, |since| format!("  {since}")) + &step;
    let others = look.open.iter().map(|other| other.lane);
    let others: BTreeSet<u32> = others.filter(|lane| *lane != open.lane).collect();
    let more = match others.len() {
        0 => String::new(),
        n => format!("  and {}", quantity::counted(n as u64, "more thread", "more threads")),
    };
    let taken = width::columns(&since) + width::columns(&more);
    let path = shown_path(&look.path(open.node), columns.saturating_sub(taken).max(8));
    let (path, more) = (Span::styled(path, OPEN), Span::styled(more, FAINT));
    Line::from(vec![path, since.into(), more])
}

/// The loop that turned last: as many of its figures as there is room for, most telling first.
fn iterations(now: &LiveSnapshot, columns: usize) -> Option<Line<'static>> {
    let newest = now.newest_loop.as_ref()?;
    let totals = &newest.totals;
    let figure = |name: &str, ns: u64| Some(format!("{name} {}", quantity::duration_ns(ns)));
    let of_newest = |name: &str, of| figure(name, totals.iterations.as_ref()?.quantile_ns(of)?);
    let figures = [
        Some(totals.count.to_string()),
        newest.per_second.map(quantity::rate),
        figure("last", totals.last_ns),
        of_newest("p50", 0.5),
        of_newest("p95", 0.95),
        figure("mean", totals.sum_ns / totals.count.max(1)),
    ];
    let mut line = escape::cut(&newest.name, 24);
    for figure in figures.into_iter().flatten() {
        if width::columns(&line) + 2 + width::columns(&figure) > columns {
            break;
        }
        line = format!("{line}  {figure}");
    }
    Some(line.into())
}

fn rates(now: &LiveSnapshot) -> Option<Line<'static>> {
    let (made, said) = (&now.made, &now.look.generated);
    let per_second = |rate: Option<f64>, what: &str| rate.map(|rate| format!("{rate:.2} {what}"));
    // Latent frames are not what a viewer sees.
    let frames = if said.streamed_frames > 0 { "FPS" } else { "latent FPS" };
    let dropped = said.dropped_frames;
    let known = [
        per_second(made.frames_per_second, frames),
        per_second(made.blocks_per_second, "blocks/s"),
        per_second(made.steps_per_second, "steps/s"),
        (dropped > 0).then(|| quantity::counted(dropped, "frame dropped", "frames dropped")),
    ];
    let known: Vec<String> = known.into_iter().flatten().collect();
    (!known.is_empty()).then(|| known.join("  ").into())
}

/// Figures with bars, as many cells as fit; what is left of the width goes to the bars of the first two.
fn full_lane(lane: &Lane, columns: usize) -> Line<'static> {
    let mut line = Line::default();
    let (barred, plain) = lane.cells.split_at(lane.cells.len().min(2));
    let plain: Vec<&str> = plain.iter().map(|cell| cell.text.as_str()).collect();
    let plain = plain.join("  ");
    let room = columns.saturating_sub(width::columns(&plain) + 2) / 2;
    for cell in barred {
        let text = width::pad_end(&cell.text, room.saturating_sub(2).min(18));
        let bars = cell.bars(room.saturating_sub(width::columns(&text) + 2));
        line.push_span(text + " ");
        line.push_span(Span::styled(bars, BARS));
        line.push_span(" ");
    }
    line.push_span(plain);
    line
}

/// What somebody who watches should know, a line each.
fn warnings(Shown { now, hang, .. }: Shown<'_>, columns: usize) -> Vec<Line<'static>> {
    let losses = Loss::all(&now.look.losses, &now.look.status).into_iter();
    let lost = losses.map(|loss| format!("{} {}", loss.count, loss.meaning));
    let late = now.look.series.iter().filter_map(|r| sampler(now, r));
    let said = lost.chain(late).map(|text| format!("! {text}"));
    // Who has not come stands at the end of the sentence.
    let hang = hang.map(|hang| format!("! {}", escape::visible(&hang.said)));
    let hang = hang.iter().flat_map(|hang| width::wrapped(hang, columns));
    hang.chain(said).map(|text| Line::styled(text, WARNING)).collect()
}

/// What a sampler's own series say; `None` for those of other things, and when all is well.
fn sampler(now: &LiveSnapshot, reading: &Reading) -> Option<String> {
    let name = escape::cut(&reading.info.subject, 40);
    match (reading.info.name.as_str(), reading.value) {
        ("sampler.missed", n) if n > 0.0 => {
            let readings = quantity::counted(quantity::whole(n), "reading", "readings");
            Some(format!("sampler {name} was late and left out {readings}"))
        }
        ("sampler.late", _) if now.look.is_running() && reading.age_ns > SILENT_NS => {
            let seconds = reading.age_ns / 1_000_000_000;
            Some(format!("sampler {name} has read nothing for {seconds} s"))
        }
        _ => None,
    }
}
