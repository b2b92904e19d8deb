//! Windows: bounded pieces of a run that a heavier instrument looked at, torch's profiler or its memory history.

use crate::value::Attributes;

/// A window as the capture tells it. What had not happened when the capture ended is `None`.
///
/// ```text
/// opened_ns      recording_ns                stopped_ns        files[..].at_ns
///    |--- wait, warm-up ---|--- active steps ---|  … export, beside the program … |
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Window {
    /// Number in the process.
    pub number: u64,
    /// The user's name for it; also the beginning of its files' names.
    pub name: String,
    /// What looked: `torch.profiler`, `torch memory history`, …
    pub instrument: String,
    /// What it was asked for: activities, schedule, limits.
    pub options: Attributes,
    /// The thread that opened it: an index into [`crate::Run::threads`].
    pub thread: u32,
    /// Index into [`crate::Run::sessions`], when it was opened in one.
    pub session: Option<u32>,
    /// When the instrument began to cost something.
    pub opened_ns: u64,
    /// When it first kept what it saw; later than `opened_ns` by the warm-up.
    pub recording_ns: Option<u64>,
    /// When it had stopped.
    pub stopped_ns: Option<u64>,
    /// Why it stopped: `steps`, `end`, `seconds`, `host memory`, `disk`, `exception`, `exit`, …
    pub stop_reason: Option<String>,
    /// Files that were written, in that order.
    pub files: Vec<WindowFile>,
    /// What went wrong, in that order. The program went on.
    pub failures: Vec<WindowFailure>,
    /// What is worth knowing: options that were changed, another profiler that was running.
    pub remarks: Vec<String>,
}

/// A file that a window wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WindowFile {
    /// Where it is, as the program named it.
    pub path: String,
    /// Its length.
    pub bytes: u64,
    /// When it was complete.
    pub at_ns: u64,
    /// How long writing it took, beside the program.
    pub export_ns: u64,
}

/// Something that went wrong inside the instrument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WindowFailure {
    /// When.
    pub at_ns: u64,
    /// What was being done: `start`, `step`, `stop`, `export`.
    pub during: String,
    /// The error, as its type and text.
    pub error: String,
}

/// What happened to a window.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum WindowChange {
    /// It began; fields as in [`Window`].
    Opened {
        /// The user's name for it.
        name: String,
        /// What looks.
        instrument: String,
        /// What it was asked for.
        options: Attributes,
    },
    /// From here on what the instrument sees is kept.
    Recording,
    /// The instrument has stopped.
    Stopped {
        /// Why.
        reason: String,
    },
    /// A file is complete.
    Exported {
        /// Where.
        path: String,
        /// Its length.
        bytes: u64,
        /// How long it took.
        export_ns: u64,
    },
    /// Something went wrong.
    Failed {
        /// What was being done.
        during: String,
        /// The error.
        error: String,
    },
    /// Something worth knowing.
    Remark {
        /// In words.
        text: String,
    },
}

impl Window {
    /// Takes in what happened at a time.
    pub(crate) fn change(&mut self, at_ns: u64, change: WindowChange) {
        match change {
            WindowChange::Opened { name, instrument, options } => {
                self.opened_ns = at_ns;
                self.name = name;
                self.instrument = instrument;
                self.options = options;
            }
            WindowChange::Recording => {
                self.recording_ns.get_or_insert(at_ns);
            }
            WindowChange::Stopped { reason } => {
                self.stopped_ns.get_or_insert(at_ns);
                self.stop_reason.get_or_insert(reason);
            }
            WindowChange::Exported { path, bytes, export_ns } => {
                self.files.push(WindowFile { path, bytes, at_ns, export_ns });
            }
            WindowChange::Failed { during, error } => {
                self.failures.push(WindowFailure { at_ns, during, error });
            }
            WindowChange::Remark { text } => self.remarks.push(text),
        }
    }
}
