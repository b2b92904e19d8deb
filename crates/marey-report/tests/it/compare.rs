//! Comparisons and trends: text, Markdown and JSON of ones that are drawn by hand.

use marey_analysis::CompareOptions;
use marey_analysis::compare::{
    Basis, Change, Comparison, Difference, EnvironmentCategory, Headline, Measure, MeasureKind,
    Observed, Obstacle, SectionMatch, Side, Subject, Trend, TrendMeasure, TrendPoint, Verdict,
};
use marey_analysis::findings::Confidence;
use marey_report::{
    Block, Cell, ComparedRun, ComparedSide, ComparisonReport, Criterion, TrendReport,
    comparison_document, comparison_json, document_text, markdown_text, trend_document, trend_json,
};
use serde_json::Value;

const GIB: f64 = 1_073_741_824.0;
const HOSTILE: &str = "</script>\x1b[31m\n\r| ../../etc \u{202e}\u{9b}2J\u{0}\"\\ [x](y) `z` @team";

fn path(names: &[&str]) -> Subject {
    Subject::Path(names.iter().map(|name| (*name).to_owned()).collect())
}

fn observed(value: f64) -> Observed {
    Observed { value, min: value * 0.98, max: value * 1.02, n_samples: 12 }
}

fn measure(kind: MeasureKind, subject: Subject, sides: [f64; 2], verdict: Verdict) -> Measure {
    let [baseline, candidate] = sides;
    let ratio = (baseline > 0.0).then(|| candidate / baseline);
    Measure {
        kind,
        subject,
        unit: kind.unit(),
        better: kind.better(),
        baseline: Some(observed(baseline)),
        candidate: Some(observed(candidate)),
        change: Some(Change {
            difference: candidate - baseline,
            ratio,
            interval: ratio.map(|ratio| (ratio * 0.99, ratio * 1.01)),
            p_value: Some(0.001),
            adjusted_p_value: Some(0.01),
        }),
        basis: Basis::Calls,
        verdict,
        confidence: Confidence::High,
        reason: "too few calls: 2 against 2".into(),
        impact_ns: Some(candidate - baseline),
    }
}

fn headline(what: &'static str, measures: &[Measure], decided: usize) -> Headline {
    Headline { verdict: measures[decided].verdict, what, measure: decided }
}

fn section(names: &[&str], presence: Verdict, there: Option<&[&str]>) -> SectionMatch {
    let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    SectionMatch { path: owned(names), candidate_path: there.map(owned), presence, is_loop: false }
}

/// The story of a faster attention that kept everything on the GPU; `decode` stands for its decoder's name.
fn story(decode: &str) -> Comparison {
    use MeasureKind as K;
    let gpu = || Subject::Gpu("0".into());
    let measures = vec![
        measure(K::WallTime, Subject::Run, [58e9, 441e9], Verdict::Worse),
        measure(K::SectionTotal, path(&["text_encoder"]), [12e9, 12.1e9], Verdict::CannotTell),
        measure(K::SectionTotal, path(&[decode]), [45e9, 428e9], Verdict::Worse),
        measure(K::SectionTotal, path(&[decode, "sdpa"]), [4e9, 384e9], Verdict::Worse),
        measure(K::SectionCalls, path(&[decode]), [12.0, 12.0], Verdict::Same),
        measure(K::GpuMemoryPeak, gpu(), [8.2 * GIB, 23.8 * GIB], Verdict::Worse),
        measure(K::SectionReadRate, path(&[decode]), [2.1 * GIB, 0.03 * GIB], Verdict::Different),
        Measure {
            candidate: None,
            change: None,
            verdict: Verdict::Gone,
            ..measure(
                K::CacheHitRatio,
                Subject::Cache("teacache".into()),
                [0.5, 0.0],
                Verdict::Gone,
            )
        },
    ];
    Comparison {
        verdict: Verdict::Worse,
        time: Some(Verdict::Worse),
        obstacles: vec![],
        basis: Basis::Calls,
        baseline: side(58e9),
        candidate: side(441e9),
        unknown_environment: vec![],
        environment: vec![Difference {
            category: EnvironmentCategory::Command,
            name: "command".into(),
            baseline: vec![
                "python generate.py --model /models/tiny-video --attention sdpa --seed 7".into(),
            ],
            candidate: vec![format!(
                "python generate.py --model /models/tiny-video --attention {decode} --seed 7"
            )],
        }],
        headline: vec![headline("slower", &measures, 2), headline("more memory", &measures, 5)],
        sections: vec![
            section(&["text_encoder"], Verdict::Same, None),
            section(&[decode], Verdict::Same, None),
            section(&[decode, "sdpa"], Verdict::Same, None),
            section(&["save"], Verdict::Renamed, Some(&["write"])),
            section(&["watermark"], Verdict::New, None),
        ],
        measures,
        account: None,
        work: vec![],
        n_tests: 3,
        notes: vec!["one run on each side".into()],
    }
}

fn side(wall_ns: f64) -> Side {
    Side { n_runs: 1, n_unfinished: 0, wall_ns: Some(wall_ns), n_with_losses: 0 }
}

fn runs(name: &str, n: u64) -> ComparedSide {
    let run = |index: u64| {
        let run = marey_testing::RunBuilder::new().with(|run| {
            run.info.host = "studio".into();
            run.info.start_unix_ns = 1_700_000_000_000_000_000 + index * 86_400_000_000_000;
            run.status = [marey::Status::Finished, marey::Status::Killed(9)]
                [usize::from(index == 1)]
            .clone();
            run.losses.sections_ring_full = index;
        });
        ComparedRun::new(format!("{name}-{index}"), &run.finish(10), 0)
    };
    ComparedSide { path: name.into(), runs: (0..n).map(run).collect(), ..ComparedSide::default() }
}

fn report(decode: &str) -> ComparisonReport {
    let sides = [runs("before", 1), runs("after", 2)];
    ComparisonReport::new(story(decode), &CompareOptions::default(), sides).judged(vec![
        Criterion { given: "memory>10%".into(), is_met: true, measures: vec![5] },
        Criterion { given: format!("section:{decode}>1000%"), is_met: false, measures: vec![] },
    ])
}

fn trend(name: &str) -> TrendReport {
    let point = |(index, value): (usize, &f64)| TrendPoint {
        run: format!("{name}-{index}"),
        at_unix_ns: 1_700_000_000_000_000_000 + index as u64 * 86_400_000_000_000,
        value: *value,
    };
    let values = [1e9, 1.01e9, 0.99e9, 1.0e9, 1.4e9, 1.41e9, 1.39e9];
    let measures = vec![
        TrendMeasure {
            kind: MeasureKind::WallTime,
            subject: Subject::Run,
            unit: MeasureKind::WallTime.unit(),
            points: values.iter().enumerate().map(point).collect(),
        },
        TrendMeasure {
            kind: MeasureKind::SectionTotal,
            subject: path(&[name]),
            unit: MeasureKind::SectionTotal.unit(),
            points: [3e8, 3.3e8].iter().enumerate().map(point).collect(),
        },
    ];
    TrendReport::new(Trend { measures }, runs(name, 3))
}

/// As in a file.
fn comparison_text(report: &ComparisonReport) -> String {
    document_text(&comparison_document(report), None)
}

fn comparison_markdown(report: &ComparisonReport) -> String {
    markdown_text(&comparison_document(report))
}

fn trend_text(report: &TrendReport) -> String {
    document_text(&trend_document(report), None)
}

fn trend_markdown(report: &TrendReport) -> String {
    markdown_text(&trend_document(report))
}

/// Labels and sentences of the first block.
fn first_lines(report: &ComparisonReport) -> Vec<(String, String)> {
    match comparison_document(report).blocks.swap_remove(0) {
        Block::Facts(facts) => facts.rows,
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_text_of_a_comparison() {
    insta::assert_snapshot!(comparison_text(&report("vae_decode")));
}

#[test]
fn a_candidate_that_died_is_the_first_line_and_why_it_fails() {
    let mut report = report("vae_decode");
    report.comparison.obstacles.push(Obstacle {
        verdict: Verdict::Worse,
        text: format!("the candidate {} killed", "was ".repeat(30).trim()),
    });
    let lines = first_lines(&report);
    // Longer than a name may be.
    let said = report.comparison.obstacles[0].text.clone();
    assert_eq!(lines[0], ("WORSE".into(), said.clone()));
    assert!(lines[1].1.starts_with("slower: vae_decode"), "{lines:?}");
    let fails = format!("--fail-on memory>10%: {said}");
    assert_eq!(lines.last(), Some(&("Fails".into(), fails)));
    assert!(comparison_markdown(&report).starts_with(&format!("- WORSE: {said}\n")));
    let text = comparison_text(&report);
    assert!(text.starts_with("WORSE  the candidate was "), "{text}");
    let schema = include_str!("../../../../docs/schema/comparison.schema.json");
    let document = follows(schema, &comparison_json(&report));
    assert_eq!(document["obstacles"][0]["verdict"], "worse");
    // What is the matter with the baseline is not what is worse.
    report.comparison.obstacles[0] =
        Obstacle { verdict: Verdict::CannotTell, text: "the baseline was killed".into() };
    let said = "what can be compared got worse, and the baseline was killed";
    assert_eq!(first_lines(&report)[0].1, said);
}

#[test]
fn the_markdown_of_a_comparison() {
    insta::assert_snapshot!(comparison_markdown(&report("vae_decode")));
}

#[test]
fn nothing_to_compare_is_said() {
    let nothing = marey_analysis::compare(&[], &[], &CompareOptions::default());
    let sides = [runs("before", 0), runs("after", 0)];
    let report = ComparisonReport::new(nothing, &CompareOptions::default(), sides);
    let text = comparison_text(&report);
    assert!(text.starts_with("CANNOT TELL  there is nothing that both sides recorded\n"), "{text}");
    assert!(comparison_markdown(&report).starts_with("- CANNOT TELL: there is nothing"));
}

#[test]
fn the_text_of_a_trend() {
    insta::assert_snapshot!(trend_text(&trend("nightly")));
}

#[test]
fn the_markdown_of_a_trend() {
    insta::assert_snapshot!(trend_markdown(&trend("nightly")));
}

#[track_caller]
fn follows(schema: &str, document: &[u8]) -> Value {
    let schema: Value = serde_json::from_str(schema).expect("the schema is JSON");
    let document: Value = serde_json::from_slice(document).expect("valid JSON");
    let validator = jsonschema::draft202012::new(&schema).expect("the schema is sound");
    let errors: Vec<String> = validator
        .iter_errors(&document)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    assert!(errors.is_empty(), "{errors:#?}");
    document
}

#[test]
fn json_follows_its_schema_and_has_every_figure_in_its_unit() {
    let schema = include_str!("../../../../docs/schema/comparison.schema.json");
    let document = follows(schema, &comparison_json(&report("vae_decode")));
    let measure = &document["measures"][2];
    assert_eq!(measure["kind"], "section_total");
    assert_eq!(measure["subject"]["path"], serde_json::json!(["vae_decode"]));
    assert_eq!(measure["unit"], "seconds");
    assert_eq!(measure["baseline"]["value"], 45.0);
    assert_eq!(measure["change"]["difference"], 383.0);
    assert_eq!(measure["impact_s"], 383.0);
    assert_eq!(document["measures"][5]["baseline"]["value"], 8.2 * GIB);
    assert_eq!(document["measures"][7]["candidate"], Value::Null);
    assert_eq!(document["passed"], false);
    assert_eq!(document["baseline"]["wall_s"], 58.0);
    assert_eq!(document["candidate"]["runs"][1]["wall_s"], 1e-8);
    let start = &document["candidate"]["runs"][1]["start_unix_ns"];
    assert_eq!(start, 1_700_086_400_000_000_000_u64);
    let schema = include_str!("../../../../docs/schema/trend.schema.json");
    let document = follows(schema, &trend_json(&trend("nightly")));
    let point = &document["measures"][0]["points"][4];
    assert_eq!((&point["run"], &point["value"]), (&"nightly-4".into(), &1.4.into()));
}

#[test]
fn names_never_become_markup_or_control_codes() {
    let is_harmful = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
    let (comparison, trend) = (report(HOSTILE), trend(HOSTILE));
    for text in [comparison_text(&comparison), trend_text(&trend)] {
        assert!(!text.contains(is_harmful), "{text}");
    }
    for json in [comparison_json(&comparison), trend_json(&trend)] {
        let text = String::from_utf8(json).unwrap();
        assert!(!text.contains(is_harmful) && !text.contains('<'), "{text}");
    }
    for markdown in [comparison_markdown(&comparison), trend_markdown(&trend)] {
        assert!(!markdown.contains(is_harmful), "{markdown}");
        assert!(!markdown.contains("</script>"), "{markdown}");
        for row in markdown.lines().filter(|line| line.starts_with('|')) {
            let cells = row.replace("\\\\", "").replace("\\|", "");
            let n = cells.matches('|').count();
            assert!([4, 7, 8].contains(&n), "{n}: {row}");
        }
    }
}

/// Kernels of one template, and call paths that end alike.
fn alike() -> ComparisonReport {
    let kernel = |of: &str| Subject::Kernel(format!("void at::native::elementwise<4, {of}>(int)"));
    let deep = |first: &str| path(&[first, &"transformer".repeat(4), "attention", "to_q"]);
    let of = |subject| measure(MeasureKind::KernelTotal, subject, [1e9, 2e9], Verdict::Worse);
    let mut report = report("vae_decode");
    report.comparison.measures = vec![
        of(kernel("at::native::AddFunctor<float>")),
        of(kernel("at::native::MulFunctor<float>")),
        of(deep("first_transformer")),
        of(deep("second_transformer")),
    ];
    report.comparison.headline.clear();
    report.criteria.clear();
    report
}

#[test]
fn different_things_look_different_in_a_table_and_programs_have_them_whole() {
    let document = comparison_document(&alike());
    let text = document_text(&document, None);
    let rows: Vec<&str> = text.lines().filter(|line| line.contains("  worse  ")).collect();
    let names: std::collections::BTreeSet<&str> =
        rows.iter().filter_map(|row| row.split("kernel time").next()).collect();
    assert_eq!((rows.len(), names.len()), (4, 4), "{text}");
    let rows = &document.into_tables()[0].rows;
    let whole = |cell: &Cell| matches!(cell, Cell::Path(path) if path.len() == 4);
    assert_eq!(rows.iter().filter(|row| whole(&row[0])).count(), 2);
}

#[test]
fn a_narrow_terminal_gets_no_wider_line_and_a_comment_is_below_what_github_takes() {
    let mut report = alike();
    let measures = report.comparison.measures.clone();
    report.comparison.measures = vec![measures; 100].concat();
    report.comparison.sections = (0..2000)
        .map(|n| section(&[&n.to_string(), &"x".repeat(60)], Verdict::New, None))
        .collect();
    let document = comparison_document(&report);
    for width in [60, 80, 120] {
        let text = document_text(&document, Some(width));
        let widest = text.lines().map(marey_report::width::columns).max();
        assert!(widest <= Some(width), "{widest:?} {text}");
    }
    let markdown = markdown_text(&document);
    assert!(markdown.len() < 60_000, "{}", markdown.len());
    assert_eq!(markdown.matches("<details>").count(), markdown.matches("</details>").count());
}
