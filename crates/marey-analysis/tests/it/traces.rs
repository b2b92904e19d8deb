//! Traces of torch.profiler, made ones for everything that goes wrong. `tests/oracle` holds real ones against what others say of them.

mod attention;
mod bounded_cost;
mod communication;
mod coverage;
mod damaged;
mod details;
mod gaps;
mod halves;
mod hostile;
mod nesting;
mod oddities;
mod operators;
mod properties;
mod replays;
mod steps;
mod timelines;
mod transfers;
mod what_if;
mod work;
mod work_parts;

use marey_analysis::import::chrome::{Limits, ReadError, Trace, read};
use marey_analysis::{DeviceTimeline, device_timelines};

/// Reads a trace that is written out.
fn try_read(json: impl AsRef<[u8]>) -> Result<Trace, ReadError> {
    read(json.as_ref(), Limits::default())
}

/// Reads the events of a trace that is sound, separated by commas.
fn events(events: &str) -> Trace {
    let trace = try_read(format!(r#"{{"traceEvents": [{events}]}}"#)).unwrap();
    assert_eq!(trace.quality.n_broken, 0, "{:?}", trace.quality.broken);
    trace
}

/// An event from `start` to `end`, in microseconds; what is in `args` is as it would be written.
fn complete(category: &str, name: &str, pid: u32, start: u64, end: u64, args: &str) -> String {
    let duration = end - start;
    format!(
        r#"{{"ph": "X", "cat": "{category}", "name": "{name}", "pid": {pid}, "tid": 7, "ts": {start}, "dur": {duration}, "args": {{{args}}}}}"#
    )
}

/// The call of process 9 that launches a kernel.
fn launch(id: u32, start: u64, end: u64) -> String {
    let args = format!(r#""correlation": {id}"#);
    complete("cuda_runtime", "cudaLaunchKernel", 9, start, end, &args)
}

/// That kernel, on stream 7 of device 0.
fn launched(name: &str, id: u32, start: u64, end: u64) -> String {
    let args = format!(r#""stream": 7, "correlation": {id}"#);
    complete("kernel", name, 0, start, end, &args)
}

/// A kernel on device 0.
fn kernel(name: &str, start: u64, end: u64) -> String {
    complete("kernel", name, 0, start, end, r#""stream": 7"#)
}

/// The only device of a trace.
fn only_device(trace: &Trace) -> DeviceTimeline {
    let mut timelines = device_timelines(trace);
    assert_eq!(timelines.len(), 1);
    timelines.remove(0)
}
