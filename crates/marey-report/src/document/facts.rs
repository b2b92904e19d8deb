//! Sentences with a label each.

use serde::Serialize;

/// What is known of something, one sentence a label. Labels that repeat are shown once.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Facts {
    /// What they are about; `None` where a title stands above them.
    pub title: Option<String>,
    /// Label and sentence. Not safe to print.
    pub rows: Vec<(String, String)>,
}

impl Facts {
    /// Without rows.
    pub fn about(title: impl Into<String>) -> Self {
        Self { title: Some(title.into()), rows: Vec::new() }
    }

    /// Adds a sentence.
    pub fn row(&mut self, label: impl Into<String>, text: impl Into<String>) {
        self.rows.push((label.into(), text.into()));
    }

    /// Adds a sentence, if there is one.
    pub fn known(&mut self, label: impl Into<String>, text: Option<impl Into<String>>) {
        if let Some(text) = text {
            self.row(label, text);
        }
    }
}
