//! What every page holds: a title, what is shown first, and tabs of blocks.

use std::borrow::Cow;

use serde::Serialize;

use crate::document::{Block, Cell, Table};
use crate::first_screen::DrawnScreen;
use crate::quantity::counted;

/// Rows of a table, tried one after the other until all tables are small enough.
const LIMITS: [usize; 5] = [2_000, 500, 150, 50, 15];
/// Of all tables together, about as JSON.
pub(super) const MAX_BYTES: usize = 3_000_000;
/// Of a cell whose value is no text.
const CELL_BYTES: usize = 32;
/// Characters of a text.
const MAX_TEXT: usize = 2_000;

/// What is read of a page, before its pictures.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(super) struct Contents<'a> {
    title: String,
    screen: Option<DrawnScreen<'a>>,
    tabs: Vec<Tab>,
}

/// Blocks that are shown together.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(super) struct Tab {
    /// In the address; a picture of the same tab stands below its blocks.
    pub(super) id: &'static str,
    pub(super) title: Cow<'static, str>,
    pub(super) blocks: Vec<Block>,
}

impl<'a> Contents<'a> {
    /// Tabs without blocks are left out, and so are rows and texts for which there is no room: their table says so.
    pub(super) fn new(
        title: impl Into<String>,
        screen: Option<DrawnScreen<'a>>,
        mut tabs: Vec<Tab>,
        max_bytes: usize,
    ) -> Self {
        tabs.retain(|tab| !tab.blocks.is_empty());
        let fits = |limit: &&usize| {
            let each = tabs.iter().flat_map(|tab| &tab.blocks);
            each.map(|block| bytes(block, **limit)).sum::<usize>() <= max_bytes
        };
        let limit = LIMITS.iter().find(fits).copied().unwrap_or(LIMITS[4]);
        for block in tabs.iter_mut().flat_map(|tab| &mut tab.blocks) {
            shorten(block, limit);
        }
        Self { title: title.into(), screen, tabs }
    }
}

/// About as many as its tables take with so many rows each.
fn bytes(block: &Block, limit: usize) -> usize {
    let cell = |cell: &Cell| match cell {
        Cell::Text(text) | Cell::Name(text) | Cell::Nested(_, text) => {
            CELL_BYTES + text.len().min(MAX_TEXT)
        }
        Cell::Path(names) => {
            CELL_BYTES + names.iter().map(|n| n.len().min(MAX_TEXT)).sum::<usize>()
        }
        _ => CELL_BYTES,
    };
    match block {
        Block::Table(table) => table.rows.iter().take(limit).flatten().map(cell).sum(),
        Block::Aside(_, blocks) => blocks.iter().map(|block| bytes(block, limit)).sum(),
        _ => 0,
    }
}

fn shorten(block: &mut Block, limit: usize) {
    match block {
        Block::Table(table) => shorten_table(table, limit),
        Block::Aside(_, blocks) => blocks.iter_mut().for_each(|block| shorten(block, limit)),
        _ => {}
    }
}

/// Leaves the first rows, and says how many there are more.
pub(super) fn shorten_table(table: &mut Table, limit: usize) {
    let n_more = table.rows.len().saturating_sub(limit);
    if n_more > 0 {
        table.rows.truncate(limit);
        let rows = counted(n_more as u64, "more row", "more rows");
        let all = format!("… and {rows}: --table {} has all.", table.key);
        table.notes.insert(0, all);
    }
    for cell in table.rows.iter_mut().flatten() {
        match cell {
            Cell::Text(text) | Cell::Name(text) | Cell::Nested(_, text) => shorten_text(text),
            Cell::Path(names) => names.iter_mut().for_each(shorten_text),
            _ => {}
        }
    }
}

pub(super) fn shorten_text(text: &mut String) {
    if let Some((end, _)) = text.char_indices().nth(MAX_TEXT) {
        *text = format!("{}…", &text[..end]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rows and the notes that a page has of a table of names.
    fn kept(n: usize, name: &str) -> (Vec<Vec<Cell>>, Vec<String>) {
        let mut table = Table::new("kernels", "Kernels", &[("name", "Name")]);
        for n in 0..n {
            table.row(vec![Cell::text(format!("{name}{n}"))]);
        }
        let tab = Tab {
            id: "trace",
            title: "Trace".into(),
            blocks: vec![Block::Aside("Folded".into(), vec![Block::Table(table)])],
        };
        let mut contents = Contents::new("a", None, vec![tab], MAX_BYTES);
        let Some(Block::Aside(_, mut blocks)) = contents.tabs[0].blocks.pop() else {
            panic!("the block is there");
        };
        let Some(Block::Table(table)) = blocks.pop() else {
            panic!("the table is there");
        };
        (table.rows, table.notes)
    }

    #[test]
    fn long_tables_are_cut_and_say_so() {
        assert_eq!(kept(2_000, "k").1, [""; 0]);
        let (rows, notes) = kept(2_501, "k");
        assert_eq!(rows.len(), 2_000);
        assert_eq!(notes, ["… and 501 more rows: --table kernels has all."]);
        // 2000 rows of 2 032 bytes are more than 3 MB.
        let (rows, notes) = kept(2_001, &"x".repeat(2_100));
        assert_eq!((rows.len(), notes.len()), (500, 1));
        let Cell::Text(name) = &rows[0][0] else {
            panic!("it is a text");
        };
        assert_eq!(name.chars().count(), MAX_TEXT + 1);
    }

    #[test]
    fn tabs_without_blocks_are_none() {
        let tab = Tab { id: "empty", title: "Empty".into(), blocks: Vec::new() };
        assert!(Contents::new("a", None, vec![tab], MAX_BYTES).tabs.is_empty());
    }
}
