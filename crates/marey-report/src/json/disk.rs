//! Disks and the network, as part of `cpu_metrics`.

use marey_analysis::{DeviceUse, DiskUse, InterfaceUse, PageCache};
use serde::Serialize;

use super::Pairs;
use super::figures::{FiguresObject, GrowthObject, MIB, PERCENT, Scope};

/// What was read from and written to disks.
#[derive(Serialize)]
pub(super) struct DiskObject<'a> {
    process_read_mb: Option<GrowthObject<'a>>,
    process_written_mb: Option<GrowthObject<'a>>,
    calls_read_mb: Option<GrowthObject<'a>>,
    calls_written_mb: Option<GrowthObject<'a>>,
    page_cache_percent: Option<f64>,
    reads_mapped_files: Option<bool>,
    devices: Pairs<&'a str, DeviceObject<'a>>,
    files_cached_percent: Pairs<&'a str, Option<FiguresObject<'a>>>,
}

#[derive(Serialize)]
struct DeviceObject<'a> {
    read_mb: Option<GrowthObject<'a>>,
    written_mb: Option<GrowthObject<'a>>,
    busy_percent: Option<FiguresObject<'a>>,
}

/// One network interface.
#[derive(Serialize)]
pub(super) struct NetworkObject<'a> {
    received_mb: Option<GrowthObject<'a>>,
    sent_mb: Option<GrowthObject<'a>>,
}

impl<'a> DiskObject<'a> {
    pub(super) fn new(scope: Scope<'a>, disk: &'a DiskUse) -> Self {
        let devices = disk.devices.iter();
        let files = disk.files.iter();
        Self {
            process_read_mb: scope.growth(disk.process_read, MIB),
            process_written_mb: scope.growth(disk.process_written, MIB),
            calls_read_mb: scope.growth(disk.calls_read, MIB),
            calls_written_mb: scope.growth(disk.calls_written, MIB),
            page_cache_percent: match disk.page_cache {
                Some(PageCache::Share(share)) => Some(share * PERCENT),
                Some(PageCache::MappedFiles) | None => None,
            },
            reads_mapped_files: disk.page_cache.map(|found| found == PageCache::MappedFiles),
            devices: Pairs(
                devices
                    .map(|d| (d.device.as_str(), DeviceObject::new(scope, d)))
                    .collect(),
            ),
            files_cached_percent: Pairs(
                files
                    .map(|f| {
                        (
                            f.path.as_str(),
                            scope.figures(Some(f.cached_ratio), PERCENT),
                        )
                    })
                    .collect(),
            ),
        }
    }
}

impl<'a> DeviceObject<'a> {
    fn new(scope: Scope<'a>, device: &DeviceUse) -> Self {
        Self {
            read_mb: scope.growth(device.read, MIB),
            written_mb: scope.growth(device.written, MIB),
            busy_percent: scope.figures(device.busy_ratio, PERCENT),
        }
    }
}

impl<'a> NetworkObject<'a> {
    pub(super) fn new(scope: Scope<'a>, interface: &InterfaceUse) -> Self {
        Self {
            received_mb: scope.growth(interface.received, MIB),
            sent_mb: scope.growth(interface.sent, MIB),
        }
    }
}
