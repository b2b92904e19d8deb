//! A finding: its title, its evidence, what to try.

use super::Cut;
use crate::escape::visible;
use crate::first_screen::finding::ScreenFinding;
use crate::first_screen::line::{Line, Style, paragraph, spelled};

/// Title, evidence, what to try.
pub(super) fn of(found: &ScreenFinding, cut: &Cut) -> Vec<Line> {
    let is_ascii = cut.is_ascii;
    let title = spelled(&visible(&found.title()), is_ascii);
    let mut lines = Vec::new();
    for (at, line) in paragraph(&title, 4, cut.width, 2).into_iter().enumerate() {
        lines.push(match at {
            0 => Line::plain("  ").with("!", Style::Mark).with(line[3..].to_owned(), Style::Plain),
            _ => Line::plain(line),
        });
    }
    let most = match cut.level {
        0 => 4,
        1..3 => 2,
        3..6 => 1,
        _ => 0,
    };
    let evidence = spelled(&visible(&found.evidence), is_ascii);
    if most > 0 && !evidence.is_empty() {
        lines.extend(paragraph(&evidence, 4, cut.width, most).into_iter().map(Line::plain));
    }
    let tries = spelled(&visible(&found.tries), is_ascii);
    let most = match cut.level {
        0..5 => 4,
        5 => 2,
        _ => 1,
    };
    for (at, line) in paragraph(&tries, 9, cut.width, most).into_iter().enumerate() {
        let text = if at == 0 { format!("    Try  {}", &line[9..]) } else { line };
        lines.push(Line::plain(text));
    }
    lines
}
