//! Readings of GPUs for Marey: NVIDIA's through the driver's management library (NVML), AMD's through the kernel's files.
//!
//! Nothing is linked and nothing is needed to build: the library is looked for when a source is opened. Opening always succeeds; what a
//! machine does not give is absent, with a reason.
//!
//! ```
//! use marey::Source;
//!
//! let mut source = marey_gpu::source(&marey_gpu::GpuOptions::default());
//! let series = source.series();
//! let mut values = vec![f64::NAN; series.len()];
//! source.read(&mut values);
//! for missing in source.unavailable() {
//!     assert!(!missing.why.is_empty());
//! }
//! ```

mod amd;
mod choice;
mod device;
mod device_clock;
mod metric;
mod nvml;
mod options;
mod pace;
mod reading_allowance;
mod source;

pub use device::{DeviceDescription, Devices, Vendor};
pub use device_clock::{DeviceClock, Placed};
pub use options::GpuOptions;
pub use reading_allowance::ReadingAllowance;
pub use source::{GpuSource, sample, sample_with};

/// Opens the GPUs that the options choose. Takes as long as the driver's library does: milliseconds, seconds where no process keeps the
/// driver awake.
pub fn source(options: &GpuOptions) -> GpuSource {
    GpuSource::open(options)
}

/// Describes all GPUs of the machine, and which of them are this process's own.
pub fn devices(options: &GpuOptions) -> Devices {
    Devices::look(options)
}
