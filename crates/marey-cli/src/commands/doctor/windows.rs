//! Windows of profilers in which a process of the newest job ended: the next window may do the same.

use std::path::{Path, PathBuf};

use marey::{Run, Status};

use super::check::Check;
use crate::run_folder;

/// Captures that are larger are not read for this.
const MOST_BYTES: u64 = 256 << 20;

/// A line for each process of the newest job that ended in a window; none when none did, or there is no job.
pub(super) fn checks() -> Vec<Check> {
    let out = std::env::var_os("MAREY_OUTPUT_DIR").filter(|dir| !dir.is_empty());
    let out = out.map_or_else(marey::default_output_dir, PathBuf::from);
    let captures = run_folder::captures(&out.join("latest")).unwrap_or_default();
    captures.iter().filter_map(|path| check(path)).collect()
}

fn check(capture: &Path) -> Option<Check> {
    let size = std::fs::metadata(capture).ok()?.len();
    let run = (size <= MOST_BYTES)
        .then(|| marey::load(capture).ok())
        .flatten()?;
    let names = cut_off(&run);
    if names.is_empty() {
        return None;
    }
    let text = format!(
        "the process {} of {} ended in {}; marey report tells what it did until then. Next time record fewer steps, without shapes and \
         stacks, or lower max_host_bytes",
        run.info.pid,
        capture.display(),
        names.join(", ")
    );
    Some(Check::limited("window", text))
}

fn cut_off(run: &Run) -> Vec<String> {
    if run.status == Status::Running {
        return Vec::new();
    }
    let open = run.windows.iter().filter(|w| w.stopped_ns.is_none());
    open.map(|w| format!("the window {:?} of {}", w.name, w.instrument))
        .collect()
}

#[cfg(test)]
mod tests {
    use marey::{RunBuilder, Window};

    use super::*;

    #[test]
    fn a_window_is_named_when_the_process_ended_in_it_and_not_while_it_runs() {
        let window = |stopped_ns| Window {
            name: "flux".into(),
            instrument: "torch.profiler".into(),
            stopped_ns,
            ..Window::default()
        };
        let mut run = RunBuilder::new()
            .with(|run| run.windows = vec![window(Some(3)), window(None)])
            .finish(5);
        assert_eq!(cut_off(&run), ["the window \"flux\" of torch.profiler"]);
        run.status = Status::Running;
        assert!(cut_off(&run).is_empty());
    }
}
