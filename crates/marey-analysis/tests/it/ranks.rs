//! What is said of jobs of many ranks: drawn jobs with figures by hand, and what holds for every set of summaries.

mod between_calls;
mod drawn;
mod merging;
mod scenes;
