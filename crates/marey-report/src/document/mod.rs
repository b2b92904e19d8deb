//! What is shown, before any format: blocks in the order in which they are read. Formats decide how a block looks, never what it says.

use serde::Serialize;

mod fields;
mod findings;
mod joined;
mod shown_table;
mod table;

pub(crate) use fields::{name_of, named};
pub use findings::{ListedFinding, ListedFindings};
pub use joined::joined;
pub(crate) use shown_table::ShownTable;
pub use table::{Cell, Column, Table};

/// Blocks about one thing, what matters most first. Texts in it are as they were given: each format makes them safe for itself.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Document {
    /// Its blocks.
    pub blocks: Vec<Block>,
}

/// A part of a document.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case", tag = "kind", content = "content")]
pub enum Block {
    /// What all blocks up to the next title are about.
    Title(String),
    /// A label and a sentence each.
    Facts(Facts),
    /// What is the matter.
    Findings(ListedFindings),
    /// Rows of figures.
    Table(Table),
    /// One paragraph.
    Text(String),
    /// Lines whose shape a document gives; safe to print.
    Verbatim(String),
    /// What is read only when it is asked for: folded where the format can.
    Aside(String, Vec<Block>),
}

impl Document {
    /// Adds a block.
    pub fn push(&mut self, block: Block) {
        self.blocks.push(block);
    }

    /// Adds sentences, if there are any.
    pub fn facts(&mut self, facts: Facts) {
        if !facts.rows.is_empty() {
            self.push(Block::Facts(facts));
        }
    }

    /// Adds those tables that have rows.
    pub fn tables(&mut self, tables: impl IntoIterator<Item = Table>) {
        let tables = tables.into_iter().filter(|table| !table.rows.is_empty());
        self.blocks.extend(tables.map(Block::Table));
    }

    /// Every table, also of what is folded.
    pub fn into_tables(self) -> Vec<Table> {
        fn tables(blocks: Vec<Block>) -> Vec<Table> {
            let each = blocks.into_iter().flat_map(|block| match block {
                Block::Table(table) => vec![table],
                Block::Aside(title, blocks) => titled(tables(blocks), &title),
                _ => Vec::new(),
            });
            each.collect()
        }
        // What stands around a table says what it is where the table does not.
        fn titled(mut tables: Vec<Table>, title: &str) -> Vec<Table> {
            let untitled = tables.iter_mut().filter(|table| table.title.is_empty());
            untitled.for_each(|table| title.clone_into(&mut table.title));
            tables
        }
        tables(self.blocks)
    }
}

impl From<Vec<Block>> for Document {
    fn from(blocks: Vec<Block>) -> Self {
        Self { blocks }
    }
}

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
