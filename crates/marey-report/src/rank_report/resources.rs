//! Machines and GPUs.

use marey_analysis::job::Range;
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
    let mut table = Table::new(
        "gpus",
        "GPUs",
        &[
            ("gpu", "GPU"),
            ("host", "Host"),
            ("ranks", "Ranks"),
            ("memory_mean_bytes", "Memory"),
            ("memory_max_bytes", "Peak"),
            ("memory_total_bytes", "Of"),
            ("utilization_mean_ratio", "Used"),
            ("utilization_max_ratio", "At most"),
            ("temperature_max_celsius", "°C"),
            ("power_mean_watts", "W"),
            ("energy_joules", "J"),
            ("thermal_risk", "Hot"),
        ],
    );
    for row in &job.resources.gpus {
        let gpu = &row.gpu;
        let name = gpu.name.clone().unwrap_or_else(|| gpu.uuid.clone());
        table.row(vec![
            Cell::Text(name),
            Cell::text(row.host.as_str()),
            Cell::Text(places.list(&row.places)),
            bytes(gpu.memory_bytes.map(|range| range.mean)),
            bytes(gpu.memory_bytes.map(|range| range.max)),
            bytes(gpu.memory_total_bytes),
            ratio(gpu.utilization_ratio, |range| range.mean),
            ratio(gpu.utilization_ratio, |range| range.max),
            Cell::known(gpu.temperature_celsius.map(|t| t.max), Cell::Number),
            Cell::known(gpu.power_watts.map(|watts| watts.mean), Cell::Number),
            Cell::known(gpu.energy_joules, Cell::Number),
            Cell::known(gpu.is_at_thermal_risk, |is_hot| {
                Cell::text(if is_hot { "yes" } else { "no" })
            }),
        ]);
    }
    table
}

fn ranks(job: &JobAnswers, places: Places<'_>) -> Table {
    let mut table = Table::new(
        "ranks_resources",
        "Use of the machine by rank",
        &[
            ("rank", "Rank"),
            ("process_cores_mean", "Cores"),
            ("process_cores_max", "At most"),
            ("host_cpu_ratio", "Host CPU"),
            ("host_memory_max_bytes", "Host memory"),
            ("process_memory_peak_bytes", "Process peak"),
            ("torch_allocated_peak_bytes", "torch peak"),
            ("torch_reserved_peak_bytes", "torch held"),
        ],
    );
    for row in &job.resources.ranks {
        let machine = &row.machine;
        table.row(vec![
            places.cell(row.place),
            figure(machine.process_cores.map(|cores| cores.mean)),
            figure(machine.process_cores.map(|cores| cores.max)),
            ratio(machine.host_cpu_ratio, |range| range.mean),
            bytes(machine.host_memory_bytes.map(|range| range.max)),
            Cell::bytes(machine.process_memory_peak_bytes),
            Cell::bytes(machine.torch_allocated_peak_bytes),
            Cell::bytes(machine.torch_reserved_peak_bytes),
        ]);
    }
    table
}

fn ratio(range: Option<Range>, of: impl Fn(Range) -> f64) -> Cell {
    Cell::ratio(range.map(of))
}

fn bytes(size: Option<f64>) -> Cell {
    Cell::known(size, |size| Cell::Bytes(whole(size)))
}
