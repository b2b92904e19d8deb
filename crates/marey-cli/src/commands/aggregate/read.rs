//! What was read, before it is written.

use marey_analysis::job::Ranks;
use marey_analysis::ranks::RanksAnswers;

use crate::aggregation::Inputs;

/// What was read, and what it comes to.
pub(super) struct Read<'a> {
    pub(super) inputs: Inputs,
    pub(super) found: Ranks,
    pub(super) answers: &'a RanksAnswers,
}
