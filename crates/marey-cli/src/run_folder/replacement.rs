//! A file in place of another one, in one step.

use std::fs::{OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use rustix::io::Errno;

use super::Error;

/// Writes a file; readers see the old one or the new one, never half of one. What is no regular file is written into. Returns the
/// path.
///
/// # Errors
/// When it cannot be written.
pub fn replace(path: PathBuf, bytes: &[u8]) -> Result<PathBuf, Error> {
    replace_with(path, |file| file.write_all(bytes))
}

/// What the system said, of errors that only have its kind left.
fn os_error(error: &io::Error) -> Option<i32> {
    let of_kind = || match error.kind() {
        io::ErrorKind::NotFound => Some(Errno::NOENT),
        io::ErrorKind::PermissionDenied => Some(Errno::ACCESS),
        io::ErrorKind::NotADirectory => Some(Errno::NOTDIR),
        io::ErrorKind::ReadOnlyFilesystem => Some(Errno::ROFS),
        io::ErrorKind::StorageFull => Some(Errno::NOSPC),
        _ => None,
    };
    let code = error.raw_os_error();
    code.or_else(|| of_kind().map(Errno::raw_os_error))
}

/// Writes a file as [`replace`] does, with what `write` writes to it.
///
/// # Errors
/// When it cannot be written.
pub(crate) fn replace_with(
    path: PathBuf,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<PathBuf, Error> {
    let attempt = || -> io::Result<()> {
        let Some(path) = replaceable(&path) else {
            return write(&mut OpenOptions::new().write(true).open(&path)?);
        };
        // Without the name of the half-made file, which helps nobody.
        let plain = |error: io::Error| match os_error(&error) {
            Some(code) => io::Error::from_raw_os_error(code),
            None => io::Error::from(error.kind()),
        };
        let folder = path
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty());
        let mut file = tempfile::Builder::new()
            .prefix(".marey-")
            .permissions(Permissions::from_mode(0o666))
            .tempfile_in(folder.unwrap_or(Path::new(".")))
            .map_err(plain)?;
        write(file.as_file_mut())?;
        file.persist(&path).map_err(|refused| refused.error)?;
        Ok(())
    };
    match attempt() {
        Ok(()) => Ok(path),
        Err(source) => Err(Error::NotWritten { path, source }),
    }
}

/// What to put in place of `path`: what a link leads to. `None` for what is written into instead of replaced, such as a pipe, a
/// terminal and `/dev/full`.
fn replaceable(path: &Path) -> Option<PathBuf> {
    // What is not there yet is made.
    let is_replaceable = std::fs::metadata(path).map_or(true, |there| {
        there.file_type().is_file() || there.file_type().is_dir()
    });
    is_replaceable.then(|| path.canonicalize().unwrap_or_else(|_| path.to_owned()))
}
