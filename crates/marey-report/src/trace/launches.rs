//! Which section queued which work on a GPU: the arrows of a trace.

use std::collections::BTreeMap;

use marey::{GpuSpan, Run, Section};

use super::slice::Launches;

/// Work on a GPU whose time is known; other spans cannot be drawn.
#[derive(Debug)]
pub(super) struct Work<'a> {
    pub(super) span: &'a GpuSpan,
    /// When it began on the GPU.
    pub(super) start_ns: u64,
    /// The arrow that ends here; none when the section that queued it was not recorded.
    pub(super) arrow: Launches,
}

/// The work of a run, by the section that queued it.
///
/// ```text
/// section  |-- forward --|                 arrow n begins at the section,
/// stream 7         |---- forward ----|     and ends at its work
/// ```
#[derive(Debug)]
pub(super) struct LaunchTable<'a> {
    work: Vec<Work<'a>>,
}

type Key = (u32, u64, u32);

impl<'a> LaunchTable<'a> {
    pub(super) fn new(run: &'a Run) -> Self {
        let work = run.gpu_spans.iter().filter_map(|span| {
            Some(Work {
                span,
                start_ns: span.start_ns.saturating_add(span.delay_ns?),
                arrow: Launches::default(),
            })
        });
        let mut work: Vec<Work<'a>> = work.collect();
        work.sort_by_key(|work| key(work.span));
        Self { work }
    }

    /// The arrows that begin at a section; remembers that they do.
    pub(super) fn of_section(&mut self, section: &Section) -> Launches {
        if self.work.is_empty() {
            return Launches::default();
        }
        let wanted: Key = (section.thread, section.start_ns, section.node);
        let first = self.work.partition_point(|work| key(work.span) < wanted);
        let theirs = self.work[first..].iter_mut();
        let mut number = u32::try_from(first).unwrap_or(u32::MAX);
        let mut launches = Launches { first: number, count: 0 };
        let is_free = |work: &&mut Work<'_>| key(work.span) == wanted && work.arrow.count == 0;
        for work in theirs.take_while(is_free) {
            work.arrow = Launches { first: number, count: 1 };
            number = number.saturating_add(1);
            launches.count += 1;
        }
        launches
    }

    /// The work of each stream: device, then stream.
    pub(super) fn by_stream(&self) -> BTreeMap<(u32, u64), Vec<&Work<'a>>> {
        let mut streams: BTreeMap<(u32, u64), Vec<&Work<'a>>> = BTreeMap::new();
        for work in &self.work {
            let stream = (work.span.device, work.span.stream);
            streams.entry(stream).or_default().push(work);
        }
        streams
    }
}

fn key(span: &GpuSpan) -> Key {
    (span.thread, span.start_ns, span.node)
}
