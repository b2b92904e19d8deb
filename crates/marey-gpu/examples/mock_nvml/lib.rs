//! Stands for NVIDIA's management library in tests: a shared library with the functions that Marey calls, whose answers are scripted.
//!
//! The script is the file that `MAREY_MOCK_NVML` names, else the one that lies beside the library under its name with `.script` added. It is
//! read once, with `nvmlInit_v2`. A test that wants a script of its own copies the library.
//!
//! ```text
//! nvmlSystemGetDriverVersion 550.54.15     # before the first gpu: functions of the system
//! gpu GPU-5f0c…                            # what follows is about this GPU
//! nvmlDeviceGetName NVIDIA H200
//! nvmlDeviceGetPowerUsage 120000 !15 90000 # answers of the first, the second and all later calls; !15 is an error
//! nvmlDeviceGetMemoryInfo_v2 1000/200/800  # several numbers in one answer: total, used, free
//! nvmlDeviceGetClockInfo.1 1980            # an answer for one value of the argument
//! nvmlDeviceGetPcieThroughput.0 @/tmp/go 7 # the call waits for the file, having made /tmp/go.waiting
//! lost_when /tmp/lost                      # all calls fail with GPU_IS_LOST (15) while the file is there
//! gpm.2 40.5 nan !3                        # a metric by its number
//! mig MIG-77…                              # an instance of the GPU above
//! ```
//!
//! A function that a script does not mention answers `NOT_SUPPORTED` (3). A symbol that shall be missing cannot be hidden from here; the tests
//! change its name in their copy of the library.

#![allow(unsafe_code, reason = "C functions that get places to write to")]
#![allow(non_snake_case, reason = "the names are NVIDIA's")]

mod gpm;
mod identity;
mod place;
mod readings;
mod script;
mod system;
