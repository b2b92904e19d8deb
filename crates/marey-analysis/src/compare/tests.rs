use marey::{MemoryReading, MemorySource, Resources, SeriesInfo, Spent, Unit};
use marey_testing::RunBuilder;

use super::*;
use crate::stats::whole;

mod ends;
mod once;
mod story;

use story::better_transformer;

const SECOND: u64 = 1_000_000_000;
const GB: f64 = 1e9;

fn against(baseline: &[Run], candidate: &[Run]) -> Comparison {
    compare(baseline, candidate, &CompareOptions::default())
}

pub(super) fn one(baseline: &Run, candidate: &Run) -> Comparison {
    against(std::slice::from_ref(baseline), std::slice::from_ref(candidate))
}

pub(super) fn path(names: &[&str]) -> Subject {
    Subject::Path(names.iter().map(|name| (*name).to_owned()).collect())
}

fn find<'a>(found: &'a Comparison, kind: MeasureKind, subject: &Subject) -> &'a Measure {
    let is_it = |m: &&Measure| m.kind == kind && m.subject == *subject;
    found.measures.iter().find(is_it).expect("the measure is there")
}

pub(super) fn verdict(found: &Comparison, kind: MeasureKind, subject: &Subject) -> Verdict {
    find(found, kind, subject).verdict
}

/// Durations around `middle_ns` that stray by up to 4 %, the same each time, other ones for another seed.
fn durations(seed: u64, n: usize, middle_ns: u64) -> Vec<u64> {
    let mut random = random::Random::for_values(seed, &[]);
    let stray = |random: &mut random::Random| middle_ns * random.below(81) as u64 / 1000;
    (0..n).map(|_| middle_ns * 96 / 100 + stray(&mut random)).collect()
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

/// A section of which the process read so many bytes.
fn reads(bytes: f64) -> Resources {
    let read_bytes = Some(whole(bytes));
    let process = Spent { read_bytes, ..Spent::default() };
    Resources { process, ..Resources::default() }
}

#[test]
fn a_run_does_not_differ_from_itself() {
    for run in [steps(1, 40_000_000), better_transformer(true, 1)] {
        let found = one(&run, &run);
        assert!(found.is_empty(), "{:?}", found.differences().collect::<Vec<_>>());
        assert_eq!((found.verdict, found.headline.len()), (Verdict::Same, 0));
        let repeats = vec![run.clone(), steps(2, 40_000_000), steps(3, 40_000_000)];
        let found = against(&repeats, &repeats);
        assert!(found.is_empty(), "{:?}", found.differences().collect::<Vec<_>>());
        assert_eq!(found.verdict, Verdict::Same);
    }
}

#[test]
fn steps_that_are_slower_by_a_tenth_are_worse_in_single_runs() {
    let found = one(&steps(1, 40_000_000), &steps(2, 44_000_000));
    assert_eq!(found.basis, Basis::Calls);
    let turn = find(&found, MeasureKind::Iteration, &Subject::Loop("step".into()));
    assert_eq!((turn.verdict, turn.basis), (Verdict::Worse, Basis::Calls));
    let change = turn.change.unwrap();
    assert!((1.08..1.12).contains(&change.ratio.unwrap()), "{change:?}");
    let (low, high) = change.interval.unwrap();
    assert!(low > 1.07 && low < 1.1 && high > 1.1 && high < 1.13, "{change:?}");
    // The section around the loop is there once: it says nothing by itself.
    assert_eq!(
        verdict(&found, MeasureKind::SectionTotal, &path(&["denoise"])),
        Verdict::CannotTell
    );
    let total = find(&found, MeasureKind::SectionTotal, &path(&TRANSFORMER));
    assert_eq!(total.verdict, Verdict::Worse);
    // 50 steps of 4 ms more.
    assert!((0.15e9..0.25e9).contains(&total.impact_ns.unwrap()));
    assert_eq!(found.measures[found.headline[0].measure].subject, path(&TRANSFORMER));
    assert_eq!(found.verdict, Verdict::Worse);
}

#[test]
fn steps_that_stray_and_do_not_differ_are_the_same() {
    let found = one(&steps(1, 40_000_000), &steps(2, 40_000_000));
    assert_eq!(found.verdict, Verdict::Same);
    let turn = find(&found, MeasureKind::Iteration, &Subject::Loop("step".into()));
    assert_eq!(turn.verdict, Verdict::Same, "{turn:?}");
    assert_eq!(found.headline, []);
}

#[test]
fn a_few_calls_that_stray_widely_cannot_tell() {
    let few = |ms: [u64; 4]| generation(&ms.map(|ms| ms * 1_000_000));
    let found = one(&few([900, 1000, 1300, 1100]), &few([1000, 1250, 1150, 1400]));
    let turn = find(&found, MeasureKind::Iteration, &Subject::Loop("step".into()));
    assert_eq!(turn.verdict, Verdict::CannotTell, "{turn:?}");
    assert_eq!(found.verdict, Verdict::Same);
}

#[test]
fn what_is_done_once_differs_when_it_takes_twice_as_long_and_a_second() {
    let once = |ns| RunBuilder::new().section("load", 0, ns, |_| {}).finish(100 * SECOND);
    let load = path(&["load"]);
    let of = |a, b| verdict(&one(&once(a), &once(b)), MeasureKind::SectionTotal, &load);
    assert_eq!(of(10 * SECOND, 19 * SECOND), Verdict::CannotTell);
    assert_eq!(of(10 * SECOND, 21 * SECOND), Verdict::Worse);
    assert_eq!(of(21 * SECOND, 10 * SECOND), Verdict::Better);
    // Three times as long, but not by a second.
    let short = |ns| RunBuilder::new().section("load", 0, ns, |_| {}).finish(2 * SECOND);
    let found = one(&short(SECOND * 2 / 5), &short(SECOND * 6 / 5));
    assert_eq!(verdict(&found, MeasureKind::SectionTotal, &load), Verdict::CannotTell);
}

#[test]
fn repeats_find_what_single_runs_cannot_tell() {
    let repeats = |seed, ms: [u64; 4]| -> Vec<Run> {
        let run = |(at, ms): (usize, &u64)| steps(seed + at as u64, *ms * 1_000_000);
        ms.iter().enumerate().map(run).collect()
    };
    let (before, after) = (repeats(1, [40, 41, 40, 41]), repeats(9, [44, 45, 44, 44]));
    let found = against(&before, &after);
    assert_eq!((found.basis, found.verdict), (Basis::Repeats, Verdict::Worse));
    assert_eq!(verdict(&found, MeasureKind::SectionTotal, &path(&["denoise"])), Verdict::Worse);
    let turn = find(&found, MeasureKind::Iteration, &Subject::Loop("step".into()));
    assert_eq!((turn.verdict, turn.basis), (Verdict::Worse, Basis::Repeats));
    assert_eq!(turn.baseline.unwrap().n_samples, 4);
    assert_eq!(verdict(&found, MeasureKind::SectionTotal, &path(&["load"])), Verdict::Same);
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
            assert!(is_inverse(low, back_high) && is_inverse(high, back_low), "{one:?}");
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
    let without = RunBuilder::new().section("a", 0, 90 * SECOND, |_| {}).finish(100 * SECOND);
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
    let peak = find(&found, MeasureKind::MemoryPeak, &Subject::Memory("process".into()));
    assert_eq!((peak.baseline, peak.change, peak.verdict), (None, None, Verdict::New));
    assert!(found.measures.iter().all(|m| m.kind != MeasureKind::Fragmentation));
    // `c` is within `b`, whose line tells of it.
    let new = found.headline.iter().filter(|line| line.verdict == Verdict::New);
    let new: Vec<&Subject> = new.map(|line| &found.measures[line.measure].subject).collect();
    assert_eq!(new, [&path(&["b"])]);
    let gone = one(&with, &without);
    assert_eq!(verdict(&gone, MeasureKind::SectionTotal, &path(&["b"])), Verdict::Gone);
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
    let row = found.sections.iter().find(|row| row.presence == Verdict::Renamed).unwrap();
    assert_eq!(row.path, ["generate", "vae_decode"]);
    assert_eq!(row.candidate_path.as_deref().unwrap(), ["generate", "decode"]);
    let conv =
        find(&found, MeasureKind::SectionPerCall, &path(&["generate", "vae_decode", "conv"]));
    assert_eq!(
        (conv.verdict, conv.baseline.unwrap().value, conv.candidate.unwrap().value),
        (Verdict::Worse, 0.5e9, 1e9)
    );
}

#[test]
fn fewer_calls_take_less_time_and_the_calls_are_told_apart() {
    let (before, after) =
        (generation(&durations(1, 50, 40_000_000)), generation(&durations(2, 30, 40_000_000)));
    let found = one(&before, &after);
    let transformer = path(&TRANSFORMER);
    assert_eq!(verdict(&found, MeasureKind::SectionCalls, &transformer), Verdict::Different);
    assert_eq!(verdict(&found, MeasureKind::SectionPerCall, &transformer), Verdict::Same);
    let total = find(&found, MeasureKind::SectionTotal, &transformer);
    assert_eq!(
        (total.verdict, total.reason.as_str()),
        (Verdict::Better, "another number of calls")
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
        .series(reads, &[(0, f64::NAN), (1, 0.0), (2, f64::MAX), (u64::MAX, f64::INFINITY)])
        .finish(u64::MAX);
    let mut without_wall = extreme.clone();
    without_wall.wall_ns = 0;
    let plain = steps(1, 40_000_000);
    let runs = [&empty, &plain, &extreme, &without_wall];
    for (a, b) in runs.iter().flat_map(|a| runs.iter().map(move |b| (*a, *b))) {
        let found = one(a, b);
        let values = found.measures.iter().flat_map(|m| [m.baseline, m.candidate]);
        assert!(values.flatten().all(|v| v.value.is_finite() && v.min <= v.max));
        assert!(!std::ptr::eq(a, b) || found.is_empty());
    }
    let found = against(&none, std::slice::from_ref(&plain));
    assert_eq!((found.verdict, found.environment.len()), (Verdict::CannotTell, 0));
    assert_eq!(against(&none, &none).verdict, Verdict::CannotTell);
}
