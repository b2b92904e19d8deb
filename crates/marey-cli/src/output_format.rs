//! Which format the name of a file asks for.

use std::path::Path;

use clap::ValueEnum;

/// Endings of files, and what the formats are called on the command line.
const ENDINGS: [(&str, &str); 9] = [
    (".ranks.json", "summaries"),
    (".json", "json"),
    (".md", "markdown"),
    (".html", "html"),
    (".htm", "html"),
    (".txt", "text"),
    (".csv", "csv"),
    (".pftrace", "perfetto"),
    (".pftrace.gz", "perfetto"),
];

/// The format that the ending of a file says, of those that a command has; `None` where it says none of them.
pub(crate) fn said_by<F: ValueEnum>(file: &Path) -> Option<F> {
    let name = file.to_string_lossy().to_ascii_lowercase();
    let mut known = ENDINGS.iter().filter(|(ending, _)| name.ends_with(ending));
    known.find_map(|(_, format)| F::from_str(format, true).ok())
}
