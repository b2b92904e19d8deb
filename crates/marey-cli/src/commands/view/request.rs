//! What a client asked for, and what it gets.

/// The head of a request.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Request<'a> {
    method: &'a str,
    path: &'a str,
    headers: Vec<(&'a str, &'a str)>,
}

/// To whom a trace is given.
#[derive(Clone, Debug)]
pub(super) struct Allowed {
    /// The only path.
    pub(super) path: String,
    /// The only site.
    pub(super) origin: String,
    pub(super) port: u16,
}

/// What a client gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// The trace.
    Trace,
    /// What it would get.
    Head,
    /// Leave to ask.
    Preflight {
        /// It asked to reach from a public site into this machine.
        is_private_network: bool,
    },
    /// A status and its words.
    Refused(u16, &'static str),
}

impl<'a> Request<'a> {
    /// Reads a head without its empty line. `None` when it is none.
    pub(super) fn parse(head: &'a str) -> Option<Self> {
        let mut lines = head.split("\r\n");
        let mut words = lines.next()?.split(' ');
        let (method, target, version) = (words.next()?, words.next()?, words.next()?);
        if words.next().is_some() || !version.starts_with("HTTP/1.") {
            return None;
        }
        let headers = lines.map(|line| {
            let (name, value) = line.split_once(':')?;
            Some((name, value.trim()))
        });
        Some(Self {
            method,
            path: target.split('?').next().unwrap_or(target),
            headers: headers.collect::<Option<_>>()?,
        })
    }

    /// The value of a header; `None` when it is missing. One that comes twice is no value that anybody is allowed.
    fn header(&self, name: &str) -> Option<&'a str> {
        let mut values = self
            .headers
            .iter()
            .filter(|(n, _)| n.eq_ignore_ascii_case(name));
        let value = values.next()?.1;
        Some(if values.next().is_some() { "" } else { value })
    }

    /// Whether the allowed site asks, by its browser's word.
    pub(super) fn is_from_allowed_origin(&self, allowed: &Allowed) -> bool {
        self.header("origin") == Some(&allowed.origin)
    }

    /// What to answer. A name that leads here from elsewhere (DNS rebinding) shows in `Host`, another site in `Origin`.
    pub(super) fn answer(&self, allowed: &Allowed) -> Answer {
        let port = allowed.port;
        let is_us =
            |host: &str| host == format!("127.0.0.1:{port}") || host == format!("localhost:{port}");
        if !self.header("host").is_some_and(is_us) {
            return Answer::Refused(403, "Forbidden");
        }
        if self.header("origin").is_some() && !self.is_from_allowed_origin(allowed) {
            return Answer::Refused(403, "Forbidden");
        }
        if self.path != allowed.path {
            return Answer::Refused(404, "Not Found");
        }
        let asks_for_private =
            self.header("access-control-request-private-network") == Some("true");
        match self.method {
            "GET" => Answer::Trace,
            "HEAD" => Answer::Head,
            "OPTIONS" => Answer::Preflight {
                is_private_network: asks_for_private,
            },
            _ => Answer::Refused(405, "Method Not Allowed"),
        }
    }
}

impl Answer {
    /// The head of the response; `length` is that of the trace.
    pub(super) fn head(self, length: u64, cross_origin: Option<&str>) -> String {
        let (status, fields) = match self {
            Self::Trace | Self::Head => (
                "200 OK".to_owned(),
                format!("Content-Type: application/octet-stream\r\nContent-Length: {length}\r\n"),
            ),
            Self::Preflight { is_private_network } => {
                let private = if is_private_network {
                    "Access-Control-Allow-Private-Network: true\r\n"
                } else {
                    ""
                };
                (
                    "204 No Content".to_owned(),
                    format!("Access-Control-Allow-Methods: GET, HEAD, OPTIONS\r\n{private}"),
                )
            }
            Self::Refused(status, words) => {
                let allow = if status == 405 {
                    "Allow: GET, HEAD, OPTIONS\r\n"
                } else {
                    ""
                };
                (
                    format!("{status} {words}"),
                    format!("{allow}Content-Length: 0\r\n"),
                )
            }
        };
        let leave = match cross_origin {
            Some(origin) if !matches!(self, Self::Refused(..)) => {
                format!("Access-Control-Allow-Origin: {origin}\r\n")
            }
            _ => String::new(),
        };
        format!(
            "HTTP/1.1 {status}\r\n{fields}{leave}Vary: Origin\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n"
        )
    }
}
