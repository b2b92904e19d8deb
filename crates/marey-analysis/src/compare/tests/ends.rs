//! Sides that died, or did other work.

use marey::Status;

use super::*;

#[test]
fn a_run_that_was_killed_is_not_faster() {
    let whole = generation(&durations(1, 50, SECOND));
    let mut killed = generation(&durations(2, 20, SECOND));
    killed.status = Status::Killed(9);
    let found = one(&whole, &killed);
    assert_eq!(verdict(&found, MeasureKind::WallTime, &Subject::Run), Verdict::CannotTell);
    assert_eq!(
        verdict(&found, MeasureKind::SectionTotal, &path(&TRANSFORMER)),
        Verdict::CannotTell
    );
    assert_eq!(
        verdict(&found, MeasureKind::Iteration, &Subject::Loop("step".into())),
        Verdict::Same
    );
    // Killed at 22 s: a second of loading, 20 steps of a second, a second more.
    assert_eq!(found.verdict, Verdict::Worse);
    let [obstacle] = &found.obstacles[..] else { panic!("{:?}", found.obstacles) };
    assert_eq!(obstacle.verdict, Verdict::Worse);
    let (start, end) = obstacle.text.split_once(" after ").unwrap();
    assert_eq!(start, "the candidate was killed by SIGKILL (9)");
    assert!(end.starts_with('2') && end.ends_with(" s, the baseline finished"), "{end}");
    // A baseline that was killed says nothing against the candidate.
    let found_back = one(&killed, &whole);
    assert_eq!(found_back.verdict, Verdict::CannotTell);
    assert_eq!(found_back.obstacles[0].verdict, Verdict::CannotTell);
    // Two that were killed are alike, one that failed and one that was killed are not.
    assert_eq!(one(&killed, &killed).obstacles, []);
    let mut failed = killed.clone();
    failed.status = Status::Failed("ValueError".into());
    let apart = one(&failed, &killed);
    assert_eq!((apart.verdict, apart.time), (Verdict::CannotTell, None));
    let text = &apart.obstacles[0].text;
    let said = ["the baseline failed (ValueError)", "the candidate was killed by SIGKILL (9)"];
    assert!(said.iter().all(|said| text.contains(said)), "{text}");
    let mut going_on = killed.clone();
    going_on.status = Status::Running;
    assert_eq!(one(&whole, &going_on).verdict, Verdict::CannotTell);
    assert!(
        found
            .notes
            .iter()
            .any(|note| note.contains("1 of 1 runs of the candidate failed or did not end"))
    );
}

/// ```text
/// load 10 s │ denoise 80 s │ save 8 s     all within generate, or each on its own
/// ```
fn three_parts(is_nested: bool, has_denoise: bool) -> Run {
    let denoised = if has_denoise { 90 } else { 10 } * SECOND;
    let end = denoised + 8 * SECOND;
    let run = RunBuilder::new();
    if is_nested {
        let parts = |s: &mut marey_testing::Within<'_>| {
            s.section("load", 0, 10 * SECOND, |_| {});
            if has_denoise {
                s.section("denoise", 10 * SECOND, denoised, |_| {});
            }
            s.section("save", denoised, end, |_| {});
        };
        return run.section("generate", 0, end, parts).finish(end);
    }
    let mut run = run.section("load", 0, 10 * SECOND, |_| {});
    if has_denoise {
        run = run.section("denoise", 10 * SECOND, denoised, |_| {});
    }
    run.section("save", denoised, end, |_| {}).finish(end)
}

#[test]
fn a_candidate_without_most_of_the_work_is_not_the_same_and_not_better() {
    for is_nested in [false, true] {
        let whole = three_parts(is_nested, true);
        let part = three_parts(is_nested, false);
        let found = one(&whole, &part);
        assert_eq!(found.verdict, Verdict::CannotTell, "{is_nested}");
        let texts: Vec<&str> = found.obstacles.iter().map(|o| o.text.as_str()).collect();
        let place = if is_nested { "generate / " } else { "" };
        // 80 of 98 s, 0.816.
        assert_eq!(
            texts,
            [format!("what took 81.6 % of the baseline's wall time is gone: {place}denoise")]
        );
        assert_eq!(one(&part, &whole).obstacles, []);
    }
}

#[test]
fn programs_without_a_section_in_common_cannot_be_compared() {
    let other = RunBuilder::new()
        .section("training", 0, 500 * SECOND, |s| {
            s.section("epoch", 0, 500 * SECOND, |_| {});
        })
        .finish(500 * SECOND);
    let found = one(&steps(1, 40_000_000), &other);
    assert_eq!(
        found.obstacles[0].text,
        "the sides have no section in common: 5 of the baseline, 2 of the candidate"
    );
}

#[test]
fn a_wall_time_that_went_the_other_way_is_no_evidence() {
    // Steps are a third slower; the loading in front of them, which is there once, takes less: the wall time is shorter.
    let run = |load_s: u64, step_ns: u64, seed| {
        let steps_ns = durations(seed, 50, step_ns);
        let all: u64 = steps_ns.iter().sum();
        let load = load_s * SECOND;
        RunBuilder::new()
            .section("load", 0, load, |_| {})
            .section("denoise", load, load + all, |s| {
                let mut at = load;
                for step_ns in &steps_ns {
                    s.iteration("step", at, at + step_ns, |_| {});
                    at += step_ns;
                }
            })
            .finish(load + all)
    };
    let found = one(&run(4, 6_000_000, 1), &run(1, 8_000_000, 2));
    assert_eq!(found.headline[0].verdict, Verdict::Worse);
    let kinds: Vec<MeasureKind> =
        found.headline.iter().map(|line| found.measures[line.measure].kind).collect();
    assert!(!kinds.contains(&MeasureKind::WallTime), "{kinds:?}");
}
