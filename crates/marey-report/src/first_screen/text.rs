//! The first screen as text: at most 25 lines, no wider than the terminal.

mod rows;

use super::line::{Line, Style, labelled, paragraph, spelled};
use super::{FirstScreen, Labelled, ScreenFinding};
use crate::escape::visible;
use crate::width::columns;

/// Columns, where the terminal has no fewer.
const WIDTH: usize = 100;
const LINES: usize = 25;
const NAME: usize = 24;
const MOST_FINDINGS: usize = 2;
/// Lines of a title, which says at its end who did not come.
const TITLE_LINES: usize = 10;
/// Columns of a label, where none is longer.
const LABEL: usize = 6;

/// How the first screen is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shown {
    /// Columns that there are.
    pub width: usize,
    /// With colours of a terminal.
    pub has_colour: bool,
    /// Without signs that are not of ASCII.
    pub is_ascii: bool,
}

/// What is left out so that it fits, the first at once, the others one after the other.
struct Cut {
    level: usize,
    width: usize,
    is_ascii: bool,
}

impl Cut {
    const LEVELS: usize = 8;

    fn from(&self, level: usize) -> bool {
        self.level >= level
    }

    /// Safe to print, in signs that the terminal has.
    fn said(&self, text: &str) -> String {
        spelled(&visible(text), self.is_ascii)
    }

    /// A text in at most so many lines, the first one behind a mark at a column.
    fn marked(&self, at: usize, mark: &str, text: &str, indent: usize, most: usize) -> Vec<Line> {
        let mut lines = paragraph(&self.said(text), indent, self.width, most).into_iter();
        let first = lines.next().map(|line| {
            let rest = &line[at + mark.len()..];
            Line::plain(" ".repeat(at)).with(mark, Style::Mark).with(rest, Style::Plain)
        });
        first.into_iter().chain(lines.map(Line::plain)).collect()
    }

    fn is_narrow(&self) -> bool {
        self.width < 60
    }

    fn cells(&self) -> usize {
        match self.width {
            0..80 => 0,
            80..WIDTH => 10,
            _ => 20,
        }
    }
}

impl FirstScreen {
    /// As text, which ends with a line feed.
    pub fn text(&self, how: &Shown) -> String {
        let width = how.width.clamp(1, WIDTH);
        let mut lines = Vec::new();
        for level in 0..Cut::LEVELS {
            lines = self.lines(&Cut { level, width, is_ascii: how.is_ascii });
            if lines.len() <= LINES {
                break;
            }
        }
        lines.truncate(LINES);
        let lines = lines.iter().map(|line| line.painted(width, how.has_colour) + "\n");
        let text: String = lines.collect();
        // What was cut ends so.
        if how.is_ascii { text.replace('…', "~") } else { text }
    }

    fn lines(&self, cut: &Cut) -> Vec<Line> {
        let account = self.account.as_ref();
        let differences = self.differences.as_ref();
        let mut parts = vec![
            self.headline_lines(cut),
            account.map_or_else(Vec::new, |account| rows::lines(account, cut)),
            differences.map_or_else(Vec::new, |found| rows::differences(found, cut)),
            self.labelled_lines(cut),
        ];
        parts.extend(self.finding_lines(cut));
        parts.extend([self.closing_lines(cut), self.next_lines(cut)]);
        parts.retain(|part| !part.is_empty());
        parts.join(&Line::default())
    }

    /// `marey: clip.py finished in 1.838 s · 1 clip: 20 steps`
    fn headline_lines(&self, cut: &Cut) -> Vec<Line> {
        let head = &self.headline;
        let subject = cut.said(&head.subject);
        let outcome = cut.said(&head.outcome);
        let blank = if subject.is_empty() || outcome.is_empty() { "" } else { " " };
        let before = format!("marey: {subject}{blank}");
        let mut after = cut.said(&head.after);
        for part in &head.parts {
            let longer = format!("{after}{}", cut.said(&format!(" · {part}")));
            if columns(&format!("{before}{outcome}{longer}")) <= cut.width {
                after = longer;
            }
        }
        let whole = format!("{before}{outcome}{after}");
        if columns(&whole) > cut.width {
            let lines = paragraph(&whole, 0, cut.width, 3).into_iter();
            return lines.map(|line| Line::default().with(line, Style::Bold)).collect();
        }
        let line = Line::default().with(before, Style::Bold);
        vec![line.with(outcome, Style::of(head.mood)).with(after, Style::Bold)]
    }

    fn labelled_lines(&self, cut: &Cut) -> Vec<Line> {
        let is_shown = |line: &&Labelled| !(line.parts.is_empty() || line.may_go && cut.from(2));
        let shown: Vec<&Labelled> = self.lines.iter().filter(is_shown).collect();
        let longest = shown.iter().map(|line| columns(line.label)).max();
        let label = longest.unwrap_or(0).max(LABEL) + 4;
        let most = if cut.from(3) { 1 } else { 2 };
        let between = spelled(" · ", cut.is_ascii);
        let lines = shown.iter().flat_map(|line| {
            let parts: Vec<String> = line.parts.iter().map(|part| cut.said(part)).collect();
            labelled(line.label, label, &parts, &between, cut.width, most)
        });
        lines.collect()
    }

    fn finding_lines(&self, cut: &Cut) -> Vec<Vec<Line>> {
        let most = if cut.from(5) { 1 } else { MOST_FINDINGS };
        let shown = self.findings.iter().take(most);
        let mut parts: Vec<Vec<Line>> = shown.map(|found| lines_of(found, cut)).collect();
        let more = self.findings.len().saturating_sub(most);
        if let (1.., Some(last)) = (more, parts.last_mut()) {
            last.push(Line::plain(format!("  + {more} more: {}", self.next.full)));
        }
        parts
    }

    fn closing_lines(&self, cut: &Cut) -> Vec<Line> {
        let shown = self.closing.iter();
        let shown = shown.filter(|said| !(said.may_go && cut.from(3)));
        let lines = shown.flat_map(|said| {
            let lines = paragraph(&cut.said(&said.text), 2, cut.width, 2).into_iter();
            lines.map(|line| Line::default().with(line, Style::of(said.mood)))
        });
        lines.collect()
    }

    fn next_lines(&self, cut: &Cut) -> Vec<Line> {
        let lost = self.data.iter().flat_map(|lost| cut.marked(2, "Data", lost, 8, 2));
        let mut lines: Vec<Line> = lost.collect();
        let parts = &self.next.parts;
        let one = format!("  Next  {}", parts.join(&spelled("   ·   ", cut.is_ascii)));
        if columns(&one) <= cut.width {
            lines.push(Line::plain(one));
            return lines;
        }
        let most = if cut.from(6) { 1 } else { parts.len() };
        // Nothing of a command or a path is cut: it goes on in the next line.
        let shown = parts.iter().take(most);
        let shown = shown.flat_map(|part| paragraph(part, 8, cut.width, LINES));
        lines.extend(shown.enumerate().map(|(at, line)| match at {
            0 => Line::plain(format!("  Next  {}", line.trim_start())),
            _ => Line::plain(line),
        }));
        lines
    }
}

/// A finding: its title, its evidence, what to try.
fn lines_of(found: &ScreenFinding, cut: &Cut) -> Vec<Line> {
    let mut lines = cut.marked(2, "!", &found.title(), 4, TITLE_LINES);
    let most = match cut.level {
        0 => 4,
        1..3 => 2,
        3..6 => 1,
        _ => 0,
    };
    let evidence = cut.said(&found.evidence);
    if most > 0 && !evidence.is_empty() {
        lines.extend(paragraph(&evidence, 4, cut.width, most).into_iter().map(Line::plain));
    }
    let tries = cut.said(&found.tries);
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
