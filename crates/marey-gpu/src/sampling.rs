//! Which readings of GPUs a configuration asks for.

use marey::{ProfilingConfig, Recorder, SamplerOptions};

use crate::{GpuOptions, GpuSource};

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
    if options.switches == 0 {
        recorder.finish_sampler(options.name);
        return false;
    }
    recorder.replace_sampler(options, move || Box::new(GpuSource::open(&wanted)))
}
