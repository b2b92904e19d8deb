//! Calls of collectives, as the process saw them.

use std::collections::BTreeMap;

use marey::{GpuSpan, Run, Value};

use crate::intervals::{Interval, union};
use crate::job::CollectiveSums;
use crate::job::collectives::{BEGIN, WAIT, is_synchronising};
use crate::job::iteration_cells::Communication;
use crate::stats::sum;

/// Names that only collectives have.
const NAMES: [&str; 15] = [
    "all_reduce",
    "all_gather",
    "all_gather_into_tensor",
    "all_gather_object",
    "reduce_scatter",
    "reduce_scatter_tensor",
    "broadcast_object_list",
    "all_to_all",
    "all_to_all_single",
    "barrier",
    "monitored_barrier",
    "batch_isend_irecv",
    "init_process_group",
    "isend",
    "irecv",
];

/// Names that other sections may have, too: they are collectives where a call says its group.
const COMMON_NAMES: [&str; 6] = ["reduce", "broadcast", "scatter", "gather", "send", "recv"];

/// Waiting for a collective that goes on beside the host.
const WAITING: &str = "wait";

/// Group, collective, and what the calls do for it: nothing where all of it, else [`BEGIN`] or [`WAIT`].
type Key<'a> = (Option<&'a str>, &'a str, &'static str);

/// One call that ended well.
struct Call {
    /// On the host.
    time: Interval,
    device: Option<OnDevice>,
}

/// The call on a device.
#[derive(Clone, Copy)]
struct OnDevice {
    time: Interval,
    /// When it began there is known.
    is_placed: bool,
}

/// The calls of a group and name.
#[derive(Default)]
struct Calls {
    each: Vec<Call>,
    /// Left by an error: they moved nothing, and lasted until somebody gave up.
    failed: Vec<Interval>,
    group_size: Option<u64>,
    bytes: Option<u64>,
}

impl Calls {
    /// Each was measured on a device.
    fn is_on_device(&self) -> bool {
        !self.each.is_empty() && self.each.iter().all(|call| call.device.is_some())
    }

    /// On the device where each was measured there, else on the host.
    fn times(&self) -> Vec<Interval> {
        let is_device = self.is_on_device();
        let on_device = |call: &Call| call.device.filter(|_| is_device);
        self.each.iter().map(|call| on_device(call).map_or(call.time, |on| on.time)).collect()
    }

    fn sums(&self, (group, name, part): &Key<'_>) -> CollectiveSums {
        let is_device = self.is_on_device();
        let is_placed = if is_device {
            self.each.iter().all(|call| call.device.is_some_and(|on| on.is_placed))
        } else {
            // The host leaves those of a device before they have begun.
            self.each.iter().all(|call| call.device.is_none())
        };
        let mut calls = self.times();
        calls.sort_unstable();
        CollectiveSums {
            group: group.map(str::to_owned),
            group_size: self.group_size,
            name: format!("{name}{part}"),
            is_device,
            // A late wait may begin after another rank's has ended: it tells nothing of clocks.
            is_synchronising: is_placed && part.is_empty() && is_synchronising(name),
            count: calls.len() as u64,
            total_ns: sum(calls.iter().map(Interval::length_ns)),
            bytes: self.bytes,
            n_failed: self.failed.len() as u64,
            failed_ns: sum(self.failed.iter().map(Interval::length_ns)),
            calls,
        }
    }
}

/// All calls of collectives of a run: when they were open (`None` when there was none), and the sums of each group and name. A name is one of
/// torch.distributed's; `wait` counts where it says what for. One pass over the sections; nothing where no call path has such a name.
///
/// ```text
/// all_reduce               |--------|                          all_reduce
/// all_reduce, is_async     |-|                                 all_reduce begin
/// wait for all_reduce             |-----|                      all_reduce wait
/// ```
///
/// Where the GPU's time of each call of a collective was measured, that stands for the host's, which is only the time to hand it over.
pub(super) fn collectives(
    run: &Run,
    known: &Known<'_>,
) -> (Option<Communication>, Vec<CollectiveSums>) {
    if known.names.iter().all(Option::is_none) {
        return (None, Vec::new());
    }
    let spans = spans(run, known);
    let mut found: BTreeMap<Key<'_>, Calls> = BTreeMap::new();
    let mut given = run.section_attributes.iter().peekable();
    for (index, section) in run.sections.iter().enumerate() {
        while given.next_if(|a| a.section < index).is_some() {}
        let Some(name) = known.name(section.node as usize) else {
            continue;
        };
        let said = given.peek().filter(|a| a.section == index);
        let said = said.map_or(&[][..], |a| &a.attributes[..]);
        let Some(key) = key(name, said) else { continue };
        let calls = found.entry(key).or_default();
        calls.group_size = calls.group_size.max(number(said, "group_size"));
        let time = Interval::of(section);
        if section.is_failed {
            calls.failed.push(time);
            continue;
        }
        let bytes = calls.bytes.into_iter().chain(number(said, "bytes"));
        calls.bytes = bytes.reduce(u64::saturating_add);
        let device = spans.get(&(section.thread, section.node, section.start_ns)).copied();
        calls.each.push(Call { time, device });
    }
    let communication = (!found.is_empty()).then(|| {
        let succeeded = union(found.values().flat_map(Calls::times).collect());
        let failed = found.values().flat_map(|calls| calls.failed.iter().copied());
        let any = union(failed.chain(succeeded.iter().copied()).collect());
        Communication { succeeded, any }
    });
    (communication, found.iter().map(|(key, calls)| calls.sums(key)).collect())
}

/// The collective that a call is about; `None` when it is none.
fn key<'a>(name: &'a str, said: &'a [(String, Value)]) -> Option<Key<'a>> {
    let group = text(said, "group");
    let is_async = said.iter().any(|(key, value)| key == "is_async" && *value == Value::Bool(true));
    match name {
        WAITING => Some((group, text(said, "collective")?, WAIT)),
        _ if is_async => Some((group, name, BEGIN)),
        _ => Some((group, name, "")),
    }
}

fn text<'a>(said: &'a [(String, Value)], wanted: &str) -> Option<&'a str> {
    said.iter().find_map(|(key, value)| match value {
        Value::Text(text) if key == wanted => Some(text.as_str()),
        _ => None,
    })
}

fn number(said: &[(String, Value)], wanted: &str) -> Option<u64> {
    said.iter().find_map(|(key, value)| match value {
        Value::Int(number) if key == wanted => u64::try_from(*number).ok(),
        _ => None,
    })
}

/// Names of the nodes that are collectives.
pub(super) struct Known<'a> {
    names: Vec<Option<&'a str>>,
}

impl<'a> Known<'a> {
    pub(super) fn of(run: &'a Run) -> Self {
        let wanted: Vec<_> = run.nodes.iter().map(|node| says_more(&node.name)).collect();
        let mut is_said = vec![false; run.nodes.len()];
        for given in &run.section_attributes {
            let section = run.sections.get(given.section);
            let node = section.map_or(usize::MAX, |section| section.node as usize);
            if let Some(wanted) = wanted.get(node).copied().flatten() {
                is_said[node] |= text(&given.attributes, wanted).is_some();
            }
        }
        let names = run.nodes.iter().zip(is_said).map(|(node, is_said)| {
            let name = node.name.as_str();
            (is_said || NAMES.contains(&name)).then_some(name)
        });
        Self { names: names.collect() }
    }

    pub(super) fn name(&self, node: usize) -> Option<&'a str> {
        *self.names.get(node)?
    }
}

/// What a call has to say to be a collective's, where its name alone does not tell.
fn says_more(name: &str) -> Option<&'static str> {
    if name == WAITING {
        return Some("collective");
    }
    COMMON_NAMES.contains(&name).then_some("group")
}

/// Work of calls on GPUs, by the section's thread, node and start.
fn spans(run: &Run, known: &Known<'_>) -> BTreeMap<(u32, u32, u64), OnDevice> {
    let mut found: BTreeMap<(u32, u32, u64), OnDevice> = BTreeMap::new();
    let spans = run.gpu_spans.iter();
    for span in spans.filter(|span| known.name(span.node as usize).is_some()) {
        let work = on_device(span);
        // On several streams: from the first beginning to the last end.
        found
            .entry((span.thread, span.node, span.start_ns))
            .and_modify(|all| {
                all.time.start_ns = all.time.start_ns.min(work.time.start_ns);
                all.time.end_ns = all.time.end_ns.max(work.time.end_ns);
                all.is_placed &= work.is_placed;
            })
            .or_insert(work);
    }
    found
}

fn on_device(span: &GpuSpan) -> OnDevice {
    let start_ns = span.start_ns.saturating_add(span.delay_ns.unwrap_or(0));
    OnDevice {
        time: Interval { start_ns, end_ns: start_ns.saturating_add(span.gpu_ns) },
        is_placed: span.delay_ns.is_some(),
    }
}
