//! Where the viewer is.

use std::str::FromStr;

/// The address of a viewer, in parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Viewer {
    origin: String,
    path: String,
}

impl Viewer {
    /// What a browser calls the site in the header `Origin`.
    pub(super) fn origin(&self) -> &str {
        &self.origin
    }

    /// The link that opens a trace.
    pub(super) fn link(&self, trace: &str) -> String {
        format!("{}{}/#!/?url={trace}", self.origin, self.path)
    }
}

impl FromStr for Viewer {
    type Err = String;

    /// Takes `http://HOST[:PORT][/PATH]` and the same with `https`.
    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || "not an address like https://ui.perfetto.dev".to_owned();
        let (scheme, rest) = text.split_once("://").ok_or_else(wrong)?;
        let scheme = scheme.to_ascii_lowercase();
        let default_port = match scheme.as_str() {
            "http" => ":80",
            "https" => ":443",
            _ => return Err(wrong()),
        };
        let (host, path) = match rest.find('/') {
            Some(slash) => rest.split_at(slash),
            None => (rest, ""),
        };
        let is_plain = |c: char| c.is_ascii_graphic() && !"?#@\\\"'<>`{}|^".contains(c);
        if host.is_empty() || !text.chars().all(is_plain) {
            return Err(wrong());
        }
        let host = host.to_ascii_lowercase();
        // Browsers leave out the port that a scheme has anyway.
        let host = host.strip_suffix(default_port).unwrap_or(&host);
        Ok(Self {
            origin: format!("{scheme}://{host}"),
            path: path.trim_end_matches('/').to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_is_written_as_browsers_do() {
        let viewer = |text: &str| Viewer::from_str(text).unwrap();
        assert_eq!(viewer("https://ui.perfetto.dev/").origin, "https://ui.perfetto.dev");
        assert_eq!(viewer("HTTPS://UI.perfetto.dev:443").origin, "https://ui.perfetto.dev");
        let own = viewer("http://10.0.0.7:8080/tools/perfetto/");
        assert_eq!(own.origin, "http://10.0.0.7:8080");
        assert_eq!(
            own.link("http://127.0.0.1:9001/a/t"),
            "http://10.0.0.7:8080/tools/perfetto/#!/?url=http://127.0.0.1:9001/a/t"
        );
    }

    #[test]
    fn what_is_no_address_of_a_site_is_refused() {
        for text in [
            "ui.perfetto.dev",
            "file:///tmp/ui",
            "https://",
            "https://user@host",
            "https://host\r\nX: y",
            "https://host/?a",
        ] {
            assert!(Viewer::from_str(text).is_err(), "{text}");
        }
    }
}
