//! `--output` of the commands that read: `-` is standard output, and an ending says a format or is refused.

use std::path::Path;

use crate::program::{Place, marey};

const SNAPSHOT: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../marey-analysis/tests/data/basic_oom.pickle");

/// A place with a recording, and the commands that read it or a file beside it.
fn commands() -> (Place, Vec<Vec<String>>) {
    let place = Place::new();
    place.recorded(&["section=a"]).output().unwrap();
    let capture = place.captures()[0].to_str().unwrap().to_owned();
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
    let all = vec![
        words(&["report", &capture]),
        words(&["analyze", SNAPSHOT]),
        words(&["compare", &capture, &capture]),
    ];
    (place, all)
}

#[test]
fn a_line_is_standard_output_whatever_the_format_and_no_file_is_made() {
    let (place, commands) = commands();
    for command in &commands {
        for (format, begins) in [("json", "{"), ("html", "<!"), ("markdown", ""), ("text", "")] {
            let mut asked: Vec<&str> = command.iter().map(String::as_str).collect();
            asked.extend(["--format", format, "--output", "-"]);
            let said = place.command(&asked).output().unwrap();
            let out = String::from_utf8(said.stdout).unwrap();
            assert_eq!((said.status.code(), said.stderr.len()), (Some(0), 0), "{asked:?}");
            assert!(out.starts_with(begins) && out.lines().count() > 1, "{asked:?}: {out:.80}");
        }
    }
    assert!(!place.path("-").exists());
    let all = marey(&["report", &commands[0][1], "--format", "all", "--output", "-"]);
    assert_eq!(all.code, 2);
    assert!(all.err.contains("--output names one file"), "{}", all.err);
}

#[test]
fn an_ending_that_says_no_format_is_refused_by_all_and_no_ending_is_text() {
    let (place, mut commands) = commands();
    commands.push(vec!["aggregate".into(), commands[0][1].clone()]);
    for command in &commands {
        let to = |path: &Path| {
            let mut asked: Vec<&str> = command.iter().map(String::as_str).collect();
            asked.extend(["--output", path.to_str().unwrap()]);
            marey(&asked)
        };
        let refused = to(&place.path("a.xyz"));
        assert_eq!(refused.code, 2, "{command:?}");
        assert!(refused.err.contains("a.xyz says no format; --format does"), "{}", refused.err);
        let path = place.path(&format!("{}-text", command[0]));
        assert_eq!(to(&path).code, 0, "{command:?}");
        assert!(path.is_file());
    }
    assert!(!place.path("a.xyz").exists());
}
