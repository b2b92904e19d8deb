//! Traces that windows of torch's profiler wrote: each lies in its folder under two names, the second for TensorBoard's plugin.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// How the first name ends, and how the second one.
const ENDINGS: (&str, &str) = (".trace.json.gz", ".pt.trace.json.gz");

/// The first name of a file that has both, with links followed; of any other the path itself.
pub fn first_name(path: &Path) -> PathBuf {
    let first = of_second(path).unwrap_or_else(|| path.to_owned());
    first.canonicalize().unwrap_or(first)
}

/// A file that is there under its first name, too: with the same size and checksum, since copied folders have no links.
pub fn is_second_name(path: &Path) -> bool {
    of_second(path).is_some()
}

fn of_second(path: &Path) -> Option<PathBuf> {
    let stem = path.file_name()?.to_str()?.strip_suffix(ENDINGS.1)?;
    let first = path.with_file_name(format!("{stem}{}", ENDINGS.0));
    (trailer(&first).ok()? == trailer(path).ok()?).then_some(first)
}

/// Size, and the last bytes of a packed file: checksum and length of what is in it.
fn trailer(path: &Path) -> io::Result<(u64, [u8; 8])> {
    let mut file = File::open(path)?;
    let (mut last, size) = ([0; 8], file.metadata()?.len());
    file.seek(SeekFrom::End(-8))?;
    file.read_exact(&mut last)?;
    Ok((size, last))
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
        let first = write("a.trace.json.gz", "packed trace");
        let second = place.join("a.pt.trace.json.gz");
        std::fs::hard_link(&first, &second).unwrap();
        assert_eq!(first_name(&second), first);
        assert_eq!(first_name(&first), first);
        assert!(is_second_name(&second) && !is_second_name(&first));

        let other = write("b.pt.trace.json.gz", "of torch's own handler");
        assert!(!is_second_name(&other));
        for another in ["another trace", "of torch's own handle2"] {
            write("b.trace.json.gz", another);
            assert_eq!(first_name(&other), other);
        }
    }
}
