//! What a trace would have taken if something were different, by timelines that are worked out by hand. Times are in microseconds.

use marey_analysis::import::chrome::Trace;
use marey_analysis::{Change, TraceContext, UnknownChange, WhatIf, what_if};

use super::{complete, events, launch, launched};

const US: u64 = 1_000;

fn asked(trace: &Trace, changes: &[&str]) -> Result<WhatIf, UnknownChange> {
    let changes = changes.iter().map(|change| change.parse::<Change>().unwrap());
    what_if(&TraceContext::new(trace, None), &changes.collect::<Vec<_>>())
}

fn parts(said: &WhatIf) -> Vec<(&str, u64, u64)> {
    let rows = said.rows.iter();
    rows.map(|row| (row.name.as_str(), row.recorded_ns / US, row.then_ns / US)).collect()
}

/// ```text
/// host     [a 0][b 20]|-- synchronize 40 to 500 --|       [c 600 to 610]
/// device     |-- a 20 to 320 --|- b to 480 -|                   |- c 620 to 720 -|
/// ```
fn with_a_wait() -> Trace {
    let all = [
        launch(1, 0, 10),
        launch(2, 20, 30),
        complete("cuda_runtime", "cudaStreamSynchronize", 9, 40, 500, ""),
        launch(3, 600, 610),
        launched("sm90_gemm", 1, 20, 320),
        launched("elementwise_kernel", 2, 320, 480),
        launched("elementwise_kernel", 3, 620, 720),
    ];
    events(&all.join(","))
}

#[test]
fn a_faster_kernel_ends_earlier_and_so_does_the_wait_for_it() {
    // host     [a 0][b 20]|- 40 to 350 -|     [c 450]
    // device     |- a 20 to 170 -|- b to 330 -|    |- c 470 to 570 -|
    let said = asked(&with_a_wait(), &["gemm=2x"]).unwrap();
    assert_eq!((said.wall.recorded_ns, said.wall.then_ns), (720 * US, 570 * US));
    assert_eq!((said.work.recorded_ns, said.work.then_ns), (560 * US, 410 * US));
    assert_eq!(parts(&said), [("GPU compute", 560, 410), ("GPU idle", 160, 160)]);
    assert_eq!(said.without_launch_ratio, Some(0.0));
}

#[test]
fn a_host_that_does_not_wait_launches_earlier() {
    // host     [a 0][b 20][40 to 60][c 160]        what the call took after b, then 100 as before
    // device     |- a 20 to 320 -|- b to 480 -|.|- c 500 to 600 -|        20 after what it waited for, as before
    let said = asked(&with_a_wait(), &["no-sync"]).unwrap();
    assert_eq!((said.wall.recorded_ns, said.wall.then_ns), (720 * US, 600 * US));
}

#[test]
fn the_result_is_waited_for_whatever_is_changed() {
    // host     [a 0]|-- copy 20 to 330 --|- saves until 400 -|
    // device     |-- a 10 to 310 --|= 310 to 320 =|
    let copy = r#""stream": 7, "correlation": 2, "bytes": 64"#;
    let all = [
        launch(1, 0, 5),
        complete("cuda_runtime", "cudaMemcpyAsync", 9, 20, 330, r#""correlation": 2"#),
        complete("cpu_op", "save", 9, 330, 400, ""),
        launched("sm90_gemm", 1, 10, 310),
        complete("gpu_memcpy", "Memcpy DtoH (Device -> Pageable)", 0, 310, 320, copy),
    ];
    let trace = events(&all.join(","));
    let said = asked(&trace, &["no-sync"]).unwrap();
    assert_eq!((said.wall.recorded_ns, said.wall.then_ns), (400 * US, 400 * US));
    // The copy is the result of the kernel, however free it is; of a kernel of 150 it is there 150 earlier.
    let said = asked(&trace, &["gemm=2x", "overlap-copies"]).unwrap();
    assert_eq!(said.wall.then_ns, 250 * US);
}

#[test]
fn changes_together_are_one_change() {
    // host     [a 0][b 20][40 to 60][c 160]
    // device     |- a 20 to 170 -|- b to 330 -|.|- c 350 to 450 -|
    let said = asked(&with_a_wait(), &["gemm=2x", "no-sync"]).unwrap();
    assert_eq!(said.wall.then_ns, 450 * US);
    assert_eq!(said.assumptions.len(), 3);
}

#[test]
fn kernels_that_the_host_launches_late_gain_little() {
    // host     [a 0]            [b 300]
    // device     |- a 20 to 220 -|  |- b 320 to 420 -|     a ends at 120, and b begins when it did
    let all = [
        launch(1, 0, 10),
        launch(2, 300, 310),
        launched("sm90_gemm", 1, 20, 220),
        launched("elementwise_kernel", 2, 320, 420),
    ];
    let said = asked(&events(&all.join(",")), &["gemm=2x"]).unwrap();
    assert_eq!((said.wall.recorded_ns, said.wall.then_ns), (420 * US, 420 * US));
    assert_eq!(parts(&said), [("GPU compute", 300, 200), ("GPU idle", 120, 220)]);
}

#[test]
fn work_of_another_stream_is_waited_for_as_before() {
    // stream 7    |- a 10 to 110 -|
    // stream 8   [b 5] ...........  |- b 112 to 152 -|        2 after a
    let on_8 = r#""stream": 8, "correlation": 2"#;
    let all = [
        launch(1, 0, 3),
        launch(2, 5, 8),
        launched("sm90_gemm", 1, 10, 110),
        complete("kernel", "elementwise_kernel", 0, 112, 152, on_8),
    ];
    // a ends at 60, b begins at 62 and ends at 102.
    let said = asked(&events(&all.join(",")), &["gemm=2x"]).unwrap();
    assert_eq!((said.wall.recorded_ns, said.wall.then_ns), (152 * US, 102 * US));
}

#[test]
fn copies_that_overlap_hold_up_no_kernel() {
    // stream 7    |= copy 20 to 120 =||- gemm 121 to 221 -|        launched at 0 and 10
    // then        |= copy 20 to 120 =|
    //            |- gemm 11 to 111 -|                              1 after its launch
    let copy = r#""stream": 7, "correlation": 1, "bytes": 64"#;
    let all = [
        launch(1, 0, 5),
        launch(2, 10, 15),
        complete("gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", 0, 20, 120, copy),
        launched("sm90_gemm", 2, 121, 221),
    ];
    let said = asked(&events(&all.join(",")), &["overlap-copies"]).unwrap();
    assert_eq!((said.wall.recorded_ns, said.wall.then_ns), (221 * US, 120 * US));
}

#[test]
fn phases_add_up_before_and_after() {
    // host     |----- encode 0 to 100 -----|----- denoise 100 to 400 ------|
    // launch      [a 10]                      [b 110]
    // device        |- a 20 to 120 -|           |- b 130 to 430 -|
    let range = |name: &str, start, end| complete("user_annotation", name, 9, start, end, "");
    let all = [
        range("text_encoder", 0, 100),
        range("denoise", 100, 400),
        launch(1, 10, 12),
        launch(2, 110, 112),
        launched("elementwise_kernel", 1, 20, 120),
        launched("sm90_gemm", 2, 130, 430),
    ];
    // b ends at 280: the host is at work until 400.
    let said = asked(&events(&all.join(",")), &["gemm=2x"]).unwrap();
    let sums = parts(&said).iter().fold((0, 0), |all, row| (all.0 + row.1, all.1 + row.2));
    assert_eq!(sums, (430, 400));
    assert_eq!(parts(&said), [("text_encoder", 120, 120), ("denoise", 310, 280)]);
}

#[test]
fn what_a_device_does_in_8_bits_is_from_its_data_sheet() {
    // An H100 is 1,978.9 ÷ 989.5 = 2.0 times as fast in FP8; of attention both halves are.
    let on = |model: &str| {
        let all = [
            launch(1, 0, 10),
            launch(2, 12, 15),
            launched("sm90_gemm_bf16", 1, 20, 320),
            launched("flash_fwd_kernel", 2, 320, 420),
        ];
        let of_device = format!(r#""deviceProperties": [{{"id": 0, "name": "{model}"}}]"#);
        let json = format!(r#"{{{of_device}, "traceEvents": [{}]}}"#, all.join(","));
        super::try_read(json).unwrap()
    };
    let h100 = on("NVIDIA H100 80GB HBM3");
    let then = |change: &str| asked(&h100, &[change]).map(|said| said.wall.then_ns / 100);
    assert_eq!(then("gemm=fp8"), Ok(2_700));
    assert_eq!(then("attention=sage"), Ok(3_700));
    // An A100 has no FP8: half of attention is 2 times as fast, so that it takes 0.75 of its time.
    let a100 = on("NVIDIA A100-SXM4-80GB");
    let said = asked(&a100, &["attention=sage"]).unwrap();
    assert_eq!(said.wall.then_ns, 395 * US);
    let error = asked(&a100, &["gemm=fp8"]).unwrap_err().to_string();
    let expected = "gemm=fp8: NVIDIA A100-SXM4-80GB is not known to compute so, or how fast; \
                    gemm=1.5x says how much faster";
    assert_eq!(error, expected);
}

#[test]
fn what_nothing_is_known_of_is_refused() {
    let trace = with_a_wait();
    for change in ["attention=2x", "overlap-copies"] {
        let error = asked(&trace, &[change]).unwrap_err();
        assert_eq!(error, UnknownChange::Nothing(change.to_owned()));
    }
    let host = events(&complete("cpu_op", "aten::mm", 9, 0, 10, ""));
    assert_eq!(asked(&host, &["gemm=2x"]).unwrap_err(), UnknownChange::NoDevice);
    let lost = [launch(1, 0, 1), launch(2, 2, 3), launched("sm90_gemm", 1, 5, 9)];
    let error = asked(&events(&lost.join(",")), &["gemm=2x"]).unwrap_err();
    assert_eq!(error.to_string(), "1 of 2 launches have no work in the trace");
}

#[test]
fn work_that_seems_to_begin_before_its_launch_is_launched_late_all_the_same() {
    // On the device's clock, which is 1 behind: [a -1]      [b 100]
    // device    |- a 10 to 70 -|                              |- b 100 to 500 -|      the host is late: a faster a gains nothing
    let all = [
        launch(1, 0, 5),
        launch(2, 101, 106),
        launched("sm90_gemm", 1, 10, 70),
        launched("elementwise_kernel", 2, 100, 500),
    ];
    let said = asked(&events(&all.join(",")), &["gemm=2x"]).unwrap();
    assert_eq!((said.wall.recorded_ns, said.wall.then_ns), (500 * US, 500 * US));
}

#[test]
fn copies_that_overlap_follow_each_other() {
    // device    |= 10 to 210 =||= 211 to 411 =||= 412 to 612 =|- 620 to 660 -|      launched at 0, 2, 4 and 45
    // then      |= 10 to 210 =||= to 410 =||= to 610 =|
    //              |- 53 to 93 -|                                                   8 after its launch
    let copy = |id: u32, start, end| {
        let args = format!(r#""stream": 7, "correlation": {id}, "bytes": 64"#);
        complete("gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", 0, start, end, &args)
    };
    let all = [
        launch(1, 0, 1),
        launch(2, 2, 3),
        launch(3, 4, 5),
        launch(4, 45, 46),
        copy(1, 10, 210),
        copy(2, 211, 411),
        copy(3, 412, 612),
        launched("sm90_gemm", 4, 620, 660),
    ];
    let said = asked(&events(&all.join(",")), &["overlap-copies"]).unwrap();
    assert_eq!((said.wall.recorded_ns, said.wall.then_ns), (660 * US, 610 * US));
}

#[test]
fn work_never_begins_before_its_launch() {
    // device    |-- a 10 to 1010 --|              launched at 0 and 500; both in one stream, at once
    //                |-- b 520 to 1120 --|        a ends at 510, and b would begin at 20 but for its launch
    let all = [
        launch(1, 0, 5),
        launch(2, 500, 505),
        launched("sm90_gemm", 1, 10, 1010),
        launched("elementwise_kernel", 2, 520, 1120),
    ];
    let said = asked(&events(&all.join(",")), &["gemm=2x"]).unwrap();
    assert_eq!((said.wall.recorded_ns, said.wall.then_ns), (1120 * US, 1100 * US));
}

#[test]
fn of_one_class_there_is_one_change_and_what_changes_nothing_is_said() {
    let trace = with_a_wait();
    let error = asked(&trace, &["gemm=2x", "gemm=3x"]).unwrap_err();
    assert_eq!(error, UnknownChange::Twice("gemm=3x".to_owned()));
    let said = asked(&trace, &["gemm=2x", "overlap-copies"]).unwrap();
    assert_eq!((said.wall.then_ns, said.without_effect), (570 * US, vec!["overlap-copies".into()]));
}
