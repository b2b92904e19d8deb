//! A trace as a run of Marey: what every question about runs, every view of a page and every comparison can take.
//!
//! ```text
//! trace                            run
//! operators, ranges, calls   ───►  sections of their threads, nested
//! nn.Module rows             ───►  likewise; other Python functions are left out
//! ProfilerStep#n             ───►  calls of ProfilerStep; in an outline iterations of a loop
//! work of devices            ───►  GPU spans of the ranges and modules that launched it
//! [memory]                   ───►  readings of memory
//! ```
//!
//! Nothing is invented: a trace without the time of day has a run without it. What does not fit is counted in
//! [`Run::unavailable`].

mod launched;
mod nesting;
mod readings;

#[cfg(test)]
mod tests;

use std::cmp::Reverse;

use marey::{Run, RunInfo, Status, Unavailable};

use super::{Metadata, Trace};
use crate::calls::totals_of;
use nesting::{Detail, Nesting};

/// The trace as a run. Takes about 100 bytes a row of the host; O(n log n).
///
/// Times count from the first event of the trace; the run lasts until the last end of any event. Of several documents in one
/// file the facts are those of the first, and the names of threads say their rank.
pub fn run_of(trace: &Trace) -> Run {
    run_with(trace, Detail::All)
}

/// The same without calls of the runtime, and of operators only those that are in no module and no other operator: what two traces
/// of one program have in common.
pub fn outline_of(trace: &Trace) -> Run {
    run_with(trace, Detail::Outline)
}

/// The outline as if the trace had no modules: beside one that has none.
pub(crate) fn outline_without_modules(trace: &Trace) -> Run {
    run_with(trace, Detail::OutlineWithoutModules)
}

fn run_with(trace: &Trace, detail: Detail) -> Run {
    let mut nesting = Nesting::new(trace, detail);
    let mut run = Run {
        info: info(trace),
        status: Status::Finished,
        wall_ns: trace.rows.last_end_ns(),
        unavailable: not_read(trace, &nesting),
        losses: marey::Losses {
            calls_without_name: nesting.n_without_name,
            sections_unrecorded: nesting.n_too_deep,
            ..marey::Losses::default()
        },
        gpu_spans: launched::spans(trace, &nesting),
        memory: readings::of_devices(trace),
        series: readings::of_the_host(trace),
        nodes: std::mem::take(&mut nesting.nodes),
        threads: std::mem::take(&mut nesting.threads),
        sections: std::mem::take(&mut nesting.sections),
        ..Run::default()
    };
    if !run.gpu_spans.is_empty() {
        let measured_by = ("gpu_times".into(), "torch.profiler".into());
        run.info.facts.push(measured_by);
    }
    run.sections
        .sort_unstable_by_key(|s| (s.thread, s.end_ns, Reverse(s.start_ns), Reverse(s.node)));
    run.totals = totals_of(&run.sections, run.nodes.len());
    run
}

fn info(trace: &Trace) -> RunInfo {
    let none = Metadata::default();
    let said = trace.metadata.first().unwrap_or(&none);
    let wall_clock_ns = said.base_unix_ns.and_then(|base| base.checked_add(trace.first_ns?));
    let number = |number: Option<i64>| number.and_then(|n| u32::try_from(n).ok());
    let host = said.others.get("host_name");
    let mut facts: Vec<(String, String)> = said
        .devices
        .iter()
        .filter_map(|device| {
            let name = device.name.clone()?;
            let id = device.id.map_or_else(String::new, |id| format!(" {id}"));
            Some((format!("gpu{id}"), name))
        })
        .collect();
    let backend = said.backend.clone().map(|name| ("backend".into(), name));
    facts.extend(backend);
    let others = said.others.iter().filter(|(key, _)| *key != "host_name");
    facts.extend(others.map(|(key, value)| (key.clone(), value.clone())));
    RunInfo {
        start_unix_ns: wall_clock_ns.and_then(|ns| u64::try_from(ns).ok()).unwrap_or_default(),
        pid: pid(trace),
        host: host.cloned().unwrap_or_default(),
        rank: number(said.rank),
        world_size: number(said.world_size),
        clock: "the trace's".into(),
        facts,
        ..RunInfo::default()
    }
}

/// The process of the first thing that the host did; 0 when the trace does not say.
fn pid(trace: &Trace) -> u32 {
    let first = trace.rows.each().find(|row| trace.class_of(*row).is_host());
    let number = first.and_then(|row| trace.process_number(trace.process_of(row)));
    number.and_then(|pid| u32::try_from(pid).ok()).unwrap_or_default()
}

/// What the run does not have of the trace, in words.
fn not_read(trace: &Trace, nesting: &Nesting) -> Vec<Unavailable> {
    let quality = &trace.quality;
    let counted = [
        (
            "python_functions",
            nesting.n_python,
            "calls of Python functions are left out of the views of sections; modules are in them",
        ),
        (
            "overlaps",
            nesting.n_clipped,
            "calls end after the one that they began in: the views of sections cut them at its end",
        ),
        ("events", quality.n_broken, "stretches of the file could not be read"),
        ("open_events", quality.n_open, "events began and did not end; they are left out"),
        ("events_without_time", quality.n_without_time, "events have no time; they are left out"),
        (
            "documents",
            trace.metadata.len().saturating_sub(1) as u64,
            "more ranks or parts are in the file: the facts of System are those of the first",
        ),
    ];
    let counted = counted.into_iter().filter(|(_, n, _)| *n > 0);
    let mut found: Vec<Unavailable> = counted
        .map(|(what, n, why)| Unavailable { what: what.into(), why: format!("{n} {why}") })
        .collect();
    if quality.is_truncated {
        found.push(Unavailable {
            what: "end".into(),
            why: "the file ends within its list of events: what came later is not known".into(),
        });
    }
    if let Some(damage) = &quality.damage {
        found.push(Unavailable { what: "compressed_data".into(), why: damage.clone() });
    }
    found
}
