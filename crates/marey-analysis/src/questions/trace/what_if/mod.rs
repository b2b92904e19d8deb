//! What would a trace have taken if one thing about it were different?

mod change;
mod changed;
mod rerun;

use serde::Serialize;

pub use change::{Change, UnknownChange};

use super::trace_account::TraceAccount;
use super::utilization::utilization;
use super::{DeviceWork, TraceContext, trace_account};
use crate::intervals::Interval;
use crate::stats::{ratio, sum};
use changed::Changed;
use rerun::Rerun;

/// The wall time of a trace as it was, and as it would have been.
///
/// ```text
/// host     [launch a][launch b]|-- synchronize --|[launch c]
/// device         |-------- a --------||--- b ---|      |-c-|      as recorded
///
/// host     [launch a][launch b]|-sync-|[launch c]
/// device         |--- a ---||--- b ---|     |-c-|                 a in half the time
/// ```
///
/// Each work begins once it is launched, what ran before it in its stream has ended, and what it waited for in another stream has, as long
/// after that as it did. A call that waits ends as long after the last work that ended in it as it did. All else takes the host as
/// long as it took.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct WhatIf {
    /// What is different, as it was asked for.
    pub changes: Vec<String>,
    /// Those of them that change nothing in this trace.
    pub without_effect: Vec<String>,
    /// What that takes for granted, a sentence each.
    pub assumptions: Vec<&'static str>,
    /// The wall time.
    pub wall: WhatIfRow,
    /// What it consists of: phases where the trace names them, else what each device did. Those of one device add up to the wall.
    pub rows: Vec<WhatIfRow>,
    /// Durations of all work of devices together; what runs at the same time counts twice.
    pub work: WhatIfRow,
    /// Share of those whose launch is not in the trace, 0 to 1: it begins after what ran before it in its stream, and nobody knows whether it
    /// would. `None` when all are zero.
    pub without_launch_ratio: Option<f64>,
}

/// One time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct WhatIfRow {
    /// What it is of.
    pub name: String,
    /// The device, where it is of one.
    pub device: Option<String>,
    /// As the trace has it.
    pub recorded_ns: u64,
    /// As it would be.
    pub then_ns: u64,
}

/// With all changes together.
///
/// O(n log n) for n pieces of work.
///
/// # Errors
/// When the trace has no work of devices, nothing of what would be different, or does not say what a change would do.
pub fn what_if(context: &TraceContext<'_>, changes: &[Change]) -> Result<WhatIf, UnknownChange> {
    let account = trace_account(context).filter(|_| !context.timelines.is_empty());
    let account = account.ok_or(UnknownChange::NoDevice)?;
    if let Some(lack) = context.coverage.lack() {
        return Err(UnknownChange::Incomplete(lack));
    }
    let changed = Changed::new(context, changes)?;
    let rerun = Rerun::new(context, &changed);
    let wall_then = rerun.wall(account.wall);
    let work = || context.timelines.iter().flat_map(|timeline| &timeline.work);
    let work_ns = sum(work().map(DeviceWork::length_ns));
    let without_launch = work().filter(|work| work.launch.is_none());
    let without_launch_ns = sum(without_launch.map(DeviceWork::length_ns));
    let then_ns = sum(rerun.work.iter().flatten().map(Interval::length_ns));
    Ok(WhatIf {
        changes: changes.iter().map(|change| change.text.clone()).collect(),
        without_effect: changed.without_effect,
        assumptions: changed.assumptions,
        wall: row("wall", account.wall.length_ns(), wall_then.length_ns()),
        rows: rows(context, &account, &rerun, wall_then),
        work: row("all work, summed up", work_ns, then_ns),
        without_launch_ratio: (work_ns > 0)
            .then(|| ratio(without_launch_ns.into(), work_ns.into())),
    })
}

fn row(name: &str, recorded_ns: u64, then_ns: u64) -> WhatIfRow {
    WhatIfRow { name: name.to_owned(), device: None, recorded_ns, then_ns }
}

/// Parts of the wall time, which then ends at this moment.
fn rows(
    context: &TraceContext<'_>,
    account: &TraceAccount,
    rerun: &Rerun<'_>,
    wall_then: Interval,
) -> Vec<WhatIfRow> {
    if !account.phases().is_empty() {
        let work = rerun.work.iter().flatten().copied();
        let then = account.held_by(context, wall_then.end_ns, work, |ns| rerun.moment(0, ns));
        let rows = account.rows.iter().zip(then);
        let rows = rows
            .map(|(phase, [busy_ns, idle_ns])| row(&phase.name, phase.held_ns, busy_ns + idle_ns));
        return rows.filter(|row| row.recorded_ns.max(row.then_ns) > 0).collect();
    }
    let devices = context.timelines.iter().zip(rerun.timelines());
    let rows = devices.flat_map(|(recorded, then)| {
        let recorded = utilization(context.trace, recorded);
        let then = utilization(context.trace, &then).parts_of(wall_then.length_ns());
        let device = recorded.device.clone();
        let parts = recorded.parts_of(account.wall.length_ns());
        let rows = parts.into_iter().map(move |(name, recorded_ns)| {
            let then = then.iter().find(|part| part.0 == name);
            let then_ns = then.map_or(0, |part| part.1);
            WhatIfRow { device: Some(device.clone()), ..row(name, recorded_ns, then_ns) }
        });
        rows.collect::<Vec<_>>()
    });
    rows.collect()
}
