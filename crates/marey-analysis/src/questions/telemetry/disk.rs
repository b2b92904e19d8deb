//! Were disks what the program waited for, and did it read from them at all?

use serde::Serialize;

use super::sampled::Sampled;
use crate::readings::{Figures, Growth};

/// What was read from and written to disks, in bytes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, schemars::JsonSchema)]
pub struct DiskUse {
    /// Read by the process, from real disks.
    pub process_read: Option<Growth>,
    /// Written by the process, to real disks.
    pub process_written: Option<Growth>,
    /// Read by the process with calls of any kind: from the page cache, pipes and sockets, too, but not through mappings.
    pub calls_read: Option<Growth>,
    /// Written by the process with calls of any kind.
    pub calls_written: Option<Growth>,
    /// How far the page cache served reads; `None` unless both counts are known and something was read.
    pub page_cache: Option<PageCache>,
    /// Each disk, by name.
    pub devices: Vec<DeviceUse>,
    /// Files that were asked for, by path.
    pub files: Vec<FileCached>,
}

/// How far the page cache served reads.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PageCache {
    /// Share of what calls read that came from no disk: 1 − read from disks / read with calls.
    Share(f64),
    /// More came from disks than calls read: files were read through mappings, which calls do not count. No share is known.
    MappedFiles,
}

/// One disk.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct DeviceUse {
    /// Its name.
    pub device: String,
    /// Read from it, by anybody.
    pub read: Option<Growth>,
    /// Written to it, by anybody.
    pub written: Option<Growth>,
    /// Share of the time in which it had something to do.
    pub busy_ratio: Option<Figures>,
}

/// How much of a file lay in the page cache.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct FileCached {
    /// Its path; not safe to print.
    pub path: String,
    /// Share of it, 0 to 1.
    pub cached_ratio: Figures,
}

pub(super) fn disk(sampled: &Sampled<'_>) -> Option<DiskUse> {
    let process_read = sampled.growth("process.disk.read", "");
    let calls_read = sampled.growth("process.io.read", "");
    let found = DiskUse {
        process_read,
        process_written: sampled.growth("process.disk.written", ""),
        calls_read,
        calls_written: sampled.growth("process.io.written", ""),
        page_cache: page_cache(process_read, calls_read),
        devices: devices(sampled),
        files: files(sampled),
    };
    (found != DiskUse::default()).then_some(found)
}

fn page_cache(from_disks: Option<Growth>, with_calls: Option<Growth>) -> Option<PageCache> {
    let (from_disks, with_calls) = (from_disks?.total, with_calls?.total);
    if from_disks > with_calls {
        return Some(PageCache::MappedFiles);
    }
    (with_calls > 0.0).then(|| PageCache::Share(1.0 - from_disks / with_calls))
}

fn devices(sampled: &Sampled<'_>) -> Vec<DeviceUse> {
    let names = ["disk.read", "disk.written", "disk.busy"];
    let mut devices: Vec<&str> = names.iter().flat_map(|n| sampled.subjects(n)).collect();
    devices.sort_unstable();
    devices.dedup();
    let device = |device: &str| {
        let [read, written, busy] = names.map(|name| sampled.growth(name, device));
        let found = DeviceUse {
            device: device.to_owned(),
            read,
            written,
            busy_ratio: busy.map(|busy| busy.per_second.at_most_all()),
        };
        (read.is_some() || written.is_some() || busy.is_some()).then_some(found)
    };
    devices.into_iter().filter_map(device).collect()
}

fn files(sampled: &Sampled<'_>) -> Vec<FileCached> {
    let name = "file.cached";
    let file = |path: &str| {
        Some(FileCached { path: path.to_owned(), cached_ratio: sampled.gauge(name, path)? })
    };
    sampled.subjects(name).into_iter().filter_map(file).collect()
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "figures of a few round numbers are exact")]
mod tests {
    use super::*;
    use crate::telemetry;
    use marey::{SeriesInfo, Unit};
    use marey_testing::RunBuilder;

    const MIB: f64 = 1_048_576.0;

    /// A process that read so many MiB from disks and with calls, within a second.
    fn disk_of(from_disks: f64, with_calls: f64) -> DiskUse {
        let bytes = |name| SeriesInfo::cumulative(name, "", Unit::Bytes);
        let readings = |mib: f64| [(0, MIB), (1_000_000_000, MIB + mib * MIB)];
        let run = RunBuilder::new()
            .series(bytes("process.disk.read"), &readings(from_disks))
            .series(bytes("process.io.read"), &readings(with_calls))
            .finish(1_000_000_000);
        telemetry(&run).disk.unwrap()
    }

    #[test]
    fn what_calls_read_and_no_disk_did_came_from_the_page_cache() {
        assert_eq!(disk_of(64.0, 256.0).page_cache, Some(PageCache::Share(0.75)));
        assert_eq!(disk_of(0.0, 256.0).page_cache, Some(PageCache::Share(1.0)));
        assert_eq!(disk_of(256.0, 256.0).page_cache, Some(PageCache::Share(0.0)));
    }

    #[test]
    fn files_that_are_mapped_have_no_share_of_the_page_cache() {
        // Loading 256 MiB of safetensors: calls read next to nothing.
        assert_eq!(disk_of(256.0, 0.0).page_cache, Some(PageCache::MappedFiles));
        assert_eq!(disk_of(0.0, 0.0).page_cache, None);
    }

    #[test]
    fn throughput_is_bytes_over_the_time_between_readings() {
        let read = disk_of(64.0, 64.0).process_read.unwrap();
        assert_eq!(read.total, 64.0 * MIB);
        assert_eq!(read.per_second.mean, 64.0 * MIB);
    }

    #[test]
    fn a_disk_that_was_read_once_has_no_throughput() {
        let run = RunBuilder::new()
            .series(SeriesInfo::cumulative("disk.read", "nvme0n1", Unit::Bytes), &[(0, 5.0)])
            .finish(10);
        assert_eq!(telemetry(&run).disk, None);
    }
}
