//! The page of memory snapshots.

use super::contents::{Contents, MAX_BYTES, Tab};
use super::page::{self, Model};
use super::title_of;
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
    let contents = Contents::new(title_of(&names), drawn, vec![tab(files)], MAX_BYTES);
    page::page(&Model::Document { contents }, &[])
}

/// What memory snapshots say, one after the other.
pub(super) fn tab(files: &[SnapshotFile]) -> Tab {
    let documents = files.iter().map(snapshot_document);
    Tab {
        id: "memory",
        title: "Memory",
        blocks: documents.flat_map(|file| file.blocks).collect(),
    }
}
