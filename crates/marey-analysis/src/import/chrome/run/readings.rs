//! What allocators said, as readings of memory.

use marey::{MemoryReading, MemorySource, Series, SeriesInfo, SeriesPoint, Unit};

use crate::import::chrome::{Allocation, Trace};
use crate::readings::reading;
use crate::stats::float;

/// torch's number of a GPU among the kinds of devices.
const GPU: i64 = 1;

/// What torch's allocator had given out and held on each GPU, in order of time.
pub(super) fn of_devices(trace: &Trace) -> Vec<MemoryReading> {
    let said = trace.allocations.iter().filter_map(|said| {
        let device = said.device.filter(|_| said.device_type == Some(GPU))?;
        Some(MemoryReading {
            at_ns: said.at_ns?,
            label: None,
            source: MemorySource::TorchCuda(u32::try_from(device).ok()?),
            allocated_bytes: said.allocated_bytes?,
            reserved_bytes: said.reserved_bytes,
            peak_bytes: None,
            session: None,
        })
    });
    let mut readings: Vec<MemoryReading> = said.collect();
    readings.sort_by_key(|reading| reading.at_ns);
    readings
}

/// What torch's allocator of the host had given out: not what the process holds, so no reading of its memory.
pub(super) fn of_the_host(trace: &Trace) -> Vec<Series> {
    let is_host = |said: &&Allocation| said.device_type == Some(0);
    let said = trace.allocations.iter().filter(is_host);
    let said = said.filter_map(|said| Some(reading(said.at_ns?, float(said.allocated_bytes?))));
    let mut points: Vec<SeriesPoint> = said.collect();
    if points.is_empty() {
        return Vec::new();
    }
    points.sort_by_key(|point| point.first_ns);
    vec![Series { info: SeriesInfo::gauge("torch.cpu.allocated", "", Unit::Bytes), points }]
}
