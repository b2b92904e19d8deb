//! One AMD GPU that is read. Its files are opened for each reading, where the program cannot close them.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use marey::SeriesInfo;

use super::card::{Card, line};
use crate::GpuOptions;
use crate::device::{Device, DeviceDescription, OWN_MEMORY, SHARES_MEMORY, Vendor};
use crate::metric::{
    CLOCK_MEMORY, CLOCK_SM, MEMORY_BORROWABLE, MEMORY_BORROWED, MEMORY_CONTROLLER, MEMORY_TOTAL,
    MEMORY_USED, Metric, POWER, POWER_LIMIT, TEMPERATURE, UTILIZATION, reading,
};
use crate::options::{self, Switch};

/// One GPU.
pub(super) struct AmdReader {
    description: DeviceDescription,
    files: Vec<Reading>,
}

/// A file, and what its number is.
struct Reading {
    metric: &'static Metric,
    path: PathBuf,
    /// What one in the file is in the unit of the series.
    scale: f64,
}

/// What a series is read from.
struct Place {
    switch: Switch,
    metric: Metric,
    /// Names of files; the first that can be read is taken. A sensor can be named by its label: `temp:edge`.
    files: &'static [&'static str],
    /// Whether they lie in the folder of sensors.
    is_sensor: bool,
    scale: f64,
}

const fn file(switch: Switch, metric: Metric, files: &'static [&'static str], scale: f64) -> Place {
    Place { switch, metric, files, is_sensor: false, scale }
}

const fn sensor(
    switch: Switch,
    metric: Metric,
    files: &'static [&'static str],
    scale: f64,
) -> Place {
    Place { switch, metric, files, is_sensor: true, scale }
}

const PERCENT: f64 = 1e-2;
const MILLI: f64 = 1e-3;
const MICRO: f64 = 1e-6;

static PLACES: [Place; 9] = [
    file(options::MEMORY, MEMORY_USED, &["mem_info_vram_used"], 1.0),
    file(options::MEMORY, MEMORY_TOTAL, &["mem_info_vram_total"], 1.0),
    file(options::UTILIZATION, UTILIZATION, &["gpu_busy_percent"], PERCENT),
    file(options::UTILIZATION, MEMORY_CONTROLLER, &["mem_busy_percent"], PERCENT),
    // The edge of the chip; accelerators have the hottest spot only.
    sensor(
        options::TEMPERATURE,
        TEMPERATURE,
        &["temp:edge", "temp:junction", "temp1_input"],
        MILLI,
    ),
    sensor(options::POWER, POWER, &["power1_average", "power1_input"], MICRO),
    sensor(options::POWER, POWER_LIMIT, &["power1_cap"], MICRO),
    sensor(options::UTILIZATION, CLOCK_SM, &["freq:sclk", "freq1_input"], 1.0),
    sensor(options::UTILIZATION, CLOCK_MEMORY, &["freq:mclk", "freq2_input"], 1.0),
];

/// Memory of the machine that a GPU borrows (GTT): one on a chip with the processors always, a card when its own is full.
static BORROWED: [Place; 2] = [
    file(options::MEMORY, MEMORY_BORROWED, &["mem_info_gtt_used"], 1.0),
    file(options::MEMORY, MEMORY_BORROWABLE, &["mem_info_gtt_total"], 1.0),
];

impl AmdReader {
    pub(super) fn open(card: &Card, index: usize, is_own: bool, options: &GpuOptions) -> Self {
        let number = |name: &str| number(&card.folder.join(name)).ok()?;
        let model = line(&card.folder.join("product_name"));
        let id = line(&card.folder.join("device"));
        let has = |name: &str| card.folder.join(name).exists();
        let borrows = has("mem_info_gtt_used");
        // Files that the driver has for cards only, though not all of them for each.
        let is_card = has("mem_busy_percent") || has("pcie_bw");
        let mut reader = Self {
            description: DeviceDescription {
                vendor: Vendor::Amd,
                index,
                subject: card.subject(),
                name: model.or(id.map(|id| format!("AMD GPU {id}"))),
                memory_bytes: number("mem_info_vram_total"),
                shares_memory: borrows && !is_card,
                pci: card.pci.clone(),
                mig: None,
                compute_capability: None,
                is_own,
                metrics: Vec::new(),
                unavailable: Vec::new(),
            },
            files: Vec::new(),
        };
        let borrowed = BORROWED.iter().filter(|_| borrows);
        for place in PLACES.iter().chain(borrowed).filter(|place| (place.switch)(options)) {
            reader.open_place(card, place);
        }
        if reader.description.shares_memory && options.memory {
            reader.description.is_without(OWN_MEMORY, SHARES_MEMORY);
        }
        reader
    }

    fn open_place(&mut self, card: &Card, place: &'static Place) {
        let folder =
            if place.is_sensor { card.sensors.as_deref() } else { Some(card.folder.as_path()) };
        let mut problem = None;
        for path in place.files.iter().filter_map(|name| path(folder?, name)) {
            match number(&path) {
                Ok(Some(_)) => {
                    let (metric, scale) = (&place.metric, place.scale);
                    self.files.push(Reading { metric, path, scale });
                    return;
                }
                Ok(None) => problem = Some(format!("{} holds no number", path.display())),
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                Err(error) => problem = Some(format!("{}: {error}", path.display())),
            }
        }
        let why = problem.unwrap_or_else(|| "the driver amdgpu has no file for it".into());
        self.description.is_without(place.metric.name, why);
    }
}

impl Device for AmdReader {
    fn description(&self) -> &DeviceDescription {
        &self.description
    }

    fn series(&self) -> Vec<SeriesInfo> {
        let files = self.files.iter();
        files.map(|reading| reading.metric.of(&self.description.subject)).collect()
    }

    fn read(&mut self, values: &mut [f64]) {
        let files = &self.files;
        marey::apart(|| {
            for (value, read) in values.iter_mut().zip(files) {
                let number = number(&read.path).ok().flatten();
                *value = number.map_or(f64::NAN, |number| reading(number) * read.scale);
            }
        });
    }
}

/// A file by name, or a sensor's by the name that stands in its label.
fn path(folder: &Path, name: &str) -> Option<PathBuf> {
    let Some((kind, label)) = name.split_once(':') else {
        return Some(folder.join(name));
    };
    let labelled = |number: &u32| {
        let label_of = line(&folder.join(format!("{kind}{number}_label")));
        label_of.as_deref() == Some(label)
    };
    let number = (1..=8).find(labelled)?;
    Some(folder.join(format!("{kind}{number}_input")))
}

/// The number that stands in a file now; `None` when it holds none.
fn number(path: &Path) -> io::Result<Option<u64>> {
    let file = File::open(path)?;
    let mut bytes = [0; 32];
    let length = file.read_at(&mut bytes, 0).unwrap_or(0);
    let text = std::str::from_utf8(&bytes[..length]).unwrap_or_default();
    Ok(text.trim().parse().ok())
}
