use marey::RunBuilder;

use super::*;

const FLOOR: Floor = Floor {
    ratio: 1.03,
    absolute: 0.0,
};

/// Noise of about 1 % around 100 that looks drawn at random, the same each time.
const NOISE: [f64; 24] = [
    100.3, 99.1, 100.9, 99.8, 101.2, 100.1, 98.9, 99.6, 100.4, 101.0, 99.3, 100.2, 99.9, 98.8,
    100.7, 100.0, 101.4, 99.5, 100.6, 99.2, 99.7, 100.8, 99.0, 100.5,
];

fn found(values: &[f64]) -> Vec<usize> {
    splits(values, &FLOOR, 1)
}

fn with(change: impl Fn(usize, f64) -> f64) -> Vec<f64> {
    NOISE
        .iter()
        .enumerate()
        .map(|(at, value)| change(at, *value))
        .collect()
}

#[test]
fn a_step_is_found_where_it_is() {
    assert_eq!(
        found(&with(|at, v| if at < 14 { v } else { v * 1.1 })),
        [14]
    );
}

#[test]
fn a_bump_is_two_changes() {
    let bump = with(|at, v| if (8..16).contains(&at) { v * 1.2 } else { v });
    assert_eq!(found(&bump), [8, 16]);
}

#[test]
fn noise_is_no_change() {
    assert_eq!(found(&NOISE), [0; 0]);
    assert_eq!(found(&[5.0; 30]), [0; 0]);
}

#[test]
fn one_slow_run_is_no_change_wherever_it_is() {
    for slow in 0..NOISE.len() {
        let once = with(|at, v| if at == slow { v * 3.0 } else { v });
        assert_eq!(found(&once), [0; 0], "at {slow}");
    }
}

#[test]
fn a_certain_change_below_the_floor_is_none() {
    assert_eq!(
        found(&with(|at, v| if at < 12 { v } else { v * 1.028 })),
        [0; 0]
    );
}

#[test]
fn six_runs_are_too_few_to_be_sure() {
    assert_eq!(found(&[100.0, 101.0, 99.0, 200.0, 201.0, 199.0]), [0; 0]);
}

#[test]
fn a_series_that_creeps_is_told_by_a_line() {
    let creeping = with(|at, v| v * (1.0 + 0.02 * float(at as u64)));
    let ratio = drift_ratio(&creeping, &found(&creeping)).unwrap();
    // 24 points: 23 times 2 % of 100.
    assert!((1.42..1.50).contains(&ratio), "{ratio}");
    let stepping = with(|at, v| if at < 14 { v } else { v * 1.5 });
    assert_eq!(drift_ratio(&stepping, &found(&stepping)), None);
    assert_eq!(drift_ratio(&NOISE, &[]), None);
}

fn runs(values: &[f64]) -> Vec<(String, Run)> {
    let run = |(at, value): (usize, &f64)| {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "around a hundred million"
        )]
        let ns = (value * 1e6) as u64;
        let run = RunBuilder::new()
            .section("decode", 0, ns, |_| {})
            .with(|run| run.info.start_unix_ns = at as u64)
            .finish(ns + 100);
        (format!("run {at}"), run)
    };
    values.iter().enumerate().map(run).collect()
}

#[test]
fn the_trend_of_archived_runs_does_not_depend_on_their_order() {
    let archived = runs(&with(|at, v| if at < 14 { v } else { v * 1.1 }));
    let mut given: Vec<(String, &Run)> = archived
        .iter()
        .map(|(name, run)| (name.clone(), run))
        .collect();
    let found = trend(&given);
    let kinds: Vec<MeasureKind> = found.measures.iter().map(|m| m.kind).collect();
    let expected = [
        MeasureKind::WallTime,
        MeasureKind::SectionTotal,
        MeasureKind::SectionCalls,
    ];
    assert_eq!(kinds, expected);
    let decode = &found.measures[1];
    assert_eq!(decode.points[3].run, "run 3");
    let [change] = decode.changes[..] else {
        panic!("{:?}", decode.changes)
    };
    assert_eq!(
        (change.index, change.verdict, change.confidence),
        (14, Verdict::Worse, Confidence::High)
    );
    assert!(
        change
            .ratio
            .is_some_and(|ratio| (1.09..1.11).contains(&ratio))
    );
    assert_eq!(found.measures[2].changes, []);
    given.reverse();
    assert_eq!(trend(&given), found);
}

#[test]
fn no_runs_have_no_trend() {
    assert_eq!(trend(&[]), Trend::default());
}
