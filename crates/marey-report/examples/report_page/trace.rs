//! A trace that is drawn: two steps, each of which launches two kernels; the second one runs after its step.
//!
//! ```text
//! ms        0         10        20        30        40
//! step      |-- 1 ---||-- 2 ---|
//! range      |denoise| |denoise|
//! launches     ↓1 ↓2     ↓3 ↓4
//! stream 7       |-gemm--||attn||-gemm--||attn|         3–10, 11–15, 16–23, 24–28: busy 22 of 25
//! ```

use marey_analysis::import::chrome::{Limits, Trace, read};
use marey_analysis::{Findings, trace_answers};
use marey_report::{TraceFile, html_trace};

/// A kernel whose name is longer than a table shows at once.
const LONG: &str = "void flash_fwd_kernel<Flash_fwd_kernel_traits<128, 64, 64, 4, false, false, cutlass::half_t, Flash_kernel_traits<128, 64, 64, 4, cutlass::half_t>>, false>(Flash_fwd_params)";

/// The page of the drawn trace; `odd` is put before each name.
pub(super) fn page(odd: &str) -> Vec<u8> {
    let trace = trace(odd);
    let file = TraceFile {
        file: format!("traces/{odd}flux.json"),
        answers: Some(trace_answers(&trace, None)),
        findings: Findings::default(),
        problem: None,
    };
    html_trace(&[file], None, &[], &trace)
}

fn trace(odd: &str) -> Trace {
    let (gemm, attention) = (format!("{odd}gemm"), format!("{odd}{LONG}"));
    let mut events = Vec::new();
    for step in 0..2 {
        let at = step * 10;
        let name = format!("ProfilerStep#{step}");
        events.push(event("user_annotation", &name, 1, at, 9, None));
        let range = format!("{odd}denoise");
        events.push(event("user_annotation", &range, 1, at + 1, 7, None));
        for (n, launched) in [(0, at + 2), (1, at + 4)] {
            let correlation = Some(step * 2 + n + 1);
            let launch = event("cuda_runtime", "cudaLaunchKernel", 1, launched, 1, correlation);
            events.push(launch);
        }
        let later = 3 + step * 13;
        events.push(event("kernel", &gemm, 0, later, 7, Some(step * 2 + 1)));
        events.push(event("kernel", &attention, 0, later + 8, 4, Some(step * 2 + 2)));
    }
    let json = serde_json::json!({ "schemaVersion": 1, "traceEvents": events });
    read(json.to_string().as_bytes(), Limits::default()).unwrap_or_default()
}

/// An event of so many milliseconds.
fn event(
    category: &str,
    name: &str,
    pid: u32,
    at_ms: u32,
    length_ms: u32,
    correlation: Option<u32>,
) -> serde_json::Value {
    serde_json::json!({
        "ph": "X", "cat": category, "name": name, "pid": pid, "tid": 7,
        "ts": at_ms * 1_000, "dur": length_ms * 1_000,
        "args": { "stream": 7, "correlation": correlation },
    })
}
