//! What the process's cgroup uses and may use, versions 1 and 2.

use std::path::{Path, PathBuf};

use super::HostOptions;
use super::catalogue::{Catalogue, Part, Round, Slot};
use super::fields::{fields, lines, number, number_of, whole};
use super::hierarchy::{Group, version};
use super::kept_file::{Buffer, KeptFile};
use super::pace::Pace;
use crate::series::Unit;

/// Version 1 has no word for "no limit" but the largest multiple of a page below 2⁶³.
const NO_LIMIT: f64 = 4_611_686_018_427_387_904.0; // 2⁶²

/// Opens what the options ask for. Version and quota are facts in any case.
pub(super) fn open(catalogue: &mut Catalogue<'_>, parts: &mut Vec<Box<dyn Part>>) {
    if let Some(version) = version(catalogue) {
        catalogue.fact("cgroup.version", &version);
    }
    let quota = Group::of(catalogue, "cpu").and_then(|group| Quota::of(&group));
    if let Some(quota) = &quota {
        catalogue.fact("cgroup.cpu.quota", &quota.cores);
    }
    if catalogue.options.cpu
        && let Some(throttling) = Throttling::open(catalogue, quota)
    {
        parts.push(Box::new(throttling));
    }
    if catalogue.options.memory {
        open_memory(catalogue, parts);
    }
}

fn open_memory(catalogue: &mut Catalogue<'_>, parts: &mut Vec<Box<dyn Part>>) {
    let what = "cgroup.memory.used, cgroup.memory.peak, cgroup.memory.limit";
    let Some(group) = Group::of(catalogue, "memory") else {
        catalogue.lacks(what, "this process is in no cgroup whose folder can be seen");
        return;
    };
    let (used, peak, limit) = match group.version {
        1 => ("memory.usage_in_bytes", "memory.max_usage_in_bytes", "memory.limit_in_bytes"),
        _ => ("memory.current", "memory.peak", "memory.max"),
    };
    // Version 2: a group without the controller is counted in the next one above that has it.
    let Some(folder) = group.upwards().find(|folder| folder.join(used).exists()) else {
        let why =
            format!("{} does not count memory: no limits can be set there", group.folder.display());
        catalogue.lacks(what, &why);
        return;
    };
    for (name, file, pace) in [
        ("cgroup.memory.used", used, Pace::of_file()),
        ("cgroup.memory.peak", peak, Pace::of_seconds()),
    ] {
        if let Some((file, _)) = catalogue.open(&folder.join(file), name, "") {
            let slot = catalogue.gauge(name, "", Unit::Bytes);
            parts.push(Box::new(Number { file, slot, pace }));
        }
    }
    if let Some(set) = WorkingSet::open(catalogue, folder, used, group.version) {
        parts.push(Box::new(set));
    }
    if let Some(limit) = Limit::open(catalogue, &group, limit) {
        parts.push(Box::new(limit));
    }
}

/// Processes of the process's group and of those below it that the kernel killed for lack of memory so far. `None` when no group tells.
pub(crate) fn oom_kills(options: &HostOptions) -> Option<u64> {
    let catalogue = Catalogue::new(options);
    let group = Group::of(&catalogue, "memory")?;
    let file = match group.version {
        1 => "memory.oom_control",
        _ => "memory.events",
    };
    let text = group.upwards().find_map(|folder| std::fs::read(folder.join(file)).ok())?;
    let line = lines(&text).find_map(|line| line.strip_prefix(b"oom_kill "))?;
    whole(fields(line).next()?)
}

/// A file that holds one number.
struct Number {
    file: KeptFile,
    slot: Slot,
    pace: Pace,
}

impl Part for Number {
    fn pace(&self) -> Pace {
        self.pace
    }

    fn read(&mut self, round: &mut Round<'_>) -> Option<()> {
        let bytes = number(self.file.read(round.buffer)?.trim_ascii())?;
        self.slot.put(round.values, bytes);
        Some(())
    }
}

/// What the group uses without file pages that nobody looked at lately: the kernel takes those back before it kills anybody.
struct WorkingSet {
    used: KeptFile,
    stat: KeptFile,
    /// In `stat`, with its blank.
    key: &'static [u8],
    slot: Slot,
}

impl WorkingSet {
    fn open(catalogue: &mut Catalogue<'_>, folder: &Path, used: &str, version: u8) -> Option<Self> {
        let what = "cgroup.memory.working_set";
        let (used, _) = catalogue.open(&folder.join(used), what, "")?;
        let (stat, _) = catalogue.open(&folder.join("memory.stat"), what, "")?;
        Some(Self {
            used,
            stat,
            key: match version {
                1 => b"total_inactive_file ",
                _ => b"inactive_file ",
            },
            slot: catalogue.gauge(what, "", Unit::Bytes),
        })
    }
}

impl Part for WorkingSet {
    fn pace(&self) -> Pace {
        Pace::of_seconds()
    }

    fn read(&mut self, round: &mut Round<'_>) -> Option<()> {
        let used = number(self.used.read(round.buffer)?.trim_ascii())?;
        let inactive = number_of(self.stat.read(round.buffer)?, self.key)?;
        self.slot.put(round.values, (used - inactive).max(0.0));
        Some(())
    }
}

/// The smallest limit of the group and those above it.
struct Limit {
    files: Vec<KeptFile>,
    slot: Slot,
}

impl Limit {
    fn open(catalogue: &mut Catalogue<'_>, group: &Group, name: &str) -> Option<Self> {
        let open = |folder: &Path| KeptFile::open_unread(&folder.join(name));
        let files: Vec<_> = group.upwards().filter_map(open).collect();
        let what = "cgroup.memory.limit";
        if smallest(&files, &mut Buffer::default()).is_none() {
            catalogue.lacks(what, "neither this process's cgroup nor one above it has a limit");
            return None;
        }
        let slot = catalogue.gauge(what, "", Unit::Bytes);
        Some(Self { files, slot })
    }
}

impl Part for Limit {
    fn pace(&self) -> Pace {
        Pace::of_seconds()
    }

    fn read(&mut self, round: &mut Round<'_>) -> Option<()> {
        let limit = smallest(&self.files, round.buffer)?;
        self.slot.put(round.values, limit);
        Some(())
    }
}

fn smallest(limits: &[KeptFile], buffer: &mut Buffer) -> Option<f64> {
    let limits = limits.iter().filter_map(|file| number(file.read(buffer)?.trim_ascii()));
    limits.filter(|limit| *limit < NO_LIMIT).reduce(f64::min)
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
fn cores_of(folder: &Path, version: u8) -> Option<f64> {
    let text = |name: &str| KeptFile::open(&folder.join(name)).ok().map(|(_, text)| text);
    let (quota, period) = if version == 1 {
        let one = |name| number(text(name)?.trim_ascii());
        (one("cpu.cfs_quota_us")?, one("cpu.cfs_period_us")?)
    } else {
        let text = text("cpu.max")?;
        let mut numbers = fields(text.trim_ascii()).map(number);
        (numbers.next()??, numbers.next()??)
    };
    (period > 0.0).then_some(quota / period)
}

/// How long the group had used up its quota and was stopped.
struct Throttling {
    file: KeptFile,
    key: &'static [u8],
    /// As many counts are a second.
    of_a_second: f64,
    slot: Slot,
}

impl Throttling {
    /// That of the group with the smallest quota, as it is the one that stops; the process's own if there is none.
    fn open(catalogue: &mut Catalogue<'_>, quota: Option<Quota>) -> Option<Self> {
        let what = "cgroup.cpu.throttled";
        let Some(group) = Group::of(catalogue, "cpu") else {
            catalogue.lacks(what, "this process is in no cgroup whose folder can be seen");
            return None;
        };
        let (key, of_a_second): (&'static [u8], f64) = match group.version {
            1 => (b"throttled_time ", 1e9),
            _ => (b"throttled_usec ", 1e6),
        };
        let folder = quota.map_or(group.folder, |quota| quota.folder);
        let (file, text) = catalogue.open(&folder.join("cpu.stat"), what, "")?;
        if number_of(&text, key).is_none() {
            let why =
                format!("{} limits no processor time: none can be set there", folder.display());
            catalogue.lacks(what, &why);
            return None;
        }
        let slot = catalogue.cumulative(what, "", Unit::Seconds);
        Some(Self { file, key, of_a_second, slot })
    }
}

impl Part for Throttling {
    fn pace(&self) -> Pace {
        Pace::of_counters()
    }

    fn read(&mut self, round: &mut Round<'_>) -> Option<()> {
        let count = number_of(self.file.read(round.buffer)?, self.key)?;
        self.slot.put(round.values, count / self.of_a_second);
        Some(())
    }
}
