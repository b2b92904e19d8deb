//! Attention that a program computes step by step, by its operators.

use super::{HostKind, TraceContext};
use crate::import::chrome::{Class, Trace};

/// One such attention.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct EagerCall {
    /// The row of its softmax.
    pub(super) softmax: u32,
    /// The rows of its operators, from the first product to the last.
    pub(super) operators: Vec<u32>,
}

/// What an operator is in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// A product of two activations. Layers of weights (`linear`, `addmm`) are none.
    Product,
    Softmax,
    /// Scales, masks, casts, views.
    Between,
    /// May stand before the softmax, but not behind it: biases by position are looked up in a table.
    Lookup,
    Ends,
    /// No operator: those of torch have a namespace, ranges of older profilers look like operators without one.
    Range,
}

/// More operators than these between two products belong to something else.
const MOST_OPERATORS: usize = 80;

fn step(name: &str) -> Step {
    let Some(short) = name.strip_prefix("aten::") else {
        return if name.contains("::") { Step::Ends } else { Step::Range };
    };
    match short {
        "matmul" | "bmm" | "baddbmm" | "einsum" => Step::Product,
        "softmax" | "_softmax" | "_safe_softmax" => Step::Softmax,
        "embedding" | "index_select" | "index" | "gather" => Step::Lookup,
        "linear" | "addmm" | "mm" | "topk" | "sort" | "argmax" | "multinomial" | "log_softmax" => {
            Step::Ends
        }
        _ if ["conv", "norm", "attention", "loss", "backward"]
            .iter()
            .any(|part| short.contains(part)) =>
        {
            Step::Ends
        }
        _ => Step::Between,
    }
}

/// A product, a softmax and a product that follow each other on a thread in one module (or all in none), with nothing but
/// scales, masks and casts in between, and lookups of biases before the softmax. Only operators that are in no other.
///
/// ```text
/// matmul  add  softmax  to  dropout  matmul      one call
/// matmul  softmax  argmax                        a classifier
/// linear  softmax  matmul                        no product of activations first
/// ```
pub(super) fn eager_calls(context: &TraceContext<'_>) -> Vec<EagerCall> {
    let trace = context.trace;
    let steps: Vec<Step> = trace.names.iter().map(step).collect();
    if !steps.contains(&Step::Softmax) {
        return Vec::new();
    }
    let mut found = Vec::new();
    for track in (0_u32..).take(trace.tracks.each.len()) {
        let mut open = Open::default();
        // Until when an operator is open.
        let mut end_ns = None;
        for row in context.host.of_track(track) {
            let is_inside = end_ns.is_some_and(|end_ns| trace.rows.start_of(*row) < end_ns);
            if trace.class_of(*row) != Class::Operator || is_inside {
                continue;
            }
            let name = trace.rows.name.get(*row as usize);
            let step = name.and_then(|name| steps.get(*name as usize)).copied();
            let Some(step) = step.filter(|step| *step != Step::Range) else {
                continue;
            };
            end_ns = Some(trace.rows.end_ns(*row));
            found.extend(open.next(context, *row, step));
        }
    }
    found
}

/// What may become one.
#[derive(Default)]
struct Open {
    operators: Vec<u32>,
    softmax: Option<u32>,
    /// That of the first product.
    module: Option<u32>,
}

impl Open {
    fn next(&mut self, context: &TraceContext<'_>, row: u32, step: Step) -> Option<EagerCall> {
        let trace: &Trace = context.trace;
        let module = || context.owners.innermost(trace, row, HostKind::Module);
        let is_open = !self.operators.is_empty();
        match (step, self.softmax) {
            (Step::Product, Some(softmax)) if is_open && module() == self.module => {
                self.operators.push(row);
                let operators = std::mem::take(&mut self.operators);
                *self = Self::default();
                return Some(EagerCall { softmax, operators });
            }
            (Step::Product, _) => {
                *self = Self { operators: vec![row], softmax: None, module: module() };
            }
            (Step::Softmax, None) if is_open && module() == self.module => {
                self.softmax = Some(row);
                self.operators.push(row);
            }
            (Step::Lookup, None) | (Step::Between, _)
                if is_open && self.operators.len() < MOST_OPERATORS =>
            {
                self.operators.push(row);
            }
            _ => *self = Self::default(),
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_of_activations_are_told_from_layers_of_weights() {
        assert_eq!(step("aten::matmul"), Step::Product);
        assert_eq!(step("aten::linear"), Step::Ends);
        assert_eq!(step("aten::softmax"), Step::Softmax);
        assert_eq!(step("aten::masked_fill"), Step::Between);
        assert_eq!(step("aten::embedding"), Step::Lookup);
        assert_eq!(step("aten::native_layer_norm"), Step::Ends);
        assert_eq!(step("vllm::unified_attention"), Step::Ends);
        assert_eq!(step("denoise"), Step::Range);
    }
}
