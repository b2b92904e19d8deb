//! What the first screen of a run says of steps, failures and requests, line by line.

use marey::{Outcome, Run, Series, SeriesInfo, SeriesPoint, Status, Unit, Window};
use marey_report::{FirstScreen, Places, Report, Shown};
use marey_testing::RunBuilder;

use crate::screen_runs::killed;

const MS: u64 = 1_000_000;

fn shown(run: &Run) -> String {
    FirstScreen::of_run(&Report::new(run), &Places::default()).text(&Shown {
        width: 100,
        has_colour: false,
        is_ascii: false,
    })
}

/// What a killed run says was free, of a machine of 24 000 MiB with 20 000 available, and of 400 MiB where the container has a limit.
#[test]
fn what_was_free_at_a_kill_is_of_the_container_where_that_has_less() {
    let free = |limit_mib: Option<f64>| {
        let mut run = killed();
        let mib = 1_048_576.0;
        let mut read = vec![
            ("host.memory.used", 4000.0),
            ("host.memory.available", 20_000.0),
            ("cgroup.memory.working_set", 300.0),
        ];
        read.extend(limit_mib.map(|limit| ("cgroup.memory.limit", limit)));
        run.series.extend(read.into_iter().map(|(name, value)| Series {
            info: SeriesInfo::gauge(name, "", Unit::Bytes),
            points: vec![SeriesPoint {
                first_ns: MS,
                last_ns: MS,
                count: 1,
                min: value * mib,
                max: value * mib,
                sum: value * mib,
                last: value * mib,
            }],
        }));
        let total = ("host.memory_bytes".into(), "25165824000".into());
        run.info.facts.push(total);
        let screen = FirstScreen::of_run(&Report::new(&run), &Places::default());
        let json: serde_json::Value = serde_json::from_str(&screen.json()).unwrap();
        let bytes = ["machine_free_bytes", "container_free_bytes"].map(|key| json[key].as_u64());
        (shown(&run), bytes)
    };
    let (text, bytes) = free(None);
    assert!(text.contains(" of 23.4 GiB free on the machine"), "{text}");
    assert_eq!(bytes, [Some(20_000 << 20), None]);
    let (text, bytes) = free(Some(400.0));
    assert!(text.contains("100 MiB of 400 MiB free in the container"), "{text}");
    assert_eq!(bytes, [None, Some(100 << 20)]);
}

/// A denoising loop whose steps take so many milliseconds.
fn steps(each_ms: &[u64]) -> RunBuilder {
    let all_ms: u64 = each_ms.iter().sum();
    RunBuilder::new().section("denoise", 0, all_ms * MS, |s| {
        let mut start_ms = 0;
        for ms in each_ms {
            s.iteration("denoising_step", start_ms * MS, (start_ms + ms) * MS, |_| {});
            start_ms += ms;
        }
    })
}

/// ```text
/// steps    0 ══ 100 ══ 200 ══════════ 600 ══ 700 ══ 800      ms
/// window               200 ───────────────── 700
///  start               200 ════════ 500
/// ```
#[test]
fn what_a_window_stopped_the_program_for_is_said() {
    let run = |start_ms: u64| {
        let end_ms = 500 + start_ms;
        let step_ends = [0, 100, 200, 300 + start_ms, 400 + start_ms, 500 + start_ms];
        let builder = RunBuilder::new().section("denoise", 0, end_ms * MS, |s| {
            for (n, two) in step_ends.windows(2).enumerate() {
                s.iteration("denoising_step", two[0] * MS, two[1] * MS, |s| {
                    if n == 2 {
                        s.section("marey window start", 200 * MS, (200 + start_ms) * MS, |_| {});
                    }
                });
            }
        });
        let window = Window {
            opened_ns: 200 * MS,
            recording_ns: Some(200 * MS),
            stopped_ns: Some((400 + start_ms) * MS),
            ..Window::default()
        };
        shown(&builder.with(|run| run.windows.push(window)).finish(end_ms * MS))
    };
    // 300 of 800 ms, and 4 of 504.
    let said = "The torch window of 2 steps stopped the program for 300 ms (38 % of the run); torch starts its profiler once.";
    let text = run(300).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains(said), "{text}");
    assert!(!run(4).contains("The torch window"), "{}", run(4));
}

fn denoise_note(each_ms: &[u64]) -> String {
    let all_ms: u64 = each_ms.iter().sum();
    let text = shown(&steps(each_ms).finish(all_ms * MS));
    let line = text.lines().find(|line| line.starts_with("  denoise "));
    let (_, note) = line.and_then(|line| line.rsplit_once("█  ")).expect(&text);
    note.trim().to_owned()
}

#[test]
fn a_note_adds_up_to_its_row() {
    // 91 + 3 · 41 is the row of 214.
    assert_eq!(denoise_note(&[91, 41, 41, 41]), "4 steps: 91.0 + 3 × 41.0 ms");
    assert_eq!(denoise_note(&[40, 41, 42]), "3 steps × 41.0 ms");
    // The mean, 95 ms, is of none of them, and most are shorter than it.
    let mut one_late = [60; 24];
    one_late[9] = 900;
    assert_eq!(denoise_note(&one_late), "24 steps, median 60.0 ms, longest 900 ms");
}

#[test]
fn a_call_that_failed_may_stray_from_the_sums() {
    // The only step failed; the sums say 3 ns less than the call itself.
    let run = steps(&[80])
        .with(|run| {
            run.status = Status::Failed("RuntimeError".into());
        })
        .finish(100 * MS);
    let mut strayed = run;
    for totals in &mut strayed.totals {
        totals.errors = totals.count.min(1);
        totals.sum_ns = totals.sum_ns.saturating_sub(3);
    }
    let text = shown(&strayed);
    assert!(text.contains("failed after 100.0 ms: RuntimeError"), "{text}");
    assert!(!text.contains("steps"), "{text}");
}

#[test]
fn what_decides_is_seen_in_the_figure() {
    let of = |ms: u64| {
        let run = RunBuilder::new()
            .section("denoise", 0, (1000 - ms) * MS, |_| {})
            .section("vae_decode", (1000 - ms) * MS, 1000 * MS, |_| {})
            .finish(1000 * MS);
        shown(&run)
    };
    let said = "! vae_decode: 304 ms, 30.4 % of the run (target ≤ 30 %)";
    assert!(of(304).contains(said), "{}", of(304));
    assert!(of(350).contains("350 ms, 35 % of the run"), "{}", of(350));
    assert!(!of(299).contains('!'), "{}", of(299));
}

#[test]
fn ctrl_c_is_no_riddle() {
    let mut run = killed();
    run.status = Status::Killed(2);
    run.info.facts.retain(|(key, _)| !key.ends_with("signal"));
    let text = shown(&run);
    assert!(text.contains("clip.py was interrupted (SIGINT) after 776.8 ms"), "{text}");
    assert!(!text.contains('!') && !text.contains("Try"), "{text}");
}

#[test]
fn an_exit_code_needs_no_explanation() {
    let run = RunBuilder::new()
        .section("denoise", 0, 80 * MS, |_| {})
        .with(|run| run.status = Status::Failed("exit code 3".into()))
        .finish(100 * MS);
    let text = shown(&run);
    assert!(text.contains("failed after 100.0 ms (exit code 3)"), "{text}");
    assert!(!text.contains("output"), "{text}");
    // It left by `os._exit` within a section: nothing was raised, and no traceback is anywhere.
    let run = RunBuilder::new()
        .open("x", 0, |_| {})
        .with(|run| run.status = Status::Failed("exit code 3".into()))
        .finish(100 * MS);
    assert!(!shown(&run).contains("raised"), "{}", shown(&run));
}

#[test]
fn generations_that_failed_are_in_the_headline() {
    let of = |failed: &[usize]| {
        let mut builder = RunBuilder::new();
        for n in 0..6 {
            builder =
                builder.session(&format!("clip-{n}"), n * 10 * MS, Some((n + 1) * 10 * MS), vec![]);
        }
        let change = |run: &mut Run| {
            for at in failed {
                run.sessions[*at].outcome = Outcome::Failed;
            }
        };
        shown(&builder.section("denoise", 0, 50 * MS, |_| {}).with(change).finish(60 * MS))
    };
    assert!(of(&[]).contains("in 60.0 ms · 6 clips\n"), "{}", of(&[]));
    assert!(of(&[3]).contains("· 6 clips, 1 failed (clip-3)\n"), "{}", of(&[3]));
    assert!(of(&[1, 3]).contains("· 6 clips, 2 failed\n"), "{}", of(&[1, 3]));
}
