//! Limits, and what meets them.

use marey_analysis::compare::{Change, Measure, Observed, SectionMatch, Side};

use super::*;

#[track_caller]
fn parsed(given: &str) -> FailOn {
    given.parse().unwrap()
}

/// A measure that went from 1000 to `candidate`.
fn measure(kind: MeasureKind, subject: Subject, candidate: f64, verdict: Verdict) -> Measure {
    let observed = |value| Observed { value, min: value, max: value, n_samples: 5 };
    Measure {
        kind,
        subject,
        unit: kind.unit(),
        better: kind.better(),
        baseline: Some(observed(1000.0)),
        candidate: Some(observed(candidate)),
        change: Some(Change {
            difference: candidate - 1000.0,
            ratio: Some(candidate / 1000.0),
            ..Change::default()
        }),
        basis: marey_analysis::compare::Basis::Repeats,
        verdict,
        confidence: marey_analysis::findings::Confidence::High,
        reason: String::new(),
        impact_ns: (kind.area() == Area::Time).then_some(candidate - 1000.0),
    }
}

fn comparison(verdict: Verdict, measures: Vec<Measure>) -> Comparison {
    Comparison {
        obstacles: vec![],
        verdict,
        measures,
        baseline: Side { wall_ns: Some(10_000.0), ..Side::default() },
        sections: vec![SectionMatch {
            path: vec!["generate".into(), "vae_decode".into()],
            candidate_path: None,
            presence: Verdict::Same,
            is_loop: false,
        }],
        ..marey_analysis::compare(&[], &[], &CompareOptions::default())
    }
}

fn path() -> Subject {
    Subject::Path(vec!["generate".into(), "vae_decode".into()])
}

#[track_caller]
fn assert_met(given: &str, comparison: &Comparison, expected: &[usize]) {
    let criterion = parsed(given).judge(comparison);
    assert_eq!(criterion.measures, expected, "{given}");
    assert_eq!(criterion.is_met, !expected.is_empty(), "{given}");
}

#[test]
fn a_limit_is_for_what_it_names_and_for_the_worse_only() {
    use MeasureKind as K;
    let found = comparison(
        Verdict::Worse,
        vec![
            measure(K::SectionTotal, path(), 1040.0, Verdict::Worse),
            measure(K::MemoryPeak, Subject::Memory("cuda:0".into()), 1200.0, Verdict::Worse),
            measure(K::FramesPerSecond, Subject::Rate("pixel".into()), 900.0, Verdict::Worse),
            measure(K::SectionPerCall, path(), 800.0, Verdict::Better),
        ],
    );
    assert_met("worse", &found, &[0, 1, 2]);
    assert_met("section:vae_decode>3%", &found, &[0]);
    assert_met("section:generate/vae_decode > 3 %", &found, &[0]);
    assert_met("section:vae_decode>4%", &found, &[]);
    assert_met("memory>10%", &found, &[1]);
    assert_met("memory_peak>19.9%", &found, &[1]);
    assert_met("memory>20%", &found, &[]);
    assert_met("generation>9%", &found, &[2]);
    assert_met("generation>10%", &found, &[]);
    assert_met("never", &found, &[]);
    assert_met("any-change", &found, &[0, 1, 2, 3]);
}

#[test]
fn time_is_what_a_run_gets_longer_by() {
    use MeasureKind as K;
    // 1000 of 10 000 is the section: 400 more are 4 % of the run.
    let section = measure(K::SectionTotal, path(), 1400.0, Verdict::Worse);
    let found = comparison(Verdict::Worse, vec![section]);
    assert_met("time>3.9%", &found, &[0]);
    assert_met("time>4%", &found, &[]);
    let wall = measure(K::WallTime, Subject::Run, 1060.0, Verdict::Worse);
    let found = comparison(Verdict::Worse, vec![wall]);
    assert_met("time>5%", &found, &[0]);
    assert_met("time>6%", &found, &[]);
}

#[test]
fn chance_is_no_reason_to_fail() {
    let open = measure(MeasureKind::WallTime, Subject::Run, 2000.0, Verdict::CannotTell);
    let found = comparison(Verdict::CannotTell, vec![open]);
    assert_met("worse", &found, &[]);
    assert_met("time>5%", &found, &[]);
    assert_met("any-change", &found, &[]);
    assert!(parsed("cannot-tell").judge(&found).is_met);
    assert!(!parsed("cannot-tell").judge(&comparison(Verdict::Same, vec![])).is_met);
}

#[test]
fn what_is_neither_good_nor_bad_is_measured_in_both_directions() {
    let reads = |to| measure(MeasureKind::BytesRead, Subject::Run, to, Verdict::Different);
    assert_met("io>10%", &comparison(Verdict::Same, vec![reads(800.0)]), &[0]);
    assert_met("io>10%", &comparison(Verdict::Same, vec![reads(1200.0)]), &[0]);
    assert_met("io>20%", &comparison(Verdict::Same, vec![reads(1200.0)]), &[]);
}

#[test]
fn from_nothing_to_something_is_beyond_any_limit() {
    let mut stalled = measure(MeasureKind::Stalled, Subject::Run, 5.0, Verdict::Worse);
    stalled.change.as_mut().unwrap().ratio = None;
    assert_met("generation>500%", &comparison(Verdict::Worse, vec![stalled]), &[0]);
}

#[test]
fn what_cannot_be_meant_is_refused_in_words() {
    for (given, why) in [
        ("slower", "it is worse, any-change"),
        ("time>5", "a percentage such as 5%, not \"5\""),
        ("time>-5%", "a percentage such as 5%"),
        ("time>nan%", "a percentage such as 5%"),
        ("speed>5%", "before > there is time, memory"),
        ("stage:x>5%", "not \"stage\""),
        ("section:>5%", "no name after section:"),
    ] {
        let refused = given.parse::<FailOn>().unwrap_err();
        assert!(refused.contains(why), "{given}: {refused}");
    }
    assert!(check(&[parsed("never"), parsed("worse")]).is_err());
    let found = comparison(Verdict::Same, vec![]);
    assert!(check_names(&[parsed("section:vae_decode>5%")], &found).is_ok());
    let refused = check_names(&[parsed("section:vae_decod>5%")], &found).unwrap_err();
    assert_eq!(refused.to_string(), "--fail-on section:vae_decod>5%: neither side has it");
}

#[test]
fn a_name_may_hold_the_sign() {
    let named = parsed("section:a->b>5%");
    let expected = What::Beyond { of: Of::Section("a->b".into()), ratio: 0.05 };
    assert_eq!(named.what, expected);
}

#[test]
fn a_total_that_cannot_be_told_is_beyond_a_limit_that_its_interval_lies_beyond() {
    // device busy per step   +4.8 … +9.1 %
    let mut step = measure(MeasureKind::StepBusy, Subject::Run, 1050.0, Verdict::CannotTell);
    if let Some(change) = &mut step.change {
        change.interval = Some((1.048, 1.091));
    }
    let open = comparison(Verdict::CannotTell, vec![step]);
    assert_met("time>3%", &open, &[0]);
    assert_met("time>5%", &open, &[]);
}

#[test]
fn a_part_that_is_worse_in_a_run_that_is_better_is_not_worse() {
    let part = measure(MeasureKind::SectionTotal, path(), 1100.0, Verdict::Worse);
    assert_met("worse", &comparison(Verdict::Better, vec![part.clone()]), &[]);
    assert_met("worse", &comparison(Verdict::Worse, vec![part]), &[0]);
}
