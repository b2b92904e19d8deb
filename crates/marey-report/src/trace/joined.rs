//! Traces of torch.profiler as one, in which no number stands for two things: what the ranks of a job wrote.
//!
//! | of an event | becomes |
//! |---|---|
//! | `pid` | itself where no trace before has it, else a number that no system gives |
//! | `ts` | the moment on the common axis, exact to the nanosecond |
//! | `id`, `bind_id`, `args.correlation`, `args.External id` | alike for all of a trace: so much more that it is above those of the traces before |
//! | `process_name` | with whose trace it is before it |
//! | `process_sort_index` | the order of the traces, and of the processes in each |
//!
//! | of a trace | becomes |
//! |---|---|
//! | `deviceProperties` | those of all devices that did something, `id` being the `pid` of what they did |
//! | `distributedInfo` | without the rank, where all say the same |
//!
//! Everything else of an event stays as it is written, or as JSON that means the same; of a trace it goes. One event is in memory at a time.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, BufWriter, Read, Write};

use marey_analysis::import::chrome::{
    Class, Fields, Limits, Metadata, ReadError, Unit, read_events, unquoted,
};
use serde_json::{Value, json};

use super::ids::Ids;
use super::json_text::{Micros, string};
use super::{BUFFER, Compression, Stored};
use crate::escape;

/// Writes traces one behind the other as one document of Chrome JSON.
#[derive(Debug)]
pub struct JoinedTraces<W: Write> {
    out: BufWriter<Stored<W>>,
    base_unix_ns: u64,
    pids: Ids,
    n_processes: u32,
    n_events: u64,
    /// What is added to numbers of the trace that comes.
    ids_from: i64,
    /// The largest number so far.
    largest_id: i64,
    devices: Vec<Value>,
    /// What the traces say of the job.
    jobs: BTreeSet<(Option<String>, Option<i64>)>,
}

/// A trace as it comes in.
struct Incoming<'a> {
    /// Whose it is, as JSON without quotes.
    title: &'a str,
    shift_ns: i64,
    /// By document and what that calls them.
    processes: BTreeMap<(u32, Vec<u8>), Process>,
}

/// A process of it.
#[derive(Clone, Copy)]
struct Process {
    pid: u32,
    is_named: bool,
    is_device: bool,
}

/// Larger numbers are addresses, or stand for none.
const LARGEST_ID: i64 = 1 << 40;

/// Arguments that tie events of one trace together. Up to 0 they stand for none.
const LINKS: [&[u8]; 4] =
    [b"correlation", b"External id", b"external id", b"wait_on_cuda_event_record_corr_id"];

impl<W: Write> JoinedTraces<W> {
    /// Begins a trace, in which times count from `base_unix_ns`, nanoseconds since 1970.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn new(out: W, compression: Compression, base_unix_ns: u64) -> io::Result<Self> {
        let mut out = BufWriter::with_capacity(BUFFER, Stored::new(out, compression));
        out.write_all(br#"{"schemaVersion":1,"traceEvents":["#)?;
        Ok(Self {
            out,
            base_unix_ns,
            pids: Ids::default(),
            n_processes: 0,
            n_events: 0,
            ids_from: 0,
            largest_id: -1,
            devices: Vec::new(),
            jobs: BTreeSet::new(),
        })
    }

    /// Writes the next trace, whose processes are named after `title` and whose own times are moved by `shift_ns`. Viewers show traces in
    /// this order.
    ///
    /// # Errors
    /// Those of reading it, and those of `out`.
    pub fn add(&mut self, trace: impl Read, title: &str, shift_ns: i64) -> Result<(), ReadError> {
        let quoted = string(title);
        let title = quoted.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
        let title = title.unwrap_or_default();
        let mut incoming = Incoming { title, shift_ns, processes: BTreeMap::new() };
        let trace = read_events(trace, Limits::default(), |document, event| {
            self.event(&mut incoming, document, event)
        })?;
        let Incoming { processes, .. } = incoming;
        for ((_, called), process) in processes.iter().filter(|(_, one)| !one.is_named) {
            let called = String::from_utf8_lossy(called);
            let name = format!(r#""name":"{title}: process {called}""#);
            self.metadata("process_name", process.pid, &name).map_err(ReadError::Io)?;
        }
        for (document, said) in (0..).zip(&trace.metadata) {
            self.jobs.insert((said.backend.clone(), said.world_size));
            let devices =
                processes.iter().filter(|((of, _), one)| *of == document && one.is_device);
            let devices: Vec<(&[u8], u32)> =
                devices.map(|((_, called), one)| (called.as_slice(), one.pid)).collect();
            self.devices.extend(properties(said, &devices));
        }
        // One at least, which texts of this trace have behind them.
        self.ids_from = self.ids_from.max(self.largest_id) + 1;
        Ok(())
    }

    /// Ends the trace; returns what it was written to.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn finish(mut self) -> io::Result<W> {
        self.out.write_all(b"\n]")?;
        if !self.devices.is_empty() {
            let devices = Value::from(std::mem::take(&mut self.devices)).to_string();
            write!(self.out, ",\"deviceProperties\":{}", escape::json(&devices))?;
        }
        if let [(Some(backend), Some(world_size))] = &Vec::from_iter(&self.jobs)[..] {
            let job = json!({"backend": backend, "world_size": world_size}).to_string();
            write!(self.out, ",\"distributedInfo\":{}", escape::json(&job))?;
        }
        let base = self.base_unix_ns;
        writeln!(self.out, ",\"displayTimeUnit\":\"ms\",\"baseTimeNanoseconds\":{base}}}")?;
        self.out.into_inner().map_err(io::IntoInnerError::into_error)?.finish()
    }

    fn event(&mut self, of: &mut Incoming<'_>, document: u32, event: &str) -> io::Result<()> {
        // What is between values, and nothing else, may be white.
        let text = event.replace(['\t', '\r'], " ");
        let text = escape::json(&text);
        let fields = || Fields::new(text.as_bytes());
        let field = |wanted: &[u8]| {
            let value = fields().find_map(|(key, value)| (key == wanted).then_some(value));
            value.map_or(&b""[..], unquoted)
        };
        let name = field(b"name");
        let is_of_process = field(b"ph") == b"M" && name.starts_with(b"process_");
        if is_of_process && name == b"process_sort_index" {
            return Ok(());
        }
        let is_named = is_of_process && name == b"process_name";
        let is_device = Class::of(&String::from_utf8_lossy(field(b"cat"))).is_work();
        // What is of no process, as the end of the recording, stays so.
        let pid = Some(field(b"pid")).filter(|called| !called.is_empty());
        let pid = pid.map(|called| self.pid(of, (document, called), [is_named, is_device]));
        let pid = pid.transpose()?;
        let unit = Unit::of_start(str::from_utf8(field(b"ts")).unwrap_or_default());
        self.begin()?;
        for (number, (key, value)) in fields().enumerate() {
            self.key(number, key)?;
            match (key, pid) {
                (b"pid", Some(pid)) => write!(self.out, "{pid}")?,
                (b"ts", _) => self.time(value, unit, of.shift_ns)?,
                (b"dur", _) => self.time(value, unit, 0)?,
                (b"id" | b"bind_id", _) => self.id(value)?,
                (b"args", _) if value.starts_with(b"{") => {
                    self.args(value, is_named.then_some(of.title))?;
                }
                _ => self.out.write_all(value)?,
            }
        }
        self.out.write_all(b"}")
    }

    /// The number of a process; where it stands is written when it is first met.
    fn pid(
        &mut self,
        of: &mut Incoming<'_>,
        (document, called): (u32, &[u8]),
        [is_named, is_device]: [bool; 2],
    ) -> io::Result<u32> {
        let key = (document, called.to_vec());
        if let Some(process) = of.processes.get_mut(&key) {
            process.is_named |= is_named;
            process.is_device |= is_device;
            return Ok(process.pid);
        }
        let number = str::from_utf8(called).ok().and_then(|called| called.parse().ok());
        let pid = self.pids.take(number.unwrap_or_default());
        of.processes.insert(key, Process { pid, is_named, is_device });
        let order = format!(r#""sort_index":{}"#, self.n_processes);
        self.n_processes = self.n_processes.saturating_add(1);
        self.metadata("process_sort_index", pid, &order)?;
        Ok(pid)
    }

    fn begin(&mut self) -> io::Result<()> {
        let separator: &[u8] = if self.n_events == 0 { b"\n{" } else { b",\n{" };
        self.n_events += 1;
        self.out.write_all(separator)
    }

    fn metadata(&mut self, what: &str, pid: u32, args: &str) -> io::Result<()> {
        self.begin()?;
        write!(self.out, r#""ph":"M","name":"{what}","pid":{pid},"tid":0,"args":{{{args}}}}}"#)
    }

    fn key(&mut self, number: usize, key: &[u8]) -> io::Result<()> {
        self.out.write_all(if number == 0 { b"\"" } else { b",\"" })?;
        self.out.write_all(key)?;
        self.out.write_all(b"\":")
    }

    /// In microseconds; what is no time stays.
    fn time(&mut self, value: &[u8], unit: Unit, shift_ns: i64) -> io::Result<()> {
        let read = str::from_utf8(unquoted(value)).ok().and_then(|text| unit.ns(text));
        let Some(ns) = read.and_then(|ns| ns.checked_add(shift_ns)) else {
            return self.out.write_all(value);
        };
        let sign = if ns < 0 { "-" } else { "" };
        write!(self.out, "{sign}{}", Micros(ns.unsigned_abs()))
    }

    /// Of arrows and of what lasts across threads. What is no number gets the trace's behind it.
    fn id(&mut self, value: &[u8]) -> io::Result<()> {
        if let Some(id) = self.moved(value, 0) {
            return write!(self.out, "{id}");
        }
        if value.starts_with(b"{") || value.starts_with(b"[") {
            let said = format!("{}/{}", String::from_utf8_lossy(value), self.ids_from);
            return Ok(serde_json::to_writer(&mut self.out, &said)?);
        }
        self.out.write_all(b"\"")?;
        self.out.write_all(unquoted(value))?;
        write!(self.out, "/{}\"", self.ids_from)
    }

    /// With names of processes behind whose they are.
    fn args(&mut self, args: &[u8], title: Option<&str>) -> io::Result<()> {
        self.out.write_all(b"{")?;
        for (number, (key, value)) in Fields::new(args).enumerate() {
            self.key(number, key)?;
            let link = LINKS.contains(&key).then(|| self.moved(value, 1)).flatten();
            match (link, title) {
                (Some(id), _) => write!(self.out, "{id}")?,
                (None, Some(title)) if key == b"name" => {
                    write!(self.out, "\"{title}: ")?;
                    self.out.write_all(unquoted(value))?;
                    self.out.write_all(b"\"")?;
                }
                _ => self.out.write_all(value)?,
            }
        }
        self.out.write_all(b"}")
    }

    /// A number of the trace as one of all; `None` of what is none, or is below `least`.
    fn moved(&mut self, value: &[u8], least: i64) -> Option<i64> {
        let id: i64 = str::from_utf8(unquoted(value)).ok()?.parse().ok()?;
        let id = (least..LARGEST_ID).contains(&id).then(|| id + self.ids_from)?;
        self.largest_id = self.largest_id.max(id);
        Some(id)
    }
}

/// What a trace says of its devices that did something, which are called so and have these numbers now.
fn properties(said: &Metadata, devices: &[(&[u8], u32)]) -> Vec<Value> {
    let properties = |(called, pid): &(&[u8], u32)| {
        let number = str::from_utf8(called).ok()?.parse().ok()?;
        let device = said.device(number, devices.len())?;
        let mut said = Value::from(device.others.clone());
        (said["name"], said["id"]) = (device.name.clone().into(), (*pid).into());
        Some(said)
    };
    devices.iter().filter_map(properties).collect()
}

#[cfg(test)]
mod tests {
    use marey_analysis::import::chrome::{Trace, read};

    use super::*;

    /// A launch, its kernel and the arrow between them, at 10 µs of the trace's own clock, as each rank of a job writes them.
    fn rank(python: u32, name: &str) -> String {
        let events = json!([
            {"ph": "M", "name": "process_name", "pid": python, "tid": 0, "ts": 0, "args": {"name": "python"}},
            {"ph": "M", "name": "process_sort_index", "pid": python, "args": {"sort_index": 9}},
            {"ph": "X", "cat": "cpu_op", "name": name, "pid": python, "tid": 1, "ts": 10, "dur": 3, "args": {"External id": 5}},
            {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": python, "tid": 1, "ts": 11, "dur": 1,
             "args": {"External id": 5, "correlation": 7}},
            {"ph": "s", "cat": "ac2g", "name": "ac2g", "id": 7, "pid": python, "tid": 1, "ts": 11},
            {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 12.25, "dur": 4.5,
             "args": {"External id": 5, "correlation": 7, "stream": 7}},
            {"ph": "f", "cat": "ac2g", "name": "ac2g", "id": 7, "pid": 0, "tid": 7, "ts": 12.25, "bp": "e"},
            {"ph": "X", "cat": "gpu_memset", "name": "m", "pid": 0, "tid": 7, "ts": 20, "dur": 1, "args": {"correlation": 0}},
            {"ph": "b", "cat": "a", "name": "a", "id": "0x1", "pid": python, "ts": 10},
            {"ph": "i", "name": "Record Window End", "pid": "", "tid": "", "ts": 30},
        ]);
        json!({ "traceEvents": events, "baseTimeNanoseconds": 0 }).to_string()
    }

    fn joined(traces: &[(&str, &str, i64)]) -> Vec<Value> {
        let mut joined = JoinedTraces::new(Vec::new(), Compression::None, 1_000).unwrap();
        for (trace, title, shift_ns) in traces {
            joined.add(trace.as_bytes(), title, *shift_ns).unwrap();
        }
        let document: Value = serde_json::from_slice(&joined.finish().unwrap()).unwrap();
        assert_eq!(document["baseTimeNanoseconds"], 1_000);
        document["traceEvents"].as_array().unwrap().clone()
    }

    fn of<'a>(events: &'a [Value], name: &str) -> Vec<&'a Value> {
        events.iter().filter(|event| event["name"] == name).collect()
    }

    #[test]
    fn nothing_of_two_ranks_has_one_number_and_what_belonged_together_still_does() {
        // Both have the pid 4242 (two containers), the device 0 and the correlation 7.
        let events = joined(&[(&rank(4242, "a"), "rank 0", 0), (&rank(4242, "b"), "rank 1", 0)]);
        let (launches, kernels) = (of(&events, "cudaLaunchKernel"), of(&events, "k"));
        let pids = |of: &[&Value]| [of[0]["pid"].clone(), of[1]["pid"].clone()];
        assert_eq!(pids(&launches), [4242, 4_194_306]);
        assert_eq!(pids(&kernels), [4_194_305, 4_194_307]);
        for (event, correlation, external) in
            [(launches[0], 7, 5), (kernels[0], 7, 5), (launches[1], 15, 13), (kernels[1], 15, 13)]
        {
            assert_eq!(event["args"]["correlation"], correlation, "{event}");
            assert_eq!(event["args"]["External id"], external, "{event}");
        }
        let ids: Vec<&Value> = of(&events, "ac2g").iter().map(|event| &event["id"]).collect();
        assert_eq!(ids, [7, 7, 15, 15]);
        let ids: Vec<&Value> =
            of(&events, "a").iter().filter_map(|event| event.get("id")).collect();
        assert_eq!(ids, ["0x1/0", "0x1/8"]);
        let none: Vec<&Value> =
            of(&events, "m").iter().map(|e| &e["args"]["correlation"]).collect();
        assert_eq!(none, [0, 0], "0 stands for none");
    }

    #[test]
    fn an_id_that_is_no_number_or_text_becomes_a_text_of_its_trace() {
        let trace = r#"[{"ph": "s", "name": "f", "pid": 1, "ts": 1, "id": {"global": "1"}}]"#;
        let events = joined(&[(trace, "rank 0", 0), (trace, "rank 1", 0)]);
        let arrows = events.iter().filter(|event| event["ph"] == "s");
        let ids: Vec<&str> = arrows.map(|event| event["id"].as_str().unwrap()).collect();
        assert!(ids.iter().all(|id| id.starts_with(r#"{"global": "1"}/"#)), "{ids:?}");
        assert_ne!(ids[0], ids[1]);
    }

    #[test]
    fn processes_are_named_and_ordered_by_whose_they_are() {
        let events = joined(&[(&rank(1, "a"), "rank 0", 0), (&rank(2, "b"), "<b>\"", 0)]);
        let names: Vec<(&Value, &str)> = of(&events, "process_name")
            .iter()
            .map(|event| (&event["pid"], event["args"]["name"].as_str().unwrap()))
            .collect();
        let (gpu_0, gpu_1) = (json!(4_194_305), json!(4_194_306));
        let expected = [
            (&json!(1), "rank 0: python"),
            (&gpu_0, "rank 0: process 0"),
            (&json!(2), "<b>\": python"),
            (&gpu_1, "<b>\": process 0"),
        ];
        assert_eq!(names, expected);
        let order: Vec<[Option<u64>; 2]> = of(&events, "process_sort_index")
            .iter()
            .map(|event| [event["pid"].as_u64(), event["args"]["sort_index"].as_u64()])
            .collect();
        let expected = [[1, 0], [4_194_305, 1], [2, 2], [4_194_306, 3]];
        assert_eq!(order, expected.map(|of| of.map(Some)));
    }

    #[test]
    fn clocks_are_moved_onto_one_axis_exactly() {
        // By whole nanoseconds since 1970 and by microseconds of a century: no float holds either.
        let late = r#"[{"ph": "X", "name": "k", "pid": 0, "ts": 1694128201426556.789, "dur": 1.5},
                       {"ph": "X", "name": "k", "pid": 0, "ts": 1694128201426556790, "dur": 1500},
                       {"ph": "i", "name": "k", "pid": 0, "ts": 1694128201426556.000}]"#;
        let mut joined = JoinedTraces::new(Vec::new(), Compression::None, 0).unwrap();
        joined.add(late.as_bytes(), "rank 0", -1_694_128_201_426_556_700).unwrap();
        let text = String::from_utf8(joined.finish().unwrap()).unwrap();
        for written in [r#""ts":0.089,"dur":1.500"#, r#""ts":0.090,"dur":1.500"#, r#""ts":-0.700}"#]
        {
            assert!(text.contains(written), "{written} in {text}");
        }
    }

    #[test]
    fn what_the_analysis_reads_is_carried_over_as_json() {
        let kernel = |name: &[u8], args: &[u8]| {
            let event: &[u8] = br#"{"ph": "X", "cat": "kernel", "pid": 0, "tid": 7, "ts": 5, "dur": 1.5, "name": ""#;
            [event, name, br#"", "args": {"correlation": 7"#, args, b"}}"].concat()
        };
        let events = [
            kernel(b"plain", b""),
            kernel(br"C:\Users", b""),
            kernel(b"a\tb\x01", b""),
            kernel(b"a\xff", b""),
            kernel(b"nan", br#", "x": NaN, "y": [-Infinity], "bytes": 007"#),
            kernel(b"quoted", b", 'z': 1"),
        ];
        let trace = [&br#"{"traceEvents": ["#[..], &events.join(&b','), b"]}"].concat();
        let mut joined = JoinedTraces::new(Vec::new(), Compression::None, 0).unwrap();
        joined.add(&trace[..], "rank 0", 0).unwrap();
        let written = joined.finish().unwrap();
        serde_json::from_slice::<Value>(&written).unwrap();
        let [before, after] =
            [&trace, &written].map(|one| read(&one[..], Limits::default()).unwrap());
        let names = |trace: &Trace| trace.names.iter().map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(names(&before), names(&after));
        assert_eq!(before.rows.duration_ns, after.rows.duration_ns);
        let said = |trace: &Trace| {
            trace.work.iter().map(|one| (one.bytes, one.correlation)).collect::<Vec<_>>()
        };
        assert_eq!(said(&before), said(&after));
        assert_eq!((after.work.len(), after.work[4].bytes), (6, Some(7)));
    }

    #[test]
    fn devices_are_known_by_the_numbers_of_their_processes_and_the_job_without_a_rank() {
        let trace = |rank: u32, gpu: u32| {
            let devices =
                json!([{"id": 0, "name": "H100", "numSms": 132}, {"id": 1, "name": "L4"}]);
            let kernel = json!({"ph": "X", "cat": "kernel", "name": "k", "pid": gpu, "tid": 7, "ts": 1, "dur": 1});
            let job = json!({"backend": "nccl", "rank": rank, "world_size": 2});
            json!({"deviceProperties": devices, "distributedInfo": job, "traceEvents": [kernel]})
                .to_string()
        };
        let mut joined = JoinedTraces::new(Vec::new(), Compression::None, 0).unwrap();
        joined.add(trace(0, 0).as_bytes(), "rank 0", 0).unwrap();
        joined.add(trace(1, 1).as_bytes(), "rank 1", 0).unwrap();
        let document: Value = serde_json::from_slice(&joined.finish().unwrap()).unwrap();
        let devices =
            json!([{"id": 4_194_305, "name": "H100", "numSms": 132}, {"id": 1, "name": "L4"}]);
        assert_eq!(document["deviceProperties"], devices);
        assert_eq!(document["distributedInfo"], json!({"backend": "nccl", "world_size": 2}));
    }
}
