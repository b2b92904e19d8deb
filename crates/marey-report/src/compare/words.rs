//! What verdicts, measures and places are called.

use marey_analysis::compare::{Change, Measure, MeasureKind, Subject, Verdict};
use marey_analysis::findings::{Figure, FigureUnit};

use crate::document::Cell;
use crate::escape::visible;
use crate::quantity::{change as ratio, known};
use crate::width::without_middle;

/// Columns of a name in a sentence.
const MAX_NAME: usize = 60;

/// A verdict in a table.
pub(crate) fn verdict(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Same => "same",
        Verdict::Better => "better",
        Verdict::Worse => "worse",
        Verdict::Different => "different",
        Verdict::CannotTell => "cannot tell",
        Verdict::New => "new",
        Verdict::Gone => "gone",
        Verdict::Renamed => "renamed",
    }
}

/// A verdict at the beginning of a line.
pub(crate) fn loud_verdict(given: Verdict) -> String {
    verdict(given).to_uppercase()
}

/// What a measure is of; `None` for the whole run. Names of the user pass through `shown`.
pub(crate) fn subject(subject: &Subject, shown: impl Fn(&str) -> String) -> Option<String> {
    Some(match subject {
        Subject::Run => return None,
        Subject::Path(path) => call_path(path, shown),
        Subject::Name(name) => format!("all {}", shown(name)),
        Subject::Loop(name) => format!("loop {}", shown(name)),
        Subject::MemoryDuring { path, source } => {
            format!("{} ({})", call_path(path, &shown), shown(source))
        }
        Subject::Gpu(gpu) if gpu.bytes().all(|byte| byte.is_ascii_digit()) => format!("GPU {gpu}"),
        Subject::KernelClass(name) => format!("kernels of class {}", shown(name)),
        Subject::Transfer(name) => format!("copies {}", shown(name)),
        Subject::Phase(name) => format!("phase {}", shown(name)),
        Subject::Attention(name) => format!("{} attention", shown(name)),
        Subject::IdleCause(name) => format!("cause: {}", shown(name)),
        Subject::Kernel(name)
        | Subject::Memory(name)
        | Subject::Gpu(name)
        | Subject::Rate(name)
        | Subject::Cache(name) => shown(name),
    })
}

/// Names from the outermost to the innermost.
pub(crate) fn call_path(path: &[String], shown: impl Fn(&str) -> String) -> String {
    let names: Vec<String> = path.iter().map(|name| shown(name)).collect();
    names.join(" / ")
}

/// A measure and what it is of, with a comma in between: `vae_decode, total time`.
pub(crate) fn named(of: &Subject, kind: MeasureKind, shown: impl Fn(&str) -> String) -> String {
    match subject(of, shown) {
        Some(of) => format!("{of}, {}", kind.label()),
        None => kind.label().to_owned(),
    }
}

/// The same with names that are not too long for a line.
pub(crate) fn short(measure: &Measure) -> String {
    named(&measure.subject, measure.kind, shortened)
}

/// A name that is safe to show, and not too long for a line.
pub(crate) fn shortened(name: &str) -> String {
    without_middle(&visible(name), MAX_NAME)
}

/// What a measure is of, and the measure, as cells of a table. Not safe to print.
pub(crate) fn measured(of: &Subject, kind: MeasureKind) -> (Cell, String) {
    let label = kind.label();
    match of {
        Subject::Path(path) => (Cell::Path(path.clone()), label.into()),
        Subject::MemoryDuring { path, source } => {
            (Cell::Path(path.clone()), format!("{label}, {source}"))
        }
        of => {
            let name = subject(of, str::to_owned);
            (Cell::text(name.unwrap_or_else(|| "whole run".into())), label.into())
        }
    }
}

/// What the candidate is against the baseline: `+5.2 %`, `-98.6 %`, from twice as much on `×8.56`; the difference where
/// there is no ratio.
pub(crate) fn change(change: Option<&Change>, unit: FigureUnit) -> String {
    known(change, |change| match change.ratio {
        Some(by) => ratio(by),
        None => Figure { value: change.difference, unit }.difference(),
    })
}
