//! The GPUs of a machine as a source of readings, and which of those a configuration asks for.

use marey::{ProfilingConfig, Recorder, SamplerOptions, SeriesInfo, Source, Unavailable};

use crate::device::{Device, Found};
use crate::{GpuOptions, amd, nvml};

/// The GPUs that were chosen, NVIDIA's first. Without any it has no series, and [`Source::unavailable`] says why.
pub struct GpuSource {
    devices: Vec<Reader>,
    facts: Vec<(String, String)>,
    unavailable: Vec<Unavailable>,
}

/// A GPU, and how many values are its.
struct Reader {
    device: Box<dyn Device>,
    n_series: usize,
}

impl GpuSource {
    pub(crate) fn open(options: &GpuOptions) -> Self {
        let found = find(options);
        let reader = |device: Box<dyn Device>| Reader { n_series: device.series().len(), device };
        let devices: Vec<Reader> = found.devices.into_iter().map(reader).collect();
        let mut facts = found.facts;
        for (place, reader) in devices.iter().enumerate() {
            facts.extend(reader.device.description().facts(place));
        }
        Self { devices, facts, unavailable: found.unavailable }
    }

    /// Whether there is anything to read.
    pub fn is_empty(&self) -> bool {
        self.devices.iter().all(|reader| reader.n_series == 0)
    }
}

/// What both vendors' parts find. One of them is enough: that the other one's driver is missing is not worth a word then.
pub(crate) fn find(options: &GpuOptions) -> Found {
    let (mut found, amd) = (nvml::find(options), amd::find(options));
    if found.devices.is_empty() && !amd.devices.is_empty() && found.facts.is_empty() {
        return amd;
    }
    found.devices.extend(amd.devices);
    found.facts.extend(amd.facts);
    found.unavailable.extend(amd.unavailable);
    found
}

impl Source for GpuSource {
    fn series(&self) -> Vec<SeriesInfo> {
        let series = self.devices.iter().map(|reader| reader.device.series());
        series.flatten().collect()
    }

    fn read(&mut self, values: &mut [f64]) {
        let mut rest = values;
        for reader in &mut self.devices {
            let Some((own, others)) = rest.split_at_mut_checked(reader.n_series) else {
                return;
            };
            reader.device.read(own);
            rest = others;
        }
    }

    /// Asked again later, it also names what was given up since.
    fn unavailable(&self) -> Vec<Unavailable> {
        let of_devices = self.devices.iter().map(|reader| reader.device.unavailable());
        let mut all = self.unavailable.clone();
        all.extend(of_devices.flatten());
        all
    }

    fn facts(&self) -> Vec<(String, String)> {
        self.facts.clone()
    }
}

/// Samples this process's GPUs as a configuration says, in place of the GPU sampler that is at work, if one is. The library is looked for
/// on the sampler's own thread, so this returns at once. False when the configuration asks for nothing, or no thread is to be had; a machine
/// without GPUs is named in the capture.
pub fn sample(recorder: &'static Recorder, config: &ProfilingConfig) -> bool {
    sample_with(recorder, config, GpuOptions::default())
}

/// As [`sample`], of other GPUs or for another process; what is read is the configuration's business.
pub fn sample_with(
    recorder: &'static Recorder,
    config: &ProfilingConfig,
    options: GpuOptions,
) -> bool {
    let wanted = GpuOptions {
        memory: config.monitor_gpu_memory,
        utilization: config.monitor_gpu_utilization,
        temperature: config.monitor_gpu_temperature,
        power: config.monitor_gpu_power,
        ..options
    };
    let switches = [wanted.memory, wanted.utilization, wanted.temperature, wanted.power];
    let options = SamplerOptions::of("gpu", config.gpu_monitor_interval, config, &switches);
    recorder.replace_sampler(options, move || Box::new(GpuSource::open(&wanted)))
}
