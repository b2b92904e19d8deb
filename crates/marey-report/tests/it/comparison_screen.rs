//! The first screen of comparisons. Expected numbers are those of a program of its own: Welch's formulas with Student's density summed up
//! by Simpson's rule.

use marey::{MemoryReading, MemorySource, Run, Status};
use marey_analysis::{CompareOptions, compare};
use marey_report::{ComparedRun, ComparedSide, ComparisonReport, Criterion, FirstScreen};
use marey_testing::RunBuilder;
use serde_json::Value;

use crate::shown_screen::{at_each_width, squeezed, text};

const MS: u64 = 1_000_000;
const MIB: u64 = 1 << 20;

/// Milliseconds of one run of `clip.py`: its decoder upsamples for all but 100 of its time.
#[derive(Clone, Copy)]
struct Clip {
    load: u64,
    denoise: u64,
    decode: u64,
    other: u64,
    peak_mib: u64,
}

/// `other │ load │ text 60 │ denoise: 20 steps │ decode: upsample, 100 │ save 40`
fn clip(of: Clip) -> RunBuilder {
    let mut at = of.other * MS;
    let mut next = |ms: u64| {
        let start = at;
        at += ms * MS;
        (start, at)
    };
    let (load, text, denoise) = (next(of.load), next(60), next(of.denoise));
    let (decode, save) = (next(of.decode), next(40));
    let step = of.denoise * MS / 20;
    let reading = MemoryReading {
        at_ns: denoise.0,
        label: None,
        source: MemorySource::Process,
        allocated_bytes: of.peak_mib * MIB,
        reserved_bytes: None,
        peak_bytes: Some(of.peak_mib * MIB),
        session: None,
    };
    RunBuilder::new()
        .section("model_load", load.0, load.1, |_| {})
        .section("text_encoding", text.0, text.1, |_| {})
        .section("denoise", denoise.0, denoise.1, |s| {
            for n in 0..20 {
                let start = denoise.0 + n * step;
                s.iteration("denoising_step", start, start + step, |_| {});
            }
        })
        .section("vae_decode", decode.0, decode.1, |s| {
            s.section("upsample", decode.0, decode.1 - 100 * MS, |_| {});
        })
        .section("save", save.0, save.1, |_| {})
        .memory(reading)
}

fn finished(of: Clip) -> Run {
    let wall = of.other + of.load + 60 + of.denoise + of.decode + 40;
    clip(of).finish(wall * MS)
}

fn runs(load: [u64; 5], denoise: [u64; 5], decode: [u64; 5], other: [u64; 5]) -> Vec<Run> {
    let one = |n: usize| {
        finished(Clip {
            load: load[n],
            denoise: denoise[n],
            decode: decode[n],
            other: other[n],
            peak_mib: 372,
        })
    };
    (0..5).map(one).collect()
}

/// Five runs of the program as it was: 1812, 1815, 1811, 1814 and 1808 ms.
fn before() -> Vec<Run> {
    runs(
        [320, 324, 318, 322, 318],
        [883, 884, 882, 883, 883],
        [459, 458, 460, 459, 459],
        [50, 49, 51, 50, 48],
    )
}

/// Five with a slower decoder: 1871, 1878, 1875, 1875 and 1878 ms.
fn after() -> Vec<Run> {
    runs(
        [318, 322, 317, 321, 319],
        [882, 884, 883, 882, 884],
        [524, 523, 525, 524, 526],
        [47, 49, 50, 48, 49],
    )
}

/// Five of the program as it was, once more: 1806, 1814, 1810, 1809 and 1811 ms.
fn again() -> Vec<Run> {
    runs(
        [318, 322, 317, 321, 319],
        [882, 884, 883, 882, 884],
        [459, 459, 460, 458, 459],
        [47, 49, 50, 48, 49],
    )
}

fn side(path: &str, runs: &[Run]) -> ComparedSide {
    let facts = runs.iter().zip(1..);
    ComparedSide {
        path: path.into(),
        runs: facts.map(|(run, n)| ComparedRun::new(format!("c{n}"), run, 0)).collect(),
        ..ComparedSide::default()
    }
}

fn compared(before: &[Run], after: &[Run], is_met: bool) -> ComparisonReport {
    let options = CompareOptions { n_resamples: 20, ..CompareOptions::default() };
    let sides = [side("before", before), side("after", after)];
    let report = ComparisonReport::new(compare(before, after, &options), &options, sides);
    report.judged(vec![Criterion { given: "worse".into(), is_met, measures: Vec::new() }])
}

fn screen(report: &ComparisonReport) -> FirstScreen {
    FirstScreen::of_comparison(report, "marey compare --full before after".into())
}

#[test]
fn the_only_section_that_is_slower_is_named_with_what_in_it_is() {
    let screen = screen(&compared(&before(), &after(), true));
    let shown = text(&screen, 100, false);
    // Welch: 63.4 ± 5.38 ms of 1812.0; of the decoder 65.4 ± 1.52 of 459.0, of loading −1.0 ± 3.47.
    for expected in [
        "slower by 63.4 ms (+3.5 %, 95 % CI +3.2 … +3.8 %): 1812.0 → 1875.4 ms · 5 runs a side",
        "vae_decode 459.0 ms 524.4 ms +65.4 ms +14.2 % (95 % CI +13.9 … +14.6 %)",
        "model_load 320.4 ms 319.4 ms −1.0 ms within noise (± 3.5 ms)",
        "! vae_decode: 459 → 524 ms (+14.2 %), the only section that changed",
        "1 call in each run. upsample has 65.4 ms of it. The rest is within noise.",
        "Try git diff of what vae_decode calls; marey report after/c1 --table sections.",
        "exit code 1 (--fail-on worse)",
    ] {
        assert!(squeezed(&shown).contains(expected), "{expected}\n{shown}");
    }
    insta::assert_snapshot!(at_each_width(&screen));
}

#[test]
fn no_change_comes_with_the_smallest_that_would_have_been_found() {
    let screen = screen(&compared(&before(), &again(), false));
    let shown = text(&screen, 100, false);
    // Welch: −2.0 ± 5.28 ms, with a power of 80 % 7.32 ms; three runs are enough for 18.1 ms.
    for expected in [
        "no change: 1812.0 → 1810.0 ms (−0.1 %, 95 % CI −0.4 … +0.2 %) · 5 runs a side",
        "Largest difference model_load 320.4 → 319.4 ms (−1.0 ms, within noise ± 3.5 ms)",
        "Detectable a change of 7.3 ms (0.4 %) or more",
        "exit code 0",
    ] {
        assert!(squeezed(&shown).contains(expected), "{expected}\n{shown}");
    }
    assert!(!squeezed(&shown).contains("text_encoding"), "{shown}");
    insta::assert_snapshot!(at_each_width(&screen));
}

#[test]
fn of_single_runs_nothing_is_proven_that_happens_once() {
    let screen = screen(&compared(&after()[..1], &before()[..1], false));
    let shown = text(&screen, 100, false);
    // 1871 → 1812 ms.
    for expected in [
        "no proven change: 1871.0 → 1812.0 ms (−3.2 %) · 1 run a side",
        "vae_decode 524.0 ms 459.0 ms −65.0 ms −12.4 %",
        "exit code 0",
        "run each side 3 times, then compare the folders",
    ] {
        assert!(squeezed(&shown).contains(expected), "{expected}\n{shown}");
    }
    assert!(screen.findings.is_empty(), "{shown}");
    insta::assert_snapshot!(at_each_width(&screen));
}

#[test]
fn what_the_calls_of_single_runs_prove_is_the_verdict_and_the_finding() {
    // 20 steps of 40 and of 52 ms; all in all 1729 and 1969 ms.
    let of = |denoise| finished(Clip { load: 320, denoise, decode: 459, other: 50, peak_mib: 372 });
    let report = compared(&[of(800)], &[of(1040)], true);
    let shown = text(&screen(&report), 100, false);
    for expected in [
        "marey: slower by 240.0 ms (+13.9 %): 1729.0 → 1969.0 ms · 1 run a side",
        "! denoising_step: 40.0 → 52.0 ms an iteration (+30.0 %), 20 iterations a side",
        "; all together +240.0 ms.",
        "Try git diff of what denoising_step calls; marey report after --table sections.",
        "exit code 1 (--fail-on worse)",
    ] {
        assert!(squeezed(&shown).contains(expected), "{expected}\n{shown}");
    }
    let report = compared(&[of(1040)], &[of(800)], false);
    let shown = text(&screen(&report), 100, false);
    assert!(shown.starts_with("marey: faster by 240.0 ms (−12.2 %)"), "{shown}");
}

#[test]
fn sides_that_died_in_two_ways_are_not_compared() {
    let died = |status, wall_ms: u64, peak_mib| {
        let mut run = clip(Clip { load: 318, denoise: 400, decode: 110, other: 47, peak_mib })
            .finish(wall_ms * MS);
        run.status = status;
        run
    };
    let failed = died(Status::Failed("RuntimeError".into()), 1000, 100);
    let killed = died(Status::Killed(9), 1500, 700);
    let screen = screen(&compared(&[failed], &[killed], false));
    let shown = text(&screen, 140, false);
    let head = "marey: inconclusive: the baseline failed (RuntimeError) after 1.000 s, the candidate was killed by SIGKILL (9) after 1.500 s";
    assert!(squeezed(&shown).contains(head), "{shown}");
    // 100 MiB until it failed say nothing of its peak.
    assert!(screen.findings.is_empty() && screen.differences.is_none(), "{shown}");
}

#[test]
fn a_candidate_that_died_is_worse_and_its_times_are_not_compared() {
    let mut dead = clip(Clip { load: 318, denoise: 400, decode: 110, other: 47, peak_mib: 372 })
        .finish(900 * MS);
    dead.status = Status::Killed(9);
    let screen = screen(&compared(&before(), &[dead], true));
    let shown = text(&screen, 100, false);
    assert!(
        shown.starts_with("marey: worse: the candidate was killed by SIGKILL (9) after 900 ms"),
        "{shown}"
    );
    assert!(!squeezed(&shown).contains("vae_decode") && screen.differences.is_none(), "{shown}");
}

#[test]
fn a_machine_that_is_slower_is_no_section() {
    // Everything takes 5 % longer.
    let slower = runs(
        [336, 340, 334, 338, 334],
        [927, 928, 926, 927, 927],
        [482, 481, 483, 482, 482],
        [50, 49, 51, 50, 48],
    );
    let screen = screen(&compared(&before(), &slower, true));
    let shown = text(&screen, 100, false);
    assert!(
        squeezed(&shown).contains("! Everything is slower: all 3 large parts by +5.0 %"),
        "{shown}"
    );
    assert_eq!(screen.findings.len(), 1, "{shown}");
}

#[test]
fn other_work_and_more_memory_are_said() {
    let larger: Vec<Run> = after()
        .into_iter()
        .map(|run| {
            let mut run = run;
            run.memory[0].peak_bytes = Some(744 * MIB);
            run
        })
        .collect();
    let screen = screen(&compared(&before(), &larger, true));
    let shown = text(&screen, 100, false);
    assert!(squeezed(&shown).contains("Memory peak 372 → 744 MiB (process)"), "{shown}");
    assert!(
        squeezed(&shown)
            .contains("! process, memory peak: 372.0 → 744.0 MiB (+100 %) 372.0 MiB more."),
        "{shown}"
    );
}

#[test]
fn programs_get_the_same_numbers() {
    let found = screen(&compared(&before(), &after(), true)).json();
    assert!(found.len() <= 4096 && found.ends_with("}\n"), "{}", found.len());
    let found: Value = serde_json::from_str(&found).unwrap();
    assert_eq!((&found["kind"], &found["outcome"]), (&"comparison".into(), &"slower".into()));
    assert_eq!(found["runs"], serde_json::json!([5, 5]));
    let rows = found["differences"]["rows"].as_array().unwrap();
    let sum = |key: &str| rows.iter().map(|row| row[key].as_f64().unwrap()).sum::<f64>();
    assert!((sum("first_s") - 1.812).abs() < 1e-9 && (sum("second_s") - 1.8754).abs() < 1e-9);
    assert_eq!((&rows[0]["name"], &rows[0]["changed"]), (&"vae_decode".into(), &true.into()));
    assert_eq!(found["findings"][0]["rule"], "slower-section");
}

/// The numbers of a printed row, in tenths.
fn printed(line: &str) -> Option<[i64; 3]> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let number = |at: usize| -> Option<i64> {
        let text = words.get(at)?.replace('−', "-");
        text.contains('.').then(|| text.replace('.', "").parse().ok())?
    };
    let unit = |at: usize| words.get(at) == Some(&"ms");
    (unit(2) && unit(4) && unit(6)).then(|| Some([number(1)?, number(3)?, number(5)?]))?
}

#[test]
fn what_is_printed_adds_up_and_fits_whatever_the_runs_are() {
    let mut random = 7_u64;
    let mut next = |below: u64| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (random >> 33) % below
    };
    for n in 0..40_usize {
        let mut some = |n_runs: usize| -> Vec<Run> {
            let mut one = |_| {
                finished(Clip {
                    load: 1 + next(400),
                    denoise: 20 + next(900),
                    decode: 101 + next(500),
                    other: 1 + next(60),
                    peak_mib: 300 + next(400),
                })
            };
            (0..n_runs).map(&mut one).collect()
        };
        let (first, second) = (some(1 + n % 4), some(1 + n % 3));
        let screen = screen(&compared(&first, &second, n % 2 == 0));
        for width in [20, 40, 59, 60, 80, 100, 140] {
            let shown = text(&screen, width, n % 5 == 0);
            assert!(shown.lines().count() <= 25, "{width}: {shown}");
            let longest = shown.lines().map(|line| line.chars().count()).max().unwrap();
            assert!(longest <= width.min(100), "{width}: {shown}");
            if screen.differences.is_none() || width < 60 || n % 5 == 0 {
                continue;
            }
            let rows: Vec<[i64; 3]> = shown.lines().filter_map(printed).collect();
            let (total, parts) = rows.split_last().unwrap();
            for column in 0..3 {
                let sum: i64 = parts.iter().map(|row| row[column]).sum();
                assert_eq!(sum, total[column], "{width}: {shown}");
            }
        }
        assert!(screen.json().len() <= 4096);
    }
}
