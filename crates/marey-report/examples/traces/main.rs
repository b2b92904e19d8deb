//! Writes traces of drawn runs, for tests that read them with the viewers' own programs and for measurements; says on standard
//! output how many bytes were written before compression, how much CPU time that took, and how much memory the process took.
//!
//!     traces perfetto|chrome|tensorboard known|job|video|hostile|empty|extremes|threads|tasks|million OUT
//!
//! OUT is compressed if its name ends with `.gz`.

mod extremes;
mod known;
#[path = "../report_page/million.rs"]
mod million;
#[path = "../report_page/video.rs"]
mod video;

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use marey::Run;
use marey_report::{Compression, TraceFormat, TraceWriter};
use marey_testing::RunBuilder;

fn main() -> io::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [format, kind, path] = &arguments[..] else {
        return usage();
    };
    let (Some(format), Some(runs)) = (format_of(format), runs(kind)) else {
        return usage();
    };
    let is_compressed = Path::new(path).extension().is_some_and(|end| end == "gz");
    let compression = if is_compressed { Compression::Gzip } else { Compression::None };
    let before = (cpu_ns()?, peak_kib()?);
    write(File::create(path)?, format, compression, &runs)?;
    let after = (cpu_ns()?, peak_kib()?);
    let n_bytes = write(Counted(0), format, Compression::None, &runs)?.0;
    let n_slices: usize = runs.iter().map(|run| run.sections.len()).sum();
    writeln!(
        io::stdout(),
        r#"{{"slices": {n_slices}, "bytes": {n_bytes}, "stored_bytes": {}, "cpu_ns": {}, "peak_kib": {}, "of_that_the_run_kib": {}}}"#,
        std::fs::metadata(path)?.len(),
        after.0 - before.0,
        after.1,
        before.1
    )
}

fn write<W: Write>(
    out: W,
    format: TraceFormat,
    compression: Compression,
    runs: &[Run],
) -> io::Result<W> {
    let starts = runs.iter().map(|run| run.info.start_unix_ns);
    let base = starts.min().unwrap_or(0);
    let mut writer = TraceWriter::new(out, format, compression, base)?;
    runs.iter().try_for_each(|run| writer.add(run))?;
    writer.finish()
}

fn format_of(name: &str) -> Option<TraceFormat> {
    Some(match name {
        "perfetto" => TraceFormat::Perfetto,
        "chrome" => TraceFormat::Chrome,
        "tensorboard" => TraceFormat::TensorBoard,
        _ => return None,
    })
}

fn runs(kind: &str) -> Option<Vec<Run>> {
    Some(vec![match kind {
        "known" => known::drawn(),
        "job" => return Some(vec![known::run(0), known::run(1)]),
        "video" => video::run(video::PLAIN),
        "hostile" => video::run(video::HOSTILE),
        "empty" => RunBuilder::new().finish(0),
        "extremes" => extremes::run(),
        "threads" => extremes::threads(),
        "tasks" => extremes::tasks(),
        "million" => million::run(1_000_000),
        _ => return None,
    }])
}

/// Counts what is written.
struct Counted(u64);

impl Write for Counted {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// CPU time of this thread so far, the only one that there is.
fn cpu_ns() -> io::Result<u64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat")?;
    number(text.split_whitespace().next())
}

/// Most resident memory of this process so far.
fn peak_kib() -> io::Result<u64> {
    let text = std::fs::read_to_string("/proc/self/status")?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    number(line.and_then(|line| line.split_whitespace().next()))
}

fn number(text: Option<&str>) -> io::Result<u64> {
    let number = text.and_then(|text| text.parse().ok());
    number.ok_or_else(|| io::ErrorKind::InvalidData.into())
}

fn usage() -> io::Result<()> {
    writeln!(
        io::stderr(),
        "traces perfetto|chrome|tensorboard known|job|video|hostile|empty|extremes|threads|tasks|million OUT"
    )?;
    Err(io::ErrorKind::InvalidInput.into())
}
