//! Columns of a terminal: wide characters take two, combining ones none.

use unicode_width::UnicodeWidthStr as _;

/// Characters that one column may hold: accents beyond this are cut.
const MAX_CHARS_PER_COLUMN: usize = 4;

/// Columns that the text takes.
pub fn columns(text: &str) -> usize {
    text.width()
}

/// The text with spaces after it.
pub fn pad_end(text: &str, width: usize) -> String {
    format!("{text}{}", spaces(text, width))
}

/// The text with spaces before it.
pub fn pad_start(text: &str, width: usize) -> String {
    format!("{}{text}", spaces(text, width))
}

fn spaces(text: &str, width: usize) -> String {
    " ".repeat(width.saturating_sub(columns(text)))
}

/// The text takes at most `width` columns and has no heap of accents.
pub(crate) fn fits(text: &str, width: usize) -> bool {
    columns(text) <= width && text.chars().nth(width * MAX_CHARS_PER_COLUMN).is_none()
}

/// The longest front of the text that fits with an `…` after it, and that.
pub fn front(text: &str, width: usize) -> String {
    let Some(kept) = width.checked_sub(1) else {
        return String::new();
    };
    let ends = text.char_indices().map(|(at, c)| at + c.len_utf8());
    let end = ends.take_while(|end| fits(&text[..*end], kept)).last();
    format!("{}…", &text[..end.unwrap_or(0)])
}

/// The longest end of the text that fits with an `…` before it, and that.
pub fn back(text: &str, width: usize) -> String {
    let Some(kept) = width.checked_sub(1) else {
        return String::new();
    };
    let starts = text.char_indices().rev().map(|(at, _)| at);
    let start = starts.take_while(|start| fits(&text[*start..], kept)).last();
    // An accent whose letter was cut belongs to nothing.
    let shown = text[start.unwrap_or(text.len())..]
        .trim_start_matches(|c: char| columns(c.encode_utf8(&mut [0; 4])) == 0);
    format!("…{shown}")
}

/// The text at most `width` columns wide: what is too long loses its middle, as names that resemble each other differ at their ends.
pub fn without_middle(text: &str, width: usize) -> String {
    if fits(text, width) {
        return text.to_owned();
    }
    // Both halves have the mark of the cut; one of them is enough.
    let end = back(text, width / 2 + 1);
    front(text, width - width / 2) + end.trim_start_matches('…')
}

/// The text in lines of at most `width` columns, broken between words, and within words that are longer. One empty line for no text.
pub fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let line = lines.last().map_or("", String::as_str);
        let is_first = line.is_empty();
        if !is_first && columns(line) + 1 + columns(word) > width {
            lines.push(String::new());
        } else if !is_first {
            push(&mut lines, ' ');
        }
        for c in word.chars() {
            let line = lines.last().map_or("", String::as_str);
            if columns(line) + columns(c.encode_utf8(&mut [0; 4])) > width {
                lines.push(String::new());
            }
            push(&mut lines, c);
        }
    }
    lines
}

fn push(lines: &mut [String], c: char) {
    if let Some(line) = lines.last_mut() {
        line.push(c);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn padded_texts_end_in_the_same_column() {
        assert_eq!(pad_end("復号", 6), "復号  ");
        assert_eq!(pad_start("復号", 6), "  復号");
        assert_eq!(pad_end("e\u{301}", 3), "e\u{301}  ");
        assert_eq!(pad_end("too long", 3), "too long");
    }

    #[test]
    fn a_wide_character_is_never_cut_in_half() {
        assert_eq!(front("日本語です", 6), "日本…");
        assert_eq!(front("日本語です", 7), "日本語…");
        assert_eq!(back("日本語です", 6), "…です");
        assert_eq!(back("日本語です", 5), "…です");
    }

    #[test]
    fn accents_stay_with_their_letters_and_do_not_pile_up() {
        assert_eq!(back("ae\u{301}bc", 3), "…bc");
        assert_eq!(back("ae\u{301}bc", 4), "…e\u{301}bc");
        let pile = "a".to_owned() + &"\u{301}".repeat(1000);
        assert!(!fits(&pile, 10));
        assert_eq!(front(&pile, 3).chars().count(), 2 * MAX_CHARS_PER_COLUMN + 1);
    }

    #[test]
    fn names_that_differ_at_their_ends_still_differ_when_they_are_cut() {
        assert_eq!(without_middle("transformer_blocks_17", 40), "transformer_blocks_17");
        assert_eq!(without_middle("transformer_blocks_17", 10), "tran…ks_17");
        assert_eq!(without_middle("transformer_blocks_18", 10), "tran…ks_18");
    }

    #[test]
    fn lines_break_between_words_and_within_long_ones() {
        assert_eq!(wrapped("one two three", 7), ["one two", "three"]);
        assert_eq!(wrapped("a verylongword", 6), ["a", "verylo", "ngword"]);
        assert_eq!(wrapped("日本語", 4), ["日本", "語"]);
        assert_eq!(wrapped("", 7), [""]);
    }
}
