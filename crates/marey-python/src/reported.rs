//! What a program reports of its own work, from Python's values.

use marey::{
    Attributes, BlockComputation, CacheEvent, CacheOutcome, DiffusionStep, ModelParameters, Note,
    Value,
};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::attributes::text_of;
use crate::kept::Kept;
use crate::numbers::{bytes_of_mib, natural, ns_of_ms, real};

/// An argument of Python that may be left out.
type Given<'a, 'py> = Option<&'a Bound<'py, PyAny>>;

/// A denoising step, as `record_diffusion_step` gets it.
pub(crate) fn diffusion_step(
    step: Given<'_, '_>,
    timestep: Given<'_, '_>,
    block_size: Given<'_, '_>,
    computation_time_ms: Given<'_, '_>,
    guidance_scale: Given<'_, '_>,
) -> PyResult<DiffusionStep> {
    Ok(DiffusionStep {
        step: natural(step)?,
        timestep: real(timestep)?,
        block_size: natural(block_size)?,
        computation_ns: nanoseconds(computation_time_ms)?,
        guidance_scale: real(guidance_scale)?,
    })
}

/// A block of frames, as `record_block_computation` gets it.
pub(crate) fn block_computation(
    block_index: Given<'_, '_>,
    block_size: Given<'_, '_>,
    computation_time_ms: Given<'_, '_>,
    memory_usage_mb: Given<'_, '_>,
) -> PyResult<BlockComputation> {
    Ok(BlockComputation {
        index: natural(block_index)?,
        size: natural(block_size)?,
        computation_ns: nanoseconds(computation_time_ms)?,
        memory_bytes: bytes_of_mib(memory_usage_mb)?,
    })
}

/// A model, as `record_model_parameters` gets it.
pub(crate) fn model_parameters(
    model_name: &Bound<'_, PyAny>,
    parameters_count: Given<'_, '_>,
    model_type: Given<'_, '_>,
    flops_per_call: Given<'_, '_>,
    calls_per_step: Given<'_, '_>,
) -> PyResult<ModelParameters> {
    let amount = |number: Option<f64>| number.filter(|n| *n >= 0.0);
    Ok(ModelParameters {
        name: text_of(model_name),
        count: natural(parameters_count)?,
        kind: text(model_type),
        flops_per_call: amount(real(flops_per_call)?),
        calls_per_step: amount(real(calls_per_step)?),
    })
}

/// What a cache did, by the documented names and their singulars.
pub(crate) fn cache_outcome(event_type: &Bound<'_, PyAny>) -> Option<CacheOutcome> {
    match text_of(event_type).to_lowercase().as_str() {
        "hit" | "hits" => Some(CacheOutcome::Hit),
        "miss" | "misses" => Some(CacheOutcome::Miss),
        "eviction" | "evictions" => Some(CacheOutcome::Eviction),
        _ => None,
    }
}

/// A decision of a cache that has no name.
pub(crate) fn cache_decision(
    outcome: CacheOutcome,
    held_bytes: Option<&Bound<'_, PyAny>>,
    sizes: [(&str, Option<&Bound<'_, PyAny>>); 2],
) -> PyResult<Note> {
    let mut attributes = Attributes::new();
    for (name, bytes) in sizes {
        if let Some(bytes) = natural(bytes)? {
            attributes.push((name.into(), Value::from(bytes)));
        }
    }
    Ok(Note::Cache(CacheEvent {
        cache: "cache".into(),
        outcome,
        held_bytes: natural(held_bytes)?,
        attributes,
        ..CacheEvent::default()
    }))
}

/// Whether a memory event is a release or an allocation; `None` when it is neither.
pub(crate) fn is_release(event_type: &Bound<'_, PyAny>) -> Option<bool> {
    match text_of(event_type).to_lowercase().as_str() {
        "alloc" | "allocation" | "allocate" => Some(false),
        "dealloc" | "deallocation" | "deallocate" | "free" | "release" => Some(true),
        _ => None,
    }
}

/// Ticks, if it is a whole number.
pub(crate) fn natural_ticks(start: &Bound<'_, PyAny>) -> Option<u64> {
    start.extract().ok()
}

/// A text, if one is given.
pub(crate) fn text(given: Option<&Bound<'_, PyAny>>) -> Option<String> {
    given.filter(|value| !value.is_none()).map(text_of)
}

/// A time that a program gives in milliseconds, or a stopwatch measured.
pub(crate) fn nanoseconds(given: Option<&Bound<'_, PyAny>>) -> PyResult<Option<u64>> {
    match given.and_then(|given| given.cast::<Stopwatch>().ok()) {
        Some(stopwatch) => Ok(stopwatch.get().ticks().and_then(duration_of)),
        None => ns_of_ms(given),
    }
}

/// Ticks as nanoseconds; `None` without a recorder.
pub(crate) fn duration_of(ticks: u64) -> Option<u64> {
    marey::recorder().map(|recorder| recorder.duration_ns(ticks))
}

/// A time that is measured in pieces, by the host's clock. Runs while a `with` block does; several blocks add up. It is handed to whoever records the time.
#[pyclass(frozen, module = "marey._core")]
#[derive(Default)]
pub(crate) struct Stopwatch {
    time: Kept<Time>,
}

/// In ticks.
#[derive(Default)]
struct Time {
    started: Option<u64>,
    elapsed: Option<u64>,
}

#[pymethods]
impl Stopwatch {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    fn __enter__(&self) {
        self.time.lock().started = Some(marey::ticks());
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(&self, _exception: &Bound<'_, PyTuple>) {
        let now = marey::ticks();
        let mut time = self.time.lock();
        if let Some(started) = time.started.take() {
            *time.elapsed.get_or_insert(0) += now.saturating_sub(started);
        }
    }
}

impl Stopwatch {
    /// What it measured, in ticks; `None` when it never ran.
    pub(crate) fn ticks(&self) -> Option<u64> {
        self.time.lock().elapsed
    }
}
