//! A titled block between rules.

use crate::width::columns;

/// Title and lines between rules of this width: columns of the widest line, at least `min_width`. Ends with a line
/// feed.
pub(super) fn titled(title: &str, lines: &[String], min_width: usize) -> String {
    framed(title, None, lines, min_width)
}

/// A titled block whose first line is a header, ruled off from the others.
pub(super) fn table(title: &str, header: &str, lines: &[String], min_width: usize) -> String {
    framed(title, Some(header), lines, min_width)
}

fn framed(title: &str, header: Option<&str>, lines: &[String], min_width: usize) -> String {
    let all = lines.iter().map(String::as_str).chain(header).chain([title]);
    let longest = all.map(columns).max().unwrap_or(0);
    let width = longest.max(min_width);
    let rule = "=".repeat(width);
    let mut text = format!("{rule}\n{title}\n{rule}\n");
    if let Some(header) = header {
        text.push_str(header.trim_end());
        text.push('\n');
        text.push_str(&"-".repeat(width));
        text.push('\n');
    }
    for line in lines {
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text.push_str(&rule);
    text.push('\n');
    text
}
