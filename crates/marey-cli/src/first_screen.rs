//! What the commands show first, as wide and as colourful as where it is shown.

use std::io::IsTerminal;
use std::path::Path;

use clap::ValueEnum;
use marey_folder::environment;
use marey_folder::run_folder::JobFolder;
use marey_folder::shown;
use marey_report::{FirstScreen, Places, Report, Shown, escape};

use crate::console::{locale_is_utf8, terminal_width};

/// Where no terminal says otherwise.
const COLUMNS: usize = 100;

/// Whether text has colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal, unless the environment says `NO_COLOR`
    Auto,
    /// Everywhere
    Always,
    /// Nowhere
    Never,
}

/// As text for a stream, as wide and as colourful as it is; `None` is a file.
pub(crate) fn text(screen: &FirstScreen, color: Color, out: Option<&impl IsTerminal>) -> String {
    let is_terminal = out.is_some_and(IsTerminal::is_terminal);
    screen.text(&Shown {
        width: out.and_then(terminal_width).unwrap_or(COLUMNS),
        has_colour: match color {
            Color::Auto => is_terminal && wants_colour(),
            Color::Always => true,
            Color::Never => false,
        },
        // No locale at all is that of a container, whose terminal is elsewhere.
        is_ascii: locale_is_utf8() == Some(false),
    })
}

/// The first screen of a job: of all its ranks where it has several, otherwise of its report.
pub(crate) fn of_job(job: &JobFolder, report: &Report) -> FirstScreen {
    match job.ranks() {
        Some(ranks) => ranks.screen(places(&job.path)),
        None => of_part(report, &job.path, ""),
    }
}

/// The first screen, and where the reports are: what stderr shows at the end of a program that asked for them by itself.
pub fn conclusion(job: &JobFolder) -> String {
    let screen = job.report.as_ref().map(|report| of_job(job, report));
    let screen = screen.map(|screen| text(&screen, Color::Auto, Some(&std::io::stderr())));
    let folder = shown(&job.path);
    format!("\n{}\nmarey: reports are in {folder}", screen.unwrap_or_default())
}

/// The first screen of a part of a job, or of a capture: ` --rank 2`, or nothing.
pub(crate) fn of_part(report: &Report, path: &Path, part: &str) -> FirstScreen {
    let mut places = places(path);
    if !part.is_empty() {
        places.full += &escape::visible(part);
        places.page = None;
    }
    FirstScreen::of_run(report, &places)
}

/// Where more is to be seen of a job's folder, or of a capture.
fn places(path: &Path) -> Places {
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
    Places {
        page: page.is_file().then(|| visible(shown(&page))),
        full: visible(format!("marey report --full {}", shown(path))),
        ranks: visible(format!("marey aggregate {}", shown(folder))),
    }
}

fn wants_colour() -> bool {
    let is_dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
    !is_dumb && environment("NO_COLOR").is_none()
}
