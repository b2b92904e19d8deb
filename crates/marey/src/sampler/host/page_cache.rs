//! How much of a file the page cache holds: whether loading it again takes the disk.

use std::fs::File;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use super::catalogue::{Catalogue, Part, Round, Slot};
use super::pace::Pace;
use crate::recorder::resident_pages;
use crate::series::Unit;

/// Opens the files that the options name.
pub(super) fn open(catalogue: &mut Catalogue<'_>, parts: &mut Vec<Box<dyn Part>>) {
    for path in &catalogue.options.files {
        let subject = crate::readable_text::readable(path.as_os_str().as_encoded_bytes());
        match check(path) {
            Ok(()) => {
                let slot = catalogue.gauge("file.cached", &subject, Unit::Ratio);
                let path = path.clone();
                parts.push(Box::new(CachedFile { path, slot }));
            }
            Err(why) => catalogue.lacks(&format!("file.cached {subject}"), &why),
        }
    }
}

fn check(path: &Path) -> Result<(), String> {
    let file = open_file(path).map_err(|error| format!("it cannot be opened: {error}"))?;
    if !file.metadata().is_ok_and(|metadata| metadata.is_file()) {
        return Err("it is no plain file".to_owned());
    }
    if resident_pages(&file).is_none() {
        return Err("the kernel does not tell this user, or the file is empty".to_owned());
    }
    Ok(())
}

/// Opening a pipe waits for its other end otherwise.
fn open_file(path: &Path) -> std::io::Result<File> {
    File::options().read(true).custom_flags(libc::O_NONBLOCK).open(path)
}

/// Opened for each reading: an open descriptor would keep the space of a deleted file on the disk.
struct CachedFile {
    path: PathBuf,
    slot: Slot,
}

impl Part for CachedFile {
    fn pace(&self) -> Pace {
        Pace::of_seconds()
    }

    fn read(&mut self, round: &mut Round<'_>) -> Option<()> {
        let (resident, total) = resident_pages(&open_file(&self.path).ok()?)?;
        #[expect(clippy::cast_precision_loss, reason = "a ratio")]
        let share = resident as f64 / total as f64;
        self.slot.put(round.values, share.min(1.0));
        Some(())
    }
}
