//! What is shown first: few lines, which add up.

use marey::Run;
use marey_report::{Report, Shown, first_screen};
use marey_testing::RunBuilder;

use crate::example::sampled_latent_video;

const MS: u64 = 1_000_000;

fn shown(run: &Run, width: usize) -> String {
    let how = Shown {
        width,
        has_colour: false,
        more: "marey report job --full",
    };
    first_screen(&Report::new(run), &how)
}

/// The rows of where the time went: name and milliseconds.
fn rows(text: &str) -> Vec<(String, f64)> {
    let is_row = |line: &&str| line.contains(" % ");
    let row = |line: &str| {
        let mut words = line.split_whitespace();
        let name = words.next()?.to_owned();
        let (value, unit): (f64, &str) = (words.next()?.parse().ok()?, words.next()?);
        let ms = match unit {
            "s" => value * 1000.0,
            "ms" => value,
            _ => return None,
        };
        Some((name, ms))
    };
    text.lines().filter(is_row).filter_map(row).collect()
}

/// ```text
/// ms   0   100        1100          1500  1600
///      |load|           |vae_decode  |
///           |generate---------------|          step 400 and 500 in it, encode 60
/// ```
fn generated() -> Run {
    RunBuilder::new()
        .section("load", 0, 100 * MS, |_| {})
        .section("generate", 100 * MS, 1500 * MS, |s| {
            s.section("encode", 100 * MS, 160 * MS, |_| {});
            s.section("denoise", 160 * MS, 1100 * MS, |s| {
                s.iteration("denoising_step", 160 * MS, 560 * MS, |_| {});
                s.iteration("denoising_step", 600 * MS, 1100 * MS, |_| {});
            });
            s.section("vae_decode", 1100 * MS, 1500 * MS, |_| {});
        })
        .with(|run| run.info.command = vec!["python".into(), "/home/me/clip.py".into()])
        .finish(1600 * MS)
}

#[test]
fn where_the_time_went_adds_up_to_the_wall_time() {
    let text = shown(&generated(), 100);
    let said = text.lines().next().unwrap();
    assert!(said.starts_with("clip.py finished in 1.600 s"), "{said}");
    assert!(text.contains("  denoising_step 900 ms\n"), "{text}");
    let expected = [
        ("denoise", 940.0),
        ("vae_decode", 400.0),
        ("load", 100.0),
        ("encode", 60.0),
        ("other", 100.0),
    ];
    let expected: Vec<(String, f64)> = expected.map(|(name, ms)| (name.to_owned(), ms)).into();
    assert_eq!(rows(&text), expected, "{text}");
}

#[test]
fn it_fits_a_screen_of_any_width() {
    for run in [generated(), sampled_latent_video(), Run::default()] {
        for width in [20, 40, 60, 80, 100, 400] {
            let text = shown(&run, width);
            assert!(text.lines().count() <= 25, "{text}");
            let longest = text.lines().map(|line| line.chars().count()).max().unwrap();
            assert!(longest <= width.min(100), "{width}: {text}");
        }
    }
}

#[test]
fn names_of_users_are_no_control_codes() {
    let hostile = "\u{1b}[31m</script>\u{202e}../";
    let run = RunBuilder::new()
        .section(hostile, 0, 80 * MS, |_| {})
        .with(|run| run.info.command = vec![hostile.into()])
        .finish(100 * MS);
    let text = shown(&run, 100);
    assert!(text.contains("\\x1b[31m"), "{text}");
    assert!(!text.contains('\u{1b}') && !text.contains('\u{202e}'));
}

#[test]
fn colours_are_for_those_who_see_them() {
    let how = Shown {
        width: 100,
        has_colour: true,
        more: "",
    };
    let coloured = first_screen(&Report::new(&sampled_latent_video()), &how);
    assert!(coloured.contains("\u{1b}[36mSpeed\u{1b}[0m"), "{coloured}");
    assert!(!shown(&sampled_latent_video(), 100).contains('\u{1b}'));
}
