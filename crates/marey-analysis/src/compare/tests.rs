use marey::{MemoryReading, MemorySource, RunBuilder, SeriesInfo, Unit};

use super::*;

const SECOND: u64 = 1_000_000_000;
const GB: f64 = 1e9;

fn against(baseline: &[Run], candidate: &[Run]) -> Comparison {
    compare(baseline, candidate, &CompareOptions::default())
}

fn one(baseline: &Run, candidate: &Run) -> Comparison {
    against(
        std::slice::from_ref(baseline),
        std::slice::from_ref(candidate),
    )
}

fn path(names: &[&str]) -> Subject {
    Subject::Path(names.iter().map(|name| (*name).to_owned()).collect())
}

fn find<'a>(found: &'a Comparison, kind: MeasureKind, subject: &Subject) -> &'a Measure {
    let is_it = |m: &&Measure| m.kind == kind && m.subject == *subject;
    found
        .measures
        .iter()
        .find(is_it)
        .expect("the measure is there")
}

fn verdict(found: &Comparison, kind: MeasureKind, subject: &Subject) -> Verdict {
    find(found, kind, subject).verdict
}

/// Durations around `middle_ns` that stray by up to 4 %, the same each time, other ones for another seed.
fn durations(seed: u64, n: usize, middle_ns: u64) -> Vec<u64> {
    let mut random = random::Random::for_values(seed, &[]);
    let stray = |random: &mut random::Random| middle_ns * random.below(81) as u64 / 1000;
    (0..n)
        .map(|_| middle_ns * 96 / 100 + stray(&mut random))
        .collect()
}

/// `load`, then a loop of steps, one a duration, then `vae_decode` once.
fn generation(steps_ns: &[u64]) -> Run {
    let all: u64 = steps_ns.iter().sum();
    RunBuilder::new()
        .section("load", 0, SECOND, |_| {})
        .section("denoise", SECOND, SECOND + all, |s| {
            let mut at = SECOND;
            for step_ns in steps_ns {
                s.iteration("step", at, at + step_ns, |s| {
                    s.section("transformer", at, at + step_ns - 1000, |_| {});
                });
                at += step_ns;
            }
        })
        .section("vae_decode", SECOND + all, 2 * SECOND + all, |_| {})
        .finish(2 * SECOND + all)
}

fn steps(seed: u64, middle_ns: u64) -> Run {
    generation(&durations(seed, 50, middle_ns))
}

const TRANSFORMER: [&str; 3] = ["denoise", "step", "transformer"];

/// Document 000, before and after the change: the decoder kept its weights on the GPU, which left no room for what streams
/// from the SSD.
///
/// ```text
///                before              after
/// encode         5 s                 5 s
/// denoise        50 × 2 s            50 × 2 s
/// vae_decode     12 × 3.75 s = 45 s  12 × 35.7 s = 428 s
///   sdpa                             12 × 31.7 s = 380 s
/// reads          2.1 GB/s            0.03 GB/s        while vae_decode is open, else 0.1 GB/s
/// GPU            8.2 GB              23.8 GB          at its peak
/// ```
fn better_transformer(is_after: bool, seed: u64) -> Run {
    let decode_ns = if is_after {
        428 * SECOND / 12
    } else {
        45 * SECOND / 12
    };
    let decodes = durations(seed + 7, 12, decode_ns);
    let steps_ns = durations(seed, 50, 2 * SECOND);
    let denoised = 5 * SECOND + steps_ns.iter().sum::<u64>();
    let end = denoised + decodes.iter().sum::<u64>();
    let per_second = if is_after { 0.03 * GB } else { 2.1 * GB };
    let mut read = 0.0;
    let reads: Vec<(u64, f64)> = (0..=end / SECOND)
        .map(|second| {
            let reading = (second * SECOND, read);
            read += if second * SECOND < denoised {
                0.1 * GB
            } else {
                per_second
            };
            reading
        })
        .collect();
    let memory = |at_ns, allocated_bytes| MemoryReading {
        at_ns,
        label: None,
        source: MemorySource::TorchCuda(0),
        allocated_bytes,
        reserved_bytes: Some(allocated_bytes + 300_000_000),
        peak_bytes: Some(allocated_bytes),
        session: None,
    };
    let peak = if is_after {
        23_800_000_000
    } else {
        8_200_000_000
    };
    RunBuilder::new()
        .section("generate", 0, end, |s| {
            s.section("encode", 0, 5 * SECOND, |_| {});
            s.section("denoise", 5 * SECOND, denoised, |s| {
                let mut at = 5 * SECOND;
                for step_ns in &steps_ns {
                    s.iteration("step", at, at + step_ns, |_| {});
                    at += step_ns;
                }
            });
            let mut at = denoised;
            for decode_ns in &decodes {
                s.section("vae_decode", at, at + decode_ns, |s| {
                    if is_after {
                        s.section("sdpa", at, at + decode_ns * 380 / 428, |_| {});
                    }
                });
                at += decode_ns;
            }
        })
        .series(
            SeriesInfo::cumulative("process.disk.read", "", Unit::Bytes),
            &reads,
        )
        .memory(memory(3 * SECOND, 6_000_000_000))
        .memory(memory(end - SECOND, peak))
        .finish(end)
}

#[test]
fn the_story_of_document_000_is_in_the_first_three_lines() {
    let found = one(&better_transformer(false, 1), &better_transformer(true, 2));
    assert_eq!(found.verdict, Verdict::Worse);
    let [time, memory, reads] = &found.headline[..3] else {
        panic!("{:?}", found.headline)
    };
    let decode = path(&["generate", "vae_decode"]);
    let seconds = |ns: Option<f64>| (ns.unwrap() / 1e9).round();
    assert_eq!((time.what, &time.subject), ("slower", &decode));
    let total = &time.figures[0];
    assert_eq!(total.kind, MeasureKind::SectionTotal);
    assert!((44.0..=46.0).contains(&seconds(total.baseline)));
    assert!((420.0..=436.0).contains(&seconds(total.candidate)));
    // 12 calls on both sides, and what is new in them.
    assert_eq!(time.figures[1].kind, MeasureKind::SectionCalls);
    assert_eq!(
        (time.figures[1].baseline, time.figures[1].candidate),
        (Some(12.0), Some(12.0))
    );
    let overhead = &time.figures[2];
    assert_eq!(overhead.subject, path(&["generate", "vae_decode", "sdpa"]));
    assert_eq!(overhead.baseline, None);
    assert!((372.0..=388.0).contains(&seconds(overhead.candidate)));

    assert_eq!(
        (memory.what, &memory.subject),
        ("more memory", &Subject::Memory("cuda:0".into()))
    );
    let peak = &memory.figures[0];
    assert_eq!(
        (peak.kind, peak.baseline, peak.candidate),
        (MeasureKind::MemoryPeak, Some(8.2e9), Some(23.8e9))
    );

    assert_eq!(
        (reads.what, &reads.subject),
        ("reads from disk starve", &decode)
    );
    let rate = &reads.figures[0];
    assert_eq!(rate.kind, MeasureKind::SectionReadRate);
    // A reading a second: the first one that is only partly within the section counts for that part.
    assert!(
        (2.0e9..=2.1e9).contains(&rate.baseline.unwrap()),
        "{rate:?}"
    );
    assert!(
        (0.030e9..=0.031e9).contains(&rate.candidate.unwrap()),
        "{rate:?}"
    );
}

#[test]
fn what_got_faster_is_told_the_same_way_the_other_way_round() {
    let found = one(&better_transformer(true, 1), &better_transformer(false, 2));
    assert_eq!(found.verdict, Verdict::Better);
    let told: Vec<&str> = found.headline[..3].iter().map(|line| line.what).collect();
    assert_eq!(told, ["faster", "less memory", "reads from disk flow"]);
}

#[test]
fn a_run_does_not_differ_from_itself() {
    for run in [steps(1, 40_000_000), better_transformer(true, 1)] {
        let found = one(&run, &run);
        assert!(
            found.is_empty(),
            "{:?}",
            found.differences().collect::<Vec<_>>()
        );
        assert_eq!((found.verdict, found.headline.len()), (Verdict::Same, 0));
        let repeats = vec![run.clone(), steps(2, 40_000_000), steps(3, 40_000_000)];
        let found = against(&repeats, &repeats);
        assert!(
            found.is_empty(),
            "{:?}",
            found.differences().collect::<Vec<_>>()
        );
        assert_eq!(found.verdict, Verdict::Same);
    }
}

#[test]
fn steps_that_are_slower_by_a_tenth_are_worse_in_single_runs() {
    let found = one(&steps(1, 40_000_000), &steps(2, 44_000_000));
    assert_eq!(found.basis, Basis::Calls);
    let turn = find(&found, MeasureKind::Turn, &Subject::Loop("step".into()));
    assert_eq!((turn.verdict, turn.basis), (Verdict::Worse, Basis::Calls));
    let change = turn.change.unwrap();
    assert!((1.08..1.12).contains(&change.ratio.unwrap()), "{change:?}");
    let (low, high) = change.interval.unwrap();
    assert!(
        low > 1.07 && low < 1.1 && high > 1.1 && high < 1.13,
        "{change:?}"
    );
    // The section around the loop is there once: it says nothing by itself.
    assert_eq!(
        verdict(&found, MeasureKind::SectionTotal, &path(&["denoise"])),
        Verdict::CannotTell
    );
    let total = find(&found, MeasureKind::SectionTotal, &path(&TRANSFORMER));
    assert_eq!(total.verdict, Verdict::Worse);
    // 50 steps of 4 ms more.
    assert!((0.15e9..0.25e9).contains(&total.impact_ns.unwrap()));
    assert_eq!(found.headline[0].subject, path(&TRANSFORMER));
    assert_eq!(found.verdict, Verdict::Worse);
}

#[test]
fn steps_that_stray_and_do_not_differ_are_the_same() {
    let found = one(&steps(1, 40_000_000), &steps(2, 40_000_000));
    assert_eq!(found.verdict, Verdict::Same);
    let turn = find(&found, MeasureKind::Turn, &Subject::Loop("step".into()));
    assert_eq!(turn.verdict, Verdict::Same, "{turn:?}");
    assert_eq!(found.headline, []);
}

#[test]
fn a_few_calls_that_stray_widely_cannot_tell() {
    let few = |ms: [u64; 4]| generation(&ms.map(|ms| ms * 1_000_000));
    let found = one(
        &few([900, 1000, 1300, 1100]),
        &few([1000, 1250, 1150, 1400]),
    );
    let turn = find(&found, MeasureKind::Turn, &Subject::Loop("step".into()));
    assert_eq!(turn.verdict, Verdict::CannotTell, "{turn:?}");
    assert_eq!(found.verdict, Verdict::Same);
}

#[test]
fn what_is_done_once_differs_when_it_takes_twice_as_long_and_a_second() {
    let once = |ns| {
        RunBuilder::new()
            .section("load", 0, ns, |_| {})
            .finish(100 * SECOND)
    };
    let load = path(&["load"]);
    let of = |a, b| verdict(&one(&once(a), &once(b)), MeasureKind::SectionTotal, &load);
    assert_eq!(of(10 * SECOND, 19 * SECOND), Verdict::CannotTell);
    assert_eq!(of(10 * SECOND, 21 * SECOND), Verdict::Worse);
    assert_eq!(of(21 * SECOND, 10 * SECOND), Verdict::Better);
    // Three times as long, but not by a second.
    let short = |ns| {
        RunBuilder::new()
            .section("load", 0, ns, |_| {})
            .finish(2 * SECOND)
    };
    let found = one(&short(SECOND * 2 / 5), &short(SECOND * 6 / 5));
    assert_eq!(
        verdict(&found, MeasureKind::SectionTotal, &load),
        Verdict::CannotTell
    );
}

#[test]
fn repeats_find_what_single_runs_cannot_tell() {
    let repeats = |seed, ms: [u64; 4]| -> Vec<Run> {
        let run = |(at, ms): (usize, &u64)| steps(seed + at as u64, *ms * 1_000_000);
        ms.iter().enumerate().map(run).collect()
    };
    let (before, after) = (repeats(1, [40, 41, 40, 41]), repeats(9, [44, 45, 44, 44]));
    let found = against(&before, &after);
    assert_eq!(
        (found.basis, found.verdict),
        (Basis::Repeats, Verdict::Worse)
    );
    assert_eq!(
        verdict(&found, MeasureKind::SectionTotal, &path(&["denoise"])),
        Verdict::Worse
    );
    let turn = find(&found, MeasureKind::Turn, &Subject::Loop("step".into()));
    assert_eq!((turn.verdict, turn.basis), (Verdict::Worse, Basis::Repeats));
    assert_eq!(turn.baseline.unwrap().n_samples, 4);
    assert_eq!(
        verdict(&found, MeasureKind::SectionTotal, &path(&["load"])),
        Verdict::Same
    );
}

#[test]
fn the_order_of_repeats_changes_nothing() {
    let mut before: Vec<Run> = (0..4).map(|seed| steps(seed, 40_000_000)).collect();
    let mut after: Vec<Run> = (4..7).map(|seed| better_transformer(true, seed)).collect();
    after.push(steps(9, 41_000_000));
    let found = against(&before, &after);
    before.reverse();
    after.swap(0, 3);
    after.swap(1, 2);
    assert_eq!(against(&before, &after), found);
    // Also where a side has one run, and the calls of the other are put together.
    let single = &before[..1];
    let found = against(single, &after);
    after.reverse();
    assert_eq!(against(single, &after), found);
}

#[test]
fn sides_that_change_places_have_opposite_verdicts() {
    let runs = [
        vec![steps(1, 40_000_000)],
        vec![steps(2, 44_000_000)],
        vec![better_transformer(false, 3)],
        vec![better_transformer(true, 4)],
        (5..8).map(|seed| steps(seed, 42_000_000)).collect(),
        (8..12).map(|seed| steps(seed, 40_000_000)).collect(),
    ];
    for baseline in &runs {
        for candidate in &runs {
            let (there, back) = (against(baseline, candidate), against(candidate, baseline));
            assert_eq!(there.measures.len(), back.measures.len());
            for (one, other) in there.measures.iter().zip(&back.measures) {
                assert_opposite(one, other);
            }
        }
    }
}

fn assert_opposite(one: &Measure, other: &Measure) {
    let opposite = match one.verdict {
        Verdict::Worse => Verdict::Better,
        Verdict::Better => Verdict::Worse,
        Verdict::New => Verdict::Gone,
        Verdict::Gone => Verdict::New,
        same => same,
    };
    assert_eq!(other.verdict, opposite, "{one:?}\n{other:?}");
    let is_inverse = |a: f64, b: f64| (a * b - 1.0).abs() < 1e-9;
    if let (Some(change), Some(back)) = (one.change, other.change) {
        if let (Some(ratio), Some(inverse)) = (change.ratio, back.ratio) {
            assert!(is_inverse(ratio, inverse), "{one:?}");
        }
        if let (Some((low, high)), Some((back_low, back_high))) = (change.interval, back.interval) {
            assert!(
                is_inverse(low, back_high) && is_inverse(high, back_low),
                "{one:?}"
            );
        }
        let close =
            |a: Option<f64>, b: Option<f64>| a.zip(b).is_none_or(|(a, b)| (a - b).abs() < 1e-9);
        assert!(
            close(change.p_value, back.p_value)
                && close(change.adjusted_p_value, back.adjusted_p_value)
        );
    }
}

#[test]
fn what_one_side_does_not_have_is_absent_and_not_nothing() {
    let without = RunBuilder::new()
        .section("a", 0, 90 * SECOND, |_| {})
        .finish(100 * SECOND);
    let with = RunBuilder::new()
        .section("a", 0, 50 * SECOND, |_| {})
        .section("b", 50 * SECOND, 95 * SECOND, |s| {
            s.section("c", 50 * SECOND, 60 * SECOND, |_| {});
        })
        .with(|run| {
            run.memory.push(MemoryReading {
                at_ns: 5,
                label: None,
                source: MemorySource::Process,
                allocated_bytes: 1 << 30,
                reserved_bytes: None,
                peak_bytes: None,
                session: None,
            });
        })
        .finish(100 * SECOND);
    let found = one(&without, &with);
    let peak = find(
        &found,
        MeasureKind::MemoryPeak,
        &Subject::Memory("process".into()),
    );
    assert_eq!(
        (peak.baseline, peak.change, peak.verdict),
        (None, None, Verdict::New)
    );
    assert!(
        found
            .measures
            .iter()
            .all(|m| m.kind != MeasureKind::Fragmentation)
    );
    // `c` is within `b`, whose line tells of it.
    let new: Vec<&Subject> = found
        .headline
        .iter()
        .filter(|h| h.verdict == Verdict::New)
        .map(|h| &h.subject)
        .collect();
    assert_eq!(new, [&path(&["b"])]);
    let gone = one(&with, &without);
    assert_eq!(
        verdict(&gone, MeasureKind::SectionTotal, &path(&["b"])),
        Verdict::Gone
    );
}

#[test]
fn a_renamed_section_is_compared_with_what_it_was() {
    let named = |name: &str, ns: u64| {
        RunBuilder::new()
            .section("generate", 0, 20 * ns, |s| {
                for at in 0..20 {
                    s.section(name, at * ns, (at + 1) * ns, |s| {
                        s.section("conv", at * ns, at * ns + ns / 2, |_| {});
                    });
                }
            })
            .finish(20 * ns)
    };
    let found = one(&named("vae_decode", SECOND), &named("decode", 2 * SECOND));
    let row = found
        .sections
        .iter()
        .find(|row| row.presence == Verdict::Renamed)
        .unwrap();
    assert_eq!(row.path, ["generate", "vae_decode"]);
    assert_eq!(
        row.candidate_path.as_deref().unwrap(),
        ["generate", "decode"]
    );
    let conv = find(
        &found,
        MeasureKind::SectionPerCall,
        &path(&["generate", "vae_decode", "conv"]),
    );
    assert_eq!(
        (
            conv.verdict,
            conv.baseline.unwrap().value,
            conv.candidate.unwrap().value
        ),
        (Verdict::Worse, 0.5e9, 1e9)
    );
}

#[test]
fn fewer_calls_take_less_time_and_the_calls_are_told_apart() {
    let (before, after) = (
        generation(&durations(1, 50, 40_000_000)),
        generation(&durations(2, 30, 40_000_000)),
    );
    let found = one(&before, &after);
    let transformer = path(&TRANSFORMER);
    assert_eq!(
        verdict(&found, MeasureKind::SectionCalls, &transformer),
        Verdict::Different
    );
    assert_eq!(
        verdict(&found, MeasureKind::SectionPerCall, &transformer),
        Verdict::Same
    );
    let total = find(&found, MeasureKind::SectionTotal, &transformer);
    assert_eq!(
        (total.verdict, total.reason.as_str()),
        (Verdict::Better, "another number of calls")
    );
}

#[test]
fn a_run_that_was_killed_is_not_faster() {
    let whole = generation(&durations(1, 50, SECOND));
    let mut killed = generation(&durations(2, 20, SECOND));
    killed.status = Status::Killed(9);
    let found = one(&whole, &killed);
    assert_eq!(
        verdict(&found, MeasureKind::WallTime, &Subject::Run),
        Verdict::CannotTell
    );
    assert_eq!(
        verdict(&found, MeasureKind::SectionTotal, &path(&TRANSFORMER)),
        Verdict::CannotTell
    );
    assert_eq!(
        verdict(&found, MeasureKind::Turn, &Subject::Loop("step".into())),
        Verdict::Same
    );
    // Killed at 22 s: a second of loading, 20 steps of a second, a second more.
    assert_eq!(found.verdict, Verdict::Worse);
    let [obstacle] = &found.obstacles[..] else {
        panic!("{:?}", found.obstacles)
    };
    assert_eq!(obstacle.verdict, Verdict::Worse);
    let (start, end) = obstacle.text.split_once(" after ").unwrap();
    assert_eq!(start, "the candidate was killed by SIGKILL (9)");
    assert!(
        end.starts_with('2') && end.ends_with(" s, the baseline finished"),
        "{end}"
    );
    // A baseline that was killed says nothing against the candidate.
    let found_back = one(&killed, &whole);
    assert_eq!(found_back.verdict, Verdict::CannotTell);
    assert_eq!(found_back.obstacles[0].verdict, Verdict::CannotTell);
    // Two that were killed are alike.
    assert_eq!(one(&killed, &killed).obstacles, []);
    let mut going_on = killed.clone();
    going_on.status = Status::Running;
    assert_eq!(one(&whole, &going_on).verdict, Verdict::CannotTell);
    assert!(
        found
            .notes
            .iter()
            .any(|note| note.contains("1 of 1 runs of the candidate did not end"))
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
        let parts = |s: &mut marey::Within<'_>| {
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
        // 80 of 98 s.
        assert_eq!(
            texts,
            [format!(
                "what took 82 % of the baseline's wall time is gone: {place}denoise"
            )]
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
    let kinds: Vec<MeasureKind> = found.headline[0].figures.iter().map(|f| f.kind).collect();
    assert!(!kinds.contains(&MeasureKind::WallTime), "{kinds:?}");
}

#[test]
fn memory_within_its_floor_is_the_same() {
    let with_peak = |mib: u64| {
        let reading = MemoryReading {
            at_ns: 5,
            label: None,
            source: MemorySource::TorchCuda(0),
            allocated_bytes: mib << 20,
            reserved_bytes: None,
            peak_bytes: None,
            session: None,
        };
        RunBuilder::new().memory(reading).finish(10)
    };
    let of = |a, b| {
        let found = one(&with_peak(a), &with_peak(b));
        verdict(
            &found,
            MeasureKind::MemoryPeak,
            &Subject::Memory("cuda:0".into()),
        )
    };
    assert_eq!(of(8000, 8300), Verdict::Same, "3.75 %");
    assert_eq!(of(500, 560), Verdict::Same, "12 %, but 60 MiB");
    assert_eq!(of(8000, 8500), Verdict::Worse);
    assert_eq!(of(8500, 8000), Verdict::Better);
}

#[test]
fn reads_that_stop_while_nothing_gets_slower_are_no_harm() {
    let with_reads = |per_second: f64| {
        let readings: Vec<(u64, f64)> = (0..=20_u32)
            .map(|s| (u64::from(s) * SECOND, f64::from(s) * per_second))
            .collect();
        RunBuilder::new()
            .section("load", 0, 20 * SECOND, |_| {})
            .series(
                SeriesInfo::cumulative("process.disk.read", "", Unit::Bytes),
                &readings,
            )
            .finish(20 * SECOND)
    };
    let found = one(&with_reads(GB), &with_reads(0.0));
    let rate = find(&found, MeasureKind::SectionReadRate, &path(&["load"]));
    assert_eq!(
        (rate.verdict, rate.change.unwrap().ratio),
        (Verdict::Different, Some(0.0))
    );
    assert_eq!((found.verdict, found.headline.len()), (Verdict::Same, 0));
}

#[test]
fn loading_that_found_its_files_in_memory_before_is_not_slower() {
    // 3 s from the page cache, 9 s from the disk; nothing else differs.
    let loading = |seconds: u64, read: f64| {
        let series = SeriesInfo::cumulative("process.disk.read", "", Unit::Bytes);
        RunBuilder::new()
            .section("load", 0, seconds * SECOND, |_| {})
            .series(series, &[(0, 0.0), (seconds * SECOND, read)])
            .finish((seconds + 2) * SECOND)
    };
    let of = |a: &Run, b: &Run| {
        let found = one(a, b);
        let load = verdict(&found, MeasureKind::SectionTotal, &path(&["load"]));
        (
            load,
            verdict(&found, MeasureKind::WallTime, &Subject::Run),
            found.verdict,
        )
    };
    let (warm, cold) = (loading(3, 0.0), loading(9, 5e9));
    let open = (Verdict::CannotTell, Verdict::CannotTell, Verdict::Same);
    assert_eq!((of(&warm, &cold), of(&cold, &warm)), (open, open));
    let slow = loading(9, 0.0);
    assert_eq!(
        of(&warm, &slow),
        (Verdict::Worse, Verdict::Worse, Verdict::Worse)
    );
}

#[test]
fn runs_of_nothing_and_of_extremes_compare_without_a_panic() {
    let empty = Run::default();
    let none: [Run; 0] = [];
    let reads = SeriesInfo::cumulative("process.disk.read", "", Unit::Bytes);
    let extreme = RunBuilder::new()
        .section("a", 0, u64::MAX, |s| {
            s.section("b", 5, 5, |_| {});
            s.iteration("c", 0, u64::MAX, |_| {});
        })
        .series(
            reads,
            &[
                (0, f64::NAN),
                (1, 0.0),
                (2, f64::MAX),
                (u64::MAX, f64::INFINITY),
            ],
        )
        .finish(u64::MAX);
    let mut without_wall = extreme.clone();
    without_wall.wall_ns = 0;
    let plain = steps(1, 40_000_000);
    let runs = [&empty, &plain, &extreme, &without_wall];
    for (a, b) in runs.iter().flat_map(|a| runs.iter().map(move |b| (*a, *b))) {
        let found = one(a, b);
        let values = found
            .measures
            .iter()
            .flat_map(|m| [m.baseline, m.candidate]);
        assert!(
            values
                .flatten()
                .all(|v| v.value.is_finite() && v.min <= v.max)
        );
        assert!(!std::ptr::eq(a, b) || found.is_empty());
    }
    let found = against(&none, std::slice::from_ref(&plain));
    assert_eq!(
        (found.verdict, found.environment.len()),
        (Verdict::CannotTell, 0)
    );
    assert_eq!(against(&none, &none).verdict, Verdict::CannotTell);
}

const DOCUMENT: &str = include_str!("../../../../docs/comparing.md");

#[test]
fn the_document_has_the_floors_of_the_code() {
    // Wherever a line of it ends.
    let document = DOCUMENT.split_whitespace().collect::<Vec<_>>().join(" ");
    let options = CompareOptions::default();
    let percent = |ratio: f64| format!("{:.0} %", ratio * 100.0);
    let seconds = floors::ONCE_NS / 1e9;
    for sentence in [
        format!(
            "a factor of {} and {seconds} s more or less; for the wall time, a factor of {} and {seconds} s.",
            floors::ONCE_RATIO,
            floors::WALL_RATIO
        ),
        format!(
            "Changes of time below {} are the same, with repeats below {}, however",
            percent(options.min_change_ratio),
            percent(options.min_repeated_change_ratio)
        ),
        format!(
            "less than {} of the run on both sides are not tested",
            percent(options.min_share_ratio)
        ),
        format!(
            "{:.1} % is taken off for it",
            (floors::BETWEEN_RUNS - 1.0) * 100.0
        ),
        format!(
            "gone from the candidate took more than {} of the baseline's wall time",
            percent(obstacles::GONE_SHARE)
        ),
        format!(
            "within a section that takes {} of it or more",
            percent(obstacles::STANDS_FOR_RUN)
        ),
    ] {
        assert!(document.contains(&sentence), "{sentence}");
    }
}
