use super::*;
use crate::findings::rules::tests::{check_made, check_run, steps};
use marey::{Run, RunBuilder};

/// Denoising to 60, then decoding for `decode`, of 100.
fn run(decode: u64) -> Run {
    RunBuilder::new()
        .section("generate", 0, 100, |s| {
            s.section("denoise", 0, 60, |s| {
                for n in 0..5 {
                    s.iteration("step", n * 12, n * 12 + 11, |_| {});
                }
            })
            .section("vae_decode", 60, 60 + decode, |_| {});
        })
        .finish(100)
}

#[test]
fn a_decoder_that_takes_35_percent_is_found_and_denoising_is_not() {
    let made = steps(0, &[12, 12, 12, 12, 12]);
    for outcome in [
        check_run(&RULE, &run(35)),
        check_made(&RULE, &run(35), &made),
    ] {
        let Outcome::Found(found) = outcome else {
            panic!("not found");
        };
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(
            found[0].issue,
            "vae_decode took 35 % of the wall time by itself"
        );
        assert!(found[0].remedy.contains("enable_tiling"));
        assert_eq!(found[0].saving.as_ref().unwrap().at_most_ns, Some(35));
        assert_eq!(
            (found[0].severity, found[0].node),
            (Severity::Medium, Some(4))
        );
        let time = found[0].intervals[0];
        assert_eq!((time.start_ns, time.end_ns), (60, 95));
    }
}

#[test]
fn a_decoder_that_takes_30_percent_does_not_take_more() {
    let expected = Outcome::Passed("only denoising did, which took 60 %".into());
    assert_eq!(check_run(&RULE, &run(30)), expected);
}

#[test]
fn a_stage_of_any_name_that_holds_the_steps_is_denoising() {
    // 0         10        20        30        40
    // |------------- make -----------------|       own 38, of which 30 in steps
    //    |step|step|step|
    let run = RunBuilder::new()
        .section("make", 0, 38, |_| {})
        .section("save", 38, 40, |_| {})
        .finish(40);
    let passed = check_made(&RULE, &run, &steps(3, &[10, 10, 10]));
    assert!(matches!(passed, Outcome::Passed(_)), "{passed:?}");
    // Steps that lie in a stage below it do not excuse its own time.
    let run = RunBuilder::new()
        .section("make", 0, 38, |s| {
            s.section("loop", 3, 23, |_| {});
        })
        .finish(40);
    let Outcome::Found(found) = check_made(&RULE, &run, &steps(3, &[10, 10])) else {
        panic!("not found");
    };
    assert_eq!(found[0].issue, "make took 45 % of the wall time by itself");
}

#[test]
fn what_runs_in_a_thread_beside_is_no_bottleneck() {
    // main    |---- denoise ----|-- save --|       25 of 100
    // writer      |------ encode ------|           60 of 100
    let run = RunBuilder::new()
        .section("denoise", 0, 70, |_| {})
        .section("save", 70, 95, |_| {})
        .thread("writer")
        .section("encode", 20, 80, |_| {})
        .finish(100);
    let expected = Outcome::Passed("only denoising did, which took 70 %".into());
    assert_eq!(check_run(&RULE, &run), expected);
}

#[test]
fn loading_that_takes_most_of_a_short_run_is_of_low_severity() {
    let run = RunBuilder::new()
        .section("load_pipeline", 0, 80, |_| {})
        .section("denoise", 80, 100, |_| {})
        .finish(100);
    let Outcome::Found(found) = check_run(&RULE, &run) else {
        panic!("not found");
    };
    assert_eq!(found[0].severity, Severity::Low);
    assert!(found[0].remedy.contains("safetensors"));
}

#[test]
fn a_run_without_sections_cannot_tell() {
    let run = RunBuilder::new().finish(100);
    assert!(matches!(check_run(&RULE, &run), Outcome::Unknown(_)));
    let run = RunBuilder::new().section("a", 0, 0, |_| {}).finish(0);
    assert!(matches!(check_run(&RULE, &run), Outcome::Unknown(_)));
}
