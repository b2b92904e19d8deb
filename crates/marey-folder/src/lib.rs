//! Folders of jobs: what lies in them, found, read and put together, and the documents that are made from it; for the command and for Python.
//!
//! ```text
//! paths ─┬─► run_folder ──► captures ─► one run a command ─► Report ─► documents, put into the folder in one step
//!        └─► aggregation ─► files of ranks, of the job that is meant ─► Ranks
//! ```
//!
//! What files say is answered in `marey-analysis`, and how it is shown in `marey-report`; neither looks at a folder.

#![forbid(unsafe_code)]

pub mod aggregation;
pub mod content;
pub mod run_folder;
pub mod side_by_side;
pub mod thresholds;
pub mod two_names;

use std::ffi::OsString;
use std::path::Path;

use marey_report::escape;
use serde::Serialize;

/// A variable of the environment that is set to something.
pub fn environment(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

/// The error and its causes, each once: many errors have their cause's words at the end of their own.
pub fn in_one_line(error: &anyhow::Error) -> String {
    let mut line = String::new();
    for cause in error.chain().map(ToString::to_string) {
        if line.is_empty() {
            line = cause;
        } else if !line.ends_with(&cause) {
            line = format!("{line}: {cause}");
        }
    }
    line
}

/// A path as it is shown: relative where that is shorter to read.
pub fn shown(path: &Path) -> String {
    let here = std::env::current_dir().ok();
    let below = here.and_then(|here| path.strip_prefix(here).ok().map(Path::to_owned));
    below
        .filter(|below| !below.as_os_str().is_empty())
        .unwrap_or_else(|| path.to_owned())
        .display()
        .to_string()
}

/// A document as JSON, safe to print, with a line end.
pub fn json(document: &impl Serialize) -> String {
    // String keys and plain values always serialize.
    let text = serde_json::to_string_pretty(document).unwrap_or_default();
    escape::json(&text).into_owned() + "\n"
}

#[cfg(test)]
mod tests {
    use std::io;

    use anyhow::Context;

    use super::*;

    #[test]
    fn a_cause_is_said_once() {
        let full = || io::Error::from_raw_os_error(28);
        let said = "cannot write a: No space left on device (os error 28)";
        let with_its_cause = run_folder::Error::NotWritten("a".into(), full());
        assert_eq!(in_one_line(&with_its_cause.into()), said);
        let in_context = Err::<(), _>(full()).context("cannot write a").unwrap_err();
        assert_eq!(in_one_line(&in_context), said);
    }
}
