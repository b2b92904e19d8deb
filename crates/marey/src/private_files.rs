//! Files and folders that nobody but their owner reads or changes: recordings hold names, command lines and paths of a program.
//!
//! | | mode | with `MAREY_SHARE_FILES=1` |
//! |---|---|---|
//! | folders | 0700 | 0777 without the umask |
//! | files | 0600 | 0666 without the umask |
//! | a folder of another user | refused | used |
//!
//! Their owner reads and changes them whatever the umask takes away.

use std::fs::{DirBuilder, File, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

/// Who may read what is written: others, too, if `MAREY_SHARE_FILES` says so.
fn is_shared() -> bool {
    let said = std::env::var("MAREY_SHARE_FILES").unwrap_or_default();
    !matches!(said.trim().to_ascii_lowercase().as_str(), "" | "0" | "false" | "no" | "off")
}

/// The mode of a new file, before the umask.
pub fn file_mode() -> u32 {
    if is_shared() { 0o666 } else { 0o600 }
}

fn folder_mode() -> u32 {
    if is_shared() { 0o777 } else { 0o700 }
}

/// Makes a folder of output, and those above it; one that is there is used if it is the user's own.
///
/// # Errors
/// When it cannot be made, or belongs to somebody else, who could put something else in its place at any time. The folders of root are
/// everybody's.
pub fn make_output_folder(folder: &Path) -> io::Result<()> {
    make(folder, true)?;
    refuse_others(folder, &std::fs::symlink_metadata(folder)?)?;
    refuse_others(folder, &std::fs::metadata(folder)?)
}

/// Makes the folder of a job in a folder of output; one that is there is used if it is the user's own, and no link.
///
/// # Errors
/// When it cannot be made, belongs to somebody else, or is a link.
pub fn make_job_folder(folder: &Path) -> io::Result<()> {
    make(folder, false)?;
    let found = std::fs::symlink_metadata(folder)?;
    if !found.is_dir() {
        return Err(io::Error::other("it is a link, which could lead anywhere"));
    }
    refuse_others(folder, &found)
}

fn make(folder: &Path, with_those_above: bool) -> io::Result<()> {
    if with_those_above
        && let Some(above) = folder.parent()
        && !above.as_os_str().is_empty()
        && !above.exists()
    {
        make(above, true)?;
    }
    match new_folder(folder, folder_mode()) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        made => made,
    }
}

/// A folder that did not exist.
pub(crate) fn new_folder(folder: &Path, mode: u32) -> io::Result<()> {
    DirBuilder::new().mode(mode).create(folder)?;
    let made = std::fs::symlink_metadata(folder)?.permissions();
    if made.mode() & 0o700 == 0o700 {
        return Ok(());
    }
    std::fs::set_permissions(folder, Permissions::from_mode(made.mode() | 0o700))
}

/// A file that did not exist, open for appending. A link that is there is not followed: it exists.
///
/// # Errors
/// As of opening; `AlreadyExists` where the name is taken.
pub fn new_file(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.append(true).create_new(true).mode(file_mode());
    let file = options.open(path)?;
    keep_for_owner(&file)?;
    Ok(file)
}

/// Gives the owner of a new file what the umask took away.
///
/// # Errors
/// As of setting permissions.
pub fn keep_for_owner(file: &File) -> io::Result<()> {
    let made = file.metadata()?.permissions();
    if made.mode() & 0o600 == 0o600 {
        return Ok(());
    }
    file.set_permissions(Permissions::from_mode(made.mode() | 0o600))
}

fn refuse_others(folder: &Path, found: &std::fs::Metadata) -> io::Result<()> {
    let owner = found.uid();
    let is_ours = || effective_user().is_none_or(|user| user == owner);
    if owner == 0 || is_shared() || is_ours() || owner_of_new_files(folder) == Some(owner) {
        return Ok(());
    }
    Err(io::Error::new(
        io::ErrorKind::PermissionDenied,
        format!("it belongs to another user (number {owner}), who could change what is in it"),
    ))
}

/// The user as whom this process acts. `/proc/self` itself belongs to root where a process may not be looked into.
fn effective_user() -> Option<u32> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("Uid:"))?;
    line.split_ascii_whitespace().nth(1)?.parse().ok()
}

/// Whom a file belongs to that is made there: some file systems give everything to one user.
fn owner_of_new_files(folder: &Path) -> Option<u32> {
    let path = folder.join(format!(".marey-owner-{}", std::process::id()));
    let owner = new_file(&path).ok()?.metadata().ok()?.uid();
    std::fs::remove_file(&path).ok();
    Some(owner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{chown, symlink};

    fn mode(path: &Path) -> u32 {
        std::fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn what_is_made_is_its_owners_alone() {
        let place = tempfile::tempdir().unwrap();
        let (out, job) = (place.path().join("a/out"), place.path().join("a/out/job"));
        make_output_folder(&out).unwrap();
        make_job_folder(&job).unwrap();
        new_file(&job.join("x")).unwrap();
        assert_eq!([mode(&out), mode(&job), mode(&job.join("x"))], [0o700, 0o700, 0o600]);
        make_output_folder(&out).unwrap();
        make_job_folder(&job).unwrap();
    }

    #[test]
    fn links_are_not_followed() {
        let place = tempfile::tempdir().unwrap();
        let (victim, link) = (place.path().join("victim"), place.path().join("link"));
        std::fs::create_dir(&victim).unwrap();
        symlink(&victim, &link).unwrap();
        let refused = make_job_folder(&link).unwrap_err().to_string();
        assert_eq!(refused, "it is a link, which could lead anywhere");
        symlink(victim.join("file"), place.path().join("planted")).unwrap();
        let refused = new_file(&place.path().join("planted")).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::AlreadyExists);
        assert!(!victim.join("file").exists());
        // The user's own way to a larger disk.
        make_output_folder(&link).unwrap();
    }

    #[test]
    fn a_folder_of_another_user_is_refused() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("theirs");
        std::fs::create_dir(&folder).unwrap();
        if chown(&folder, Some(4321), None).is_err() {
            return; // Only root gives folders away.
        }
        for refused in [make_output_folder(&folder), make_job_folder(&folder)] {
            assert_eq!(
                refused.unwrap_err().to_string(),
                "it belongs to another user (number 4321), who could change what is in it"
            );
        }
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0);
    }
}
