//! What the process's cgroup uses and may use, versions 1 and 2.

use std::path::{Path, PathBuf};

use super::HostOptions;
use super::catalogue::Catalogue;
use super::fields::{fields, lines, nth, number_of, whole};
use super::hierarchy::{Group, version};
use super::kept_file::{Buffer, KeptFile};
use super::pace::Pace;
use super::table::{GROUP_MEMORY, GROUP_THROTTLED, PRESSURE, Switch};
use crate::series::{SeriesInfo, Unit};

/// Version 1 has no word for "no limit" but the largest multiple of a page below 2⁶³.
const NO_LIMIT: f64 = 4_611_686_018_427_387_904.0; // 2⁶²
const NO_GROUP: &str = "this process is in no cgroup whose folder can be seen";

/// Opens what the options ask for. Version and quota are facts in any case.
pub(super) fn open(catalogue: &mut Catalogue<'_>) {
    if let Some(version) = version(catalogue) {
        catalogue.fact("cgroup.version", &version);
    }
    let cpu = Group::of(catalogue, "cpu");
    let quota = cpu.as_ref().and_then(Quota::of);
    if let Some(quota) = &quota {
        catalogue.fact("cgroup.cpu.quota", &quota.cores);
    }
    if let Some(group) = cpu {
        // The group with the smallest quota is the one that stops; without one the process's own.
        let row = &GROUP_THROTTLED[group.version - 1];
        let folder = quota.map_or(group.folder, |quota| quota.folder);
        catalogue.file(&folder.join(row.path), "", row);
    } else if catalogue.options.cpu {
        catalogue.lacks("cgroup.cpu.throttled", NO_GROUP);
    }
    if catalogue.options.memory {
        open_memory(catalogue);
    }
    let group = Group::of(catalogue, "").filter(|group| !group.is_root());
    for row in PRESSURE.iter().filter(|_| group.is_some()) {
        // The machine's lack is the group's, and has been said.
        let name = row.path.rsplit('/').next().unwrap_or_default();
        let path = group.as_ref().map(|group| group.folder.join(format!("{name}.pressure")));
        if let Some(path) = path.filter(|path| path.exists()) {
            catalogue.file(&path, "cgroup", row);
        }
    }
}

fn open_memory(catalogue: &mut Catalogue<'_>) {
    let what = "cgroup.memory.used, cgroup.memory.peak, cgroup.memory.limit";
    let Some(group) = Group::of(catalogue, "memory") else {
        catalogue.lacks(what, NO_GROUP);
        return;
    };
    let rows = &GROUP_MEMORY[group.version - 1];
    let used = rows[0].path;
    // Version 2: a group without the controller is counted in the next one above that has it.
    let Some(folder) = group.upwards().find(|folder| folder.join(used).exists()) else {
        let why =
            format!("{} does not count memory: no limits can be set there", group.folder.display());
        catalogue.lacks(what, &why);
        return;
    };
    for row in rows {
        catalogue.file(&folder.join(row.path), "", row);
    }
    open_working_set(catalogue, folder, used, group.version);
    open_limit(catalogue, &group);
}

/// What the group uses without file pages that nobody looked at lately: the kernel takes those back before it kills anybody.
fn open_working_set(catalogue: &mut Catalogue<'_>, folder: &Path, used: &str, version: usize) {
    let what = "cgroup.memory.working_set";
    let mut open = |name: &str| catalogue.open(&folder.join(name), what, "");
    let (Some((used, _)), Some((stat, _))) = (open(used), open("memory.stat")) else {
        return;
    };
    let key = [b"total_inactive_file ".as_slice(), b"inactive_file "][version - 1];
    let slot = catalogue.series(Switch::Memory, SeriesInfo::gauge(what, "", Unit::Bytes));
    catalogue.part(Pace::of_seconds(), move |round| {
        let used = nth(used.read(round.buffer)?, 0)?;
        let inactive = number_of(stat.read(round.buffer)?, key)?;
        slot.put(round.values, (used - inactive).max(0.0));
        Some(())
    });
}

/// The smallest limit of the group and those above it.
fn open_limit(catalogue: &mut Catalogue<'_>, group: &Group) {
    let what = "cgroup.memory.limit";
    let name = ["memory.limit_in_bytes", "memory.max"][group.version - 1];
    let open = |folder: &Path| KeptFile::open_unread(&folder.join(name));
    let files: Vec<_> = group.upwards().filter_map(open).collect();
    let smallest = move |buffer: &mut Buffer| {
        let limits = files.iter().filter_map(|file| nth(file.read(buffer)?, 0));
        limits.filter(|limit| *limit < NO_LIMIT).reduce(f64::min)
    };
    if smallest(&mut Buffer::default()).is_none() {
        catalogue.lacks(what, "neither this process's cgroup nor one above it has a limit");
        return;
    }
    let slot = catalogue.series(Switch::Memory, SeriesInfo::gauge(what, "", Unit::Bytes));
    catalogue.part(Pace::of_seconds(), move |round| {
        slot.put(round.values, smallest(round.buffer)?);
        Some(())
    });
}

/// Processes of the process's group and of those below it that the kernel killed for lack of memory so far. `None` when no group tells.
pub(crate) fn oom_kills(options: &HostOptions) -> Option<u64> {
    let catalogue = Catalogue::new(options);
    let group = Group::of(&catalogue, "memory")?;
    let file = ["memory.oom_control", "memory.events"][group.version - 1];
    let text = group.upwards().find_map(|folder| std::fs::read(folder.join(file)).ok())?;
    let line = lines(&text).find_map(|line| line.strip_prefix(b"oom_kill "))?;
    whole(fields(line).next()?)
}

/// The smallest share of processor time of the group and those above it.
struct Quota {
    cores: f64,
    /// The group that has it.
    folder: PathBuf,
}

impl Quota {
    fn of(group: &Group) -> Option<Self> {
        let of_folder = |folder: &Path| {
            let cores = cores_of(folder, group.version)?;
            let folder = folder.to_owned();
            Some(Self { cores, folder })
        };
        group.upwards().filter_map(of_folder).min_by(|a, b| a.cores.total_cmp(&b.cores))
    }
}

/// `cpu.max` is `quota period` in microseconds, the quota `max` if there is none; version 1 has a file for each, and −1.
fn cores_of(folder: &Path, version: usize) -> Option<f64> {
    let number = |name: &str, place| nth(&KeptFile::open(&folder.join(name)).ok()?.1, place);
    let (quota, period) = match version {
        1 => (number("cpu.cfs_quota_us", 0)?, number("cpu.cfs_period_us", 0)?),
        _ => (number("cpu.max", 0)?, number("cpu.max", 1)?),
    };
    (period > 0.0).then_some(quota / period)
}
