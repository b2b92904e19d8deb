//! What lies in a folder, and an end of it, for threads of ours.
//!
//! `opendir` allocates in the C library, where who watches a program's allocations writes into a file that a thread of ours does not have
//! (`descriptors.rs`). This asks the kernel.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fs::{AtFlags, CWD, Dir, Mode, OFlags};

/// Names of what lies in a folder, in no order; ends at the first error.
///
/// # Errors
/// When it is not there, no folder, or may not be read.
pub fn names_in(folder: &Path) -> io::Result<impl Iterator<Item = OsString>> {
    let listed = Dir::new(open(folder, OFlags::empty())?)?;
    Ok(names(listed))
}

/// Removes a folder of files, if it is one and no link to one.
///
/// # Errors
/// When that fails, or it has folders.
pub(crate) fn remove(folder: &Path) -> io::Result<()> {
    let opened = open(folder, OFlags::NOFOLLOW)?;
    for name in names(Dir::read_from(&opened)?) {
        // Another process may be at it, too; whether something stays the last call tells.
        rustix::fs::unlinkat(&opened, name, AtFlags::empty()).ok();
    }
    Ok(rustix::fs::unlinkat(CWD, folder, AtFlags::REMOVEDIR)?)
}

fn open(folder: &Path, how: OFlags) -> io::Result<OwnedFd> {
    let flags = how | OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok(rustix::fs::open(folder, flags, Mode::empty())?)
}

fn names(listed: Dir) -> impl Iterator<Item = OsString> {
    listed
        .map_while(Result::ok)
        .map(|entry| OsStr::from_bytes(entry.file_name().to_bytes()).to_owned())
        .filter(|name| name != "." && name != "..")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_of_files_goes_and_what_a_link_leads_to_stays() {
        let root = tempfile::tempdir().unwrap();
        let (folder, link) = (root.path().join("folder"), root.path().join("link"));
        std::fs::create_dir(&folder).unwrap();
        std::os::unix::fs::symlink(&folder, &link).unwrap();
        for name in ["one", "two"] {
            std::fs::write(folder.join(name), name).unwrap();
        }
        let mut listed: Vec<OsString> = names_in(&link).unwrap().collect();
        listed.sort();
        assert_eq!(listed, ["one", "two"]);
        assert!(remove(&link).is_err());
        assert_eq!(names_in(&folder).unwrap().count(), 2);
        remove(&folder).unwrap();
        assert!(names_in(&folder).is_err() && remove(&folder).is_err());
    }
}
