//! Runs the command and the programs under it. Everything lies in a folder of the test's own, rings too.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use tempfile::TempDir;

/// What the command said and how it ended, in process.
pub(crate) struct Said {
    pub(crate) code: u8,
    pub(crate) out: String,
    pub(crate) err: String,
}

/// Calls the command in this process.
pub(crate) fn marey(arguments: &[&str]) -> Said {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let arguments = ["marey"].iter().chain(arguments).map(OsString::from);
    let exit = marey_cli::run(arguments, &mut out, &mut err);
    Said {
        code: exit.code(),
        out: String::from_utf8(out).unwrap(),
        err: String::from_utf8(err).unwrap(),
    }
}

/// A folder with recordings in `out/job`.
pub(crate) struct Place {
    folder: TempDir,
}

impl Place {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn out(&self) -> PathBuf {
        self.path("out")
    }

    pub(crate) fn job(&self) -> PathBuf {
        self.path("out/job")
    }

    /// `marey` as a process, in this folder.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_marey"));
        command
            .args(arguments)
            .current_dir(self.folder.path())
            .env("MAREY_RING_DIR", self.path("rings"))
            .env("MAREY_OUTPUT_DIR", self.out())
            .env("MAREY_JOB_ID", "job")
            .env_remove("MAREY_ENABLED")
            .env_remove("PYTHONPATH")
            .stdin(Stdio::null());
        command
    }

    /// `marey run -- recorded …`, not started.
    pub(crate) fn recorded(&self, arguments: &[&str]) -> Command {
        let program = example();
        let mut command = self.command(&["run", "--full", "--"]);
        command.arg(program).args(arguments);
        command
    }

    /// Names of the captures.
    pub(crate) fn captures(&self) -> Vec<PathBuf> {
        marey_folder::run_folder::captures(&self.job()).unwrap_or_default()
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// A text with this folder's name taken out.
    pub(crate) fn plain(&self, text: &str) -> String {
        text.replace(self.folder.path().to_str().unwrap(), "[place]")
    }

    /// All files below, for tests of what stays behind.
    pub(crate) fn files(&self) -> Vec<String> {
        let mut found = Vec::new();
        list(self.folder.path(), self.folder.path(), &mut found);
        found.sort();
        found
    }
}

/// The command with all sampling switched off: a program that records nothing itself is not sampled from outside either, however long
/// it takes.
pub(crate) fn unsampled(mut command: Command) -> Command {
    for what in [
        "CPU_USAGE",
        "SYSTEM_MEMORY",
        "GPU_MEMORY",
        "GPU_UTILIZATION",
        "GPU_TEMPERATURE",
        "GPU_POWER",
    ] {
        command.env(format!("MAREY_MONITOR_{what}"), "0");
    }
    command
}

fn list(folder: &Path, root: &Path, found: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        found.push(path.strip_prefix(root).unwrap().display().to_string());
        if path.is_dir() && !path.is_symlink() {
            list(&path, root, found);
        }
    }
}

/// `cargo test` builds examples beside the test binaries.
pub(crate) fn example() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let profile = test.ancestors().nth(2).expect("target/<profile>/deps/<test>");
    profile.join("examples/recorded")
}

/// Waits until a started program has made its file.
pub(crate) fn wait_for(file: &Path, program: &mut Child) {
    while !file.exists() {
        assert!(program.try_wait().unwrap().is_none(), "the program ended by itself");
        std::thread::yield_now();
    }
}

/// The text with one blank between two words, however it was broken into lines and aligned.
pub(crate) fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

pub(crate) fn err(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}
