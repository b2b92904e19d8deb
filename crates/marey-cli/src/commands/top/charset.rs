//! Which characters a terminal can show.

use ratatui::buffer::Buffer;

/// Which characters a terminal can show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Charset {
    Unicode,
    /// The locale says nothing of UTF-8.
    Ascii,
}

impl Charset {
    /// As the locale has it: the first of `LC_ALL`, `LC_CTYPE` and `LANG` that says something.
    pub(super) fn of_environment() -> Self {
        let names = ["LC_ALL", "LC_CTYPE", "LANG"];
        let set = names.iter().filter_map(|name| std::env::var(name).ok());
        Self::of_locale(set.into_iter().find(|value| !value.is_empty()).as_deref())
    }

    fn of_locale(locale: Option<&str>) -> Self {
        let locale = locale.unwrap_or("C").to_ascii_lowercase();
        if locale.contains("utf-8") || locale.contains("utf8") {
            Self::Unicode
        } else {
            Self::Ascii
        }
    }

    /// Replaces what cannot be shown; the columns stay.
    pub(super) fn restrict(self, buffer: &mut Buffer) {
        if self == Self::Unicode {
            return;
        }
        for cell in &mut buffer.content {
            if !cell.symbol().is_ascii() {
                let shown = cell.symbol().chars().next().map_or(' ', ascii);
                cell.set_char(shown);
            }
        }
    }
}

/// What stands for a character.
fn ascii(c: char) -> char {
    match c {
        '▁' => '_',
        '▂' => '.',
        '▃' => ':',
        '▄' | '─' => '-',
        '▅' => '=',
        '▆' => '+',
        '▇' => '*',
        '█' => '#',
        'µ' => 'u',
        '°' => ' ',
        '…' => '~',
        '×' => 'x',
        _ => '?',
    }
}

#[cfg(test)]
mod tests {
    use ratatui::layout::Rect;
    use ratatui::style::Style;

    use super::*;

    #[test]
    fn the_locale_decides() {
        let of = |locale| Charset::of_locale(Some(locale));
        assert_eq!([of("C"), of("POSIX"), of("de_DE.ISO-8859-1")], [Charset::Ascii; 3]);
        assert_eq!([of("C.UTF-8"), of("ja_JP.utf8")], [Charset::Unicode; 2]);
        assert_eq!(Charset::of_locale(None), Charset::Ascii);
    }

    #[test]
    fn without_utf_8_everything_is_ascii_in_its_place() {
        let mut buffer = Buffer::empty(Rect::new(0, 0, 12, 1));
        buffer.set_string(0, 0, "▁█ µs 漢字é", Style::new());
        Charset::Ascii.restrict(&mut buffer);
        let row: String = buffer.content.iter().map(ratatui::buffer::Cell::symbol).collect();
        assert_eq!(row, "_# us ? ? ? ");
    }
}
