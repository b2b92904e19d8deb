//! What is shown first: few lines, which add up.

use marey::{
    BlockComputation, Generation, GpuSpan, Run, SectionAttributes, Status, StreamingEvent,
};
use marey_report::{FirstScreen, Places, Report, Shown};
use marey_testing::RunBuilder;
use serde_json::Value;

use crate::example::{killed_latent_video, sampled_latent_video};
use crate::screen_runs::{clip, crooked, demo, failed, killed, nothing, server};

const MS: u64 = 1_000_000;
const WIDTHS: [usize; 4] = [60, 80, 100, 140];

fn screen(run: &Run) -> FirstScreen {
    let places = Places {
        page: Some("runs/latest/report.html".into()),
        full: "marey report --full runs/latest".into(),
        ranks: "marey aggregate runs/latest".into(),
    };
    FirstScreen::of_run(&Report::new(run), &places)
}

fn plain(width: usize) -> Shown {
    Shown { width, has_colour: false, is_ascii: false }
}

fn shown(run: &Run, width: usize) -> String {
    screen(run).text(&plain(width))
}

/// At all widths.
fn at_each_width(run: &Run) -> String {
    let at = |width| format!("{}\n{}", "-".repeat(width), shown(run, width));
    WIDTHS.map(at).concat()
}

fn all() -> [Run; 9] {
    [
        demo(),
        clip(),
        failed(),
        killed(),
        nothing(),
        server(),
        crooked(),
        sampled_latent_video(),
        Run::default(),
    ]
}

/// The printed numbers of a row: its time in its column's last digit, its share in tenths of a percent.
fn printed(line: &str) -> Option<(u64, u64)> {
    let (before, _) = line.split_once(" %")?;
    let (time, share) = before.trim_end().rsplit_once("  ")?;
    let digits = |number: &str| -> Option<u64> { number.replace('.', "").trim().parse().ok() };
    let mut words = time.trim().rsplit(' ');
    let _unit = words.next()?;
    Some((digits(words.next()?)?, digits(share)?))
}

/// The total of the headline, or of the line above the rows, in its last digit.
fn printed_total(text: &str) -> Option<u64> {
    let whole = text.replace('\n', " ");
    let headline = text.split_once("\n\n")?.0.replace('\n', " ");
    let mean = whole.split_once("mean of 2: ");
    let of_run = headline.split_once(" after ").or(headline.split_once(" in "));
    let (_, total) = mean.or(of_run)?;
    total.split(' ').next()?.replace('.', "").parse().ok()
}

#[test]
fn printed_rows_add_up_to_the_printed_total() {
    for run in all() {
        for width in 1..141 {
            let text = shown(&run, width);
            assert!(text.lines().count() <= 25, "{width}: {text}");
            let longest = text.lines().map(|line| line.chars().count()).max().unwrap();
            assert!(longest <= width.min(100), "{width}: {text}");
            if width < 40 {
                continue;
            }
            let rows: Vec<(u64, u64)> = text
                .lines()
                .filter(|line| {
                    line.starts_with("  ") && !line.contains('!') && !line.contains(" · ")
                })
                .filter(|line| line.contains('.') && !line.trim_start().starts_with("The"))
                .filter_map(printed)
                .collect();
            let Some(account) = screen(&run).account else {
                continue;
            };
            let shares: u64 = rows.iter().map(|(_, share)| share).sum();
            assert_eq!(shares, 1000, "{width}: {text}");
            let total = printed_total(&text);
            let times: u64 = rows.iter().map(|(time, _)| time).sum();
            assert_eq!(Some(times), total, "{width}: {text}");
            let held: u64 = account.rows.iter().map(|row| row.held).sum();
            assert_eq!(held, account.total);
        }
    }
}

#[test]
fn the_demo() {
    insta::assert_snapshot!(at_each_width(&demo()));
}

#[test]
fn the_program_of_document_000() {
    insta::assert_snapshot!(at_each_width(&clip()));
}

#[test]
fn a_run_that_failed() {
    insta::assert_snapshot!(at_each_width(&failed()));
}

#[test]
fn a_run_that_was_killed() {
    insta::assert_snapshot!(at_each_width(&killed()));
}

#[test]
fn a_run_that_recorded_nothing() {
    insta::assert_snapshot!(at_each_width(&nothing()));
}

#[test]
fn models_that_nobody_knows_are_named_with_the_line_to_add() {
    let seen = vec![("models".to_owned(), "MyDiT, My\x1bVAE".into())];
    let events = RunBuilder::new().event("models_seen", MS, seen).finish(MS).events;
    let text = shown(&Run { events: events.clone(), ..nothing() }, 140);
    assert!(text.contains("It made torch models: MyDiT, My\\x1bVAE."), "{text}");
    assert!(text.contains("marey.diffusers.instrument(transformer=model"), "{text}");
    // Where more was recorded nothing of it is said.
    assert!(!shown(&Run { events, ..demo() }, 140).contains("MyDiT"));
}

#[test]
fn the_mean_request_of_a_server() {
    // Waiting (10 + 30) ÷ 2, computing 30, of (40 + 60) ÷ 2.
    let text = shown(&server(), 100);
    for line in [
        "marey: server.py finished in 80.0 ms · 2 requests, up to 2 at once",
        "  Time of a request, mean of 2: 50.0 ms (p50 40.0, max 60.0)",
        "  transformer   30.0 ms   60.0 %  ████████████",
        "  wait_for_gpu  20.0 ms   40.0 %  ████████              1 wait a request",
        "  Speed   25.0 requests/s",
        "  ! Requests wait: 40 % of their time is wait_for_gpu",
    ] {
        assert!(text.lines().any(|shown| shown == line), "{line}\n{text}");
    }
}

#[test]
fn what_was_lost_is_said_and_nothing_else() {
    assert!(!shown(&clip(), 100).contains("Data"));
    let text = shown(&killed_latent_video(), 100);
    let said = "  Data  6 sections are in the totals only: a ring was full · 2 events, readings or attributes were";
    assert!(text.lines().any(|line| line == said), "{text}");
}

#[test]
fn lack_of_memory_is_the_cause_with_its_figures() {
    let mut run = killed();
    let mut facts = run.info.facts.iter_mut();
    let kills = facts.find(|(key, _)| key.ends_with("oom_kills"));
    kills.expect("its launcher counted").1 = "1".into();
    let text = shown(&run, 100);
    for said in
        ["  ! Killed for lack of memory: peak 208 MiB", "    The kernel killed 1 process for it."]
    {
        assert!(text.lines().any(|line| line == said), "{text}");
    }
    assert!(text.starts_with("marey: clip.py ran out of memory after 776.8 ms"), "{text}");
    assert!(!text.contains("Speed") && !text.contains("raised"), "{text}");
}

#[test]
fn a_process_that_was_lost_is_the_first_finding_of_a_run_that_finished() {
    let mut report = Report::new(&clip());
    report.status.lost = vec!["load.py (pid 7) in decode › read".into()];
    let screen = FirstScreen::of_run(&report, &Places::default());
    let text = screen.text(&plain(100));
    let [headline, found] = [
        "marey: clip.py finished in 1.838 s, 1 process lost",
        "  ! load.py (pid 7) in decode › read ended without closing its capture",
    ];
    assert!(text.starts_with(headline), "{text}");
    assert!(text.lines().any(|line| line == found), "{text}");
    assert!(text.contains("Speed") && !text.contains("No issues"), "{text}");
    let object: Value = serde_json::from_str(&screen.json()).unwrap();
    assert_eq!(object["outcome"], "finished");
    let reason = object["reason"].as_str().unwrap();
    assert!(reason.starts_with("load.py (pid 7) in decode › read ended"), "{reason}");
    assert_eq!(object["findings"][0]["rule"], "lost-process");
    report.status.lost.push("load.py (pid 8)".into());
    assert_eq!(
        report.status.text(),
        "finished; load.py (pid 7) in decode › read and 1 more process ended without closing their captures"
    );
}

/// ```text
/// ms     0    4    8    12                      40
/// host   |step|step|step|save-------------------|
/// GPU     |1-10     |10-19    |19-28    |
/// ```
#[test]
fn steps_that_a_gpu_did_later_have_its_time() {
    let steps = |run: &mut Run| {
        let mut nodes = (0..).zip(&run.nodes);
        let (node, _) = nodes.find(|(_, node)| node.name == "denoising_step").expect("recorded");
        run.gpu_spans = (0..3)
            .map(|n| GpuSpan {
                thread: 0,
                node,
                start_ns: 4 * n * MS,
                device: 0,
                stream: 0,
                delay_ns: Some((1 + 5 * n) * MS),
                gpu_ns: 9 * MS,
                error_ns: Some(0),
            })
            .collect();
    };
    let run = RunBuilder::new()
        .section("denoise", 0, 12 * MS, |s| {
            for n in 0..3 {
                s.iteration("denoising_step", 4 * n * MS, 4 * (n + 1) * MS, |_| {});
            }
        })
        .section("save", 12 * MS, 40 * MS, |_| {})
        .with(steps)
        .finish(40 * MS);
    let text = shown(&run, 100);
    let line = |name: &str| text.lines().find(|line| line.trim_start().starts_with(name));
    let denoise = line("denoise").unwrap_or_default();
    assert!(denoise.contains(" 28.0 ms   70.0 %"), "{text}");
    assert!(denoise.ends_with("3 steps × 9.00 ms"), "{text}");
    assert!(line("save").is_some_and(|line| line.contains(" 12.0 ms   30.0 %")), "{text}");
    assert!(text.contains("steady step 9.00 ms (111 it/s)"), "{text}");
}

#[test]
fn an_error_for_lack_of_memory_kills_nobody() {
    for (error, title, tries) in [
        (
            "torch.OutOfMemoryError",
            "  ! GPU memory ran out",
            "    Try  fewer pixels or frames, a smaller batch, VAE tiling or slicing, model offload.",
        ),
        (
            "MemoryError",
            "  ! Memory ran out: peak 208 MiB",
            "    Try  a smaller batch, fewer workers, models loaded in a smaller data type.",
        ),
    ] {
        let mut run = killed();
        run.info.facts.retain(|(key, _)| !key.ends_with("signal"));
        run.status = Status::OutOfMemory(error.into());
        let text = shown(&run, 100);
        let raised = format!("    The program raised {error}.");
        for said in [title, &raised, tries] {
            assert!(text.lines().any(|line| line == said), "{said}\n{text}");
        }
        assert!(!text.to_lowercase().contains("kill"), "{text}");
    }
}

#[test]
fn an_exit_code_is_all_that_is_known_of_some_failures() {
    let mut run = clip();
    run.info.facts.retain(|(key, _)| !key.starts_with("launch"));
    run.status = Status::Failed("exit code 7".into());
    let text = shown(&run, 100);
    assert!(text.starts_with("marey: clip.py failed after 1.838 s (exit code 7)\n"), "{text}");
}

#[test]
fn waiting_for_other_ranks_is_no_stage() {
    let run = RunBuilder::new()
        .section("all_reduce", 0, 500 * MS, |_| {})
        .section("vae_decode", 500 * MS, 900 * MS, |_| {})
        .finish(1000 * MS);
    let text = shown(&run, 100);
    assert!(text.contains("  ! vae_decode: 400 ms, 40 % of the run (target ≤ 30 %)\n"), "{text}");
    assert!(!text.contains("! all_reduce"), "{text}");
}

#[test]
fn what_costs_little_is_left_to_the_tables() {
    // The first step of the clip costs 50 ms: 2.7 % of 1 838 ms, but 10 % of a run without the rest.
    assert!(!shown(&clip(), 100).contains('!'));
    let long = |first_ms: u64| {
        let builder = RunBuilder::new().section("denoise", 0, 900 * MS, |s| {
            s.iteration("denoising_step", 0, first_ms * MS, |_| {});
            for step in 0..9 {
                let start = (first_ms + step * 50) * MS;
                s.iteration("denoising_step", start, start + 50 * MS, |_| {});
            }
        });
        shown(&builder.finish(1000 * MS), 100)
    };
    let said = "  ! First step: 101 ms, 2.0 × the other steps (50.0 ms)";
    assert!(long(101).contains(said), "{}", long(101));
    assert!(!long(99).contains("First step"), "{}", long(99));
}

#[test]
fn the_brief_stays_brief() {
    let name = |part: u64| format!("{part} {}", "very long <name> ".repeat(40));
    let mut builder = RunBuilder::new();
    for part in 0..9 {
        builder = builder.section(&name(part), part * 100 * MS, (part + 1) * 100 * MS, |_| {});
    }
    let run = builder
        .with(|run| run.info.command = vec![name(1), format!("/{}", name(2))])
        .finish(900 * MS);
    let text = screen(&run).json();
    assert!(text.len() <= 4096, "{}", text.len());
}

#[test]
fn names_of_users_are_no_control_codes() {
    let hostile = "\u{1b}[31m</script>\u{202e}../";
    let run = RunBuilder::new()
        .session(hostile, 0, Some(90 * MS), vec![])
        .section(hostile, 0, 80 * MS, |_| {})
        .with(|run| run.info.command = vec![hostile.into()])
        .finish(100 * MS);
    let text = shown(&run, 100);
    assert!(text.contains("\\x1b[31m"), "{text}");
    assert!(!text.contains('\u{1b}') && !text.contains('\u{202e}'));
    let brief = screen(&run).json();
    assert!(!brief.contains('\u{1b}') && !brief.contains('\u{202e}') && !brief.contains("</"));
}

#[test]
fn colours_are_for_those_who_see_them() {
    let how = Shown { has_colour: true, ..plain(100) };
    let coloured = |run: &Run| screen(run).text(&how);
    assert!(coloured(&clip()).contains("\u{1b}[32mfinished\u{1b}[0m"));
    assert!(coloured(&killed()).contains("\u{1b}[31mwas killed by SIGKILL\u{1b}[0m"));
    assert!(coloured(&demo()).contains("\u{1b}[33m!\u{1b}[0m"));
    for run in all() {
        // Without them it says the same.
        let mut without = coloured(&run);
        for code in ["1", "2", "31", "32", "33", "36", "0"] {
            without = without.replace(&format!("\u{1b}[{code}m"), "");
        }
        assert_eq!(without, shown(&run, 100));
    }
}

#[test]
fn a_terminal_of_ascii_gets_ascii() {
    for run in all() {
        for width in [40, 60, 80, 100] {
            let how = Shown { is_ascii: true, ..plain(width) };
            let text = screen(&run).text(&how);
            assert!(text.is_ascii(), "{text}");
            assert!(text.lines().all(|line| line.len() <= width), "{text}");
        }
    }
}

/// The brief, which is short, on one line, and follows its schema.
pub(crate) fn brief(screen: &FirstScreen) -> Value {
    let text = screen.json();
    assert!(text.len() <= 4096 && text.lines().count() == 1, "{text}");
    let brief = serde_json::from_str(&text).expect("JSON");
    let schema = include_str!("../../../../docs/schema/first_screen.schema.json");
    let schema = serde_json::from_str(schema).expect("JSON");
    let validator = jsonschema::draft202012::new(&schema).expect("a schema");
    let errors = validator.iter_errors(&brief);
    let errors: Vec<String> =
        errors.map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert!(errors.is_empty(), "{errors:#?}\n{text}");
    brief
}

#[test]
fn the_brief_is_the_same_as_json() {
    for run in all() {
        let screen = screen(&run);
        let text = screen.json();
        assert!(!text.contains("/home/") && !text.contains("/usr/"), "{text}");
        let brief = brief(&screen);
        assert_eq!(brief["v"], 1);
        let Some(rows) = brief["account"]["rows"].as_array() else {
            continue;
        };
        let held: f64 = rows.iter().map(|row| row["held_s"].as_f64().unwrap()).sum();
        let total = brief["account"]["total_s"].as_f64().unwrap();
        assert!((held - total).abs() < 1e-9, "{text}");
    }
}

#[test]
fn the_brief_of_a_killed_run() {
    let run = killed();
    let brief = brief(&screen(&run));
    assert_eq!(brief["outcome"], "killed");
    assert_eq!((&brief["signal"], &brief["exit_code"]), (&9.into(), &Value::Null));
    assert_eq!(brief["command"], "python clip.py");
    assert_eq!(brief["wall_s"], 0.7768);
    assert_eq!(brief["work"]["steps_done"], 7);
    assert_eq!(brief["open"][1], "denoising_step 7");
    let row = &brief["account"]["rows"][0];
    assert_eq!(row["name"], "denoise");
    assert_eq!(
        (&row["held_s"], &row["open"], &row["steps"]),
        (&0.3414.into(), &true.into(), &7.into())
    );
    assert_eq!((&row["mean_s"], &row["first_s"]), (&0.041.into(), &0.0911.into()));
    assert_eq!(brief["memory"][0]["peak_bytes"], 208 << 20);
    assert_eq!(brief["memory"][0]["peak_in"], "model_load");
    assert_eq!(brief["findings"][0]["rule"], "killed");
}

/// What stands in the row of a section.
fn row<'a>(shown: &'a str, name: &str) -> &'a str {
    let is_its = |line: &&str| line.trim_start().starts_with(name);
    shown.lines().find(is_its).expect("the section has a row")
}

#[test]
fn frames_are_those_of_all_generations_over_their_wall_time() {
    // s     0       4    5  6             10   11 12
    // A     |-block-|vae| 24 delivered
    // B                     |--- block ---|vae|      40 decoded
    const SECOND: u64 = 1_000 * MS;
    let block = Generation::Block(BlockComputation {
        index: Some(0),
        size: Some(3),
        computation_ns: Some(4 * SECOND),
        memory_bytes: None,
    });
    let delivered =
        Generation::Streaming(StreamingEvent { frames: Some(24), ..StreamingEvent::default() });
    let said = |(section, frames): (usize, i64)| SectionAttributes {
        section,
        attributes: vec![("frames".into(), frames.into())],
        session: None,
    };
    let run = RunBuilder::new()
        .session("A", 0, Some(6 * SECOND), vec![])
        .session("B", 6 * SECOND, Some(12 * SECOND), vec![])
        .generation(4 * SECOND, Some(0), block.clone())
        .section("vae_decode", 4 * SECOND, 5 * SECOND, |_| {})
        .generation(5 * SECOND, Some(0), delivered)
        .generation(10 * SECOND, Some(1), block)
        .section("vae_decode", 10 * SECOND, 11 * SECOND, |_| {})
        .with(|run| run.section_attributes = [(0, 30), (1, 40)].map(said).into())
        .finish(12 * SECOND);
    let shown = shown(&run, 100);
    assert!(shown.contains("64 frames"), "{shown}");
    // 64 in 12 s.
    assert!(shown.contains("Speed   5.33 FPS"), "{shown}");
}

#[test]
fn a_run_that_failed_elsewhere_has_all_calls_of_a_section() {
    let mut builder = RunBuilder::new();
    for n in 0..5 {
        builder = builder.section("alpha", n * 20 * MS, (n + 1) * 20 * MS, |_| {});
    }
    let mut run = builder.finish(110 * MS);
    // The program caught the error of the second call, and ended by another one.
    run.sections[1].is_failed = true;
    run.totals[run.sections[1].node as usize].errors = 1;
    run.status = Status::Failed("ValueError".into());
    let shown = shown(&run, 100);
    assert!(row(&shown, "alpha").ends_with("5 calls × 20.0 ms"), "{shown}");
}

#[test]
fn a_mean_request_has_no_part_of_a_call() {
    // ms    0                         400
    // a     |2|    |---- 300 ----|          alpha, two calls of three requests
    // b     |---------- beta ----------|
    // c     |---------- beta ----------|
    let run = RunBuilder::new()
        .session("a", 0, Some(400 * MS), vec![])
        .section("alpha", 0, 2 * MS, |_| {})
        .section("alpha", 50 * MS, 350 * MS, |_| {})
        .thread("b")
        .session("b", 0, Some(400 * MS), vec![])
        .section("beta", 0, 400 * MS, |_| {})
        .thread("c")
        .session("c", 0, Some(400 * MS), vec![])
        .section("beta", 0, 400 * MS, |_| {})
        .finish(400 * MS);
    let shown = shown(&run, 100);
    assert!(shown.contains("mean of 3"), "{shown}");
    // 302 of 1 200 ms.
    let alpha = row(&shown, "alpha");
    assert!(alpha.contains("25.2 %"), "{shown}");
    assert!(!alpha.contains("call") && !alpha.contains(" to "), "{shown}");
}
