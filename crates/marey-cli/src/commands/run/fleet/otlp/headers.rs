//! Headers that a collector wants, such as the key of an account.

use ureq::http::{HeaderMap, HeaderName, HeaderValue};

use super::environment::Environment;
use super::pairs::{Pair, pairs};

/// What says how the body is to be read, and what the connection is for: ours to say.
const OURS: [&str; 8] = [
    "connection",
    "content-encoding",
    "content-length",
    "content-type",
    "expect",
    "te",
    "transfer-encoding",
    "upgrade",
];

/// Those that the environment gives for the requests of a signal (`metrics`, `traces`): `OTEL_EXPORTER_OTLP_METRICS_HEADERS`,
/// else `OTEL_EXPORTER_OTLP_HEADERS`. Of two with one name the later counts. Their values are marked, so that nothing shows them.
///
/// # Errors
/// When one cannot be sent, or could end the header and begin another; names the variable, and says no value.
pub(super) fn headers(signal: &str, environment: &Environment) -> Result<HeaderMap, String> {
    let Some((variable, text)) = environment.of_signal(signal, "HEADERS")? else {
        return Ok(HeaderMap::new());
    };
    let named = |problem| format!("{variable}: {problem}");
    let mut all = HeaderMap::new();
    for pair in pairs(text).map_err(named)? {
        let (name, value) = header(&pair).map_err(named)?;
        all.insert(name, value);
    }
    Ok(all)
}

fn header((key, value): &Pair) -> Result<(HeaderName, HeaderValue), &'static str> {
    let name = HeaderName::from_bytes(key.as_bytes());
    let name = name.map_err(|_| "a name that no header can have")?;
    if OURS.contains(&name.as_str()) {
        return Err("a header of the connection or of its content, which Marey sets itself");
    }
    // Refuses all control codes: a line end would begin another header.
    let value = HeaderValue::from_str(value);
    let mut value = value.map_err(|_| "a value that no header can have")?;
    value.set_sensitive(true);
    Ok((name, value))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: &str = "OTEL_EXPORTER_OTLP_HEADERS";

    #[test]
    fn a_header_is_sent_under_its_name_and_never_shown() {
        let environment = Environment::from([
            (ALL, "Authorization=Basic%20c2VjcmV0,x-team=a,X-Team=b"),
            ("OTEL_EXPORTER_OTLP_TRACES_HEADERS", "x-only=secret"),
        ]);
        let metrics = headers("metrics", &environment).unwrap();
        assert_eq!(metrics.len(), 2);
        assert_eq!(metrics["authorization"], "Basic c2VjcmV0");
        assert_eq!(metrics["x-team"], "b");
        let traces = headers("traces", &environment).unwrap();
        assert_eq!(traces.len(), 1, "those of all are not added");
        assert_eq!(traces["x-only"], "secret");
        let shown = format!("{metrics:?}{traces:?}");
        assert!(
            !shown.contains("secret") && !shown.contains("c2Vj"),
            "{shown}"
        );
        assert!(
            headers("metrics", &Environment::from([]))
                .unwrap()
                .is_empty()
        );
    }

    #[test]
    fn a_header_that_would_begin_another_or_cannot_be_sent_is_refused_by_the_variables_name() {
        for text in [
            "x=secret%0d%0ax-admin: 1",
            "x=secret%0a",
            "x=secret\r\ny: 1",
            "x=secret%00",
            "x=secret%7f",
            "x%0d%0ay=secret",
            "x y=secret",
            "x:=secret",
            "é=secret",
            "Content-Length=secret",
            "transfer-encoding=secret",
            "x=secret%",
            "secret",
        ] {
            let problem = headers("traces", &Environment::from([(ALL, text)])).unwrap_err();
            assert!(
                problem.starts_with("OTEL_EXPORTER_OTLP_HEADERS: "),
                "{problem}"
            );
            assert!(!problem.contains("cret"), "{problem}");
        }
    }
}
