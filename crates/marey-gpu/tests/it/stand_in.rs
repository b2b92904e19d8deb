//! A copy of the stand-in for NVIDIA's library, with a script of its own.

use std::path::{Path, PathBuf};

use marey::Source;
use marey_gpu::{GpuOptions, GpuSource};

/// A folder with the library, its script, and what a test needs beside.
pub(crate) struct StandIn {
    folder: tempfile::TempDir,
}

/// A GPU with everything but GPM.
pub(crate) const FULL: &str = "
nvmlDeviceGetName NVIDIA H200
nvmlDeviceGetPciInfo_v3 0/1/0
nvmlDeviceGetCudaComputeCapability 9/0
nvmlDeviceGetMemoryInfo_v2 141000/1000/139000
nvmlDeviceGetComputeRunningProcesses_v3 -
nvmlDeviceGetGraphicsRunningProcesses_v3 -
nvmlDeviceGetUtilizationRates 50/20
nvmlDeviceGetTemperature 41
nvmlDeviceGetPowerUsage 120500
nvmlDeviceGetEnforcedPowerLimit 700000
nvmlDeviceGetTotalEnergyConsumption 5000
nvmlDeviceGetClockInfo.1 1980
nvmlDeviceGetClockInfo.2 3201
nvmlDeviceGetCurrentClocksThrottleReasons 4
nvmlDeviceGetPcieThroughput.0 12
nvmlDeviceGetPcieThroughput.1 34
nvmlDeviceGetTotalEccErrors.0 3
nvmlDeviceGetTotalEccErrors.1 0
";

impl StandIn {
    pub(crate) fn new(script: &str) -> Self {
        Self::without(&[], script)
    }

    /// One whose library lacks some symbols.
    pub(crate) fn without(symbols: &[&str], script: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut library = std::fs::read(built()).expect("examples are built");
        for symbol in symbols {
            hide(&mut library, symbol);
        }
        let stand_in = Self { folder };
        std::fs::write(stand_in.library(), library).unwrap();
        std::fs::write(stand_in.script(), script).unwrap();
        stand_in
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn library(&self) -> PathBuf {
        self.path("libnvidia-ml.so.1")
    }

    /// Read with the first call to the library.
    pub(crate) fn script(&self) -> PathBuf {
        self.path("libnvidia-ml.so.1.script")
    }

    /// Everything of all GPUs that are visible, whatever the environment of the test says. The root of files is the folder, so it has none.
    pub(crate) fn options(&self) -> GpuOptions {
        GpuOptions { library: Some(self.library()), ..options(self.folder.path()) }
    }
}

/// Options that depend on no environment.
pub(crate) fn options(root: &Path) -> GpuOptions {
    GpuOptions {
        sys_root: root.to_owned(),
        visible_devices: None,
        pci_bus_order: true,
        rocr_visible_devices: None,
        hip_visible_devices: None,
        local_rank: None,
        local_world_size: None,
        ..GpuOptions::default()
    }
}

/// `cargo test` builds examples beside the test binaries.
fn built() -> PathBuf {
    let test = std::env::current_exe().expect("a running test");
    let profile = test.ancestors().nth(2).expect("target/<profile>/deps/<test>");
    profile.join("examples/libmock_nvml.so")
}

/// Gives a symbol another name of the same length wherever the name stands, so that looking it up fails.
fn hide(library: &mut [u8], symbol: &str) {
    let name = [symbol.as_bytes(), b"\0"].concat();
    let places: Vec<usize> = library
        .windows(name.len())
        .enumerate()
        .filter_map(|(place, bytes)| (bytes == name).then_some(place))
        .collect();
    assert!(!places.is_empty(), "no {symbol} in the stand-in");
    for place in places {
        library[place] = b'X';
    }
}

/// Series by name, `gpu.power GPU-1`, with their values after another round.
pub(crate) fn read(source: &mut GpuSource) -> Vec<(String, f64)> {
    let series = source.series();
    let mut values = vec![f64::NAN; series.len()];
    source.read(&mut values);
    let names = series.iter().map(|info| format!("{} {}", info.name, info.subject));
    names.zip(values).collect()
}

/// The value of a series after another round.
pub(crate) fn value(source: &mut GpuSource, name: &str) -> f64 {
    let read = read(source);
    let found = read.iter().find(|(known, _)| known == name);
    found.unwrap_or_else(|| panic!("{name} is not among {read:?}")).1
}

pub(crate) fn names(source: &GpuSource) -> Vec<String> {
    source.series().into_iter().map(|series| series.name).collect()
}

/// The subjects, each once, in the order of the series.
pub(crate) fn subjects(source: &GpuSource) -> Vec<String> {
    let mut subjects: Vec<String> =
        source.series().into_iter().map(|series| series.subject).collect();
    subjects.dedup();
    subjects
}

/// Why something is not there; empty if nothing says so.
pub(crate) fn why(source: &GpuSource, what: &str) -> String {
    let all = source.unavailable();
    let of_it = all.into_iter().filter(|missing| missing.what == what);
    of_it.map(|missing| missing.why).collect::<Vec<_>>().join("; ")
}
