//! Starting a recording, the value that stands for one, and why it could not start.

use std::io;
use std::path::PathBuf;

use super::{Config, Recorder};
use crate::profiling_config::default_output_dir;
use crate::run::Status;

/// A recording that was started. Dropping it closes the capture.
#[derive(Debug)]
#[must_use = "dropping it ends the recording"]
pub struct Recording {
    recorder: &'static Recorder,
    is_finished: bool,
}

impl Recording {
    /// Closes the capture and returns its path; `None` when it was held in memory.
    pub fn finish(mut self) -> Option<PathBuf> {
        self.is_finished = true;
        self.recorder.stop(&Status::Finished)
    }
}

impl Drop for Recording {
    fn drop(&mut self) {
        if !self.is_finished {
            let status = if std::thread::panicking() {
                Status::Failed("panic".into())
            } else {
                Status::Finished
            };
            self.recorder.stop(&status);
        }
    }
}

/// Why a recording could not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The output folder cannot be made or written.
    #[error("cannot record into {path}: {source}; choose another output folder (MAREY_OUTPUT_DIR)")]
    OutputFolder {
        /// The job folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// No memory for the recorder's tables.
    #[error("no memory for the recorder: {0}")]
    Memory(io::Error),
    /// The limit of the address space leaves so little that threads of the program could not start beside the recorder's.
    #[error(
        "a recording needs {} MiB of address space and the limit leaves {} (ulimit -v)",
        .needed_bytes >> 20, .left_bytes >> 20
    )]
    AddressSpace {
        /// What a recording may take, and as much again for the program.
        needed_bytes: u64,
        /// What the limit leaves.
        left_bytes: u64,
    },
    /// The process was forked while its parent waited for a disk, so the recorder's state is not known to be whole.
    #[error(
        "this process was forked while its parent waited for a disk and cannot record; start a new one (spawn)"
    )]
    CutOff,
}

impl Error {
    /// Nothing fits into the capture's file.
    pub(crate) fn no_space(path: PathBuf) -> Self {
        Self::OutputFolder { path, source: io::ErrorKind::StorageFull.into() }
    }
}

/// Starts recording. Starting twice joins the recording that is on.
///
/// # Errors
/// When the output folder cannot be used; nothing is recorded then.
#[expect(clippy::needless_pass_by_value, reason = "callers write it down in the call")]
pub fn start(config: Config) -> Result<Recording, Error> {
    let recorder = Recorder::start(&config)?;
    Ok(Recording { recorder, is_finished: false })
}

/// Starts recording if the environment asks for it (`MAREY_ENABLED=1`, as `marey run` sets it). Never fails: what is wrong
/// becomes one warning on stderr, and recording stays off, or goes on in memory if only the output folder cannot be used.
pub fn start_from_env() -> Option<Recording> {
    start_from_env_with(|_| ())
}

/// As [`start_from_env`]; `prepare` changes what the environment says before it starts.
pub fn start_from_env_with(prepare: impl FnOnce(&mut Config)) -> Option<Recording> {
    if !is_asked_for_by_env() {
        return None;
    }
    let (mut config, warnings) = Config::from_env();
    config.output_dir.get_or_insert_with(default_output_dir);
    prepare(&mut config);
    for warning in &warnings {
        warn(warning);
    }
    let in_memory = Config { output_dir: None, ..config.clone() };
    match start(config) {
        Ok(recording) => Some(recording),
        Err(error) => {
            let recording = start(in_memory).ok();
            let instead = if recording.is_some() {
                "recording in memory only"
            } else {
                "nothing is recorded"
            };
            warn(&format!("{error}; {instead}"));
            recording
        }
    }
}

/// Whether `MAREY_ENABLED` is set to something other than `0`, `false`, `no`, `off` or nothing. Where it is not set,
/// `FRAMEPACK_ENABLE_PROFILING=1` says the same.
pub fn is_asked_for_by_env() -> bool {
    crate::profiling_config::asks_to_record()
}

#[expect(
    clippy::print_stderr,
    reason = "the one way to say that a recording asked for by the environment is off"
)]
fn warn(text: &str) {
    eprintln!("marey: {text}");
}
