//! Completes captures whose process died: what it left in shared memory goes into the capture.

use std::path::Path;

use marey::{Leftover, Run, Status};

use super::{Error, captures};

/// Completes all captures of a folder whose processes are dead. `killed` is the process that was seen to die of a signal,
/// and the signal. Returns what could not be done; reports are right all the same, until the machine is restarted.
pub fn complete_all(job_folder: &Path, killed: Option<(u32, i32)>) -> Vec<Error> {
    let captures = captures(job_folder).unwrap_or_default();
    captures
        .iter()
        .filter_map(|capture| complete(capture, killed).err())
        .collect()
}

/// Completes one capture if its process is dead; otherwise nothing happens.
///
/// # Errors
/// When the capture cannot be written.
pub fn complete(capture: &Path, killed: Option<(u32, i32)>) -> Result<(), Error> {
    // A capture says itself where its rings are; what cannot be read is reported by whoever reads it next.
    let Ok(run) = marey::load(capture) else {
        return Ok(());
    };
    let Some(left) = left_by(&run, capture) else {
        return Ok(());
    };
    let status = match killed {
        Some((pid, signal)) if pid == left.identity.pid => Status::Killed(signal),
        _ => Status::EndedWithoutClosing,
    };
    left.close(&status)
        .map(|_| ())
        .map_err(|source| Error::NotCompleted {
            path: capture.to_owned(),
            source,
        })
}

/// The rings of a dead process that belong to this capture.
fn left_by(run: &Run, capture: &Path) -> Option<Leftover> {
    if run.status != Status::EndedWithoutClosing {
        return None;
    }
    let facts = run.info.facts.iter().rev();
    let (_, folder) = facts
        .into_iter()
        .find(|(key, folder)| key == "ring_folder" && !folder.is_empty())?;
    let left = Leftover::at(Path::new(folder))?;
    let theirs = left.capture.as_ref()?.canonicalize().ok()?;
    let is_ours = capture.canonicalize().is_ok_and(|ours| ours == theirs);
    (is_ours && left.is_alive == Some(false)).then_some(left)
}
