//! How much of a file the page cache holds: whether loading it again takes the disk.

use std::fs::File;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use super::catalogue::Catalogue;
use super::pace::Pace;
use super::table::Switch;
use crate::recorder::resident_pages;
use crate::series::{SeriesInfo, Unit};

/// Opens the files that the options name, anew for each reading: an open descriptor would keep the space of a deleted file on the disk.
pub(super) fn open(catalogue: &mut Catalogue<'_>) {
    for path in &catalogue.options.files {
        let subject = crate::value::readable(path.as_os_str().as_encoded_bytes());
        if let Err(why) = check(path) {
            catalogue.lacks(&format!("file.cached {subject}"), &why);
            continue;
        }
        let slot = catalogue
            .series(Switch::Memory, SeriesInfo::gauge("file.cached", &subject, Unit::Ratio));
        let path = path.clone();
        catalogue.part(Pace::of_seconds(), move |round| {
            let (resident, total) = resident_pages(&open_file(&path).ok()?)?;
            #[expect(clippy::cast_precision_loss, reason = "a ratio")]
            let share = resident as f64 / total as f64;
            slot.put(round.values, share.min(1.0));
            Some(())
        });
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
