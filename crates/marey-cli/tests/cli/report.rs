//! `marey report`: finished, running, damaged and missing recordings.

use std::path::Path;
use std::process::Stdio;

use marey::Status;

use crate::program::{Place, marey, wait_for, words};

#[test]
fn a_job_and_its_parent_give_the_summary_of_the_command_and_a_capture_that_of_its_process() {
    let place = Place::new();
    place.recorded(&["section=text_encoder"]).output().unwrap();
    let written = place.read("out/job/timing_summary.txt");
    assert!(written.contains("PROFILING SUMMARY"), "{written}");
    let report = |path: &Path, format: &[&str]| {
        let said = marey(&[&["report", path.to_str().unwrap()], format].concat());
        assert_eq!((said.code, said.err.as_str()), (0, ""));
        said.out
    };
    // The same tables, but what the documents' own tables say is said by them.
    let shown = report(&place.job(), &["--full"]);
    assert_eq!(report(&place.out(), &["--full"]), shown);
    let (_, tree) = shown.split_once("INCLUSIVE AND SELF TIME").unwrap();
    assert!(written.ends_with(tree), "{written}");
    assert!(shown.contains("TIME BY SECTION NAME") && !shown.contains("PROFILING SUMMARY"));
    assert!(!written.contains("TIME BY SECTION NAME"), "{written}");
    let answer = |path: &Path| -> serde_json::Value {
        serde_json::from_str(&report(path, &["--format", "json"])).unwrap()
    };
    let (job, process) = (answer(&place.job()), answer(&place.captures()[0]));
    let total = |of: &serde_json::Value| of["timing_stats"]["text_encoder"]["total"].clone();
    assert_eq!(total(&job), total(&process));
    let wall = |of: &serde_json::Value| of["session_info"]["duration"].as_f64().unwrap();
    assert!(wall(&process) < wall(&job));
}

#[test]
fn json_is_the_profiling_report() {
    let place = Place::new();
    place.recorded(&["section=a"]).output().unwrap();
    let said = marey(&["report", "--format", "json", place.out().to_str().unwrap()]);
    assert_eq!(said.out, place.read("out/profiling_report.json"));
}

#[test]
fn all_formats_are_files_whose_paths_are_shown() {
    let place = Place::new();
    place.recorded(&["section=a"]).output().unwrap();
    for name in ["run.json", "timing_summary.txt", "profiling_report.json", "memory_log.json"] {
        std::fs::remove_file(place.job().join(name)).unwrap();
    }
    let said = marey(&["report", "--format", "all", place.job().to_str().unwrap()]);
    insta::assert_snapshot!(place.plain(&said.out), @"
    [place]/out/job/run.json
    [place]/out/job/timing_summary.txt
    [place]/out/job/memory_log.json
    [place]/out/job/profiling_report.json
    [place]/out/job/report.md
    [place]/out/job/report.html
    [place]/out/timing_summary.txt
    [place]/out/memory_log.json
    [place]/out/profiling_report.json
    [place]/out/report.md
    [place]/out/report.html
    ");
    for line in said.out.lines() {
        assert!(std::fs::metadata(line).unwrap().len() > 0);
    }
}

#[test]
fn markdown_is_shown_and_a_page_is_a_file_whose_path_is_shown() {
    let place = Place::new();
    place.recorded(&["section=vae_decode"]).output().unwrap();
    let job = place.job();
    let job = job.to_str().unwrap();
    let said = marey(&["report", "--format", "markdown", job]);
    assert!(said.out.starts_with("## Marey: "), "{}", said.out);
    assert!(said.out.contains("| `vae_decode`"), "{}", said.out);
    std::fs::remove_file(place.path("out/job/report.html")).unwrap();
    let said = marey(&["report", "--format", "html", job]);
    assert_eq!(place.plain(&said.out), "[place]/out/job/report.html\n");
    assert!(place.read("out/job/report.html").starts_with("<!doctype html>"));
}

#[test]
fn the_ending_of_a_file_says_its_format() {
    let place = Place::new();
    place.recorded(&["section=a"]).output().unwrap();
    let capture = place.captures()[0].clone();
    for (name, begins) in [
        ("page.html", "<!doctype html>"),
        ("REPORT.JSON", "{\n"),
        ("report.md", "## Marey"),
        ("report", "marey: "),
    ] {
        let file = place.path(name);
        let said =
            marey(&["report", "--output", file.to_str().unwrap(), capture.to_str().unwrap()]);
        assert_eq!((said.code, said.err.as_str()), (0, ""));
        let written = place.read(name);
        assert!(written.starts_with(begins), "{name}: {written:.80}");
    }
}

#[test]
fn any_one_format_goes_into_the_file_that_is_named() {
    let place = Place::new();
    place.recorded(&["section=a"]).output().unwrap();
    let file = place.path("elsewhere");
    let capture = place.captures()[0].clone();
    for (format, begins) in [
        ("text", "marey: "),
        ("json", "{\n"),
        ("markdown", "## Marey"),
        ("html", "<!doctype html>"),
    ] {
        let named = ["--output", file.to_str().unwrap(), capture.to_str().unwrap()];
        let said = marey(&[&["report", "--full", "--format", format][..], &named].concat());
        assert_eq!((said.code, said.err.as_str()), (0, ""));
        assert_eq!(place.plain(&said.out), "[place]/elsewhere\n");
        assert!(place.read("elsewhere").starts_with(begins), "{format}");
    }
    let named = ["--output", file.to_str().unwrap(), capture.to_str().unwrap()];
    let said = marey(&[&["report", "--format", "all"][..], &named].concat());
    assert_eq!(said.code, 2);
    assert!(said.err.contains("--output names one file"), "{}", said.err);
}

#[test]
fn one_table_is_shown_in_every_format_that_tables_have() {
    let place = Place::new();
    place.recorded(&["section=text_encoder", "section=vae_decode"]).output().unwrap();
    let job = place.job();
    let table =
        |arguments: &[&str]| marey(&[&["report", job.to_str().unwrap()], arguments].concat());
    let list = table(&["--table", "list"]).out;
    assert!(list.contains("section_names      Time by section name"), "{list}");
    let named = ["--table", "section_names"];
    let text = table(&named).out;
    assert!(text.starts_with("TIME BY SECTION NAME\n"), "{text}");
    assert!(!text.contains("INCLUSIVE"), "{text}");
    let said = |format| table(&[&named[..], &["--format", format]].concat()).out;
    assert!(said("markdown").starts_with("### Time by section name"));
    let csv = said("csv");
    assert!(csv.starts_with("section,count,total_ns,"), "{csv}");
    let document: serde_json::Value = serde_json::from_str(&said("json")).unwrap();
    assert_eq!(document["key"], "section_names");
    let total = |name: &str| {
        let rows = document["rows"].as_array().unwrap();
        let row = rows.iter().find(|row| row[0] == name).unwrap();
        format!("{:.0}", row[2].as_f64().unwrap() * 1e9)
    };
    let row = format!("\nvae_decode,1,{},", total("vae_decode"));
    assert!(csv.contains(&row), "{csv}");
    let folder = place.path("tables");
    let written = table(&["--format", "csv", "--output", folder.to_str().unwrap()]);
    assert_eq!(written.code, 0, "{}", written.err);
    assert_eq!(place.read("tables/section_names.csv"), csv);
    for (refused, why) in [
        (&["--table", "section_name"][..], "the nearest are section_names, "),
        (&["--table", "sections", "--format", "html"], "--table goes with"),
        (&["--format", "csv"], "name a folder with --output"),
    ] {
        let said = table(refused);
        assert_eq!((said.code, said.out.as_str()), (2, ""));
        assert!(said.err.contains(why), "{}", said.err);
        assert_eq!(said.err.lines().count(), 1, "{}", said.err);
    }
}

#[test]
fn limits_of_findings_can_be_set_for_a_report() {
    let place = Place::new();
    place.recorded(&["section=text_encoder", "section=vae_decode"]).output().unwrap();
    let job = place.job();
    let job = job.to_str().unwrap();
    let limits = |limit| marey(&["report", "--full", "--threshold", limit, job]);
    let said = limits("stage_ratio=0.000001");
    assert_eq!((said.code, said.err.as_str()), (0, ""));
    assert!(said.out.contains("FINDINGS"), "{}", said.out);
    let said = limits("stage_share=0.5");
    assert_eq!(said.code, 2);
    assert!(said.err.contains("there is no threshold `stage_share`"), "{}", said.err);
}

#[test]
fn an_old_job_does_not_replace_what_stands_for_the_newest() {
    let place = Place::new();
    place.recorded(&["section=old"]).env("MAREY_JOB_ID", "old").output().unwrap();
    place.recorded(&["section=new"]).output().unwrap();
    let said = marey(&["report", place.path("out/old").to_str().unwrap(), "--full"]);
    assert!(said.out.contains("old"));
    assert!(place.read("out/timing_summary.txt").contains("new"));
}

#[test]
fn a_running_program_is_shown_as_running_and_a_dead_one_is_completed() {
    let place = Place::new();
    let ready = place.path("ready");
    let mut command = std::process::Command::new(crate::program::example());
    for (name, value) in place.command(&[]).get_envs() {
        command.env(name, value.unwrap_or_default());
    }
    command.args(["section=a", "open=under_way", &format!("ready={}", ready.display()), "wait"]);
    let mut program = command.env("MAREY_ENABLED", "1").stdout(Stdio::null()).spawn().unwrap();
    wait_for(&ready, &mut program);
    let running = marey(&["report", place.job().to_str().unwrap(), "--full"]);
    assert!(words(&running.out).contains("Status running when it was read"), "{}", running.out);
    assert!(words(&running.out).contains("Open under_way"), "{}", running.out);
    program.kill().unwrap();
    program.wait().unwrap();
    let dead = marey(&["report", place.job().to_str().unwrap(), "--full"]);
    assert!(words(&dead.out).contains("Status ended without closing its capture"), "{}", dead.out);
    assert!(words(&dead.out).contains("Open under_way"), "{}", dead.out);
    assert!(!place.path("rings").exists());
    assert!(place.read("out/job/run.json").contains("ended_without_closing"));
    assert_eq!(marey::load(&place.captures()[0]).unwrap().status, Status::EndedWithoutClosing);
}

#[test]
fn a_capture_cut_anywhere_is_read_with_a_warning_or_refused_in_one_line() {
    let place = Place::new();
    place.recorded(&["section=a", "section=b"]).output().unwrap();
    let whole = std::fs::read(&place.captures()[0]).unwrap();
    let cut = place.path("cut.marey");
    for length in (0..whole.len()).step_by(37) {
        std::fs::write(&cut, &whole[..length]).unwrap();
        let said = marey(&["report", cut.to_str().unwrap(), "--full"]);
        if length < 16 {
            assert_eq!((said.code, said.out.as_str()), (2, ""));
            assert_eq!(place.plain(&said.err), "marey: [place]/cut.marey is not a Marey capture\n");
        } else {
            assert_eq!((said.code, said.err.as_str()), (0, ""), "cut at {length}");
            assert!(words(&said.out).contains("Status ended without closing"), "cut at {length}");
        }
    }
}

#[test]
fn one_damaged_capture_of_a_job_does_not_hide_the_others() {
    let place = Place::new();
    place.recorded(&["section=a"]).output().unwrap();
    std::fs::write(place.job().join("rank1-1.marey"), "no capture").unwrap();
    let said = marey(&["report", place.job().to_str().unwrap(), "--full"]);
    assert_eq!(said.code, 0);
    insta::assert_snapshot!(place.plain(&said.err), @"marey: [place]/out/job/rank1-1.marey is not a Marey capture");
    assert!(said.out.contains("TIME BY SECTION NAME"));
    assert!(place.read("out/job/run.json").contains("rank1-1.marey is not a Marey capture"));
}

#[test]
fn what_is_not_there_is_said_in_one_line() {
    let place = Place::new();
    let said = marey(&["report", place.path("nowhere").to_str().unwrap()]);
    assert_eq!(said.code, 2);
    insta::assert_snapshot!(place.plain(&said.err), @"marey: cannot read [place]/nowhere: No such file or directory (os error 2)");
    let said = marey(&["report", place.path("").to_str().unwrap()]);
    assert_eq!(said.code, 2);
    insta::assert_snapshot!(place.plain(&said.err), @"marey: [place]/ holds no captures (*.marey), and no folder of a job; name a job's folder or a capture");
}

#[test]
fn documents_that_cannot_be_written_do_not_hide_the_summary() {
    let place = Place::new();
    place.recorded(&["section=a"]).output().unwrap();
    std::fs::remove_file(place.job().join("run.json")).unwrap();
    std::fs::create_dir_all(place.job().join("run.json/in_the_way")).unwrap();
    let said = marey(&["report", place.job().to_str().unwrap(), "--full"]);
    assert_eq!(said.code, 0);
    assert!(said.out.contains("TIME BY SECTION NAME"));
    insta::assert_snapshot!(place.plain(&said.err), @"marey: cannot write [place]/out/job/run.json: Is a directory (os error 21)");
    assert!(!place.files().iter().any(|file| file.contains(".marey-")), "no half-made file stays");
}
