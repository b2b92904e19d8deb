//! What is shown first of traces and memory snapshots.

use std::path::{Path, PathBuf};

use marey_analysis::import::chrome::{Limits, read};
use marey_analysis::import::snapshot::{
    Block, BlockState, Segment, SegmentKind, Snapshot, read_snapshot,
};
use marey_analysis::{Thresholds, trace_answers, trace_findings};
use marey_report::{FirstScreen, Shown, SnapshotFile, TraceFile};

use crate::first_screen::brief;

const DATA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../marey-analysis/tests/data");

fn name_of(path: &Path) -> String {
    path.file_name().expect("a file").to_string_lossy().into_owned()
}

fn of_trace(path: &Path) -> FirstScreen {
    let trace =
        read(std::fs::File::open(path).expect("there"), Limits::default()).expect("a trace");
    let answers = trace_answers(&trace, None);
    let file = TraceFile {
        file: name_of(path),
        findings: trace_findings(&answers, &Thresholds::default()),
        answers: Some(answers),
        problem: None,
    };
    FirstScreen::of_trace(&file).expect("a screen")
}

fn of_snapshot(path: &Path) -> FirstScreen {
    let snapshot = read_snapshot(&std::fs::read(path).expect("there")).expect("a snapshot");
    let file = SnapshotFile {
        file: name_of(path),
        answers: Some(marey_analysis::snapshot(&snapshot, None)),
        problem: None,
    };
    FirstScreen::of_snapshot(&file).expect("a screen")
}

fn files(folder: &str, ending: &[&str]) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(format!("{DATA}/{folder}")).expect("there");
    let paths = entries.map(|entry| entry.expect("there").path());
    let is_wanted = |path: &PathBuf| ending.iter().any(|e| name_of(path).ends_with(e));
    let mut found: Vec<PathBuf> = paths.filter(is_wanted).collect();
    found.sort();
    found
}

fn all() -> Vec<FirstScreen> {
    let traces = files("traces", &[".json", ".json.gz"]);
    let snapshots = files(".", &[".pickle"]);
    assert!((traces.len(), snapshots.len()) >= (20, 2));
    let traces = traces.iter().map(|path| of_trace(path));
    traces.chain(snapshots.iter().map(|path| of_snapshot(path))).collect()
}

fn plain(width: usize) -> Shown {
    Shown { width, has_colour: false, is_ascii: false }
}

fn at_each_width(screen: &FirstScreen) -> String {
    let at = |width| format!("{}\n{}", "-".repeat(width), screen.text(&plain(width)));
    let ascii = screen.text(&Shown { is_ascii: true, ..plain(100) });
    [60, 80, 100].map(at).concat() + &format!("{} ASCII\n{ascii}", "-".repeat(94))
}

/// Amount and share of each row of the account, in their last digits.
fn printed(text: &str) -> Vec<(u64, u64)> {
    let account = text.split("\n\n").nth(1).unwrap_or_default();
    let digits = |number: &str| number.replace('.', "").parse::<u64>().ok();
    let row = |line: &str| {
        let (before, _) = line.split_once(" %")?;
        let words: Vec<&str> = before.split_whitespace().collect();
        let [.., amount, _unit, share] = words.as_slice() else {
            return None;
        };
        Some((digits(amount)?, digits(share)?))
    };
    account.lines().filter_map(row).collect()
}

#[test]
fn every_file_has_a_screen_that_fits_and_adds_up() {
    for screen in all() {
        for width in 1..141 {
            let text = screen.text(&plain(width));
            assert!(text.lines().count() <= 25, "{width}: {text}");
            let longest = text.lines().map(|line| line.chars().count()).max();
            assert!(longest.unwrap() <= width.min(100), "{width}: {text}");
            let Some(account) = screen.account.as_ref().filter(|_| width >= 40) else {
                continue;
            };
            let held: u64 = account.rows.iter().map(|row| row.held).sum();
            assert_eq!(held, account.total, "{text}");
            let shares: u64 = printed(&text).iter().map(|(_, share)| share).sum();
            assert_eq!(shares, 1000, "{width}: {text}");
            let total: u64 = printed(&text).iter().map(|(amount, _)| amount).sum();
            let plain = text.replace('.', "").replace('\n', " ");
            assert!(plain.contains(&format!(" {total} ")), "{width}: {text}");
        }
        let ascii = Shown { is_ascii: true, ..plain(80) };
        assert!(screen.text(&ascii).is_ascii(), "{}", screen.text(&ascii));
        brief(&screen);
    }
}

#[test]
fn a_trace_of_the_host_alone() {
    let path = format!("{DATA}/traces/flux_tiny_cpu.trace.json.gz");
    let screen = of_trace(Path::new(&path));
    // By hand, from the file: 29 423 027 ns from the first event to the last without the profiler's own span, the ranges encode_prompt and
    // vae_decode, and from the first transformer_forward to the end of the last scheduler_step.
    let text = screen.text(&plain(100));
    assert_eq!(printed(&text), [(162, 551), (117, 396), (6, 21), (9, 32)], "{text}");
    let account = screen.account.as_ref().unwrap();
    assert_eq!(account.total, 29_423_027);
    insta::assert_snapshot!(at_each_width(&screen));
}

#[test]
fn a_request_that_is_larger_than_the_gpu() {
    let screen = of_snapshot(&Path::new(DATA).join("basic_oom.pickle"));
    // 2 310 029 312 B in tensors at the failure, 21.82 GiB free; lines 4 and 3 of snap.py have 1.17 and 0.98 GiB of them.
    let text = screen.text(&plain(100));
    assert_eq!(printed(&text), [(215, 90), (2, 1), (2182, 909)], "{text}");
    insta::assert_snapshot!(at_each_width(&screen));
}

#[test]
fn a_snapshot_of_a_pipeline_that_fits() {
    let screen = of_snapshot(&Path::new(DATA).join("flux_tiny_resident.pickle"));
    insta::assert_snapshot!(at_each_width(&screen));
}

#[test]
fn of_a_snapshot_without_a_history_only_the_pieces_at_its_end_are_checked() {
    let block = Block {
        address: 0,
        bytes: 1 << 20,
        requested_bytes: Some(1 << 20),
        state: BlockState::Allocated,
        stack: None,
    };
    let segment = Segment {
        device: 0,
        address: 0,
        total_bytes: 1 << 20,
        kind: SegmentKind::Large,
        stream: Some(0),
        pool: Some((0, 0)),
        is_expandable: false,
        first_block: 0,
        n_blocks: 1,
    };
    let snapshot = Snapshot { segments: vec![segment], blocks: vec![block], ..Snapshot::default() };
    let file = SnapshotFile {
        file: "end.pickle".into(),
        answers: Some(marey_analysis::snapshot(&snapshot, None)),
        problem: None,
    };
    let screen = FirstScreen::of_snapshot(&file).expect("a screen");
    let expected = [
        "Only 1 of 4 checks could be made; they found nothing: fragmentation.",
        "3 checks skipped: no allocations were recorded.",
    ];
    assert_says(&screen, &expected);
}

/// Of a trace that is drawn here, with more of its document in front of the events.
fn of_events(head: &str, events: &[String]) -> FirstScreen {
    let text = format!("{{{head}\"traceEvents\": [{}]}}", events.join(",\n"));
    let trace = read(text.as_bytes(), Limits::default()).expect("a trace");
    let answers = trace_answers(&trace, None);
    let file = TraceFile {
        file: format!("{}/drawn.json", "a_folder_with_a_name".repeat(4)),
        findings: trace_findings(&answers, &Thresholds::default()),
        answers: Some(answers),
        problem: None,
    };
    FirstScreen::of_trace(&file).expect("a screen")
}

fn event(category: &str, name: &str, start_us: u64, lasts_us: u64) -> String {
    format!(
        r#"{{"ph":"X","cat":"{category}","name":"{name}","pid":9,"tid":9,"ts":{start_us},"dur":{lasts_us}}}"#
    )
}

/// Work of device 0, which the host launched a microsecond before.
fn work(category: &str, name: &str, start_us: u64, lasts_us: u64) -> String {
    let call_us = start_us - 1;
    format!(
        r#"{{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":9,"tid":9,"ts":{call_us},"dur":1,"args":{{"correlation":{start_us}}}}},
{{"ph":"X","cat":"{category}","name":"{name}","pid":0,"tid":7,"ts":{start_us},"dur":{lasts_us},"args":{{"correlation":{start_us},"stream":7,"device":0}}}}"#
    )
}

fn assert_says(screen: &FirstScreen, expected: &[&str]) {
    let text = screen.text(&plain(100));
    let squeezed = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for said in expected {
        assert!(squeezed.contains(said), "{said}\n{text}");
    }
}

#[test]
fn copies_are_work_of_the_gpu_and_kernels_of_no_class_are_among_the_others() {
    let head = r#""deviceProperties": [{"id": 0, "name": ""}], "#;
    let events = [
        work("gpu_memcpy", "Memcpy HtoD (Pageable -> Device)", 10, 80),
        work("kernel", "gemm", 90, 15),
        work("kernel", "mystery", 105, 5),
    ];
    // Of 101 µs, of which the first is a call.
    let expected = [
        "· GPU busy 99 %",
        "GPU 100 µs: copies to the GPU 80 % (pageable) · gemm 15 % · other 5 %",
    ];
    assert_says(&of_events(head, &events), &expected);
}

#[test]
fn a_first_step_that_compiles_is_told_apart() {
    // 960 µs, of which 900 compile, then three of 10.
    let mut events = vec![
        event("user_annotation", "denoising_step 0", 0, 960),
        event("cpu_op", "bytecode_tracing (dynamo_timed)", 20, 600),
        event("cpu_op", "compile_file (dynamo_timed)", 620, 300),
    ];
    for n in 0..3 {
        let name = format!("denoising_step {}", n + 1);
        events.push(event("user_annotation", &name, 960 + n * 10, 10));
    }
    let screen = of_events("", &events);
    let expected = [
        "4 steps in 990.0 µs",
        "4 steps: first 960 µs, then 10.0 µs",
        "CPU 900 µs in operators: compile 100 %",
        "! torch.compile: 900 µs of 990 µs, in step 0",
    ];
    assert_says(&screen, &expected);
    assert!(!screen.text(&plain(100)).contains("steps/s"));
}

#[test]
fn where_work_is_missing_a_device_was_busy_for_at_least_what_is_known() {
    // us        0    10   40          100  109                190 200
    // step      |---------0-----------||---------1------------------|
    // device         |gemm|                 launched, not there |gemm|
    let launch = r#"{"ph":"X","cat":"cuda_runtime","name":"cudaGraphLaunch","pid":9,"tid":9,"ts":109,"dur":1,"args":{"correlation":7}}"#;
    let events = [
        event("user_annotation", "denoising_step 0", 0, 100),
        event("user_annotation", "denoising_step 1", 100, 100),
        work("kernel", "gemm", 10, 30),
        launch.to_owned(),
        work("kernel", "gemm", 190, 10),
    ];
    let expected = ["· GPU busy at least 20 %", "2 steps × 100 µs, GPU at least 20 % busy"];
    assert_says(&of_events("", &events), &expected);
}

#[test]
fn where_most_lies_between_names_the_rows_are_of_the_device_and_steps_of_the_profiler_count() {
    let mut events = vec![event("user_annotation", "nccl:all_reduce", 40, 5)];
    for n in 0..2 {
        let step = format!("ProfilerStep#{n}");
        events.push(event("user_annotation", &step, n * 100, 100));
        events.push(work("kernel", "gemm", n * 100 + 10, 60));
    }
    // Works from 10 to 70 and from 110 to 170 of 200 µs: 60 %.
    let screen = of_events("", &events);
    let expected = [
        "2 steps in 200.0 µs",
        "GPU compute 120.0 µs 60.0 %",
        "GPU idle 80.0 µs 40.0 %",
        "Speed median step 100 µs",
    ];
    assert_says(&screen, &expected);
}

#[test]
fn names_that_are_cut_alike_are_told_apart_and_a_device_that_is_not_read_is_no_host_alone() {
    let name = |what: &str| format!("[param|pytorch.model.alex_net|0|0|0|{what}|forward]");
    let events = [
        event("user_annotation", &name("warm"), 0, 60),
        event("user_annotation", &name("measure"), 60, 40),
        event("mtia_ccp_events", "job", 10, 20),
    ];
    let screen = of_events("", &events);
    assert_says(&screen, &["MTIA device not analysed"]);
    let text = screen.text(&plain(100));
    assert!(!text.contains("CPU only") && !text.contains("No GPU"), "{text}");
    let rows = text.lines().filter(|line| line.trim_start().starts_with("[param"));
    let names: Vec<&str> = rows.filter_map(|line| line.split_whitespace().next()).collect();
    assert!(names.len() == 2 && names[0] != names[1], "{text}");
}

#[test]
fn a_command_is_never_cut() {
    let events = [event("cpu_op", "aten::mm", 0, 10)];
    let screen = of_events("", &events);
    let command = format!("Nextmareyanalyze--full{}/drawn.json", "a_folder_with_a_name".repeat(4));
    for width in [40, 60, 80, 100] {
        let text = screen.text(&plain(width));
        let shown: String = text.split_whitespace().collect();
        assert!(shown.contains(&command), "{text}");
    }
}

/// A product of matrices of 1 000 × 1 000 in bfloat16 on an L4, which takes 20 µs at the roofline (6 · 10⁶ bytes at 300 GB/s).
///
/// ```text
/// µs       0   9        lasts     after
/// mm       |---|
/// device       |--- gemm ---|........|
/// ```
fn product(lasts_us: u64, after_us: u64) -> FirstScreen {
    let inputs =
        r#""Input Dims":[[1000,1000],[1000,1000]],"Input type":["c10::BFloat16","c10::BFloat16"]"#;
    let mm = format!(
        r#"{{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":9,"tid":9,"ts":0,"dur":10,"args":{{{inputs}}}}}"#
    );
    let end = event("user_annotation", "end", 9 + lasts_us + after_us, 1);
    let head = r#""deviceProperties": [{"id": 0, "name": "NVIDIA L4"}], "#;
    of_events(head, &[mm, work("kernel", "gemm", 9, lasts_us), end])
}

#[test]
fn headroom_is_said_where_the_device_holds_the_run_up() {
    // 20 / 0.7 µs, the device busy for 200 of 210 µs.
    let said = "At 70 % of the roofline gemm would take 28.6 µs, not 200 µs (--table work).";
    assert_says(&product(200, 0), &[said]);
    let is_said = |screen: &FirstScreen| screen.text(&plain(100)).contains("of the roofline");
    // Busy for 200 of 310 µs: the host has more to do with it. 30 µs are near what is possible.
    assert!(!is_said(&product(200, 100)));
    assert!(!is_said(&product(30, 0)));
}
