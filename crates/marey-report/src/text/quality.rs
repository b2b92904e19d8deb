//! How the run ended, and how far the figures can be trusted.

use super::machine;
use super::sections::shown_path;
use crate::escape::{cut, visible};
use crate::model::{LaunchFacts, OpenCall, Report, Synchronised};
use crate::quantity::{counted, duration_ns, time_s};

const MAX_OPEN: usize = 20;
const MAX_SYNCHRONISED: usize = 20;

/// Status, open sections, losses, warnings and how durations were measured.
pub(super) fn lines(report: &Report) -> String {
    let quality = &report.quality;
    let mut lines = vec![
        format!("Run: {}", run(report)),
        format!("Status: {}", cut(&report.status.text(), 400)),
    ];
    let launch = report.run.launch.as_ref();
    let command = launch.and_then(LaunchFacts::text);
    lines.extend(command.map(|text| format!("Command: {text}")));
    lines.push(format!("How measured: {}", cut(&quality.how_measured, 400)));
    lines.extend(synchronised(report));
    let open = quality.open.iter();
    lines.extend(open.take(MAX_OPEN).map(|open| open_line(report, open)));
    if quality.open.len() > MAX_OPEN {
        lines.push(format!(
            "Open: … and {} more",
            quality.open.len() - MAX_OPEN
        ));
    }
    for loss in &quality.losses {
        let what = if loss.is_only_risk { "Note" } else { "Lost" };
        lines.push(format!("{what}: {} {}", loss.count, loss.meaning));
    }
    if let Some(session) = report.session.as_ref().filter(|s| s.n_sections_missing > 0) {
        lines.push(format!(
            "Lost: {} of the run may have been this session's: its counts are of recorded sections only",
            counted(session.n_sections_missing, "section", "sections")
        ));
    }
    lines.extend(machine::late_samplers(report));
    for warning in &quality.warnings {
        lines.push(format!("Warning: {}", visible(warning)));
    }
    if quality.is_complete {
        lines.push("Data: complete, nothing was lost".into());
    }
    lines.join("\n") + "\n"
}

/// The sections whose times include waiting for the GPU; `None` when there were none.
fn synchronised(report: &Report) -> Option<String> {
    let rows = &report.quality.synchronised;
    if rows.is_empty() {
        return None;
    }
    let shown = |row: &Synchronised| {
        let path = shown_path(&report.call_path(row.node), 100);
        let at_least = if row.is_at_least { "at least " } else { "" };
        format!(
            "{path} ({at_least}{})",
            counted(row.n_calls, "call", "calls")
        )
    };
    let mut sections: Vec<String> = rows.iter().take(MAX_SYNCHRONISED).map(shown).collect();
    if rows.len() > MAX_SYNCHRONISED {
        sections.push(format!("… and {} more", rows.len() - MAX_SYNCHRONISED));
    }
    Some(format!(
        "Synchronised with the GPU at both ends: {}; their times include waiting for the GPU",
        sections.join(", ")
    ))
}

fn run(report: &Report) -> String {
    let run = &report.run;
    let mut parts = vec![format!("pid {}", run.pid)];
    parts.extend(
        run.host
            .as_ref()
            .map(|host| format!("on {}", cut(host, 64))),
    );
    if let Some(rank) = run.rank {
        let of = run.world_size.map(|n| format!(" of {n}"));
        parts.push(format!("rank {rank}{}", of.unwrap_or_default()));
    }
    parts.extend(
        run.job_id
            .as_ref()
            .map(|job| format!("job {}", cut(job, 64))),
    );
    parts.push(format!("wall time {}", duration_ns(run.wall_ns)));
    if !run.command.is_empty() {
        parts.push(format!("command {}", cut(&run.command.join(" "), 200)));
    }
    parts.join(", ")
}

fn open_line(report: &Report, open: &OpenCall) -> String {
    let path = shown_path(&report.call_path(open.node), 100);
    let thread = open
        .thread
        .as_ref()
        .map(|name| format!(" in {}", cut(name, 40)));
    format!(
        "Open: {path}{}, since {} s, {} so far",
        thread.unwrap_or_default(),
        time_s(open.start_ns),
        duration_ns(open.so_far_ns)
    )
}
