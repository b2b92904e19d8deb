//! Files that are opened once and read again and again.

use std::cell::RefCell;
use std::fs::File;
use std::io::{Error, ErrorKind};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use crate::descriptors::Kept;

/// Where files are read into: one for all files of a round. It grows with the longest of them.
#[derive(Debug)]
pub(super) struct Buffer(Vec<u8>);

impl Default for Buffer {
    fn default() -> Self {
        Self(vec![0; 16 << 10])
    }
}

/// A file of the kernel, kept open by a thread with descriptors of its own; opened for each reading by any other.
///
/// While it is open it stays with what it was opened on: after a process has ended, its file gives errors, also when its number was given to
/// another one.
#[derive(Debug)]
pub(super) struct KeptFile {
    path: PathBuf,
    file: RefCell<Option<Kept>>,
}

/// The kernel hands out files of many lines in batches of a page. A batch ends where the next line does not fit, so one of less than
/// half a page was the last.
const LAST_BATCH: usize = 2048;
/// No file that is read here is longer.
const MAX_BYTES: usize = 16 << 20;

impl KeptFile {
    /// The open file and its text; otherwise why it is not to be had, in words.
    pub(super) fn open(path: &Path) -> Result<(Self, Vec<u8>), String> {
        let attempt = || {
            let file = Self::of(path);
            let text = file.try_read(&mut Buffer::default())?.to_vec();
            Ok((file, text))
        };
        attempt().map_err(|error| why_not(path, &error))
    }

    /// The open file alone.
    pub(super) fn open_unread(path: &Path) -> Option<Self> {
        let file = Self::of(path);
        file.with(|_| Ok(())).ok()?;
        Some(file)
    }

    fn of(path: &Path) -> Self {
        Self { path: path.to_owned(), file: RefCell::default() }
    }

    /// The whole text now. `None` when there is none: what it described has ended, or is no longer to be read.
    pub(super) fn read<'b>(&self, buffer: &'b mut Buffer) -> Option<&'b [u8]> {
        self.try_read(buffer).ok()
    }

    fn try_read<'b>(&self, buffer: &'b mut Buffer) -> std::io::Result<&'b [u8]> {
        let length = self.with(|file| read_whole(file, buffer))?;
        Ok(&buffer.0[..length])
    }

    fn with<T>(&self, work: impl FnOnce(&File) -> std::io::Result<T>) -> std::io::Result<T> {
        Kept::with(&mut self.file.borrow_mut(), || File::open(&self.path), work)
    }
}

/// Reads a file from its start; the length of its text.
fn read_whole(file: &File, buffer: &mut Buffer) -> std::io::Result<usize> {
    let mut length = 0;
    loop {
        let room = &mut buffer.0[length..];
        let size = room.len();
        let n = match file.read_at(room, length as u64) {
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            n => n?,
        };
        length += n;
        if n == size && length < MAX_BYTES {
            // Grown from the start: a text that changed between two halves would be of two moments.
            buffer.0.resize(length * 2, 0);
            length = 0;
        } else if n < LAST_BATCH || length >= MAX_BYTES {
            break;
        }
    }
    if length == 0 {
        return Err(ErrorKind::UnexpectedEof.into());
    }
    Ok(length)
}

/// A path below the root, whichever way it is written.
pub(super) fn below(root: &Path, path: impl AsRef<Path>) -> PathBuf {
    let path = path.as_ref();
    root.join(path.strip_prefix("/").unwrap_or(path))
}

fn why_not(path: &Path, error: &Error) -> String {
    let path = path.display();
    match error.kind() {
        ErrorKind::NotFound => format!("this system has no {path}"),
        ErrorKind::PermissionDenied => format!("{path} may not be read by this user"),
        ErrorKind::UnexpectedEof => format!("{path} is empty"),
        _ => format!("{path} cannot be read: {error}"),
    }
}
