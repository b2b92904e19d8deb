//! Findings of a trace.

use marey_analysis::findings::{Confidence, Evidence, FigureUnit};
use marey_analysis::{HostKind, PhaseRole, TraceAccountRow};

use super::{Told, account};
use crate::first_screen::ScreenFinding;
use crate::first_screen::line::name;
use crate::quantity::{float, share, time, time_ns};

/// Share of the trace from which on decoding is a finding.
const DECODE: f64 = 0.3;
/// Columns of a name.
const NAME: usize = 24;
/// Rows that the evidence of an idle device names.
const MOST_PLACES: usize = 3;

/// Those that cost enough, what costs most first.
pub(super) fn all(told: &Told<'_>) -> Vec<ScreenFinding> {
    let ruled = told.file.findings.found.iter();
    let has = |rule: &str| told.file.findings.found.iter().any(|one| one.rule == rule);
    // A device that waits for launches has little to do: the cause says so, too.
    let is_said = has("launch-bound");
    let ruled = ruled.filter(|found| !(is_said && found.rule == "low-gpu-utilization"));
    let ruled = ruled.filter_map(|found| ScreenFinding::of_rule(found, told.wall_ns()));
    let mut found: Vec<ScreenFinding> =
        ruled.chain(decoding(told)).chain(idle_host(told)).collect();
    if is_amd(told) {
        for one in &mut found {
            one.tries = one.tries.replace("CUDA graphs", "HIP graphs");
        }
    }
    ScreenFinding::costliest(found)
}

/// The trace was made on a GPU of AMD.
fn is_amd(told: &Told<'_>) -> bool {
    let documents = &told.answers.documents;
    documents
        .iter()
        .any(|one| one.others.contains_key("hip_runtime_version"))
}

/// Decoding takes more than a part of the whole.
fn decoding(told: &Told<'_>) -> Option<ScreenFinding> {
    let rows = told.account.rows.iter();
    let row = rows.filter(|row| row.role == Some(PhaseRole::Vae));
    let row = row.max_by_key(|row| row.held_ns)?;
    let wall_ns = told.wall_ns();
    let ratio = float(row.held_ns) / float(wall_ns.max(1));
    if ratio <= DECODE {
        return None;
    }
    let operators = told.answers.operators.rows.iter();
    let mut operators = operators.filter(|row| row.kind == HostKind::Operator);
    let most = operators.next().filter(|_| told.answers.devices.is_empty());
    let most = most.map(|most| {
        format!(
            " {} takes {} in the whole trace, the most of all operators.",
            name(&most.name, 2 * NAME),
            time_ns(most.self_ns)
        )
    });
    let calls = match row.count {
        0 | 1 => "It is one call.".to_owned(),
        n => format!("It is {n} calls × {}.", time(float(row.held_ns) / float(n))),
    };
    let found = ScreenFinding {
        evidence: calls + &most.unwrap_or_default(),
        figures: vec![
            Evidence::new("share of the trace", ratio, FigureUnit::Ratio).against(DECODE),
        ],
        tries: match told.device() {
            Some(_) => {
                "torch.compile(vae.decode) in half precision, or a small decoder (AutoencoderTiny)."
            }
            None => "a smaller decoder (TAEHV, AutoencoderTiny) or fewer output pixels.",
        }
        .into(),
        ..ScreenFinding::new(
            "stage-bottleneck",
            &row.name,
            format!(
                "{}, {} of the trace (target ≤ 30 %)",
                time_ns(row.held_ns),
                share(ratio)
            ),
        )
    };
    Some(found.costing(row.held_ns, wall_ns))
}

/// The device waits for the host where nothing is denoised.
fn idle_host(told: &Told<'_>) -> Option<ScreenFinding> {
    let idle = |row: &TraceAccountRow| row.held_ns - row.busy_ns;
    let rows = &told.account.rows;
    let has_denoising = rows.iter().any(|row| row.name == account::DENOISE);
    told.device().filter(|_| has_denoising)?;
    let mut outside: Vec<&TraceAccountRow> = rows
        .iter()
        .filter(|row| row.name != account::DENOISE)
        .collect();
    outside.sort_by_key(|row| std::cmp::Reverse(idle(row)));
    let idle_ns = outside.iter().map(|row| idle(row)).sum();
    let ratio = float(idle_ns) / float(told.wall_ns().max(1));
    let places = outside.iter().filter(|row| idle(row) > 0).take(MOST_PLACES);
    let figures: Vec<Evidence> = places
        .map(|row| Evidence::new(row.name.as_str(), float(idle(row)), FigureUnit::Ns))
        .collect();
    let places = figures.iter().map(|one| {
        let place = name(&one.what, NAME);
        format!("{place} {}", time(one.figure.value))
    });
    let places: Vec<String> = places.collect();
    let (slower, confidence, tries) = if told.has_stacks() {
        (
            " Python stacks were recorded, which lengthens host time.",
            Confidence::Medium,
            "a trace without with_stack to size it; then cached prompt embeddings, and a timeline of what is left.",
        )
    } else {
        (
            "",
            Confidence::High,
            "cached prompt embeddings; with_stack=True names what the host does there.",
        )
    };
    let found = ScreenFinding {
        evidence: format!("Most of it: {}.{slower}", places.join(", ")),
        figures,
        tries: tries.into(),
        confidence,
        ..ScreenFinding::new(
            "host-idle",
            "Host outside denoising",
            format!(
                "GPU idle for {}, {} of the trace",
                time_ns(idle_ns),
                share(ratio)
            ),
        )
    };
    Some(found.costing(idle_ns, told.wall_ns()))
}
