//! Values that a user attached to something.

use std::collections::BTreeMap;

use marey::{Attributes, Value};
use serde::{Serialize, Serializer};

/// Names and values in the order in which they were given; a name that was given twice keeps its last value.
#[derive(Clone, Debug, Default, PartialEq, schemars::JsonSchema)]
pub struct NamedValues(
    #[schemars(with = "BTreeMap<String, AttributeValue>")] pub Vec<(String, AttributeValue)>,
);

/// One value; what is no finite number is absent.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
#[serde(untagged)]
pub enum AttributeValue {
    /// Python's `None`, or a number that is NaN or infinite.
    Absent,
    /// True or false.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A finite number.
    Float(f64),
    /// Text, not safe to print.
    Text(String),
    /// Values in order.
    List(Vec<Self>),
}

impl NamedValues {
    pub(super) fn new(attributes: &Attributes) -> Self {
        let mut kept: Vec<(String, AttributeValue)> = Vec::with_capacity(attributes.len());
        for (name, value) in attributes {
            let value = AttributeValue::new(value);
            // A handful of attributes: a search costs nothing.
            match kept.iter_mut().find(|(known, _)| known == name) {
                Some((_, earlier)) => *earlier = value,
                None => kept.push((name.clone(), value)),
            }
        }
        Self(kept)
    }

    /// `seed=42, cfg=6.5`; `None` without any. Not safe to print.
    pub(crate) fn text(&self) -> Option<String> {
        let shown = self.0.iter().map(|(name, value)| format!("{name}={}", value.text()));
        let shown: Vec<String> = shown.collect();
        (!shown.is_empty()).then(|| shown.join(", "))
    }
}

impl Serialize for NamedValues {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

impl AttributeValue {
    pub(super) fn new(value: &Value) -> Self {
        match value {
            Value::Bool(v) => Self::Bool(*v),
            Value::Int(v) => Self::Int(*v),
            Value::Float(v) if v.is_finite() => Self::Float(*v),
            Value::Float(_) | Value::Null => Self::Absent,
            Value::Text(v) => Self::Text(v.clone()),
            Value::List(values) => Self::List(values.iter().map(Self::new).collect()),
        }
    }

    /// The value as text, not safe to print.
    pub(crate) fn text(&self) -> String {
        match self {
            Self::Absent => crate::quantity::UNKNOWN.into(),
            Self::Bool(v) => v.to_string(),
            Self::Int(v) => v.to_string(),
            Self::Float(v) => v.to_string(),
            Self::Text(v) => v.clone(),
            Self::List(values) => {
                let texts: Vec<String> = values.iter().map(Self::text).collect();
                format!("[{}]", texts.join(", "))
            }
        }
    }
}

/// A value as JSON; numbers that are not finite are `null`.
pub fn json_value(value: &Value) -> serde_json::Value {
    match value {
        Value::Bool(v) => (*v).into(),
        Value::Int(v) => (*v).into(),
        Value::Float(v) => (*v).into(),
        Value::Text(v) => v.as_str().into(),
        Value::Null => serde_json::Value::Null,
        Value::List(values) => values.iter().map(json_value).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_number_is_absent_and_a_repeated_name_keeps_its_last_value() {
        let given = vec![
            ("a".into(), Value::Float(f64::NAN)),
            ("b".into(), Value::Int(1)),
            ("b".into(), Value::Int(2)),
        ];
        let json = serde_json::to_string(&NamedValues::new(&given)).unwrap();
        assert_eq!(json, r#"{"a":null,"b":2}"#);
    }
}
