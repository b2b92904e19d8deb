//! Where a collector of OpenTelemetry listens.

use std::fmt;
use std::str::FromStr;

/// What `OTEL_EXPORTER_OTLP_ENDPOINT` and the command line leave open.
const DEFAULT: &str = "http://127.0.0.1:4318";

/// The address of a collector, without the path of a signal. May hold a password, which is never shown.
#[derive(Clone, PartialEq, Eq)]
pub(in super::super) struct Endpoint(String);

impl FromStr for Endpoint {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let rest = ["http://", "https://"]
            .iter()
            .find_map(|scheme| text.strip_prefix(scheme))
            .ok_or("not an address such as http://127.0.0.1:4318")?;
        let is_plain = |byte: u8| byte.is_ascii_graphic();
        if rest.is_empty() || rest.starts_with('/') || !rest.bytes().all(is_plain) {
            return Err("an address without a host".into());
        }
        if rest.contains(['?', '#']) {
            return Err(
                "an address with a query or a fragment: nothing can come after its path".into(),
            );
        }
        Ok(Self(text.trim_end_matches('/').to_owned()))
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (scheme, rest) = self.0.split_once("://").unwrap_or(("", &self.0));
        let host = rest.find('/').unwrap_or(rest.len());
        let user = rest[..host].rfind('@').map_or(0, |at| at + 1);
        write!(f, "{scheme}://{}", &rest[user..])
    }
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Endpoint({self})")
    }
}

impl Endpoint {
    /// The one given, else that of the environment, else the usual port of this machine.
    ///
    /// # Errors
    /// When the environment's is none.
    pub(in super::super) fn or_of_environment(given: Option<&Self>) -> Result<Self, String> {
        if let Some(given) = given {
            return Ok(given.clone());
        }
        let name = "OTEL_EXPORTER_OTLP_ENDPOINT";
        let said = std::env::var(name).unwrap_or_default();
        let text = if said.is_empty() { DEFAULT } else { &said };
        text.parse().map_err(|problem| format!("{name}: {problem}"))
    }

    /// Where a signal (`metrics`, `traces`) goes.
    #[cfg(feature = "otlp")]
    pub(super) fn of_signal(&self, signal: &str) -> String {
        format!("{}/v1/{signal}", self.0)
    }

    /// Nobody between here and there is to be asked.
    #[cfg(feature = "otlp")]
    pub(super) fn is_this_machine(&self) -> bool {
        let host = self.0.split("://").nth(1).unwrap_or_default();
        ["127.0.0.1", "localhost", "[::1]"].iter().any(|own| {
            host.strip_prefix(own)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with([':', '/']))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_a_scheme_and_a_host() {
        for text in ["http://a:1", "https://a/b", "http://[::1]:4318/"] {
            let Endpoint(address) = text.parse().unwrap();
            assert_eq!(address, text.trim_end_matches('/'));
        }
        for text in [
            "",
            "a:1",
            "python",
            "http://",
            "http:///x",
            "http://a b",
            "ftp://a",
            "http://a?key=1",
            "http://a/b#c",
        ] {
            assert!(text.parse::<Endpoint>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_user_and_a_password_are_not_shown() {
        for (text, shown) in [
            ("https://me:secret@a:1/b", "https://a:1/b"),
            ("http://me:se@cret@[::1]:4318", "http://[::1]:4318"),
            ("http://a/b@c", "http://a/b@c"),
        ] {
            let endpoint: Endpoint = text.parse().unwrap();
            assert_eq!(endpoint.to_string(), shown);
            assert!(!format!("{endpoint:?}").contains("cret"));
        }
    }

    #[cfg(feature = "otlp")]
    #[test]
    fn only_names_of_this_machine_are_this_machine() {
        let is_own = |text: &str| text.parse::<Endpoint>().unwrap().is_this_machine();
        assert!(is_own("http://127.0.0.1:4318") && is_own("http://localhost/x"));
        assert!(!is_own("http://localhost.example") && !is_own("http://10.0.0.1"));
    }
}
