//! `ProfilingConfig`: what to record and report, from a file, the environment, arguments and keywords.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use marey::Value;
use marey::profiling_config::{
    CheckedLayer, ConfigError, Entry, FILE_ARGUMENT, KEYS, Layer, Layers, RawValue, Setting,
};
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::{
    IntoPyDict, PyBool, PyDict, PyFloat, PyInt, PyList, PyMapping, PyString, PyTuple,
};

use crate::attributes::text_of;
use crate::errors::config_error;

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
    (attributes { $($key:ident: $type:ty,)+ } $($methods:tt)*) => {
        #[pymethods]
        impl ProfilingConfig {
            $($methods)*

            $(#[getter]
            fn $key(&self) -> $type {
                self.0.$key
            })+
        }
    };
}

methods! {
    attributes {
        enabled: bool,
        real_time_display: bool,
        display_interval: f64,
        gpu_monitor_interval: f64,
        monitor_gpu_memory: bool,
        monitor_gpu_utilization: bool,
        monitor_gpu_temperature: bool,
        monitor_gpu_power: bool,
        cpu_monitor_interval: f64,
        monitor_cpu_usage: bool,
        monitor_system_memory: bool,
        generate_final_report: bool,
        save_raw_data: bool,
        max_data_points: usize,
        profile_inference_steps: bool,
        profile_vae_decode: bool,
        profile_text_encoding: bool,
        profile_diffusion_steps: bool,
        profile_block_computation: bool,
        profile_model_parameters: bool,
    }

    #[new]
    #[pyo3(signature = (**keywords))]
    fn new(keywords: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        Self::layered(keywords, Layer::default(), CheckedLayer::of_environments_file)
    }

    /// A YAML file, the environment above it, and the keywords above both.
    #[staticmethod]
    #[pyo3(signature = (path, /, **keywords))]
    #[expect(clippy::needless_pass_by_value, reason = "as arguments are converted")]
    fn from_yaml(path: PathBuf, keywords: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        Self::layered(keywords, Layer::default(), || CheckedLayer::of_yaml(&path))
    }

    /// A mapping in the place of a YAML file, with the root `profiling` or without it.
    #[staticmethod]
    #[pyo3(signature = (mapping, /, **keywords))]
    fn from_dict(
        mapping: &Bound<'_, PyAny>,
        keywords: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let mapping = raw_value(mapping, ROOT_LEVELS)?;
        Self::layered(keywords, Layer::default(), || CheckedLayer::of_mapping(&mapping))
    }

    /// What `marey.cli_args` made of a command line, above the environment and the file that the command line names.
    #[staticmethod]
    #[pyo3(signature = (arguments, /, **keywords))]
    fn from_args(
        arguments: &Bound<'_, PyAny>,
        keywords: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let mut entries = Vec::new();
        for name in KEYS.iter().filter_map(|key| key.argument) {
            if let Some(value) = arguments.getattr_opt(name)? {
                entries.push(Entry::new(name, raw_value(&value, VALUE_LEVELS)?));
            }
        }
        let file = match arguments.getattr_opt(FILE_ARGUMENT)? {
            Some(path) => path.extract::<Option<PathBuf>>()?,
            None => None,
        };
        let arguments = strict(CheckedLayer::of_arguments(&entries))?;
        Self::layered(keywords, arguments, || match file.as_deref() {
            Some(path) => CheckedLayer::of_yaml(path),
            None => CheckedLayer::of_environments_file(),
        })
    }

    /// All keys with their values, as YAML could hold them.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        for (key, setting) in self.0.settings() {
            dict.set_item(key.name, setting_object(py, &setting)?)?;
        }
        Ok(dict)
    }

    /// The keys that differ from their defaults.
    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let mut changed = Vec::new();
        for ((key, setting), (_, default)) in
            self.0.settings().iter().zip(marey::ProfilingConfig::default().settings())
        {
            if *setting != default {
                changed.push(format!("{}={}", key.name, setting_object(py, setting)?.repr()?));
            }
        }
        Ok(format!("ProfilingConfig({})", changed.join(", ")))
    }

    /// For `copy` and `pickle`: a keyword for every key, so that nothing else is asked when it is made again.
    fn __getnewargs_ex__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyTuple>, Bound<'py, PyDict>)> {
        Ok((PyTuple::empty(py), self.to_dict(py)?))
    }

    #[getter]
    fn report_format(&self) -> &'static str {
        self.0.report_format.name()
    }

    #[getter]
    fn output_dir(&self) -> Option<OsString> {
        self.0.output_dir.as_ref().map(folder_text)
    }

    #[getter]
    fn session_tags<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        tags_dict(py, &self.0.session_tags)
    }

    #[getter]
    fn thresholds<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.0.thresholds.clone().into_py_dict(py)
    }
}

impl ProfilingConfig {
    /// The file is read when it can matter.
    fn layered(
        keywords: Option<&Bound<'_, PyDict>>,
        arguments: Layer,
        file: impl FnOnce() -> CheckedLayer,
    ) -> PyResult<Self> {
        let entries = match keywords {
            Some(keywords) => entries(keywords.as_mapping(), VALUE_LEVELS)?,
            None => Vec::new(),
        };
        let mut layers = Layers {
            keywords: strict(CheckedLayer::of_keywords(&entries))?,
            arguments,
            ..Layers::default()
        };
        if !layers.keywords.is_complete() {
            layers.file = strict(file())?;
            layers.environment = strict(CheckedLayer::of_environment())?;
        }
        Ok(Self(layers.config()))
    }
}

fn strict(checked: CheckedLayer) -> PyResult<Layer> {
    checked.strict().map_err(|error: ConfigError| Python::attach(|py| config_error(py, &error)))
}

/// A Python value before a key says what it should be.
fn raw_value(value: &Bound<'_, PyAny>, levels: usize) -> PyResult<RawValue> {
    if value.is_none() {
        return Ok(RawValue::Null);
    }
    if let Ok(v) = value.cast::<PyBool>() {
        return Ok(RawValue::Bool(v.is_true()));
    }
    if value.is_instance_of::<PyInt>() {
        return Ok(value.extract().map_or_else(
            |_| RawValue::Other("a whole number of more than 64 bits".into()),
            RawValue::Int,
        ));
    }
    if value.is_instance_of::<PyFloat>() {
        return value.extract().map(RawValue::Float);
    }
    if let Ok(text) = value.cast::<PyString>() {
        return match text.to_str() {
            Ok(text) => Ok(RawValue::Text(text.into())),
            // What stands for bytes of a path that are not UTF-8.
            Err(_) => value.extract().map(RawValue::Path),
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

fn setting_object<'py>(py: Python<'py>, setting: &Setting) -> PyResult<Bound<'py, PyAny>> {
    match setting {
        Setting::Switch(v) => v.into_bound_py_any(py),
        Setting::Seconds(v) => v.into_bound_py_any(py),
        Setting::Points(v) => v.into_bound_py_any(py),
        Setting::Format(format) => format.name().into_bound_py_any(py),
        Setting::Folder(path) => path.as_ref().map(folder_text).into_bound_py_any(py),
        Setting::Tags(tags) => tags_dict(py, tags).map(Bound::into_any),
        Setting::Limits(limits) => limits.clone().into_py_dict(py).map(Bound::into_any),
    }
}

fn tags_dict<'py>(py: Python<'py>, tags: &marey::Attributes) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (name, value) in tags {
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

/// A path as Python writes it: text, as in a YAML file.
fn folder_text(path: impl AsRef<Path>) -> OsString {
    path.as_ref().as_os_str().to_owned()
}
