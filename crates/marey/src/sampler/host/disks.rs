//! What disks moved: `/sys/block/<disk>/stat`.
//!
//! The folder lists whole devices, no partitions. Of them count those that store something of their own: no loop devices and RAM disks,
//! nothing of no size, and nothing that lies on other devices (device mapper, RAID), whose transfers would count twice.

use std::path::Path;

use super::catalogue::{Catalogue, Part, Round, Slot};
use super::fields::{fields, number};
use super::kept_file::KeptFile;
use crate::folder::names_in;
use crate::series::Unit;

const WHAT: &str = "disk.read, disk.written, disk.busy";
/// Bytes of a sector in these counts, whatever the disk's own is.
const SECTOR: f64 = 512.0;
/// Each has an open file. Further ones, in the order of their names, are left out.
const MAX_DISKS: usize = 32;

/// Opens the disks that are there now.
pub(super) fn open(catalogue: &mut Catalogue<'_>, parts: &mut Vec<Box<dyn Part>>) {
    let folder = catalogue.path("sys/block");
    let mut disks: Vec<_> = names_in(&folder)
        .into_iter()
        .flatten()
        .map(|name| folder.join(name))
        .filter(|path| counts(path))
        .collect();
    disks.sort();
    if disks.is_empty() {
        catalogue.lacks(WHAT, &format!("no disk is listed in {}", folder.display()));
    }
    for (at, path) in disks.iter().enumerate() {
        let name = path.file_name().unwrap_or_default().as_encoded_bytes();
        // The kernel writes a slash in a device's name (cciss/c0d0) as an exclamation mark.
        let name = crate::readable_text::readable(name).replace('!', "/");
        let what = format!("{WHAT} of {name}");
        if at >= MAX_DISKS {
            catalogue.lacks(&what, &format!("there are {MAX_DISKS} disks before it"));
        } else if let Some((file, _)) = catalogue.open(&path.join("stat"), &what, "") {
            parts.push(Box::new(Disk {
                file,
                read: catalogue.cumulative("disk.read", &name, Unit::Bytes),
                written: catalogue.cumulative("disk.written", &name, Unit::Bytes),
                busy: catalogue.cumulative("disk.busy", &name, Unit::Seconds),
            }));
        }
    }
}

fn counts(disk: &Path) -> bool {
    let name = disk.file_name().unwrap_or_default().as_encoded_bytes();
    let is_in_memory = [b"loop".as_slice(), b"ram", b"zram"]
        .iter()
        .filter_map(|kind| name.strip_prefix(*kind))
        .any(|rest| rest.first().is_some_and(u8::is_ascii_digit));
    let lies_on_others =
        names_in(&disk.join("slaves")).is_ok_and(|mut below| below.next().is_some());
    let size = std::fs::read(disk.join("size"));
    let is_empty = size.is_ok_and(|size| size.trim_ascii() == b"0");
    !is_in_memory && !lies_on_others && !is_empty
}

struct Disk {
    file: KeptFile,
    read: Slot,
    written: Slot,
    busy: Slot,
}

impl Part for Disk {
    fn read(&mut self, round: &mut Round<'_>) -> Option<()> {
        let text = self.file.read(round.buffer)?.trim_ascii_end();
        // Reads, merged, sectors, ms · the same of writes · in flight, ms busy.
        let mut rest = fields(text).map(number);
        self.read.put(round.values, rest.nth(2)?? * SECTOR);
        self.written.put(round.values, rest.nth(3)?? * SECTOR);
        self.busy.put(round.values, rest.nth(2)?? / 1000.0);
        Some(())
    }
}
