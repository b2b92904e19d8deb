//! What is known of this process now: `get_current_metrics()` as a dict, in which what is not known has no key, and lines of text.

use marey::live::{Live, LiveState, Reading};
use marey_report::live::{GpuNow, HostNow, LiveSnapshot, Watch};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Looks at this process as others see it, so that what `marey top` shows is what is said here; `None` while nothing records. Without a
/// place for shared files nobody sees sections from outside: then rates are those of reports alone.
pub(crate) fn look(watch: &mut Watch) -> Option<LiveSnapshot> {
    let recorder = marey::recorder().filter(|_| marey::is_on())?;
    // Attached for this look only: a mapping that is held would keep its memory beyond `stop()`.
    let seen = recorder.ring_folder().and_then(|folder| Live::attach(&folder));
    let look = seen.map_or_else(|| own(recorder), |mut live| live.look());
    Some(watch.take(None, look))
}

fn own(recorder: &marey::Recorder) -> LiveState {
    let at_ns = recorder.uptime_ns();
    let readings = recorder.latest_readings().into_iter();
    let reading = |(info, value, age_ns): (_, _, u64)| {
        let at_ns = at_ns.saturating_sub(age_ns);
        Reading { info, value, at_ns, age_ns }
    };
    LiveState {
        at_ns,
        status: marey::Status::Running,
        series: readings.map(reading).collect(),
        generated: recorder.generated(),
        report_times: recorder.report_times(),
        ..LiveState::default()
    }
}

/// The dict, with the ids of the open sessions and the one that is current.
pub(crate) fn as_dict<'py>(
    py: Python<'py>,
    snapshot: Option<&LiveSnapshot>,
    session: Option<&str>,
    open: &[String],
) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    let now = std::time::Duration::from_nanos(marey::unix_ns());
    dict.set_item("timestamp", now.as_secs_f64())?;
    session.map_or(Ok(()), |session| dict.set_item("session", session))?;
    dict.set_item("sessions", open)?;
    let Some(now) = snapshot else {
        return Ok(dict);
    };
    let gpus = PyDict::new(py);
    for gpu in &now.gpus {
        gpus.set_item(&gpu.id, known(PyDict::new(py), &of_gpu(gpu))?)?;
    }
    let cpu = known(PyDict::new(py), &of_host(&now.host))?;
    let groups = [("gpu", gpus), ("cpu", cpu)].into_iter();
    for (name, group) in groups.filter(|(_, group)| !group.is_empty()) {
        dict.set_item(name, group)?;
    }
    let rates = [
        ("fps", now.made.frames_per_second),
        ("blocks_per_second", now.made.blocks_per_second),
        ("steps_per_second", now.made.steps_per_second),
    ];
    let dict = known(dict, &rates)?;
    let dropped = now.look.generated.dropped_frames;
    if dropped > 0 {
        dict.set_item("dropped_frames", dropped)?;
    }
    Ok(dict)
}

type Figure = (&'static str, Option<f64>);

#[rustfmt::skip]
fn of_gpu(gpu: &GpuNow) -> [Figure; 8] {
    [
        ("memory_used_mb", gpu.memory_used_bytes.map(mebibytes)),
        ("memory_total_mb", gpu.memory_total_bytes.map(mebibytes)),
        ("memory_process_mb", gpu.memory_process_bytes.map(mebibytes)),
        ("memory_utilization_percent", gpu.memory_ratio().map(percent)),
        ("utilization_percent", gpu.utilization_ratio.map(percent)),
        ("temperature_celsius", gpu.temperature_celsius),
        ("power_watts", gpu.power_watts),
        ("graphics_clock_mhz", gpu.clock_hertz.map(|hertz| hertz / 1e6)),
    ]
}

#[rustfmt::skip]
fn of_host(host: &HostNow) -> [Figure; 6] {
    [
        ("cpu_usage_percent", host.cpu_ratio.map(percent)),
        ("process_cpu_cores", host.process_cpu_cores),
        ("memory_used_mb", host.memory_used_bytes.map(mebibytes)),
        ("memory_total_mb", host.memory_total_bytes.map(mebibytes)),
        ("memory_usage_percent", host.memory_ratio().map(percent)),
        ("process_memory_mb", host.process_memory_bytes.map(mebibytes)),
    ]
}

/// Adds the figures that are known.
fn known<'py>(dict: Bound<'py, PyDict>, figures: &[Figure]) -> PyResult<Bound<'py, PyDict>> {
    for (name, value) in figures {
        if let Some(value) = value.filter(|value| value.is_finite()) {
            dict.set_item(name, value)?;
        }
    }
    Ok(dict)
}

fn mebibytes(bytes: f64) -> f64 {
    bytes / 1_048_576.0
}

fn percent(ratio: f64) -> f64 {
    ratio * 100.0
}

/// The latest readings of the samplers, and rates.
#[pyclass(module = "marey._core")]
#[derive(Default)]
pub(crate) struct LiveMetrics {
    watch: Watch,
    now: LiveSnapshot,
}

#[pymethods]
impl LiveMetrics {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// Looks again. False when nothing is known: recording is off, or no sampler has read yet.
    fn look(&mut self) -> bool {
        self.now = look(&mut self.watch).unwrap_or_default();
        !(self.line().is_empty() && self.postfix().is_empty())
    }

    /// Lines for a console under a heading that names the session; empty when nothing is known.
    fn block(&self, session: &str) -> String {
        self.now.block(session)
    }

    /// One line for a log; empty when nothing is known.
    fn line(&self) -> String {
        self.now.line()
    }

    /// A few words for the end of a progress bar; empty when nothing is known.
    fn postfix(&self) -> String {
        self.now.postfix()
    }
}

/// The rank that this process has, as it said itself or by its environment; None outside a job of several ranks.
#[pyfunction]
pub(crate) fn rank() -> Option<u32> {
    marey::rank()
}

/// Rank, number of ranks and who said so, each None when not known.
#[pyfunction]
pub(crate) fn place() -> (Option<u32>, Option<u32>, Option<&'static str>) {
    marey::place_in_job()
}

/// Says which rank this process is, where its launcher does not. False, and nothing changes, for what cannot be.
#[pyfunction]
#[pyo3(signature = (rank, world_size, local_rank=None))]
pub(crate) fn set_rank(
    py: Python<'_>,
    rank: u32,
    world_size: u32,
    local_rank: Option<u32>,
) -> bool {
    py.detach(|| marey::set_rank(rank, world_size, local_rank))
}
