//! A line of a terminal: pieces with colours, which never make it wider than the terminal is.

use super::Mood;
use crate::escape::visible;
use crate::width::{columns, front, pad_end, wrapped};

/// How a piece looks. Colours only underline what the words say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    Plain,
    Bold,
    Good,
    Bad,
    Mark,
    Bar,
    Dim,
}

impl Style {
    /// Of the outcome in a headline.
    pub(super) fn of(mood: Mood) -> Self {
        match mood {
            Mood::Good => Self::Good,
            Mood::Plain => Self::Plain,
            Mood::Bad => Self::Bad,
        }
    }

    fn code(self) -> &'static str {
        match self {
            Self::Plain => "",
            Self::Bold => "\x1b[1m",
            Self::Good => "\x1b[32m",
            Self::Bad => "\x1b[31m",
            Self::Mark => "\x1b[33m",
            Self::Bar => "\x1b[36m",
            Self::Dim => "\x1b[2m",
        }
    }
}

/// Pieces of one line.
#[derive(Clone, Debug, Default)]
pub(super) struct Line {
    pieces: Vec<(String, Style)>,
}

impl Line {
    pub(super) fn plain(text: impl Into<String>) -> Self {
        Self::default().with(text, Style::Plain)
    }

    pub(super) fn with(mut self, text: impl Into<String>, style: Style) -> Self {
        self.pieces.push((text.into(), style));
        self
    }

    pub(super) fn width(&self) -> usize {
        self.pieces.iter().map(|(text, _)| columns(text)).sum()
    }

    /// At most `width` columns wide, without blanks at the end.
    pub(super) fn painted(&self, width: usize, has_colour: bool) -> String {
        let mut left = width;
        let mut shown = String::new();
        let all: String = self.pieces.iter().map(|(text, _)| text.as_str()).collect();
        let mut kept = all.trim_end().len();
        for (text, style) in &self.pieces {
            let text = &text[..text.len().min(kept)];
            kept -= text.len();
            let text = match columns(text) {
                n if n <= left => text.to_owned(),
                _ => front(text, left),
            };
            left -= columns(&text).min(left);
            if has_colour && *style != Style::Plain && !text.trim().is_empty() {
                shown.extend([style.code(), &text, "\x1b[0m"]);
            } else {
                shown += &text;
            }
        }
        shown.trim_end().to_owned()
    }
}

/// Text in lines of at most `width` columns, each behind `indent` blanks, at most so many; the last one then ends in `…`.
pub(super) fn paragraph(text: &str, indent: usize, width: usize, most: usize) -> Vec<String> {
    let room = width.saturating_sub(indent).max(1);
    let mut lines = wrapped(text, room);
    if lines.len() > most {
        let rest = lines.split_off(most.saturating_sub(1)).join(" ");
        lines.push(front(&rest, room));
    }
    let before = " ".repeat(indent);
    lines.into_iter().map(|line| format!("{before}{line}")).collect()
}

/// Parts behind a label that takes so many columns, with a mark between them, in at most so many lines.
pub(super) fn labelled(
    label: &str,
    indent: usize,
    parts: &[String],
    between: &str,
    width: usize,
    most: usize,
) -> Vec<Line> {
    let mut said: Vec<String> = Vec::new();
    for part in parts {
        match said.last_mut() {
            Some(last) if indent + columns(last) + columns(between) + columns(part) <= width => {
                last.extend([between, part]);
            }
            _ => said.push(part.clone()),
        }
    }
    said.truncate(most);
    let line = |(at, text): (usize, String)| {
        let label = if at == 0 { label } else { "" };
        Line::plain(format!("  {}{text}", pad_end(label, indent - 2)))
    };
    said.into_iter().enumerate().map(line).collect()
}

/// Signs as the terminal has them: those of ASCII where it has no others.
pub(super) fn spelled(text: &str, is_ascii: bool) -> String {
    if !is_ascii {
        return text.to_owned();
    }
    let mut plain = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '×' => plain.push('x'),
            '→' => plain.push_str("->"),
            '·' | '−' => plain.push('-'),
            '›' => plain.push('>'),
            '…' => plain.push_str("..."),
            '≤' => plain.push_str("<="),
            '≥' => plain.push_str(">="),
            '±' => plain.push_str("+/-"),
            'µ' => plain.push('u'),
            '█' => plain.push('#'),
            '▏' | '▎' | '▍' | '▌' | '▋' | '▊' | '▉' => {}
            c => plain.push(c),
        }
    }
    plain
}

/// A name, cut in its middle: its first and its last part tell it from others.
pub(super) fn name(text: &str, width: usize) -> String {
    const LAST: usize = 8;
    let shown = visible(text);
    // Blanks alone would be no name.
    let shown = if shown.trim().is_empty() { format!("\"{shown}\"") } else { shown };
    if crate::width::fits(&shown, width) {
        return shown;
    }
    let last = if width > 2 * LAST { LAST } else { width / 3 };
    let end = crate::width::back(&shown, last + 1);
    let start = front(&shown, width.saturating_sub(last));
    format!("{}{end}", start.trim_end_matches('…'))
}

/// A share of `cells` in eighths of a cell; below 0.6 % none.
pub(super) fn bar(part: u64, whole: u64, cells: usize, is_ascii: bool) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let (part, whole) = (u128::from(part), u128::from(whole.max(1)));
    if part * 1000 < whole * 6 {
        return String::new();
    }
    let eighths = (part.min(whole) * cells as u128 * 16 + whole) / (2 * whole);
    if is_ascii {
        return "#".repeat(usize::try_from((eighths + 4) / 8).unwrap_or(0));
    }
    let whole = "█".repeat(usize::try_from(eighths / 8).unwrap_or(0));
    let part = usize::try_from(eighths % 8).map_or("", |part| EIGHTHS[part]);
    format!("{whole}{part}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_is_a_share_of_the_total() {
        assert_eq!(bar(561, 1000, 20, false), "███████████▎");
        assert_eq!(bar(7, 7, 20, false), "█".repeat(20));
        assert_eq!(
            (bar(5, 1000, 20, false), bar(12, 1000, 20, false)),
            (String::new(), "▎".into())
        );
        assert_eq!(bar(561, 1000, 10, true), "######");
    }

    #[test]
    fn a_long_name_keeps_both_ends() {
        assert_eq!(name("transformer_block_forward_17", 24), "transformer_blo…rward_17");
        assert_eq!(name("  ", 24), "\"  \"");
        assert!(columns(&name(&"日本".repeat(30), 24)) <= 24);
    }

    #[test]
    fn a_line_is_cut_with_its_colours() {
        let line = Line::plain("ab").with("cdef", Style::Bad).with("   ", Style::Plain);
        assert_eq!(line.painted(4, false), "abc…");
        assert_eq!(line.painted(6, true), "ab\x1b[31mcdef\x1b[0m");
    }
}
