//! `ProfilingConfig`: what to record and report, from a file, the environment, arguments and keywords.

use std::ffi::OsString;
use std::path::PathBuf;

use marey::Value;
use marey::profiling_config::{Entry, KEYS, Layers, RawValue};
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict, PyBool, PyDict, PyFloat, PyList, PyMapping, PyString, PyTuple};

use crate::attributes::text_of;
use crate::callback;
use crate::errors::{config_error, or_absent};
use crate::session_report;

/// What `marey.cli_args` makes of the flags of a command line, and the keys that they set. `profiling_config` is the path of a file.
const ARGUMENTS: [(&str, &str); 2] =
    [("enable_profiling", "enabled"), ("profiling_output_dir", "output_dir")];

/// Mappings within one another that mean something: root, keys, tags. Mappings may contain themselves.
const ROOT_LEVELS: usize = 3;

/// The same for the value of a key.
const VALUE_LEVELS: usize = 1;

/// What to record and report. Attributes are the keys; times are seconds.
///
/// `ProfilingConfig(**keys)` is the environment with the keywords above it.
#[pyclass(frozen, eq, module = "marey")]
#[derive(PartialEq)]
pub(crate) struct ProfilingConfig(pub(crate) marey::ProfilingConfig);

/// The methods, and an attribute for each key that is a plain value.
macro_rules! methods {
    (attributes { $($type:ty: $($key:ident)+;)+ } $($methods:tt)*) => {
        #[pymethods]
        impl ProfilingConfig {
            $($methods)*

            $($(#[getter]
            fn $key(&self) -> $type {
                self.0.$key
            })+)+
        }
    };
}

methods! {
    attributes {
        bool:
            enabled real_time_display generate_final_report save_raw_data
            monitor_gpu_memory monitor_gpu_utilization monitor_gpu_temperature monitor_gpu_power
            monitor_cpu_usage monitor_system_memory
            profile_inference_steps profile_vae_decode profile_text_encoding profile_diffusion_steps
            profile_block_computation profile_model_parameters torch_ranges;
        f64: display_interval gpu_monitor_interval cpu_monitor_interval;
        usize: max_data_points;
    }

    #[new]
    #[pyo3(signature = (**keywords))]
    fn new(keywords: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        Self::layered(keywords, |layers| layers.environments_file().environment())
    }

    /// A YAML file, the environment above it, and the keywords above both.
    #[staticmethod]
    #[pyo3(signature = (path, /, **keywords))]
    #[expect(clippy::needless_pass_by_value, reason = "as arguments are converted")]
    fn from_yaml(path: PathBuf, keywords: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        Self::layered(keywords, |layers| layers.yaml(&path).environment())
    }

    /// A mapping in the place of a YAML file, with the root `profiling` or without it.
    #[staticmethod]
    #[pyo3(signature = (mapping, /, **keywords))]
    fn from_dict(
        mapping: &Bound<'_, PyAny>,
        keywords: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let mapping = raw_value(mapping, ROOT_LEVELS)?;
        Self::layered(keywords, |layers| layers.mapping(mapping).environment())
    }

    /// What `marey.cli_args` made of a command line, above the environment and the file that the command line names. Nothing, and
    /// false, is a flag that was not given.
    #[staticmethod]
    #[pyo3(signature = (arguments, /, **keywords))]
    fn from_args(
        arguments: &Bound<'_, PyAny>,
        keywords: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let file = match arguments.getattr_opt("profiling_config")? {
            Some(path) => path.extract::<Option<PathBuf>>()?,
            None => None,
        };
        let mut given = Vec::new();
        for (name, key) in ARGUMENTS {
            if let Some(value) = arguments.getattr_opt(name)? {
                let value = raw_value(&value, VALUE_LEVELS)?;
                if !matches!(value, RawValue::Null | RawValue::Bool(false)) {
                    let flag = format!("--{}", name.replace('_', "-"));
                    if key == "enabled" {
                        session_report::show();
                    }
                    given.push((flag, Entry::new(key, value)));
                }
            }
        }
        Self::layered(keywords, |layers| {
            let below = match &file {
                Some(path) => layers.yaml(path),
                None => layers.environments_file(),
            };
            let flags = given.into_iter();
            flags.fold(below.environment(), |layers, (flag, entry)| layers.keys(&flag, [entry]))
        })
    }

    /// All keys with their values, as YAML could hold them.
    fn to_dict<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(slf.py());
        for key in KEYS {
            dict.set_item(key.name, slf.getattr(key.name)?)?;
        }
        Ok(dict)
    }

    /// The keys that differ from their defaults.
    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        let mut changed = Vec::new();
        let defaults = marey::ProfilingConfig::default().settings();
        for ((key, setting), (_, default)) in slf.get().0.settings().into_iter().zip(defaults) {
            if setting != default {
                changed.push(format!("{}={}", key.name, slf.getattr(key.name)?.repr()?));
            }
        }
        Ok(format!("ProfilingConfig({})", changed.join(", ")))
    }

    /// For `copy` and `pickle`: a keyword for every key, so that nothing else is asked when it is made again.
    fn __getnewargs_ex__<'py>(
        slf: &Bound<'py, Self>,
    ) -> PyResult<(Bound<'py, PyTuple>, Bound<'py, PyDict>)> {
        Ok((PyTuple::empty(slf.py()), Self::to_dict(slf)?))
    }

    #[getter]
    fn report_format(&self) -> &'static str {
        self.0.report_format.name()
    }

    /// A path as Python writes it: text, as in a YAML file.
    #[getter]
    fn output_dir(&self) -> Option<OsString> {
        self.0.output_dir.clone().map(PathBuf::into_os_string)
    }

    #[getter]
    fn session_tags<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        for (name, value) in &self.0.session_tags {
            match value {
                Value::Bool(v) => dict.set_item(name, v)?,
                Value::Int(v) => dict.set_item(name, v)?,
                Value::Float(v) => dict.set_item(name, v)?,
                Value::Text(text) => dict.set_item(name, text)?,
                // No tag of a configuration is one of these.
                Value::Null | Value::List(_) => {}
            }
        }
        Ok(dict)
    }

    #[getter]
    fn thresholds<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.0.thresholds.clone().into_py_dict(py)
    }
}

impl ProfilingConfig {
    /// The keywords above what is below them, which is read when it can matter.
    fn layered(
        keywords: Option<&Bound<'_, PyDict>>,
        below: impl FnOnce(Layers) -> Layers,
    ) -> PyResult<Self> {
        let keywords = match keywords {
            Some(keywords) => entries(keywords.as_mapping(), VALUE_LEVELS)?,
            None => Vec::new(),
        };
        let mut layers = Layers::default();
        if keywords.len() < KEYS.len() {
            layers = below(layers);
        }
        let config = layers.keys("keyword", keywords).strict();
        config.map(Self).map_err(|error| Python::attach(|py| config_error(py, &error)))
    }
}

/// A Python value before a key says what it should be.
fn raw_value(value: &Bound<'_, PyAny>, levels: usize) -> PyResult<RawValue> {
    if value.is_none() {
        return Ok(RawValue::Null);
    }
    if let Ok(v) = value.cast::<PyBool>() {
        return Ok(RawValue::Bool(v.is_true()));
    }
    // Also a whole number of NumPy.
    if let Some(whole) = or_absent(value.py(), callback::index(value))? {
        return Ok(whole.extract().map_or_else(|_| RawValue::too_large(), RawValue::Int));
    }
    if value.is_instance_of::<PyFloat>() {
        return value.extract().map(RawValue::Float);
    }
    if let Ok(text) = value.cast::<PyString>() {
        return match text.to_str() {
            Ok(text) => Ok(RawValue::Text(text.into())),
            // What stands for bytes of a path that are not UTF-8; other lone surrogates are replaced.
            Err(_) => {
                Ok(value.extract().map_or_else(|_| RawValue::Text(text_of(value)), RawValue::Path))
            }
        };
    }
    if value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>() {
        return Ok(RawValue::Other("a list".into()));
    }
    if let Ok(path) = value.extract() {
        return Ok(RawValue::Path(path));
    }
    if let Ok(mapping) = value.cast::<PyMapping>() {
        return match levels.checked_sub(1) {
            Some(below) => entries(mapping, below).map(RawValue::Mapping),
            None => Ok(RawValue::Other("a mapping".into())),
        };
    }
    let kind = value.get_type().name()?;
    Ok(RawValue::Other(format!("an object of type {kind}")))
}

fn entries(mapping: &Bound<'_, PyMapping>, levels: usize) -> PyResult<Vec<Entry>> {
    let mut entries = Vec::new();
    for item in mapping.items()?.iter() {
        let (name, value) = item.extract::<(Bound<'_, PyAny>, Bound<'_, PyAny>)>()?;
        entries.push(Entry::new(text_of(&name), raw_value(&value, levels)?));
    }
    Ok(entries)
}
