//! How a path is written for people.

use std::path::Path;

/// A path as it is shown: relative where that is shorter to read.
pub(crate) fn shown(path: &Path) -> String {
    let here = std::env::current_dir().ok();
    let below = here.and_then(|here| path.strip_prefix(here).ok().map(Path::to_owned));
    below
        .filter(|below| !below.as_os_str().is_empty())
        .unwrap_or_else(|| path.to_owned())
        .display()
        .to_string()
}
