//! Sections and loops, as figures.

use marey::NodeKind;
use marey::live::{Look, Totals};

use super::figures::{Figures, Value, add, put, short};
use super::metric::Metric;
use crate::quantity::float;

/// Call paths of a process that have series of their own.
const MAX_SECTIONS: usize = 200;
/// Which quantiles of a loop's turns are told.
const QUANTILES: [f64; 3] = [0.5, 0.95, 0.99];

/// Sections and loops by call path, those that came first: so a series that is there stays.
pub(super) fn sections(look: &Look, figures: &mut Figures) {
    for totals in look.totals.iter().take(MAX_SECTIONS) {
        let path = short(&look.path(totals.node).join("/"));
        match look.kind(totals.node) {
            NodeKind::Iteration => turns(totals, path, figures),
            NodeKind::Section => {
                let labels = || vec![("section", path.clone())];
                let seconds = float(totals.sum_ns) / 1e9;
                add(figures, Metric::SectionTime, labels(), seconds);
                add(figures, Metric::SectionCalls, labels(), float(totals.count));
                add(
                    figures,
                    Metric::SectionErrors,
                    labels(),
                    float(totals.errors),
                );
            }
        }
    }
    let left_out = look.totals.len().saturating_sub(MAX_SECTIONS);
    if left_out > 0 {
        let left_out = float(u64::try_from(left_out).unwrap_or(u64::MAX));
        put(figures, Metric::SectionsLeftOut, vec![], left_out);
    }
}

fn turns(totals: &Totals, path: String, figures: &mut Figures) {
    let quantile = |q: &f64| Some((*q, totals.turns.as_ref()?.quantile_ns(*q)?));
    let new = Value::Durations {
        count: totals.count,
        sum_ns: totals.sum_ns,
        quantiles_ns: QUANTILES.iter().filter_map(quantile).collect(),
    };
    let key = (Metric::IterationTime, vec![("iteration", path)]);
    let together = match (figures.remove(&key), new) {
        (
            Some(Value::Durations { count, sum_ns, .. }),
            Value::Durations {
                count: more,
                sum_ns: more_ns,
                quantiles_ns,
            },
        ) => Value::Durations {
            count: count.saturating_add(more),
            sum_ns: sum_ns.saturating_add(more_ns),
            quantiles_ns,
        },
        (_, new) => new,
    };
    figures.insert(key, together);
}
