//! No space: the program runs to its end, totals are exact, and what is not in the capture is counted.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use marey::Run;

use crate::program::{assert_adds_up, calls, captures, only_run, printed, recorded, rings};

/// A file system of a few bytes; unmounted when dropped.
pub(crate) struct Tiny(pub(crate) PathBuf);

impl Tiny {
    /// `None`, visibly, for who may not mount.
    #[expect(clippy::print_stderr, reason = "a test that is skipped says so")]
    pub(crate) fn mount(path: PathBuf, size: &str) -> Option<Self> {
        std::fs::create_dir_all(&path).unwrap();
        let mut mount = Command::new("mount");
        let mount = mount.args(["-t", "tmpfs", "-o"]).arg(format!("size={size}"));
        let is_mounted = mount.arg("tmpfs").arg(&path).output().is_ok_and(|o| o.status.success());
        if !is_mounted {
            eprintln!("SKIPPED: mounting a file system needs root");
        }
        is_mounted.then_some(Self(path))
    }
}

impl Drop for Tiny {
    fn drop(&mut self) {
        Command::new("umount").arg("-l").arg(&self.0).status().ok();
    }
}

fn steps(command: &mut Command) {
    assert_eq!(printed(command.args(["drained steps", "300000"])), "done\n");
}

fn assert_nothing_is_hidden(run: &Run) {
    assert_adds_up(run);
    assert_eq!(calls(run, "step"), 300_000);
    assert!(run.losses.sections_not_written > 0, "{:?}", run.losses);
    assert_eq!(run.losses.sections_ring_full, 0);
}

#[test]
fn a_disk_that_fills_up_costs_records_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let Some(_tiny) = Tiny::mount(folder.path().join("out"), "2m") else {
        return;
    };
    steps(&mut recorded("loads", folder.path()));
    let run = only_run(folder.path());
    assert_nothing_is_hidden(&run);
    assert_eq!(run.warnings, []);
    assert!(!run.sections.is_empty());
}

#[test]
fn a_disk_that_is_full_from_the_start_is_one_warning() {
    let folder = tempfile::tempdir().unwrap();
    let Some(tiny) = Tiny::mount(folder.path().join("out"), "64k") else {
        return;
    };
    std::fs::write(tiny.0.join("filling"), vec![0; 128 << 10]).unwrap_err();
    let mut command = recorded("loads", folder.path());
    let output = command.args(["steps", "1000"]).output().unwrap();
    assert!(output.status.success());
    assert_eq!(output.stdout, b"done\n");
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.starts_with("marey: cannot record into "), "{said}");
    assert_eq!(captures(folder.path()), Vec::<PathBuf>::new());
}

/// `ulimit -f`, in units of 512 bytes, without ignoring the signal that comes with it.
fn with_file_size_limit(command: &Command, kib: u32) -> Command {
    let mut limited = Command::new("sh");
    let script = format!("ulimit -f {}; exec \"$0\" \"$@\"", kib * 2);
    limited.arg("-c").arg(script).arg(command.get_program());
    let settings = command.get_envs();
    limited.envs(settings.filter_map(|(name, value)| Some((name, value?))));
    limited
}

fn is_posix_sh() -> bool {
    // POSIX counts in blocks of 512 bytes; bash does so only when it is called sh.
    Path::new("/bin/sh").exists()
}

#[test]
fn a_limit_on_file_sizes_costs_records_and_sends_no_signal() {
    assert!(is_posix_sh());
    let folder = tempfile::tempdir().unwrap();
    steps(&mut with_file_size_limit(&recorded("loads", folder.path()), 8 << 10));
    let run = only_run(folder.path());
    assert_nothing_is_hidden(&run);
    assert_eq!(run.losses.threads_in_private_memory, 0);
    let length = std::fs::metadata(&captures(folder.path())[0]).unwrap().len();
    assert!((1 << 20..=8 << 20).contains(&length), "{length}");
}

#[test]
fn a_limit_below_the_rings_leaves_them_in_private_memory() {
    let folder = tempfile::tempdir().unwrap();
    steps(&mut with_file_size_limit(&recorded("loads", folder.path()), 256));
    let run = only_run(folder.path());
    assert_nothing_is_hidden(&run);
    assert_eq!(run.losses.threads_in_private_memory, 1);
}

#[test]
fn rings_that_find_no_room_go_elsewhere() {
    let folder = tempfile::tempdir().unwrap();
    printed(recorded("endings", folder.path()).arg("exec"));
    let leftover = &marey::leftovers(&rings(folder.path()))[0];
    let process = std::fs::metadata(leftover.folder.join("process")).unwrap();
    let tables = process.blocks() * 512;
    // A tenth is ours. It is too small for any of them; then large enough for the tables of the process, but not for a thread.
    for (size, n_private) in [(64 << 10, 0), (10 * (tables + (64 << 10)), 1)] {
        let Some(tiny) = Tiny::mount(folder.path().join("tiny"), &size.to_string()) else {
            return;
        };
        std::fs::remove_dir_all(folder.path().join("out")).ok();
        let mut command = recorded("loads", folder.path());
        command.env("MAREY_RING_DIR", &tiny.0);
        assert_eq!(printed(command.args(["steps", "1000"])), "done\n");
        let run = only_run(folder.path());
        assert_adds_up(&run);
        assert_eq!(calls(&run, "step"), 1000);
        assert_eq!(run.losses.threads_in_private_memory, n_private, "{size}");
    }
}
