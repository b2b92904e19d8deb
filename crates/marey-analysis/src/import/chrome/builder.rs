//! Events to columns.

use std::borrow::Cow;

use super::args::{Fields, arguments, count, operator_number, text_of, unquoted};
use super::category::Class;
use super::details::{Allocation, Collective, DeviceWait, Inputs, OperatorNumber};
use super::error::{Limits, ReadError};
use super::event::{Event, Label, Scanned};
use super::halves::{Half, Paired, paired};
use super::inputs::InputFinder;
use super::merged_ranks;
use super::nanoseconds::Unit;
use super::npu;
use super::rows::{Call, OTHERS, Work};
use super::scan::Text;
use super::strict::strict;
use super::times::Times;
use super::trace::Trace;
use super::tracks::Identifier;
use crate::model::needs_values;

/// A trace that is being read.
pub(super) struct Builder<'a> {
    pub(super) trace: Trace,
    pub(super) limits: Limits,
    /// Beginnings, on the trace's own clock.
    start_ns: Vec<i64>,
    halves: Vec<Half>,
    /// Arguments of those that may say more, one behind the other.
    args_of_halves: Vec<u8>,
    /// When allocations happened, on the trace's own clock.
    allocated_at_ns: Vec<i64>,
    input_finder: InputFinder,
    /// Of each name so far, whether the values of its operator are kept.
    has_values: Vec<bool>,
    n_by_phase: [u64; 256],
    /// Bytes of what is kept, without texts and tracks.
    taken_bytes: usize,
    /// An event without a category says that it is a task of an Ascend NPU.
    has_tasks: bool,
    /// Which document is being read.
    pub(super) document: u32,
    /// Who takes events in place of the columns.
    pub(super) listener: Option<Listener<'a>>,
}

/// Takes an event as JSON, with the number of its document.
pub(super) type Listener<'a> = Box<dyn FnMut(u32, &str) -> std::io::Result<()> + 'a>;

/// Nothing in a trace lasts as long. Times that are closer to 0 than this are none where most are not.
const YEAR_NS: u64 = 365 * 24 * 3_600 * 1_000_000_000;

/// Of the columns, for one row.
const BYTES_OF_ROW: usize = 25;

/// The category of synchronisations on the rows of devices.
const DEVICE_WAIT: &str = "cuda_sync";

/// Of a process or a track, with its places in the tables where it is looked for.
const BYTES_OF_PLACE: usize = 256;

impl Builder<'_> {
    pub(super) fn new(limits: Limits) -> Self {
        Self {
            trace: Trace::default(),
            limits,
            start_ns: Vec::new(),
            halves: Vec::new(),
            args_of_halves: Vec::new(),
            allocated_at_ns: Vec::new(),
            input_finder: InputFinder::new(),
            has_values: Vec::new(),
            n_by_phase: [0; 256],
            taken_bytes: 0,
            has_tasks: false,
            document: 0,
            listener: None,
        }
    }

    /// Takes in an event; `written` is all of it. `Err` inside when it cannot be understood.
    #[inline]
    pub(super) fn take(
        &mut self,
        scanned: &Scanned<'_>,
        written: &[u8],
    ) -> Result<Result<(), String>, ReadError> {
        if !scanned.is_unusual {
            self.take_event(&scanned.event, written)?;
            return Ok(Ok(()));
        }
        let Times { start_ns, duration_ns, unit } = match Times::of(written) {
            Ok(times) => times,
            Err(why) => return Ok(Err(why)),
        };
        let quality = &mut self.trace.quality;
        quality.n_unusual += 1;
        quality.n_in_nanoseconds += u64::from(unit == Unit::Nanoseconds);
        let event = Event { start_ns, duration_ns, ..scanned.event };
        self.take_event(&event, written)?;
        Ok(Ok(()))
    }

    #[inline]
    fn take_event(&mut self, event: &Event<'_>, written: &[u8]) -> Result<(), ReadError> {
        self.n_by_phase[event.phase as usize] += 1;
        if let Some(listener) = &mut self.listener {
            return listener(self.document, &strict(written)).map_err(ReadError::from_io);
        }
        match event.phase {
            b'X' => self.take_complete(event),
            b'B' | b'E' => self.take_half(event),
            b'M' => self.take_name(event),
            b'i' | b'I' if event.name.bytes == b"[memory]" => self.take_allocation(event),
            _ => Ok(()),
        }
    }

    #[inline]
    fn take_complete(&mut self, event: &Event<'_>) -> Result<(), ReadError> {
        let (Some(start_ns), Some(duration_ns)) = (event.start_ns, event.duration_ns) else {
            self.trace.quality.n_without_time += 1;
            return Ok(());
        };
        let duration_ns = u64::try_from(duration_ns).unwrap_or_else(|_| {
            self.trace.quality.n_negative_durations += 1;
            0
        });
        if duration_ns > YEAR_NS || start_ns.checked_add_unsigned(duration_ns).is_none() {
            self.trace.quality.n_out_of_range += 1;
            return Ok(());
        }
        let category = self.category_of(event)?;
        let name = self.name(event.name)?;
        let track = self.track(event)?;
        let row = self.push(start_ns, duration_ns, name, track, category)?;
        self.take_details(row, category, event.args)
    }

    /// Takes in what a row says beyond the columns; `args` as they are written.
    #[inline]
    fn take_details(&mut self, row: u32, category: u8, args: &[u8]) -> Result<(), ReadError> {
        let class = self.trace.categories.class(category);
        match class {
            Class::Kernel | Class::Memcpy | Class::Memset => {
                self.take_work(row, class, args)?;
            }
            Class::Call => {
                self.take_bytes(size_of::<Call>())?;
                let read = arguments(args);
                let kernel = read.kernel.map(|kernel| self.name(kernel)).transpose()?;
                self.trace.calls.push(Call { row, correlation: read.correlation, kernel });
            }
            Class::Operator => {
                if let Some(number) = operator_number(args) {
                    self.take_bytes(size_of::<OperatorNumber>())?;
                    let number = OperatorNumber { row, number };
                    self.trace.operator_numbers.push(number);
                }
                self.take_inputs(row, args)?;
            }
            // What the host itself moved. Of ranges of NCCL the kernels say it.
            Class::Annotation if is_host_collective(self.trace.name_of(row)) => {
                self.take_inputs(row, args)?;
            }
            Class::Other if self.trace.categories.name(category) == DEVICE_WAIT => {
                self.take_bytes(size_of::<DeviceWait>())?;
                self.trace.waits.push(DeviceWait::of(row, args));
            }
            _ => {}
        }
        Ok(())
    }

    #[inline]
    fn take_work(&mut self, row: u32, class: Class, args: &[u8]) -> Result<(), ReadError> {
        let read = arguments(args);
        self.take_bytes(size_of::<Work>())?;
        let stream = match read.stream {
            Label::None => self.tid_of(row),
            stream => self.trace.tracks.identifier(stream, self.limits.name_bytes)?,
        };
        self.trace.work.push(Work {
            row,
            class,
            correlation: read.correlation,
            stream,
            bytes: read.bytes,
        });
        if class == Class::Kernel && read.has_collective {
            self.take_collective(row, args)?;
        }
        Ok(())
    }

    fn tid_of(&self, row: u32) -> Identifier {
        let track = self.trace.rows.track.get(row as usize);
        let track = track.and_then(|track| self.trace.tracks.each.get(*track as usize));
        track.map_or(Identifier::None, |track| track.tid)
    }

    #[inline]
    fn take_inputs(&mut self, row: u32, args: &[u8]) -> Result<(), ReadError> {
        let Some(written) = self.input_finder.find(args) else {
            return Ok(());
        };
        let inputs = Inputs {
            row,
            shapes: self.written(written.shapes)?,
            types: written.types.map(|types| self.written(types)).transpose()?,
            values: self.values_of(row, args).map(|values| self.written(values)).transpose()?,
        };
        self.take_bytes(size_of::<Inputs>())?;
        self.trace.inputs.push(inputs);
        Ok(())
    }

    /// The values of inputs that are no tensors, of operators whose work depends on them.
    fn values_of<'a>(&mut self, row: u32, args: &'a [u8]) -> Option<&'a [u8]> {
        let name = *self.trace.rows.name.get(row as usize)?;
        for number in self.has_values.len()..=name as usize {
            let named = self.trace.names.get(u32::try_from(number).ok()?);
            self.has_values.push(needs_values(named));
        }
        let has_values = self.has_values.get(name as usize)?;
        has_values.then(|| self.input_finder.values(args)).flatten()
    }

    fn take_collective(&mut self, row: u32, args: &[u8]) -> Result<(), ReadError> {
        let mut said = Collective { row, ..Collective::default() };
        let (mut kind, mut name) = (None, None);
        for (key, value) in Fields::new(args) {
            match key {
                b"Collective name" => said.name = Some(self.said(value)?),
                b"dtype" => said.element_type = Some(self.said(value)?),
                b"In msg nelems" => said.n_elements_in = count(value),
                b"Out msg nelems" => said.n_elements_out = count(value),
                b"Group size" => said.group_size = count(value),
                b"Process Group Name" => name = Some(value),
                b"Process Group Description" => kind = Some(value),
                _ => {}
            }
        }
        let says_nothing = said == Collective { row, ..Collective::default() };
        if says_nothing && kind.is_none() && name.is_none() {
            return Ok(());
        }
        let is_known = |value: &&[u8]| !matches!(*value, b"\"\"" | b"null" | b"\"undefined\"");
        let [kind, name] = [kind, name].map(|of| of.filter(is_known));
        // A kind is that of several groups (`mesh_tp`); its name is that of one, on all ranks.
        let both = kind.zip(name).filter(|(kind, name)| *kind != b"\"default_pg\"" && kind != name);
        let both =
            both.map(|(kind, name)| [b"\"", unquoted(kind), b":", unquoted(name), b"\""].concat());
        let group = both.as_deref().or(kind).or(name);
        said.group = group.map(|group| self.said(group)).transpose()?;
        self.take_bytes(size_of::<Collective>())?;
        self.trace.collectives.push(said);
        Ok(())
    }

    fn take_allocation(&mut self, event: &Event<'_>) -> Result<(), ReadError> {
        let Some(at_ns) = event.start_ns else {
            self.trace.quality.n_without_time += 1;
            return Ok(());
        };
        let track = self.track(event)?;
        let Some(allocation) = Allocation::of(track, event.args) else {
            self.trace.quality.n_without_bytes += 1;
            return Ok(());
        };
        if self.allocated_at_ns.len() >= self.limits.rows {
            return Err(ReadError::Events(self.limits.rows));
        }
        self.take_bytes(size_of::<Allocation>() + size_of::<i64>())?;
        self.allocated_at_ns.push(at_ns);
        self.trace.allocations.push(allocation);
        Ok(())
    }

    /// The number of a text of details: what a value says, or how it is written when it is no text.
    fn said(&mut self, value: &[u8]) -> Result<u32, ReadError> {
        match text_of(value) {
            Some(text) => self.detail(text),
            None => self.written(value),
        }
    }

    /// Likewise, of a value as it is written.
    fn written(&mut self, value: &[u8]) -> Result<u32, ReadError> {
        self.detail(Text { bytes: &on_one_line(value), is_escaped: false })
    }

    fn detail(&mut self, text: Text<'_>) -> Result<u32, ReadError> {
        Ok(self.trace.texts.number_of(text, self.limits.name_bytes)?)
    }

    #[inline]
    fn push(
        &mut self,
        start_ns: i64,
        duration_ns: u64,
        name: u32,
        track: u32,
        category: u8,
    ) -> Result<u32, ReadError> {
        let too_many = ReadError::Events(self.limits.rows);
        let n_rows = self.start_ns.len();
        if n_rows >= self.limits.rows {
            return Err(too_many);
        }
        self.take_bytes(BYTES_OF_ROW)?;
        let rows = &mut self.trace.rows;
        self.start_ns.push(start_ns);
        rows.duration_ns.push(duration_ns);
        rows.name.push(name);
        rows.track.push(track);
        rows.category.push(category);
        u32::try_from(n_rows).map_err(|_| too_many)
    }

    fn take_half(&mut self, event: &Event<'_>) -> Result<(), ReadError> {
        let Some(at_ns) = event.start_ns else {
            self.trace.quality.n_without_time += 1;
            return Ok(());
        };
        if self.halves.len() >= self.limits.rows {
            return Err(ReadError::Events(self.limits.rows));
        }
        let is_end = event.phase == b'E';
        let is_named = !is_end || !event.name.bytes.is_empty();
        let category = self.category_of(event)?;
        let says_more = match self.trace.categories.class(category) {
            Class::PythonFunction | Class::DeviceAnnotation => false,
            Class::Other => self.trace.categories.name(category) == DEVICE_WAIT,
            _ => true,
        };
        let args = if says_more && !is_end { event.args } else { &[] };
        let from = self.args_of_halves.len();
        let half = Half {
            at_ns,
            track: self.track(event)?,
            name: is_named.then(|| self.name(event.name)).transpose()?,
            category,
            is_end,
            args: (from, from + args.len()),
        };
        self.take_bytes(size_of::<Half>().saturating_add(args.len()))?;
        self.args_of_halves.extend_from_slice(args);
        self.halves.push(half);
        Ok(())
    }

    /// Counts what is about to be kept.
    #[inline]
    pub(super) fn take_bytes(&mut self, bytes: usize) -> Result<(), ReadError> {
        self.taken_bytes = self.taken_bytes.saturating_add(bytes);
        let tracks = &self.trace.tracks;
        let n_places = tracks.each.len() + tracks.processes.len();
        let places = n_places.saturating_mul(BYTES_OF_PLACE);
        if self.taken_bytes.saturating_add(places) > self.limits.bytes {
            return Err(ReadError::Memory(self.limits.bytes));
        }
        Ok(())
    }

    /// Takes in what a process or a thread is called.
    fn take_name(&mut self, event: &Event<'_>) -> Result<(), ReadError> {
        let is_process = event.name.bytes == b"process_name";
        if !is_process && event.name.bytes != b"thread_name" {
            return Ok(());
        }
        let mut fields = Fields::new(event.args);
        let value = fields.find_map(|(key, value)| (key == b"name").then_some(value));
        let Some(text) = value.and_then(text_of) else {
            return Ok(());
        };
        let most_bytes = self.limits.name_bytes;
        let tracks = &mut self.trace.tracks;
        let said = tracks.labels.number_of(text, most_bytes)?;
        let said = Some(tracks.labels.get(said).to_owned());
        self.take_bytes(said.as_ref().map_or(0, String::len))?;
        let place = if is_process {
            let process = self.trace.tracks.process(self.document, event.pid, most_bytes)?;
            self.trace.tracks.processes.get_mut(process as usize).map(|process| &mut process.name)
        } else {
            let track = self.track(event)?;
            self.trace.tracks.each.get_mut(track as usize).map(|track| &mut track.name)
        };
        if let Some(name) = place {
            *name = said;
        }
        Ok(())
    }

    /// The category of an event; of what says that it is a task of an NPU, which has none, that of such work.
    #[inline]
    fn category_of(&mut self, event: &Event<'_>) -> Result<u8, ReadError> {
        let has_none = event.category.bytes.is_empty();
        match has_none.then(|| npu::category(event.args)).flatten() {
            Some(category) => {
                self.has_tasks = true;
                self.category(plain(category))
            }
            None => self.category(event.category),
        }
    }

    #[inline]
    fn category(&mut self, text: Text<'_>) -> Result<u8, ReadError> {
        let categories = &mut self.trace.categories;
        // Once there are as many as are told apart, new ones are only looked at.
        let number = if categories.names.len() < OTHERS as usize {
            categories.names.number_of(text, self.limits.name_bytes)?
        } else {
            let said = String::from_utf8_lossy(text.bytes);
            let known = categories.names.iter().position(|name| name == said);
            known.map_or(u32::from(OTHERS), |at| u32::try_from(at).unwrap_or(u32::MAX))
        };
        if number as usize == categories.classes.len() && number < u32::from(OTHERS) {
            let class = Class::of(categories.names.get(number));
            categories.classes.push(class);
        }
        Ok(u8::try_from(number).unwrap_or(OTHERS))
    }

    #[inline]
    fn name(&mut self, text: Text<'_>) -> Result<u32, ReadError> {
        Ok(self.trace.names.number_of(text, self.limits.name_bytes)?)
    }

    #[inline]
    fn track(&mut self, event: &Event<'_>) -> Result<u32, ReadError> {
        let labels = (event.pid, event.tid);
        Ok(self.trace.tracks.track(self.document, labels, self.limits.name_bytes)?)
    }

    /// Takes in halves that fit together as if they had been written as one event, with the arguments of the beginning.
    fn take_pairs(&mut self, paired: &Paired) -> Result<(), ReadError> {
        let args_of_halves = std::mem::take(&mut self.args_of_halves);
        for (begun, end_ns) in &paired.pairs {
            let duration_ns = end_ns.checked_sub(begun.at_ns);
            let duration_ns = duration_ns.map(i64::unsigned_abs);
            let Some(duration_ns) = duration_ns.filter(|ns| *ns <= YEAR_NS) else {
                self.trace.quality.n_out_of_range += 1;
                continue;
            };
            let name = begun.name.unwrap_or_default();
            let row = self.push(begun.at_ns, duration_ns, name, begun.track, begun.category)?;
            let (from, to) = begun.args;
            let args = args_of_halves.get(from..to).unwrap_or_default();
            self.take_details(row, begun.category, args)?;
        }
        Ok(())
    }

    /// Leaves out rows that are further than a year from three of four others: CUPTI writes 0 where it dropped a time, and clocks break. They
    /// stay rows of no length that are nothing. Of several documents, whose clocks may differ, all are kept.
    fn leave_out_impossible_times(&mut self) {
        let (first_ns, last_ns) = (self.start_ns.iter().min(), self.start_ns.iter().max());
        let span_ns = first_ns.zip(last_ns).map_or(0, |(first, last)| last.abs_diff(*first));
        if self.document > 0 || span_ns <= YEAR_NS {
            return;
        }
        let mut known: Vec<i64> =
            self.start_ns.iter().copied().filter(|at_ns| *at_ns != 0).collect();
        let middle = known.len() / 2;
        let (_, median_ns, _) = known.select_nth_unstable(middle);
        let median_ns = *median_ns;
        let is_near = |at_ns: &&i64| at_ns.abs_diff(median_ns) <= YEAR_NS;
        if known.iter().filter(is_near).count() * 4 <= known.len() * 3 {
            return;
        }
        let lost: Vec<bool> = self.start_ns.iter().map(|at_ns| !is_near(&at_ns)).collect();
        let first_ns = self.start_ns.iter().filter(is_near).min().copied();
        let rows = &mut self.trace.rows;
        for (row, _) in lost.iter().enumerate().filter(|(_, lost)| **lost) {
            let is_dropped = self.start_ns[row].unsigned_abs() <= YEAR_NS;
            self.trace.quality.n_without_time += u64::from(is_dropped);
            self.trace.quality.n_out_of_range += u64::from(!is_dropped);
            self.start_ns[row] = first_ns.unwrap_or_default();
            rows.duration_ns[row] = 0;
            rows.category[row] = OTHERS;
        }
        let is_kept = |row: u32| !lost.get(row as usize).is_some_and(|lost| *lost);
        self.trace.work.retain(|one| is_kept(one.row));
        self.trace.calls.retain(|one| is_kept(one.row));
        self.trace.waits.retain(|one| is_kept(one.row));
        self.trace.inputs.retain(|one| is_kept(one.row));
        self.trace.collectives.retain(|one| is_kept(one.row));
        self.trace.operator_numbers.retain(|one| is_kept(one.row));
    }

    /// The trace, when all events are in.
    pub(super) fn finish(mut self) -> Result<Trace, ReadError> {
        let paired = paired(std::mem::take(&mut self.halves));
        self.take_pairs(&paired)?;
        self.leave_out_impossible_times();
        if self.has_tasks || npu::is_in(&self.trace.tracks) {
            let [none, kernel, task] =
                ["", npu::KERNEL, npu::TASK].map(|name| self.category(plain(name)));
            npu::set_apart(&mut self.trace, [none?, kernel?, task?]);
        }
        let mut trace = self.trace;
        trace.n_merged_ranks = merged_ranks::set_apart(&mut trace);
        trace.first_ns = self.start_ns.iter().copied().min();
        let first_ns = trace.first_ns.unwrap_or_default();
        let after_first = |start_ns: i64| start_ns.abs_diff(first_ns);
        trace.rows.start_ns = self.start_ns.into_iter().map(after_first).collect();
        for (allocation, at_ns) in trace.allocations.iter_mut().zip(self.allocated_at_ns) {
            let is_after = trace.first_ns.is_some_and(|first_ns| first_ns <= at_ns);
            allocation.at_ns = is_after.then(|| after_first(at_ns));
        }
        let quality = &mut trace.quality;
        quality.n_open = paired.n_open;
        quality.n_without_begin = paired.n_without_begin;
        quality.n_damaged_names = trace.names.n_damaged();
        quality.n_events = self.n_by_phase.iter().sum();
        quality.n_not_analysed = trace.rows.not_analysed(&trace.categories);
        for (phase, count) in (0_u8..=u8::MAX).zip(self.n_by_phase) {
            if count > 0 {
                let phase = if phase == 0 { String::new() } else { char::from(phase).to_string() };
                quality.n_by_phase.insert(phase, count);
            }
        }
        Ok(trace)
    }
}

fn plain(text: &str) -> Text<'_> {
    Text { bytes: text.as_bytes(), is_escaped: false }
}

/// A list as torch writes it, whatever lines and indentation a later tool gave it: `[[1, 77], []]`. What stands in quotes stays.
fn on_one_line(list: &[u8]) -> Cow<'_, [u8]> {
    if memchr::memchr3(b'\n', b'\r', b'\t', list).is_none() {
        return Cow::Borrowed(list);
    }
    let mut line = Vec::with_capacity(list.len());
    let (mut is_quoted, mut is_escaped) = (false, false);
    for byte in list {
        if is_quoted || !byte.is_ascii_whitespace() {
            line.push(*byte);
        }
        if *byte == b'"' && !is_escaped {
            is_quoted = !is_quoted;
        }
        is_escaped = *byte == b'\\' && !is_escaped;
        if *byte == b',' && !is_quoted {
            line.push(b' ');
        }
    }
    Cow::Owned(line)
}

/// A range of a backend of torch that works on the host by itself: `gloo:all_gather`. One of NCCL only hands work over.
pub(crate) fn is_host_collective(name: &str) -> bool {
    ["gloo:", "mpi:", "ucc:"].iter().any(|backend| name.starts_with(backend))
}
