//! The page of memory snapshots.

use marey_analysis::{AliveRow, CurvePoint, Level, TimeOrigin};
use serde::Serialize;

use super::contents::{Contents, MAX_BYTES, Tab};
use super::page::{self, Model};
use super::title_of;
use crate::document::{Block, Cell};
use crate::first_screen::FirstScreen;
use crate::model::SnapshotFile;
use crate::snapshot_report::{shown_frame, snapshot_document};

/// What memory snapshots say as an HTML page: one after the other.
pub fn html_snapshots(files: &[SnapshotFile]) -> Vec<u8> {
    let screen = match files {
        [only] => FirstScreen::of_snapshot(only),
        _ => None,
    };
    let names: Vec<&str> = files.iter().map(|file| file.file.as_str()).collect();
    let screen = screen.as_ref().map(FirstScreen::drawn);
    let contents = Contents::new(title_of(&names), screen, vec![tab(files, false)], MAX_BYTES);
    let snapshots = drawn(files, MAX_STACKS, false);
    page::page(&Model::Document { contents, snapshots }, &[])
}

/// Devices of all snapshots together.
const MAX_DEVICES: usize = 16;
/// Stacks of a device.
const MAX_STACKS: usize = 100;

/// The allocator of a device over time, and what it was for when there was most.
#[derive(Serialize, schemars::JsonSchema)]
pub(super) struct DrawnSnapshot<'a> {
    file: &'a str,
    device: u32,
    /// Its times are those of the page's run.
    is_of_run: bool,
    peak: Option<&'a Level>,
    curve: &'a [CurvePoint],
    /// What the program had at its peak, or without a history at the end: by stack, the largest first.
    stacks: Vec<DrawnStack>,
}

/// Memory that was allocated in one place.
#[derive(Serialize, schemars::JsonSchema)]
struct DrawnStack {
    bytes: u64,
    /// From the outermost inwards.
    frames: Vec<String>,
}

/// What is drawn of snapshots that could be read, with so many stacks a device.
pub(super) fn drawn(
    files: &[SnapshotFile],
    most_stacks: usize,
    has_run: bool,
) -> Vec<DrawnSnapshot<'_>> {
    let read = files.iter().filter_map(|file| Some((&file.file, file.answers.as_ref()?)));
    let devices = read.flat_map(|(file, answers)| {
        answers.devices.iter().map(move |device| DrawnSnapshot {
            file,
            device: device.device,
            is_of_run: has_run && answers.time_origin == TimeOrigin::Run,
            peak: device.peak.as_ref(),
            curve: &device.curve,
            stacks: device.alive.by_stack.iter().take(most_stacks).map(stack).collect(),
        })
    });
    devices.take(MAX_DEVICES).collect()
}

fn stack(row: &AliveRow) -> DrawnStack {
    let frames = row.stack.iter().flat_map(|stack| stack.frames.iter().rev());
    let mut frames: Vec<String> = frames.map(shown_frame).collect();
    if row.is_before_recording {
        frames.insert(0, "(before the history)".into());
    } else if frames.is_empty() {
        frames.push("(no stack)".into());
    }
    DrawnStack { bytes: row.bytes, frames }
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
    Tab { id: "memory", title: "Memory".into(), blocks: blocks.collect() }
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
