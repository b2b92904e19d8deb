//! `get_current_metrics()`: what is known now, as a dict. What is not known has no key.

use marey::live::Live;
use marey_report::{GpuNow, Look, Metrics, Watch};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFloat};

/// Looks at this process as others see it, so that what `marey top` shows is what is said here. Without a place for shared files
/// nobody sees sections from outside: then rates are those of reports alone.
pub(crate) fn look(watch: &mut Watch) -> Metrics {
    let Some(recorder) = marey::recorder().filter(|_| marey::is_on()) else {
        return Metrics::default();
    };
    // Attached for this look only: a mapping that is held would keep its memory beyond `stop()`.
    let seen = recorder
        .ring_folder()
        .and_then(|folder| Live::attach(&folder));
    watch.look(match seen {
        Some(mut live) => Look::from(&live.look()),
        None => Look {
            at_ns: recorder.uptime_ns(),
            readings: recorder.latest_readings(),
            generated: recorder.generated(),
            report_times: recorder.report_times(),
            ..Look::default()
        },
    })
}

/// The dict, with the ids of the open sessions and the one that is current.
pub(crate) fn as_dict<'py>(
    py: Python<'py>,
    metrics: &Metrics,
    session: Option<&str>,
    open: &[String],
) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    let now = std::time::Duration::from_nanos(marey::unix_ns());
    dict.set_item("timestamp", now.as_secs_f64())?;
    if let Some(session) = session {
        dict.set_item("session", session)?;
    }
    dict.set_item("sessions", open)?;
    let gpus = PyDict::new(py);
    for gpu in &metrics.gpus {
        gpus.set_item(&gpu.id, gpu_dict(py, gpu)?)?;
    }
    put_group(&dict, "gpu", gpus)?;
    put_group(&dict, "cpu", cpu_dict(py, metrics)?)?;
    put(
        &dict,
        &[
            ("fps", metrics.frames_per_second),
            ("blocks_per_second", metrics.blocks_per_second),
            ("steps_per_second", metrics.steps_per_second),
        ],
    )?;
    if let Some(dropped) = metrics.dropped_frames {
        dict.set_item("dropped_frames", dropped)?;
    }
    Ok(dict)
}

fn gpu_dict<'py>(py: Python<'py>, gpu: &GpuNow) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    put(
        &dict,
        &[
            ("memory_used_mb", gpu.memory_used_bytes.map(mebibytes)),
            ("memory_total_mb", gpu.memory_total_bytes.map(mebibytes)),
            ("memory_process_mb", gpu.memory_process_bytes.map(mebibytes)),
            (
                "memory_utilization_percent",
                gpu.memory_ratio().map(percent),
            ),
            ("utilization_percent", gpu.utilization_ratio.map(percent)),
            ("temperature_celsius", gpu.temperature_celsius),
            ("power_watts", gpu.power_watts),
            (
                "graphics_clock_mhz",
                gpu.clock_hertz.map(|hertz| hertz / 1e6),
            ),
        ],
    )?;
    Ok(dict)
}

fn cpu_dict<'py>(py: Python<'py>, metrics: &Metrics) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    put(
        &dict,
        &[
            ("cpu_usage_percent", metrics.cpu_ratio.map(percent)),
            ("process_cpu_cores", metrics.process_cpu_cores),
            ("memory_used_mb", metrics.memory_used_bytes.map(mebibytes)),
            ("memory_total_mb", metrics.memory_total_bytes.map(mebibytes)),
            ("memory_usage_percent", metrics.memory_ratio().map(percent)),
            (
                "process_memory_mb",
                metrics.process_memory_bytes.map(mebibytes),
            ),
        ],
    )?;
    Ok(dict)
}

fn put(dict: &Bound<'_, PyDict>, values: &[(&str, Option<f64>)]) -> PyResult<()> {
    for (name, value) in values {
        if let Some(value) = value.filter(|value| value.is_finite()) {
            dict.set_item(name, PyFloat::new(dict.py(), value))?;
        }
    }
    Ok(())
}

fn put_group(dict: &Bound<'_, PyDict>, name: &str, group: Bound<'_, PyDict>) -> PyResult<()> {
    if group.is_empty() {
        return Ok(());
    }
    dict.set_item(name, group)
}

fn mebibytes(bytes: f64) -> f64 {
    bytes / 1_048_576.0
}

fn percent(ratio: f64) -> f64 {
    ratio * 100.0
}
