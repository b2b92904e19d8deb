//! What is shown first of traces and memory snapshots.

use std::path::{Path, PathBuf};

use marey_analysis::import::chrome::{Limits, read};
use marey_analysis::import::snapshot::read_snapshot;
use marey_analysis::{Thresholds, trace_answers, trace_findings};
use marey_report::{FirstScreen, Shown, SnapshotFile, TraceFile};

use crate::first_screen::brief;

const DATA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../marey-analysis/tests/data");

fn name_of(path: &Path) -> String {
    path.file_name()
        .expect("a file")
        .to_string_lossy()
        .into_owned()
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
    traces
        .chain(snapshots.iter().map(|path| of_snapshot(path)))
        .collect()
}

fn plain(width: usize) -> Shown {
    Shown {
        width,
        has_colour: false,
        is_ascii: false,
    }
}

fn at_each_width(screen: &FirstScreen) -> String {
    let at = |width| format!("{}\n{}", "-".repeat(width), screen.text(&plain(width)));
    let ascii = screen.text(&Shown {
        is_ascii: true,
        ..plain(100)
    });
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
        let ascii = Shown {
            is_ascii: true,
            ..plain(80)
        };
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
    assert_eq!(
        printed(&text),
        [(162, 551), (117, 396), (6, 21), (9, 32)],
        "{text}"
    );
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
