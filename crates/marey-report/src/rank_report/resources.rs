//! Machines and GPUs.

use marey_analysis::job::{GpuSums, Range};
use marey_analysis::quantity::whole;
use marey_analysis::ranks::JobAnswers;

use super::figure;
use super::places::Places;
use crate::document::{Cell, Table};

/// GPUs, then each rank's own use.
pub(super) fn tables(job: &JobAnswers, places: Places<'_>) -> [Table; 2] {
    [gpus(job, places), ranks(job, places)]
}

fn gpus(job: &JobAnswers, places: Places<'_>) -> Table {
    let name = |gpu: &GpuSums| Cell::Text(gpu.name.clone().unwrap_or_else(|| gpu.uuid.clone()));
    let is_hot = |is_hot| Cell::text(if is_hot { "yes" } else { "no" });
    Table::of_each(
        "gpus",
        "GPUs",
        &job.resources.gpus,
        &[
            ("gpu", "GPU", &|r| name(&r.gpu)),
            ("host", "Host", &|r| Cell::text(r.host.as_str())),
            ("ranks", "Ranks", &|r| Cell::Text(places.list(&r.places))),
            ("memory_mean_bytes", "Memory", &|r| bytes(r.gpu.memory_bytes.map(|m| m.mean))),
            ("memory_max_bytes", "Peak", &|r| bytes(r.gpu.memory_bytes.map(|m| m.max))),
            ("memory_total_bytes", "Of", &|r| bytes(r.gpu.memory_total_bytes)),
            ("utilization_mean_ratio", "Used", &|r| ratio(r.gpu.utilization_ratio, |u| u.mean)),
            ("utilization_max_ratio", "At most", &|r| ratio(r.gpu.utilization_ratio, |u| u.max)),
            ("temperature_max_celsius", "°C", &|r| {
                number(r.gpu.temperature_celsius.map(|t| t.max))
            }),
            ("power_mean_watts", "W", &|r| number(r.gpu.power_watts.map(|watts| watts.mean))),
            ("energy_joules", "J", &|r| number(r.gpu.energy_joules)),
            ("thermal_risk", "Hot", &|r| Cell::known(r.gpu.is_at_thermal_risk, is_hot)),
        ],
    )
}

fn ranks(job: &JobAnswers, places: Places<'_>) -> Table {
    let each = job.resources.ranks.iter().map(|row| (row.place, &row.machine));
    Table::of_each(
        "ranks_resources",
        "Use of the machine by rank",
        each,
        &[
            ("rank", "Rank", &|(place, _)| places.cell(*place)),
            ("process_cores_mean", "Cores", &|(_, m)| figure(m.process_cores.map(|c| c.mean))),
            ("process_cores_max", "At most", &|(_, m)| figure(m.process_cores.map(|c| c.max))),
            ("host_cpu_ratio", "Host CPU", &|(_, m)| ratio(m.host_cpu_ratio, |cpu| cpu.mean)),
            ("host_memory_max_bytes", "Host memory", &|(_, m)| {
                bytes(m.host_memory_bytes.map(|range| range.max))
            }),
            ("process_memory_peak_bytes", "Process peak", &|(_, m)| {
                Cell::bytes(m.process_memory_peak_bytes)
            }),
            ("torch_allocated_peak_bytes", "torch peak", &|(_, m)| {
                Cell::bytes(m.torch_allocated_peak_bytes)
            }),
            ("torch_reserved_peak_bytes", "torch held", &|(_, m)| {
                Cell::bytes(m.torch_reserved_peak_bytes)
            }),
        ],
    )
}

fn number(value: Option<f64>) -> Cell {
    Cell::known(value, Cell::Number)
}

fn ratio(range: Option<Range>, of: impl Fn(Range) -> f64) -> Cell {
    Cell::ratio(range.map(of))
}

fn bytes(size: Option<f64>) -> Cell {
    Cell::known(size, |size| Cell::Bytes(whole(size)))
}
