//! Findings of a trace.

use marey_analysis::findings::{Evidence, Finding};

use super::Told;
use crate::first_screen::ScreenFinding;
use crate::first_screen::finding::is_in;

/// Rules that say why a device is idle.
const CAUSES: [&str; 3] = ["launch-bound", "data-bound", "host-idle"];

/// Those that cost enough, what costs most first.
pub(super) fn all(told: &Told<'_>) -> Vec<ScreenFinding> {
    let found = &told.file.findings.found;
    // A device that has little to do: the cause says so, too.
    let is_said = found.iter().any(|one| CAUSES.contains(&one.rule));
    let found = found.iter();
    let found = found.filter(|found| !(is_said && found.rule == "low-gpu-utilization"));
    let mut found: Vec<ScreenFinding> = found.filter_map(|found| shown(told, found)).collect();
    if is_amd(told) {
        for one in &mut found {
            one.tries = one.tries.replace("CUDA graphs", "HIP graphs");
        }
    }
    ScreenFinding::costliest(found)
}

/// Shares are of the wall here. That which decided a rule is of the time from a device's first to its last work: only programs get it.
fn shown(told: &Told<'_>, found: &Finding) -> Option<ScreenFinding> {
    let is_said = |one: &&Evidence| one.limit.is_none() || is_in(one, &found.issue);
    let said = Finding {
        evidence: found.evidence.iter().filter(is_said).cloned().collect(),
        ..found.clone()
    };
    let shown = ScreenFinding::of_rule(&said, told.wall_ns())?;
    Some(ScreenFinding { figures: found.evidence.clone(), ..shown })
}

/// The trace was made on a GPU of AMD.
fn is_amd(told: &Told<'_>) -> bool {
    let documents = &told.answers.documents;
    documents.iter().any(|one| one.others.contains_key("hip_runtime_version"))
}
