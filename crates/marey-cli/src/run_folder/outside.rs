//! Captures of programs that did not record themselves, which `marey run` sampled from outside.

use std::path::Path;

use marey::RunInfo;

/// Whether a capture is of a program that was sampled from outside, by its name.
pub(crate) fn is_outside_capture(capture: &Path) -> bool {
    let name = capture.file_name().unwrap_or_default();
    name.as_encoded_bytes().starts_with(b"outside-")
}

/// The same, by what it says.
pub(super) fn is_outside(info: &RunInfo) -> bool {
    info.facts.iter().any(|(key, _)| key == "outside_of")
}
