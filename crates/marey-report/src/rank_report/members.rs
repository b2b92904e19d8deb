//! The processes that stand for ranks.

use marey_analysis::job::Ended;
use marey_analysis::ranks::{ClockMethod, JobAnswers, Member, MemberState, PlacedClock};

use super::places::Places;
use crate::document::{Cell, Table};
use crate::model::{RunStatus, StatusKind};
use crate::trace_report::kernels::name_of;

/// A row a rank, those that are not whole first.
pub(super) fn table(job: &JobAnswers, places: Places<'_>) -> Table {
    let mut table = Table::new(
        "ranks",
        "Ranks",
        &[
            ("rank", "Rank"),
            ("host", "Host"),
            ("local_rank", "Local"),
            ("pid", "Pid"),
            ("state", "State"),
            ("ended", "Ended"),
            ("wall_ns", "Wall"),
            ("n_lost", "Lost"),
            ("n_others", "Others"),
            ("start_ns", "Start"),
            ("clock_error_ns", "±"),
            ("source", "From"),
            ("file", "File"),
        ],
    );
    let mut order: Vec<(u32, &Member)> = (0..).zip(&job.members).collect();
    order.sort_by_key(|(_, member)| member.state == MemberState::Whole);
    for (place, member) in order {
        let clock = job.clocks.each.get(place as usize);
        table.row(vec![
            places.cell(place),
            Cell::text(member.host.as_str()),
            Cell::count(member.local_rank.map(u64::from)),
            Cell::count((member.pid > 0).then_some(u64::from(member.pid))),
            Cell::text(name_of(&member.state)),
            Cell::known(ended(&member.ended), Cell::Text),
            Cell::Duration(member.wall_ns),
            Cell::Count(member.n_lost),
            Cell::Count(member.n_others),
            Cell::known(clock.and_then(|clock| clock.start_ns), Cell::Moment),
            Cell::duration(clock.and_then(clock_error_ns)),
            Cell::text(name_of(&member.source)),
            Cell::text(member.file.as_str()),
        ]);
    }
    let warnings = job.members.iter().flat_map(|member| {
        let warnings = member.warnings.iter();
        warnings.map(move |warning| format!("{}: {warning}", member.file))
    });
    table.notes.extend(warnings.take(MAX_WARNINGS));
    table
}

/// `None` where ranks read one clock: that it is right is assumed.
fn clock_error_ns(clock: &PlacedClock) -> Option<u64> {
    clock
        .error_ns
        .filter(|error_ns| *error_ns > 0 || clock.method != ClockMethod::SameClock)
}

/// Warnings of files that are said.
const MAX_WARNINGS: usize = 8;

/// How a process ended, in the words of its own report; `None` when not known.
fn ended(ended: &Ended) -> Option<String> {
    let (kind, signal, reason) = match ended {
        Ended::NotKnown => return None,
        Ended::Running => (StatusKind::Running, None, None),
        Ended::Finished => (StatusKind::Finished, None, None),
        Ended::Failed(reason) => (StatusKind::Failed, None, Some(reason.clone())),
        Ended::Killed(signal) => (StatusKind::Killed, Some(*signal), None),
        Ended::WithoutClosing => (StatusKind::EndedWithoutClosing, None, None),
    };
    let status = RunStatus {
        kind,
        signal,
        reason: reason.filter(|reason| !reason.is_empty()),
    };
    Some(status.text())
}
