use std::fmt::Write;

use super::{HOUR, Machine, Sampled};
use crate::sampler::host::HostOptions;
use crate::sampler::host::table::page;

/// `stat` of a process. Times are ticks: user, system, of reaped children in user and system.
fn stat(pid: u32, name: &str, parent: u32, times: [u32; 4], resident: u32) -> String {
    let [user, system, reaped_user, reaped_system] = times;
    format!(
        "== proc/{pid}/stat\n{pid} ({name}) S {parent} {pid} {pid} 0 -1 4194304 11 12 13 14 \
         {user} {system} {reaped_user} {reaped_system} 20 0 9 0 1000 5000000 {resident} 18446744073709551615 1 1\n"
    )
}

#[test]
fn a_name_that_looks_like_fields_does_not_shift_them() {
    for name in ["p", ") R 1 (", "a b", "((", "))) 9 9 9", "\u{e9}\t"] {
        let sampled = Machine::drawn(&stat(100, name, 1, [250, 50, 0, 0], 256)).sampled();
        sampled.assert("process.cpu.user", "", 2.5);
        sampled.assert("process.cpu.system", "", 0.5);
        sampled.assert("process.threads", "", 9.0);
        sampled.assert("process.memory.resident", "", 256.0 * page());
    }
}

#[test]
fn a_process_that_ended_is_nan() {
    let machine = Machine::drawn(&stat(100, "p", 1, [250, 50, 0, 0], 256));
    machine.draw("== proc/100/io\nrchar: 1\nwchar: 2\nsyscr: 9\nread_bytes: 3\nwrite_bytes: 4\n");
    let mut sampled = machine.sampled();
    sampled.assert("process.io.read", "", 1.0);
    sampled.assert("process.io.written", "", 2.0);
    sampled.assert("process.disk.read", "", 3.0);
    sampled.assert("process.disk.written", "", 4.0);
    machine.draw("== proc/100/stat\n== proc/100/io\n");
    sampled.read_again();
    assert!(sampled.values.iter().all(|value| value.is_nan()));
}

#[test]
fn the_process_itself_is_found_without_a_number() {
    let machine = Machine::drawn(&stat(4711, "p", 1, [250, 50, 0, 0], 1));
    machine.draw(&stat(4712, "child", 4711, [7, 0, 0, 0], 1));
    let itself = std::fs::read(machine.path("proc/4711/stat")).unwrap();
    machine.write("proc/self/stat", itself);
    let sampled = Sampled::new(&HostOptions { pid: None, ..machine.options() });
    sampled.assert("process.cpu.user", "", 2.5);
    sampled.assert("children.cpu.time", "", 0.07);
}

#[test]
fn memory_shared_and_swapped_is_told_apart() {
    let machine = Machine::drawn(
        "== proc/100/status\nName:\tVmSwap: 1 kB\nVmRSS:\t   900 kB\nVmSwap:\t      12 kB\n\
         == proc/100/smaps_rollup\n5000-6000 ---p 00000000 00:00 0    [rollup]\nRss:   900 kB\nPss:   444 kB\nPss_Dirty:  1 kB\n",
    );
    let mut sampled = machine.sampled();
    sampled.assert("process.memory.swapped", "", 12.0 * 1024.0);
    sampled.assert("process.memory.proportional", "", 444.0 * 1024.0);
    // Page tables are not walked every time.
    sampled.read_after(999_999_999);
    sampled.assert_nan("process.memory.proportional", "");
    sampled.assert_nan("process.memory.swapped", "");
    sampled.read_again();
    sampled.assert("process.memory.proportional", "", 444.0 * 1024.0);
}

/// The process 100 with a child 101, which has a child 90, and two that are not its own.
fn family() -> Machine {
    let machine = Machine::drawn(&stat(100, "p", 1, [1000, 0, 30, 3], 1000));
    machine.draw(&stat(101, "child", 100, [200, 20, 5, 0], 40));
    machine.draw(&stat(90, "grandchild", 101, [0, 4, 0, 0], 2));
    machine.draw(&stat(102, "(100) S 100", 1, [10_000, 0, 0, 0], 10_000));
    machine.draw(&stat(1, "init", 0, [10_000, 0, 0, 0], 10_000));
    machine
}

#[test]
fn children_are_the_living_ones_of_all_generations_and_those_that_ended() {
    let sampled = family().sampled();
    // Reaped 33, child 220 + 5, grandchild 4.
    sampled.assert("children.cpu.time", "", 2.62);
    sampled.assert("children.memory.resident", "", 42.0 * page());
}

#[test]
fn the_time_of_a_child_that_ends_moves_to_its_parent_and_counts_once() {
    let machine = family();
    let mut sampled = machine.sampled();
    machine.draw("== proc/101/stat\n");
    std::fs::remove_dir_all(machine.path("proc/101")).unwrap();
    machine.draw(&stat(90, "grandchild", 1, [0, 4, 0, 0], 2));
    // Between its end and its being waited for it is missing: what was counted stays.
    sampled.read_again();
    sampled.assert("children.cpu.time", "", 2.62);
    machine.draw(&stat(100, "p", 1, [1000, 0, 30 + 205, 3 + 20], 1000));
    sampled.read_again();
    sampled.assert("children.cpu.time", "", 2.62);
    sampled.assert("children.memory.resident", "", 2.0 * page());
    // The grandchild belongs to init now. It is followed to its end, and what it used is kept.
    machine.draw(&stat(90, "grandchild", 1, [0, 104, 0, 0], 2));
    sampled.read_again();
    sampled.assert("children.cpu.time", "", 3.62);
    machine.draw("== proc/90/stat\n");
    machine.draw(&stat(100, "p", 1, [1000, 0, 30 + 305, 3 + 20], 1000));
    sampled.read_again();
    sampled.assert("children.cpu.time", "", 4.62);
    sampled.assert("children.memory.resident", "", 0.0);
}

#[test]
fn a_child_that_is_given_to_the_process_itself_counts_once_when_it_ends() {
    let machine = family();
    let mut sampled = machine.sampled();
    // The child ends, and the process takes over the grandchild: it is a subreaper.
    machine.draw("== proc/101/stat\n");
    machine.draw(&stat(90, "grandchild", 100, [0, 4, 0, 0], 2));
    machine.draw(&stat(100, "p", 1, [1000, 0, 30 + 225, 3], 1000));
    sampled.read_again();
    sampled.assert("children.cpu.time", "", 2.62);
    machine.draw("== proc/90/stat\n");
    machine.draw(&stat(100, "p", 1, [1000, 0, 30 + 229, 3], 1000));
    sampled.read_again();
    sampled.assert("children.cpu.time", "", 2.62);
}

#[test]
fn a_new_child_is_found_within_a_second_and_not_looked_for_all_the_time() {
    let machine = family();
    let mut sampled = machine.sampled();
    machine.draw(&stat(103, "late", 90, [100, 0, 0, 0], 1));
    sampled.read_after(999_999_999);
    sampled.assert("children.cpu.time", "", 2.62);
    sampled.read_after(HOUR);
    sampled.assert("children.cpu.time", "", 3.62);
}

#[test]
fn the_number_of_a_child_that_ended_can_be_another_childs() {
    let machine = family();
    let mut sampled = machine.sampled();
    machine.draw("== proc/90/stat\n");
    std::fs::remove_dir_all(machine.path("proc/90")).unwrap();
    machine.draw(&stat(101, "child", 100, [200, 20, 5, 4], 40));
    sampled.read_after(1);
    sampled.assert("children.cpu.time", "", 2.62);
    machine.draw(&stat(90, "second", 100, [50, 0, 0, 0], 2));
    sampled.read_again();
    sampled.assert("children.cpu.time", "", 3.12);
}

#[test]
fn of_more_children_than_are_followed_nothing_is_known() {
    let machine = Machine::drawn(&stat(100, "p", 1, [1000, 0, 30, 3], 1000));
    let mut children = String::new();
    for pid in 200..328 {
        children.push_str(&stat(pid, "worker", 100, [1, 0, 0, 0], 1));
    }
    machine.draw(&children);
    let mut sampled = machine.sampled();
    sampled.assert("children.cpu.time", "", 0.33 + 1.28);
    sampled.assert("children.memory.resident", "", 128.0 * page());
    machine.draw(&stat(328, "worker", 100, [1, 0, 0, 0], 1));
    sampled.read_again();
    sampled.assert_nan("children.cpu.time", "");
    sampled.assert_nan("children.memory.resident", "");
    // One ends and is waited for, so that all of the rest are followed.
    machine.draw("== proc/200/stat\n");
    std::fs::remove_dir_all(machine.path("proc/200")).unwrap();
    machine.draw(&stat(100, "p", 1, [1000, 0, 31, 3], 1000));
    sampled.read_again();
    sampled.read_again();
    sampled.assert("children.cpu.time", "", 0.34 + 1.28);
    sampled.assert("children.memory.resident", "", 128.0 * page());
}

#[test]
fn the_switches_of_another_process_are_not_those_of_its_first_thread() {
    let mut status = String::from("== proc/100/status\n");
    writeln!(status, "VmSwap:\t0 kB\nvoluntary_ctxt_switches:\t7\nnonvoluntary_ctxt_switches:\t8")
        .unwrap();
    let sampled = Machine::drawn(&status).sampled();
    assert!(sampled.why_not("process.context_switches.voluntary").contains("itself"));
}

#[test]
fn waiting_for_a_processor_is_that_of_all_threads_also_of_those_that_ended() {
    let machine = Machine::drawn(
        "== proc/100/schedstat\n9 9 9\n== proc/100/task/100/schedstat\n7000000000 1500000000 12\n\
         == proc/100/task/101/schedstat\n0 250000000 1\n\
         == proc/100/task/103/schedstat\n0 64000000000 1\n== proc/100/task/103/comm\nmarey-drain\n",
    );
    let mut sampled = machine.sampled();
    // Not the 64 s of the recorder's own thread.
    sampled.assert("process.cpu.wait", "", 1.75);
    // One ends, one begins, one goes on.
    std::fs::remove_dir_all(machine.path("proc/100/task/101")).unwrap();
    machine.write("proc/100/task/101", "");
    machine.draw(
        "== proc/100/task/100/schedstat\n7000000000 2000000000 13\n\
         == proc/100/task/102/schedstat\n0 125000000 1\n",
    );
    sampled.read_again();
    sampled.assert("process.cpu.wait", "", 2.0 + 0.25 + 0.125);
}

#[test]
fn without_schedstat_nobody_knows_who_waited() {
    let machine = Machine::drawn("== proc/100/schedstat\n\n");
    assert!(!machine.sampled().why_not("process.cpu.wait").is_empty());
}
