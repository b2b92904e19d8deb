//! The page of memory snapshots.

use marey_analysis::TimeOrigin;

use super::contents::{Contents, MAX_BYTES, Tab};
use super::page::{self, Model};
use super::title_of;
use crate::document::{Block, Cell};
use crate::first_screen::FirstScreen;
use crate::model::SnapshotFile;
use crate::snapshot_report::snapshot_document;

/// What memory snapshots say as an HTML page: one after the other.
pub fn html_snapshots(files: &[SnapshotFile]) -> Vec<u8> {
    let screen = match files {
        [only] => FirstScreen::of_snapshot(only),
        _ => None,
    };
    let names: Vec<&str> = files.iter().map(|file| file.file.as_str()).collect();
    let drawn = screen.as_ref().map(FirstScreen::drawn);
    let contents = Contents::new(title_of(&names), drawn, vec![tab(files, false)], MAX_BYTES);
    page::page(&Model::Document { contents }, &[])
}

/// What memory snapshots say, one after the other. Their moments lead to the timeline where it may be that of their run.
pub(super) fn tab(files: &[SnapshotFile], has_run: bool) -> Tab {
    let blocks = files.iter().flat_map(|file| {
        let mut blocks = snapshot_document(file).blocks;
        let answers = file.answers.as_ref();
        let origin = answers.map(|answers| answers.time_origin);
        if !has_run || origin != Some(TimeOrigin::Run) {
            blocks.iter_mut().for_each(unlink);
        }
        blocks
    });
    Tab {
        id: "memory",
        title: "Memory".into(),
        blocks: blocks.collect(),
    }
}

/// Makes moments lengths of time, which lead nowhere.
fn unlink(block: &mut Block) {
    if let Block::Table(table) = block {
        for cell in table.rows.iter_mut().flatten() {
            if let Cell::Moment(ns) = *cell {
                *cell = Cell::Duration(ns);
            }
        }
    }
}
