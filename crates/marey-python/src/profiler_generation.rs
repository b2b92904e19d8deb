//! What a generating program reports to a `Profiler` of its own work: steps, blocks, models, frames, caches, layers.

use marey::{Allocation, Generation, LayerComputation, Note, StreamingEvent};
use pyo3::prelude::*;

use crate::attributes::text_of;
use crate::errors::warn_once;
use crate::numbers::{natural, ns_of_ms, real};
use crate::profiler::{Given, ProfilerCore, count_unrecorded};
use crate::reported::{
    Stopwatch, block_computation, cache_decision, cache_outcome, diffusion_step, duration_of,
    is_release, model_parameters, nanoseconds, natural_ticks, text,
};

#[pymethods]
impl ProfilerCore {
    /// Records a denoising step that has ended.
    ///
    /// `step` and `block_size` (latent frames) are whole numbers, `timestep` and `guidance_scale` numbers in the program's own scale,
    /// `computation_time_ms` milliseconds. What is None, NaN, below zero or a tensor on a GPU is absent.
    #[pyo3(signature = (step=None, timestep=None, block_size=None, computation_time_ms=None, guidance_scale=None))]
    fn record_diffusion_step(
        &self,
        py: Python<'_>,
        step: Given<'_, '_>,
        timestep: Given<'_, '_>,
        block_size: Given<'_, '_>,
        computation_time_ms: Given<'_, '_>,
        guidance_scale: Given<'_, '_>,
    ) -> PyResult<()> {
        if !self.records(|config| config.profile_diffusion_steps) {
            return Ok(());
        }
        let step = diffusion_step(step, timestep, block_size, computation_time_ms, guidance_scale)?;
        self.report(py, Generation::Step(step));
        Ok(())
    }

    /// Records a block of frames that has ended.
    ///
    /// `block_index` and `block_size` (latent frames) are whole numbers, `computation_time_ms` milliseconds, `memory_usage_mb` MiB. What is None,
    /// NaN, below zero or a tensor on a GPU is absent.
    #[pyo3(signature = (block_index=None, block_size=None, computation_time_ms=None, memory_usage_mb=None))]
    fn record_block_computation(
        &self,
        py: Python<'_>,
        block_index: Given<'_, '_>,
        block_size: Given<'_, '_>,
        computation_time_ms: Given<'_, '_>,
        memory_usage_mb: Given<'_, '_>,
    ) -> PyResult<()> {
        if !self.records(|config| config.profile_block_computation) {
            return Ok(());
        }
        let block =
            block_computation(block_index, block_size, computation_time_ms, memory_usage_mb)?;
        self.report(py, Generation::Block(block));
        Ok(())
    }

    /// Records which model the program uses. `parameters_count` is a whole number; `flops_per_call` is how many floating point operations one
    /// pass makes (a multiplication and an addition are two), `calls_per_step` how many passes a denoising step makes. What is None or makes
    /// no sense is absent.
    #[pyo3(signature = (model_name, parameters_count=None, model_type=None, flops_per_call=None, calls_per_step=None))]
    fn record_model_parameters(
        &self,
        py: Python<'_>,
        model_name: &Bound<'_, PyAny>,
        parameters_count: Given<'_, '_>,
        model_type: Given<'_, '_>,
        flops_per_call: Given<'_, '_>,
        calls_per_step: Given<'_, '_>,
    ) -> PyResult<()> {
        if !self.records(|config| config.profile_model_parameters) {
            return Ok(());
        }
        let model = model_parameters(
            model_name,
            parameters_count,
            model_type,
            flops_per_call,
            calls_per_step,
        )?;
        self.report(py, Generation::Model(model));
        Ok(())
    }

    /// Records frames that were delivered. `batch_size` is how many, `encoding_time_ms` and `network_latency_ms` are milliseconds,
    /// `buffer_occupancy` is in the program's own scale; what is None or makes no sense is absent.
    #[pyo3(signature = (batch_size=None, encoding_time_ms=None, network_latency_ms=None, buffer_occupancy=None))]
    fn record_streaming_event(
        &self,
        py: Python<'_>,
        batch_size: Given<'_, '_>,
        encoding_time_ms: Given<'_, '_>,
        network_latency_ms: Given<'_, '_>,
        buffer_occupancy: Given<'_, '_>,
    ) -> PyResult<()> {
        if self.config().is_none() {
            return Ok(());
        }
        let event = StreamingEvent {
            frames: natural(batch_size)?,
            encoding_ns: nanoseconds(encoding_time_ms)?,
            network_latency_ns: ns_of_ms(network_latency_ms)?,
            buffer_occupancy: real(buffer_occupancy)?,
        };
        self.report(py, Generation::Streaming(event));
        Ok(())
    }

    /// Records frames that were to be delivered and were not. A `count` that is no whole number is counted among the losses.
    #[pyo3(signature = (count=None))]
    fn record_dropped_frames(&self, py: Python<'_>, count: Given<'_, '_>) -> PyResult<()> {
        if self.config().is_none() {
            return Ok(());
        }
        let given = if count.is_some() { natural(count)? } else { Some(1) };
        match given {
            Some(0) => {}
            Some(count) => self.report(py, Generation::DroppedFrames { count }),
            None => count_unrecorded(),
        }
        Ok(())
    }

    /// Records a decision of a cache. `event_type` is `hits`, `misses` or `evictions`, or one of them: `hit`; any other is counted among the
    /// losses, and named once in the log. Sizes are bytes; what is None or makes no sense is absent.
    #[pyo3(signature = (event_type, cache_size=None, requested_size=None, evicted_size=None))]
    fn record_cache_event(
        &self,
        py: Python<'_>,
        event_type: &Bound<'_, PyAny>,
        cache_size: Given<'_, '_>,
        requested_size: Given<'_, '_>,
        evicted_size: Given<'_, '_>,
    ) -> PyResult<()> {
        if self.config().is_none() {
            return Ok(());
        }
        let Some(outcome) = cache_outcome(event_type) else {
            return self.refuse(py, event_type, "cache", "hits, misses, evictions");
        };
        let sizes = [("requested_size", requested_size), ("evicted_size", evicted_size)];
        self.note(py, &cache_decision(outcome, cache_size, sizes)?);
        Ok(())
    }

    /// Records an allocation or a release. `event_type` is `alloc` or `dealloc` (also `allocation`, `free`, `release`); any other, and a
    /// `size_bytes` that is no whole number, is counted among the losses.
    #[pyo3(signature = (event_type, size_bytes, allocator=None, context=None))]
    fn record_memory_event(
        &self,
        py: Python<'_>,
        event_type: &Bound<'_, PyAny>,
        size_bytes: &Bound<'_, PyAny>,
        allocator: Given<'_, '_>,
        context: Given<'_, '_>,
    ) -> PyResult<()> {
        if self.config().is_none() {
            return Ok(());
        }
        let Some(is_release) = is_release(event_type) else {
            return self.refuse(py, event_type, "memory", "alloc, dealloc");
        };
        let Some(bytes) = natural(Some(size_bytes))? else {
            count_unrecorded();
            return Ok(());
        };
        let allocation =
            Allocation { is_release, bytes, allocator: text(allocator), context: text(context) };
        self.report(py, Generation::Allocation(allocation));
        Ok(())
    }

    /// Begins to measure a layer; what it returns is for `end_layer_computation`.
    #[pyo3(signature = (_layer=None))]
    #[expect(clippy::unused_self, reason = "a method of Python")]
    fn start_layer_computation(&self, _layer: Given<'_, '_>) -> u64 {
        marey::ticks()
    }

    /// Records a layer and returns its time in milliseconds, by the host's clock; NaN when `start` is none or nothing is recorded.
    #[pyo3(signature = (layer, start, parameters_count=None))]
    fn end_layer_computation(
        &self,
        py: Python<'_>,
        layer: &Bound<'_, PyAny>,
        start: &Bound<'_, PyAny>,
        parameters_count: Given<'_, '_>,
    ) -> PyResult<f64> {
        let now = marey::ticks();
        if !self.is_enabled() {
            return Ok(f64::NAN);
        }
        let ticks = match start.cast::<Stopwatch>() {
            Ok(stopwatch) => stopwatch.get().ticks(),
            Err(_) => natural_ticks(start)
                .filter(|start| *start >= self.made_at)
                .and_then(|start| now.checked_sub(start)),
        };
        let computation_ns = ticks.and_then(duration_of);
        let layer = LayerComputation {
            name: text_of(layer),
            computation_ns,
            parameters: natural(parameters_count)?,
        };
        self.report(py, Generation::Layer(layer));
        Ok(computation_ns
            .map_or(f64::NAN, |ns| std::time::Duration::from_nanos(ns).as_secs_f64() * 1e3))
    }
}

impl ProfilerCore {
    /// It is enabled, and a switch of its configuration is on.
    fn records(&self, switch: impl Fn(&marey::ProfilingConfig) -> bool) -> bool {
        self.config().is_some_and(switch)
    }

    fn report(&self, py: Python<'_>, what: Generation) {
        self.note(py, &Note::Generation(what));
    }

    /// Counts what is of an unknown type, and says so once.
    fn refuse(
        &self,
        py: Python<'_>,
        given: &Bound<'_, PyAny>,
        what: &str,
        known: &str,
    ) -> PyResult<()> {
        count_unrecorded();
        let given: String = text_of(given).chars().take(40).collect();
        let text =
            format!("record_{what}_event({given:?}) was not recorded: the types are {known}");
        warn_once(py, &self.has_warned, &text)
    }
}
