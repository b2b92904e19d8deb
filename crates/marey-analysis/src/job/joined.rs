//! The processes of one command as one run.
//!
//! ```text
//! launcher       |=============== the command ================|     wall time is the command's
//!   encode.py        |--text_encoding--|
//!   generate.py                             |----denoise----|        later by its start
//! joined         |---|--text_encoding--|----|----denoise----|-|     threads, sessions and call paths renumbered
//! ```

use std::collections::HashMap;
use std::path::Path;

use marey::{
    Gap, Launch, MemoryReading, MemorySource, Node, NodeKind, NodeTotals, Run, Series, SeriesPoint,
    Status,
};

use crate::process_peak_bytes;

/// All processes of one command as one run, in time since the command began.
///
/// `parts` are in order of their start, on one host; `main` is the one that the user means, and `command` what a launcher recorded of the
/// command. Calls of the same call path stand together, whichever process made them. What was read of the machine is as one process after the
/// other read it; readings of two processes are no one series, so what was read of a process is of `main`. Of memory it has the readings of
/// `main`, what others labelled, and the highest of each.
pub fn joined(mut parts: Vec<Run>, main: usize, command: Option<&Run>) -> Run {
    let began = |run: &Run| run.info.start_unix_ns;
    let starts = parts.iter().chain(command).map(began);
    let start_unix_ns = starts.min().unwrap_or_default();
    let later = |run: &Run| began(run).saturating_sub(start_unix_ns);
    let ends = parts.iter().chain(command);
    let ends = ends.map(|run| later(run).saturating_add(run.wall_ns));
    let last_record = ends.max().unwrap_or_default();
    let Some(principal) = parts.get_mut(main) else {
        return Run::default();
    };
    let mut whole = Joined::new(Run {
        info: principal.info.clone(),
        status: status_of(principal, command),
        // A helper may outlive the command by a moment.
        wall_ns: last_record,
        unavailable: std::mem::take(&mut principal.unavailable),
        ..Run::default()
    });
    whole.run.info.start_unix_ns = start_unix_ns;
    if let Some(command) = command {
        whole.run.info.command.clone_from(&command.info.command);
        // The wall time has it; and what was seen of the process is not of the command around it.
        let is_of_process =
            |key: &str| key == marey::RunInfo::BEFORE_RECORDING || Launch::is_fact(key);
        whole.run.info.facts.retain(|(key, _)| !is_of_process(key));
    }
    end_open_sections(&mut parts, command);
    let names = parts.len() > 1;
    for (index, part) in parts.into_iter().enumerate() {
        let after_ns = later(&part);
        whole.add(part, after_ns, index == main, names);
    }
    whole.finish()
}

/// That of the process, unless its command still runs, or ended with exit code 0: then what its launcher saw, where the process is a part of
/// the command whose end it got over, or the kernel killed any of them for lack of memory.
fn status_of(principal: &Run, command: Option<&Run>) -> Status {
    if command.is_some_and(|command| command.status == Status::Running) {
        return Status::Running;
    }
    let has_ended = principal.status != Status::Running;
    let is_command = |launch: &Launch| launch.pid == principal.info.pid;
    let seen = command.and_then(|command| {
        let launch = Launch::of(&command.info).filter(|launch| launch.exit_code == Some(0))?;
        let seen = launch.status()?;
        let counts = seen != Status::Finished || has_ended && !is_command(&launch);
        counts.then_some(seen)
    });
    seen.unwrap_or_else(|| principal.status.clone())
}

/// What was open when a process ended was open until then. That is known of one that another program replaced (`exec`), whose process id
/// the next one has, and of the command itself, whose end the launcher saw.
fn end_open_sections(parts: &mut [Run], command: Option<&Run>) {
    let launched = command.and_then(|command| Some((Launch::of(&command.info)?.pid, command)));
    let end_of = |run: &Run| run.info.start_unix_ns.saturating_add(run.wall_ns);
    for index in 0..parts.len() {
        let (before, after) = parts.split_at_mut(index + 1);
        let part = &mut before[index];
        let mut later = after.iter().filter(|next| next.info.pid == part.info.pid);
        let ended = later.next().map(|next| next.info.start_unix_ns).or_else(|| {
            let (pid, command) = launched?;
            (pid == part.info.pid && command.status != Status::Running).then(|| end_of(command))
        });
        let Some(ended) = ended.map(|at| at.saturating_sub(part.info.start_unix_ns)) else {
            continue;
        };
        for open in &mut part.open {
            open.until_ns = open.until_ns.max(ended);
        }
        if !part.open.is_empty() {
            part.wall_ns = part.wall_ns.max(ended);
        }
    }
}

/// Leaves of the sections of a run their totals; the run says how many are missing.
pub fn totals_only(run: &mut Run) {
    let missing = run.sections.len() as u64;
    if missing == 0 {
        return;
    }
    (run.sections, run.section_attributes) = Default::default();
    run.losses.sections_not_written = run.losses.sections_not_written.saturating_add(missing);
    run.gaps.push(Gap { start_ns: 0, end_ns: run.wall_ns, sections: missing });
    run.gaps = without_overlap(std::mem::take(&mut run.gaps));
}

/// A run that takes in one process after the other.
struct Joined {
    run: Run,
    /// Call paths that are known, by parent, name, kind and whether they are detached.
    paths: HashMap<(u32, String, NodeKind, bool), u32>,
}

impl Joined {
    fn new(mut run: Run) -> Self {
        run.nodes.push(Node {
            parent: None,
            name: String::new(),
            kind: NodeKind::Section,
            is_detached: false,
        });
        run.totals.push(NodeTotals::default());
        Self { run, paths: HashMap::new() }
    }

    fn add(&mut self, mut part: Run, after_ns: u64, is_main: bool, names: bool) {
        if names {
            name_threads(&mut part);
        }
        if !is_main {
            // The peak that was counted is among the series of the process.
            keep_highest(&mut part);
            part.series.retain(|series| is_of_machine(&series.info.name));
        }
        let nodes = self.renumbered(&part);
        self.add_totals(&part, &nodes);
        self.number(&mut part, after_ns, &nodes);
        self.add_series(std::mem::take(&mut part.series));
        self.add_losses(&part);
        let run = &mut self.run;
        run.threads.append(&mut part.threads);
        run.open.append(&mut part.open);
        run.sections.append(&mut part.sections);
        run.section_attributes.append(&mut part.section_attributes);
        run.sessions.append(&mut part.sessions);
        run.session_work.append(&mut part.session_work);
        run.events.append(&mut part.events);
        run.counters.append(&mut part.counters);
        run.cache_events.append(&mut part.cache_events);
        run.generation.append(&mut part.generation);
        run.windows.append(&mut part.windows);
        run.gpu_spans.append(&mut part.gpu_spans);
        run.section_memory.append(&mut part.section_memory);
        run.section_resources.append(&mut part.section_resources);
        run.memory.append(&mut part.memory);
        run.gaps.append(&mut part.gaps);
        run.warnings.append(&mut part.warnings);
    }

    /// Gives times, threads, sections, sessions and call paths of a process the numbers that they have in the whole.
    fn number(&self, part: &mut Run, after_ns: u64, nodes: &[u32]) {
        let (first_thread, first_session) =
            (count(self.run.threads.len()), count(self.run.sessions.len()));
        let numbers = self.run.sessions.iter().map(|session| session.number.saturating_add(1));
        let first_number = numbers.max().unwrap_or_default();
        each_time(part, |at_ns| *at_ns = at_ns.saturating_add(after_ns));
        each_thread(part, |thread| *thread = thread.saturating_add(first_thread));
        each_session(part, |session| *session = session.saturating_add(first_session));
        each_node(part, |node| *node = nodes.get(*node as usize).copied().unwrap_or_default());
        for session in &mut part.sessions {
            session.number = session.number.saturating_add(first_number);
        }
        for said in &mut part.section_attributes {
            said.section += self.run.sections.len();
        }
    }

    /// The call paths of a process as those of all.
    fn renumbered(&mut self, part: &Run) -> Vec<u32> {
        let mut nodes: Vec<u32> = Vec::with_capacity(part.nodes.len());
        for node in &part.nodes {
            let parent = node.parent.and_then(|parent| nodes.get(parent as usize));
            let Some(&parent) = parent else {
                nodes.push(0);
                continue;
            };
            let next = count(self.run.nodes.len());
            let key = (parent, node.name.clone(), node.kind, node.is_detached);
            let number = *self.paths.entry(key).or_insert(next);
            if number == next {
                self.run.nodes.push(Node { parent: Some(parent), ..node.clone() });
                self.run.totals.push(NodeTotals::default());
            }
            nodes.push(number);
        }
        nodes
    }

    fn add_totals(&mut self, part: &Run, nodes: &[u32]) {
        for (totals, node) in part.totals.iter().zip(nodes) {
            if let Some(sum) = self.run.totals.get_mut(*node as usize) {
                add_calls(sum, totals);
            }
        }
    }

    /// Of what several processes read one after the other, what is later than all before.
    fn add_series(&mut self, read: Vec<Series>) {
        for series in read {
            let mut known = self.run.series.iter_mut();
            match known.find(|known| known.info == series.info) {
                None => self.run.series.push(series),
                Some(known) => {
                    let read_until = known.points.last().map(|point| point.last_ns);
                    let is_new = |point: &SeriesPoint| Some(point.first_ns) > read_until;
                    let points = series.points.into_iter().filter(is_new);
                    known.points.extend(points);
                }
            }
        }
    }

    fn add_losses(&mut self, part: &Run) {
        let (sum, own) = (&mut self.run.losses, part.losses);
        for (sum, own) in [
            (&mut sum.sections_ring_full, own.sections_ring_full),
            (&mut sum.sections_not_written, own.sections_not_written),
            (&mut sum.notes_dropped, own.notes_dropped),
            (&mut sum.calls_without_name, own.calls_without_name),
            (&mut sum.sections_unrecorded, own.sections_unrecorded),
            (&mut sum.threads_in_private_memory, own.threads_in_private_memory),
            (&mut sum.children_unrecorded, own.children_unrecorded),
        ] {
            *sum = sum.saturating_add(own);
        }
    }

    /// Puts everything into the order that a run has.
    fn finish(self) -> Run {
        let mut run = self.run;
        order_sessions(&mut run);
        let by_name = |series: &Series| (series.info.name.clone(), series.info.subject.clone());
        run.series.sort_by_key(by_name);
        run.events.sort_by_key(|event| event.at_ns);
        run.counters.sort_by_key(|reading| reading.at_ns);
        run.cache_events.sort_by_key(|event| event.at_ns);
        run.generation.sort_by_key(|record| record.at_ns);
        run.windows.sort_by_key(|window| window.opened_ns);
        run.memory.sort_by_key(|reading| reading.at_ns);
        run.gpu_spans.sort_by_key(|span| span.start_ns);
        run.section_memory.sort_by_key(|memory| (memory.start_ns, memory.figures.device));
        run.section_resources.sort_by_key(|used| used.start_ns);
        run.gaps = without_overlap(run.gaps);
        run
    }
}

/// Every process that reads it reads the same.
fn is_of_machine(series: &str) -> bool {
    let of_machine = ["host.", "cgroup.", "gpu."];
    of_machine.iter().any(|one| series.starts_with(one)) && series != "gpu.memory.process"
}

/// What a command line runs, without its folders: the script of an interpreter, else the program. Not safe to print; empty of no command.
pub fn program_name(command: &[String]) -> &str {
    let is_script = |argument: &&String| {
        let extension = Path::new(argument).extension();
        !argument.starts_with('-') && extension.is_some_and(|e| e == "py" || e == "sh")
    };
    let path = command.iter().find(is_script).or(command.first());
    path.map_or("", |path| path.rsplit('/').next().unwrap_or(path))
}

/// Program and process id before the name of each thread.
fn name_threads(part: &mut Run) {
    let pid = part.info.pid;
    let program = program_name(&part.info.command);
    for thread in &mut part.threads {
        thread.name = match thread.name.as_str() {
            "" => format!("{program} {pid}"),
            name => format!("{program} {pid}: {name}"),
        };
    }
}

/// Calls of a later process after those of earlier ones.
fn add_calls(sum: &mut NodeTotals, more: &NodeTotals) {
    if sum.count == 0 {
        *sum = more.clone();
        return;
    }
    if more.count == 0 {
        return;
    }
    sum.count = sum.count.saturating_add(more.count);
    sum.sum_ns = sum.sum_ns.saturating_add(more.sum_ns);
    sum.min_ns = sum.min_ns.min(more.min_ns);
    sum.max_ns = sum.max_ns.max(more.max_ns);
    sum.last_ns = more.last_ns;
    sum.errors = sum.errors.saturating_add(more.errors);
    sum.n_threads = sum.n_threads.saturating_add(more.n_threads);
    match (&mut sum.histogram, &more.histogram) {
        (Some(all), Some(more)) => all.merge(more),
        (all, _) => *all = None,
    }
}

/// The readings of two processes are no one curve: of the others the whole has what they labelled, and the highest.
fn keep_highest(part: &mut Run) {
    note_peak(part);
    let highest = highest(&part.memory);
    let mut index = 0;
    part.memory.retain(|reading| {
        let is_kept = reading.label.is_some() || highest.contains(&index);
        index += 1;
        is_kept
    });
}

/// The peak that was counted of a process stands with its highest reading, for what counted it is not kept.
fn note_peak(part: &mut Run) {
    let Some(peak) = process_peak_bytes(part) else {
        return;
    };
    let is_own = |reading: &&mut MemoryReading| reading.source == MemorySource::Process;
    let readings = part.memory.iter_mut().filter(is_own);
    match readings.max_by_key(|reading| reading.allocated_bytes) {
        Some(highest) => highest.peak_bytes = highest.peak_bytes.max(Some(peak)),
        None => part.memory.push(MemoryReading {
            at_ns: part.wall_ns,
            label: None,
            source: MemorySource::Process,
            allocated_bytes: peak,
            reserved_bytes: None,
            peak_bytes: Some(peak),
            session: None,
        }),
    }
}

/// By source the reading with the most bytes: places in the list.
fn highest(readings: &[MemoryReading]) -> Vec<usize> {
    let mut found: HashMap<MemorySource, (u64, usize)> = HashMap::new();
    for (index, reading) in readings.iter().enumerate() {
        let bytes = reading.allocated_bytes.max(reading.peak_bytes.unwrap_or_default());
        let best = found.entry(reading.source).or_insert((bytes, index));
        if bytes > best.0 {
            *best = (bytes, index);
        }
    }
    found.into_values().map(|(_, index)| index).collect()
}

/// Sessions are in order of their start; whatever names one by its place follows it.
fn order_sessions(run: &mut Run) {
    let mut order: Vec<usize> = (0..run.sessions.len()).collect();
    order.sort_by_key(|index| run.sessions[*index].start_ns);
    if order.is_sorted() {
        return;
    }
    let mut place_of = vec![0_u32; order.len()];
    for (place, index) in order.iter().enumerate() {
        place_of[*index] = count(place);
    }
    let moved = |session: &mut u32| {
        *session = place_of.get(*session as usize).copied().unwrap_or(*session);
    };
    run.sessions = order.iter().map(|index| run.sessions[*index].clone()).collect();
    each_session(run, moved);
}

/// Visits whatever names a session by its place.
fn each_session(run: &mut Run, visit: impl Fn(&mut u32)) {
    run.session_work.iter_mut().for_each(|work| visit(&mut work.session));
    let parents = run.sessions.iter_mut().map(|session| &mut session.parent);
    let attributes = run.section_attributes.iter_mut().map(|said| &mut said.session);
    let events = run.events.iter_mut().map(|event| &mut event.session);
    let counters = run.counters.iter_mut().map(|reading| &mut reading.session);
    let caches = run.cache_events.iter_mut().map(|event| &mut event.session);
    let generation = run.generation.iter_mut().map(|record| &mut record.session);
    let windows = run.windows.iter_mut().map(|window| &mut window.session);
    let memory = run.memory.iter_mut().map(|reading| &mut reading.session);
    let all = parents.chain(attributes).chain(events).chain(counters);
    let all = all.chain(caches).chain(generation).chain(windows).chain(memory);
    all.flatten().for_each(visit);
}

/// Visits whatever names a thread.
fn each_thread(run: &mut Run, visit: impl Fn(&mut u32)) {
    run.open.iter_mut().filter_map(|open| open.thread.as_mut()).for_each(&visit);
    run.sections.iter_mut().for_each(|section| visit(&mut section.thread));
    run.sessions.iter_mut().for_each(|session| visit(&mut session.thread));
    run.session_work.iter_mut().for_each(|work| visit(&mut work.thread));
    run.events.iter_mut().for_each(|event| visit(&mut event.thread));
    run.generation.iter_mut().for_each(|record| visit(&mut record.thread));
    run.windows.iter_mut().for_each(|window| visit(&mut window.thread));
    run.gpu_spans.iter_mut().for_each(|span| visit(&mut span.thread));
    run.section_memory.iter_mut().for_each(|memory| visit(&mut memory.thread));
    run.section_resources.iter_mut().for_each(|used| visit(&mut used.thread));
}

/// Visits whatever names a call path.
fn each_node(run: &mut Run, visit: impl Fn(&mut u32)) {
    run.open.iter_mut().for_each(|open| visit(&mut open.node));
    run.sections.iter_mut().for_each(|section| visit(&mut section.node));
    run.gpu_spans.iter_mut().for_each(|span| visit(&mut span.node));
    run.section_memory.iter_mut().for_each(|memory| visit(&mut memory.node));
    run.section_resources.iter_mut().for_each(|used| visit(&mut used.node));
}

/// Visits all times since the start of the run.
fn each_time(run: &mut Run, visit: impl Fn(&mut u64)) {
    let open = run.open.iter_mut().flat_map(|open| [&mut open.start_ns, &mut open.until_ns]);
    let sections = run.sections.iter_mut();
    let sections = sections.flat_map(|section| [&mut section.start_ns, &mut section.end_ns]);
    let gaps = run.gaps.iter_mut().flat_map(|gap| [&mut gap.start_ns, &mut gap.end_ns]);
    let points = run.series.iter_mut().flat_map(|series| &mut series.points);
    let points = points.flat_map(|point| [&mut point.first_ns, &mut point.last_ns]);
    open.chain(sections).chain(gaps).chain(points).for_each(&visit);
    for session in &mut run.sessions {
        [Some(&mut session.start_ns), session.end_ns.as_mut()]
            .into_iter()
            .flatten()
            .for_each(&visit);
    }
    for work in &mut run.session_work {
        [Some(&mut work.start_ns), work.end_ns.as_mut()].into_iter().flatten().for_each(&visit);
    }
    for window in &mut run.windows {
        let moments = [window.recording_ns.as_mut(), window.stopped_ns.as_mut()];
        let files = window.files.iter_mut().map(|file| &mut file.at_ns);
        let failures = window.failures.iter_mut().map(|failure| &mut failure.at_ns);
        let later = moments.into_iter().flatten().chain(files).chain(failures);
        std::iter::once(&mut window.opened_ns).chain(later).for_each(&visit);
    }
    run.events.iter_mut().for_each(|event| visit(&mut event.at_ns));
    run.counters.iter_mut().for_each(|reading| visit(&mut reading.at_ns));
    run.cache_events.iter_mut().for_each(|event| visit(&mut event.at_ns));
    run.generation.iter_mut().for_each(|record| visit(&mut record.at_ns));
    run.gpu_spans.iter_mut().for_each(|span| visit(&mut span.start_ns));
    run.section_memory.iter_mut().for_each(|memory| visit(&mut memory.start_ns));
    run.section_resources.iter_mut().for_each(|used| visit(&mut used.start_ns));
    run.memory.iter_mut().for_each(|reading| visit(&mut reading.at_ns));
}

/// Gaps of processes that ran at the same time are one.
fn without_overlap(mut gaps: Vec<Gap>) -> Vec<Gap> {
    gaps.sort_by_key(|gap| (gap.start_ns, gap.end_ns));
    let mut apart: Vec<Gap> = Vec::new();
    for gap in gaps {
        match apart.last_mut() {
            Some(last) if gap.start_ns < last.end_ns => {
                last.end_ns = last.end_ns.max(gap.end_ns);
                last.sections = last.sections.saturating_add(gap.sections);
            }
            _ => apart.push(gap),
        }
    }
    apart
}

fn count(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests;
