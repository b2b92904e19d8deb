//! Keys and values for programs.

use serde::Serialize;

/// Keys of an object of JSON with their values, as its text: `"steps":12,"mean_s":0.241`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts(String);

impl Facts {
    /// Those of an object.
    pub(crate) fn of(object: &impl Serialize) -> Self {
        let text = serde_json::to_string(object).unwrap_or_default();
        let keys = text
            .strip_prefix('{')
            .and_then(|text| text.strip_suffix('}'));
        Self(keys.unwrap_or_default().into())
    }

    /// One key with its value, which is JSON already.
    pub(super) fn key(key: &str, json: &str) -> Self {
        Self(format!("\"{key}\":{json}"))
    }

    /// These, then others.
    pub(super) fn and(self, others: &Self) -> Self {
        match (self.0.is_empty(), others.0.is_empty()) {
            (true, _) => others.clone(),
            (_, true) => self,
            _ => Self(self.0 + "," + &others.0),
        }
    }

    /// All of them as one object.
    pub(super) fn object(all: &[Self]) -> String {
        let all = all.iter().fold(Self::default(), Self::and);
        format!("{{{}}}", all.0)
    }
}
