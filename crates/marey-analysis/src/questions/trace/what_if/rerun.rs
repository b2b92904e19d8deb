//! The work of devices once more, with other durations: what waited for what in the trace does so again.

use std::collections::BTreeMap;

use super::super::TraceContext;
use super::super::device_timeline::{DeviceTimeline, DeviceWork};
use super::super::transfers::{direction, is_transfer};
use super::changed::Changed;
use crate::import::chrome::Class;
use crate::intervals::Interval;

/// Work that began within this after its launch and after what ran before it in its stream waited for nothing else.
const SHORT_NS: u64 = 10_000;

/// Devices and hosts as they would have been.
pub(super) struct Rerun<'a> {
    context: &'a TraceContext<'a>,
    /// When each work of each device would have run, in the order of the context's.
    pub(super) work: Vec<Vec<Interval>>,
    /// By document.
    hosts: BTreeMap<u32, Host>,
}

impl<'a> Rerun<'a> {
    pub(super) fn new(context: &'a TraceContext<'a>, changed: &Changed) -> Self {
        let work = context.timelines.iter().map(|timeline| vec![None; timeline.work.len()]);
        let mut running = Running {
            context,
            changed,
            ended: Vec::new(),
            streams: BTreeMap::new(),
            copied_ns: BTreeMap::new(),
            host: Host::default(),
            skew_ns: 0,
            last_launch_ns: 0,
            work: work.collect(),
        };
        let documents = 0..u32::try_from(context.trace.metadata.len().max(1)).unwrap_or(u32::MAX);
        let hosts = documents.map(|document| (document, running.document(document))).collect();
        let found = |time: Option<Interval>| time.unwrap_or_default();
        let work = running.work.into_iter().map(|work| work.into_iter().map(found).collect());
        Self { context, work: work.collect(), hosts }
    }

    /// When the host of a document would have come to what it did at a moment.
    pub(super) fn moment(&self, document: u32, ns: u64) -> u64 {
        self.hosts.get(&document).map_or(ns, |host| host.moment(ns))
    }

    /// Of everything that host and devices do, from when to when it would have been.
    pub(super) fn wall(&self, recorded: Interval) -> Interval {
        let trace = self.context.trace;
        let is_of_host =
            |row: &u32| !trace.class_of(*row).is_work() && trace.class_of(*row) != Class::Other;
        let host = trace.rows.each().filter(is_of_host);
        let host = host.map(|row| self.moment(trace.document_of(row), trace.rows.end_ns(row)));
        let work = self.work.iter().flatten().map(|time| time.end_ns);
        Interval { end_ns: host.chain(work).max().unwrap_or_default(), ..recorded }
    }

    /// What each device would have done.
    pub(super) fn timelines(&self) -> impl Iterator<Item = DeviceTimeline> {
        let devices = self.context.timelines.iter().zip(&self.work);
        devices.map(|(device, times)| {
            let moved = device.work.iter().zip(times).map(|(work, time)| DeviceWork {
                start_ns: time.start_ns,
                end_ns: time.end_ns,
                ..*work
            });
            let mut work: Vec<DeviceWork> = moved.collect();
            work.sort_by_key(|work| work.start_ns);
            DeviceTimeline::new(device.process, device.streams.clone(), work)
        })
    }
}

/// When the host came to something, and when it would have.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Moment {
    recorded_ns: u64,
    then_ns: u64,
}

/// The host of a document: where its calls that wait ended, in order. All its threads are early together.
#[derive(Default)]
struct Host {
    ends: Vec<Moment>,
}

impl Host {
    fn moment(&self, ns: u64) -> u64 {
        let next = self.ends.partition_point(|end| end.recorded_ns <= ns);
        let before = next.checked_sub(1).and_then(|at| self.ends.get(at));
        let then_ns = before.map_or(ns, |end| moved(end.then_ns, end.recorded_ns, ns));
        self.ends.get(next).map_or(then_ns, |end| then_ns.min(end.then_ns))
    }
}

/// As long after a moment as `to_ns` was after what the moment was.
fn moved(then_ns: u64, from_ns: u64, to_ns: u64) -> u64 {
    then_ns.saturating_add(to_ns).saturating_sub(from_ns)
}

/// In order of time; of what is at one moment work first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// A device's work begins: places of both.
    Begins(usize, usize),
    /// A call that waits ends: its row.
    Returns(u32),
}

/// What is run again, up to a moment of the trace.
struct Running<'a, 'b> {
    context: &'a TraceContext<'a>,
    changed: &'b Changed,
    /// Of a document, when each work ended in the trace, in order, with the places of its device and its own.
    ended: Vec<(u64, usize, usize)>,
    /// What ran last in each stream of each device, of which `then_ns` is that of the last that is waited for.
    streams: BTreeMap<(usize, u32), Moment>,
    /// What was copied last between each device and the host, by direction, where nothing on the device waits for it: when that would end.
    copied_ns: BTreeMap<(usize, bool), u64>,
    host: Host,
    /// The clock of the host is ahead of that of devices by at least so much.
    skew_ns: u64,
    /// When the last kernel was launched: calls that wait after that bring what the program is for.
    last_launch_ns: u64,
    work: Vec<Vec<Option<Interval>>>,
}

impl<'a> Running<'a, '_> {
    fn document(&mut self, document: u32) -> Host {
        let (context, trace) = (self.context, self.context.trace);
        let is_its = |process| trace.document_of_process(process) == document;
        let devices = context.timelines.iter().enumerate();
        let work = devices.filter(|(_, device)| is_its(device.process)).flat_map(|(at, device)| {
            device.work.iter().enumerate().map(move |(place, work)| (work, at, place))
        });
        let work: Vec<(&DeviceWork, usize, usize)> = work.collect();
        self.ended = work.iter().map(|(work, at, place)| (work.end_ns, *at, *place)).collect();
        self.ended.sort_unstable();
        let devices = context.timelines_of(document);
        let skews = devices.flat_map(|device| device.before_launch(trace));
        self.skew_ns = skews.max().unwrap_or_default();
        let kernels = work.iter().filter(|(work, ..)| work.kind.is_kernel());
        let launches = kernels.filter_map(|(work, ..)| work.launch);
        let last_launch_ns = launches.map(|call| trace.rows.start_of(call)).max();
        self.last_launch_ns = last_launch_ns.unwrap_or_default();
        let begins =
            work.iter().map(|(work, at, place)| (work.start_ns, Event::Begins(*at, *place)));
        let waits = context.waits.rows.iter().filter(|row| trace.document_of(**row) == document);
        let returns = waits.map(|row| (trace.rows.end_ns(*row), Event::Returns(*row)));
        let mut events: Vec<(u64, Event)> = begins.chain(returns).collect();
        events.sort_unstable();
        for (at_ns, event) in events {
            match event {
                Event::Begins(device, place) => self.begin(device, place),
                Event::Returns(row) => self.end_wait(trace.rows.start_of(row), at_ns),
            }
        }
        std::mem::take(&mut self.host)
    }

    /// Once it is launched, and what it waited for has ended, as long after the last of these as in the trace.
    fn begin(&mut self, device: usize, place: usize) {
        let trace = self.context.trace;
        let duration_ns = self.changed.durations_ns.get(device).and_then(|all| all.get(place));
        let Some((work, duration_ns)) = self.work_at(device, place).zip(duration_ns) else {
            return;
        };
        let is_free = self.is_free(work);
        // On the clock of the device.
        let launch = work.launch.map(|call| trace.rows.start_of(call)).map(|at_ns| Moment {
            recorded_ns: at_ns.saturating_sub(self.skew_ns),
            then_ns: self.host.moment(at_ns).saturating_sub(self.skew_ns),
        });
        let stream = self.streams.get(&(device, work.stream)).copied();
        let known = launch.max(stream);
        let is_long = known.is_some_and(|last| work.start_ns > last.recorded_ns + SHORT_NS);
        let other = is_long.then(|| self.last_end(work.start_ns, |work| self.is_free(work)));
        let other = other.flatten().filter(|other| Some(*other) > known);
        let waited_for = [launch, stream, other];
        // What a copy brings to the device is there before it is launched; what it takes from there is the result of work.
        let is_result = direction(trace.names.get(work.name)) == "DtoH";
        let then_ns = waited_for.iter().take(if is_free && !is_result { 1 } else { 3 }).flatten();
        let start_ns = match (waited_for.iter().flatten().max(), then_ns.map(|m| m.then_ns).max()) {
            (Some(last), Some(then_ns)) => moved(then_ns, last.recorded_ns, work.start_ns),
            _ => self.host.moment(work.start_ns),
        };
        let copied_ns = self.copied_ns.get(&(device, is_result)).filter(|_| is_free).copied();
        let start_ns = start_ns.max(launch.map_or(0, |launch| launch.then_ns));
        let start_ns = start_ns.max(copied_ns.unwrap_or_default());
        let end_ns = start_ns.saturating_add(*duration_ns);
        if let Some(then) = self.work.get_mut(device).and_then(|all| all.get_mut(place)) {
            *then = Some(Interval { start_ns, end_ns });
        }
        if is_free {
            self.copied_ns.insert((device, is_result), end_ns);
        }
        let then_ns = if is_free { stream.map_or(0, |last| last.then_ns) } else { end_ns };
        let last = Moment { recorded_ns: work.end_ns, then_ns };
        self.streams.insert((device, work.stream), last);
    }

    fn work_at(&self, device: usize, place: usize) -> Option<&'a DeviceWork> {
        self.context.timelines.get(device)?.work.get(place)
    }

    fn is_free(&self, work: &DeviceWork) -> bool {
        self.changed.has_free_copies && is_transfer(self.context.trace, work)
    }

    /// The last work of any device that had ended; at 0 if nobody waits for it.
    fn last_end(&self, ns: u64, is_free: impl Fn(&DeviceWork) -> bool) -> Option<Moment> {
        let after = self.ended.partition_point(|end| end.0 <= ns);
        let (recorded_ns, device, place) = *self.ended.get(after.checked_sub(1)?)?;
        let then = (*self.work.get(device)?.get(place)?)?;
        let work = self.work_at(device, place)?;
        Some(Moment { recorded_ns, then_ns: if is_free(work) { 0 } else { then.end_ns } })
    }

    /// As long after the last work that ended in it as in the trace; without such work as long as it was.
    fn end_wait(&mut self, from_ns: u64, to_ns: u64) {
        let begin_ns = self.host.moment(from_ns);
        let is_skipped = self.changed.is_without_waits && from_ns < self.last_launch_ns;
        // On the clock of the host.
        let last = self.last_end(to_ns.saturating_sub(self.skew_ns), |_| is_skipped);
        let last = last.map(|last| Moment {
            recorded_ns: last.recorded_ns.saturating_add(self.skew_ns),
            then_ns: last.then_ns.saturating_add(self.skew_ns),
        });
        let last = last.filter(|last| last.recorded_ns > from_ns);
        let last = last.unwrap_or(Moment { recorded_ns: from_ns, then_ns: begin_ns });
        let then_ns = moved(begin_ns.max(last.then_ns), last.recorded_ns, to_ns);
        let before_ns = self.host.ends.last().map_or(0, |end| end.then_ns);
        let then_ns = then_ns.max(before_ns);
        self.host.ends.push(Moment { recorded_ns: to_ns, then_ns });
    }
}
