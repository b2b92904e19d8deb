//! A list of Markdown.

/// One line for each item, which is Markdown already: what a user named is escaped. Of more than `limit` items a
/// last line says how many are left out. Ends with a line feed; empty without items.
pub(crate) fn list(items: &[String], limit: usize) -> String {
    // An item is one line, whatever is in it.
    let one_line = |item: &String| format!("- {}", item.replace(['\n', '\r'], " "));
    let mut lines: Vec<String> = items.iter().take(limit).map(one_line).collect();
    if items.len() > limit {
        lines.push(format!("- and {} more", items.len() - limit));
    }
    lines.iter().flat_map(|line| [line, "\n"]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_item_is_a_line() {
        let items = ["a", "b\nc", "d"].map(str::to_owned);
        assert_eq!(list(&items, 3), "- a\n- b c\n- d\n");
        assert_eq!(list(&items, 1), "- a\n- and 2 more\n");
        assert_eq!(list(&[], 3), "");
    }
}
