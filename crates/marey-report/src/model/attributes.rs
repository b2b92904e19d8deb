//! Values that a user attached to something: to calls, to events, to decisions of caches.

use std::collections::BTreeMap;

use marey::{Attributes, CacheEvent, Event, Value};
use marey_analysis::AttributedCall;
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

/// One call with its attributes.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct AttributedCallFacts {
    /// Index into `Run::nodes`.
    pub node: u32,
    /// When it was entered, since the start of the run.
    pub start_ns: u64,
    /// How long it took.
    pub duration_ns: u64,
    /// All that was given to it.
    pub attributes: NamedValues,
}

impl AttributedCallFacts {
    pub(crate) fn new(call: &AttributedCall) -> Self {
        Self {
            node: call.node,
            start_ns: call.start_ns,
            duration_ns: call.duration_ns,
            attributes: NamedValues::new(&call.attributes),
        }
    }
}

/// A point in time with a name.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct EventMoment {
    /// When, since the start of the run.
    pub at_ns: u64,
    /// As the user gave it; not safe to print.
    pub name: String,
    /// The user's data.
    pub data: NamedValues,
}

/// One decision of a cache.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct CacheMoment {
    /// When, since the start of the run.
    pub at_ns: u64,
    /// Which cache; not safe to print.
    pub cache: String,
    /// `hit`, `miss`, `eviction` or `lookup`.
    pub outcome: &'static str,
    /// Denoising step, when known.
    pub step: Option<u64>,
    /// Autoregressive block or chunk, when known.
    pub block: Option<u64>,
    /// What was compared with the threshold; `None` also for NaN and infinity.
    pub score: Option<f64>,
    /// The limit that decided; `None` also for NaN and infinity.
    pub threshold: Option<f64>,
    /// Bytes that the cache held afterwards.
    pub held_bytes: Option<u64>,
    /// Anything else that the user gave.
    pub data: NamedValues,
}

impl EventMoment {
    pub(super) fn new(event: &Event) -> Self {
        Self {
            at_ns: event.at_ns,
            name: event.name.clone(),
            data: NamedValues::new(&event.attributes),
        }
    }
}

impl CacheMoment {
    pub(super) fn new(event: &CacheEvent) -> Self {
        Self {
            at_ns: event.at_ns,
            cache: event.cache.clone(),
            outcome: event.outcome.name(),
            step: event.step,
            block: event.block,
            score: event.score.filter(|score| score.is_finite()),
            threshold: event.threshold.filter(|limit| limit.is_finite()),
            held_bytes: event.held_bytes,
            data: NamedValues::new(&event.attributes),
        }
    }
}

impl NamedValues {
    pub(crate) fn new(attributes: &Attributes) -> Self {
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
    pub(crate) fn new(value: &Value) -> Self {
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
    serde_json::to_value(AttributeValue::new(value)).unwrap_or_default()
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
