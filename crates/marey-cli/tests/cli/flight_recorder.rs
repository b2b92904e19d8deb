//! Dumps of NCCL's flight recorder: which ranks had not come to a call that others were in.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::aggregate::{document, text};
use crate::program::{Place, marey};

/// 21 January 2026, 12:53:20 UTC.
pub(crate) const START_NS: u64 = 1_769_000_000_000_000_000;
pub(crate) const S: u64 = 1_000_000_000;

/// A collective, elements, and whether it has ended.
type Call = (&'static str, u64, bool);

const ENDED: Call = ("all_reduce", 1024, true);
const OPEN: Call = ("all_reduce", 1024, false);

/// What torch writes of a rank of four: calls of the group of all ranks, one a second.
fn dump(start_ns: u64, calls: &[Call]) -> Value {
    let entry = |(number, (name, n_elements, has_ended)): (u64, &Call)| {
        let made_ns = start_ns + number * S;
        json!({
            "frames": [
                {"name": "all_reduce", "filename": "/v/site-packages/torch/distributed/distributed_c10d.py", "line": 2810},
                {"name": "load_lora", "filename": "/app/run.py", "line": 40 + number},
                {"name": "<module>", "filename": "/app/run.py", "line": 90},
            ],
            "record_id": number - 1, "pg_id": 0, "process_group": ["0", "default_pg"],
            "collective_seq_id": number, "p2p_seq_id": 0, "op_id": number,
            "profiling_name": format!("nccl:{name}"), "time_created_ns": made_ns,
            "input_sizes": [[n_elements / 4, 4]], "input_dtypes": ["BFloat16"],
            "output_sizes": [[n_elements / 4, 4]], "output_dtypes": ["BFloat16"],
            "state": if *has_ended { "completed" } else { "started" },
            "time_discovered_started_ns": made_ns + 2_000,
            "time_discovered_completed_ns": has_ended.then_some(made_ns + 9_000_000),
            "retired": has_ended, "timeout_ms": 600_000, "is_p2p": false,
        })
    };
    let n_ended = calls.iter().filter(|(.., has_ended)| *has_ended).count();
    json!({
        "version": "2.10",
        "pg_config": {"0": {"name": "0", "desc": "default_pg", "ranks": "[0, 1, 2, 3]"}},
        "pg_status": {"0": {
            "last_enqueued_collective": calls.len(), "last_started_collective": calls.len(), "last_completed_collective": n_ended,
        }},
        "entries": (1..).zip(calls).map(entry).collect::<Vec<_>>(),
    })
}

/// As torch writes it: protocol 2, without any class.
fn pickled(dump: &Value) -> Vec<u8> {
    let mut bytes = vec![0x80, 2];
    push(dump, &mut bytes);
    bytes.push(b'.');
    bytes
}

fn push(value: &Value, bytes: &mut Vec<u8>) {
    match value {
        Value::Null => bytes.push(b'N'),
        Value::Bool(value) => bytes.push(if *value { 0x88 } else { 0x89 }),
        Value::Number(number) => {
            bytes.extend([0x8a, 8]);
            bytes.extend(number.as_i64().unwrap().to_le_bytes());
        }
        Value::String(text) => {
            bytes.push(b'X');
            bytes.extend(u32::try_from(text.len()).unwrap().to_le_bytes());
            bytes.extend(text.as_bytes());
        }
        Value::Array(items) => {
            bytes.extend(b"](");
            for item in items {
                push(item, bytes);
            }
            bytes.push(b'e');
        }
        Value::Object(pairs) => {
            bytes.extend(b"}(");
            for (key, value) in pairs {
                push(&Value::String(key.clone()), bytes);
                match value {
                    Value::Array(both) if key == "process_group" => {
                        for one in both {
                            push(one, bytes);
                        }
                        bytes.push(0x86);
                    }
                    value => push(value, bytes),
                }
            }
            bytes.push(b'u');
        }
    }
}

/// A folder of dumps, by rank.
fn dumps(place: &Place, name: &str, calls: &[(u32, &[Call])]) -> PathBuf {
    let folder = place.path(name);
    std::fs::create_dir(&folder).unwrap();
    for (rank, calls) in calls {
        std::fs::write(named(&folder, *rank), pickled(&dump(START_NS, calls))).unwrap();
    }
    folder
}

/// As in pytorch#140879: with the host in it.
fn named(folder: &Path, rank: u32) -> PathBuf {
    folder.join(format!("nccl_trace_rank_container-node0{}_{rank}", rank / 2))
}

/// The only job of a folder, and what its finding says.
pub(crate) fn job(folder: &Path) -> (Value, String) {
    let (_, mut document) = document(&[folder]);
    let job = document["jobs"][0].take();
    assert!(document["jobs"].as_array().unwrap().len() == 1);
    let found = &job["findings"]["found"];
    let issue = found[0]["issue"].as_str().unwrap_or_default().to_owned();
    (job, issue)
}

const THREE: [Call; 3] = [ENDED; 3];
const FOUR: [Call; 4] = [ENDED, ENDED, ENDED, OPEN];

#[test]
fn dumps_say_who_did_not_come_to_the_call_that_the_others_are_in() {
    let place = Place::new();
    let of_ranks: [(u32, &[Call]); 4] = [(0, &FOUR), (1, &FOUR), (2, &THREE), (3, &FOUR)];
    let folder = dumps(&place, "dumps", &of_ranks);
    let (found, issue) = job(&folder);
    assert_eq!(
        issue,
        "Ranks 0, 1 and 3 waited in call 4 of all_reduce (default_pg, 1024 BFloat16, since 12:53:24 UTC), to which rank 2 did not come: its last was call 3 of all_reduce in load_lora (run.py:43)"
    );
    let absence = &found["absences"][0];
    assert_eq!((&absence["call"], &absence["name"]), (&4.into(), &"all_reduce".into()));
    assert_eq!((&absence["absent"], &absence["gave_up"]), (&json!([2]), &json!([0, 1, 3])));
    assert_eq!((&absence["unknown"], &absence["longest_s"]), (&json!([]), &Value::Null));
    assert_eq!(absence["since_unix_ns"], START_NS + 4 * S);
    // People name the files to `marey analyze`, too.
    let files = [0, 1, 2, 3].map(|rank| named(&folder, rank));
    let files = files.each_ref().map(|file| text(file));
    for more in [&["--format", "json"][..], &[]] {
        let both = ["aggregate", "analyze"].map(|command| {
            let said = marey(&[&[command], &files[..], more].concat());
            assert_eq!(said.code, 0, "{}", said.err);
            said.out.replace("analyze", "aggregate")
        });
        assert_eq!(both[0], both[1]);
    }
    let said = marey(&["aggregate", text(&folder)]);
    assert!(said.out.contains("4 ranks left dumps of NCCL's flight recorder"), "{}", said.out);
    // As JSON of a running process, with texts for numbers.
    let json_folder = place.path("json");
    std::fs::create_dir(&json_folder).unwrap();
    for (rank, calls) in of_ranks {
        let mut dump = dump(START_NS, calls);
        for (_, number) in dump["pg_status"]["0"].as_object_mut().unwrap() {
            *number = Value::String(number.to_string());
        }
        std::fs::write(json_folder.join(format!("rank{rank}.json")), dump.to_string()).unwrap();
    }
    assert_eq!(job(&json_folder).0["absences"], found["absences"]);
}

#[test]
fn of_a_rank_without_a_dump_nothing_is_known() {
    let place = Place::new();
    let folder = dumps(&place, "dumps", &[(0, &FOUR), (1, &FOUR), (3, &FOUR)]);
    let (found, issue) = job(&folder);
    assert_eq!(found["missing"], json!([2]));
    assert_eq!(
        issue,
        "Of rank 2 there is no file; ranks 0, 1 and 3 waited in call 4 of all_reduce (default_pg, 1024 BFloat16, since 12:53:24 UTC); no dump says what rank 2 did; figures are of what is left"
    );
    let (absent, unknown) = (&found["absences"][0]["absent"], &found["absences"][0]["unknown"]);
    assert_eq!((absent, unknown), (&json!([]), &json!([2])));
    // Nor where the dump of an earlier run lies there still.
    let earlier = pickled(&dump(START_NS - 3600 * S, &THREE));
    std::fs::write(named(&folder, 2), earlier).unwrap();
    let (found, _) = job(&folder);
    let (absent, unknown) = (&found["absences"][0]["absent"], &found["absences"][0]["unknown"]);
    assert_eq!((absent, unknown), (&json!([]), &json!([2])));
    // Nor where its dump is older: what ended on others, it came to. Of rank 3 nothing contradicts that it did not come.
    let one: [Call; 1] = [ENDED];
    let folder = dumps(&place, "older", &[(0, &FOUR), (1, &FOUR), (2, &one), (3, &THREE)]);
    let (found, _) = job(&folder);
    let (absent, unknown) = (&found["absences"][0]["absent"], &found["absences"][0]["unknown"]);
    assert_eq!((absent, unknown), (&json!([3]), &json!([2])));
    // A rank that has made no call yet has not come to the first.
    let folder = dumps(&place, "first", &[(0, &[OPEN]), (1, &[OPEN]), (2, &[]), (3, &[OPEN])]);
    let mut never = dump(START_NS, &[]);
    never["pg_status"] = json!({});
    std::fs::write(named(&folder, 2), pickled(&never)).unwrap();
    let (found, issue) = job(&folder);
    assert_eq!(found["absences"][0]["absent"], json!([2]));
    assert!(issue.ends_with("to which rank 2 did not come"), "{issue}");
}

#[test]
fn ranks_that_call_something_else_are_named() {
    let place = Place::new();
    let gather = [ENDED, ENDED, ENDED, ("all_gather", 1024, false)];
    let folder = dumps(&place, "name", &[(0, &FOUR), (1, &gather), (2, &FOUR), (3, &FOUR)]);
    let (found, issue) = job(&folder);
    assert!(issue.ends_with("UTC), rank 1 called all_gather (1024 BFloat16) instead"), "{issue}");
    assert_eq!(found["absences"][0]["gave_up"], json!([0, 2, 3]));
    let larger = [ENDED, ENDED, ENDED, ("all_reduce", 2048, false)];
    let folder = dumps(&place, "size", &[(0, &FOUR), (1, &larger), (2, &FOUR), (3, &FOUR)]);
    let (found, _) = job(&folder);
    let expected = json!([{"ranks": [1], "call": "all_reduce (2048 BFloat16)"}]);
    assert_eq!(found["absences"][0]["others"], expected);
}

#[test]
fn nobody_is_blamed_where_all_have_come() {
    let place = Place::new();
    let stands = "All 4 ranks are in call 4 of all_reduce (default_pg, 1024 BFloat16, since 12:53:24 UTC), and none of them has completed it";
    for (name, calls, said) in [("well", &THREE[..], ""), ("all", &FOUR, stands)] {
        let folder = dumps(&place, name, &[(0, calls), (1, calls), (2, calls), (3, calls)]);
        let (found, issue) = job(&folder);
        assert_eq!(issue, said);
        let absences = found["absences"].as_array().unwrap();
        assert!(absences.iter().all(|one| one["absent"] == json!([])));
        let screen = marey(&["aggregate", text(&folder), "--brief", "--format", "json"]);
        let screen: Value = serde_json::from_str(&screen.out).unwrap();
        assert_eq!((&screen["outcome"], &screen["wall_s"]), (&"unknown".into(), &Value::Null));
    }
}

#[test]
fn a_dump_that_runs_code_is_refused_and_the_others_are_read() {
    let place = Place::new();
    let folder = dumps(&place, "dumps", &[(0, &FOUR), (1, &FOUR), (3, &FOUR)]);
    let hostile = [b"\x80\x02X\x09\x00\x00\x00pg_config", &b"cposix\nsystem\n."[..]].concat();
    std::fs::write(named(&folder, 2), hostile).unwrap();
    let said = marey(&["aggregate", text(&folder)]);
    assert_eq!((said.code, said.err.lines().count()), (1, 1), "{}", said.err);
    assert!(
        said.err.contains("with which a pickle runs code; nothing of it was run"),
        "{}",
        said.err
    );
}
