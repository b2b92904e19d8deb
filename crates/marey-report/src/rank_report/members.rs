//! The processes that stand for ranks.

use marey::Status;
use marey_analysis::job::Ended;
use marey_analysis::ranks::{ClockMethod, JobAnswers, Member, MemberState, PlacedClock};

use super::places::Places;
use crate::document::{Cell, Table, named};
use crate::model::RunStatus;

/// A row a rank, those that are not whole first.
pub(super) fn table(job: &JobAnswers, places: Places<'_>) -> Table {
    let mut order: Vec<(u32, &Member)> = (0..).zip(&job.members).collect();
    order.sort_by_key(|(_, member)| member.state == MemberState::Whole);
    let clock = |place: u32| job.clocks.each.get(place as usize);
    let mut table = Table::of_each(
        "ranks",
        "Ranks",
        order,
        &[
            ("rank", "Rank", &|(place, _)| places.cell(*place)),
            ("host", "Host", &|(_, m)| Cell::text(&m.host)),
            ("local_rank", "Local", &|(_, m)| Cell::count(m.local_rank.map(u64::from))),
            ("pid", "Pid", &|(_, m)| Cell::count((m.pid > 0).then_some(m.pid.into()))),
            ("state", "State", &|(_, m)| named(&m.state)),
            ("ended", "Ended", &|(_, m)| Cell::known(ended(&m.ended), Cell::Text)),
            ("wall_ns", "Wall", &|(_, m)| Cell::Duration(m.wall_ns)),
            ("n_lost", "Lost", &|(_, m)| Cell::Count(m.n_lost)),
            ("n_others", "Others", &|(_, m)| Cell::Count(m.n_others)),
            ("start_ns", "Start", &|(place, _)| {
                Cell::moment(clock(*place).and_then(|clock| clock.start_ns))
            }),
            ("clock_error_ns", "±", &|(place, _)| {
                Cell::duration(clock(*place).and_then(clock_error_ns))
            }),
            ("source", "From", &|(_, m)| named(&m.source)),
            ("file", "File", &|(_, m)| Cell::text(&m.file)),
        ],
    );
    let warnings = job.members.iter().flat_map(|member| {
        let warnings = member.warnings.iter();
        warnings.map(move |warning| format!("{}: {warning}", member.file))
    });
    table.notes.extend(warnings.take(MAX_WARNINGS));
    table
}

/// `None` where ranks read one clock: that it is right is assumed.
fn clock_error_ns(clock: &PlacedClock) -> Option<u64> {
    clock.error_ns.filter(|error_ns| *error_ns > 0 || clock.method != ClockMethod::SameClock)
}

/// Warnings of files that are said.
const MAX_WARNINGS: usize = 8;

/// How a process ended, in the words of its own report; `None` when not known.
fn ended(ended: &Ended) -> Option<String> {
    let status = match ended {
        Ended::NotKnown => return None,
        Ended::Running => Status::Running,
        Ended::Finished => Status::Finished,
        Ended::Failed(reason) => Status::Failed(reason.clone()),
        Ended::Killed(signal) => Status::Killed(*signal),
        Ended::WithoutClosing => Status::EndedWithoutClosing,
    };
    Some(RunStatus::new(&status).text())
}
