//! The recorder's own files.

#![allow(dead_code, reason = "models use a part of them")]

#[path = "../../crates/marey/src/recorder/glance.rs"]
pub(crate) mod glance;
#[path = "../../crates/marey/src/recorder/layout.rs"]
pub(crate) mod layout;
#[path = "../../crates/marey/src/recorder/ring.rs"]
pub(crate) mod ring;
#[path = "../../crates/marey/src/recorder/totals.rs"]
pub(crate) mod totals;
