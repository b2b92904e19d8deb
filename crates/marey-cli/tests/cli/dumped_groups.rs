//! Dumps of NCCL's flight recorder of several groups, with messages, with rings that lost calls and with clocks that are wrong.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::aggregate::text;
use crate::flight_recorder::{S, START_NS, job};
use crate::program::{Place, marey};

/// Name, purpose and ranks.
type Group = [&'static str; 3];

const ALL: Group = ["0", "default_pg", "[0, 1, 2, 3]"];
const TP: Group = ["1", "tp", "[2, 3]"];

/// A call of `all_reduce` in a group, so many seconds after the start.
fn call(group: Group, number: u64, at_s: u64, state: &str) -> Value {
    let made_ns = START_NS + at_s * S;
    json!({
        "pg_id": group[0].parse::<u64>().unwrap(), "process_group": [group[0], group[1]],
        "collective_seq_id": number, "p2p_seq_id": 0, "profiling_name": "nccl:all_reduce",
        "time_created_ns": made_ns, "input_sizes": [[1024]], "input_dtypes": ["BFloat16"], "state": state,
        "time_discovered_started_ns": (state != "scheduled").then_some(made_ns + 2_000),
        "time_discovered_completed_ns": (state == "completed").then_some(made_ns + 9_000_000),
        "timeout_ms": 600_000, "is_p2p": false,
        "frames": [{"name": "step", "filename": "/app/run.py", "line": 40}],
    })
}

fn ended(group: Group, number: u64, at_s: u64) -> Value {
    call(group, number, at_s, "completed")
}

fn open(group: Group, number: u64, at_s: u64) -> Value {
    call(group, number, at_s, "started")
}

/// The message of a number in the group of all ranks.
fn message(name: &str, number: u64, at_s: u64, state: &str) -> Value {
    let mut message = call(ALL, 3, at_s, state);
    message["profiling_name"] = format!("nccl:{name}").into();
    message["p2p_seq_id"] = number.into();
    message["is_p2p"] = true.into();
    message
}

/// Calls 1 to 3 of the group of all ranks, one a second.
fn three() -> Vec<Value> {
    [1, 2, 3].map(|number| ended(ALL, number, number)).into()
}

fn three_and(more: impl IntoIterator<Item = Value>) -> Vec<Value> {
    three().into_iter().chain(more).collect()
}

/// A dump without what its groups came to; the first of its calls has this number.
fn dump(groups: &[Group], first: u64, mut calls: Vec<Value>) -> Value {
    for (number, call) in (first..).zip(&mut calls) {
        call["record_id"] = number.into();
    }
    let config = groups.iter().map(|[name, purpose, ranks]| {
        ((*name).to_owned(), json!({"name": name, "desc": purpose, "ranks": ranks}))
    });
    json!({"pg_config": Value::Object(config.collect()), "pg_status": {}, "entries": calls})
}

/// A folder with a dump of each rank.
fn folder(place: &Place, name: &str, dumps: &[Value]) -> PathBuf {
    let folder = place.path(name);
    std::fs::create_dir(&folder).unwrap();
    for (rank, dump) in dumps.iter().enumerate() {
        write(&folder, &format!("rank{rank}.json"), dump);
    }
    folder
}

fn write(folder: &Path, file: &str, dump: &Value) {
    std::fs::write(folder.join(file), dump.to_string()).unwrap();
}

/// Of ranks that did not come, and of which nothing is known, those of the first call.
fn blamed(folder: &Path) -> (Value, Value) {
    let absence = &job(folder).0["absences"][0];
    (absence["absent"].clone(), absence["unknown"].clone())
}

/// Ranks 0, 1 and 3 are in call 4; rank 2 has these.
fn all_but_rank_2(rank_2: Value) -> Vec<Value> {
    let waits = || dump(&[ALL], 0, three_and([open(ALL, 4, 4)]));
    vec![waits(), waits(), rank_2, waits()]
}

/// With all its times later.
fn later(mut dump: Value, by_s: u64) -> Value {
    for call in dump["entries"].as_array_mut().unwrap() {
        for key in ["time_created_ns", "time_discovered_started_ns", "time_discovered_completed_ns"]
        {
            if let Some(ns) = call[key].as_u64() {
                call[key] = (ns + by_s * S).into();
            }
        }
    }
    dump
}

#[test]
fn who_did_not_come_is_known_from_numbers_whatever_clocks_say() {
    let place = Place::new();
    let named = (json!([2]), json!([]));
    // It works on for 1 000 s in a group of its own; the time-out is 600 s.
    let eval = ["1", "eval", "[2]"];
    let works_on = three_and((1..=10).map(|number| ended(eval, number, 100 * number)));
    let works_on = folder(&place, "on", &all_but_rank_2(dump(&[ALL, eval], 0, works_on)));
    assert_eq!(blamed(&works_on), named);
    let (_, issue) = job(&works_on);
    assert!(
        issue.ends_with(
            "rank 2 did not come: its last was call 3 of all_reduce in step (run.py:40)"
        ),
        "{issue}"
    );
    // Its clock is an hour ahead, and that of one that waits.
    let absent = dump(&[ALL], 0, three());
    let ahead = folder(&place, "ahead", &all_but_rank_2(later(absent.clone(), 3600)));
    assert_eq!(blamed(&ahead), named);
    let mut dumps = all_but_rank_2(absent.clone());
    dumps[3] = later(dumps[3].clone(), 3600);
    assert_eq!(blamed(&folder(&place, "waits", &dumps)), named);
    // The others came 20 minutes later: call 3 is that of the same run.
    let mut dumps = all_but_rank_2(absent);
    for at in [0, 1, 3] {
        dumps[at] = dump(&[ALL], 0, three_and([open(ALL, 4, 1203)]));
    }
    assert_eq!(blamed(&folder(&place, "late", &dumps)), named);
}

#[test]
fn of_a_group_without_calls_only_a_whole_dump_says_that_there_were_none() {
    let place = Place::new();
    let first = dump(&[ALL], 0, vec![open(ALL, 1, 1)]);
    let dumps = |rank_2| [first.clone(), first.clone(), rank_2, first.clone()];
    let lost = dump(&[ALL, TP], 499, vec![ended(TP, 500, 0), ended(TP, 501, 1)]);
    let lost = folder(&place, "lost", &dumps(lost));
    assert_eq!(blamed(&lost), (json!([]), json!([2])));
    let whole = folder(&place, "whole", &dumps(dump(&[ALL, TP], 0, vec![ended(TP, 1, 0)])));
    assert_eq!(blamed(&whole), (json!([2]), json!([])));
    let (_, issue) = job(&whole);
    assert!(
        issue.ends_with(
            "its last was call 1 of all_reduce of tp in step (run.py:40), none of this group"
        ),
        "{issue}"
    );
}

#[test]
fn of_two_dumps_of_a_rank_the_newer_counts_and_the_other_is_named() {
    let place = Place::new();
    let (older, newer) = (dump(&[ALL], 0, three()), dump(&[ALL], 0, three_and([open(ALL, 4, 4)])));
    for (name, [old, new]) in
        [("a", ["a_rank2.json", "rank2.json"]), ("z", ["z_rank2.json", "rank2.json"])]
    {
        let folder = folder(&place, name, &all_but_rank_2(newer.clone()));
        write(&folder, old, &older);
        assert!(folder.join(new).exists());
        let (found, issue) = job(&folder);
        assert_eq!(
            issue,
            "All 4 ranks are in call 4 of all_reduce (default_pg, 1024 BFloat16, since 12:53:24 UTC), and none of them has completed it"
        );
        assert_eq!(found["absences"][0]["gave_up"], json!([0, 1, 2, 3]));
        let said = marey(&["aggregate", text(&folder)]);
        assert!(said.err.contains("left out for newer dumps of the same ranks: "), "{}", said.err);
        assert!(said.err.trim_end().ends_with(old) && said.code == 0, "{}", said.err);
    }
}

#[test]
fn what_is_called_like_a_dump_and_is_none_is_named() {
    let place = Place::new();
    let wanted: [(&str, &[u8], &str); 3] = [
        ("empty", b"", "is empty (0 bytes)"),
        ("text", b"not a dump", "is no kind of file that is known here"),
        ("pickle", b"\x80\x02]q\x00.", "the pickle holds no dump of a flight recorder"),
    ];
    for (name, bytes, why) in wanted {
        let folder = folder(&place, name, &all_but_rank_2(dump(&[ALL], 0, three())));
        std::fs::remove_file(folder.join("rank2.json")).unwrap();
        std::fs::write(folder.join("nccl_trace_rank_node-7_2"), bytes).unwrap();
        let said = marey(&["aggregate", text(&folder)]);
        assert!(said.err.contains(&format!("nccl_trace_rank_node-7_2: {why}")), "{}", said.err);
        assert_eq!((said.code, said.err.lines().count()), (1, 1), "{}", said.err);
        assert_eq!(blamed(&folder), (json!([]), json!([2])));
        assert_eq!(job(&folder).0["unread"][0]["rank"], 2);
    }
}

#[test]
fn where_all_stand_in_a_call_those_whose_kernel_did_not_start_are_named() {
    let place = Place::new();
    let scheduled = |at_s| dump(&[ALL], 0, three_and([call(ALL, 4, at_s, "scheduled")]));
    let one = folder(&place, "one", &all_but_rank_2(scheduled(4)));
    let (found, issue) = job(&one);
    assert!(
        issue.ends_with("none of them has completed it; its kernel has not started on rank 2"),
        "{issue}"
    );
    assert_eq!(found["absences"][0]["not_started"], json!([2]));
    let none: Vec<Value> = (0..4).map(|_| scheduled(4)).collect();
    let (_, issue) = job(&folder(&place, "none", &none));
    assert!(
        issue.ends_with("none of them has completed it; its kernel has started on none of them"),
        "{issue}"
    );
    // A recorder that was not asked for it does not say which have started.
    let mut silent = none;
    for call in silent.iter_mut().flat_map(|dump| dump["entries"].as_array_mut().unwrap()) {
        call["time_discovered_started_ns"] = Value::Null;
    }
    let (_, issue) = job(&folder(&place, "silent", &silent));
    assert!(issue.ends_with("none of them has completed it"), "{issue}");
}

#[test]
fn a_message_without_its_other_side_is_named() {
    let place = Place::new();
    let sent = message("send 0->1", 1, 4, "completed");
    let received = message("recv 1<-0", 1, 4, "completed");
    let waits = message("recv 1<-0", 2, 5, "started");
    let dumps = |first: u64, rank_0: Vec<Value>, rank_1: Vec<Value>| {
        [rank_0, rank_1, three(), three()].map(|calls| dump(&[ALL], first, calls))
    };
    let hangs = dumps(0, three_and([sent.clone()]), three_and([received.clone(), waits.clone()]));
    let (found, issue) = job(&folder(&place, "hangs", &hangs));
    assert_eq!(
        issue,
        "Rank 1 waited in recv 1<-0 (default_pg, 1024 BFloat16, since 12:53:25 UTC), for which rank 0 has no open send: its last was call 3 of all_reduce of default_pg in step (run.py:40)"
    );
    assert_eq!(
        (&found["absences"][0]["absent"], &found["absences"][0]["gave_up"]),
        (&json!([0]), &json!([1]))
    );
    // It was sent, and is on its way.
    let second = message("send 0->1", 2, 5, "completed");
    let on_its_way = dumps(0, three_and([sent, second]), three_and([received, waits.clone()]));
    assert_eq!(job(&folder(&place, "way", &on_its_way)).0["absences"], json!([]));
    // What a dump without calls knows, nobody knows.
    let mut silent = dumps(0, vec![], three_and([waits.clone()]));
    silent[0]["pg_status"] = json!({"0": {"last_enqueued_collective": -1}});
    assert_eq!(blamed(&folder(&place, "silent", &silent)), (json!([]), json!([0])));
    let both = dumps(9, vec![message("send 0->1", 7, 5, "started")], vec![waits]);
    let (_, issue) = job(&folder(&place, "both", &both));
    assert_eq!(
        issue,
        "Ranks 0 and 1 are in send 0->1 (default_pg, 1024 BFloat16, since 12:53:25 UTC), and none of them has completed it"
    );
    // Messages that are one on the device stay as they were, and end with what comes after them.
    let batch = |messages: [&str; 2]| {
        let each = messages.map(|name| message(name, 1, 4, "scheduled"));
        three_and(each.into_iter().chain([message("coalesced", 1, 4, "completed")]))
    };
    let batches = dumps(0, batch(["send 0->1", "recv 0<-1"]), batch(["send 1->0", "recv 1<-0"]));
    assert_eq!(job(&folder(&place, "batches", &batches)).0["absences"], json!([]));
}

#[test]
fn ranks_that_wait_for_each_other_in_two_groups_are_a_deadlock() {
    let place = Place::new();
    let (a, b) = (["5", "a", "[0, 1]"], ["6", "b", "[0, 1]"]);
    let begun = || vec![ended(a, 1, 1), ended(b, 1, 2)];
    let of = |more| dump(&[a, b], 0, begun().into_iter().chain([more]).collect());
    let folder = folder(&place, "deadlock", &[of(open(a, 2, 3)), of(open(b, 2, 4))]);
    let (_, issue) = job(&folder);
    assert_eq!(
        issue,
        "Rank 0 waited in call 2 of all_reduce (a, 1024 BFloat16, since 12:53:23 UTC) for rank 1, rank 1 waited in call 2 of all_reduce (b, 1024 BFloat16, since 12:53:24 UTC) for rank 0: a deadlock"
    );
}

/// ```text
/// rank 0   all 1 2 3 4- - -    waits for 2 and 3
/// rank 1   all 1 2 3 4- - -    waits for 2 and 3
/// rank 2   all 1 2 3 tp 1- -   waits for 3
/// rank 3   all 1 2 3           is the cause; of tp its recorder says -1, no call
/// ```
#[test]
fn of_ranks_that_wait_for_each_other_in_a_row_the_last_is_the_cause() {
    let place = Place::new();
    let waits = dump(&[ALL], 0, three_and([open(ALL, 4, 4)]));
    let waits_in_tp = dump(&[ALL, TP], 0, three_and([open(TP, 1, 5)]));
    let mut cause = dump(&[ALL, TP], 0, three());
    let status = |n: i64| json!({"last_enqueued_collective": n, "last_started_collective": n, "last_completed_collective": n});
    cause["pg_status"] = json!({"0": status(3), "1": status(-1)});
    let (_, issue) =
        job(&folder(&place, "row", &[waits.clone(), waits.clone(), waits_in_tp.clone(), cause]));
    assert_eq!(
        issue,
        "Rank 2 waited in call 1 of all_reduce (tp, 1024 BFloat16, since 12:53:25 UTC), to which rank 3 did not come: its last was call 3 of all_reduce of default_pg in step (run.py:40), none of this group"
    );
    // Ranks 2 and 3 are both in the call of tp.
    let (_, issue) = job(&folder(
        &place,
        "mixed",
        &[waits, dump(&[ALL], 0, three()), waits_in_tp.clone(), waits_in_tp],
    ));
    assert_eq!(
        issue,
        "Rank 0 waited in call 4 of all_reduce (default_pg, 1024 BFloat16, since 12:53:24 UTC), to which ranks 1-3 did not come: the last of rank 1 was call 3 of all_reduce in step (run.py:40), rank 2 was in call 1 of all_reduce of tp, rank 3 was in call 1 of all_reduce of tp"
    );
}

#[test]
fn a_group_that_was_built_again_counts_from_one() {
    let place = Place::new();
    let again = |number, state| call(ALL, number, 100 + number, state);
    let built = |last: Option<Value>| {
        let calls = [again(1, "completed"), again(2, "completed")].into_iter().chain(last);
        dump(&[ALL], 40, (45..50).map(|n| ended(ALL, n, n)).chain(calls).collect())
    };
    let waits = || built(Some(again(3, "started")));
    assert_eq!(
        blamed(&folder(&place, "again", &[waits(), waits(), built(None), waits()])),
        (json!([2]), json!([]))
    );
}

#[test]
fn a_job_that_works_is_told_from_one_that_cannot_be_checked() {
    let place = Place::new();
    let well: Vec<Value> = (0..4).map(|_| dump(&[ALL], 0, three())).collect();
    let folder = folder(&place, "well", &well);
    let said = marey(&["aggregate", text(&folder)]);
    assert!(said.out.contains("No dump has a call that waits for another rank."), "{}", said.out);
    assert!(!said.out.contains("recorded"), "{}", said.out);
    let said = marey(&["aggregate", text(&folder), "--full"]);
    assert!(!said.out.contains("no check could be made"), "{}", said.out);
}

#[test]
fn folders_of_dumps_are_analyzed_and_dumps_may_lie_beside_traces() {
    let place = Place::new();
    let dumps = all_but_rank_2(dump(&[ALL], 0, three()));
    let folder = folder(&place, "dumps", &dumps);
    let both = ["aggregate", "analyze"].map(|command| {
        let said = marey(&[command, text(&folder)]);
        assert_eq!(said.code, 0, "{}", said.err);
        said.out.replace("analyze", "aggregate")
    });
    assert_eq!(both[0], both[1]);
    assert!(both[0].contains("to which rank 2 did not come"), "{}", both[0]);
    let trace = json!({
        "schemaVersion": 1, "distributedInfo": {"rank": 0, "world_size": 4}, "baseTimeNanoseconds": START_NS,
        "traceEvents": [{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 1, "dur": 5, "args": {"device": 0, "stream": 7}}],
    });
    let beside = folder.join("step.pt.trace.json");
    std::fs::write(&beside, trace.to_string()).unwrap();
    let said = marey(&["aggregate", text(&folder)]);
    assert!(said.out.contains("to which rank 2 did not"), "{}", said.out);
    let files: Vec<PathBuf> =
        (0..4).map(|rank| folder.join(format!("rank{rank}.json"))).chain([beside]).collect();
    let files: Vec<&str> = files.iter().map(|file| text(file)).collect();
    let said = marey(&[&["analyze"], &files[..]].concat());
    assert!(said.out.contains("to which rank 2 did not"), "{}\n{}", said.out, said.err);
    let said = marey(&["analyze", text(&folder)]);
    assert!(said.err.contains("4 dumps of NCCL's flight recorder"), "{}", said.err);
}

#[test]
fn dumps_without_a_description_of_the_groups_are_read() {
    let place = Place::new();
    let mut dumps = all_but_rank_2(dump(&[ALL], 0, three()));
    for dump in &mut dumps {
        dump.as_object_mut().unwrap().retain(|key, _| key == "entries");
    }
    assert_eq!(blamed(&folder(&place, "old", &dumps)).0, json!([2]));
}

#[test]
fn one_collective_by_two_names_is_no_other_call() {
    let place = Place::new();
    let of = |name: &str, number: u64| {
        let mut dumps = three_and([open(ALL, number, number)]);
        dumps[3]["profiling_name"] = format!("nccl:{name}").into();
        dump(&[ALL], 0, dumps)
    };
    let names = ["all_gather", "_all_gather_base", "all_gather", "all_gather"];
    let (found, _) = job(&folder(&place, "names", &names.map(|name| of(name, 4))));
    assert_eq!(found["absences"][0]["others"], json!([]));
    assert_eq!(found["absences"][0]["gave_up"], json!([0, 1, 2, 3]));
}

/// With what torch counts of the group of all ranks.
fn counted(mut dump: Value, made: u64, ended: u64) -> Value {
    dump["pg_status"] = json!({"0": {
        "last_enqueued_collective": made, "last_started_collective": made, "last_completed_collective": ended,
    }});
    dump
}

/// ```text
/// rank 0   3 4- - -       1 and 3 alike
/// rank 2   3 (4)- - -     made 4, completed 3: the ring has lost the call
/// ```
#[test]
fn a_call_that_the_ring_has_lost_is_known_from_what_torch_counts() {
    let place = Place::new();
    let lost = counted(dump(&[ALL], 1, three()), 4, 3);
    let (found, issue) = job(&folder(&place, "one", &all_but_rank_2(lost)));
    assert_eq!(
        issue,
        "All 4 ranks are in call 4 of all_reduce (default_pg, 1024 BFloat16, since 12:53:24 UTC), and none of them has completed it; the dump of rank 2 no longer has that call"
    );
    let absence = &found["absences"][0];
    assert_eq!((&absence["not_in_dump"], &absence["absent"]), (&json!([2]), &json!([])));
    // 10 of 12 calls that it made after call 3 are in the ring: it waits in call 4 and not in the first that is there.
    let later = (6..16).map(|number| call(ALL, number, number, "scheduled")).collect();
    let later = counted(dump(&[ALL], 6, later), 15, 3);
    let (found, _) = job(&folder(&place, "later", &all_but_rank_2(later)));
    assert_eq!(
        (&found["absences"][0]["call"], &found["absences"][0]["not_in_dump"]),
        (&4.into(), &json!([2]))
    );
    // Rank 2 did not come to call 4, in which rank 1 waits by its count.
    let waits = || dump(&[ALL], 0, three_and([open(ALL, 4, 4)]));
    let by_count = counted(dump(&[ALL], 1, three()), 4, 3);
    let absent = counted(dump(&[ALL], 0, three()), 3, 3);
    let (_, issue) = job(&folder(&place, "absent", &[waits(), by_count, absent, waits()]));
    assert_eq!(
        issue,
        "Ranks 0, 1 and 3 waited in call 4 of all_reduce (default_pg, 1024 BFloat16, since 12:53:24 UTC), to which rank 2 did not come: its last was call 3 of all_reduce in step (run.py:40); the dump of rank 1 no longer has that call"
    );
    // No dump has it.
    let all: Vec<Value> = (0..4).map(|_| counted(dump(&[ALL], 1, three()), 1000, 999)).collect();
    let (found, issue) = job(&folder(&place, "all", &all));
    assert_eq!(
        issue,
        "All 4 ranks are in call 1000 (default_pg), and none of them has completed it; no dump has that call any more"
    );
    assert_eq!(found["absences"][0]["name"], Value::Null);
}

#[test]
fn ranks_in_a_call_that_others_have_completed_are_named() {
    let place = Place::new();
    let ahead = dump(&[ALL], 0, three_and([ended(ALL, 4, 4)]));
    let (found, issue) = job(&folder(&place, "ahead", &all_but_rank_2(ahead)));
    assert_eq!(
        issue,
        "Ranks 0, 1 and 3 are in call 4 of all_reduce (default_pg, 1024 BFloat16, since 12:53:24 UTC), which rank 2 completed"
    );
    assert_eq!(found["absences"][0]["completed"], json!([2]));
}

/// ```text
/// rank 0   a 2- - -                 b 2 is queued behind it
/// rank 1   b 2- - -                 a 2 is queued behind it
/// ```
#[test]
fn calls_that_ranks_made_in_different_orders_are_named_and_called_no_deadlock() {
    let place = Place::new();
    let (a, b) = (["5", "a", "[0, 1]"], ["6", "b", "[0, 1]"]);
    let of = |first: Group, second: Group| {
        let both = [open(first, 2, 3), call(second, 2, 4, "scheduled")];
        dump(&[a, b], 0, [ended(a, 1, 1), ended(b, 1, 2)].into_iter().chain(both).collect())
    };
    let crossed = folder(&place, "crossed", &[of(a, b), of(b, a)]);
    let (found, issue) = job(&crossed);
    assert_eq!(
        issue,
        "Ranks 0 and 1 are in call 2 of all_reduce (a, 1024 BFloat16, since 12:53:23 UTC), and none of them has completed it; its kernel has not started on rank 1; rank 1 made call 2 of all_reduce of b before it, others after it"
    );
    let remedy = found["findings"]["found"][0]["remedy"].as_str().unwrap();
    assert!(remedy.contains("in the same order on all ranks"), "{remedy}");
    assert_eq!(found["findings"]["found"].as_array().unwrap().len(), 1, "one hang");
    let (found, issue) = job(&folder(&place, "alike", &[of(a, b), of(a, b)]));
    assert!(issue.ends_with("and none of them has completed it"), "{issue}");
    assert_eq!(found["absences"][0]["crossed"], Value::Null);
}

/// ```text
/// rank 0   tp0 1 2- - -     waits for rank 1
/// rank 1   tp0 1
/// rank 2   tp1 1 2- - -     waits for rank 3
/// rank 3   tp1 1
/// ```
#[test]
fn hangs_that_have_nothing_to_do_with_each_other_are_all_shown() {
    let place = Place::new();
    let of = |group: Group, more: Option<Value>| {
        dump(&[group], 0, [ended(group, 1, 1)].into_iter().chain(more).collect())
    };
    let (one, other) = (["1", "tp0", "[0, 1]"], ["2", "tp1", "[2, 3]"]);
    let two = folder(
        &place,
        "two",
        &[
            of(one, Some(open(one, 2, 2))),
            of(one, None),
            of(other, Some(open(other, 2, 3))),
            of(other, None),
        ],
    );
    let said = marey(&["aggregate", text(&two)]).out;
    let said: Vec<&str> = said.split_whitespace().collect();
    let said = said.join(" ");
    for wanted in [
        "! Rank 0 waited in call 2 of all_reduce (tp0, 1024 BFloat16, since 12:53:22 UTC), to which rank 1 did not come",
        "! Rank 2 waited in call 2 of all_reduce (tp1, 1024 BFloat16, since 12:53:23 UTC), to which rank 3 did not come",
    ] {
        assert!(said.contains(wanted), "{said}");
    }
}

#[test]
fn the_first_screen_has_the_whole_sentence_of_a_hang() {
    let place = Place::new();
    let waits = dump(&[ALL], 0, three_and([open(ALL, 4, 4)]));
    let in_tp = dump(&[ALL, TP], 0, three_and([open(TP, 1, 5)]));
    let mixed = folder(&place, "mixed", &[waits, dump(&[ALL], 0, three()), in_tp.clone(), in_tp]);
    let (_, issue) = job(&mixed);
    let said = marey(&["aggregate", text(&mixed)]).out;
    let said: Vec<&str> = said.split_whitespace().collect();
    assert!(said.join(" ").contains(&issue), "{said:?}");
}

#[test]
fn a_group_whose_status_says_no_call_has_had_none_also_in_a_ring_that_lost_calls() {
    let place = Place::new();
    let none = ["2", "tp", "[0, 1]"];
    let waits = dump(&[ALL, none], 500, three_and([open(none, 1, 5)]));
    let mut absent = counted(dump(&[ALL, none], 500, three()), 3, 3);
    absent["pg_status"]["2"] =
        json!({"last_enqueued_collective": -1, "last_completed_collective": -1});
    let others = || dump(&[ALL], 500, three());
    let (found, _) = job(&folder(&place, "none", &[waits, absent, others(), others()]));
    let absence = &found["absences"][0];
    assert_eq!((&absence["absent"], &absence["unknown"]), (&json!([1]), &json!([])));
}

#[test]
fn a_message_that_both_of_two_ranks_are_in_is_of_both() {
    let place = Place::new();
    let two = ["0", "default_pg", "[0, 1]"];
    let of = |name: &str| dump(&[two], 0, vec![message(name, 1, 4, "started")]);
    let (_, issue) = job(&folder(&place, "both", &[of("send 0->1"), of("recv 1<-0")]));
    assert_eq!(
        issue,
        "Both ranks are in send 0->1 (default_pg, 1024 BFloat16, since 12:53:24 UTC), and none of them has completed it"
    );
}
