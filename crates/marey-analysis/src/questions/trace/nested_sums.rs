//! What calls that lie in each other add up to, by group: each moment and each launch once, however deep they are nested.

use super::owners::HostKind;
use super::{DeviceTimeline, TraceContext};
use crate::import::chrome::Trace;
use crate::stats::sum;

/// A call and what it launched: one kernel, or the thousands of a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Launch {
    /// The row of the call.
    pub(super) row: u32,
    /// Kernels, copies and fills.
    pub(super) n_ops: u64,
    /// Their durations together.
    pub(super) total_ns: u64,
}

/// The calls that launched the work of these devices, in order of rows. Work without a launch is not in it.
pub(super) fn launches(trace: &Trace, timelines: &[DeviceTimeline]) -> Vec<Launch> {
    let work = timelines.iter().flat_map(|timeline| &timeline.work);
    let mut each: Vec<(u32, u64)> = work
        .filter_map(|work| Some((work.launch?, work.length_ns())))
        .filter(|(row, _)| (*row as usize) < trace.rows.len())
        .collect();
    each.sort_unstable();
    each.chunk_by(|a, b| a.0 == b.0)
        .filter_map(|group| {
            Some(Launch {
                row: group.first()?.0,
                n_ops: group.len() as u64,
                total_ns: sum(group.iter().map(|work| work.1)),
            })
        })
        .collect()
}

/// The group of a row that is in none.
pub(super) const NO_GROUP: u32 = u32::MAX;

/// All calls of a group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct NestedSums {
    /// Time on the host; a call within a call of the group counts once, with what sticks out of that.
    pub(super) host_ns: u64,
    /// Kernels, copies and fills that they launched themselves.
    pub(super) n_launched: u64,
    /// The durations of those.
    pub(super) device_self_ns: u64,
    /// The durations of all that was launched within them.
    pub(super) device_total_ns: u64,
}

/// A row that is open.
struct Open {
    row: u32,
    group: u32,
    is_call: bool,
    /// The group of the innermost operator or range, this one or around it.
    owner: u32,
    /// What was launched in it so far.
    n_ops: u64,
    launched_ns: u64,
    /// Of the rows of its group around it.
    outer: OpenGroup,
}

/// Of the rows of a group that are open the last end, and how many they are.
#[derive(Clone, Copy, Default)]
struct OpenGroup {
    end_ns: u64,
    n_open: u32,
}

/// Goes once through the rows of each thread, from the outside to the inside, and adds what was launched in a row to the row
/// around it when the row is left.
///
/// ```text
/// a    |----------------|     left last: k + l, once, since it is the outermost a
/// b      |--------|           left third: k + l
/// a        |----|             left second: k, which is in the outer a already
/// launch    k    l            left first
/// ```
///
/// O(n), for n rows and launches in order of rows.
pub(super) fn nested_sums(
    context: &TraceContext<'_>,
    groups: &[u32],
    n_groups: usize,
    launches: &[Launch],
) -> Vec<NestedSums> {
    let mut pass = Pass {
        context,
        groups,
        launches,
        sums: vec![NestedSums::default(); n_groups],
        open_groups: vec![OpenGroup::default(); n_groups],
        open: Vec::new(),
    };
    let n_tracks = u32::try_from(context.trace.tracks.each.len()).unwrap_or(u32::MAX);
    for track in 0..n_tracks {
        for row in context.host.of_track(track) {
            pass.enter(*row);
        }
        pass.leave_until(None);
    }
    pass.sums
}

struct Pass<'a> {
    context: &'a TraceContext<'a>,
    groups: &'a [u32],
    launches: &'a [Launch],
    sums: Vec<NestedSums>,
    open_groups: Vec<OpenGroup>,
    open: Vec<Open>,
}

impl Pass<'_> {
    fn enter(&mut self, row: u32) {
        self.leave_until(self.context.host.parent(row));
        let trace = self.context.trace;
        let kind = self.context.owners.kind(trace, row);
        let group = self.groups.get(row as usize).copied().unwrap_or(NO_GROUP);
        let around = self.open.last().map_or(NO_GROUP, |open| open.owner);
        let mut open = Open {
            row,
            group,
            is_call: kind == Some(HostKind::Call),
            owner: match kind {
                Some(HostKind::Operator | HostKind::Range) => group,
                _ => around,
            },
            n_ops: 0,
            launched_ns: 0,
            outer: OpenGroup::default(),
        };
        if let Some(of_group) = self.open_groups.get_mut(group as usize) {
            open.outer = *of_group;
            let (start_ns, end_ns) = (trace.rows.start_of(row), trace.rows.end_ns(row));
            if let Some(sum) = self.sums.get_mut(group as usize)
                && self.context.has_row(row)
            {
                let from_ns = open.outer.end_ns.max(start_ns);
                sum.host_ns = sum.host_ns.saturating_add(end_ns.saturating_sub(from_ns));
            }
            of_group.end_ns = of_group.end_ns.max(end_ns);
            of_group.n_open += 1;
        }
        if let Some(launch) = self.launch_of(row, open.is_call) {
            (open.n_ops, open.launched_ns) = (launch.n_ops, launch.total_ns);
            if let Some(sum) = self.sums.get_mut(open.owner as usize) {
                sum.n_launched += launch.n_ops;
                sum.device_self_ns = sum.device_self_ns.saturating_add(launch.total_ns);
            }
        }
        self.open.push(open);
    }

    fn launch_of(&self, row: u32, is_call: bool) -> Option<Launch> {
        let launches = self.launches;
        let at = is_call.then(|| launches.binary_search_by_key(&row, |launch| launch.row));
        launches.get(at?.ok()?).copied()
    }

    /// Leaves rows until `row` is the innermost that is open.
    fn leave_until(&mut self, row: Option<u32>) {
        while let Some(left) = self.open.pop_if(|open| Some(open.row) != row) {
            if let Some(sum) = self.sums.get_mut(left.group as usize) {
                if left.is_call {
                    sum.n_launched += left.n_ops;
                    sum.device_self_ns = sum.device_self_ns.saturating_add(left.launched_ns);
                }
                if left.outer.n_open == 0 {
                    sum.device_total_ns = sum.device_total_ns.saturating_add(left.launched_ns);
                }
            }
            if let Some(of_group) = self.open_groups.get_mut(left.group as usize) {
                *of_group = left.outer;
            }
            if let Some(around) = self.open.last_mut() {
                around.n_ops += left.n_ops;
                around.launched_ns = around.launched_ns.saturating_add(left.launched_ns);
            }
        }
    }
}
