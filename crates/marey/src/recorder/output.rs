//! Where the capture goes: into a file of the job folder, or into memory with a cap.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::config::Config;
use super::file_size_limit::file_size_limit;
use super::identity::forked_from;
use super::job_id::job_id;
use crate::capture::FILE_HEADER;
use crate::error::Error;
use crate::private_files::{make_job_folder, make_output_folder, new_file};

/// The growing capture.
#[derive(Debug)]
pub(crate) struct Output {
    sink: Sink,
    /// Bytes that are whole blocks.
    whole_bytes: u64,
    max_bytes: u64,
    /// Never passed, not even by what ends a capture. 0 when the file cannot be written any more.
    file_size_limit: u64,
}

#[derive(Debug)]
enum Sink {
    Memory(Vec<u8>),
    File(File, PathBuf),
}

impl Output {
    /// A capture in memory.
    pub(crate) fn in_memory(config: &Config) -> Self {
        let header = FILE_HEADER.to_vec();
        Self {
            whole_bytes: header.len() as u64,
            sink: Sink::Memory(header),
            max_bytes: config.memory_capture_bytes,
            file_size_limit: u64::MAX,
        }
    }

    /// A capture in `<output_dir>/<job id>/<name>`, both made if need be; `<output_dir>/latest` then points there.
    pub(crate) fn in_file(config: &Config, output_dir: &Path, name: &str) -> Result<Self, Error> {
        let job = job_id(config);
        let folder = output_dir.join(&job);
        let unusable = |source: io::Error| Error::OutputFolder {
            path: folder.clone(),
            source,
        };
        make_output_folder(output_dir)
            .and_then(|()| make_job_folder(&folder))
            .map_err(unusable)?;
        let (mut file, path) = new_numbered(&folder, name, "marey").map_err(unusable)?;
        file.write_all(&FILE_HEADER).map_err(|source| {
            std::fs::remove_file(&path).ok();
            unusable(source)
        })?;
        if config.is_first_of_job && forked_from().is_none() {
            point_latest_to(output_dir, &job);
        }
        let path = std::path::absolute(&path).unwrap_or(path);
        Ok(Self {
            sink: Sink::File(file, path),
            whole_bytes: FILE_HEADER.len() as u64,
            max_bytes: config.capture_bytes,
            file_size_limit: file_size_limit().unwrap_or(u64::MAX),
        })
    }

    /// Appends whole blocks; false when that is not possible: no space, an error, or over the cap. Nothing half-written stays.
    /// `is_summary` blocks, which end a capture, may pass the cap.
    pub(crate) fn append(&mut self, blocks: &[u8], is_summary: bool) -> bool {
        let after = self.whole_bytes + blocks.len() as u64;
        // Near the limit, the last bytes are kept for what ends the capture.
        let for_records = self.file_size_limit - self.file_size_limit / 8;
        let max_bytes = if is_summary {
            self.file_size_limit
        } else {
            self.max_bytes.min(for_records)
        };
        if after > max_bytes {
            return false;
        }
        let is_written = match &mut self.sink {
            Sink::Memory(bytes) => {
                bytes.extend_from_slice(blocks);
                true
            }
            Sink::File(file, _) => {
                let is_written = file.write_all(blocks).is_ok();
                if !is_written && file.set_len(self.whole_bytes).is_err() {
                    // Something half-written stays, so the file's end is not known any more: nothing is added to it.
                    self.file_size_limit = 0;
                }
                is_written
            }
        };
        if is_written {
            self.whole_bytes = after;
        }
        is_written
    }

    /// Bytes that are whole blocks.
    pub(crate) fn whole_bytes(&self) -> u64 {
        self.whole_bytes
    }

    /// The path; `None` in memory.
    pub(crate) fn path(&self) -> Option<&Path> {
        match &self.sink {
            Sink::Memory(_) => None,
            Sink::File(_, path) => Some(path),
        }
    }

    /// All bytes so far; empty when the file can no longer be read.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        match &self.sink {
            Sink::Memory(bytes) => bytes.clone(),
            Sink::File(_, path) => std::fs::read(path).unwrap_or_default(),
        }
    }
}

/// A file that did not exist; a taken name (by this process before an exec, say) gets a running number.
pub(super) fn new_numbered(folder: &Path, name: &str, ending: &str) -> io::Result<(File, PathBuf)> {
    for n in 1..1000 {
        let suffix = if n == 1 {
            String::new()
        } else {
            format!("-{n}")
        };
        let path = folder.join(format!("{name}{suffix}.{ending}"));
        match new_file(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            other => return other.map(|file| (file, path)),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

/// A convenience: nothing depends on it, so failing is fine. Renamed into place, so that it always points somewhere.
pub(super) fn point_latest_to(output_dir: &Path, job: &str) {
    let new = output_dir.join(format!(".latest-{}", std::process::id()));
    std::fs::remove_file(&new).ok();
    if std::os::unix::fs::symlink(job, &new).is_ok()
        && std::fs::rename(&new, output_dir.join("latest")).is_err()
    {
        std::fs::remove_file(&new).ok();
    }
}
