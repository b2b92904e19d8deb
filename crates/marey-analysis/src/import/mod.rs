//! What other tools recorded, read into values that questions can be asked of.

pub mod chrome;
