//! The extension module `marey._core`: what Python calls. It converts and hands on; what is measured, stored and shown is in the
//! other crates.

mod aggregation;
#[cfg(target_env = "gnu")]
mod allocator;
mod arrow_table;
mod attributes;
mod cache_log;
mod callback;
mod command_line;
mod context;
mod current_metrics;
mod device_watch;
mod devices;
mod diffusion_analyzer;
mod errors;
mod fast_section;
mod flow;
mod fork;
mod gpu_times;
mod guarded;
mod handed_on;
mod iteration_log;
mod kept;
mod known_names;
mod memory_log;
mod names;
mod numbers;
mod once_object;
mod open_section;
mod own_calls;
mod paused_section;
mod plain_section;
mod profile_section;
mod profiled_function;
mod profiler;
mod profiler_generation;
mod profiler_sessions;
mod profiling_config;
mod recording;
mod records;
mod report;
mod reported;
mod section_kinds;
mod section_memory;
mod section_mode;
mod section_pool;
mod section_ranges;
mod session_context;
mod session_report;
mod session_scope;
mod slots;
mod state;
mod sync;
mod thread;
mod timing_stats;
mod under_gil;
mod window_log;
mod window_request;
mod work_place;

use pyo3::prelude::*;

/// The Rust side of marey; use the names of the package `marey` instead.
#[pymodule(gil_used = true)]
#[pyo3(name = "_core")]
mod core_module {
    use super::{Bound, PyAnyMethods, PyModule, PyModuleMethods, PyResult, Python};

    #[pymodule_export]
    use super::aggregation::{aggregate, aggregation_inputs, merge_summaries, summarise};
    #[pymodule_export]
    use super::arrow_table::{ArrowTable, Run, load};
    #[pymodule_export]
    use super::cache_log::CacheLog;
    #[pymodule_export]
    use super::command_line::run_command_line;
    #[pymodule_export]
    use super::current_metrics::{LiveMetrics, place, rank, set_rank};
    #[pymodule_export]
    use super::device_watch::{forget_device_watch, read_gpu_times};
    #[pymodule_export]
    use super::devices::captures::note_capture;
    #[pymodule_export]
    use super::devices::watch_devices;
    #[pymodule_export]
    use super::diffusion_analyzer::DiffusionLog;
    #[pymodule_export]
    use super::errors::{CaptureError, MareyError};
    #[pymodule_export]
    use super::fork::{after_fork, before_fork};
    #[pymodule_export]
    use super::gpu_times::start_gpu_times;
    #[pymodule_export]
    use super::handed_on::{Task, begin_task, sessions, work_for_sessions};
    #[pymodule_export]
    use super::iteration_log::IterationLog;
    #[pymodule_export]
    use super::memory_log::MemoryLog;
    #[pymodule_export]
    use super::paused_section::PausedSection;
    #[pymodule_export]
    use super::profiler::{ProfilerCore, process_profiler, profiler_of};
    #[pymodule_export]
    use super::profiling_config::ProfilingConfig;
    #[pymodule_export]
    use super::recording::{
        autostart, capture_path, counter, event, file_mode, job_of_process, join_job, losses,
        start, stop, tell_schedule, use_fast_sections, wrap_function,
    };
    #[pymodule_export]
    use super::records::records;
    #[pymodule_export]
    use super::report::export_report;
    #[pymodule_export]
    use super::reported::Stopwatch;
    #[pymodule_export]
    use super::section_memory::start_section_memory;
    #[pymodule_export]
    use super::section_ranges::set_section_ranges;
    #[pymodule_export]
    use super::session_scope::{PausedSession, SessionScope};
    #[pymodule_export]
    use super::timing_stats::TimingStats;
    #[pymodule_export]
    use super::window_log::{WindowLog, resident_bytes};
    #[pymodule_export]
    use super::window_request::{is_window_asked_for, take_window_request, wake_main_thread};
    #[pymodule_export]
    use super::work_place::WorkPlace;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        let py: Python<'_> = module.py();
        module.add("profile_section", super::profile_section::builtin(py)?)?;
        module.add("ConfigError", super::errors::config_error_type(py)?)?;
        module.add("__version__", env!("CARGO_PKG_VERSION"))?;
        super::recording::choose_section_objects(py);
        marey::offer_windows(super::window_request::wake_main_thread);
        // The stub says what there is, and need not say it twice.
        module.delattr("__all__")
    }
}
