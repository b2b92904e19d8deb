//! The inputs of a call, as a trace writes them.

use std::str::FromStr;

use serde_json::Value;

use super::NumberFormat;

/// Inputs in the order of the operator's parameters.
///
/// ```text
/// shapes   [[768], [788, 768], [768, 768], [], []]
/// types    ["float", "float", "float", "Scalar", "Scalar"]
/// values   ["", "", "", "1", "1"]
/// ```
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Arguments {
    shapes: Vec<Value>,
    types: Vec<Value>,
    values: Vec<Value>,
}

/// An input that is a tensor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Tensor {
    /// Its sizes; none for a single number, which may be one of the host.
    pub(super) dims: Vec<u64>,
    /// Bytes of an element.
    pub(super) element_bytes: u64,
    /// What its elements are.
    pub(super) format: Option<NumberFormat>,
}

/// Types by the names that torch's profiler writes, with bytes and format.
const TYPES: &[(&str, u64, Option<NumberFormat>)] = &[
    ("float", 4, Some(NumberFormat::Fp32)),
    ("double", 8, Some(NumberFormat::Fp64)),
    ("c10::BFloat16", 2, Some(NumberFormat::Bf16)),
    ("c10::Half", 2, Some(NumberFormat::Fp16)),
    ("c10::Float8_e4m3fn", 1, Some(NumberFormat::Fp8)),
    ("c10::Float8_e4m3fnuz", 1, Some(NumberFormat::Fp8)),
    ("c10::Float8_e5m2", 1, Some(NumberFormat::Fp8)),
    ("c10::Float8_e5m2fnuz", 1, Some(NumberFormat::Fp8)),
    ("c10::Float8_e8m0fnu", 1, None),
    // Two numbers in a byte.
    ("c10::Float4_e2m1fn_x2", 1, Some(NumberFormat::Fp4)),
    ("signed char", 1, Some(NumberFormat::Int8)),
    ("unsigned char", 1, None),
    ("bool", 1, None),
    ("short int", 2, None),
    ("short", 2, None),
    ("int", 4, None),
    ("long int", 8, None),
    ("long", 8, None),
    ("c10::complex<float>", 8, None),
    ("c10::complex<double>", 16, None),
];

impl Arguments {
    /// Of lists as they are written; `None` when shapes or types cannot be read. Values may be missing.
    pub(crate) fn new(shapes: &str, types: &str, values: Option<&str>) -> Option<Self> {
        let values = values.map_or(Some(Vec::new()), list);
        Some(Self { shapes: list(shapes)?, types: list(types)?, values: values? })
    }

    /// The tensor at a place; `None` when it is none, or of a type that is not known.
    pub(super) fn tensor(&self, at: usize) -> Option<Tensor> {
        let named = self.types.get(at)?.as_str()?;
        let (_, element_bytes, format) = TYPES.iter().find(|(name, ..)| *name == named)?;
        let dims = self.shapes.get(at)?.as_array()?.iter();
        let dims: Option<Vec<u64>> = dims.map(Value::as_u64).collect();
        Some(Tensor { dims: dims?, element_bytes: *element_bytes, format: *format })
    }

    /// All tensors with sizes; where none has any, all single numbers. `None` when one is of a type that is not known, or there are none.
    pub(super) fn tensors(&self) -> Option<Vec<Tensor>> {
        let is_empty = |shape: &Value| shape.as_array().is_none_or(Vec::is_empty);
        let mut found = Vec::new();
        for (at, shape) in self.shapes.iter().enumerate() {
            match self.tensor(at) {
                Some(tensor) => found.push(tensor),
                None if is_empty(shape) => {}
                None => return None,
            }
        }
        if found.iter().any(|tensor| !tensor.dims.is_empty()) {
            found.retain(|tensor| !tensor.dims.is_empty());
        }
        (!found.is_empty()).then_some(found)
    }

    /// The value at a place as torch writes it: `0.5`, `True`, `[1, 1]`; `None` when the trace does not say it.
    pub(super) fn value(&self, at: usize) -> Option<&str> {
        self.given(at).filter(|value| !value.is_empty())
    }

    /// What stands at a place, empty where the call gave nothing; `None` when the trace has no values.
    pub(super) fn given(&self, at: usize) -> Option<&str> {
        self.values.get(at)?.as_str()
    }

    /// A value that is yes or no.
    pub(super) fn flag(&self, at: usize) -> Option<bool> {
        match self.value(at)? {
            "True" | "true" | "1" => Some(true),
            "False" | "false" | "0" => Some(false),
            _ => None,
        }
    }

    /// A value that is a whole number.
    pub(super) fn integer(&self, at: usize) -> Option<i64> {
        self.value(at)?.trim().parse().ok()
    }

    /// All values that are whole numbers.
    pub(super) fn integers(&self) -> impl Iterator<Item = i64> + '_ {
        (0..self.values.len()).filter_map(|at| self.integer(at))
    }

    /// A value that is a list of numbers, or one of them.
    pub(super) fn numbers<T: FromStr>(&self, at: usize) -> Option<Vec<T>> {
        let value = self.value(at)?.trim_start_matches('[').trim_end_matches(']');
        value.split(',').map(|number| number.trim().parse().ok()).collect()
    }
}

/// A list; some writers have it in quotes.
fn list(written: &str) -> Option<Vec<Value>> {
    match serde_json::from_str(written).ok()? {
        Value::Array(list) => Some(list),
        Value::String(quoted) => serde_json::from_str(&quoted).ok(),
        _ => None,
    }
}

impl Tensor {
    /// How many elements.
    pub(super) fn count(&self) -> Option<u64> {
        product(&self.dims)
    }

    /// All its bytes.
    pub(super) fn bytes(&self) -> Option<u64> {
        self.count()?.checked_mul(self.element_bytes)
    }
}

/// Numbers multiplied; `None` when that is too large.
pub(super) fn product(numbers: &[u64]) -> Option<u64> {
    numbers.iter().try_fold(1_u64, |all, number| all.checked_mul(*number))
}

/// Numbers added, where all are known.
pub(super) fn total(numbers: impl IntoIterator<Item = Option<u64>>) -> Option<u64> {
    numbers.into_iter().try_fold(0_u64, |all, number| all.checked_add(number?))
}
