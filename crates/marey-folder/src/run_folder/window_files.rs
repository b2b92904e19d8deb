//! Files that windows of profilers wrote, found again.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use marey::Run;

/// Where such files are.
#[derive(Debug, Default)]
pub(super) struct WindowFiles {
    /// Paths by the names that are shown: in the folder the file's name, elsewhere the whole path.
    pub(super) found: BTreeMap<String, PathBuf>,
    /// What is no longer there.
    pub(super) missing: BTreeSet<String>,
    /// The folder, without links.
    home: PathBuf,
}

impl WindowFiles {
    /// What the windows of a run wrote whose path ends so. It is where the window says (a relative path is below the folder), or has moved
    /// with the folder.
    pub(super) fn of_run(folder: &Path, run: &Run, endings: &[&str]) -> Self {
        let home = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        let mut files = Self { home, ..Self::default() };
        let named = run.windows.iter().flat_map(|window| &window.files).map(|file| &file.path);
        for named in named.filter(|path| endings.iter().any(|ending| path.ends_with(ending))) {
            let moved = Path::new(named).file_name().map(|name| files.home.join(name));
            let mut candidates = std::iter::once(files.home.join(named)).chain(moved);
            if !candidates.any(|path| files.add(&path)) {
                files.missing.insert(named.clone());
            }
        }
        files
    }

    /// False when there is nothing. The same file by another path is found once.
    pub(super) fn add(&mut self, path: &Path) -> bool {
        let Ok(path) = path.canonicalize() else {
            return false;
        };
        let name = match (path.parent(), path.file_name()) {
            (Some(parent), Some(name)) if parent == self.home => Path::new(name),
            _ => path.as_path(),
        };
        self.found.insert(name.to_string_lossy().into_owned(), path.clone());
        true
    }
}
