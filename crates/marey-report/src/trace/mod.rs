//! A run as a trace, in the formats of viewers.
//!
//! [`tracks`] tells what is in a run, track by track; each format writes what it gets as it comes, so that besides the run
//! only what one thread did is in memory.

mod chrome;
mod ids;
mod joined;
mod json_text;
mod launches;
mod names;
mod perfetto;
mod protobuf;
mod slice;
mod tracks;

use std::io::{self, BufWriter, Write};

use flate2::write::GzEncoder;
use marey::{Run, RunInfo};
use marey_analysis::ranks::CallParts;

use chrome::ChromeWriter;
use ids::Ids;
pub use joined::JoinedTraces;
use perfetto::PerfettoWriter;
use tracks::{Process, tell};

/// Formats of traces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TraceFormat {
    /// Perfetto's own: everything, with arrows, units and order.
    Perfetto,
    /// Chrome JSON in the way of torch's profiler: for HolisticTraceAnalysis, `chrome://tracing`, Perfetto and speedscope.
    Chrome,
    /// Chrome JSON for TensorBoard's torch plugin: denoising steps have the names that it knows.
    TensorBoard,
}

/// How the bytes of a trace are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    /// As they are.
    None,
    /// One member of gzip: some viewers read only the first.
    Gzip,
}

/// Writes a trace of one process or several.
#[derive(Debug)]
pub struct TraceWriter<W: Write> {
    base_unix_ns: u64,
    pids: Ids,
    n_processes: u32,
    format: Format<BufWriter<Stored<W>>>,
}

/// Where the bytes go.
#[derive(Debug)]
enum Stored<W: Write> {
    Plain(W),
    Gzip(Box<GzEncoder<W>>),
}

impl<W: Write> Write for Stored<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(out) => out.write(bytes),
            Self::Gzip(out) => out.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(out) => out.flush(),
            Self::Gzip(out) => out.flush(),
        }
    }
}

impl<W: Write> Stored<W> {
    fn new(out: W, compression: Compression) -> Self {
        match compression {
            Compression::None => Self::Plain(out),
            // The lowest level: traces are large, and viewers read all of it at once.
            Compression::Gzip => {
                Self::Gzip(Box::new(GzEncoder::new(out, flate2::Compression::fast())))
            }
        }
    }

    fn finish(self) -> io::Result<W> {
        match self {
            Self::Plain(out) => Ok(out),
            Self::Gzip(out) => out.finish(),
        }
    }
}

/// Bytes that are gathered before they are compressed.
const BUFFER: usize = 1 << 16;

#[derive(Debug)]
enum Format<W: Write> {
    Perfetto(Box<PerfettoWriter<W>>),
    Chrome(ChromeWriter<W>),
}

impl<W: Write> TraceWriter<W> {
    /// Begins a trace, in which times count from `base_unix_ns`: when the earliest of its processes began, nanoseconds since 1970.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn new(
        out: W,
        format: TraceFormat,
        compression: Compression,
        base_unix_ns: u64,
    ) -> io::Result<Self> {
        let out = BufWriter::with_capacity(BUFFER, Stored::new(out, compression));
        let format = match format {
            TraceFormat::Perfetto => Format::Perfetto(Box::new(PerfettoWriter::new(out)?)),
            TraceFormat::Chrome | TraceFormat::TensorBoard => {
                Format::Chrome(ChromeWriter::new(out, format, base_unix_ns)?)
            }
        };
        Ok(Self { base_unix_ns, pids: Ids::default(), n_processes: 0, format })
    }

    /// Writes the next process. Viewers show processes in this order.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn add(&mut self, run: &Run) -> io::Result<()> {
        let offset_ns = run.info.start_unix_ns.saturating_sub(self.base_unix_ns);
        self.add_at(run, offset_ns, &[])
    }

    /// The same for a process that began that long after the beginning of the trace, whatever its own clock says, with the parts of its
    /// calls of collectives on tracks of their own.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn add_at(&mut self, run: &Run, offset_ns: u64, calls: &[CallParts]) -> io::Result<()> {
        let info = &run.info;
        let process = Process {
            pid: self.pids.take(info.pid),
            order: self.n_processes,
            title: title(info),
            offset_ns,
            start_unix_ns: self.base_unix_ns.saturating_add(offset_ns),
            rank: info.rank,
            world_size: info.world_size,
        };
        self.n_processes = self.n_processes.saturating_add(1);
        match &mut self.format {
            Format::Perfetto(writer) => tell(run, calls, &process, &mut **writer),
            Format::Chrome(writer) => tell(run, calls, &process, writer),
        }
    }

    /// Writes a sentence about the trace, where it begins, on a track of its own. Only Perfetto's format has a place for it.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn remark(&mut self, text: &str) -> io::Result<()> {
        match &mut self.format {
            Format::Perfetto(writer) => writer.remark(text, self.base_unix_ns),
            Format::Chrome(_) => Ok(()),
        }
    }

    /// Ends the trace; returns what it was written to.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn finish(self) -> io::Result<W> {
        let out = match self.format {
            Format::Perfetto(writer) => writer.finish(),
            Format::Chrome(writer) => writer.finish()?,
        };
        let stored = out.into_inner().map_err(io::IntoInnerError::into_error)?;
        stored.finish()
    }
}

/// What a process is called: its rank and its command.
fn title(info: &RunInfo) -> String {
    const MOST: usize = 200;
    let command = info.command.join(" ");
    let command = match command.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &command[..end]),
        None => command,
    };
    let rank = info.rank.map(|rank| format!("rank {rank}"));
    let parts: Vec<String> =
        rank.into_iter().chain((!command.is_empty()).then_some(command)).collect();
    if parts.is_empty() {
        return "process".into();
    }
    parts.join(": ")
}

#[cfg(test)]
mod tests;
