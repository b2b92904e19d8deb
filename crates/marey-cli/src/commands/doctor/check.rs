//! One thing that was looked at.

use marey_report::escape;
use serde::Serialize;

/// One thing that was looked at.
#[derive(Debug, Serialize)]
pub(super) struct Check {
    /// What.
    name: &'static str,
    /// How well it works.
    state: State,
    /// What was found; when something is missing also why, and what to do.
    text: String,
}

/// How well something works.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
enum State {
    Available,
    Limited,
    NotAvailable,
}

impl Check {
    pub(super) fn available(name: &'static str, text: impl Into<String>) -> Self {
        Self::new(name, State::Available, text.into())
    }

    pub(super) fn limited(name: &'static str, text: impl Into<String>) -> Self {
        Self::new(name, State::Limited, text.into())
    }

    pub(super) fn not_available(name: &'static str, text: impl Into<String>) -> Self {
        Self::new(name, State::NotAvailable, text.into())
    }

    fn new(name: &'static str, state: State, text: String) -> Self {
        Self { name, state, text }
    }

    /// For a terminal.
    pub(super) fn line(&self) -> String {
        let state = match self.state {
            State::Available => "ok",
            State::Limited => "limited",
            State::NotAvailable => "not available",
        };
        format!("{:<14} {state:<14} {}", self.name, escape::visible(&self.text))
    }
}
