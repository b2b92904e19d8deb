//! Where the requests of one signal go, and one of them.

use std::time::Duration;

use ureq::Agent;
use ureq::http::HeaderMap;

use super::super::endpoint::Endpoint;
use super::environment::Environment;
use super::headers::headers;

/// How long a collector may take for one request, where the environment does not say. OpenTelemetry's is 10 s, but the end of a run
/// waits.
const PATIENCE: Duration = Duration::from_secs(2);
/// The longest that is believed, in milliseconds: an hour.
const MAX_PATIENCE_MS: u64 = 3_600_000;

/// A collector that is spoken to by HTTP, of one signal.
#[derive(Debug)]
pub(in super::super) struct Collector {
    signal: &'static str,
    endpoint: Endpoint,
    headers: HeaderMap,
    agent: Agent,
}

/// Why something did not arrive.
#[derive(Debug)]
pub(super) struct Failure {
    pub(super) why: String,
    /// Nobody answered.
    pub(super) is_silent: bool,
}

impl Collector {
    /// The one of a signal (`metrics`, `traces`), as the environment wants it spoken to. Nothing is connected yet.
    ///
    /// # Errors
    /// When a variable is wrong; names it, without its value.
    pub(super) fn of_signal(
        signal: &'static str,
        endpoint: &Endpoint,
        environment: &Environment,
    ) -> Result<Self, String> {
        let config = Agent::config_builder()
            .timeout_global(Some(patience(signal, environment)?))
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .max_idle_connections(0)
            .user_agent(concat!("marey/", env!("CARGO_PKG_VERSION")));
        let config = if endpoint.is_this_machine() {
            config.proxy(None)
        } else {
            config
        };
        Ok(Self {
            signal,
            endpoint: endpoint.clone(),
            headers: headers(signal, environment)?,
            agent: config.build().new_agent(),
        })
    }

    /// Sends a message as the body of one request.
    ///
    /// # Errors
    /// When it was not taken.
    pub(super) fn send(&self, body: &[u8]) -> Result<(), Failure> {
        let mut request = self
            .agent
            .post(self.endpoint.of_signal(self.signal))
            .header("Content-Type", "application/x-protobuf");
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        match request.send(body) {
            Ok(answer) if answer.status().is_success() => Ok(()),
            Ok(answer) => Err(Failure {
                why: format!("it answered {}", answer.status()),
                is_silent: false,
            }),
            Err(problem) => Err(Failure {
                why: problem.to_string(),
                is_silent: true,
            }),
        }
    }
}

fn patience(signal: &str, environment: &Environment) -> Result<Duration, String> {
    let Some((variable, text)) = environment.of_signal(signal, "TIMEOUT")? else {
        return Ok(PATIENCE);
    };
    let milliseconds = text.trim().parse().ok();
    milliseconds
        .filter(|number| (1..=MAX_PATIENCE_MS).contains(number))
        .map(Duration::from_millis)
        .ok_or_else(|| {
            format!("{variable}: not a number of milliseconds from 1 to {MAX_PATIENCE_MS}")
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_may_take_as_long_as_the_environment_says() {
        let of = |text| {
            let environment = Environment::from([("OTEL_EXPORTER_OTLP_TIMEOUT", text)]);
            patience("metrics", &environment)
        };
        assert_eq!(of(""), Ok(PATIENCE));
        assert_eq!(of("10000"), Ok(Duration::from_secs(10)));
        for text in ["0", "-1", "1.5", "10s", "3600001", "18446744073709551616"] {
            let problem = of(text).unwrap_err();
            assert!(
                problem.starts_with("OTEL_EXPORTER_OTLP_TIMEOUT: not a number"),
                "{problem}"
            );
        }
    }
}
