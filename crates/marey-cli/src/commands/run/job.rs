//! The folder of a job that is about to run, and the environment that leads a program there.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{fs, io};

use anyhow::anyhow;
use marey::{Config, LaunchCapture, Outside, make_job_folder, make_output_folder};
use marey_folder::environment;
use marey_folder::run_folder::{JobCaptures, captures};
use tempfile::TempDir;

use super::startup_folder;

/// A job that is about to run. Its folder goes with it when nothing came into it.
#[derive(Debug)]
pub(super) struct Job {
    out: PathBuf,
    /// Its name.
    pub(super) id: String,
    /// `<out>/<id>`.
    pub(super) folder: PathBuf,
    /// Captures of an earlier job of the same name.
    pub(super) earlier: BTreeSet<PathBuf>,
    /// The job in the same output folder that was recorded last; `None` when there is none.
    pub(super) before: Option<JobCaptures>,
    /// Made by us, so removed by us when nothing came into it.
    is_out_ours: bool,
    /// What Python imports when it starts; why not, where no place takes it.
    startup: io::Result<TempDir>,
}

impl Job {
    /// Makes the folder with what the program needs to find it. As asked for, else as the environment says, else the default.
    pub(super) fn prepare(output: Option<PathBuf>, job_id: Option<String>) -> anyhow::Result<Self> {
        let (from_env, _) = Config::from_env();
        let out = output.or(from_env.output_dir).unwrap_or_else(marey::default_output_dir);
        let unusable = |path: &Path, source: io::Error| {
            anyhow!(
                "cannot write to {}: {source}; choose another folder with --output",
                path.display()
            )
        };
        let out = std::path::absolute(&out).map_err(|source| unusable(&out, source))?;
        let id = marey::job_id(&Config { job_id: job_id.or(from_env.job_id), ..Config::default() });
        let job = Self {
            folder: out.join(&id),
            is_out_ours: !out.exists(),
            before: JobCaptures::newest(&out, 1).pop(),
            earlier: captures(&out.join(&id)).unwrap_or_default().into_iter().collect(),
            out,
            id,
            startup: startup_folder::make(),
        };
        let made = make_output_folder(&job.out).and_then(|()| make_job_folder(&job.folder));
        match made {
            Ok(()) => Ok(job),
            Err(source) => Err(unusable(&job.folder, source)),
        }
    }

    /// Begins the capture of the command, which was started just now. `None` where the folder does not take it: what processes record is whole
    /// without it.
    pub(super) fn launched(&self, command: Outside) -> Option<LaunchCapture> {
        let within = std::env::var(LAUNCHER).ok().and_then(|pid| pid.parse().ok());
        let (from_env, _) = Config::from_env();
        LaunchCapture::begin(self.place(from_env), command, within).ok()
    }

    /// A configuration that records into the folder.
    pub(super) fn place(&self, config: Config) -> Config {
        Config { output_dir: Some(self.out.clone()), job_id: Some(self.id.clone()), ..config }
    }

    /// Switches recording on in the program and its descendants.
    pub(super) fn set_environment(&self, command: &mut Command) {
        command
            .env("MAREY_ENABLED", "1")
            .env("MAREY_OUTPUT_DIR", &self.out)
            .env("MAREY_JOB_ID", &self.id)
            .env(LAUNCHER, std::process::id().to_string());
        // The program may change its folder.
        if let Some(rings) = environment("MAREY_RING_DIR") {
            command.env("MAREY_RING_DIR", std::path::absolute(&rings).unwrap_or(rings.into()));
        }
        if let Ok(startup) = &self.startup {
            let mut path = OsString::from(startup.path());
            if let Some(theirs) = environment("PYTHONPATH") {
                path.push(":");
                path.push(theirs);
            }
            command.env("PYTHONPATH", path);
        }
    }

    /// Why Python cannot be made to start recording; `None` when it can.
    pub(super) fn python_path_problem(&self) -> Option<String> {
        let problem = self.startup.as_ref().err()?;
        Some(format!(
            "there is no private folder for what Python imports at its start ({problem}); set TMPDIR to a folder of your own"
        ))
    }

    /// What a Python said that could not be recorded.
    pub(super) fn refusal(&self) -> Option<String> {
        let startup = self.startup.as_ref().ok()?;
        let text = fs::read(startup.path().join("refused")).ok()?;
        Some(String::from_utf8_lossy(&text).into_owned())
    }

    /// Whether there is room for a recording.
    pub(super) fn takes_files(&self) -> io::Result<()> {
        let path = self.folder.join(format!(".room-{}", std::process::id()));
        let written = marey::new_file(&path).and_then(|mut file| file.write_all(&[1; 4096]));
        fs::remove_file(&path).ok();
        written
    }
}

impl Drop for Job {
    fn drop(&mut self) {
        fs::remove_dir(&self.folder).ok();
        if self.is_out_ours {
            fs::remove_dir(&self.out).ok();
        }
    }
}

/// The process id of the `marey run` around a program.
const LAUNCHER: &str = "MAREY_LAUNCHER";
