//! Where to listen, as it is given on the command line.

use std::fmt;
use std::str::FromStr;

/// Where to listen: a host and a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in super::super) struct Address {
    pub(super) host: String,
    /// 0 for any that is free.
    pub(super) port: u16,
}

impl FromStr for Address {
    type Err = String;

    /// `9400`, `host:9400` or `[::1]:9400`. Without a host only this machine can ask.
    fn from_str(text: &str) -> Result<Self, String> {
        let (host, port) = text.rsplit_once(':').unwrap_or(("127.0.0.1", text));
        let port = port.parse().map_err(|_| "not a port (0 to 65535), or HOST:PORT")?;
        let inner = host.strip_prefix('[').and_then(|h| h.strip_suffix(']'));
        if host.is_empty() || inner.is_none() && host.contains(':') {
            return Err("not a host before the port; an IPv6 address stands in brackets".into());
        }
        Ok(Self { host: inner.unwrap_or(host).to_owned(), port })
    }
}

impl Address {
    /// Any port that is free will do.
    pub(in super::super) fn is_any_port(&self) -> bool {
        self.port == 0
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.host.contains(':') {
            write!(f, "[{}]:{}", self.host, self.port)
        } else {
            write!(f, "{}:{}", self.host, self.port)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machine_can_ask_unless_a_host_is_given() {
        let given = [
            ("9400", "127.0.0.1:9400"),
            ("0", "127.0.0.1:0"),
            ("0.0.0.0:9400", "0.0.0.0:9400"),
            ("box:1", "box:1"),
            ("[::1]:9400", "[::1]:9400"),
        ];
        for (text, address) in given {
            assert_eq!(text.parse::<Address>().unwrap().to_string(), address);
        }
        for text in ["", "x", "65536", "-1", ":9400", "::1:9400", "box:", "box"] {
            assert!(text.parse::<Address>().is_err(), "{text}");
        }
    }
}
