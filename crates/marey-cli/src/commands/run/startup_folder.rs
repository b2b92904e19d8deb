//! Where Python finds what `marey run` has it import: a private folder with a name that nobody can guess.
//!
//! What lies there is run by every Python below. So it is never in the folder of output, which others may write to, and only in a place where
//! nobody else can put something else under its name.

use std::fs::{OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use marey::{Identity, is_alive};
use rustix::process::geteuid;
use tempfile::TempDir;

/// Beginning of its name, before the pid, start time and pid namespace of who made it.
const PREFIX: &str = "marey-run-";
/// What Python imports when it starts.
const SITECUSTOMIZE: &str = include_str!("../../startup/sitecustomize.py");

/// Makes it, with the `sitecustomize` in it. It goes when the value does.
///
/// # Errors
/// The reason of the last place that was tried.
pub(super) fn make() -> io::Result<TempDir> {
    let runtime = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    let places = runtime.into_iter().chain([std::env::temp_dir(), "/tmp".into()]);
    let mut reason = io::Error::from(io::ErrorKind::NotFound);
    for place in places {
        match make_in(&place) {
            Ok(folder) => return Ok(folder),
            Err(error) => reason = error,
        }
    }
    Err(reason)
}

fn make_in(place: &Path) -> io::Result<TempDir> {
    // A relative one is none for a program that changes its folder, and PYTHONPATH has colons between its entries.
    if !place.is_absolute() || place.as_os_str().as_bytes().contains(&b':') {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    if !is_safe(place)? {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    sweep(place);
    let me = Identity::of_this_process();
    let owner = format!("{PREFIX}{}-{}-{}-", me.pid, me.start_time, me.pid_namespace);
    let folder = tempfile::Builder::new()
        .prefix(&owner)
        .rand_bytes(16)
        .permissions(Permissions::from_mode(0o700))
        .tempdir_in(place)?;
    // Whatever the umask takes away.
    std::fs::set_permissions(folder.path(), Permissions::from_mode(0o700))?;
    let mut options = OpenOptions::new();
    options.write(true).create_new(true).mode(0o600);
    let mut file = options.open(folder.path().join("sitecustomize.py"))?;
    marey::keep_for_owner(&file)?;
    file.write_all(SITECUSTOMIZE.as_bytes())?;
    Ok(folder)
}

/// Removes those of killed `marey run`s.
fn sweep(place: &Path) {
    for entry in std::fs::read_dir(place).into_iter().flatten().flatten() {
        let (path, name) = (entry.path(), entry.file_name());
        let is_left =
            || name.to_str().and_then(owner).is_some_and(|owner| is_alive(&owner) == Some(false));
        let is_own = || {
            entry.metadata().is_ok_and(|found| found.is_dir() && found.uid() == geteuid().as_raw())
        };
        if is_left() && is_own() {
            std::fs::remove_dir_all(path).ok();
        }
    }
}

/// Who made a folder of that name.
fn owner(name: &str) -> Option<Identity> {
    let mut numbers = name.strip_prefix(PREFIX)?.split('-');
    let mut number = || numbers.next()?.parse::<u64>().ok();
    Some(Identity {
        pid: number()?.try_into().ok()?,
        start_time: number()?,
        pid_namespace: number()?,
        ..Identity::of_this_process()
    })
}

/// Nobody but the user and root can rename what lies there.
fn is_safe(place: &Path) -> io::Result<bool> {
    let found = std::fs::metadata(place)?;
    let is_ours = [0, geteuid().as_raw()].contains(&found.uid());
    let (is_open, is_sticky) = (found.mode() & 0o022 != 0, found.mode() & 0o1000 != 0);
    Ok(is_ours && (!is_open || is_sticky))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(path: &Path) -> u32 {
        std::fs::metadata(path).unwrap().permissions().mode() & 0o7777
    }

    #[test]
    fn it_is_private_and_has_another_name_each_time() {
        let place = tempfile::tempdir().unwrap();
        let [first, second] = [make_in(place.path()).unwrap(), make_in(place.path()).unwrap()];
        assert_ne!(first.path(), second.path());
        assert_eq!(mode(first.path()), 0o700);
        assert_eq!(mode(&first.path().join("sitecustomize.py")), 0o600);
        let path = first.path().to_owned();
        drop(first);
        assert!(!path.exists());
    }

    #[test]
    fn what_a_killed_one_left_goes_and_what_another_needs_stays() {
        let place = tempfile::tempdir().unwrap();
        let me = Identity::of_this_process();
        let name =
            |pid: u32, start: u64, namespace: u64| format!("{PREFIX}{pid}-{start}-{namespace}-x");
        let dead = place.path().join(name(me.pid, me.start_time - 5, me.pid_namespace));
        let elsewhere = place.path().join(name(me.pid, me.start_time - 5, 1));
        let others = place.path().join("marey-run-of-somebody");
        for folder in [&dead, &elsewhere, &others] {
            std::fs::create_dir(folder).unwrap();
        }
        let own = make_in(place.path()).unwrap();
        make_in(place.path()).unwrap();
        let is_there = [&dead, &elsewhere, &others].map(|folder| folder.exists());
        assert_eq!((is_there, own.path().exists()), ([false, true, true], true));
    }

    #[test]
    fn a_place_where_others_can_change_names_is_passed_over() {
        let place = tempfile::tempdir().unwrap();
        for (mode, is_taken) in [(0o777, false), (0o775, false), (0o1777, true), (0o755, true)] {
            std::fs::set_permissions(place.path(), Permissions::from_mode(mode)).unwrap();
            assert_eq!(make_in(place.path()).is_ok(), is_taken, "{mode:o}");
        }
        let with_colon = place.path().join("a:b");
        std::fs::create_dir(&with_colon).unwrap();
        assert!(make_in(&with_colon).is_err() && make_in(Path::new("target")).is_err());
    }
}
