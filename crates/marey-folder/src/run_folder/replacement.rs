//! A file in place of another one, in one step.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use tempfile::Builder;

use super::{Error, folder_of};

/// Writes a document of a recording, which only the user can read; readers see the old one or the new one, never half of one. A link under
/// its name is replaced, not followed: it could lead to any file. Returns the path.
pub fn replace(path: PathBuf, bytes: &[u8]) -> Result<PathBuf, Error> {
    // The recorded program may be the one that writes: past its limit it would get SIGXFSZ, which ends most.
    if marey::file_size_limit().is_some_and(|limit| bytes.len() as u64 > limit) {
        return said(path, Err(io::ErrorKind::FileTooLarge.into()));
    }
    let written = put_in_place(&path, marey::file_mode(), |file| {
        marey::keep_for_owner(file)?;
        file.write_all(bytes)
    });
    said(path, written)
}

/// Writes a file that the user named, readable as the umask says. A link is followed, and what is no regular file is written into. Returns
/// the path.
///
/// # Errors
/// When it cannot be written.
pub fn replace_named(path: PathBuf, bytes: &[u8]) -> Result<PathBuf, Error> {
    replace_with(path, |file| file.write_all(bytes))
}

/// Writes a file as [`replace_named`] does, with what `write` writes to it.
pub fn replace_with(
    path: PathBuf,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<PathBuf, Error> {
    let written = match replaceable(&path) {
        Some(path) => put_in_place(&path, 0o666, |file| write(file)),
        None => OpenOptions::new().write(true).open(&path).and_then(|mut file| write(&mut file)),
    };
    said(path, written)
}

fn said(path: PathBuf, written: io::Result<()>) -> Result<PathBuf, Error> {
    match written {
        Ok(()) => Ok(path),
        Err(source) => Err(Error::NotWritten(path, source)),
    }
}

/// Writes a new file beside a path, and gives it the path's name.
fn put_in_place(
    path: &Path,
    mode: u32,
    write: impl FnOnce(&mut File) -> io::Result<()>,
) -> io::Result<()> {
    let new = |path: &Path| OpenOptions::new().write(true).create_new(true).mode(mode).open(path);
    let mut file = Builder::new().prefix(".marey-").make_in(folder_of(path), new)?;
    write(file.as_file_mut())?;
    file.persist(path).map_err(|refused| refused.error)?;
    Ok(())
}

/// What to put in place of `path`: what a link leads to. `None` for what is written into instead of replaced, such as a pipe, a
/// terminal and `/dev/full`.
fn replaceable(path: &Path) -> Option<PathBuf> {
    // What is not there yet is made.
    let is_replaceable = std::fs::metadata(path)
        .map_or(true, |there| there.file_type().is_file() || there.file_type().is_dir());
    is_replaceable.then(|| path.canonicalize().unwrap_or_else(|_| path.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    #[test]
    fn a_planted_link_is_replaced_and_what_it_leads_to_stays() {
        let place = tempfile::tempdir().unwrap();
        let (victim, link) = (place.path().join("victim"), place.path().join("run.json"));
        std::fs::write(&victim, "precious").unwrap();
        symlink(&victim, &link).unwrap();
        replace(link.clone(), b"document").unwrap();
        assert_eq!(std::fs::read(&victim).unwrap(), b"precious");
        assert_eq!(std::fs::read(&link).unwrap(), b"document");
        let found = std::fs::symlink_metadata(&link).unwrap();
        assert!(found.is_file());
        assert_eq!(found.permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn a_link_that_the_user_named_is_followed() {
        let place = tempfile::tempdir().unwrap();
        let (file, link) = (place.path().join("file"), place.path().join("link"));
        std::fs::write(&file, "old").unwrap();
        symlink(&file, &link).unwrap();
        replace_named(link.clone(), b"new").unwrap();
        assert_eq!(std::fs::read(&file).unwrap(), b"new");
        assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
    }
}
