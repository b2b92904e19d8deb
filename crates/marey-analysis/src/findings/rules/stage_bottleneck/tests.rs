use super::*;
use crate::findings::rules::tests::{check_made, check_run, steps};
use marey::Run;
use marey_testing::RunBuilder;

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
    for outcome in [check_run(&RULE, &run(35)), check_made(&RULE, &run(35), &made)] {
        let Outcome::Found(found) = outcome else {
            panic!("not found");
        };
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].issue, "vae_decode took 35 % of the wall time by itself");
        assert!(found[0].remedy.contains("enable_tiling"));
        assert_eq!(found[0].saving.as_ref().unwrap().at_most_ns, Some(35));
        assert_eq!((found[0].severity, found[0].node), (Severity::Medium, Some(4)));
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
    let run =
        RunBuilder::new().section("make", 0, 38, |_| {}).section("save", 38, 40, |_| {}).finish(40);
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
    // It holds the steps: what the rest of it is nobody knows.
    assert_eq!(found[0].severity, Severity::Low);
}

#[test]
fn a_section_of_an_ordinary_name_that_is_nearly_all_may_be_denoising() {
    for name in ["generate", "inference", "forward", "main", "step", "pipe"] {
        let run = RunBuilder::new().section(name, 0, 88, |_| {}).finish(100);
        let expected = format!(
            "{name} is nearly all of the run and has no section within it: record its parts"
        );
        assert_eq!(check_run(&RULE, &run), Outcome::Unknown(expected));
    }
    // 70 of the 80 under any section are in none but main.
    let run = RunBuilder::new()
        .section("main", 0, 80, |s| {
            s.section("text_encoder", 0, 10, |_| {});
        })
        .finish(100);
    let expected =
        "main is nearly all of the run and little of it is in sections within it: record its parts";
    assert_eq!(check_run(&RULE, &run), Outcome::Unknown(expected.into()));
}

#[test]
fn a_stage_of_an_ordinary_name_matters_as_far_as_denoising_is_known_elsewhere() {
    let severity = |other: &str| {
        let run = RunBuilder::new()
            .section(other, 0, 30, |_| {})
            .section("watermark", 30, 100, |_| {})
            .finish(100);
        match check_run(&RULE, &run) {
            Outcome::Found(found) if found.len() == 1 => found[0].severity,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(severity("save"), Severity::Low);
    assert_eq!(severity("denoise"), Severity::Medium);
}

#[test]
fn more_than_twice_the_limit_is_of_high_severity_where_the_name_says_another_phase() {
    let severity = |name: &str| {
        let run = RunBuilder::new()
            .section("load_model", 0, 28, |_| {})
            .section(name, 28, 98, |_| {})
            .finish(100);
        match check_run(&RULE, &run) {
            Outcome::Found(found) => found[0].severity,
            other => panic!("{other:?}"),
        }
    };
    // 70 of 98 are less than three quarters.
    for name in ["text_to_image", "generate_and_save", "run_prompt"] {
        assert_eq!(severity(name), Severity::Low, "{name}");
    }
    for name in ["offload_transformer", "save_video", "text_encoder", "vae_decode"] {
        assert_eq!(severity(name), Severity::High, "{name}");
    }
}

#[test]
fn the_rest_of_a_block_around_its_steps_is_of_low_severity() {
    // 0         10        20        30        40
    // |------------ block ------------------|       own 40 - 8 in transformer, of which 4 in steps
    // | alloc                   |step||step|        two of 6, with a transformer of 4 each
    let run = RunBuilder::new()
        .section("block", 0, 40, |s| {
            for start in [28, 34] {
                s.iteration("denoising_step", start, start + 6, |s| {
                    s.section("transformer", start, start + 4, |_| {});
                });
            }
        })
        .finish(40);
    let Outcome::Found(found) = check_made(&RULE, &run, &steps(28, &[6, 6])) else {
        panic!("not found");
    };
    assert_eq!(found[0].issue, "block took 80 % of the wall time by itself");
    assert_eq!(found[0].severity, Severity::Low);
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

#[test]
fn the_step_in_which_a_program_was_killed_is_none_of_its_stages_own_time() {
    // generate          |---------------------- open
    //   denoising_step  |-- 30 --||------------ open
    let run = RunBuilder::new()
        .open("generate", 0, |s| {
            s.iteration("denoising_step", 0, 30, |_| {}).open("denoising_step", 30, |_| {});
        })
        .with(|run| run.nodes[3].kind = marey::NodeKind::Iteration)
        .finish(100);
    let passed = check_made(&RULE, &run, &steps(0, &[30]));
    assert!(matches!(passed, Outcome::Passed(_)), "{passed:?}");
}

#[test]
fn decoding_in_steps_is_no_denoising() {
    // denoise |--step--|--step--|, each half of it vae_decode
    let run = RunBuilder::new()
        .section("denoise", 0, 80, |s| {
            for start in [0, 40] {
                s.iteration("step", start, start + 40, |s| {
                    s.section("vae_decode", start + 10, start + 35, |_| {});
                });
            }
        })
        .finish(80);
    let Outcome::Found(found) = check_made(&RULE, &run, &steps(0, &[40, 40])) else {
        panic!("not found");
    };
    assert_eq!(found[0].issue, "vae_decode took 62.5 % of the wall time by itself");
}
