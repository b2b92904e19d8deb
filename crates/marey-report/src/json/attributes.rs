//! `section_attributes`: what was given to single calls.

use serde::Serialize;

use super::seconds;
use crate::model::{AttributedCallFacts, NamedValues};

/// One call with its attributes.
#[derive(Serialize)]
pub(super) struct AttributedObject<'a> {
    section: u32,
    start_s: f64,
    duration_s: f64,
    attributes: &'a NamedValues,
}

impl<'a> AttributedObject<'a> {
    pub(super) fn new(call: &'a AttributedCallFacts) -> Self {
        Self {
            section: call.node,
            start_s: seconds(call.start_ns),
            duration_s: seconds(call.duration_ns),
            attributes: &call.attributes,
        }
    }
}
