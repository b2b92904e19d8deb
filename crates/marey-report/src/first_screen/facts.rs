//! Keys and values for programs.

use serde::Serialize;

/// Keys of an object of JSON with their values, as its text: `"steps":12,"mean_s":0.241`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts(String);

impl Facts {
    /// Those of an object.
    pub(crate) fn of(object: &impl Serialize) -> Self {
        let text = serde_json::to_string(object).unwrap_or_default();
        let keys = text.strip_prefix('{').and_then(|text| text.strip_suffix('}'));
        Self(keys.unwrap_or_default().into())
    }

    /// All of them as one object.
    pub(super) fn object(all: &[Self]) -> String {
        let keys = all.iter().map(|facts| facts.0.as_str());
        let keys: Vec<&str> = keys.filter(|keys| !keys.is_empty()).collect();
        format!("{{{}}}", keys.join(","))
    }
}
