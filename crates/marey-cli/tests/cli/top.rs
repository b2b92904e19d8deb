//! `marey top`: one look as text and JSON, what is not there, and the live view on a terminal of its own.

use std::process::{Child, Command, Stdio};

use serde_json::Value;

use crate::program::{Place, Said, example, wait_for};

/// The example at work, until it is dropped.
struct Program(Child);

impl Program {
    fn start(place: &Place, arguments: &[&str]) -> Self {
        Self::start_with(place, arguments, &[])
    }

    fn start_with(place: &Place, arguments: &[&str], variables: &[(&str, &str)]) -> Self {
        let ready = place.path("ready");
        std::fs::remove_file(&ready).ok();
        let mut command = Command::new(example());
        command
            .args(arguments)
            .arg(format!("ready={}", ready.display()))
            .arg("wait")
            .env("MAREY_ENABLED", "1")
            .env("MAREY_RING_DIR", place.path("rings"))
            .env("MAREY_OUTPUT_DIR", place.out())
            .env("MAREY_JOB_ID", "job")
            // The only sampler is the scripted one.
            .env("MAREY_MONITOR_CPU_USAGE", "0")
            .env("MAREY_MONITOR_SYSTEM_MEMORY", "0")
            .envs(variables.iter().copied())
            .stdout(Stdio::null());
        let mut program = command.spawn().unwrap();
        wait_for(&ready, &mut program);
        Self(program)
    }

    fn pid(&self) -> String {
        self.0.id().to_string()
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

fn top(place: &Place, arguments: &[&str]) -> Said {
    let interval = ["top", "--interval", "0.1"];
    let output = place.command(&[&interval[..], arguments].concat()).output().unwrap();
    Said {
        code: output.status.code().unwrap().try_into().unwrap(),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

fn document(place: &Place, arguments: &[&str]) -> Value {
    let said = top(place, &[&["--once", "--json"], arguments].concat());
    assert_eq!((said.code, said.err.as_str()), (0, ""));
    serde_json::from_str(&said.out).unwrap()
}

#[test]
fn one_document_says_what_the_program_did() {
    let place = Place::new();
    let program = Program::start(
        &place,
        &["section=a", "section=a", "open=b\x1b[2J", "turn=step", "sample=4096"],
    );
    let by_path = [place.out(), place.job(), place.captures()[0].clone()];
    let by_path = by_path.iter().map(|path| path.to_str().unwrap());
    let pid = program.pid();
    for target in [None, Some(pid.as_str())].into_iter().chain(by_path.map(Some)) {
        let arguments: Vec<&str> = target.into_iter().collect();
        let document = document(&place, &arguments);
        let processes = document["processes"].as_array().unwrap();
        assert_eq!(processes.len(), 1, "{target:?}");
        let process = &processes[0];
        assert_eq!(process["pid"].to_string(), pid);
        assert_eq!(process["job_id"], "job");
        assert_eq!(process["status"]["kind"], "running");
        assert_eq!(process["phase"], serde_json::json!(["b\x1b[2J"]));
        let sections: Vec<(&Value, &Value, &Value)> = process["sections"]
            .as_array()
            .unwrap()
            .iter()
            .map(|section| (&section["path"], &section["count"], &section["kind"]))
            .collect();
        let (a, step) = (serde_json::json!(["a"]), serde_json::json!(["b\x1b[2J", "step"]));
        assert_eq!(
            sections,
            [(&a, &2.into(), &"section".into()), (&step, &1.into(), &"iteration".into())]
        );
        assert_eq!(process["process_memory_bytes"], 4096.0);
        assert_eq!(process.get("cpu_ratio"), None);
        // No call ended between the two looks.
        assert_eq!(process["sections"][0].get("calls_per_second"), None);
        assert!(process["interval_s"].as_f64().unwrap() >= 0.1);
    }
}

#[test]
fn one_text_says_it_for_people() {
    let place = Place::new();
    let program = Program::start(&place, &["section=a", "open=decode"]);
    let said = top(&place, &["--once", &program.pid()]);
    assert_eq!((said.code, said.err.as_str()), (0, ""));
    let first = said.out.lines().next().unwrap();
    assert!(first.starts_with(&format!("job job  pid {}  up 0:", program.pid())), "{first}");
    assert!(said.out.contains("In      decode"), "{}", said.out);
    assert!(said.out.contains("Section"), "{}", said.out);
}

#[test]
fn a_rank_that_has_not_come_to_a_collective_is_named_as_aggregate_names_it() {
    let place = Place::new();
    let (waits, is_elsewhere) =
        (["section=all_reduce", "open=all_reduce"], ["section=all_reduce", "open=load_lora"]);
    let _ranks = [("0", waits), ("1", is_elsewhere), ("2", waits)].map(|(rank, does)| {
        Program::start_with(&place, &does, &[("RANK", rank), ("WORLD_SIZE", "3")])
    });
    let job = place.job();
    let job = job.to_str().unwrap();
    // Nobody hangs in a call that lasts less than 5 s, and captures are read one after the other.
    let hang = loop {
        let hang = document(&place, &[job])["hangs"].get(0).cloned().unwrap_or_default();
        if hang["waiting_ranks"] == serde_json::json!([0, 2]) {
            break hang;
        }
    };
    let said = hang["said"].as_str().unwrap();
    assert!(said.starts_with("Ranks 0 and 2 waited "), "{said}");
    let end = " s in call 2 of all_reduce, to which rank 1 did not come: it was in load_lora";
    assert!(said.ends_with(end), "{said}");
    assert_eq!(hang["absent_ranks"], serde_json::json!([1]));
    assert!(hang["waited_s"].as_f64().unwrap() >= 5.0);
    let shown = top(&place, &["--once", job]).out;
    assert_eq!(shown.matches("! Ranks 0 and 2 waited ").count(), 3, "{shown}");
    let aggregated = place.command(&["aggregate", job]).output().unwrap();
    let aggregated = String::from_utf8(aggregated.stdout).unwrap();
    assert!(aggregated.contains("Ranks 0 and 2 waited "), "{aggregated}");
}

#[test]
fn where_nothing_records_it_is_said_in_one_line() {
    let place = Place::new();
    let said = top(&place, &["--once"]);
    assert_eq!((said.code, said.out.as_str()), (1, ""));
    insta::assert_snapshot!(said.err, @"marey: no process of this user records; start one with `marey run -- PROGRAM`");
    let said = top(&place, &["--once", "--json", "1"]);
    assert_eq!(said.code, 1);
    insta::assert_snapshot!(said.err, @"marey: process 1 does not record; `marey top` shows those that do");
    let document: Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!(document["processes"], serde_json::json!([]));
    let said = top(&place, &["--once", "nowhere"]);
    assert_eq!(said.code, 2);
    insta::assert_snapshot!(said.err, @"marey: cannot read nowhere: No such file or directory (os error 2)");
    place.recorded(&["section=a"]).output().unwrap();
    let said = top(&place, &["--once", "out/job"]);
    assert_eq!(said.code, 1);
    insta::assert_snapshot!(place.plain(&said.err), @"marey: nothing records into out/job any more; `marey report out/job` shows what was recorded");
}

#[test]
fn what_another_version_records_is_not_called_nothing() {
    let place = Place::new();
    let program = Program::start(&place, &["section=a"]);
    let rings = std::fs::read_dir(place.path("rings")).unwrap().next().unwrap().unwrap();
    let shared = rings.path().join("process");
    let mut bytes = std::fs::read(&shared).unwrap();
    // The second word is the version of the layout.
    bytes[8] += 1;
    let other = place.path("rings/1-1");
    std::fs::create_dir(&other).unwrap();
    std::fs::write(other.join("process"), bytes).unwrap();
    drop(program);
    let said = top(&place, &["--once"]);
    assert_eq!(said.code, 1);
    insta::assert_snapshot!(said.err, @"marey: no process of this user records; start one with `marey run -- PROGRAM`; what another version of Marey records, only that version can show");
}

#[test]
fn a_live_view_without_a_terminal_is_refused_with_what_to_do() {
    let place = Place::new();
    let said = top(&place, &[]);
    assert_eq!((said.code, said.out.as_str()), (2, ""));
    insta::assert_snapshot!(said.err, @"marey: the live view needs a terminal; `marey top --once` prints one state, --once --json a document");
    let said = top(&place, &["--json"]);
    assert_eq!(said.code, 2);
    assert!(said.err.contains("--once"), "{}", said.err);
    for wrong in ["0", "-1", "NaN", "inf", "4000", "x"] {
        let said = top(&place, &["--once", &format!("--interval={wrong}")]);
        assert_eq!(said.code, 2, "{wrong}");
    }
}

#[test]
fn a_dead_process_that_was_named_says_how_it_ended() {
    let place = Place::new();
    let mut program = Program::start(&place, &["section=a", "open=decode"]);
    program.0.kill().unwrap();
    program.0.wait().unwrap();
    let document = document(&place, &[place.job().to_str().unwrap()]);
    let process = &document["processes"][0];
    assert_eq!(process["status"]["kind"], "ended_without_closing");
    assert_eq!(process["is_alive"], false);
    assert_eq!(process["phase"], serde_json::json!(["decode"]));
    // Without a name, only what records is shown.
    assert_eq!(top(&place, &["--once"]).code, 1);
    assert!(place.path("rings").exists(), "looking changes nothing");
}
