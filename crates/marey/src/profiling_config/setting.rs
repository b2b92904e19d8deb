//! Values of keys, as YAML writes them.

use std::fmt::Debug;
use std::path::PathBuf;

use crate::value::Value;

/// Which reports are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ReportFormat {
    /// One HTML file.
    Html,
    /// One JSON document.
    Json,
    /// Both of them.
    #[default]
    Both,
}

impl ReportFormat {
    /// How a configuration writes it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Html => "html",
            Self::Json => "json",
            Self::Both => "both",
        }
    }

    pub(super) fn of(name: &str) -> Option<Self> {
        [Self::Html, Self::Json, Self::Both].into_iter().find(|format| format.name() == name)
    }
}

/// A value that YAML can write.
pub(super) trait Setting: Debug {
    fn yaml(&self) -> String {
        format!("{self:?}")
    }
}

impl Setting for bool {}
impl Setting for f64 {}
impl Setting for usize {}

impl Setting for ReportFormat {
    fn yaml(&self) -> String {
        self.name().into()
    }
}

impl Setting for Option<PathBuf> {
    fn yaml(&self) -> String {
        self.as_ref().map_or("null".into(), |path| format!("{:?}", path.to_string_lossy()))
    }
}

impl Setting for Value {
    fn yaml(&self) -> String {
        match self {
            Self::Text(text) => format!("{text:?}"),
            other => other.to_string(),
        }
    }
}

impl<T: Setting> Setting for Vec<(String, T)> {
    fn yaml(&self) -> String {
        let items = self.iter().map(|(name, value)| format!("{name:?}: {}", value.yaml()));
        format!("{{{}}}", items.collect::<Vec<_>>().join(", "))
    }
}
