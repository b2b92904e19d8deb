//! What holds for every trace.

use std::io::Read;

use marey_analysis::import::chrome::{Limits, Trace, read};
use marey_analysis::{TraceAnswers, TraceContext, trace_answers, what_if};
use proptest::prelude::*;
use serde_json::Value;

use super::{complete, try_read};

/// Something that happened: after a pause, for so long, of one of several kinds, tied to one of the calls.
type Drawn = (u64, u64, u8, u32);

fn drawn() -> impl Strategy<Value = Vec<Drawn>> {
    prop::collection::vec((1..30_u64, 0..80_u64, 0..16_u8, 0..12_u32), 0..40)
}

/// Every beginning is another, so that the order of the file is no part of what happened. `k` shifts time and correlations.
fn written(all: &[Drawn], k: u64) -> Vec<String> {
    let mut at = 1_000_000 * k;
    let each = all.iter().map(|(pause, length, kind, id)| {
        at += pause;
        let end = at + length;
        let id = u64::from(*id) + 1_000 * k;
        let tied = format!(r#""correlation": {id}"#);
        let on = |stream: u64| format!(r#""correlation": {id}, "stream": {stream}, "bytes": 64"#);
        match kind {
            0 => complete("kernel", "gemm", 0, at, end, &on(7)),
            1 => complete("kernel", "ncclKernel", 0, at, end, &on(20)),
            2 => complete("gpu_memcpy", "Memcpy HtoD", 0, at, end, &on(7)),
            3 => complete("kernel", "softmax", 1, at, end, &on(7)),
            4 => complete("cuda_runtime", "cudaLaunchKernel", 9, at, end, &tied),
            5 => complete("cuda_runtime", "cudaDeviceSynchronize", 9, at, end, &tied),
            6 => complete("cpu_op", "aten::mm", 8, at, end, ""),
            7 => complete("cuda_runtime", "cudaStreamSynchronize", 9, at, end, &tied),
            8 => complete("cpu_op", SDPA, 8, at, end, ""),
            9 => complete("cpu_op", "aten::_flash_attention_forward", 9, at, end, ""),
            10 => complete("python_function", "nn.Module: Attention_0", 9, at, end, ""),
            11 => complete("python_function", "nn.Module: Transformer_0", 9, at, end, ""),
            12 => complete("kernel", "flash_fwd_kernel", 0, at, end, &on(7)),
            13 => complete("user_annotation", "nccl:all_reduce", 9, at, end, ""),
            14 => complete("user_annotation", "decode", 9, at, end, ""),
            _ => complete("python_function", "forward", 9, at, end, ""),
        }
    });
    each.collect()
}

const SDPA: &str = "aten::_scaled_dot_product_attention_math";

fn document(events: &[String]) -> String {
    format!(r#"{{"traceEvents": [{}]}}"#, events.join(","))
}

fn answers(trace: &Trace) -> TraceAnswers {
    trace_answers(trace, None)
}

/// All that is said of what happened, without what is said of the file.
fn said(trace: &Trace) -> Value {
    let mut said = serde_json::to_value(answers(trace)).unwrap();
    said.as_object_mut().unwrap().remove("quality");
    said
}

/// Gives a few bytes at a time.
struct Pieces<'a>(&'a [u8], usize);

impl Read for Pieces<'_> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let most = self.1.min(into.len());
        self.0.read(&mut into[..most])
    }
}

proptest! {
    #[test]
    fn the_parts_of_a_device_and_of_a_path_are_their_wholes(all in drawn()) {
        let trace = try_read(document(&written(&all, 0))).unwrap();
        let answers = answers(&trace);
        for device in &answers.devices {
            let used = &device.utilization;
            let parts = used.compute_ns + used.exposed_communication_ns + used.exposed_memory_ns;
            let not_busy_ns = used.idle_ns + used.unknown_ns;
            prop_assert_eq!(parts + not_busy_ns, used.span_ns);
            prop_assert_eq!(device.idle_gaps.total_ns, not_busy_ns);
            prop_assert!(used.busy_ns <= device.kernels.total_ns);
            prop_assert!(used.busy_ns <= used.span_ns);
            let shares: f64 = device.kernels.rows.iter().filter_map(|row| row.ratio).sum();
            prop_assert!(device.kernels.total_ns == 0 || (shares - 1.0).abs() < 1e-9);
        }
    }

    #[test]
    fn a_change_that_is_none_changes_nothing(all in drawn()) {
        let trace = try_read(document(&written(&all, 0))).unwrap();
        let none = ["gemm=1x".parse().unwrap()];
        let Ok(said) = what_if(&TraceContext::new(&trace, None), &none) else {
            return Ok(());
        };
        for row in [&said.wall, &said.work].into_iter().chain(&said.rows) {
            prop_assert_eq!(row.recorded_ns, row.then_ns, "{}", row.name);
        }
    }

    #[test]
    fn the_order_of_events_is_no_part_of_the_answers(
        (all, mixed) in drawn().prop_flat_map(|all| {
            let events = written(&all, 0);
            (Just(events.clone()), Just(events).prop_shuffle())
        }),
    ) {
        let (in_order, mixed) = (document(&all), document(&mixed));
        prop_assert_eq!(said(&try_read(in_order).unwrap()), said(&try_read(mixed).unwrap()));
    }

    #[test]
    fn a_file_that_comes_in_pieces_is_the_same_file(all in drawn(), piece in 1..100_usize) {
        let document = document(&written(&all, 0));
        let pieces = read(Pieces(document.as_bytes(), piece), Limits::default()).unwrap();
        prop_assert_eq!(said(&try_read(&document).unwrap()), said(&pieces));
    }

    #[test]
    fn what_happens_three_times_has_three_times_the_sums(all in drawn()) {
        let once = answers(&try_read(document(&written(&all, 0))).unwrap());
        let thrice: Vec<String> = (0..3).flat_map(|k| written(&all, k)).collect();
        let thrice = answers(&try_read(document(&thrice)).unwrap());
        prop_assert_eq!(once.n_rows * 3, thrice.n_rows);
        prop_assert_eq!(once.devices.len(), thrice.devices.len());
        for (once, thrice) in once.devices.iter().zip(&thrice.devices) {
            prop_assert_eq!(once.utilization.busy_ns * 3, thrice.utilization.busy_ns);
            prop_assert_eq!(once.utilization.compute_ns * 3, thrice.utilization.compute_ns);
            prop_assert_eq!(once.overlap.overlapped_communication_ns * 3, thrice.overlap.overlapped_communication_ns);
            prop_assert_eq!(once.kernels.total_ns * 3, thrice.kernels.total_ns);
            for row in &once.kernels.rows {
                let of_same_name = thrice.kernels.rows.iter().find(|other| other.name == row.name);
                let figures = of_same_name.map(|other| (other.count, other.total_ns));
                prop_assert_eq!(figures, Some((row.count * 3, row.total_ns * 3)));
            }
        }
    }
}
