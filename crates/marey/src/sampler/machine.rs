//! Which samplers a configuration asks for.

use std::time::Duration;

use super::{HostOptions, HostSource, SamplerOptions};
use crate::profiling_config::ProfilingConfig;
use crate::recorder::Recorder;

impl Recorder {
    /// Samples the host and the process that the recording is about, as a configuration says, in place of the host sampler that is at
    /// work, if one is. False when it says that nothing is to be sampled, or no thread is to be had.
    pub fn sample_host(&'static self, config: &ProfilingConfig) -> bool {
        let host = HostOptions {
            pid: self.outside_pid(),
            cpu: config.monitor_cpu_usage,
            memory: config.monitor_system_memory,
            files: self.config().watched_files.clone(),
            ..HostOptions::default()
        };
        let switches = [host.cpu, host.memory];
        let options = SamplerOptions {
            has_own_descriptors: true,
            ..SamplerOptions::of("host", config.cpu_monitor_interval, config, &switches)
        };
        if options.switches == 0 {
            self.finish_sampler(options.name);
            return false;
        }
        self.replace_sampler(options, move || Box::new(HostSource::new(&host)))
    }
}

impl SamplerOptions {
    /// A sampler that reads every so many seconds and keeps as many points as a configuration says, with these switches of its source.
    pub fn of(
        name: &'static str,
        interval_s: f64,
        config: &ProfilingConfig,
        switches: &[bool],
    ) -> Self {
        Self {
            name,
            interval: Duration::try_from_secs_f64(interval_s).unwrap_or(Duration::from_secs(1)),
            max_points: config.max_data_points.try_into().unwrap_or(u64::MAX),
            switches: switches.iter().fold(0, |bits, on| bits << 1 | u32::from(*on)),
            has_own_descriptors: false,
        }
    }
}
