use marey_testing::RunBuilder;

use super::*;

fn runs(values_ms: &[u64]) -> Vec<(String, Run)> {
    let run = |(at, value_ms): (usize, &u64)| {
        let ns = value_ms * 1_000_000;
        let run = RunBuilder::new()
            .section("decode", 0, ns, |_| {})
            .with(|run| run.info.start_unix_ns = at as u64)
            .finish(ns + 100);
        (format!("run {at}"), run)
    };
    values_ms.iter().enumerate().map(run).collect()
}

#[test]
fn the_trend_of_archived_runs_does_not_depend_on_their_order() {
    let archived = runs(&[100, 101, 99, 110]);
    let mut given: Vec<(String, &Run)> =
        archived.iter().map(|(name, run)| (name.clone(), run)).collect();
    let found = trend(&given);
    let kinds: Vec<MeasureKind> = found.measures.iter().map(|m| m.kind).collect();
    let expected = [MeasureKind::WallTime, MeasureKind::SectionTotal, MeasureKind::SectionCalls];
    assert_eq!(kinds, expected);
    let decode = found.measures[1].points.iter();
    let decode: Vec<(&str, f64)> = decode.map(|p| (p.run.as_str(), p.value)).collect();
    let expected = [("run 0", 100e6), ("run 1", 101e6), ("run 2", 99e6), ("run 3", 110e6)];
    assert_eq!(decode, expected);
    given.reverse();
    assert_eq!(trend(&given), found);
}

#[test]
fn no_runs_have_no_trend() {
    assert_eq!(trend(&[]), Trend::default());
}
