//! One AMD GPU that is read. Its files are opened for each reading, where the program cannot close them.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use marey::{SeriesInfo, Unavailable};

use super::card::{Card, line};
use crate::GpuOptions;
use crate::device::{Device, Identity, OWN_MEMORY, SHARES_MEMORY, Vendor};
use crate::metric::{
    CLOCK_MEMORY, CLOCK_SM, MEMORY_BORROWABLE, MEMORY_BORROWED, MEMORY_CONTROLLER, MEMORY_TOTAL,
    MEMORY_USED, Metric, POWER, POWER_LIMIT, TEMPERATURE, UTILIZATION, reading,
};
use crate::options::Group;

/// One GPU.
pub(super) struct AmdReader {
    identity: Identity,
    files: Vec<Reading>,
    unavailable: Vec<Unavailable>,
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
    group: Group,
    metric: Metric,
    /// Names of files; the first that can be read is taken. A sensor can be named by its label: `temp:edge`.
    files: &'static [&'static str],
    /// Whether they lie in the folder of sensors.
    is_sensor: bool,
    scale: f64,
}

const fn file(group: Group, metric: Metric, files: &'static [&'static str], scale: f64) -> Place {
    Place { group, metric, files, is_sensor: false, scale }
}

const fn sensor(group: Group, metric: Metric, files: &'static [&'static str], scale: f64) -> Place {
    Place { group, metric, files, is_sensor: true, scale }
}

const PERCENT: f64 = 1e-2;
const MILLI: f64 = 1e-3;
const MICRO: f64 = 1e-6;

static PLACES: [Place; 9] = [
    file(Group::Memory, MEMORY_USED, &["mem_info_vram_used"], 1.0),
    file(Group::Memory, MEMORY_TOTAL, &["mem_info_vram_total"], 1.0),
    file(Group::Utilization, UTILIZATION, &["gpu_busy_percent"], PERCENT),
    file(Group::Utilization, MEMORY_CONTROLLER, &["mem_busy_percent"], PERCENT),
    // The edge of the chip; accelerators have the hottest spot only.
    sensor(Group::Temperature, TEMPERATURE, &["temp:edge", "temp:junction", "temp1_input"], MILLI),
    sensor(Group::Power, POWER, &["power1_average", "power1_input"], MICRO),
    sensor(Group::Power, POWER_LIMIT, &["power1_cap"], MICRO),
    sensor(Group::Utilization, CLOCK_SM, &["freq:sclk", "freq1_input"], 1.0),
    sensor(Group::Utilization, CLOCK_MEMORY, &["freq:mclk", "freq2_input"], 1.0),
];

/// Memory of the machine that a GPU borrows (GTT): one on a chip with the processors always, a card when its own is full.
static BORROWED: [Place; 2] = [
    file(Group::Memory, MEMORY_BORROWED, &["mem_info_gtt_used"], 1.0),
    file(Group::Memory, MEMORY_BORROWABLE, &["mem_info_gtt_total"], 1.0),
];

impl AmdReader {
    pub(super) fn open(card: &Card, index: usize, options: &GpuOptions) -> Self {
        let number = |name: &str| number(&card.folder.join(name)).ok()?;
        let model = line(&card.folder.join("product_name"));
        let id = line(&card.folder.join("device"));
        let has = |name: &str| card.folder.join(name).exists();
        let borrows = has("mem_info_gtt_used");
        // Files that the driver has for cards only, though not all of them for each.
        let is_card = has("mem_busy_percent") || has("pcie_bw");
        let mut reader = Self {
            identity: Identity {
                vendor: Vendor::Amd,
                index,
                subject: card.subject(),
                name: model.or(id.map(|id| format!("AMD GPU {id}"))),
                memory_bytes: number("mem_info_vram_total"),
                shares_memory: borrows && !is_card,
                pci: card.pci.clone(),
                mig: None,
                capability: None,
            },
            files: Vec::new(),
            unavailable: Vec::new(),
        };
        let borrowed = BORROWED.iter().filter(|_| borrows);
        for place in PLACES.iter().chain(borrowed).filter(|place| options.wants(place.group)) {
            reader.open_place(card, place);
        }
        if reader.identity.shares_memory && options.memory {
            reader.is_without(OWN_MEMORY, SHARES_MEMORY);
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
        self.is_without(place.metric.name, why);
    }

    fn is_without(&mut self, what: &str, why: impl Into<String>) {
        let what = format!("{what} {}", self.identity.subject);
        self.unavailable.push(Unavailable { what, why: why.into() });
    }
}

impl Device for AmdReader {
    fn identity(&self) -> &Identity {
        &self.identity
    }

    fn series(&self) -> Vec<SeriesInfo> {
        let files = self.files.iter();
        files.map(|reading| reading.metric.of(&self.identity.subject)).collect()
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

    fn unavailable(&self) -> Vec<Unavailable> {
        self.unavailable.clone()
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
