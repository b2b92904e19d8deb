//! Completes captures whose process died: what it left in shared memory goes into the capture.

use std::path::{Path, PathBuf};

use marey::{Leftover, ReadError, Run, Status};

use super::Error;

/// Reads a capture; what its process left in shared memory, if it is dead, is put into the capture first. `killed` is the process
/// that was seen to die of a signal, and the signal. When the capture cannot be written, that comes beside the run, which is
/// whole all the same.
///
/// # Errors
/// When nothing of the capture can be read.
pub fn load_completed(
    capture: &Path,
    killed: Option<(u32, i32)>,
) -> Result<(Run, Option<Error>), ReadError> {
    let run = marey::load(capture)?;
    let Some(left) = left_by(&run, capture) else {
        return Ok((run, None));
    };
    let status = match killed {
        Some((pid, signal)) if pid == left.identity.pid => Status::Killed(signal),
        _ => Status::EndedWithoutClosing,
    };
    match left.close(&status) {
        Ok(_) => Ok((marey::load(capture)?, None)),
        Err(source) => {
            let path = capture.to_owned();
            Ok((Run { status, ..run }, Some(Error::NotCompleted { path, source })))
        }
    }
}

/// Where recorders put their rings: into `MAREY_RING_DIR`, or the usual place.
pub fn ring_root() -> Option<PathBuf> {
    let configured = std::env::var_os("MAREY_RING_DIR").filter(|dir| !dir.is_empty());
    configured.map(PathBuf::from).or_else(marey::ring_root)
}

/// The rings of a dead process that belong to this capture. A capture says itself where its rings are.
fn left_by(run: &Run, capture: &Path) -> Option<Leftover> {
    if run.status != Status::EndedWithoutClosing {
        return None;
    }
    let mut facts = run.info.facts.iter().rev();
    let (_, folder) = facts.find(|(key, folder)| key == "ring_folder" && !folder.is_empty())?;
    let left = Leftover::at(Path::new(folder))?;
    let theirs = left.capture.as_ref()?.canonicalize().ok()?;
    let is_ours = capture.canonicalize().is_ok_and(|ours| ours == theirs);
    (is_ours && left.is_alive == Some(false)).then_some(left)
}
