//! Functions of torch's C part, and what they say of a pair of events.

use std::sync::Arc;

use marey::{GpuSpan, Note};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::waiting::{Pair, STATE, Seen};
use crate::callback;
use crate::devices::{Devices, StreamKey};

/// Functions of torch's C part.
#[derive(Debug)]
pub(super) struct Functions {
    pub(super) devices: Arc<Devices>,
    pub(super) new_event: Py<PyAny>,
    pub(super) record: Py<PyAny>,
    pub(super) query: Py<PyAny>,
    pub(super) elapsed: Py<PyAny>,
}

impl Functions {
    pub(super) fn event(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let keywords = PyDict::new(py);
        keywords.set_item("enable_timing", true)?;
        Ok(callback::call_with(self.new_event.bind(py), (), Some(&keywords))?.unbind())
    }

    /// Milliseconds between two events, as nanoseconds.
    pub(super) fn elapsed_ns(
        &self,
        py: Python<'_>,
        from: &Py<PyAny>,
        to: &Py<PyAny>,
    ) -> PyResult<f64> {
        let ms = callback::call(self.elapsed.bind(py), (from, to))?;
        Ok(callback::float(&ms)? * 1e6)
    }

    /// What a pair says; `None` when it is not done.
    pub(super) fn read(
        &self,
        py: Python<'_>,
        lane: &marey::Lane,
        (device, stream): StreamKey,
        pair: &Pair,
    ) -> PyResult<Option<Note>> {
        if !callback::is_true(&callback::call(self.query.bind(py), (&pair.end,))?)? {
            return Ok(None);
        }
        let done_ticks = marey::ticks();
        let gpu_ns = self.elapsed_ns(py, &pair.begin, &pair.end)?.max(0.0);
        let reference = STATE.lock().reference(py, device, pair, done_ticks);
        let elapsed_ns = match &reference {
            Some((_, event)) => self.elapsed_ns(py, event, &pair.begin)?,
            None => 0.0,
        };
        let number = reference.map_or(0, |(number, _)| number);
        let seen = Seen { elapsed_ns, gpu_ns, done_ticks, tick_ns: lane.recorder().tick_ns() };
        let placed = STATE.lock().place(py, device, number, pair, &seen);
        drop(placed.old_event);
        let delay = placed.delay;
        let span = GpuSpan {
            device,
            stream,
            delay_ns: delay.map(|(delay_ns, _)| whole(delay_ns)),
            gpu_ns: whole(gpu_ns),
            error_ns: delay.map(|(_, error_ns)| whole(error_ns)),
            ..GpuSpan::default()
        };
        Ok(Some(Note::GpuSpan(pair.section, span)))
    }
}

/// Nanoseconds without a fraction.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a cast saturates, and takes NaN for 0"
)]
fn whole(ns: f64) -> u64 {
    ns.round() as u64
}
