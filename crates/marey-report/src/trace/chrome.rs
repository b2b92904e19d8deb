//! The Chrome trace format in the way of Kineto, torch's profiler: one JSON object that Perfetto, `chrome://tracing`,
//! HolisticTraceAnalysis and TensorBoard's torch plugin read.
//!
//! | what | event |
//! |---|---|
//! | process, thread, their order | `M` |
//! | slice | `X`; those of one `tid` nest |
//! | event, cache decision | `i` |
//! | reading | `C` |
//! | section to its work on a GPU | `s` at the section's start, `f` at the work's |
//!
//! Times are microseconds after `baseTimeNanoseconds`, with three decimals. What users named is in `args.attributes`, so that no
//! name of theirs is taken for one that readers know (`stream`, `correlation`). Work on a GPU stands where Kineto has it: the
//! `pid` is the device, the `tid` the stream.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use super::TraceFormat;
use super::ids::Ids;
use super::json_text::{Micros, fact, float, string};
use super::names::Names;
use super::slice::{Args, Category, Fact, Moment, Slice};
use super::tracks::{Content, Listener, Process, Track, TrackKind};
use crate::html::ReadingTrack;

/// Writes the format to `out`, which it does not buffer.
#[derive(Debug)]
pub(super) struct ChromeWriter<W> {
    out: W,
    /// For TensorBoard's plugin, which knows steps by their names, or for whoever reads such traces.
    format: TraceFormat,
    base_unix_ns: u64,
    is_first: bool,
    n_processes: u32,
    process: Process,
    /// Names of the process as JSON, by number; empty until they are needed.
    names: Vec<String>,
    /// `pid` of the GPUs of the process.
    gpus: BTreeMap<u32, u32>,
    /// Numbers that no process may have.
    pids: Ids,
    n_steps: u64,
}

/// Where events are.
#[derive(Clone, Copy, Debug)]
struct Place {
    pid: u32,
    tid: u64,
    offset_ns: u64,
}

impl Place {
    /// `"pid":…,"tid":…,"ts":…` of an event at a time of the run.
    fn write(self, out: &mut impl Write, at_ns: u64) -> io::Result<()> {
        let Self { pid, tid, offset_ns } = self;
        let at = Micros(at_ns.saturating_add(offset_ns));
        write!(out, r#","pid":{pid},"tid":{tid},"ts":{at}"#)
    }
}

impl<W: Write> ChromeWriter<W> {
    pub(super) fn new(mut out: W, format: TraceFormat, base_unix_ns: u64) -> io::Result<Self> {
        out.write_all(br#"{"schemaVersion":1,"traceEvents":["#)?;
        Ok(Self {
            out,
            format,
            base_unix_ns,
            is_first: true,
            n_processes: 0,
            process: Process::default(),
            names: Vec::new(),
            gpus: BTreeMap::new(),
            pids: Ids::default(),
            n_steps: 0,
        })
    }

    /// Ends the object. Readers of ranks take a trace for that of a rank only if it says so: the only process of a trace does.
    pub(super) fn finish(mut self) -> io::Result<W> {
        self.out.write_all(b"\n]")?;
        if self.n_processes == 1 {
            let rank = self.process.rank.unwrap_or(0);
            let size = self.process.world_size.unwrap_or(1);
            // HolisticTraceAnalysis looks for these very spaces.
            write!(
                self.out,
                ",\n\"distributedInfo\": {{\"backend\": \"\", \"rank\": {rank}, \"world_size\": {size}}}"
            )?;
        }
        let base = self.base_unix_ns;
        write!(
            self.out,
            r#","deviceProperties":[],"displayTimeUnit":"ms","traceName":"marey","baseTimeNanoseconds":{base}}}"#
        )?;
        self.out.write_all(b"\n")?;
        Ok(self.out)
    }

    /// The beginning of an event, up to its category.
    fn begin(&mut self, head: &[u8]) -> io::Result<()> {
        let separator: &[u8] = if self.is_first { b"\n" } else { b",\n" };
        self.is_first = false;
        self.out.write_all(separator)?;
        self.out.write_all(head)
    }

    fn metadata(&mut self, what: &str, pid: u32, tid: u64, args: &str) -> io::Result<()> {
        self.begin(b"")?;
        write!(
            self.out,
            r#"{{"ph":"M","name":"{what}","pid":{pid},"tid":{tid},"args":{{{args}}}}}"#
        )
    }

    fn names_process(&mut self, pid: u32, title: &str, order: u32) -> io::Result<()> {
        let title = string(title);
        self.metadata("process_name", pid, 0, &format!(r#""name":{title}"#))?;
        let order = format!(r#""sort_index":{order}"#);
        self.metadata("process_sort_index", pid, 0, &order)
    }

    fn names_thread(&mut self, place: Place, track: &Track) -> io::Result<()> {
        let Place { pid, tid, .. } = place;
        let title = string(&track.title);
        self.metadata("thread_name", pid, tid, &format!(r#""name":{title}"#))?;
        let order = format!(r#""sort_index":{}"#, track.order);
        self.metadata("thread_sort_index", pid, tid, &order)
    }

    /// Where a track's events are; a GPU is named when its first track comes.
    fn place(&mut self, track: &Track) -> io::Result<Place> {
        let mut place = Place {
            pid: self.process.pid,
            tid: track.tid.into(),
            offset_ns: self.process.offset_ns,
        };
        if let TrackKind::Stream { device, .. } = track.kind {
            let known = self.gpus.get(&device).copied();
            place.pid = match known {
                Some(pid) => pid,
                None => self.name_gpu(device)?,
            };
        }
        Ok(place)
    }

    fn name_gpu(&mut self, device: u32) -> io::Result<u32> {
        // Kineto numbers GPUs as if they were processes; 0 is one of them.
        let is_kinetos = self.n_processes == 1 && device != self.process.pid;
        let pid = if is_kinetos { device } else { self.pids.make_up() };
        self.gpus.insert(device, pid);
        let title = format!("GPU {device} of {}", self.process.title);
        self.names_process(pid, &title, 1_000_000 + device.min(1_000_000))?;
        Ok(pid)
    }

    fn slice(&mut self, slice: &Slice<'_>, place: Place, names: &Names<'_>) -> io::Result<()> {
        let what = slice.what;
        self.head(br#"{"ph":"X""#, what.category, what.name, names)?;
        place.write(&mut self.out, slice.start_ns)?;
        write!(self.out, r#","dur":{}"#, Micros(slice.end_ns - slice.start_ns))?;
        let number = what.launches.numbers().next();
        let number = number.filter(|_| what.category == Category::Gpu);
        let correlation = number.map(|number| ("correlation", Fact::Unsigned(number + 1)));
        self.args(what.category, slice.facts().chain(correlation), what.args)?;
        self.flows(slice, place)
    }

    /// An event up to its name.
    fn head(
        &mut self,
        begin: &[u8],
        category: Category,
        name: u32,
        names: &Names<'_>,
    ) -> io::Result<()> {
        self.begin(begin)?;
        let kineto = match category {
            Category::Gpu => "gpu_user_annotation",
            _ => "user_annotation",
        };
        write!(self.out, r#","cat":"{kineto}","name":"#)?;
        if self.format == TraceFormat::TensorBoard && category == Category::Step {
            self.n_steps += 1;
            return write!(self.out, r#""ProfilerStep#{}""#, self.n_steps - 1);
        }
        self.name(name, names)
    }

    /// What is said of an event, and its end.
    fn args<'b>(
        &mut self,
        category: Category,
        facts: impl Iterator<Item = (&'static str, Fact<'b>)>,
        args: Args<'_>,
    ) -> io::Result<()> {
        write!(self.out, r#","args":{{"kind":"{}""#, category.text())?;
        for (name, value) in facts {
            write!(self.out, r#","{name}":"#)?;
            fact(&mut self.out, value)?;
        }
        self.attributes(args)?;
        self.out.write_all(b"}}")
    }

    /// Arrows begin in a section and end in work on a GPU.
    fn flows(&mut self, slice: &Slice<'_>, place: Place) -> io::Result<()> {
        let head: &[u8] = if slice.what.category == Category::Gpu {
            br#"{"ph":"f","bp":"e","cat":"ac2g","name":"ac2g","id":"#
        } else {
            br#"{"ph":"s","cat":"ac2g","name":"ac2g","id":"#
        };
        for number in slice.what.launches.numbers() {
            self.begin(head)?;
            // A number that no arrow of another process has.
            let arrow = (u64::from(self.process.order) << 32) + number + 1;
            write!(self.out, "{arrow}")?;
            place.write(&mut self.out, slice.start_ns)?;
            self.out.write_all(b"}")?;
        }
        Ok(())
    }

    fn moment(&mut self, moment: &Moment<'_>, place: Place, names: &Names<'_>) -> io::Result<()> {
        self.head(br#"{"ph":"i","s":"t""#, moment.category, moment.name, names)?;
        place.write(&mut self.out, moment.at_ns)?;
        self.args(moment.category, moment.args.facts(), moment.args)
    }

    /// What the user gave: a name that came before is left out, because an object has each once.
    fn attributes(&mut self, args: Args<'_>) -> io::Result<()> {
        let mut met = BTreeSet::new();
        for (name, value) in args.attributes() {
            let Some(value) = Fact::of(value).filter(|_| met.insert(name)) else {
                continue;
            };
            let separator: &[u8] = if met.len() == 1 { br#","attributes":{"# } else { b"," };
            self.out.write_all(separator)?;
            self.out.write_all(string(name).as_bytes())?;
            self.out.write_all(b":")?;
            fact(&mut self.out, value)?;
        }
        if met.is_empty() {
            return Ok(());
        }
        self.out.write_all(b"}")
    }

    fn name(&mut self, number: u32, names: &Names<'_>) -> io::Result<()> {
        let index = number as usize;
        if self.names.len() <= index {
            self.names.resize(index + 1, String::new());
        }
        if self.names[index].is_empty() {
            let name = names.name(number);
            self.names[index] = if self.is_taken(name) {
                string(&format!("\u{2018}{name}\u{2019}"))
            } else {
                string(name)
            };
        }
        self.out.write_all(self.names[index].as_bytes())
    }

    /// Readers take a name with this beginning for a step, and fail when no number follows. In a trace whose steps have such
    /// names there are no others.
    fn is_taken(&self, name: &str) -> bool {
        const MOST_DIGITS: usize = 18;
        let number = name.strip_prefix("ProfilerStep#");
        let is_number = number.is_some_and(|number| {
            (1..=MOST_DIGITS).contains(&number.len())
                && number.bytes().all(|digit| digit.is_ascii_digit())
        });
        name.starts_with("ProfilerStep") && (self.format == TraceFormat::TensorBoard || !is_number)
    }

    /// A reading holds until the next one; viewers draw it so, too.
    fn readings(&mut self, track: &Track, readings: &ReadingTrack) -> io::Result<()> {
        let name = string(&track.title);
        let place = Place { pid: self.process.pid, tid: 0, offset_ns: self.process.offset_ns };
        for point in &readings.points {
            self.begin(br#"{"ph":"C","name":"#)?;
            self.out.write_all(name.as_bytes())?;
            place.write(&mut self.out, point.start_ns)?;
            write!(self.out, r#","args":{{"{}":"#, readings.unit)?;
            float(&mut self.out, point.mean)?;
            self.out.write_all(b"}}")?;
        }
        Ok(())
    }
}

impl<W: Write> Listener for ChromeWriter<W> {
    fn process(&mut self, process: &Process) -> io::Result<()> {
        self.n_processes += 1;
        self.process = process.clone();
        self.names.clear();
        self.gpus.clear();
        self.names_process(process.pid, &process.title, process.order)
    }

    fn track(&mut self, track: &Track, content: &Content<'_>, names: &Names<'_>) -> io::Result<()> {
        let (lane, moments) = match content {
            Content::Readings(readings) => return self.readings(track, readings),
            Content::Work { lane, moments } => (lane, moments),
        };
        let place = self.place(track)?;
        self.names_thread(place, track)?;
        for slice in lane {
            self.slice(slice, place, names)?;
        }
        for moment in moments {
            self.moment(moment, place, names)?;
        }
        Ok(())
    }
}
