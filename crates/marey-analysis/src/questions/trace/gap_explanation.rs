//! Why did a device wait, in more detail: what was the host doing, and what was the work waiting for?

use super::device_timeline::{DeviceTimeline, DeviceWork};
use super::{GapReason, HostRows, TraceContext};
use crate::import::chrome::{Class, HostMeanings, Trace};
use crate::intervals::Interval;

/// Launches take up to this, and pauses up to this are short.
const SHORT_NS: u64 = 10_000;

/// Why the host can be late. Of equals the first counts.
const LATE: [GapReason; 4] =
    [GapReason::LaunchBound, GapReason::Python, GapReason::Data, GapReason::Synchronising];

/// What is found out about gaps of a device.
pub(super) struct GapReasons<'a> {
    context: &'a TraceContext<'a>,
    trace: &'a Trace,
    host: &'a HostRows,
    timeline: &'a DeviceTimeline,
    document: u32,
    /// Clocks of host and device differ by at least this.
    skew_ns: u64,
    /// What the host does in rows, as their names say.
    known: HostMeanings<'a, GapReason>,
    /// Ends of waits of streams for events: document, stream, end.
    waits: Vec<(u32, i64, u64)>,
}

/// A gap and what came before and after it.
#[derive(Clone, Copy)]
pub(super) struct GapEnds {
    pub(super) time: Interval,
    /// The stream of the work that ended last before it.
    pub(super) stream_before: Option<u32>,
    pub(super) next: DeviceWork,
}

/// A gap, or what of it is until the launch of what came next, or after that.
#[derive(Clone, Copy)]
pub(super) struct GapPart {
    pub(super) reason: GapReason,
    pub(super) length_ns: u64,
    /// Until the launch, the innermost row that is open for more than half of that.
    pub(super) doing: Option<u32>,
}

impl<'a> GapReasons<'a> {
    pub(super) fn new(context: &'a TraceContext<'a>, timeline: &'a DeviceTimeline) -> Self {
        let trace = context.trace;
        let waits = trace.waits.iter().filter_map(|wait| {
            let end_ns = trace.rows.end_ns(wait.row);
            Some((trace.document_of(wait.row), wait.stream?, end_ns))
        });
        let mut waits: Vec<_> = waits.collect();
        waits.sort_unstable();
        Self {
            context,
            trace,
            host: &context.host,
            timeline,
            document: trace.document_of_process(timeline.process),
            skew_ns: timeline.before_launch(trace).max().unwrap_or_default(),
            known: HostMeanings::new(trace),
            waits,
        }
    }

    /// The parts of a gap, one or two, which come to it. It is split where what came next was launched:
    ///
    /// ```text
    /// host        |-- op --|[launch]
    /// device  --a--|╌╌╌ host ╌╌|╌╌ device ╌╌|--b--
    /// ```
    pub(super) fn parts(&mut self, gap: &GapEnds) -> impl Iterator<Item = GapPart> + use<> {
        let part =
            |reason, time: Interval, doing| GapPart { reason, length_ns: time.length_ns(), doing };
        let parts = match self.split(gap) {
            None => [Some(part(GapReason::NotKnown, gap.time, None)), None],
            Some((call, late, rest)) => {
                let track = self.trace.rows.track.get(call as usize).copied();
                let track = track.unwrap_or_default();
                let is_late = late.length_ns() > 0;
                let late = is_late.then(|| {
                    let doing = self.during(track, late);
                    part(self.host_reason(track, late, gap), late, doing)
                });
                let reason = if self.unknown_from(gap).is_some() {
                    GapReason::WorkMissing
                } else {
                    self.device_reason(gap, rest, call)
                };
                let rest = (rest.length_ns() > 0).then(|| part(reason, rest, None));
                [late, rest]
            }
        };
        parts.into_iter().flatten()
    }

    /// From when on there may have been work in a gap that the trace lacks.
    fn unknown_from(&self, gap: &GapEnds) -> Option<u64> {
        let unknown = &self.timeline.unknown;
        let next = unknown.partition_point(|time| time.end_ns <= gap.time.start_ns);
        let next = unknown.get(next)?;
        (next.start_ns < gap.time.end_ns).then_some(next.start_ns.max(gap.time.start_ns))
    }

    /// The call that launched what came next, what of the gap is until then, or until a launch whose work the trace lacks, and the
    /// rest; `None` when that is not known. Where clocks of host and device differ, gaps that are not longer are anybody's.
    pub(super) fn split(&self, gap: &GapEnds) -> Option<(u32, Interval, Interval)> {
        let call = gap.next.launch?;
        let launched_ns = self.trace.rows.start_of(call);
        let Interval { start_ns, end_ns } = gap.time;
        let is_known = launched_ns <= end_ns && gap.time.length_ns() > self.skew_ns;
        is_known.then(|| {
            let launched_ns = self.unknown_from(gap).unwrap_or(launched_ns);
            let launched_ns = launched_ns.max(start_ns);
            let late = gap.time.clipped(launched_ns);
            let rest = Interval { start_ns: launched_ns, end_ns };
            (call, late, rest)
        })
    }

    /// What of a gap a wait for the device may be to blame for: all until the launch, and the launch, if a call that waits ended or
    /// went on until then and no data was loaded.
    ///
    /// ```text
    /// host        |--wait--|----|[launch]      |--wait--|[launch]
    /// device  --a----|╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌|--b--------------------|--c--    between a and b
    /// ```
    pub(super) fn waiting_ns(&self, gap: &GapEnds, parts: &[GapPart]) -> u64 {
        let (late, rest_ns) = match self.split(gap) {
            Some((_, late, rest)) => (late, rest.length_ns()),
            None => (gap.time, 0),
        };
        let is_late =
            gap.next.launch.is_none_or(|call| self.trace.rows.start_of(call) >= gap.time.start_ns);
        let has_data = parts.iter().any(|part| part.reason == GapReason::Data);
        if is_late && !has_data && self.context.waits.touch(self.document, late) {
            late.length_ns() + rest_ns.min(SHORT_NS)
        } else {
            0
        }
    }

    /// Time in a gap that threads of the host spent in calls that wait; those of several add up.
    pub(super) fn synchronising_ns(&self, gap: &GapEnds) -> u64 {
        self.context.waits.within(self.document, &[gap.time])
    }

    /// The innermost rows of the thread that launched what came next: what was open as the gap began, and for more than half of it.
    pub(super) fn host_in(&self, gap: &GapEnds) -> [Option<u32>; 2] {
        let call = gap.next.launch.map(|call| self.trace.rows.track.get(call as usize).copied());
        call.map_or([None; 2], |track| {
            let track = track.unwrap_or_default();
            let at_start = self.host.open_at(self.trace, track, gap.time.start_ns);
            [at_start, self.during(track, gap.time)]
        })
    }

    /// What the launching thread did most of the time until the launch, by the innermost row.
    ///
    /// ```text
    /// gap       |------------------------|
    /// host   |--- op ----|   |-- sync --| [launch]
    ///        └launching──┘Python└waiting┘
    /// ```
    fn host_reason(&mut self, track: u32, late: Interval, gap: &GapEnds) -> GapReason {
        let mut spent = [0_u64; 4];
        let mut open: Vec<(u32, GapReason)> = Vec::new();
        if let Some(top) = self.host.open_at(self.trace, track, late.start_ns) {
            let host = self.host;
            let mut around: Vec<u32> = std::iter::once(top).chain(host.around(top)).collect();
            around.retain(|row| self.trace.rows.end_ns(*row) > late.start_ns);
            for row in around.into_iter().rev() {
                let reason = self.reason_of(row, open.last().map(|(_, reason)| *reason), gap);
                open.push((row, reason));
            }
        }
        let rows = self.host.of_track(track);
        let from = rows.partition_point(|row| self.trace.rows.start_of(*row) <= late.start_ns);
        let mut at_ns = late.start_ns;
        for row in rows.get(from..).unwrap_or_default() {
            let start_ns = self.trace.rows.start_of(*row);
            if start_ns >= late.end_ns {
                break;
            }
            self.pass(&mut open, &mut at_ns, start_ns, &mut spent);
            let reason = self.reason_of(*row, open.last().map(|(_, reason)| *reason), gap);
            open.push((*row, reason));
        }
        self.pass(&mut open, &mut at_ns, late.end_ns, &mut spent);
        let most = LATE.into_iter().zip(spent).rev().max_by_key(|(_, spent_ns)| *spent_ns);
        most.map_or(GapReason::LaunchBound, |(reason, _)| reason)
    }

    /// Time goes on to `to_ns`: rows end, and each moment is the innermost open one's.
    fn pass(
        &self,
        open: &mut Vec<(u32, GapReason)>,
        at_ns: &mut u64,
        to_ns: u64,
        spent: &mut [u64; 4],
    ) {
        while *at_ns < to_ns {
            let top = open.last().copied();
            let until_ns = top.map_or(to_ns, |(row, _)| self.trace.rows.end_ns(row).min(to_ns));
            let reason = top.map_or(GapReason::Python, |(_, reason)| reason);
            let place = LATE.into_iter().position(|late| late == reason).unwrap_or_default();
            spent[place] += until_ns.saturating_sub(*at_ns);
            *at_ns = until_ns.max(*at_ns);
            if top.is_some_and(|(row, _)| self.trace.rows.end_ns(row) <= *at_ns) {
                open.pop();
            }
        }
    }

    /// What the host does in a row; what is within data is data.
    fn reason_of(&mut self, row: u32, around: Option<GapReason>, gap: &GapEnds) -> GapReason {
        if self.context.waits.has(row) {
            return GapReason::Synchronising;
        }
        let own = self.known.of(row, reason_of_name);
        match own.map_or(GapReason::Python, |(_, reason)| reason) {
            // A copy of what lies on the host, known by what comes next.
            GapReason::LaunchBound if self.copies_from_host(row, gap) => GapReason::Data,
            _ if around == Some(GapReason::Data) => GapReason::Data,
            own => own,
        }
    }

    fn copies_from_host(&self, row: u32, gap: &GapEnds) -> bool {
        let next = self.trace.names.get(gap.next.name);
        let is_copy = next.contains("HtoD") || next.contains("HostToDevice");
        is_copy && matches!(self.trace.name_of(row), "aten::to" | "aten::_to_copy" | "aten::copy_")
    }

    fn device_reason(&self, gap: &GapEnds, rest: Interval, call: u32) -> GapReason {
        // What ended before the launch held nothing up that came after it.
        let is_late = rest.start_ns > gap.time.start_ns;
        let begins_on = Some(gap.next.stream);
        let ended_elsewhere = gap.stream_before.is_some() && gap.stream_before != begins_on;
        let rows = &self.trace.rows;
        // A call that waits for its work goes on until that has ended.
        let launched_ns =
            if self.context.waits.has(call) { rows.start_of(call) } else { rows.end_ns(call) };
        if ended_elsewhere && !is_late || self.waited(gap, rest) {
            GapReason::OtherStream
        } else if rest.end_ns.saturating_sub(launched_ns) <= SHORT_NS {
            GapReason::LaunchLatency
        } else if rest.length_ns() <= SHORT_NS {
            GapReason::ShortPause
        } else {
            GapReason::Dependency
        }
    }

    /// A wait of its stream for an event ended meanwhile.
    fn waited(&self, gap: &GapEnds, rest: Interval) -> bool {
        let stream = self.timeline.streams.get(gap.next.stream as usize);
        let Some(stream) = stream.and_then(|stream| stream.number()) else {
            return false;
        };
        let from = (self.document, stream, rest.start_ns);
        let at = self.waits.partition_point(|wait| *wait <= from);
        let wait = self.waits.get(at);
        wait.is_some_and(|wait| (wait.0, wait.1) == (from.0, stream) && wait.2 <= rest.end_ns)
    }

    /// The innermost row that is open for more than half of a time. A call counts for the operator that made it, unless it waits.
    fn during(&self, track: u32, gap: Interval) -> Option<u32> {
        let middle_ns = gap.start_ns + gap.length_ns() / 2;
        let top = self.host.open_at(self.trace, track, middle_ns)?;
        let shared_ns = |row: u32| {
            let end_ns = self.trace.rows.end_ns(row).min(gap.end_ns);
            end_ns.saturating_sub(self.trace.rows.start_of(row).max(gap.start_ns))
        };
        let is_operation =
            |row: &u32| self.trace.class_of(*row) != Class::Call || self.context.waits.has(*row);
        let mut open = std::iter::once(top).chain(self.host.around(top));
        open.find(|row| is_operation(row) && shared_ns(*row) > gap.length_ns() / 2)
    }
}

/// What the name says that the host does.
fn reason_of_name(class: Class, name: &str) -> GapReason {
    match class {
        Class::Annotation | Class::PythonFunction | Class::Operator if is_data(name) => {
            GapReason::Data
        }
        Class::Call | Class::Operator => GapReason::LaunchBound,
        _ => GapReason::Python,
    }
}

/// Loading, reading or writing.
fn is_data(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    if ["dataloader", "safetensors", "load_file", "load_state_dict", "from_pretrained"]
        .iter()
        .any(|part| lower.contains(part))
    {
        return true;
    }
    // Functions of files: `<built-in method read of _io.BufferedReader object at 0x7f>`.
    lower.contains("built-in")
        && [" read of", " readinto of", " write of", "io.open"]
            .iter()
            .any(|part| lower.contains(part))
}
