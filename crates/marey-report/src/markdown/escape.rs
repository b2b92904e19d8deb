//! Makes texts that a user named safe in Markdown.

use crate::escape;

/// [`escape::markdown`]: text in a sentence or in one cell of a table.
pub(crate) use crate::escape::markdown as text;

/// A name as code, in a sentence or in one cell of a table: nobody is mentioned by it and nothing linked.
///
/// ```text
/// vae_decode    `vae_decode`
/// a|b           <code>a\|b</code>    a pipe ends a cell even in code
/// ```
pub(crate) fn code(name: &str) -> String {
    let shown = escape::visible(name);
    let ends_well = shown == shown.trim() && !shown.is_empty();
    if ends_well && !shown.contains(['`', '|', '\\']) {
        return format!("`{shown}`");
    }
    format!("<code>{}</code>", text(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_code() {
        assert_eq!(code("vae_decode"), "`vae_decode`");
        assert_eq!(
            code("<b>@team</b> [x](y)\n"),
            "<code>&lt;b&gt;@team&lt;/b&gt; \\[x\\](y)\\\\x0a</code>"
        );
        assert_eq!(code("<b>@team</b>"), "`<b>@team</b>`");
    }

    #[test]
    fn a_name_that_would_end_the_code_or_the_cell_is_spelled_out() {
        assert_eq!(code("a|b"), "<code>a\\|b</code>");
        assert_eq!(code("`"), "<code>\\`</code>");
        assert_eq!(code("a\\|b"), "<code>a\\\\\\|b</code>");
        assert_eq!(code(" a"), "<code> a</code>");
        assert_eq!(code(""), "<code></code>");
    }
}
