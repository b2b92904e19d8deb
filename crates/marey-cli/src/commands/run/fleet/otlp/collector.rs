//! One request to a collector.

use std::time::Duration;

use ureq::Agent;

use super::super::endpoint::Endpoint;

/// How long a collector may take for one request.
const PATIENCE: Duration = Duration::from_secs(2);

/// A collector that is spoken to by HTTP.
#[derive(Debug)]
pub(super) struct Collector {
    endpoint: Endpoint,
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
    /// Nothing is connected yet.
    pub(super) fn at(endpoint: Endpoint) -> Self {
        let config = Agent::config_builder()
            .timeout_global(Some(PATIENCE))
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
        Self {
            agent: config.build().new_agent(),
            endpoint,
        }
    }

    /// Sends a message as the body of one request.
    ///
    /// # Errors
    /// When it was not taken.
    pub(super) fn send(&self, signal: &str, body: &[u8]) -> Result<(), Failure> {
        let request = self
            .agent
            .post(self.endpoint.of_signal(signal))
            .header("Content-Type", "application/x-protobuf");
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
