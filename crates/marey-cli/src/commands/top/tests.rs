//! What is drawn, at several sizes and of several processes.

mod pipeline;

use std::collections::BTreeSet;

use marey::live::{LiveState, Process};
use marey::{Generated, NodeKind, Status};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};
use ratatui::style::{Color, Style};

use super::keys::{Action, Choice, action};
use super::screen::{Palette, draw};
use super::{document, layout};
use pipeline::{Seen, look, node, pipeline, process, totals};

const S: u64 = 1_000_000_000;
const HOSTILE: &str = "\x1b[31m</script>../é漢字";

fn render(seen: &[&Seen], choice: &Choice, size: (u16, u16)) -> Buffer {
    let shown: Vec<_> = seen.iter().map(|seen| seen.shown()).collect();
    let mut terminal = Terminal::new(TestBackend::new(size.0, size.1)).unwrap();
    terminal
        .draw(|frame| {
            draw(frame.buffer_mut(), &shown, choice, Palette::Colours, false);
        })
        .unwrap();
    terminal.backend().buffer().clone()
}

/// The rows of a screen, without spaces at their ends. What is behind a wide character has no cell of its own.
fn rows(buffer: &Buffer) -> Vec<String> {
    let width = usize::from(buffer.area().width);
    let row = |cells: &[ratatui::buffer::Cell]| -> String {
        let mut row = String::new();
        let mut at = 0;
        while let Some(cell) = cells.get(at) {
            row.push_str(cell.symbol());
            at += marey_report::width::columns(cell.symbol()).max(1);
        }
        row.trim_end().to_owned()
    };
    buffer.content.chunks(width.max(1)).map(row).collect()
}

fn screen(seen: &[&Seen], size: (u16, u16)) -> String {
    rows(&render(seen, &Choice::default(), size)).join("\n")
}

#[test]
fn a_screen_of_the_usual_size_shows_everything() {
    insta::assert_snapshot!(screen(&[&pipeline()], (80, 24)));
}

#[test]
fn a_wide_screen_has_longer_bars() {
    insta::assert_snapshot!(screen(&[&pipeline()], (120, 40)));
}

#[test]
fn sixty_columns_have_room_for_everything() {
    insta::assert_snapshot!(screen(&[&pipeline()], (60, 24)));
}

#[test]
fn a_screen_of_200_lines_says_what_a_usual_one_does_and_its_footer_is_the_last_line() {
    let said = |height| -> Vec<String> {
        let screen = screen(&[&pipeline()], (80, height));
        let lines = screen.lines().filter(|line| !line.is_empty());
        lines.map(str::to_owned).collect()
    };
    assert_eq!(said(200), said(24));
    let tall = render(&[&pipeline()], &Choice::default(), (80, 200));
    assert!(rows(&tall)[199].starts_with("q quit"));
}

#[test]
fn a_small_screen_shows_the_least_that_is_worth_knowing() {
    insta::assert_snapshot!(screen(&[&pipeline()], (40, 10)));
    insta::assert_snapshot!(screen(&[&pipeline()], (20, 5)));
}

#[test]
fn no_size_is_too_small_to_be_drawn() {
    let (one, two) = (pipeline(), Seen::new(process(7, None), []));
    assert_eq!(screen(&[&one], (1, 1)), "1");
    let sizes = [0, 1, 2, 3, 5, 8, 15, 16, 17, 39, 40, 59, 60, 61, 79, 300];
    for width in sizes {
        for height in [0, 1, 2, 3, 4, 5, 7, 8, 9, 13, 14, 15, 24, 100] {
            for shown in [&[][..], &[&one], &[&one, &two], &[&two]] {
                for shows_help in [false, true] {
                    let choice = Choice { shows_help, ..Choice::default() };
                    render(shown, &choice, (width, height));
                }
            }
        }
    }
}

#[test]
fn names_never_reach_the_terminal_as_they_are() {
    for size in [(80, 24), (120, 40), (40, 10), (20, 5), (1, 1)] {
        let buffer = render(&[&pipeline()], &Choice::default(), size);
        for cell in &buffer.content {
            assert!(!cell.symbol().chars().any(char::is_control), "{size:?} {:?}", cell.symbol());
        }
    }
    let screen = screen(&[&pipeline()], (120, 40));
    assert!(screen.contains("\\x1b[31m</script>../é漢字"), "{screen}");
}

#[test]
fn a_loop_that_turns_in_two_places_is_one_loop() {
    let mut seen = Seen::new(process(1, None), []);
    for second in [1, 5] {
        let mut look = look(second);
        let mut nodes = look.nodes.to_vec();
        nodes.push(node(Some(5), "denoising_step", NodeKind::Iteration));
        look.nodes = nodes.into();
        // The other place turned once, before all of them.
        look.totals.push(totals(6, &[400]));
        seen.take(look);
    }
    let screen = screen(&[&seen], (120, 40));
    // 1 and then 5 iterations here, 1 there: 4 more in 4 s; the sum is 4 · 100 + 300 + 400 ms.
    let expected = "denoising_step  6  1.00 it/s  last 100 ms";
    assert!(screen.contains(expected), "{screen}");
    assert!(screen.contains("mean 183 ms"), "{screen}");
}

#[test]
fn the_step_is_shown_between_sections_too_and_no_more_when_it_is_over() {
    let between = LiveState { open: Vec::new(), ..look(7) };
    let mut seen = Seen::new(process(1, None), [between.clone()]);
    for size in [(80, 24), (40, 10)] {
        let screen = screen(&[&seen], size);
        assert!(screen.contains("no section  step 7/20"), "{screen}");
    }
    seen.take(LiveState { status: Status::Finished, ..between });
    let screen = screen(&[&seen], (80, 24));
    assert!(!screen.contains("step 7/20"), "{screen}");
}

#[test]
fn what_is_not_known_is_not_shown() {
    let process = Process { command: Vec::new(), job_id: None, ..process(9, None) };
    let look = LiveState {
        series: Vec::new(),
        totals: Vec::new(),
        open: Vec::new(),
        generated: Generated::default(),
        schedule: None,
        ..look(1)
    };
    let bare = Seen::new(process, [look]);
    let screen = screen(&[&bare], (80, 24));
    insta::assert_snapshot!(screen);
    for word in ["GPU", "CPU", "Memory", "Disk", "Loop", "Rate", "0.0", "it/s"] {
        assert!(!screen.contains(word), "{word}:\n{screen}");
    }
}

#[test]
fn a_dead_process_stays_grey_and_says_how_it_ended() {
    let mut seen = pipeline();
    seen.take(LiveState { status: Status::Killed(9), is_alive: Some(false), ..look(13) });
    let buffer = render(&[&seen], &Choice::default(), (80, 24));
    let screen = rows(&buffer).join("\n");
    assert!(screen.contains("killed by SIGKILL (9)"), "{screen}");
    assert!(screen.contains("Was in  pipeline / \\x1b[31m"), "{screen}");
    assert!(!screen.contains("it/s"), "no rate of the dead:\n{screen}");
    let colours: BTreeSet<String> = buffer.content[3 * 80..20 * 80]
        .iter()
        .filter(|cell| cell.symbol() != " ")
        .map(|cell| format!("{:?}", cell.fg))
        .collect();
    assert_eq!(colours, BTreeSet::from([format!("{:?}", Color::DarkGray)]));
}

#[test]
fn several_processes_have_tabs_and_the_chosen_one_is_in_sight() {
    let of_rank = |rank| Seen::new(process(1000 + rank, Some(rank)), [look(1)]);
    let many: Vec<Seen> = (0..40).map(of_rank).collect();
    let seen: Vec<&Seen> = many.iter().collect();
    let folders: Vec<_> = many.iter().map(|s| s.process.folder.as_path()).collect();
    let mut choice = Choice::default();
    let top = |choice: &Choice| rows(&render(&seen, choice, (60, 24)))[0].clone();
    assert_eq!(top(&choice), "[rank 0 pid 1000] rank 1 pid 1001  rank 2 pid 1002  rank 3 p");
    choice.apply(Action::PreviousProcess, &folders, 0);
    assert!(top(&choice).contains("[rank 39 pid 1039]"), "{}", top(&choice));
    choice.apply(Action::NextProcess, &folders, 0);
    choice.apply(Action::NextProcess, &folders, 0);
    assert!(top(&choice).contains("[rank 1 pid 1001]"), "{}", top(&choice));
    // Whatever order the others come in, the chosen one stays.
    let others: Vec<&Seen> = many[1..].iter().rev().collect();
    let row = rows(&render(&others, &choice, (60, 24)))[0].clone();
    assert!(row.contains("[rank 1 pid 1001]"), "{row}");
}

#[test]
fn keys_do_what_the_help_says() {
    let key = |code, modifiers| action(&Event::Key(KeyEvent::new(code, modifiers)));
    let plain = |code| key(code, KeyModifiers::NONE);
    assert_eq!(key(KeyCode::Char('c'), KeyModifiers::CONTROL), Some(Action::Quit));
    assert_eq!(plain(KeyCode::Char('q')), Some(Action::Quit));
    assert_eq!(plain(KeyCode::Esc), Some(Action::Quit));
    assert_eq!(plain(KeyCode::Tab), Some(Action::NextProcess));
    assert_eq!(plain(KeyCode::Left), Some(Action::PreviousProcess));
    assert_eq!(plain(KeyCode::Char('x')), None);
    let mut choice = Choice::default();
    choice.apply(Action::Down(10), &[], 4);
    assert_eq!(choice.skipped, 3, "the last row stays in sight");
    choice.apply(Action::Up(usize::MAX), &[], 4);
    choice.apply(Action::Pause, &[], 4);
    choice.apply(Action::Help, &[], 4);
    let help = rows(&render(&[&pipeline()], &choice, (80, 24))).join("\n");
    assert!(
        help.contains("Left Right Tab     another process") && help.contains("paused"),
        "{help}"
    );
}

#[test]
fn without_colours_and_utf_8_the_screen_says_the_same() {
    let mut buffer = Buffer::empty(ratatui::layout::Rect::new(0, 0, 80, 24));
    draw(&mut buffer, &[pipeline().shown()], &Choice::default(), Palette::None, true);
    assert!(buffer.content.iter().all(|cell| cell.symbol().is_ascii()));
    assert!(
        buffer
            .content
            .iter()
            .all(|cell| cell.style() == Style::new().fg(Color::Reset).bg(Color::Reset)
                || cell.modifier.is_empty() && cell.fg == Color::Reset)
    );
    let screen = rows(&buffer).join("\n");
    assert!(screen.contains("310 W  72  C") && screen.contains("########"), "{screen}");
}

#[test]
fn the_text_of_one_look_has_all_rows() {
    insta::assert_snapshot!(layout::whole(pipeline().shown(), 100));
}

#[test]
fn the_document_has_units_in_its_keys_and_no_key_for_what_is_not_known() {
    let seen = pipeline();
    let text = document(vec![&seen.now], Vec::new(), 1_700_000_100 * S);
    assert!(!text.contains('\x1b') && !text.contains("</script>"));
    let document: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(document["schema_version"], "2.0");
    let process = &document["processes"][0];
    assert_eq!(process["pid"], 4242);
    assert_eq!(process["uptime_s"], 12.0);
    assert_eq!(process["interval_s"], 1.0);
    assert_eq!(process["phase"], serde_json::json!(["pipeline", HOSTILE]));
    assert_eq!(process["open_sections"][1]["open_s"], 10.0);
    let steps = &process["sections"][0];
    assert_eq!(steps["path"], serde_json::json!(["pipeline", HOSTILE, "denoising_step"]));
    assert_eq!(steps["kind"], "iteration");
    assert_eq!((&steps["count"], &steps["total_s"]), (&12.into(), &1.8.into()));
    assert_eq!((&steps["mean_s"], &steps["calls_per_second"]), (&0.15.into(), &1.0.into()));
    assert_eq!(steps["newest_turns"]["p50_s"], 0.1);
    assert_eq!(process["gpus"][0]["power_watts"], 310.0);
    assert_eq!(process["gpus"][0].get("clock_hz"), None);
    assert_eq!(process["cpu_ratio"], 0.5);
    let newest = &process["newest_loop"];
    assert_eq!(
        (&newest["name"], &newest["count"], &newest["calls_per_second"]),
        (&"denoising_step".into(), &12.into(), &1.0.into())
    );
    let made = &process["generation"];
    assert_eq!(made["blocks_per_second"], 0.5);
    assert_eq!((&made["schedule_made"], &made["schedule_steps"]), (&12.into(), &20.into()));
    let series = process["series"].as_array().unwrap();
    let read = series.iter().find(|s| s["name"] == "process.disk.read").unwrap();
    assert_eq!((&read["unit"], &read["per_second"]), (&"B".into(), &1e6.into()));
    assert_eq!(series[5].get("per_second"), None, "a gauge has none");
    assert_eq!(process.get("forked_from"), None);
}
