//! Copies: what they hide behind, whose memory they read, how fast they are.

use marey_analysis::{TransferMemory, Transfers, transfers, transfers_by_memory};

use super::{complete, events, kernel, only_device};

fn copy(name: &str, stream: u32, start: u64, end: u64, bytes: Option<u64>) -> String {
    let bytes = bytes.map_or_else(String::new, |bytes| format!(r#", "bytes": {bytes}"#));
    let args = format!(r#""stream": {stream}{bytes}"#);
    complete("gpu_memcpy", name, 0, start, end, &args)
}

fn found(each: &[String]) -> Vec<Transfers> {
    let trace = events(&each.join(","));
    transfers(&trace, &only_device(&trace))
}

/// ```text
/// µs        0      7 8 10 11       20  23   27
/// kernels   |------|               |--------|      0-7, 20-27
/// HtoD            |------|                         6-11: 1 hidden, 4 exposed
/// DtoH               |--------|                    9-17: all exposed, 2 of it beside the other direction
/// DtoH                                 |--|        23-25: hidden
/// ```
#[test]
fn copies_hide_behind_kernels_and_not_behind_copies() {
    let rows = found(&[
        kernel("gemm", 0, 7),
        kernel("gemm", 20, 27),
        copy("Memcpy HtoD (Pinned -> Device)", 8, 6, 11, Some(5_000)),
        copy("Memcpy DtoH (Device -> Pinned)", 9, 9, 17, Some(16_000)),
        copy("Memcpy DtoH (Device -> Pinned)", 9, 23, 25, Some(4_000)),
    ]);
    let [back, there] = &rows[..] else { panic!("{rows:?}") };
    assert_eq!((there.direction.as_str(), there.count), ("HtoD", 1));
    assert_eq!((there.hidden_ns, there.exposed_ns), (1_000, 4_000));
    assert_eq!((back.direction.as_str(), back.count), ("DtoH", 2));
    assert_eq!((back.hidden_ns, back.exposed_ns), (2_000, 8_000));
    // Together 12 µs exposed, where the device has 10 (7 to 17) with a copy and no kernel: 9 to 11 is in both.
    assert_eq!(there.exposed_ns + back.exposed_ns, 12_000);
    // 20 000 bytes in 10 µs.
    assert_eq!(back.bytes_per_second, Some(2e9));
    assert_eq!(back.mean_bytes, Some(10_000.0));
    assert_eq!(back.span_ratio, Some(10.0 / 27.0));
}

#[test]
fn copies_at_the_same_time_are_covered_once() {
    // µs  0    5    10   15
    //     |---------|            stream 8
    //          |---------|       stream 9: 20 µs together, 15 covered
    let rows = found(&[
        copy("Memcpy HtoD (Pinned -> Device)", 8, 0, 10, Some(10)),
        copy("Memcpy HtoD (Pinned -> Device)", 9, 5, 15, Some(10)),
    ]);
    let only = &rows[0];
    assert_eq!((only.total_ns, only.covered_ns), (20_000, 15_000));
    assert_eq!((only.exposed_ns, only.hidden_ns), (15_000, 0));
}

#[test]
fn memory_of_the_host_is_apart_and_unknown_stays_unknown() {
    let each = [
        copy("Memcpy HtoD (Pinned -> Device)", 8, 0, 10, Some(100_000)),
        copy("Memcpy HtoD (Pageable -> Device)", 8, 10, 30, Some(100_000)),
        copy("CopyHostToDevice", 8, 30, 35, None),
    ];
    let trace = events(&each.join(","));
    let rows = transfers_by_memory(&trace, &only_device(&trace));
    let seen: Vec<_> = rows
        .iter()
        .map(|row| (row.host_memory, row.bytes_per_second, row.n_without_bytes))
        .collect();
    assert_eq!(
        seen,
        [
            (None, None, 1),
            (Some(TransferMemory::Pinned), Some(1e10), 0),
            (Some(TransferMemory::Pageable), Some(5e9), 0),
        ]
    );
    // All of the direction: speed over those that say their bytes, 200 000 in 30 µs.
    let all = transfers(&trace, &only_device(&trace));
    assert_eq!((all.len(), all[0].count, all[0].total_ns), (1, 3, 35_000));
    assert_eq!(all[0].bytes_per_second, Some(200_000.0 * 1e9 / 30_000.0));
}
