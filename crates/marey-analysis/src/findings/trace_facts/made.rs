//! Traces that tests draw.

use crate::TraceAnswers;
use crate::findings::{Outcome, Rule, Thresholds};
use crate::import::chrome::{Limits, read};
use crate::trace_answers;

use super::TraceFacts;

/// Work of device 0 from `start_us` on, and the call that launched it, 1 µs long from `call_us` on.
pub(in crate::findings) fn launched(
    name: &str,
    call_us: u64,
    start_us: u64,
    lasts_us: u64,
) -> String {
    work("kernel", name, 7, (call_us, start_us, lasts_us))
}

/// The same of a copy.
pub(in crate::findings) fn copied(
    name: &str,
    call_us: u64,
    start_us: u64,
    lasts_us: u64,
) -> String {
    work("gpu_memcpy", name, 8, (call_us, start_us, lasts_us))
}

fn work(category: &str, name: &str, stream: u64, times: (u64, u64, u64)) -> String {
    let (call_us, start_us, lasts_us) = times;
    // One number for each call: tests have one call a microsecond at most.
    let id = call_us + 1;
    format!(
        r#"{{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":9,"tid":9,"ts":{call_us},"dur":1,"args":{{"correlation":{id}}}}},
{{"ph":"X","cat":"{category}","name":"{name}","pid":0,"tid":{stream},"ts":{start_us},"dur":{lasts_us},"args":{{"correlation":{id},"stream":{stream},"device":0}}}}"#
    )
}

/// A row of the thread that launches.
pub(in crate::findings) fn host(
    category: &str,
    name: &str,
    start_us: u64,
    lasts_us: u64,
) -> String {
    format!(
        r#"{{"ph":"X","cat":"{category}","name":"{name}","pid":9,"tid":9,"ts":{start_us},"dur":{lasts_us}}}"#
    )
}

/// What a trace of these events says.
pub(in crate::findings) fn answers(events: &[String]) -> TraceAnswers {
    let text = format!("{{\"traceEvents\": [{}]}}", events.join(",\n"));
    let trace = read(text.as_bytes(), Limits::default()).expect("a trace");
    trace_answers(&trace, None)
}

pub(in crate::findings) fn check(rule: &Rule, events: &[String]) -> Outcome {
    check_against(rule, events, &Thresholds::default())
}

/// The same with limits of the user's.
pub(in crate::findings) fn check_against(
    rule: &Rule,
    events: &[String],
    thresholds: &Thresholds,
) -> Outcome {
    let facts = TraceFacts { answers: &answers(events), thresholds };
    rule.of_trace(&facts).expect("a rule of traces")
}
