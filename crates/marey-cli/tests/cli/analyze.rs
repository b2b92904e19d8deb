//! `marey analyze`: memory snapshots, and files that are none. Traces are in `analyze_trace.rs`.

use crate::program::{Place, marey};

const BASIC_OOM: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../marey-analysis/tests/data/basic_oom.pickle");

#[test]
fn a_memory_snapshot_and_a_trace_have_a_first_screen_each() {
    let trace = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../marey-analysis/tests/data/traces/flux_tiny_cpu.trace.json.gz"
    );
    let said = marey(&["analyze", BASIC_OOM, trace]);
    assert_eq!((said.code, said.err.as_str()), (0, ""));
    let heads: Vec<&str> = said.out.lines().filter(|line| line.starts_with("marey: ")).collect();
    // The signs between the parts are those of the locale.
    assert!(heads[0].starts_with("marey: basic_oom.pickle "));
    assert!(heads[0].ends_with(" ran out of memory: 30.00 GiB requested, 21.82 GiB free"));
    assert!(heads[1].starts_with("marey: flux_tiny_cpu.trace.json.gz "));
    assert!(heads[1].contains(" 4 steps in 29.4 ms "));
    assert_eq!(heads.len(), 2);
    assert!(said.out.lines().count() <= 51, "{}", said.out);
    let brief = marey(&["analyze", "--brief", "--format", "json", BASIC_OOM, trace]).out;
    let kinds: Vec<String> = brief
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
        .map(|brief| brief["kind"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(kinds, ["snapshot", "trace"]);
    let mixed = marey(&["analyze", "--brief", "--format", "csv", BASIC_OOM]);
    assert!(mixed.err.contains("--brief goes with"), "{}", mixed.err);
}

#[test]
fn colours_are_where_they_are_asked_for() {
    let coloured = |when: &str| marey(&["analyze", "--color", when, BASIC_OOM]).out;
    assert!(coloured("always").contains("\x1b[31mran out of memory\x1b[0m"));
    for when in ["never", "auto"] {
        assert!(!coloured(when).contains('\x1b'), "{when}");
    }
}

#[test]
fn a_memory_snapshot_is_told_in_tables() {
    let said = marey(&["analyze", "--full", BASIC_OOM]);
    assert_eq!((said.code, said.err.as_str()), (0, ""));
    // The title has the file's place.
    let (_, text) = said.out.split_once("\n\n").unwrap();
    insta::assert_snapshot!(text);
}

#[test]
fn tables_say_where_memory_went_what_is_the_matter_and_what_was_not_met() {
    let table = |name: &str| {
        let said = marey(&["analyze", "--table", name, "--format", "json", BASIC_OOM]);
        assert_eq!((said.code, said.err.as_str()), (0, ""));
        serde_json::from_str::<serde_json::Value>(&said.out).unwrap()
    };
    let column = |table: &serde_json::Value, key: &str| {
        let columns = table["columns"].as_array().unwrap();
        let at = columns.iter().position(|column| column["key"] == key);
        let rows = table["rows"].as_array().unwrap().iter();
        rows.map(|row| row[at.unwrap()].clone()).collect::<Vec<_>>()
    };
    let json = marey(&["analyze", "--format", "json", BASIC_OOM]).out;
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let failed = &json["answers"]["devices"][0]["out_of_memory"][0];
    let oom = table("oom");
    // 30 GiB.
    assert_eq!(column(&oom, "requested_bytes"), [30_u64 << 30]);
    assert_eq!(column(&oom, "cause"), ["too large"]);
    assert_eq!(column(&oom, "device_free_bytes"), [failed["device_free_bytes"].clone()]);
    let account = table("account");
    let held = column(&account, "held_bytes");
    let held: u64 = held.iter().map(|bytes| bytes.as_u64().unwrap()).sum();
    let known = |bytes: &serde_json::Value| bytes.as_u64().unwrap();
    let all = known(&failed["level"]["reserved_bytes"]) + known(&failed["device_free_bytes"]);
    assert_eq!(held, all);
    let findings = table("findings");
    assert_eq!(column(&findings, "rule"), ["out-of-memory"]);
    assert_eq!(column(&findings, "outcome"), ["found"]);
}

#[test]
fn json_follows_its_schema_and_has_the_figures_in_bytes() {
    let said = marey(&["analyze", "--format", "json", BASIC_OOM]);
    let document: serde_json::Value = serde_json::from_str(&said.out).unwrap();
    let schema = include_str!("../../../../docs/schema/memory_snapshot.schema.json");
    let schema: serde_json::Value = serde_json::from_str(schema).unwrap();
    let validator = jsonschema::draft202012::new(&schema).unwrap();
    let errors: Vec<String> = validator
        .iter_errors(&document)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    assert!(errors.is_empty(), "{errors:#?}");
    let device = &document["answers"]["devices"][0];
    // 3 + 300 + 700 + 1 200 MiB, three times 16 KiB, and 8.125 MiB.
    assert_eq!(device["peak"]["allocated_bytes"], 2_318_581_760_u64);
    assert_eq!(device["out_of_memory"][0]["cause"], "too_large");
}

#[test]
fn a_report_has_what_snapshots_in_its_folder_say() {
    let place = Place::new();
    place.recorded(&["section=a"]).output().unwrap();
    let beside = |name: &str| place.job().join(name);
    std::fs::copy(BASIC_OOM, beside("film-rank0-memory-1.pickle")).unwrap();
    std::fs::copy(BASIC_OOM, beside("film-rank1-memory-1.pickle")).unwrap();
    std::fs::write(beside("bad-memory-2.pickle"), b"\x80\x04cposix\nsystem\n.").unwrap();
    let job = place.job();
    let said = marey(&["report", job.to_str().unwrap(), "--full"]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(said.out.contains("opcode GLOBAL at byte 2"), "{}", said.out);
    let json = place.read("out/job/profiling_report.json");
    let document: serde_json::Value = serde_json::from_str(&json).unwrap();
    let files = document["memory_snapshot_files"].as_array().unwrap();
    assert_eq!(files.len(), 2);
    assert_eq!(files[0]["answers"], serde_json::Value::Null);
    assert_eq!(files[1]["file"], "film-rank0-memory-1.pickle");
}

#[test]
fn what_is_no_snapshot_is_said() {
    let place = Place::new();
    let cases: [(&[u8], &str); 5] = [
        (b"", "is empty"),
        (b"\x80\x04}\x8c\tpg_configK\x01s.", "NCCL's flight recorder"),
        (b"PK\x03\x04....", "is a zip archive"),
        (b"\x80\x04cposix\nsystem\n.", "the opcode GLOBAL at byte 2"),
        (b"\x80\x04}.", "it has no segments"),
    ];
    for (bytes, problem) in cases {
        let path = place.path("file.pickle");
        std::fs::write(&path, bytes).unwrap();
        let said = marey(&["analyze", path.to_str().unwrap()]);
        assert_eq!((said.code, said.out.as_str()), (2, ""));
        assert!(said.err.contains(problem), "{}", said.err);
    }
    let said = marey(&["analyze", place.path("").to_str().unwrap()]);
    assert_eq!(said.code, 2);
    let folder = place.path("empty");
    std::fs::create_dir(&folder).unwrap();
    let said = marey(&["analyze", folder.to_str().unwrap()]);
    assert_eq!((said.code, said.out.as_str()), (2, ""));
    assert!(said.err.contains("holds no trace"), "{}", said.err);
}

#[test]
fn what_is_no_regular_file_is_refused_before_it_is_opened() {
    let place = Place::new();
    let pipe = place.path("pipe.pickle");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    for path in [pipe.to_str().unwrap(), "/dev/null"] {
        let said = marey(&["analyze", path]);
        assert_eq!((said.code, said.out.as_str()), (2, ""));
        assert!(said.err.contains("no regular file"), "{}", said.err);
    }
    let link = place.path("link.pickle");
    std::os::unix::fs::symlink(BASIC_OOM, &link).unwrap();
    let said = marey(&["analyze", link.to_str().unwrap()]);
    assert_eq!(said.code, 0, "{}", said.err);
}

#[test]
fn a_recording_of_another_time_is_pointed_out() {
    let place = Place::new();
    place.recorded(&["section=a"]).output().unwrap();
    let job = place.job();
    let run = job.to_str().unwrap();
    let said = marey(&["analyze", "--full", BASIC_OOM, "--run", run]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(said.err.contains("is it of the same process?"), "{}", said.err);
    assert!(!said.out.contains("BY SECTION"), "{}", said.out);
    assert!(said.out.contains("outside of this run"), "{}", said.out);
    std::fs::copy(BASIC_OOM, job.join("film-memory-1.pickle")).unwrap();
    assert_eq!(marey(&["report", job.to_str().unwrap()]).code, 0);
    let json = place.read("out/job/profiling_report.json");
    let document: serde_json::Value = serde_json::from_str(&json).unwrap();
    let answers = &document["memory_snapshot_files"][0]["answers"];
    assert_eq!(answers["is_outside_of_run"], true);
    let alive = &answers["devices"][0]["alive"];
    assert_eq!(alive["by_section"], serde_json::Value::Null);
}
