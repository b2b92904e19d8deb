//! The way from a section to who watches it, for those below: sections know nothing of GPUs.

use std::fmt::Debug;
use std::sync::OnceLock;

use marey::{Lane, NameId, SectionKey};
use pyo3::prelude::*;

/// Who watches sections: two functions, called while something is watched ([`crate::section_mode`]), and one before.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Watcher {
    /// A section of a new name is about to be opened: is there something to watch by now?
    pub(crate) look: fn(Python<'_>),
    /// Before a section begins; `None` when nothing is watched of it.
    pub(crate) begin: fn(Python<'_>, &Lane, NameId) -> Option<Box<dyn Watched>>,
}

/// What is watched of one section that is open.
pub(crate) trait Watched: Debug + Send + Sync {
    /// After the section has ended.
    fn end(self: Box<Self>, py: Python<'_>, lane: &Lane, section: SectionKey);
}

static WATCHER: OnceLock<Watcher> = OnceLock::new();

/// Says who watches, once.
pub(crate) fn install(watcher: Watcher) {
    WATCHER.set(watcher).ok();
}

/// Lets the watcher look whether there is something to watch by now.
pub(crate) fn look(py: Python<'_>) {
    if let Some(watcher) = WATCHER.get() {
        (watcher.look)(py);
    }
}

/// Begins to watch a section; `None` when nothing is watched of it.
pub(crate) fn begin(py: Python<'_>, lane: &Lane, name: NameId) -> Option<Box<dyn Watched>> {
    (WATCHER.get()?.begin)(py, lane, name)
}
