//! Traces that windows of torch's profiler wrote: each lies in its folder under two names, the second for TensorBoard's plugin.

use std::path::{Path, PathBuf};

/// How the first name ends, and how the second one.
const ENDINGS: (&str, &str) = (".trace.json.gz", ".pt.trace.json.gz");

/// The first name of a file that has both, with links followed; of any other the path itself.
pub(crate) fn first_name(path: &Path) -> PathBuf {
    let first = of_second(path).unwrap_or_else(|| path.to_owned());
    first.canonicalize().unwrap_or(first)
}

/// A file that is there under its first name, too: of one size, since copied folders have no links.
pub(crate) fn is_second_name(path: &Path) -> bool {
    of_second(path).is_some()
}

fn of_second(path: &Path) -> Option<PathBuf> {
    let stem = path.file_name()?.to_str()?.strip_suffix(ENDINGS.1)?;
    let first = path.with_file_name(format!("{stem}{}", ENDINGS.0));
    let size = |path: &Path| std::fs::metadata(path).ok().map(|file| file.len());
    (size(&first)? == size(path)?).then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_goes_by_its_first_name_unless_the_second_is_another_file() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().canonicalize().unwrap();
        let write = |name: &str, content: &str| {
            std::fs::write(place.join(name), content).unwrap();
            place.join(name)
        };
        let first = write("a.trace.json.gz", "trace");
        let second = place.join("a.pt.trace.json.gz");
        std::fs::hard_link(&first, &second).unwrap();
        assert_eq!(first_name(&second), first);
        assert_eq!(first_name(&first), first);
        assert!(is_second_name(&second) && !is_second_name(&first));

        let other = write("b.pt.trace.json.gz", "of torch's own handler");
        assert!(!is_second_name(&other));
        write("b.trace.json.gz", "another trace");
        assert_eq!(first_name(&other), other);
    }
}
