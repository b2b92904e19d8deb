//! What is shown on a terminal.

use marey::{CacheEvent, CacheOutcome, Status, Value, Warning};
use marey_report::{
    Report, cache_markdown, iteration_summary, memory_summary, summary, timing_summary,
};
use marey_testing::RunBuilder;
use unicode_width::UnicodeWidthStr;

use crate::example::{killed_latent_video, latent_video};
use crate::shown::{block, words};

#[test]
fn the_summary_of_a_run_that_finished() {
    insta::assert_snapshot!(summary(&Report::new(&latent_video())));
}

#[test]
fn the_summary_of_a_run_that_was_killed() {
    insta::assert_snapshot!(summary(&Report::new(&killed_latent_video())));
}

#[test]
fn the_memory_table_has_the_known_columns_and_they_are_aligned() {
    let text = memory_summary(&Report::new(&latent_video()));
    insta::assert_snapshot!(text, @r"
    ==================================================================================
    MEMORY USAGE SUMMARY
    ==================================================================================
    Label                                          Allocated     Reserved    Max Alloc
    ----------------------------------------------------------------------------------
    worker_start                                     1024.0M      2048.0M      1124.0M
    after_sampling                                   4096.0M     16384.0M      4196.0M
    end                                              3000.5M            -            -
    ==================================================================================
    ");
}

#[test]
fn the_iteration_block_names_its_loop() {
    let report = Report::new(&latent_video());
    let text = iteration_summary(&report, "denoise_step").unwrap();
    insta::assert_snapshot!(text, @r"
    ================================================================================
    ITERATION PROFILING: denoise_step
    ================================================================================
    Total iterations: 6
    Total time:       0.040s
    Mean time/iter:   6.67ms (150.00 it/s)
    Min time:         5.00ms
    Max time:         9.00ms
    Median time:      6.00ms
    ================================================================================
    ");
    assert_eq!(iteration_summary(&report, "no such loop"), None);
}

#[test]
fn the_cache_timeline_is_a_markdown_table() {
    let report = Report::new(&latent_video());
    insta::assert_snapshot!(cache_markdown(&report), @r"
    | Time (s) | Step | Block | Cache | Outcome | Details |
    | ---: | ---: | ---: | --- | --- | --- |
    | 0.020 | 0 | 0 | teacache | miss | score 0.9, threshold 0.15, held 64.0 MiB, kind=residual\|x |
    | 0.029 | 1 | 0 | teacache | hit | score 0.1, threshold 0.15, held 64.0 MiB, kind=residual\|x |
    | 0.035 | 2 | 0 | teacache | hit | score 0.05, threshold 0.15, held 64.0 MiB, kind=residual\|x |
    | 0.060 | - | - | text\_embeddings | eviction | - |
    ");
}

#[test]
fn an_empty_run_has_a_summary_too() {
    let report = Report::new(&RunBuilder::new().finish(1_000_000));
    insta::assert_snapshot!(summary(&report), @r"
    ====================================================================================================
    PROFILING SUMMARY - Top Operations by Total Time
    ====================================================================================================
    Operation                                          Count      Total       Mean        Min        Max
    ----------------------------------------------------------------------------------------------------
    (no section was completed)
    ====================================================================================================

    ====================================================================================================
    Marey: unknown-0-0
    ====================================================================================================

    Status     finished
    Wall time  1.00 ms, 1.00 ms of it (100.0 %) under no section
    Process    pid 0

    Rules found nothing; no check could be made (--format json says why)

    INCLUSIVE AND SELF TIME
    Section             Inclusive    Share
    --------------------------------------
    (under no section)    1.00 ms  100.0 %
    Wall time 1.00 ms. Share: wall time during which the section was open.

    DATA QUALITY
    How measured  host clock (not named), from enter to leave; GPU work that a section only launched is
                  not in its time
    Data          complete, nothing was lost
    ");
    insta::assert_snapshot!(memory_summary(&report), @r"
    ==================================================================================
    MEMORY USAGE SUMMARY
    ==================================================================================
    Label                                          Allocated     Reserved    Max Alloc
    ----------------------------------------------------------------------------------
    (no labelled reading was taken)
    ==================================================================================
    ");
    assert_eq!(cache_markdown(&report), "No cache events were recorded.\n");
}

#[test]
fn a_share_that_is_not_known_is_said_to_be() {
    let mut run = RunBuilder::new()
        .section("load", 0, 12, |_| {})
        .thread("worker")
        .section("load", 5, 18, |_| {})
        .finish(20);
    run.sections.clear();
    run.losses.sections_ring_full = 2;
    let text = summary(&Report::new(&run));
    assert!(
        text.contains("Under no section: not available: 2 sections were not recorded one by one."),
        "{text}"
    );
}

#[test]
fn columns_are_aligned_for_wide_and_combined_characters() {
    let run = RunBuilder::new()
        .section("復号", 0, 5, |_| {})
        .section("de\u{301}bruitage", 5, 9, |_| {})
        .section("plain", 9, 12, |_| {})
        .section(&"日本語".repeat(40), 12, 14, |_| {})
        .finish(20);
    let text = timing_summary(&Report::new(&run), 10);
    let rows: Vec<usize> = text.lines().skip(3).map(UnicodeWidthStr::width).collect();
    assert!(rows.iter().all(|width| *width == 100), "{text}");
    let text = summary(&Report::new(&run));
    let table = block(&text, "INCLUSIVE AND SELF TIME");
    // The rule and the rows, which end with a figure; below them is a note.
    let lines: Vec<&str> = table.lines().skip(2).take(6).collect();
    let ends: Vec<usize> = lines.iter().map(|line| line.width()).collect();
    assert!(ends.iter().all(|end| *end == ends[0]), "{text}");
}

#[test]
fn no_line_of_the_terminal_is_as_long_as_what_a_user_gave() {
    let long = "x".repeat(1 << 20);
    let given = || vec![(long.clone(), Value::from(long.as_str()))];
    let mut run = RunBuilder::new()
        .section("a", 0, 5, |s| {
            s.section("b", 1, 2, |_| {}).attributes(given());
        })
        .session(&long, 0, Some(5), given())
        .counter(&long, 3, 1.0)
        .finish(10);
    for at_ns in 0..25 {
        run.cache_events.push(CacheEvent {
            at_ns,
            cache: long.clone(),
            outcome: CacheOutcome::Hit,
            step: None,
            block: None,
            score: None,
            threshold: None,
            held_bytes: None,
            attributes: given(),
            session: None,
        });
    }
    let text = summary(&Report::new(&run));
    let longest = text.lines().map(|line| line.chars().count()).max();
    assert!(longest < Some(250), "{longest:?}");
    assert!(text.contains("… and 5 more rows"), "{text}");
}

#[test]
fn what_threads_in_private_memory_had_not_drained_is_lost_by_a_kill_only() {
    let said = |status: Status, n_threads: u64| {
        let mut run = RunBuilder::new().finish(10);
        run.status = status;
        run.losses.threads_in_private_memory = n_threads;
        words(&summary(&Report::new(&run)))
    };
    for status in [Status::Killed(9), Status::EndedWithoutClosing] {
        let text = said(status, 1);
        let expected = "Lost 1 thread recorded in private memory: what it had not drained is lost (how much is not known)";
        assert!(text.contains(expected), "{text}");
        assert!(!text.contains("Data complete"), "{text}");
    }
    let text = said(Status::Finished, 2);
    let expected = "Note 2 threads recorded in private memory: what they had not drained would be lost by a kill";
    assert!(text.contains(expected), "{text}");
    assert!(text.contains("Data complete, nothing was lost"), "{text}");
    assert!(!said(Status::Running, 2).contains("Data complete"));
}

#[test]
fn a_run_with_children_that_made_no_capture_is_not_complete() {
    let mut run = RunBuilder::new().finish(10);
    run.losses.children_unrecorded = 1;
    let text = words(&summary(&Report::new(&run)));
    let expected = "Lost 1 forked process was not recorded: it could not make a capture";
    assert!(text.contains(expected), "{text}");
    assert!(!text.contains("Data complete"), "{text}");
}

#[test]
fn a_run_that_recorded_nothing_on_purpose_is_not_complete() {
    let mut run = RunBuilder::new().finish(10);
    run.warnings = vec![Warning::RecordingOff];
    let text = words(&summary(&Report::new(&run)));
    let expected = "Warning recording is switched off (MAREY_ENABLED=0): nothing was measured";
    assert!(text.contains(expected), "{text}");
    assert!(!text.contains("Data complete"), "{text}");
}

#[test]
fn synchronised_sections_that_may_have_been_more_are_at_least_so_many() {
    let mut run = latent_video();
    run.losses.notes_dropped = 1;
    let text = words(&summary(&Report::new(&run)));
    let expected = "Synchronised with the GPU at both ends, so that times include waiting for it: generate / block (at least 2 calls)";
    assert!(text.contains(expected), "{text}");
    assert!(text.contains("Lost 1 event, reading or attribute was dropped"), "{text}");
}
