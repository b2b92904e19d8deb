//! What a client asked for, and what it gets.

/// What a client gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// The figures.
    Metrics,
    /// What it would get.
    Head,
    /// A status and its words.
    Refused(u16, &'static str),
}

impl Answer {
    /// What to answer to the head of a request, without its empty line. Whoever listens on this machine alone answers only to this
    /// machine's names: a name that leads here from elsewhere (DNS rebinding) shows in `Host`.
    pub(super) fn to(head: &[u8], is_local: bool) -> Self {
        let Some(request) = Request::parse(head) else {
            return Self::Refused(400, "Bad Request");
        };
        if is_local && !request.host.is_none_or(names_this_machine) {
            return Self::Refused(403, "Forbidden");
        }
        let path = request.target.split('?').next().unwrap_or_default();
        match request.method {
            _ if path != "/metrics" => Self::Refused(404, "Not Found"),
            "GET" => Self::Metrics,
            "HEAD" => Self::Head,
            _ => Self::Refused(405, "Method Not Allowed"),
        }
    }

    /// The head of the response; `length` is that of the figures.
    pub(super) fn head(self, length: usize) -> String {
        let (status, fields) = match self {
            Self::Metrics | Self::Head => (
                "200 OK".to_owned(),
                "Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n",
            ),
            Self::Refused(405, words) => (format!("405 {words}"), "Allow: GET, HEAD\r\n"),
            Self::Refused(status, words) => (format!("{status} {words}"), ""),
        };
        let length = if matches!(self, Self::Refused(..)) {
            0
        } else {
            length
        };
        format!(
            "HTTP/1.1 {status}\r\n{fields}Content-Length: {length}\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n"
        )
    }
}

struct Request<'a> {
    method: &'a str,
    target: &'a str,
    /// `None` when it is not said, as HTTP/1.0 may.
    host: Option<&'a str>,
}

impl<'a> Request<'a> {
    fn parse(head: &'a [u8]) -> Option<Self> {
        let mut lines = std::str::from_utf8(head).ok()?.split("\r\n");
        let mut words = lines.next()?.split(' ');
        let (method, target, version) = (words.next()?, words.next()?, words.next()?);
        if words.next().is_some() || !version.starts_with("HTTP/1.") {
            return None;
        }
        let mut host = None;
        for line in lines {
            let (name, value) = line.split_once(':')?;
            if name.eq_ignore_ascii_case("host") && host.replace(value.trim()).is_some() {
                return None;
            }
        }
        Some(Self {
            method,
            target,
            host,
        })
    }
}

/// Any port: a tunnel may lead here from another one.
fn names_this_machine(host: &str) -> bool {
    let without_port = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    ["127.0.0.1", "localhost", "[::1]"].contains(&without_port)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_path_is_served_and_everything_else_is_refused() {
        let asked = [
            ("GET /metrics HTTP/1.1\r\nHost: localhost:9400", 200),
            ("GET /metrics?x=1 HTTP/1.0", 200),
            ("HEAD /metrics HTTP/1.1\r\nhost: 127.0.0.1:1", 200),
            ("GET /metrics HTTP/1.1\r\nHost: [::1]:9400", 200),
            ("POST /metrics HTTP/1.1\r\nHost: localhost", 405),
            ("GET / HTTP/1.1\r\nHost: localhost", 404),
            ("GET /metrics/../secret HTTP/1.1\r\nHost: localhost", 404),
            ("GET /metrics HTTP/1.1\r\nHost: evil.example:9400", 403),
            ("GET /metrics HTTP/1.1\r\nHost: a\r\nHost: localhost", 400),
            ("GET /metrics HTTP/2", 400),
            ("GET /metrics HTTP/1.1\r\nno field", 400),
            ("", 400),
            ("\u{0}\u{1}", 400),
        ];
        for (head, status) in asked {
            let got = match Answer::to(head.as_bytes(), true) {
                Answer::Metrics | Answer::Head => 200,
                Answer::Refused(status, _) => status,
            };
            assert_eq!(got, status, "{head:?}");
        }
        assert_eq!(
            Answer::to(b"\xff\xfe", true),
            Answer::Refused(400, "Bad Request")
        );
    }

    #[test]
    fn who_listens_for_others_answers_to_any_name() {
        let head = b"GET /metrics HTTP/1.1\r\nHost: node7:9400";
        assert_eq!(Answer::to(head, false), Answer::Metrics);
    }

    #[test]
    fn a_refusal_has_no_body() {
        let head = Answer::Refused(404, "Not Found").head(5);
        assert!(head.starts_with("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n"));
    }
}
