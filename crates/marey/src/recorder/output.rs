//! Where the capture goes: into a file of the job folder, or into memory with a cap.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::capture_file::CaptureFile;
use super::config::Config;
use super::file_size_limit::file_size_limit;
use super::identity::{Identity, forked_from};
use super::job_id::job_id;
use super::room::{Content, Counts, Room};
use crate::capture::{Encode, FILE_HEADER};
use crate::error::Error;
use crate::private_files::{make_job_folder, make_output_folder, new_file};

/// The growing capture.
#[derive(Debug)]
pub(crate) struct Output {
    sink: Sink,
    /// Bytes that are whole blocks.
    whole_bytes: u64,
    room: Room,
    /// Where the room ends, also for what ends a capture. 0 when the file cannot be written any more.
    file_size_limit: u64,
}

#[derive(Debug)]
enum Sink {
    Memory(Vec<u8>),
    File(CaptureFile),
}

impl Output {
    /// A capture in memory.
    pub(crate) fn in_memory(config: &Config) -> Self {
        let header = FILE_HEADER.to_vec();
        Self {
            whole_bytes: header.len() as u64,
            sink: Sink::Memory(header),
            room: Room::of(config.memory_capture_bytes),
            file_size_limit: u64::MAX,
        }
    }

    /// A capture in `<output_dir>/<job id>/`, both made if need be; `<output_dir>/latest` then points there.
    pub(crate) fn in_file(config: &Config, output_dir: &Path) -> Result<Self, Error> {
        let job = job_id(config);
        let folder = output_dir.join(&job);
        let unusable = |source: io::Error| Error::OutputFolder { path: folder.clone(), source };
        make_output_folder(output_dir).and_then(|()| make_job_folder(&folder)).map_err(unusable)?;
        let (file, path) = new_numbered(&folder, &capture_name(config), "marey", &FILE_HEADER)
            .map_err(unusable)?;
        let made = CaptureFile::made(&file, &path).map_err(|source| {
            std::fs::remove_file(&path).ok();
            unusable(source)
        })?;
        if config.is_first_of_job && forked_from().is_none() {
            point_latest_to(output_dir, &job);
        }
        let file_size_limit = file_size_limit().unwrap_or(u64::MAX);
        // Near the limit, the last bytes are kept for what ends the capture.
        let for_records = file_size_limit - file_size_limit / 8;
        Ok(Self {
            sink: Sink::File(made),
            whole_bytes: FILE_HEADER.len() as u64,
            room: Room::of(config.capture_bytes.min(for_records)),
            file_size_limit,
        })
    }

    /// Whether the calling thread can write the capture now. Another thread, with descriptors of its own, may be able to.
    pub(super) fn is_within_reach(&mut self) -> bool {
        match &mut self.sink {
            Sink::Memory(_) => true,
            Sink::File(file) => file.is_within_reach(),
        }
    }

    /// Appends whole blocks; false when that is not possible: no space, an error, or no room for such content. Nothing half-written stays.
    pub(super) fn append(&mut self, blocks: &[u8], content: Content) -> bool {
        let length = blocks.len() as u64;
        let after = self.whole_bytes + length;
        if !self.room.has(content, length) || !self.may_reach(after) || !self.is_within_reach() {
            return false;
        }
        let is_written = match &mut self.sink {
            Sink::Memory(bytes) => {
                bytes.extend_from_slice(blocks);
                true
            }
            Sink::File(file) => {
                let is_written = file.write_at(blocks, self.whole_bytes).is_ok();
                if !is_written && file.set_len(self.whole_bytes).is_err() {
                    // Something half-written stays, so the file's end is not known any more: nothing is added to it.
                    self.file_size_limit = 0;
                }
                is_written
            }
        };
        if is_written {
            self.room.take(content, length);
            self.whole_bytes = after;
        }
        is_written
    }

    /// Whether so long a file may be written; the program may have lowered its limit since the start.
    fn may_reach(&self, length: u64) -> bool {
        match self.sink {
            Sink::Memory(_) => true,
            Sink::File(_) => {
                length <= self.file_size_limit && length <= file_size_limit().unwrap_or(u64::MAX)
            }
        }
    }

    /// Whether blocks of a length still belong to the beginning, where everything is kept in order.
    pub(super) fn is_beginning(&self, length: usize) -> bool {
        self.room.has(Content::Beginning, length as u64)
    }

    /// Begins the part that holds the last sections, unless it began; false when that is not possible.
    pub(super) fn begin_last(&mut self) -> bool {
        if self.room.is_past_beginning() {
            return true;
        }
        let mut encode = Encode::default();
        encode.last(self.room.last_bytes());
        let offset = self.whole_bytes + encode.bytes.len() as u64;
        let after = offset + self.room.last_bytes();
        // Set aside before it is announced, as a hole: what is not written yet takes no space.
        let may_reach = self.may_reach(after);
        let is_set_aside = match &mut self.sink {
            Sink::Memory(_) => true,
            Sink::File(file) => may_reach && file.set_len(after).is_ok(),
        };
        if !is_set_aside || !self.append(&encode.bytes, Content::Summary) {
            return false;
        }
        if let Sink::Memory(bytes) = &mut self.sink {
            bytes.resize(usize::try_from(after).unwrap_or(usize::MAX), 0);
        }
        self.whole_bytes = after;
        self.room.begin_last(offset);
        true
    }

    /// Writes whole blocks over the oldest of the last part. What is not in the capture any more, or, when they cannot be written, the
    /// blocks themselves.
    pub(super) fn write_last(&mut self, blocks: &[u8], counts: Counts) -> Counts {
        if blocks.is_empty() {
            return Counts::default();
        }
        let Some((offset, lost)) = self.room.place_last(blocks.len() as u64, counts) else {
            return counts;
        };
        let may_reach = self.may_reach(offset + blocks.len() as u64);
        let is_written = match &mut self.sink {
            Sink::Memory(bytes) => usize::try_from(offset)
                .ok()
                .and_then(|offset| bytes.get_mut(offset..offset + blocks.len()))
                .map(|place| place.copy_from_slice(blocks))
                .is_some(),
            Sink::File(file) => may_reach && file.write_at(blocks, offset).is_ok(),
        };
        if is_written {
            return lost;
        }
        self.room.take_back(offset, counts);
        lost + counts
    }

    /// Takes over what another capture holds; false when that is not possible.
    pub(super) fn go_on_for(&mut self, other: &Self) -> bool {
        let is_written = self.append(&other.bytes()[FILE_HEADER.len()..], Content::Summary);
        self.room.go_on_for(&other.room);
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
            Sink::File(file) => Some(file.path()),
        }
    }

    /// All bytes so far; empty when the file can no longer be read.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        match &self.sink {
            Sink::Memory(bytes) => bytes.clone(),
            Sink::File(file) => std::fs::read(file.path()).unwrap_or_default(),
        }
    }
}

/// `rank0-<pid>`, or `rank0-<parent>-child<pid>` after a fork; `outside-<pid>` of a program that is recorded from outside.
fn capture_name(config: &Config) -> String {
    if let Some(outside) = &config.outside {
        return format!("outside-{}", outside.pid);
    }
    let (place, _) = super::launcher::place_of_this_process(config);
    let rank = place.map_or(0, |place| place.rank);
    let pid = Identity::of_this_process().pid;
    match forked_from() {
        Some(parent) => format!("rank{rank}-{parent}-child{pid}"),
        None => format!("rank{rank}-{pid}"),
    }
}

/// A file that did not exist, with how it begins; a taken name (by this process before an exec, say) gets a running number.
///
/// Under its name it is never without its beginning, for a process may be killed at any moment: it is written under a hidden name first,
/// where the file system has links.
pub(super) fn new_numbered(
    folder: &Path,
    name: &str,
    ending: &str,
    beginning: &[u8],
) -> io::Result<(File, PathBuf)> {
    let hidden = folder.join(format!(".{name}.{ending}.part"));
    // Of this name it is this process's own, or that of one that was killed.
    std::fs::remove_file(&hidden).ok();
    let begin = |path: &Path| {
        let mut file = new_file(path)?;
        file.write_all(beginning).inspect_err(|_| drop(std::fs::remove_file(path)))?;
        Ok(file)
    };
    let prepared = begin(&hidden)?;
    let found = (1..1000).find_map(|n| {
        let suffix = if n == 1 { String::new() } else { format!("-{n}") };
        let path = folder.join(format!("{name}{suffix}.{ending}"));
        let is_taken = |error: &io::Error| error.kind() == io::ErrorKind::AlreadyExists;
        match std::fs::hard_link(&hidden, &path) {
            Ok(()) => Some(Ok((None, path))),
            Err(error) if is_taken(&error) => None,
            Err(_) => match begin(&path) {
                Err(error) if is_taken(&error) => None,
                other => Some(other.map(|file| (Some(file), path))),
            },
        }
    });
    std::fs::remove_file(&hidden).ok();
    let found = found.unwrap_or_else(|| Err(io::ErrorKind::AlreadyExists.into()));
    found.map(|(file, path)| (file.unwrap_or(prepared), path))
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

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    #[test]
    fn nobody_sees_a_capture_without_its_beginning() {
        // A worker of a pool that was terminated as it started left an empty file, which was no capture.
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().to_owned();
        let is_done = std::sync::Arc::new(AtomicBool::new(false));
        let says_done = std::sync::Arc::clone(&is_done);
        let writer = std::thread::Builder::new().name("writer".into());
        let writer = writer.spawn(move || {
            for n in 0..3000 {
                new_numbered(&folder, &format!("rank0-{n}"), "marey", &FILE_HEADER).unwrap();
            }
            says_done.store(true, Ordering::Release);
        });
        let folder = place.path();
        let mut seen = u64::MAX;
        while !is_done.load(Ordering::Acquire) {
            let found = std::fs::read_dir(folder).unwrap().flatten();
            let files = found.filter(|one| one.file_name().to_string_lossy().starts_with("rank0"));
            let lengths = files.filter_map(|one| Some(one.metadata().ok()?.len()));
            seen = lengths.min().unwrap_or(u64::MAX).min(seen);
        }
        writer.unwrap().join().unwrap();
        assert!([u64::MAX, FILE_HEADER.len() as u64].contains(&seen), "{seen}");
        assert_eq!(std::fs::read_dir(folder).unwrap().count(), 3000);
    }

    #[test]
    fn a_name_that_is_taken_gets_a_number() {
        let place = tempfile::tempdir().unwrap();
        let made: Vec<String> = (0..3)
            .map(|_| {
                let (_, path) = new_numbered(place.path(), "rank0-7", "marey", b"x").unwrap();
                path.file_name().unwrap().to_string_lossy().into_owned()
            })
            .collect();
        assert_eq!(made, ["rank0-7.marey", "rank0-7-2.marey", "rank0-7-3.marey"]);
    }
}
