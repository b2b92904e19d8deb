//! Variables of OpenTelemetry in the environment.

use std::collections::BTreeMap;
use std::ffi::OsString;

/// The variables whose names begin with `OTEL_`. May hold keys: never shown.
pub(in super::super) struct Environment(BTreeMap<String, OsString>);

impl Environment {
    /// Those of this process.
    pub(in super::super) fn of_this_process() -> Self {
        let named = std::env::vars_os().filter_map(|(name, value)| {
            let name = name.into_string().ok()?;
            name.starts_with("OTEL_").then_some((name, value))
        });
        Self(named.collect())
    }

    /// What a variable says; `None` when it is not there or empty, which is the same to OpenTelemetry.
    ///
    /// # Errors
    /// When it is no text; names it, without its value.
    pub(super) fn text(&self, name: &str) -> Result<Option<&str>, String> {
        let Some(value) = self.0.get(name) else {
            return Ok(None);
        };
        let text = value.to_str().ok_or_else(|| format!("{name}: not UTF-8"))?;
        Ok(Some(text).filter(|text| !text.is_empty()))
    }

    /// What is said of a signal (`metrics`, `traces`) alone, else of all, with the name of the variable.
    ///
    /// # Errors
    /// As [`Self::text`].
    pub(super) fn of_signal(
        &self,
        signal: &str,
        what: &str,
    ) -> Result<Option<(String, &str)>, String> {
        let own = format!("OTEL_EXPORTER_OTLP_{}_{what}", signal.to_uppercase());
        for name in [own, format!("OTEL_EXPORTER_OTLP_{what}")] {
            if let Some(text) = self.text(&name)? {
                return Ok(Some((name, text)));
            }
        }
        Ok(None)
    }
}

impl<const N: usize> From<[(&str, &str); N]> for Environment {
    fn from(variables: [(&str, &str); N]) -> Self {
        let owned = |(name, value): (&str, &str)| (name.to_owned(), OsString::from(value));
        Self(variables.into_iter().map(owned).collect())
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStringExt;

    use super::*;

    #[test]
    fn what_is_said_of_a_signal_counts_before_what_is_said_of_all_and_empty_is_not_said() {
        let environment = Environment::from([
            ("OTEL_EXPORTER_OTLP_TIMEOUT", "1"),
            ("OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", "2"),
            ("OTEL_EXPORTER_OTLP_METRICS_TIMEOUT", ""),
            ("OTEL_EXPORTER_OTLP_HEADERS", ""),
        ]);
        let of = |signal, what| environment.of_signal(signal, what).unwrap();
        let all = "OTEL_EXPORTER_OTLP_TIMEOUT".to_owned();
        let own = "OTEL_EXPORTER_OTLP_TRACES_TIMEOUT".to_owned();
        assert_eq!(of("metrics", "TIMEOUT"), Some((all, "1")));
        assert_eq!(of("traces", "TIMEOUT"), Some((own, "2")));
        assert_eq!(of("traces", "HEADERS"), None);
    }

    #[test]
    fn bytes_that_are_no_text_are_told_by_the_name_alone() {
        let bytes = OsString::from_vec(b"secret\xff".to_vec());
        let environment = Environment(BTreeMap::from([("OTEL_X".to_owned(), bytes)]));
        assert_eq!(environment.text("OTEL_X"), Err("OTEL_X: not UTF-8".into()));
    }
}
