//! Makes texts that a user named safe to show: they never become control codes, markup or a layout of their own.

use std::borrow::Cow;
use std::fmt::Write as _;

use crate::width;

/// The text with everything that a terminal would act on, or that reorders or hides text, spelled out.
///
/// ```
/// use marey_report::escape::visible;
/// assert_eq!(visible("a\x1b[31mb\n"), "a\\x1b[31mb\\x0a");
/// assert_eq!(visible("a\u{202e}b"), "a\\u{202e}b");
/// ```
pub fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        push_visible(&mut shown, c);
    }
    shown
}

/// [`visible`], at most `limit` columns of a terminal wide; the last one is `…` if something was cut.
pub fn cut(text: &str, limit: usize) -> String {
    // A name may be long; nothing beyond the limit can show. No character is wider than its bytes are many.
    let mut shown = String::new();
    for c in text.chars() {
        push_visible(&mut shown, c);
        if shown.len() > limit && !width::fits(&shown, limit) {
            return width::front(&shown, limit);
        }
    }
    shown
}

/// [`visible`] for one cell of a Markdown table: no pipe, tag, link or emphasis.
pub fn markdown(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in visible(text).chars() {
        match c {
            '<' => shown.push_str("&lt;"),
            '>' => shown.push_str("&gt;"),
            '&' => shown.push_str("&amp;"),
            '\\' | '|' | '`' | '*' | '_' | '[' | ']' | '~' | '#' | '!' => {
                shown.push('\\');
                shown.push(c);
            }
            _ => shown.push(c),
        }
    }
    shown
}

/// A name as code, in a sentence or in one cell of a table: nobody is mentioned by it and nothing linked.
///
/// ```text
/// vae_decode    `vae_decode`
/// a|b           <code>a\|b</code>    a pipe ends a cell even in code
/// ```
pub(crate) fn markdown_code(name: &str) -> String {
    let shown = visible(name);
    let ends_well = shown == shown.trim() && !shown.is_empty();
    if ends_well && !shown.contains(['`', '|', '\\']) {
        return format!("`{shown}`");
    }
    format!("<code>{}</code>", markdown(name))
}

/// JSON text in which no string holds a character that a terminal or a browser would act on. The document stays the
/// same: such characters become `\uXXXX`. Outside of strings JSON has none of them. A document without such characters is not copied.
pub fn json(document: &str) -> Cow<'_, str> {
    let is_spelled_out = |c: char| (is_harmful(c) && c != '\n') || matches!(c, '<' | '>' | '&');
    // Documents may be large, and most lines of them are plain text: one look at each byte.
    let is_plain = |b: u8| matches!(b, b' '..=b'~') && !matches!(b, b'<' | b'>' | b'&');
    let mut others = document.split('\n').filter(|line| !line.bytes().all(is_plain));
    if !others.any(|line| line.contains(is_spelled_out)) {
        return Cow::Borrowed(document);
    }
    let mut shown = String::with_capacity(document.len());
    for c in document.chars() {
        if is_spelled_out(c) {
            let mut units = [0; 2];
            for unit in c.encode_utf16(&mut units) {
                write_to(&mut shown, format_args!("\\u{unit:04x}"));
            }
        } else {
            shown.push(c);
        }
    }
    Cow::Owned(shown)
}

fn push_visible(shown: &mut String, c: char) {
    if !is_harmful(c) {
        shown.push(c);
    } else if u32::from(c) < 0x100 {
        write_to(shown, format_args!("\\x{:02x}", u32::from(c)));
    } else {
        write_to(shown, format_args!("\\u{{{:x}}}", u32::from(c)));
    }
}

/// Control characters, and those that reorder or hide text: bidirectional marks and overrides, zero-width characters,
/// line and paragraph separators, tags. Source: Unicode Technical Report 36, section 3.
fn is_harmful(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{ad}'
                | '\u{61c}'
                | '\u{180e}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{feff}'
                | '\u{fff9}'..='\u{fffb}'
                | '\u{e0000}'..='\u{e007f}'
        )
}

fn write_to(shown: &mut String, what: std::fmt::Arguments<'_>) {
    shown.write_fmt(what).expect("writing to a String never fails");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_codes_are_spelled_out() {
        assert_eq!(visible("\x1b[31mred\x07"), "\\x1b[31mred\\x07");
        assert_eq!(visible("a\r\nb\tc\0"), "a\\x0d\\x0ab\\x09c\\x00");
        assert_eq!(visible("\u{9b}2J\u{7f}"), "\\x9b2J\\x7f");
    }

    #[test]
    fn text_cannot_be_reordered_or_hidden() {
        assert_eq!(visible("a\u{202e}b\u{2066}c"), "a\\u{202e}b\\u{2066}c");
        assert_eq!(visible("a\u{200b}b\u{feff}"), "a\\u{200b}b\\u{feff}");
        assert_eq!(visible("\u{e0041}"), "\\u{e0041}");
    }

    #[test]
    fn ordinary_text_of_any_language_stays() {
        for text in ["vae_decode", "../up", "</script>", "décodage 復号 🎞", "C:\\models"] {
            assert_eq!(visible(text), text);
        }
    }

    #[test]
    fn a_long_text_is_cut() {
        assert_eq!(cut("abcdef", 6), "abcdef");
        assert_eq!(cut("abcdefg", 6), "abcde…");
        assert_eq!(cut("ééééééé", 3), "éé…");
        assert_eq!(cut("\x1b\x1b", 5), "\\x1b…");
        assert_eq!(cut("abc", 0), "");
        assert_eq!(cut("", 0), "");
    }

    #[test]
    fn a_wide_text_is_cut_by_columns() {
        assert_eq!(cut("日本語", 6), "日本語");
        assert_eq!(cut("日本語", 5), "日本…");
        assert_eq!(cut("e\u{301}tude", 5), "e\u{301}tude");
        assert_eq!(cut("🎬🎬🎬", 4), "🎬…");
    }

    #[test]
    fn a_name_cannot_leave_its_markdown_cell() {
        assert_eq!(markdown("a|b\nc"), "a\\|b\\\\x0ac");
        assert_eq!(markdown("</script>"), "&lt;/script&gt;");
        assert_eq!(markdown("[x](y) `z`"), "\\[x\\](y) \\`z\\`");
    }

    #[test]
    fn escaped_json_is_the_same_document() {
        let given = "</script>\u{1b}[31m\u{9b}\u{202e}\u{e0041}../\n\"";
        let document = serde_json::to_string(given).unwrap();
        let shown = json(&document);
        assert!(shown.is_ascii() && !shown.contains('<'));
        let back: String = serde_json::from_str(&shown).unwrap();
        assert_eq!(back, given);
    }

    #[test]
    fn a_name_is_code() {
        assert_eq!(markdown_code("vae_decode"), "`vae_decode`");
        assert_eq!(
            markdown_code("<b>@team</b> [x](y)\n"),
            "<code>&lt;b&gt;@team&lt;/b&gt; \\[x\\](y)\\\\x0a</code>"
        );
        assert_eq!(markdown_code("<b>@team</b>"), "`<b>@team</b>`");
    }

    #[test]
    fn a_name_that_would_end_the_code_or_the_cell_is_spelled_out() {
        assert_eq!(markdown_code("a|b"), "<code>a\\|b</code>");
        assert_eq!(markdown_code("`"), "<code>\\`</code>");
        assert_eq!(markdown_code("a\\|b"), "<code>a\\\\\\|b</code>");
        assert_eq!(markdown_code(" a"), "<code> a</code>");
        assert_eq!(markdown_code(""), "<code></code>");
    }
}
