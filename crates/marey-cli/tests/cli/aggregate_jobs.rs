//! Which jobs `marey aggregate` reads of paths that hold several.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::UNIX_EPOCH;

use serde_json::Value;

use crate::aggregate::{aggregate, put, rank, text};
use crate::program::{Place, example, marey};

/// A rank as torchrun starts it: its run id and the number of restarts name the job.
fn torchrun_rank(place: &Place, run: &str, restart: u32) {
    assert!(torchrun(place, run, restart, &[]).success());
}

fn torchrun(place: &Place, run: &str, restart: u32, does: &[&str]) -> ExitStatus {
    Command::new(example())
        .arg("section=denoise")
        .args(does)
        .env("MAREY_ENABLED", "1")
        .env_remove("MAREY_JOB_ID")
        .env("MAREY_RING_DIR", place.path("rings"))
        .env("MAREY_OUTPUT_DIR", place.out())
        .env("MAREY_MONITOR_CPU_USAGE", "0")
        .env("MAREY_MONITOR_SYSTEM_MEMORY", "0")
        .env("TORCHELASTIC_RUN_ID", run)
        .env("TORCHELASTIC_RESTART_COUNT", restart.to_string())
        .env("RANK", "0")
        .env("WORLD_SIZE", "1")
        .stdin(Stdio::null())
        .status()
        .unwrap()
}

/// Exit code, ids of the jobs that were read, and what was said besides.
fn jobs(paths: &[&Path], arguments: &[&str]) -> (u8, Vec<String>, String) {
    let mut all: Vec<&str> = paths.iter().map(|path| text(path)).collect();
    all.extend(["--format", "json"]);
    all.extend(arguments);
    let said = aggregate(&all);
    let written: Value = serde_json::from_str(&said.out).unwrap_or_default();
    let found = written["jobs"].as_array().cloned().unwrap_or_default();
    let ids = found.iter().map(|job| job["job_id"].as_str().unwrap().to_owned());
    (said.code, ids.collect(), said.err)
}

/// Moves the capture of a rank into a folder of another machine.
fn moved(place: &Place, job: &str, name: &str, node: &str) -> PathBuf {
    let folder = place.path(node).join(job);
    std::fs::create_dir_all(&folder).unwrap();
    let captures = marey_folder::run_folder::captures(&place.out().join(job)).unwrap();
    let capture = captures.iter().find(|path| text(path).contains(name));
    let capture = capture.unwrap();
    std::fs::rename(capture, folder.join(capture.file_name().unwrap())).unwrap();
    place.path(node)
}

#[test]
fn of_the_attempts_of_a_run_the_last_one_is_read() {
    let place = Place::new();
    for restart in 0..3 {
        torchrun_rank(&place, "flux", restart);
    }
    let (code, ids, err) = jobs(&[&place.out()], &[]);
    assert_eq!((code, ids), (0, vec!["flux-2".to_owned()]));
    assert_eq!(
        err,
        "marey: flux-2 is attempt 3 of its run; 2 earlier ones: --job NAME (flux-1, flux-0)\n"
    );
    let (_, ids, err) = jobs(&[&place.out()], &["--job", "flux-0"]);
    assert_eq!((ids, err.as_str()), (vec!["flux-0".to_owned()], ""));
    // Another run beside it is another job.
    torchrun_rank(&place, "sdxl", 0);
    let (_, ids, err) = jobs(&[&place.out()], &[]);
    assert_eq!(ids, ["sdxl-0"]);
    assert!(err.contains("several jobs; this is sdxl-0"), "{err}");
    assert!(!err.contains("attempt"), "{err}");
}

#[test]
fn of_all_jobs_an_attempt_that_failed_is_one() {
    let place = Place::new();
    assert!(!torchrun(&place, "flux", 0, &["signal=9"]).success());
    torchrun_rank(&place, "flux", 1);
    let (code, ids, err) = jobs(&[&place.out()], &["--job", "all"]);
    assert_eq!((code, err.as_str()), (1, ""));
    assert_eq!(ids, ["flux-0", "flux-1"]);
}

#[test]
fn folders_of_several_machines_that_share_a_job_have_one_newest_job() {
    let place = Place::new();
    for job in ["first", "second"] {
        for number in 0..2 {
            rank(&place, job, number, 2, &["section=denoise"]);
        }
        moved(&place, job, "rank0-", "node0");
    }
    let node0 = place.path("node0");
    let node1 = moved(&place, "first", "rank1-", "node1");
    // The second job never came to node 1, so that its newest is the first.
    let (code, ids, err) = jobs(&[&node0, &node1], &[]);
    assert_eq!(ids, ["second"], "{err}");
    assert_eq!(code, 1, "rank 1 is missing");
    assert!(err.contains("hold several jobs; this is second"), "{err}");
    assert_eq!(err.lines().count(), 1, "{err}");
    // A job is looked for in all of them.
    let (code, ids, err) = jobs(&[&node1, &node0], &["--job", "second"]);
    assert_eq!((code, ids), (1, vec!["second".to_owned()]));
    assert!(!err.contains("has no job"), "{err}");
}

#[test]
fn folders_without_a_job_in_common_each_have_their_newest() {
    let place = Place::new();
    rank(&place, "tp1", 0, 1, &["section=denoise"]);
    for number in 0..2 {
        rank(&place, "tp2", number, 2, &["section=denoise"]);
    }
    let (tp1, tp2) = (place.out().join("tp1"), place.out().join("tp2"));
    let (code, ids, err) = jobs(&[&tp1, &tp2], &[]);
    assert_eq!((code, err.as_str()), (0, ""));
    assert_eq!(ids, ["tp1", "tp2"]);
}

#[test]
fn the_newest_job_is_the_one_that_began_last_however_its_files_were_copied() {
    let place = Place::new();
    for job in ["b-first", "a-second"] {
        rank(&place, job, 0, 1, &["section=denoise"]);
    }
    // By when they were written, the second job would be the older one.
    let written_long_ago = |file: &Path| {
        let file = std::fs::File::options().append(true).open(file);
        file.unwrap().set_modified(UNIX_EPOCH).unwrap();
    };
    let capture = marey_folder::run_folder::captures(&place.out().join("a-second")).unwrap();
    written_long_ago(&capture[0]);
    let newest = |out: &Path| {
        let (_, ids, _) = jobs(&[out], &[]);
        let report = marey(&["report", text(out), "--format", "json"]);
        let report: Value = serde_json::from_str(&report.out).unwrap();
        (ids, report["run"]["job_id"].as_str().unwrap().to_owned())
    };
    let second = (vec!["a-second".to_owned()], "a-second".to_owned());
    assert_eq!(newest(&place.out()), second);
    // Captures that were collected have no link.
    std::fs::remove_file(place.out().join("latest")).unwrap();
    assert_eq!(newest(&place.out()), second);
    // Reports say it, too.
    for job in ["b-first", "a-second"] {
        let report = marey(&["report", text(&place.out().join(job)), "--format", "json"]);
        put(&place, &format!("reports/{job}/profiling_report.json"), &report.out);
    }
    written_long_ago(&place.path("reports/a-second/profiling_report.json"));
    let (_, ids, _) = jobs(&[&place.path("reports")], &[]);
    assert_eq!(ids, ["a-second"]);
}
