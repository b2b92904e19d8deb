//! First screens as people see them.

use marey_report::{FirstScreen, Shown};

pub(crate) const WIDTHS: [usize; 3] = [60, 80, 100];

/// As a terminal of this width without colours shows it.
pub(crate) fn text(screen: &FirstScreen, width: usize, is_ascii: bool) -> String {
    screen.text(&Shown { width, has_colour: false, is_ascii })
}

/// Without columns and line breaks.
pub(crate) fn squeezed(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// At all widths, then in ASCII.
pub(crate) fn at_each_width(screen: &FirstScreen) -> String {
    let at = |width: usize| format!("{}\n{}", "-".repeat(width), text(screen, width, false));
    WIDTHS.map(at).concat() + &format!("{} ASCII\n{}", "-".repeat(94), text(screen, 100, true))
}
