//! Where the capture's bytes go: into a file of the job folder, or into memory with a cap, each as far as [`Room`] has room.
//!
//! ```text
//!            beginning full, a part set aside        end of the recording
//! beginning ──────────────────────────► last part, over and over ──────────► closed
//! any write that fails, or goes past a limit of the file: nothing half-written stays, what is not there is counted
//! ```

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering::Release};

use super::capture_file::CaptureFile;
use super::config::Config;
use super::identity::{Identity, forked_from};
use super::job_id::job_id;
use super::layout::process;
use super::recording::Error;
use super::ring::Ring;
use super::room::{Content, Counts, Room};
use crate::capture::{Encode, FILE_HEADER, RECORDS_PER_BLOCK};
use crate::note::Worth;
use crate::private_files::{make_job_folder, make_output_folder, new_file};

/// The growing capture.
#[derive(Debug)]
pub(crate) struct Output {
    sink: Sink,
    room: Room,
    /// Bytes that are whole blocks.
    whole_bytes: u64,
    /// The same for other processes: what is not there yet is in the rings.
    published: &'static AtomicU64,
}

#[derive(Debug)]
enum Sink {
    Memory(Vec<u8>),
    File(CaptureFile),
}

/// What a ring holds that the capture does not.
pub(super) struct Held<'a> {
    pub(super) lane: u32,
    pub(super) ring: &'a Ring<'a>,
    /// Positions in the ring, the first and the one past the last; so for the words of notes.
    pub(super) records: (u64, u64),
    pub(super) notes: (u64, u64),
}

impl Output {
    /// A capture in memory. `header` is that of the rings.
    pub(crate) fn in_memory(config: &Config, header: &'static [AtomicU64]) -> Self {
        let room = Room::of(config.memory_capture_bytes);
        Self::begun(Sink::Memory(FILE_HEADER.to_vec()), room, header)
    }

    /// A capture in `<output_dir>/<job id>/`, both made if need be; `<output_dir>/latest` then points there.
    pub(crate) fn in_file(
        config: &Config,
        output_dir: &Path,
        header: &'static [AtomicU64],
    ) -> Result<Self, Error> {
        let job = job_id(config);
        let unusable = |source| Error::OutputFolder { path: output_dir.join(&job), source };
        let (file, path) =
            new_in_job(output_dir, &job, &capture_name(config), "marey").map_err(unusable)?;
        let made = CaptureFile::made(&file, &path).map_err(|source| {
            std::fs::remove_file(&path).ok();
            unusable(source)
        })?;
        if config.is_first_of_job && forked_from().is_none() {
            point_latest_to(output_dir, &job);
        }
        let room = Room::of(config.capture_bytes.min(made.room_for_records()));
        Ok(Self::begun(Sink::File(made), room, header))
    }

    fn begun(sink: Sink, room: Room, header: &'static [AtomicU64]) -> Self {
        let published = &header[process::CAPTURE_BYTES];
        Self { sink, room, whole_bytes: FILE_HEADER.len() as u64, published }
    }

    /// Whether the calling thread can write the capture now.
    pub(super) fn is_within_reach(&mut self) -> bool {
        match &mut self.sink {
            Sink::Memory(_) => true,
            Sink::File(file) => file.is_within_reach(),
        }
    }

    /// Appends whole blocks; false when that is not possible: no space, an error, or no room for such content. Nothing half-written stays.
    pub(super) fn append(&mut self, blocks: &[u8], content: Content) -> bool {
        let is_written = self.add(blocks, content);
        self.publish();
        is_written
    }

    /// As [`Self::append`]; other processes do not see it yet.
    fn add(&mut self, blocks: &[u8], content: Content) -> bool {
        let (offset, length) = (self.whole_bytes, blocks.len() as u64);
        if !self.room.has(content, length) || !self.sink.takes(offset + length) {
            return false;
        }
        let is_written = self.sink.write_at(blocks, offset);
        if is_written {
            self.room.take(content, length);
            self.whole_bytes += length;
        } else if let Sink::File(file) = &mut self.sink {
            file.cut_off(offset);
        }
        is_written
    }

    fn publish(&self) {
        self.published.store(self.whole_bytes, Release);
    }

    /// Writes what a ring holds, a block of records after the other, so that each goes where there is room for it. Returns what is not in the
    /// capture for that: of these sections and notes, or of those before.
    pub(super) fn write(&mut self, held: Held<'_>, encode: &mut Encode) -> Counts {
        let pieces = held.pieces();
        pieces.fold(Counts::default(), |lost, piece| lost + self.write_piece(&piece, encode))
    }

    fn write_piece(&mut self, held: &Held<'_>, encode: &mut Encode) -> Counts {
        if self.room.has(Content::Beginning, 0) {
            encode.bytes.clear();
            encode.ring(held.lane, held.ring, held.records, held.notes);
            if self.room.has(Content::Beginning, encode.bytes.len() as u64) {
                let is_written = self.append(&encode.bytes, Content::Beginning);
                return if is_written { Counts::default() } else { held.counts() };
            }
        }
        if !self.begin_last() {
            return held.counts();
        }
        let sections = held.records.1 - held.records.0;
        encode.bytes.clear();
        encode.ring(held.lane, held.ring, held.records, (0, 0));
        let mut lost = self.write_last(&encode.bytes, Counts { sections, notes: 0 });
        let notes = held.notes_worth(encode, Worth::OfSection);
        lost += self.write_last(&encode.bytes, Counts { sections: 0, notes });
        for (worth, content) in
            [(Worth::Reading, Content::Readings), (Worth::Frame, Content::Sessions)]
        {
            let notes = held.notes_worth(encode, worth);
            if notes > 0 && !self.append(&encode.bytes, content) {
                lost.notes += notes;
            }
        }
        lost
    }

    /// Begins the part that holds the last sections, unless it began; false when that is not possible.
    fn begin_last(&mut self) -> bool {
        if !self.room.is_past_beginning() {
            let mut encode = Encode::default();
            encode.last(self.room.last_bytes());
            let offset = self.whole_bytes + encode.bytes.len() as u64;
            let after = offset + self.room.last_bytes();
            // Set aside before it is announced, as a hole: what is not written yet takes no space.
            if !self.sink.grow(after) || !self.add(&encode.bytes, Content::Summary) {
                return false;
            }
            self.room.begin_last(offset);
            // Before anything is in there that the rings do not hold any more.
            self.whole_bytes = after;
            self.publish();
        }
        true
    }

    /// Writes whole blocks over the oldest of the last part. What is not in the capture any more, or, when they cannot be written, the
    /// blocks themselves.
    fn write_last(&mut self, blocks: &[u8], counts: Counts) -> Counts {
        if blocks.is_empty() {
            return Counts::default();
        }
        let Some((offset, lost)) = self.room.place_last(blocks.len() as u64, counts) else {
            return counts;
        };
        if self.sink.takes(offset + blocks.len() as u64) && self.sink.write_at(blocks, offset) {
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

impl Sink {
    /// Whether the calling thread can write it now, and make it so long.
    fn takes(&mut self, length: u64) -> bool {
        match self {
            Self::Memory(_) => true,
            Self::File(file) => file.may_reach(length) && file.is_within_reach(),
        }
    }

    /// Makes it longer, by nothing; false when that is not possible.
    fn grow(&mut self, length: u64) -> bool {
        match self {
            Self::Memory(bytes) => {
                bytes.resize(at(length), 0);
                true
            }
            Self::File(file) => file.grow(length),
        }
    }

    /// Writes whole blocks at a place; false when that is not possible.
    fn write_at(&mut self, blocks: &[u8], offset: u64) -> bool {
        match self {
            Self::Memory(bytes) => {
                let place = at(offset)..at(offset) + blocks.len();
                bytes.resize(bytes.len().max(place.end), 0);
                bytes[place].copy_from_slice(blocks);
                true
            }
            Self::File(file) => file.write_at(blocks, offset).is_ok(),
        }
    }
}

/// A place in memory.
fn at(offset: u64) -> usize {
    usize::try_from(offset).unwrap_or(usize::MAX)
}

impl Held<'_> {
    pub(super) fn counts(&self) -> Counts {
        Counts {
            sections: self.records.1 - self.records.0,
            notes: self.ring.n_notes(self.notes.0, self.notes.1),
        }
    }

    /// In pieces of one block of records; the notes with the last one.
    fn pieces(self) -> impl Iterator<Item = Self> {
        let ((from, to), (notes_from, notes_to)) = (self.records, self.notes);
        let n = (to - from).div_ceil(RECORDS_PER_BLOCK).max(1);
        (1..=n).map(move |place| {
            let until = from + place * RECORDS_PER_BLOCK;
            Self {
                records: (until - RECORDS_PER_BLOCK, until.min(to)),
                notes: (notes_from, if place == n { notes_to } else { notes_from }),
                ..self
            }
        })
    }

    /// Notes of that worth; how many.
    fn notes_worth(&self, encode: &mut Encode, worth: Worth) -> u64 {
        let words = self.ring.note_words(self.notes.0, self.notes.1);
        encode.bytes.clear();
        let thread = self.ring.thread();
        encode.notes_worth((self.lane, thread), self.notes.0, &words, |of| of == worth)
    }
}

/// A new file in the folder of a job below a folder of output, both made if need be, with the header of a capture in it.
pub(super) fn new_in_job(
    output_dir: &Path,
    job: &str,
    name: &str,
    ending: &str,
) -> io::Result<(File, PathBuf)> {
    let folder = output_dir.join(job);
    make_output_folder(output_dir)?;
    make_job_folder(&folder)?;
    new_numbered(&folder, name, ending)
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

/// A file that did not exist, with the header of a capture; a taken name (by this process before an exec, say) gets a running number.
///
/// Under its name it is never without its beginning, for a process may be killed at any moment: it is written under a hidden name first,
/// where the file system has links.
fn new_numbered(folder: &Path, name: &str, ending: &str) -> io::Result<(File, PathBuf)> {
    let hidden = folder.join(format!(".{name}.{ending}.part"));
    // Of this name it is this process's own, or that of one that was killed.
    std::fs::remove_file(&hidden).ok();
    let begin = |path: &Path| {
        let mut file = new_file(path)?;
        file.write_all(&FILE_HEADER).inspect_err(|_| drop(std::fs::remove_file(path)))?;
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
                new_numbered(&folder, &format!("rank0-{n}"), "marey").unwrap();
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
                let (_, path) = new_numbered(place.path(), "rank0-7", "marey").unwrap();
                path.file_name().unwrap().to_string_lossy().into_owned()
            })
            .collect();
        assert_eq!(made, ["rank0-7.marey", "rank0-7-2.marey", "rank0-7-3.marey"]);
    }
}
