//! A window of a heavier instrument that somebody outside asks for, by a word in the shared header.
//!
//! ```text
//! asks        writes ASKED ─────┐
//! drain                         └► rings, each round ──┐
//! program                                              └► takes it: OFFERED
//! ```
//!
//! What is asked for lies in a file beside the rings, which the taker reads. The program pays a look at the word where it may take a
//! request, and the drain one a round.

use std::fs::OpenOptions;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::Ordering::Relaxed;

use super::Recorder;
use super::layout::process::WINDOW;

/// This process opens windows, and none is asked for; 0 where it opens none.
const OFFERED: u64 = 1;
const ASKED: u64 = 2;

static BELL: OnceLock<fn()> = OnceLock::new();

/// Recordings of this process take requests for windows. `ring` is called by a thread of ours until a request is taken: it
/// neither waits, nor allocates, nor opens anything.
pub fn offer_windows(ring: fn()) {
    BELL.get_or_init(|| ring);
}

/// Asks the process whose rings lie in a folder for the window that the file `window` there describes. False where it opens none.
///
/// # Errors
/// As of reading and writing the shared file.
pub fn ask_for_window(folder: &Path) -> io::Result<bool> {
    let process = OpenOptions::new().read(true).write(true).open(folder.join("process"))?;
    let (at, mut word) = (WINDOW as u64 * 8, [0; 8]);
    process.read_exact_at(&mut word, at)?;
    let is_offered = u64::from_le_bytes(word) != 0;
    if is_offered {
        process.write_all_at(&ASKED.to_le_bytes(), at)?;
    }
    Ok(is_offered)
}

impl Recorder {
    pub(super) fn offer_windows(&self) {
        if BELL.get().is_some() {
            self.header()[WINDOW].compare_exchange(0, OFFERED, Relaxed, Relaxed).ok();
        }
    }

    pub(super) fn hear_request(&self) {
        if let (true, Some(ring)) = (self.is_window_asked_for(), BELL.get()) {
            ring();
        }
    }

    /// Somebody outside asks for a window.
    #[inline]
    pub fn is_window_asked_for(&self) -> bool {
        self.header()[WINDOW].load(Relaxed) == ASKED
    }

    /// Takes the request: the folder of the rings, with the file that says what is asked for. `None` where there is none.
    pub fn take_window_request(&self) -> Option<PathBuf> {
        let word = &self.header()[WINDOW];
        word.compare_exchange(ASKED, OFFERED, Relaxed, Relaxed).ok()?;
        self.ring_folder()
    }
}
