//! What is reported to a `DiffusionAnalyzer`: kept in memory, and answered by the same questions as a recording.

use marey::{Generation, GenerationRecord, Run, Status, Thread};
use marey_report::{Report, profiling_report};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::kept::Kept;
use crate::profiler::Given;
use crate::reported::{block_computation, diffusion_step, model_parameters};

/// Reports kept by one analyzer; later ones are counted.
const MAX_RECORDS: usize = 1 << 17;

/// Steps, blocks and models of one analyzer.
#[pyclass(frozen, subclass, module = "marey._core")]
pub(crate) struct DiffusionLog {
    told: Kept<Told>,
}

struct Told {
    start_ns: u64,
    start_unix_ns: u64,
    records: Vec<GenerationRecord>,
    n_left_out: u64,
}

#[pymethods]
impl DiffusionLog {
    #[new]
    fn new() -> Self {
        Self { told: Kept::new(Told::new()) }
    }

    /// Takes a denoising step that has ended. Arguments are those of `Profiler.record_diffusion_step`.
    #[pyo3(signature = (step=None, timestep=None, block_size=None, computation_time_ms=None, guidance_scale=None))]
    fn record_step(
        &self,
        step: Given<'_, '_>,
        timestep: Given<'_, '_>,
        block_size: Given<'_, '_>,
        computation_time_ms: Given<'_, '_>,
        guidance_scale: Given<'_, '_>,
    ) -> PyResult<()> {
        let step = diffusion_step(step, timestep, block_size, computation_time_ms, guidance_scale)?;
        self.told.lock().keep(Generation::Step(step));
        Ok(())
    }

    /// Takes a block of frames that has ended. Arguments are those of `Profiler.record_block_computation`.
    #[pyo3(signature = (block_index=None, block_size=None, computation_time_ms=None, memory_usage_mb=None))]
    fn record_block(
        &self,
        block_index: Given<'_, '_>,
        block_size: Given<'_, '_>,
        computation_time_ms: Given<'_, '_>,
        memory_usage_mb: Given<'_, '_>,
    ) -> PyResult<()> {
        let block =
            block_computation(block_index, block_size, computation_time_ms, memory_usage_mb)?;
        self.told.lock().keep(Generation::Block(block));
        Ok(())
    }

    /// Takes a model. Arguments are those of `Profiler.record_model_parameters`.
    #[pyo3(signature = (model_name, parameters_count=None, model_type=None, flops_per_call=None, calls_per_step=None))]
    fn record_model(
        &self,
        model_name: &Bound<'_, PyAny>,
        parameters_count: Given<'_, '_>,
        model_type: Given<'_, '_>,
        flops_per_call: Given<'_, '_>,
        calls_per_step: Given<'_, '_>,
    ) -> PyResult<()> {
        let model = model_parameters(
            model_name,
            parameters_count,
            model_type,
            flops_per_call,
            calls_per_step,
        )?;
        self.told.lock().keep(Generation::Model(model));
        Ok(())
    }

    /// Forgets everything, and begins anew.
    fn clear(&self) {
        self.told.replace(Told::new());
    }

    /// Reports that were not kept because there were too many; no figure holds them.
    #[getter]
    fn left_out(&self) -> u64 {
        self.told.lock().n_left_out
    }

    /// The profiling report of what was taken so far, as JSON.
    fn report<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let run = self.told.lock().run();
        let bytes = py.detach(|| profiling_report(&Report::new(&run)));
        PyBytes::new(py, &bytes)
    }
}

impl Told {
    fn new() -> Self {
        Self {
            start_ns: marey::monotonic_ns(),
            start_unix_ns: marey::unix_ns(),
            records: Vec::new(),
            n_left_out: 0,
        }
    }

    fn now_ns(&self) -> u64 {
        marey::monotonic_ns().saturating_sub(self.start_ns)
    }

    fn keep(&mut self, what: Generation) {
        if self.records.len() >= MAX_RECORDS {
            self.n_left_out += 1;
            return;
        }
        let at_ns = self.now_ns();
        self.records.push(GenerationRecord { at_ns, thread: 0, flow: 0, session: None, what });
    }

    /// Everything as if one thread had recorded it.
    fn run(&self) -> Run {
        let mut run = Run {
            wall_ns: self.now_ns(),
            status: Status::Running,
            threads: vec![Thread::default()],
            ..Run::default()
        };
        run.info.start_unix_ns = self.start_unix_ns;
        run.info.pid = std::process::id();
        run.losses.notes_dropped = self.n_left_out;
        run.generation.clone_from(&self.records);
        run
    }
}
