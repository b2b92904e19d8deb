//! The words that every rule is written in.

pub(super) use super::rule::Check;
pub(super) use super::{
    Category, Confidence, Evidence, Facts, FigureUnit, Finding, Outcome, Rule, Saving, Severity,
};
pub(super) use crate::stats::{float, part_of, ratio, whole};
