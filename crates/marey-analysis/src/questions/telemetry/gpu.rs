//! Were the GPUs busy, full, warm, and what energy did they take?

use marey::SeriesPoint;
use serde::Serialize;

use super::gpu_lanes::GpuLanes;
use super::sampled::Sampled;
use super::throttling::{Throttling, throttling};
use super::timeline::{self, GpuPoint};
use crate::readings::{Figures, Growth, Merge, gauge, integral, together};
use crate::stats::float;

/// All GPUs that were sampled.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Gpus {
    /// Each one, by UUID.
    pub each: Vec<GpuUse>,
    /// All as one: memory and power added up, utilisation and temperature the highest of any at the same reading. With one
    /// GPU it is that one. `uuid` is empty, and what has no meaning for several is absent.
    pub together: GpuUse,
    /// Rounds in which they were read.
    pub n_readings: u64,
    /// `together` over time, a point a reading.
    pub timeline: Vec<GpuPoint>,
}

/// One GPU. Ratios are 0 to 1, sizes bytes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, schemars::JsonSchema)]
pub struct GpuUse {
    /// Which one.
    pub uuid: String,
    /// Its number among the machine's GPUs; `None` when unknown.
    pub index: Option<String>,
    /// Its model; `None` when unknown.
    pub name: Option<String>,
    /// Memory in use, by anybody.
    pub memory_used: Option<Figures>,
    /// Memory that it has.
    pub memory_total: Option<Figures>,
    /// It has no memory of its own, but for what the machine may have set aside for it: it takes the machine's.
    pub shares_memory: bool,
    /// Memory in use by this process.
    pub memory_process: Option<Figures>,
    /// Highest share of its memory that was in use, with what it may borrow if it shares the machine's; `None` where all of it is the
    /// machine's. Of several GPUs, that of the fullest.
    pub peak_memory_ratio: Option<f64>,
    /// Share of the time in which a kernel ran, as the driver counts it.
    pub utilization: Option<Figures>,
    /// Share of the readings' time with a utilisation of at least one half.
    pub well_used_ratio: Option<f64>,
    /// Share of the time in which its memory was read or written.
    pub memory_controller: Option<Figures>,
    /// Degrees Celsius.
    pub temperature: Option<Figures>,
    /// Watts.
    pub power: Option<Figures>,
    /// Watts that it may take.
    pub power_limit: Option<Figures>,
    /// What it took.
    pub energy: Option<Energy>,
    /// Hertz of its processors.
    pub clock_sm: Option<Figures>,
    /// Hertz of its memory.
    pub clock_memory: Option<Figures>,
    /// Time in which its clocks were held down.
    pub throttling: Option<Throttling>,
    /// Bytes a second to the host.
    pub pcie_sent: Option<Figures>,
    /// Bytes a second from the host.
    pub pcie_received: Option<Figures>,
    /// Memory errors that were put right.
    pub ecc_corrected: Option<Growth>,
    /// Memory errors that were not.
    pub ecc_uncorrected: Option<Growth>,
    /// Everything else that was read of it.
    pub others: Vec<GpuMetric>,
}

/// Hotter than this a GPU is about to throttle, in degrees Celsius.
const HOT: f64 = 85.0;

impl GpuUse {
    /// Memory of the machine that it took beside its own.
    pub fn memory_borrowed(&self) -> Option<Figures> {
        let borrowed = self.others.iter().find(|other| other.name == BORROWED);
        borrowed.map(|borrowed| borrowed.figures)
    }

    /// It was hotter than 85 °C, or held its clocks down for heat. `None` when neither was read.
    pub fn is_at_thermal_risk(&self) -> Option<bool> {
        let was_hot = self.temperature.map(|t| t.max > HOT);
        let was_throttled = self.throttling.map(|t| t.was_thermal);
        match (was_hot, was_throttled) {
            (Some(hot), Some(throttled)) => Some(hot || throttled),
            (known, None) | (None, known) => known,
        }
    }
}

impl Gpus {
    /// One of them was at risk; `None` when that is known of none.
    pub fn is_any_at_thermal_risk(&self) -> Option<bool> {
        let known = self.each.iter().filter_map(GpuUse::is_at_thermal_risk);
        known.reduce(|a, b| a || b)
    }
}

/// A reading that not every GPU has.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct GpuMetric {
    /// Name of the series.
    pub name: String,
    /// The readings, in the unit of the series.
    pub figures: Figures,
}

/// Energy.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Energy {
    /// Joules.
    pub joules: f64,
    /// Time in which they were taken, in nanoseconds.
    pub over_ns: f64,
    /// How it was measured.
    pub source: EnergySource,
}

/// How energy was measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EnergySource {
    /// The GPU counts it.
    Counter,
    /// Power over time: each reading stands for the time half way to its neighbours.
    Power,
}

impl Energy {
    /// Watt hours.
    pub fn watt_hours(&self) -> f64 {
        self.joules / 3600.0
    }
}

const KNOWN: [&str; 14] = [
    "gpu.memory.used",
    "gpu.memory.total",
    "gpu.memory.process",
    "gpu.utilization",
    "gpu.memory_controller.utilization",
    "gpu.temperature",
    "gpu.power",
    "gpu.power.limit",
    "gpu.energy",
    "gpu.clock.sm",
    "gpu.clock.memory",
    "gpu.throttle",
    "gpu.pcie.sent",
    "gpu.pcie.received",
];
const BORROWED: &str = "gpu.memory.borrowed";
const ECC: [&str; 2] = ["gpu.ecc.corrected", "gpu.ecc.uncorrected"];

/// A utilisation from which on a GPU is well used.
const WELL_USED: f64 = 0.5;

pub(super) fn gpus(sampled: &Sampled<'_>) -> Option<Gpus> {
    let read = sampled.beginning_with("gpu.");
    let mut uuids: Vec<&str> = read.iter().map(|(_, uuid)| *uuid).collect();
    uuids.sort_unstable();
    uuids.dedup();
    if uuids.is_empty() {
        return None;
    }
    let each: Vec<GpuUse> = uuids.iter().map(|uuid| one(sampled, uuid)).collect();
    let lanes = GpuLanes::new(sampled, &uuids);
    Some(Gpus {
        together: match each.as_slice() {
            [only] => GpuUse { uuid: String::new(), ..only.clone() },
            _ => all_as_one(&lanes, sampled, &each),
        },
        n_readings: lanes.n_readings(),
        timeline: timeline::of_gpus(&lanes),
        each,
    })
}

fn one(sampled: &Sampled<'_>, uuid: &str) -> GpuUse {
    let gauge = |name| sampled.gauge(name, uuid);
    let growth = |name| sampled.growth(name, uuid);
    let points = |name| sampled.points(name, uuid).unwrap_or_default();
    let (memory_used, memory_total) = (gauge("gpu.memory.used"), gauge("gpu.memory.total"));
    let index = index(sampled, uuid);
    let fact = |what| sampled.fact(&format!("gpu.{}.{what}", index?));
    let shares_memory = fact("shares_memory") == Some("true");
    GpuUse {
        uuid: uuid.to_owned(),
        name: fact("name").map(str::to_owned),
        index: index.map(str::to_owned),
        peak_memory_ratio: if shares_memory {
            let all = |names| sum(sampled, uuid, names);
            let used = all(["gpu.memory.used", BORROWED]);
            peak_ratio(used, all(["gpu.memory.total", "gpu.memory.borrowable"]))
        } else {
            peak_ratio(memory_used, memory_total)
        },
        shares_memory,
        memory_used,
        memory_total,
        memory_process: gauge("gpu.memory.process"),
        utilization: gauge("gpu.utilization"),
        well_used_ratio: well_used_ratio(points("gpu.utilization"), sampled.wall_ns()),
        memory_controller: gauge("gpu.memory_controller.utilization"),
        temperature: gauge("gpu.temperature"),
        power: gauge("gpu.power"),
        power_limit: gauge("gpu.power.limit"),
        energy: energy(growth("gpu.energy"), points("gpu.power"), sampled.wall_ns()),
        clock_sm: gauge("gpu.clock.sm"),
        clock_memory: gauge("gpu.clock.memory"),
        throttling: throttling(points("gpu.throttle"), sampled.wall_ns()),
        pcie_sent: gauge("gpu.pcie.sent"),
        pcie_received: gauge("gpu.pcie.received"),
        ecc_corrected: growth(ECC[0]),
        ecc_uncorrected: growth(ECC[1]),
        others: others(sampled, uuid),
    }
}

/// The number of a GPU among the machine's, from the facts `gpu.<number>.uuid`.
fn index<'a>(sampled: &Sampled<'a>, uuid: &str) -> Option<&'a str> {
    let facts = sampled.facts().iter();
    let of_uuid = facts.filter(|(_, value)| value == uuid);
    of_uuid.filter_map(|(key, _)| key.strip_prefix("gpu.")?.strip_suffix(".uuid")).next_back()
}

fn peak_ratio(used: Option<Figures>, total: Option<Figures>) -> Option<f64> {
    let (used, total) = (used?.max, total?.max);
    (total > 0.0).then(|| used / total)
}

/// Figures of two series added up, of readings at the same time.
fn sum(sampled: &Sampled<'_>, uuid: &str, names: [&str; 2]) -> Option<Figures> {
    let points = names.map(|name| sampled.points(name, uuid).map(<[_]>::to_vec));
    let points: Option<Vec<_>> = points.into_iter().collect();
    gauge(&together(&points?, Merge::Sum), &sampled.places)
}

fn others(sampled: &Sampled<'_>, uuid: &str) -> Vec<GpuMetric> {
    let is_other = |name: &str| !KNOWN.contains(&name) && !ECC.contains(&name);
    let read = sampled.beginning_with("gpu.");
    read.into_iter()
        .filter(|(name, of)| *of == uuid && is_other(name))
        .filter_map(|(name, of)| {
            Some(GpuMetric { name: name.to_owned(), figures: sampled.gauge(name, of)? })
        })
        .collect()
}

/// A counter that was read over less than this share of the time in which power was says less than power does.
const COUNTED: f64 = 0.95;

/// What the counter grew by, where it was read over as long as power; else the integral of power. `None` for a single reading.
fn energy(counter: Option<Growth>, power: &[SeriesPoint], wall_ns: u64) -> Option<Energy> {
    let read_ns = match power {
        [first, .., last] => last.last_ns.saturating_sub(first.first_ns),
        _ => 0,
    };
    if let Some(growth) = counter
        && float(growth.over_ns) >= COUNTED * float(read_ns)
    {
        return Some(Energy {
            joules: growth.total,
            over_ns: float(growth.over_ns),
            source: EnergySource::Counter,
        });
    }
    let (watt_ns, over_ns) = integral(power, wall_ns);
    (over_ns > 0.0).then(|| Energy { joules: watt_ns / 1e9, over_ns, source: EnergySource::Power })
}

fn well_used_ratio(utilization: &[SeriesPoint], wall_ns: u64) -> Option<f64> {
    let weights = weights_of(utilization, wall_ns);
    let all: f64 = weights.iter().map(|(_, weight)| weight).sum();
    let used = weights.iter().filter(|(value, _)| *value >= WELL_USED);
    let used: f64 = used.map(|(_, weight)| weight).sum();
    (all > 0.0).then(|| used / all)
}

fn weights_of(points: &[SeriesPoint], wall_ns: u64) -> Vec<(f64, f64)> {
    let weights = crate::readings::weights(points, wall_ns);
    points.iter().map(SeriesPoint::mean).zip(weights).collect()
}

/// All GPUs as one.
fn all_as_one(lanes: &GpuLanes, sampled: &Sampled<'_>, each: &[GpuUse]) -> GpuUse {
    let figures = |points: &[SeriesPoint]| gauge(points, &sampled.places);
    let memory_used = figures(&lanes.memory_used);
    let memory_total = figures(&lanes.memory_total);
    // Of the fullest one: room on another GPU helps nobody.
    let fullest = each.iter().filter_map(|gpu| gpu.peak_memory_ratio);
    GpuUse {
        peak_memory_ratio: fullest.max_by(f64::total_cmp),
        memory_used,
        memory_total,
        memory_process: figures(&lanes.memory_process),
        utilization: figures(&lanes.utilization),
        well_used_ratio: well_used_ratio(&lanes.utilization, sampled.wall_ns()),
        temperature: figures(&lanes.temperature),
        power: figures(&lanes.power),
        energy: total_energy(each),
        ..GpuUse::default()
    }
}

/// Energy of all GPUs; `None` unless that of each is known.
fn total_energy(each: &[GpuUse]) -> Option<Energy> {
    let known: Option<Vec<Energy>> = each.iter().map(|gpu| gpu.energy).collect();
    let known = known?;
    let is_counted = known.iter().all(|e| e.source == EnergySource::Counter);
    Some(Energy {
        joules: known.iter().map(|e| e.joules).sum(),
        over_ns: known.iter().map(|e| e.over_ns).fold(0.0, f64::max),
        source: if is_counted { EnergySource::Counter } else { EnergySource::Power },
    })
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "figures of a few round numbers are exact")]
mod tests;
