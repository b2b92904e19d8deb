//! Lines of text whose parts have a meaning; what they look like is the screen's business.

use marey_report::width;

/// What a part of a line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// A figure or a name.
    Value,
    /// What a figure is.
    Label,
    /// The line that says what is shown.
    Title,
    /// What is less important.
    Faint,
    /// What is going on now.
    Open,
    /// Bars of a history.
    Bars,
    /// What somebody should know.
    Warning,
    /// Chosen among several.
    Chosen,
}

/// One line. Its texts are escaped already.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) parts: Vec<(Role, String)>,
}

impl Line {
    /// A line of one part.
    pub(super) fn of(role: Role, text: impl Into<String>) -> Self {
        Self {
            parts: vec![(role, text.into())],
        }
    }

    /// Adds a part.
    pub(super) fn and(mut self, role: Role, text: impl Into<String>) -> Self {
        self.parts.push((role, text.into()));
        self
    }

    /// Columns that it takes.
    pub(super) fn columns(&self) -> usize {
        self.parts
            .iter()
            .map(|(_, text)| width::columns(text))
            .sum()
    }
}

/// The lines as plain text.
pub(super) fn text(lines: &[Line]) -> String {
    let mut text = String::new();
    for line in lines {
        let whole: String = line.parts.iter().map(|(_, part)| part.as_str()).collect();
        text.push_str(whole.trim_end());
        text.push('\n');
    }
    text
}
