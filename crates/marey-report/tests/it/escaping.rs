//! Names from users never become markup, paths or control codes, in any format.

use marey::{
    CacheEvent, CacheOutcome, MemoryReading, MemorySource, Run, SeriesInfo, Status, Unavailable,
    Unit, Value,
};
use marey_analysis::SessionRuns;
use marey_report::{
    Report, cache_markdown, html_report, iteration_summary, memory_log, memory_summary,
    profiling_report, raw_profiling_data_of_session, summary, timing_summary,
};
use marey_testing::RunBuilder;

use crate::shown::markdown;

const HOSTILE: &str = "</script>\x1b[31m\n\r| ../../etc \u{202e}\u{9b}2J\u{0}\"\\";

fn hostile_run() -> Run {
    let attributes = vec![(HOSTILE.to_owned(), Value::from(HOSTILE))];
    RunBuilder::new()
        .with(|run| {
            run.info.host = HOSTILE.into();
            run.info.job_id = HOSTILE.into();
            run.info.clock = HOSTILE.into();
            run.info.command = vec![HOSTILE.into()];
            run.info.facts = vec![(HOSTILE.into(), HOSTILE.into())];
            run.status = Status::Failed(HOSTILE.into());
            run.threads[0].name = HOSTILE.into();
        })
        .section(HOSTILE, 0, 5, |s| {
            s.iteration(HOSTILE, 1, 4, |_| {})
                .attributes(attributes.clone())
                .attributes(vec![("sync".into(), true.into())]);
        })
        .counter(HOSTILE, 2, 0.5)
        .with(|run| {
            run.info.facts.push(("gpu.0.uuid".into(), HOSTILE.into()));
            run.info.facts.push(("gpu.0.name".into(), HOSTILE.into()));
            run.unavailable = vec![Unavailable { what: HOSTILE.into(), why: HOSTILE.into() }];
        })
        .series(SeriesInfo::gauge("gpu.temperature", HOSTILE, Unit::Celsius), &[(1, 1.0), (2, 2.0)])
        .series(SeriesInfo::gauge("file.cached", HOSTILE, Unit::Ratio), &[(1, 0.5)])
        .series(SeriesInfo::cumulative("disk.busy", HOSTILE, Unit::Seconds), &[(1, 0.0), (2, 1.0)])
        .series(
            SeriesInfo::cumulative("sampler.missed", HOSTILE, Unit::Count),
            &[(1, 0.0), (2, 1.0)],
        )
        .open(HOSTILE, 6, |_| {})
        .session(HOSTILE, 0, None, attributes.clone())
        .event(HOSTILE, 3, attributes.clone())
        .memory(MemoryReading {
            at_ns: 2,
            label: Some(HOSTILE.into()),
            source: MemorySource::Process,
            allocated_bytes: 5,
            reserved_bytes: None,
            peak_bytes: None,
            session: None,
        })
        .cache_event(CacheEvent {
            at_ns: 2,
            cache: HOSTILE.into(),
            outcome: CacheOutcome::Hit,
            step: None,
            block: None,
            score: Some(f64::NAN),
            threshold: Some(f64::INFINITY),
            held_bytes: None,
            attributes,
            session: None,
        })
        .finish(10)
}

#[track_caller]
fn assert_harmless(text: &str) {
    let harmful = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
    assert!(!text.contains(harmful), "{text:?}");
}

#[test]
fn no_text_format_passes_control_codes_on() {
    let report = Report::new(&hostile_run());
    assert_harmless(&summary(&report));
    assert_harmless(&timing_summary(&report, 10));
    assert_harmless(&memory_summary(&report));
    assert_harmless(&iteration_summary(&report, HOSTILE).unwrap());
    assert_harmless(&cache_markdown(&report));
}

#[test]
fn a_name_takes_no_line_of_its_own() {
    let report = Report::new(&hostile_run());
    let lines: Vec<String> = timing_summary(&report, 10).lines().map(Into::into).collect();
    assert_eq!(lines.len(), 7, "{lines:#?}");
    assert_eq!(cache_markdown(&report).lines().count(), 3);
}

#[test]
fn a_name_adds_no_cell_and_no_tag_to_markdown() {
    let markdown = cache_markdown(&Report::new(&hostile_run()));
    let row = markdown.lines().last().unwrap().replace("\\|", "");
    assert_eq!(row.matches('|').count(), 7, "{row}");
    assert!(!row.contains('<'));
}

#[test]
fn a_markdown_report_has_no_tags_but_its_own_and_no_cells_but_its_own() {
    let text = markdown(&Report::new(&hostile_run()));
    assert_harmless(&text);
    let own = ["<details>", "</details>", "<summary>", "</summary>", "<code>", "</code>"];
    let rest = own.iter().fold(text.clone(), |text, tag| text.replace(tag, ""));
    assert!(!rest.contains('<'), "{text}");
    let mut cells = 0;
    for line in text.lines().map(|line| line.replace("\\|", "")) {
        let found = line.matches('|').count();
        assert!(found == 0 || cells == 0 || found == cells, "{line}");
        cells = found;
    }
}

#[test]
fn a_page_holds_what_users_named_as_letters_and_digits_only() {
    let run = hostile_run();
    let page = String::from_utf8(html_report(&Report::new(&run), &run, None)).unwrap();
    assert!(!page.contains(HOSTILE) && !page.contains("../../etc"));
    // Every script and style element of the page is the asset's own.
    let empty = RunBuilder::new().finish(0);
    let plain = String::from_utf8(html_report(&Report::new(&empty), &empty, None)).unwrap();
    for tag in ["<script", "</script", "<style", "<!--", "<img"] {
        assert_eq!(page.matches(tag).count(), plain.matches(tag).count(), "{tag}");
    }
}

#[test]
fn json_gives_the_name_back_as_it_was_and_stays_harmless() {
    let report = Report::new(&hostile_run());
    let run = hostile_run();
    let session = SessionRuns::new(&run).get(0).unwrap();
    let raw = String::from_utf8(raw_profiling_data_of_session(&session)).unwrap();
    assert_harmless(&raw);
    assert!(!raw.contains('<'));
    for bytes in [profiling_report(&report), memory_log(&report)] {
        let text = String::from_utf8(bytes).unwrap();
        assert_harmless(&text);
        assert!(!text.contains('<'));
        let found: serde_json::Value = serde_json::from_str(&text).unwrap();
        let name = found.get("sections").map_or(&found[0]["label"], |s| &s[0]["name"]);
        assert_eq!(name, HOSTILE);
    }
}
