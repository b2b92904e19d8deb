//! What disks moved: `/sys/block/<disk>/stat`.
//!
//! The folder lists whole devices, no partitions. Of them count those that store something of their own: no loop devices and RAM disks,
//! nothing of no size, and nothing that lies on other devices (device mapper, RAID), whose transfers would count twice.

use std::path::Path;

use super::catalogue::Catalogue;
use super::table::DISK;
use crate::folder::names_in;

const WHAT: &str = "disk.read, disk.written, disk.busy";
/// Each has an open file. Further ones, in the order of their names, are left out.
const MAX_DISKS: usize = 32;

/// Opens the disks that are there now.
pub(super) fn open(catalogue: &mut Catalogue<'_>) {
    let folder = catalogue.path("sys/block");
    let names = names_in(&folder).into_iter().flatten();
    let mut disks: Vec<_> =
        names.map(|name| folder.join(name)).filter(|path| counts(path)).collect();
    disks.sort();
    if disks.is_empty() {
        catalogue.lacks(WHAT, &format!("no disk is listed in {}", folder.display()));
    }
    for (at, path) in disks.iter().enumerate() {
        let name = path.file_name().unwrap_or_default().as_encoded_bytes();
        // The kernel writes a slash in a device's name (cciss/c0d0) as an exclamation mark.
        let name = crate::value::readable(name).replace('!', "/");
        if at < MAX_DISKS {
            catalogue.file(&path.join(DISK.path), &name, &DISK);
        } else {
            let why = format!("there are {MAX_DISKS} disks before it");
            catalogue.lacks(&format!("{WHAT} of {name}"), &why);
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
