//! What the machines did meanwhile.

use marey_analysis::job::{GpuSums, MachineSums, Range};
use marey_analysis::ranks::{RankGpu, RankResources, Resources};

use super::members::host_of;
use super::{Drawing, GIB};

pub(super) fn resources(drawing: &Drawing) -> Resources {
    let range = |min: f64, mean: f64, max: f64| Range { min, mean, max };
    let gpu = |rank: u32| RankGpu {
        places: vec![rank],
        host: host_of(drawing, rank),
        gpu: GpuSums {
            uuid: (drawing.naming)(&format!("GPU-{rank}")),
            name: Some((drawing.naming)("NVIDIA H200")),
            memory_bytes: Some(range(2.0 * GIB, 20.0 * GIB, f64::from(24 + rank % 8) * GIB)),
            memory_total_bytes: Some(140.0 * GIB),
            utilization_ratio: Some(range(
                0.0,
                if drawing.slow == Some(rank) { 0.98 } else { 0.78 },
                1.0,
            )),
            temperature_celsius: Some(range(40.0, 60.0, if rank == 5 { 88.0 } else { 70.0 })),
            power_watts: Some(range(90.0, 400.0, 600.0)),
            energy_joules: Some(800.0),
            is_at_thermal_risk: Some(rank == 5),
        },
    };
    let used = |place: u32| RankResources {
        place,
        machine: MachineSums {
            process_cores: Some(range(0.5, 1.5, 4.0)),
            process_memory_peak_bytes: Some(6 << 30),
            torch_allocated_peak_bytes: Some(20 << 30),
            torch_reserved_peak_bytes: Some(24 << 30),
            ..MachineSums::default()
        },
    };
    let ranks = || 0..drawing.n_ranks;
    if drawing.n_ranks == 1 {
        return Resources::default();
    }
    Resources {
        gpus: ranks().map(gpu).collect(),
        gpu_memory_bytes: Some(range(2.0 * GIB, 20.0 * GIB, 31.0 * GIB)),
        gpu_utilization_ratio: Some(range(0.78, 0.805, 0.98)),
        power_watts: Some(400.0 * f64::from(drawing.n_ranks)),
        energy_joules: Some(800.0 * f64::from(drawing.n_ranks)),
        ranks: ranks().map(used).collect(),
    }
}
