//! What can go wrong before a recording runs.

use std::io;
use std::path::PathBuf;

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
