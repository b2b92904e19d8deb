//! What the commands show first, as wide and as colourful as where it is shown.

use std::io::IsTerminal;
use std::path::Path;

use marey_report::{FirstScreen, Next, Report, Shown, escape};

use crate::shown_path::shown;
use crate::terminal_width::terminal_width;

/// Where no terminal says otherwise.
const COLUMNS: usize = 100;

/// The first screen of a job's or a capture's report; `out` is the stream that it goes to.
pub(crate) fn of_report(report: &Report, path: &Path, out: &impl IsTerminal) -> String {
    let how = Shown {
        width: terminal_width(out).unwrap_or(COLUMNS),
        has_colour: out.is_terminal() && wants_colour(),
        is_ascii: is_ascii(),
    };
    FirstScreen::new(report, next(path)).text(&how)
}

/// The same as one line of JSON.
pub(crate) fn brief(report: &Report, path: &Path) -> String {
    FirstScreen::new(report, next(path)).json(report)
}

/// Where more is to be seen of a job's folder, or of a capture.
fn next(path: &Path) -> Next {
    let latest = path.parent().map(|above| above.join("latest"));
    let is_newest = |latest: &Path| {
        let real = |path: &Path| path.canonicalize().ok();
        real(latest).is_some_and(|found| Some(found) == real(path))
    };
    let short = latest.filter(|latest| is_newest(latest));
    let path = short.as_deref().unwrap_or(path);
    let above = path.parent().unwrap_or(path);
    let folder = if path.is_file() { above } else { path };
    let page = path.join("report.html");
    let visible = |text: String| escape::visible(&text);
    Next {
        page: page.is_file().then(|| visible(shown(&page))),
        full: visible(format!("marey report --full {}", shown(path))),
        ranks: visible(format!("marey aggregate {}", shown(folder))),
    }
}

fn wants_colour() -> bool {
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let is_dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
    !is_dumb && !is_set("NO_COLOR")
}

/// The locale says so; none at all is that of a container, whose terminal is elsewhere.
fn is_ascii() -> bool {
    let value = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(value);
    let is_utf8 = |locale: String| {
        let locale = locale.to_lowercase().replace('-', "");
        locale.contains("utf8")
    };
    locale.is_some_and(|locale| !is_utf8(locale))
}
