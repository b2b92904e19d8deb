//! `sync=True`: waits for the GPU at both ends of a section. Only on request, and shown in reports by the attribute `sync`.

use pyo3::prelude::*;

use crate::callback;
use crate::errors::drop_error;

/// `torch.cuda.synchronize()` if the program has imported torch and uses CUDA; nothing otherwise. What it raises is the program's own failed
/// kernel, which the program will meet itself; here it is dropped.
pub(crate) fn synchronize(py: Python<'_>) {
    let waited = || -> PyResult<()> {
        let Some(torch) = callback::imported(py, "torch")? else {
            return Ok(());
        };
        let cuda = callback::attribute(&torch, "cuda")?;
        if callback::is_true(&callback::method(&cuda, "is_initialized", ())?)? {
            callback::method(&cuda, "synchronize", ())?;
        }
        Ok(())
    };
    if let Err(error) = waited() {
        drop_error(py, &error);
    }
}
