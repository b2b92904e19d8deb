//! Why did a device wait, in more detail: what was the host doing, and what was the work waiting for?

use super::HostRows;
use super::device_timeline::DeviceWork;
use super::gap_reason::GapReason;
use crate::import::chrome::{Class, Trace};
use crate::intervals::Interval;

/// Launches take up to this, and pauses up to this are short.
const SHORT_NS: u64 = 10_000;

/// What is found out about gaps.
pub(super) struct GapReasons<'a> {
    trace: &'a Trace,
    host: &'a HostRows,
    /// What the host does in a row, by name: for operators and calls, for annotations, for Python functions.
    known: Vec<[Option<GapReason>; 3]>,
    /// Ends of waits of streams for events: document, stream, end.
    waits: Vec<(u32, i64, u64)>,
}

/// A gap and what came before and after it.
#[derive(Clone, Copy)]
pub(super) struct GapEnds {
    pub(super) time: Interval,
    /// The stream of the work that ended last before it.
    pub(super) stream_before: Option<u32>,
    /// The stream of what came next, if it is a number.
    pub(super) stream_number: Option<i64>,
    pub(super) next: DeviceWork,
}

impl GapEnds {
    /// Of a gap for which the host was late: the streams do not matter then.
    pub(super) fn of_late(time: Interval, next: DeviceWork) -> Self {
        Self {
            time,
            stream_before: None,
            stream_number: None,
            next,
        }
    }
}

/// Why, and what the host did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Explained {
    pub(super) reason: GapReason,
    /// Time in it that the launching thread spent in operators and calls, before the launch.
    pub(super) launching_ns: u64,
    /// The innermost row that was open on the launching thread as the gap began.
    pub(super) at_start: Option<u32>,
    /// The innermost one that is open for more than half of the gap. A call counts for the operator that made it, unless it waits.
    pub(super) during: Option<u32>,
}

impl<'a> GapReasons<'a> {
    pub(super) fn new(trace: &'a Trace, host: &'a HostRows) -> Self {
        let waits = trace.waits.iter().filter_map(|wait| {
            let end_ns = trace.rows.end_ns(wait.row);
            Some((trace.document_of(wait.row), wait.stream?, end_ns))
        });
        let mut waits: Vec<_> = waits.collect();
        waits.sort_unstable();
        Self {
            trace,
            host,
            known: vec![[None; 3]; trace.names.len()],
            waits,
        }
    }

    pub(super) fn of(&mut self, gap: &GapEnds) -> Explained {
        let Some(call) = gap.next.launch else {
            return Explained {
                reason: GapReason::NotKnown,
                launching_ns: 0,
                at_start: None,
                during: None,
            };
        };
        let track = self.trace.rows.track.get(call as usize).copied();
        let track = track.unwrap_or_default();
        let launched_ns = self.trace.rows.start_of(call);
        let late = Interval {
            start_ns: gap.time.start_ns,
            end_ns: launched_ns.clamp(gap.time.start_ns, gap.time.end_ns),
        };
        let during = self.during(track, gap.time);
        // Once it had launched, the thread itself waited: the launch is not what took so long.
        let is_soon = late.length_ns() < gap.time.length_ns() / 2;
        let waited = is_soon && during.is_some_and(|row| waits(self.trace.name_of(row)));
        let mut launching_ns = 0;
        let reason = if launched_ns >= gap.time.start_ns {
            let (reason, in_calls_ns) = self.host_reason(track, late, gap);
            launching_ns = in_calls_ns;
            if waited {
                GapReason::Synchronising
            } else {
                reason
            }
        } else {
            self.device_reason(gap, call)
        };
        Explained {
            reason,
            launching_ns,
            at_start: self.host.open_at(self.trace, track, gap.time.start_ns),
            during,
        }
    }

    /// What the launching thread did most of the time until the launch, told by the innermost row.
    ///
    /// ```text
    /// gap       |------------------------|
    /// host   |--- op ----|   |-- sync --| [launch]
    ///        └launching──┘Python└waiting┘
    /// ```
    fn host_reason(&mut self, track: u32, late: Interval, gap: &GapEnds) -> (GapReason, u64) {
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
        let [launching_ns, synchronising_ns, data_ns, python_ns] = spent;
        let most = [
            (launching_ns, GapReason::LaunchBound),
            (python_ns, GapReason::Python),
            (data_ns, GapReason::Data),
            (synchronising_ns, GapReason::Synchronising),
        ];
        // Of equals the first: when the launch began with the gap, there is nothing else to blame.
        let most = most.into_iter().rev().max_by_key(|(spent_ns, _)| *spent_ns);
        let reason = most.map_or(GapReason::LaunchBound, |(_, reason)| reason);
        (reason, launching_ns)
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
            let place = match top.map(|(_, reason)| reason) {
                Some(GapReason::LaunchBound) => 0,
                Some(GapReason::Synchronising) => 1,
                Some(GapReason::Data) => 2,
                _ => 3,
            };
            spent[place] += until_ns.saturating_sub(*at_ns);
            *at_ns = until_ns.max(*at_ns);
            if top.is_some_and(|(row, _)| self.trace.rows.end_ns(row) <= *at_ns) {
                open.pop();
            }
        }
    }

    /// What the host does in a row; what is within data is data.
    fn reason_of(&mut self, row: u32, around: Option<GapReason>, gap: &GapEnds) -> GapReason {
        let class = self.trace.class_of(row);
        let place = match class {
            Class::Annotation => 1,
            Class::PythonFunction => 2,
            _ => 0,
        };
        let name = self.trace.rows.name.get(row as usize).copied();
        let name = name.unwrap_or_default();
        let known = self.known.get_mut(name as usize);
        let own = known.map_or(GapReason::Python, |known| {
            *known[place].get_or_insert_with(|| reason_of_name(class, self.trace.names.get(name)))
        });
        match own {
            GapReason::Synchronising => own,
            // A copy of what lies on the host, told by what comes next.
            GapReason::LaunchBound if self.copies_from_host(row, gap) => GapReason::Data,
            _ if around == Some(GapReason::Data) => GapReason::Data,
            _ => own,
        }
    }

    fn copies_from_host(&self, row: u32, gap: &GapEnds) -> bool {
        let next = self.trace.names.get(gap.next.name);
        let is_copy = next.contains("HtoD") || next.contains("HostToDevice");
        is_copy
            && matches!(
                self.trace.name_of(row),
                "aten::to" | "aten::_to_copy" | "aten::copy_"
            )
    }

    fn device_reason(&self, gap: &GapEnds, call: u32) -> GapReason {
        let begins_on = Some(gap.next.stream);
        let ended_elsewhere = gap.stream_before.is_some() && gap.stream_before != begins_on;
        if ended_elsewhere || self.waited(gap, call) {
            GapReason::OtherStream
        } else if gap
            .next
            .start_ns
            .saturating_sub(self.trace.rows.end_ns(call))
            <= SHORT_NS
        {
            GapReason::LaunchLatency
        } else if gap.time.length_ns() <= SHORT_NS {
            GapReason::ShortPause
        } else {
            GapReason::Dependency
        }
    }

    /// The stream's wait for an event ended within the gap.
    fn waited(&self, gap: &GapEnds, call: u32) -> bool {
        let Some(stream) = gap.stream_number else {
            return false;
        };
        let from = (self.trace.document_of(call), stream, gap.time.start_ns);
        let at = self.waits.partition_point(|wait| *wait <= from);
        let wait = self.waits.get(at);
        wait.is_some_and(|wait| (wait.0, wait.1) == (from.0, stream) && wait.2 <= gap.time.end_ns)
    }

    /// The innermost row that is open for more than half of the gap.
    fn during(&self, track: u32, gap: Interval) -> Option<u32> {
        let middle_ns = gap.start_ns + gap.length_ns() / 2;
        let top = self.host.open_at(self.trace, track, middle_ns)?;
        let shared_ns = |row: u32| {
            let end_ns = self.trace.rows.end_ns(row).min(gap.end_ns);
            end_ns.saturating_sub(self.trace.rows.start_of(row).max(gap.start_ns))
        };
        let is_operation =
            |row: &u32| self.trace.class_of(*row) != Class::Call || waits(self.trace.name_of(*row));
        let mut open = std::iter::once(top).chain(self.host.around(top));
        open.find(|row| is_operation(row) && shared_ns(*row) > gap.length_ns() / 2)
    }
}

/// The call waits for the device.
fn waits(call: &str) -> bool {
    let blocks = [
        "cudaMemcpy",
        "hipMemcpy",
        "hipMemcpyWithStream",
        "hipMemcpyDtoH",
    ];
    call.contains("Synchronize") || blocks.contains(&call)
}

/// What the name says that the host does.
fn reason_of_name(class: Class, name: &str) -> GapReason {
    match class {
        Class::Call if waits(name) => GapReason::Synchronising,
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
    if [
        "dataloader",
        "safetensors",
        "load_file",
        "load_state_dict",
        "from_pretrained",
    ]
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
