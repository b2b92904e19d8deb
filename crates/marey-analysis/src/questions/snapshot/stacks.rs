//! Stacks for people: which of the frames is the one to look at.

use serde::Serialize;

use crate::import::snapshot::{Frame, Snapshot};

/// Frames of a stack that are shown.
const MAX_FRAMES: usize = 48;

/// Where memory was allocated.
#[derive(Clone, Debug, Default, PartialEq, Serialize, schemars::JsonSchema)]
pub struct StackFrames {
    /// Innermost first, the first 48. Texts are not safe to print.
    pub frames: Vec<StackFrame>,
    /// Further frames.
    pub n_left_out: u64,
    /// Index into `frames` of the innermost one that is code of the user, no library's; `None` when there is none.
    pub user_frame: Option<usize>,
    /// Index into `frames` of the innermost one that is not part of torch itself; `None` when there is none.
    pub caller_frame: Option<usize>,
}

/// A place in a program.
#[derive(Clone, Debug, Default, PartialEq, Serialize, schemars::JsonSchema)]
pub struct StackFrame {
    /// The function; empty when not known.
    pub name: String,
    /// The file; empty when not known.
    pub file: String,
    /// The line; `None` when not known.
    pub line: Option<u64>,
}

impl StackFrames {
    /// `None` for a stack that is not known.
    pub(super) fn new(snapshot: &Snapshot, stack: Option<u32>) -> Option<Self> {
        let numbers = &snapshot.stacks.get(stack? as usize)?.0;
        let frame = |number: &u32| snapshot.frames.get(*number as usize);
        let all: Vec<&Frame> = numbers.iter().filter_map(frame).collect();
        let shown = &all[..all.len().min(MAX_FRAMES)];
        Some(Self {
            frames: shown.iter().map(|frame| StackFrame::new(frame)).collect(),
            n_left_out: (all.len() - shown.len()) as u64,
            user_frame: shown.iter().position(|frame| is_of_user(&frame.file)),
            caller_frame: shown.iter().position(|frame| !is_of_torch(&frame.file)),
        })
    }
}

impl StackFrame {
    fn new(frame: &Frame) -> Self {
        Self { name: frame.name.clone(), file: frame.file.clone(), line: frame.line }
    }
}

/// Where installed packages lie, Python itself, and copies of the sources of those that matter here.
const LIBRARIES: [&str; 8] = [
    "/site-packages/",
    "/dist-packages/",
    "/lib/python3",
    "/torch/nn/",
    "/src/diffusers/",
    "/src/transformers/",
    "/src/accelerate/",
    "/python/marey/",
];

fn is_of_user(file: &str) -> bool {
    is_file(file) && !LIBRARIES.iter().any(|part| file.contains(part))
}

/// Torch, and what runs below it: Python itself, and what is no file (`<frozen …>`, `??` of C++).
fn is_of_torch(file: &str) -> bool {
    let is_of_python = file.contains("/lib/python3") && !file.contains("-packages/");
    let is_of_torch = file.contains("-packages/torch/") || file.contains("/torch/nn/");
    !is_file(file) || is_of_python || is_of_torch
}

fn is_file(file: &str) -> bool {
    let is_python = std::path::Path::new(file)
        .extension()
        .is_some_and(|ending| ending.eq_ignore_ascii_case("py"));
    is_python && !file.starts_with('<')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_of_the_user_is_what_no_package_holds() {
        assert!(is_of_user("/home/me/film.py"));
        assert!(is_of_user("film.py"));
        for library in [
            "/opt/venv/lib/python3.11/site-packages/diffusers/pipelines/flux/pipeline_flux.py",
            "/usr/lib/python3.11/contextlib.py",
            "<frozen importlib._bootstrap>",
            "??",
            "",
        ] {
            assert!(!is_of_user(library), "{library}");
        }
        assert!(is_of_torch("/v/lib/python3.11/site-packages/torch/nn/modules/module.py"));
        assert!(is_of_torch("/usr/lib/python3.11/contextlib.py"));
        assert!(!is_of_torch("/v/lib/python3.11/site-packages/diffusers/models/attention.py"));
        assert!(!is_of_torch("film.py"));
    }
}
