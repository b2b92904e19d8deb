//! Rows of an Ascend NPU, which have no category.
//!
//! ```text
//! process                     row                        category
//! Ascend Hardware             says that it computes      npu_kernel
//!                             any other                  npu_task: not analysed
//! HCCL, Overlap Analysis …    any                        npu_task: they tell once more what tasks did
//! any other                   any                        none: the program's own, whatever its arguments say
//! ```

use super::args::{Fields, text_of};
use super::trace::Trace;
use super::tracks::Tracks;

/// The category of tasks that compute.
pub(super) const KERNEL: &str = "npu_kernel";
/// The category of rows that are not analysed: waiting, copying, events of streams, sums.
pub(super) const TASK: &str = "npu_task";

/// The process of its own rows.
const HARDWARE: &str = "Ascend Hardware";
/// Processes of rows that its profiler made of those.
const SUMMARIES: [&str; 3] = ["HCCL", "Communication", "Overlap Analysis"];

/// The category by what a row says that it is (`Task Type`); `None` where it says nothing of it.
pub(super) fn category(args: &[u8]) -> Option<&'static str> {
    let (_, value) = Fields::new(args).find(|(key, _)| *key == b"Task Type")?;
    Some(match text_of(value)?.bytes {
        b"AI_CORE" | b"AI_VECTOR_CORE" | b"AI_CPU" | b"MIX_AIC" | b"MIX_AIV" => KERNEL,
        _ => TASK,
    })
}

/// A trace has rows of one.
pub(super) fn is_in(tracks: &Tracks) -> bool {
    let mut names = tracks.processes.iter().map(|process| &process.name);
    names.any(|name| name.as_deref() == Some(HARDWARE))
}

/// Tells its rows from those of the host, now that all processes have names; categories by their numbers.
pub(super) fn set_apart(trace: &mut Trace, [none, kernel, task]: [u8; 3]) {
    let has_npu = is_in(&trace.tracks);
    let Trace { rows, tracks, work, .. } = trace;
    let name_of = |track: u32| {
        let track = tracks.each.get(track as usize);
        let process = track.and_then(|track| tracks.processes.get(track.process as usize));
        process.and_then(|process| process.name.as_deref())
    };
    for (category, track) in rows.category.iter_mut().zip(&rows.track) {
        *category = match name_of(*track) {
            Some(HARDWARE) if *category == none => task,
            Some(HARDWARE) => *category,
            Some(name) if has_npu && *category == none && SUMMARIES.contains(&name) => task,
            _ if *category == kernel || *category == task => none,
            _ => *category,
        };
    }
    work.retain(|one| rows.category.get(one.row as usize) != Some(&none));
}
