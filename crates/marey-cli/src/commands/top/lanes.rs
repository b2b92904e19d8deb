//! Resources: GPUs, CPU, memory and disk, what they are now and were lately.

use std::collections::HashMap;

use marey::live::{Interval, Look};
use marey_report::{Metrics, escape, quantity};

use super::history::History;

/// A figure that was not read again stays for this long.
const HELD_NS: u64 = 5_000_000_000;

/// Writes a value, and the whole that it is a part of where that is known.
type Show = fn(f64, Option<f64>) -> String;

/// Resources of one process.
#[derive(Debug, Default)]
pub(super) struct Lanes {
    figures: HashMap<Key, Figure>,
    /// Identifiers of the GPUs, ordered.
    gpus: Vec<String>,
}

/// Which figure.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Key {
    Machine,
    Process,
    Resident,
    MemoryUsed,
    Read,
    Written,
    Gpu(String, OfGpu),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum OfGpu {
    Utilization,
    Memory,
    Power,
    Temperature,
}

#[derive(Debug, Default)]
struct Figure {
    history: History,
    /// The last value that was read, of what whole, and when.
    last: Option<(f64, Option<f64>, u64)>,
}

/// A resource on the screen.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Lane {
    /// Which resource.
    pub(super) name: String,
    /// Its figures that are known, most telling first.
    pub(super) cells: Vec<Cell>,
}

/// One figure of a lane.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Cell {
    pub(super) value: String,
    history: History,
    whole: Option<f64>,
}

impl Cell {
    /// Bars of what it was lately.
    pub(super) fn bars(&self, width: usize) -> String {
        self.history.bars(width, self.whole)
    }
}

impl Lanes {
    /// Takes what a look says of resources. What it does not say leaves a gap, unless it was read a moment ago.
    pub(super) fn take(&mut self, look: &Look, interval: Option<Interval<'_>>, metrics: &Metrics) {
        let at_ns = look.at_ns;
        let mut put = |key: Key, value: Option<f64>, whole: Option<f64>| {
            self.figures
                .entry(key)
                .or_default()
                .push(at_ns, value, whole);
        };
        put(Key::Machine, metrics.cpu_ratio, Some(1.0));
        put(Key::Process, metrics.process_cpu_cores, None);
        put(
            Key::Resident,
            metrics.process_memory_bytes,
            metrics.memory_total_bytes,
        );
        put(
            Key::MemoryUsed,
            metrics.memory_used_bytes,
            metrics.memory_total_bytes,
        );
        let disk = |what: &str| {
            let rate = |name: &str| growth_per_second(look, interval?, name);
            rate(&format!("process.disk.{what}")).or_else(|| rate(&format!("disk.{what}")))
        };
        put(Key::Read, disk("read"), None);
        put(Key::Written, disk("written"), None);
        for gpu in &metrics.gpus {
            let key = |what| Key::Gpu(gpu.id.clone(), what);
            put(key(OfGpu::Utilization), gpu.utilization_ratio, Some(1.0));
            put(
                key(OfGpu::Memory),
                gpu.memory_used_bytes,
                gpu.memory_total_bytes,
            );
            put(key(OfGpu::Power), gpu.power_watts, None);
            put(
                key(OfGpu::Temperature),
                gpu.temperature_celsius,
                Some(100.0),
            );
        }
        // In the sampler's order, which is that of their numbers.
        for gpu in &metrics.gpus {
            if !self.gpus.contains(&gpu.id) {
                self.gpus.push(gpu.id.clone());
            }
        }
    }

    /// Resources of which anything is known, as of the last look.
    pub(super) fn all(&self) -> Vec<Lane> {
        let one_gpu = self.gpus.len() == 1;
        let gpus = self.gpus.iter().enumerate().map(|(number, id)| Lane {
            name: if one_gpu {
                "GPU".into()
            } else {
                format!("GPU {number}")
            },
            cells: self.cells_of_gpu(id),
        });
        let cells = |keys: [(Key, Show); 2]| -> Vec<Cell> {
            let known = keys
                .into_iter()
                .filter_map(|(key, show)| self.cell(&key, show));
            known.collect()
        };
        let own = [
            (
                "CPU",
                cells([(Key::Machine, machine), (Key::Process, process)]),
            ),
            (
                "Memory",
                cells([(Key::Resident, resident), (Key::MemoryUsed, of_whole)]),
            ),
            ("Disk", cells([(Key::Read, read), (Key::Written, written)])),
        ];
        let own = own.map(|(name, cells)| Lane {
            name: name.into(),
            cells,
        });
        gpus.chain(own)
            .filter(|lane| !lane.cells.is_empty())
            .collect()
    }

    fn cells_of_gpu(&self, id: &str) -> Vec<Cell> {
        let figures: [(OfGpu, Show); 4] = [
            (OfGpu::Utilization, |ratio, _| quantity::percent(ratio)),
            (OfGpu::Memory, of_whole),
            (OfGpu::Power, |watts, _| format!("{watts:.0} W")),
            (OfGpu::Temperature, |degrees, _| format!("{degrees:.0} °C")),
        ];
        let cells = figures.into_iter();
        cells
            .filter_map(|(what, show)| self.cell(&Key::Gpu(id.to_owned(), what), show))
            .collect()
    }

    fn cell(&self, key: &Key, show: Show) -> Option<Cell> {
        let figure = self.figures.get(key)?;
        let (value, whole, _) = figure.last?;
        Some(Cell {
            value: escape::visible(&show(value, whole)),
            history: figure.history.clone(),
            whole,
        })
    }
}

impl Figure {
    fn push(&mut self, at_ns: u64, value: Option<f64>, whole: Option<f64>) {
        let held = self
            .last
            .filter(|(.., then_ns)| at_ns.saturating_sub(*then_ns) < HELD_NS);
        self.last = value.map(|value| (value, whole, at_ns)).or(held);
        self.history.push(self.last.map(|(value, ..)| value));
    }
}

/// Growth of all cumulative series of a name, together; `None` when none of them was read again.
fn growth_per_second(look: &Look, interval: Interval<'_>, name: &str) -> Option<f64> {
    let named = look
        .series
        .iter()
        .filter(|reading| reading.info.name == name);
    named
        .filter_map(|reading| interval.growth_per_second(reading))
        .reduce(|one, other| one + other)
}

fn machine(ratio: f64, _: Option<f64>) -> String {
    quantity::percent(ratio)
}

fn process(cores: f64, _: Option<f64>) -> String {
    format!("process {cores:.2} cores")
}

fn resident(bytes: f64, _: Option<f64>) -> String {
    format!("process {}", size(bytes))
}

fn of_whole(bytes: f64, whole: Option<f64>) -> String {
    match whole {
        Some(whole) => format!("{} of {}", size(bytes), size(whole)),
        None => size(bytes),
    }
}

fn read(per_second: f64, _: Option<f64>) -> String {
    format!("read {:.1} MB/s", per_second / 1e6)
}

fn written(per_second: f64, _: Option<f64>) -> String {
    format!("write {:.1} MB/s", per_second / 1e6)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "sizes for people; below 0 there are none"
)]
fn size(bytes: f64) -> String {
    quantity::bytes(bytes.max(0.0) as u64)
}
