//! The tracks of a run in the order in which viewers show them, one at a time.
//!
//! ```text
//! sessions · windows · main thread · its tasks · other threads · caches · streams of GPUs · waiting in collectives · readings
//! ```
//!
//! Only what one thread did is in memory beside the run.

use std::collections::BTreeMap;
use std::io;
use std::ops::Range;

use marey::{CacheEvent, Event, OpenSection, Run};
use marey_analysis::ranks::CallParts;

use super::ids::ThreadIds;
use super::launches::LaunchTable;
use super::names::Names;
use super::slice::{Args, Category, Moment, Slice, What};
use crate::html::{ReadingTrack, reading_tracks};
use crate::lanes::{Lane, flow_of_open, lanes};
use crate::model::thread_name;

/// A process of a trace.
#[derive(Clone, Debug, Default)]
pub(super) struct Process {
    /// What no other process of the trace has.
    pub(super) pid: u32,
    /// Place among the processes.
    pub(super) order: u32,
    pub(super) title: String,
    /// From the start of the trace to the start of the run.
    pub(super) offset_ns: u64,
    /// When that is, nanoseconds since 1970.
    pub(super) start_unix_ns: u64,
    pub(super) rank: Option<u32>,
    pub(super) world_size: Option<u32>,
}

/// A row of a trace.
#[derive(Clone, Debug)]
pub(super) struct Track {
    /// Place in the process, from 0.
    pub(super) order: u32,
    pub(super) kind: TrackKind,
    /// Not safe to print.
    pub(super) title: String,
    /// What no other track of the process has; a thread's own number for its own track.
    pub(super) tid: u32,
}

/// What a track is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TrackKind {
    Sessions,
    Windows,
    /// A thread's own sections and events.
    Thread,
    /// What ran beside them in the same thread, whose track has this place.
    Tasks {
        of: u32,
    },
    Cache,
    /// A stream of a GPU.
    Stream {
        device: u32,
        stream: u64,
    },
    /// Waiting and transfer in collectives.
    Collectives,
    Readings,
}

/// What lies on a track.
#[derive(Debug)]
pub(super) enum Content<'a> {
    Work {
        lane: Lane<What<'a>>,
        /// By time.
        moments: Vec<Moment<'a>>,
    },
    Readings(ReadingTrack),
}

/// What gets the tracks of a run: a format.
pub(super) trait Listener {
    /// What follows is of this process.
    fn process(&mut self, process: &Process) -> io::Result<()>;
    /// A whole track. A name's number means the same in all tracks of a process.
    fn track(&mut self, track: &Track, content: &Content<'_>, names: &Names<'_>) -> io::Result<()>;
}

/// Tells all of a run, and what other ranks tell of its collectives.
pub(super) fn tell(
    run: &Run,
    calls: &[CallParts],
    process: &Process,
    listener: &mut impl Listener,
) -> io::Result<()> {
    listener.process(process)?;
    let mut telling = Telling {
        names: Names::new(run),
        ids: ThreadIds::new(run, process.pid),
        n_tracks: 0,
        listener,
    };
    telling.named_intervals(run)?;
    let mut launches = LaunchTable::new(run);
    telling.threads(run, &mut launches)?;
    telling.caches(run)?;
    telling.streams(&launches)?;
    telling.collectives(calls)?;
    reading_tracks(run).into_iter().try_for_each(|readings| {
        let title = [readings.name.as_str(), readings.subject.as_str()];
        let title = title.join(" ").trim_end().to_owned();
        telling.track(TrackKind::Readings, title, None, &Content::Readings(readings))?;
        Ok(())
    })
}

struct Telling<'a, 'l, L> {
    names: Names<'a>,
    ids: ThreadIds,
    n_tracks: u32,
    listener: &'l mut L,
}

impl<'a, L: Listener> Telling<'a, '_, L> {
    /// Returns the track's place. Without a number it gets one.
    fn track(
        &mut self,
        kind: TrackKind,
        title: String,
        tid: Option<u32>,
        content: &Content<'a>,
    ) -> io::Result<u32> {
        let order = self.n_tracks;
        self.n_tracks = order.saturating_add(1);
        let track = Track { order, kind, title, tid: tid.unwrap_or_else(|| self.ids.make_up()) };
        self.listener.track(&track, content, &self.names)?;
        Ok(order)
    }

    /// Tracks of one title; those after the first are numbered. Lanes of nothing are no tracks.
    fn lanes(&mut self, kind: TrackKind, title: &str, slices: Vec<Slice<'a>>) -> io::Result<()> {
        let lanes = lanes(slices).into_iter().filter(|lane| !lane.is_empty());
        for (index, lane) in lanes.enumerate() {
            let title = match index {
                0 => title.to_owned(),
                _ => format!("{title} ({})", index + 1),
            };
            self.track(kind, title, None, &work(lane))?;
        }
        Ok(())
    }

    fn named_intervals(&mut self, run: &'a Run) -> io::Result<()> {
        let sessions = run.sessions.iter().map(|session| {
            let name = self.names.number(&session.name);
            let what = What::new(Category::Session, name, Args::Attributes(&session.tags));
            open_or_not(what, session.start_ns, session.end_ns, run)
        });
        let sessions = sessions.collect();
        self.lanes(TrackKind::Sessions, "sessions", sessions)?;
        let windows = run.windows.iter().map(|window| {
            let name = self.names.number(&window.name);
            let what = What::new(Category::Window, name, Args::Window(window));
            open_or_not(what, window.opened_ns, window.stopped_ns, run)
        });
        let windows = windows.collect();
        self.lanes(TrackKind::Windows, "profiler windows", windows)
    }

    fn threads(&mut self, run: &'a Run, launches: &mut LaunchTable<'a>) -> io::Result<()> {
        let mut threads = of_threads(run);
        let main = self.ids.main.and_then(|main| u32::try_from(main).ok());
        let first = main.and_then(|main| Some((main, threads.remove(&main)?)));
        for (thread, of) in first.into_iter().chain(threads) {
            self.thread(run, thread, &of, launches)?;
        }
        Ok(())
    }

    fn thread(
        &mut self,
        run: &'a Run,
        thread: u32,
        of: &OfThread<'a>,
        launches: &mut LaunchTable<'a>,
    ) -> io::Result<()> {
        let slices = self.sections(run, of, launches);
        let mut moments: Vec<Moment<'a>> = of
            .events
            .iter()
            .map(|event| Moment {
                at_ns: event.at_ns,
                name: self.names.number(&event.name),
                category: Category::Event,
                args: Args::Attributes(&event.attributes),
            })
            .collect();
        moments.sort_by_key(|moment| moment.at_ns);
        let mut lanes = lanes(slices).into_iter();
        let title = thread_name(run, thread).unwrap_or_else(|| "thread not known".into());
        let tid = self.ids.of_thread(thread);
        let lane = lanes.next().unwrap_or_default();
        let content = Content::Work { lane, moments };
        let of = self.track(TrackKind::Thread, title.clone(), Some(tid), &content)?;
        drop(content);
        for (index, lane) in lanes.enumerate() {
            let title = format!("{title}: tasks {}", index + 1);
            self.track(TrackKind::Tasks { of }, title, None, &work(lane))?;
        }
        Ok(())
    }

    fn sections(
        &mut self,
        run: &'a Run,
        of: &OfThread<'a>,
        launches: &mut LaunchTable<'a>,
    ) -> Vec<Slice<'a>> {
        let n: usize = of.sections.iter().map(Range::len).sum();
        let mut slices = Vec::with_capacity(n + of.open.len());
        for range in &of.sections {
            let given = &run.section_attributes;
            let from = given.partition_point(|given| given.section < range.start);
            let mut given = given[from..].iter().peekable();
            for (index, section) in range.clone().zip(&run.sections[range.clone()]) {
                let (name, category) = self.names.of_node(section.node);
                while given.next_if(|given| given.section < index).is_some() {}
                let attributes = given.peek().filter(|given| given.section == index);
                let args = attributes.map_or(Args::None, |a| Args::Attributes(&a.attributes));
                let what = What {
                    launches: launches.of_section(section),
                    ..What::new(category, name, args)
                };
                slices.push(Slice {
                    flow: section.flow.into(),
                    flags: u8::from(section.is_failed) * Slice::FAILED
                        + u8::from(section.has_pauses) * Slice::PAUSED,
                    ..Slice::new(what, section.start_ns, section.end_ns)
                });
            }
        }
        for open in &of.open {
            let (name, category) = self.names.of_node(open.node);
            let what = What::new(category, name, Args::None);
            slices.push(Slice {
                flow: flow_of_open(run, open),
                flags: Slice::OPEN,
                ..Slice::new(what, open.start_ns, open.end_ns(run.wall_ns))
            });
        }
        slices
    }

    fn caches(&mut self, run: &'a Run) -> io::Result<()> {
        let mut caches: BTreeMap<&str, Vec<&'a CacheEvent>> = BTreeMap::new();
        for event in &run.cache_events {
            caches.entry(&event.cache).or_default().push(event);
        }
        for (cache, mut events) in caches {
            events.sort_by_key(|event| event.at_ns);
            let moments = events.into_iter().map(|event| Moment {
                at_ns: event.at_ns,
                name: self.names.number(event.outcome.name()),
                category: Category::Cache,
                args: Args::Cache(event),
            });
            let content = Content::Work { moments: moments.collect(), lane: Vec::new() };
            self.track(TrackKind::Cache, format!("cache {cache}"), None, &content)?;
        }
        Ok(())
    }

    fn collectives(&mut self, calls: &'a [CallParts]) -> io::Result<()> {
        let mut slices = Vec::with_capacity(2 * calls.len());
        let mut slice = |name: &'a str, start_ns, end_ns| {
            let name = self.names.number(name);
            let what = What::new(Category::Communication, name, Args::None);
            slices.push(Slice::new(what, start_ns, end_ns));
        };
        for call in calls {
            slice(&call.name, call.start_ns, call.end_ns);
            let parts = [
                ("waits for others", call.start_ns, call.transfer_start_ns),
                ("transfer", call.transfer_start_ns, call.end_ns),
            ];
            for (name, start_ns, end_ns) in parts {
                if start_ns < end_ns {
                    slice(name, start_ns, end_ns);
                }
            }
        }
        self.lanes(TrackKind::Collectives, "waiting in collectives", slices)
    }

    fn streams(&mut self, launches: &LaunchTable<'a>) -> io::Result<()> {
        for ((device, stream), spans) in launches.by_stream() {
            let slices = spans.iter().map(|work| {
                let name = self.names.of_node(work.span.node).0;
                let what = What {
                    launches: work.arrow,
                    ..What::new(Category::Gpu, name, Args::Gpu(work.span))
                };
                let end_ns = work.start_ns.saturating_add(work.span.gpu_ns);
                Slice::new(what, work.start_ns, end_ns)
            });
            let slices = slices.collect();
            let title = format!("GPU {device} stream {stream}");
            self.lanes(TrackKind::Stream { device, stream }, &title, slices)?;
        }
        Ok(())
    }
}

fn work(lane: Lane<What<'_>>) -> Content<'_> {
    Content::Work { lane, moments: Vec::new() }
}

fn open_or_not<'a>(what: What<'a>, start_ns: u64, end_ns: Option<u64>, run: &Run) -> Slice<'a> {
    Slice {
        flags: if end_ns.is_none() { Slice::OPEN } else { 0 },
        ..Slice::new(what, start_ns, end_ns.unwrap_or(run.wall_ns))
    }
}

/// What one thread did, and where it stands in the run.
#[derive(Debug, Default)]
struct OfThread<'a> {
    sections: Vec<Range<usize>>,
    open: Vec<&'a OpenSection>,
    events: Vec<&'a Event>,
}

/// What was done in no known thread stands under `u32::MAX`.
fn of_threads(run: &Run) -> BTreeMap<u32, OfThread<'_>> {
    let mut threads: BTreeMap<u32, OfThread<'_>> = BTreeMap::new();
    let mut begin = 0;
    for sections in run.sections.chunk_by(|a, b| a.thread == b.thread) {
        let range = begin..begin + sections.len();
        begin = range.end;
        let of = threads.entry(sections[0].thread).or_default();
        of.sections.push(range);
    }
    for open in &run.open {
        let of = threads.entry(open.thread.unwrap_or(u32::MAX)).or_default();
        of.open.push(open);
    }
    for event in &run.events {
        threads.entry(event.thread).or_default().events.push(event);
    }
    threads
}
