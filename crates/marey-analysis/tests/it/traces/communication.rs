//! Collectives: what they overlap with, and speeds by hand.

use marey_analysis::{Communication, ToldBy, trace_answers};

use super::{complete, events, kernel};

fn collective(name: &str, start: u64, end: u64, n_in: u64, n_out: u64) -> String {
    let args = format!(
        r#""stream": 20, "Collective name": "{name}", "dtype": "BFloat16", "In msg nelems": {n_in}, "Out msg nelems": {n_out}, "Group size": 4, "Process Group Name": "0""#
    );
    complete("kernel", "ncclDevKernel_Generic", 0, start, end, &args)
}

fn found(each: &[String]) -> Vec<Communication> {
    let mut answers = trace_answers(&events(&each.join(",")), None);
    assert_eq!(answers.devices.len(), 1);
    answers.devices.remove(0).communication
}

/// ```text
/// µs          0     10    15     30   40
/// compute     |-----------|      |----|        0-15, 30-40
/// allreduce         |------------------|       10-42: 5 + 10 overlapped, 17 exposed
/// ```
#[test]
fn speed_and_overlap_are_as_by_hand() {
    let rows = found(&[
        kernel("gemm", 0, 15),
        kernel("gemm", 30, 40),
        collective("allreduce", 10, 42, 16_000, 16_000),
    ]);
    let only = &rows[0];
    assert_eq!((only.name.as_str(), only.told_by), ("allreduce", ToldBy::Metadata));
    assert_eq!((only.group_size, only.count), (Some(4), 1));
    assert_eq!((only.overlapped_ns, only.exposed_ns), (Some(15_000), Some(17_000)));
    // 16 000 elements of 2 bytes in 32 µs: 1 GB/s; twice three quarters of it on the links.
    assert_eq!((only.bytes_in, only.bytes_out), (Some(32_000), Some(32_000)));
    assert_eq!(only.algorithm_bytes_per_second, Some(1e9));
    assert_eq!(only.bus_bytes_per_second, Some(1.5e9));
}

#[test]
fn the_larger_side_of_a_gather_is_what_comes_out() {
    // 4 ranks, 1 000 elements of each: 8 000 bytes in 8 µs.
    let rows = found(&[collective("_allgather_base", 0, 8, 1_000, 4_000)]);
    assert_eq!((rows[0].bytes_in, rows[0].bytes_out), (Some(2_000), Some(8_000)));
    assert_eq!(rows[0].algorithm_bytes_per_second, Some(1e9));
    assert_eq!(rows[0].bus_bytes_per_second, Some(0.75e9));
}

#[test]
fn a_kernel_that_says_nothing_has_a_name_and_no_speed() {
    let rows =
        found(&[kernel("ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgs)", 0, 8)]);
    let only = &rows[0];
    assert_eq!((only.name.as_str(), only.told_by), ("allreduce", ToldBy::KernelName));
    assert_eq!((only.bytes_in, only.group_size), (None, None));
    assert_eq!(only.algorithm_bytes_per_second, None);
    assert_eq!((only.overlapped_ns, only.exposed_ns), (Some(0), Some(8_000)));
}

#[test]
fn the_host_has_bytes_where_its_range_says_shapes() {
    // 4 · 6 floats in 12 µs; the group is not said, so that neither the links' speed nor an overlap is known.
    let inputs = r#""Input Dims": [[4, 6]], "Input type": ["float"]"#;
    let gloo = complete("user_annotation", "gloo:all_reduce", 99, 0, 12, inputs);
    let answers = trace_answers(&events(&gloo), None);
    let [only] = &answers.host_communication[..] else {
        panic!("{:?}", answers.host_communication)
    };
    assert_eq!((only.name.as_str(), only.bytes_in, only.bytes_out), ("all_reduce", Some(96), None));
    assert_eq!(only.algorithm_bytes_per_second, Some(8e6));
    assert_eq!((only.bus_bytes_per_second, only.overlapped_ns), (None, None));
}
