//! A program that dies between any two instructions: every one of them is tried.
//!
//! The program runs step by step under `ptrace`, and after each step its capture and rings are read as they would be if it had been
//! killed there.

#![allow(unsafe_code, reason = "ptrace")]

use marey::Run;

use crate::program::{assert_adds_up, calls, captures, completed, recorded};

const NAMES: [&str; 3] = ["outer", "inner", "failed"];

/// Lets the child do one instruction, or go on; the signal that it stopped with next.
fn go_on(request: libc::c_uint, pid: libc::pid_t) -> Option<i32> {
    let none = std::ptr::null_mut::<libc::c_void>();
    // SAFETY: the child is stopped and traced by this thread; these requests take no addresses.
    let code = unsafe { libc::ptrace(request, pid, none, none) };
    assert_eq!(code, 0);
    wait(pid)
}

fn wait(pid: libc::pid_t) -> Option<i32> {
    let mut status = 0;
    // SAFETY: waits for a child, into a valid place.
    assert_eq!(unsafe { libc::waitpid(pid, &raw mut status, 0) }, pid);
    libc::WIFSTOPPED(status).then(|| libc::WSTOPSIG(status))
}

fn assert_possible(run: &Run) {
    assert_adds_up(run);
    for (node, totals) in run.nodes.iter().zip(&run.totals).filter(|(_, t)| t.count > 0) {
        let name = &node.name;
        assert!(totals.min_ns <= totals.max_ns, "{name}: {totals:?}");
        assert!(totals.max_ns <= totals.sum_ns, "{name}: {totals:?}");
        assert!(totals.sum_ns <= run.wall_ns, "{name}: {totals:?}");
        for one in [totals.first_ns, totals.last_ns] {
            assert!((totals.min_ns..=totals.max_ns).contains(&one), "{name}: {totals:?}");
        }
        // What was recorded one by one says the same.
        let mut sections = run.sections.iter().filter(|s| run.nodes[s.node as usize].name == *name);
        let failed = sections.clone().filter(|s| s.is_failed).count() as u64;
        assert_eq!(totals.errors, failed, "{name}");
        let last = sections.next_back().map(marey::Section::duration_ns).unwrap();
        assert!(last.abs_diff(totals.last_ns) <= 1 + last / 1000, "{name}: {last} {totals:?}");
    }
}

#[test]
fn a_kill_between_any_two_instructions_leaves_exact_totals() {
    let folder = tempfile::tempdir().unwrap();
    let mut child = recorded("stepped", folder.path()).spawn().expect("examples are built");
    let pid = child.id().cast_signed();
    assert_eq!(wait(pid), Some(libc::SIGSTOP));
    let capture = &captures(folder.path())[0];
    let mut last = completed(&marey::load(capture).unwrap());
    assert_eq!(last, 9);
    let (mut n_steps, mut stopped) = (0, Some(libc::SIGTRAP));
    while stopped == Some(libc::SIGTRAP) {
        stopped = go_on(libc::PTRACE_SINGLESTEP, pid);
        let run = marey::load(capture).unwrap();
        assert_possible(&run);
        let found = completed(&run);
        assert!((last..=last + 1).contains(&found), "after {n_steps}: {found} from {last}");
        last = found;
        n_steps += 1;
    }
    assert_eq!(stopped, Some(libc::SIGSTOP));
    assert!(n_steps > 300, "{n_steps}");
    let run = marey::load(capture).unwrap();
    assert_eq!(NAMES.map(|name| calls(&run, name)), [5, 5, 5]);
    assert_eq!(go_on(libc::PTRACE_CONT, pid), None);
    child.wait().ok();
}
