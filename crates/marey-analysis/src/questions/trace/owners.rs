//! Which operator, module, range or Python function a row of the host belongs to.

use serde::Serialize;

use super::HostRows;
use super::host_rows::MOST_AROUND;
use crate::import::chrome::{Class, Trace};

/// What the host was in the middle of, as far as it has a meaning: Python functions are left out, calls of modules are not.
///
/// ```text
/// module       |-------- Attention_0 ----------|
/// Python         |------ forward ------------|
/// operator         |--- aten::linear ------|
/// operator           |-- aten::addmm ---|
/// call                 |launch|                     around it: addmm, linear, Attention_0
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Owners {
    /// Of each row of the trace, the innermost of them around it; [`NONE`] when there is none.
    around: Vec<u32>,
    /// Of each row of the trace, how many have it around them directly; 2 for more.
    n_within: Vec<u8>,
    /// Of each name, whether it is that of a module's call.
    is_module: Vec<bool>,
}

/// No row.
const NONE: u32 = u32::MAX;

/// What torch's profiler writes before the name of a module.
pub(super) const MODULE: &str = "nn.Module: ";

/// What a row of the host is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum HostKind {
    /// An operator of torch.
    Operator,
    /// A range that the program named.
    Range,
    /// A call of the runtime or the driver.
    Call,
    /// A call of a module (`nn.Module`).
    Module,
    /// Any other Python function.
    Function,
}

impl Owners {
    /// Of all rows. O(n); 4 bytes a row.
    pub fn new(trace: &Trace, host: &HostRows) -> Self {
        let mut owners = Self {
            around: vec![NONE; trace.rows.len()],
            n_within: vec![0; trace.rows.len()],
            is_module: trace.names.iter().map(|n| n.starts_with(MODULE)).collect(),
        };
        // What encloses a row comes before it.
        for row in host.in_order() {
            let Some(parent) = host.parent(*row) else {
                continue;
            };
            let is_owner = !matches!(owners.kind(trace, parent), None | Some(HostKind::Function));
            let around = if is_owner {
                parent
            } else {
                owners.around.get(parent as usize).copied().unwrap_or(NONE)
            };
            if let Some(place) = owners.around.get_mut(*row as usize) {
                *place = around;
            }
            let is_owner = owners.kind(trace, *row) != Some(HostKind::Function);
            if let Some(n_within) = owners.n_within.get_mut(around as usize) {
                *n_within = (*n_within + u8::from(is_owner)).min(2);
            }
        }
        owners
    }

    /// What a row is; `None` for those that are not of the host.
    pub fn kind(&self, trace: &Trace, row: u32) -> Option<HostKind> {
        Some(match trace.class_of(row) {
            Class::Operator => HostKind::Operator,
            Class::Annotation => HostKind::Range,
            Class::Call => HostKind::Call,
            Class::PythonFunction => {
                let is_module =
                    trace.rows.name_of(row).and_then(|name| self.is_module.get(name as usize));
                if is_module.copied().unwrap_or_default() {
                    HostKind::Module
                } else {
                    HostKind::Function
                }
            }
            _ => return None,
        })
    }

    /// Operators, ranges, calls and modules around a row, from the inside to the outside, without itself: no more than
    /// 4,096.
    pub fn around(&self, row: u32) -> impl Iterator<Item = u32> + '_ {
        let next = |row: u32| {
            let around = self.around.get(row as usize).copied();
            around.filter(|row| *row != NONE)
        };
        std::iter::successors(next(row), move |row| next(*row)).take(MOST_AROUND)
    }

    /// The row directly around this one, if nothing else is directly in that one.
    pub(super) fn around_alone(&self, row: u32) -> Option<u32> {
        let around = self.around(row).next()?;
        let n_within = self.n_within.get(around as usize);
        n_within.is_some_and(|n| *n == 1).then_some(around)
    }

    /// The innermost row of a kind around a row.
    pub fn innermost(&self, trace: &Trace, row: u32, kind: HostKind) -> Option<u32> {
        self.around(row).find(|around| self.kind(trace, *around) == Some(kind))
    }

    /// The trace has calls of modules.
    pub fn has_modules(&self) -> bool {
        self.is_module.contains(&true)
    }
}
