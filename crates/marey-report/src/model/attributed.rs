//! What was said about single calls.

use marey_analysis::{AttributeRow, AttributeUse, AttributedCall};
use serde::Serialize;

use super::attributes::{AttributeValue, NamedValues};

/// Attributes of the calls that were recorded one by one.
#[derive(Clone, Debug, PartialEq)]
pub struct Attributed {
    /// Calls with attributes, ascending by start; the first 10 000.
    pub calls: Vec<AttributedCallFacts>,
    /// Calls with attributes that are not listed.
    pub n_calls_left_out: u64,
    /// Attributes by call path, then by name; synchronisation is told apart.
    pub by_section: Vec<AttributeFacts>,
}

/// One call with its attributes.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct AttributedCallFacts {
    /// Index into `Run::nodes`.
    pub node: u32,
    /// When it was entered, since the start of the run.
    pub start_ns: u64,
    /// How long it took.
    pub duration_ns: u64,
    /// All that was given to it.
    pub attributes: NamedValues,
}

/// One attribute of one call path.
#[derive(Clone, Debug, PartialEq)]
pub struct AttributeFacts {
    /// Index into `Run::nodes`.
    pub node: u32,
    /// As the user gave it; not safe to print.
    pub name: String,
    /// Calls that it was given to.
    pub n_calls: u64,
    /// Distinct values, the first few that were met.
    pub values: Vec<AttributeValue>,
    /// There were more distinct values.
    pub has_more_values: bool,
}

impl Attributed {
    pub(super) fn new(found: &AttributeUse) -> Self {
        Self {
            calls: found.calls.iter().map(AttributedCallFacts::new).collect(),
            n_calls_left_out: found.n_calls_left_out,
            by_section: found.by_section.iter().map(AttributeFacts::new).collect(),
        }
    }
}

impl AttributedCallFacts {
    fn new(call: &AttributedCall) -> Self {
        Self {
            node: call.node,
            start_ns: call.start_ns,
            duration_ns: call.duration_ns,
            attributes: NamedValues::new(&call.attributes),
        }
    }
}

impl AttributeFacts {
    fn new(row: &AttributeRow) -> Self {
        Self {
            node: row.node,
            name: row.name.clone(),
            n_calls: row.n_calls,
            values: row.values.iter().map(AttributeValue::new).collect(),
            has_more_values: row.has_more_values,
        }
    }
}
