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
    if parts.len() > 1 {
        parts.iter_mut().for_each(name_threads);
    }
    let sessions = session_places(&parts, later);
    for (index, (part, sessions)) in parts.into_iter().zip(sessions).enumerate() {
        let after_ns = later(&part);
        whole.add(part, after_ns, sessions, index == main);
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

/// What times and numbers of a process are in the whole.
struct Numbers {
    after_ns: u64,
    first_thread: u32,
    sessions: Vec<u32>,
    nodes: Vec<u32>,
}

impl Numbers {
    fn time(&self, at_ns: &mut u64) {
        *at_ns = at_ns.saturating_add(self.after_ns);
    }

    fn thread(&self, thread: &mut u32) {
        *thread = thread.saturating_add(self.first_thread);
    }

    fn session(&self, session: &mut u32) {
        *session = self.sessions.get(*session as usize).copied().unwrap_or(u32::MAX);
    }

    fn node(&self, node: &mut u32) {
        *node = self.nodes.get(*node as usize).copied().unwrap_or_default();
    }
}

/// Moves lists of a process into the whole. Of each it names the fields that hold a time or a number of the process; `[field]` may hold none.
macro_rules! move_lists {
    ($whole:ident, $part:ident, $numbers:ident;
     $($list:ident: $($kind:ident $(($field:ident))? $([$option:ident])?)*;)*) => {$(
        for record in &mut $part.$list {
            $(
                $($numbers.$kind(&mut record.$field);)?
                $(record.$option.iter_mut().for_each(|number| $numbers.$kind(number));)?
            )*
        }
        $whole.$list.append(&mut $part.$list);
    )*};
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

    fn add(&mut self, mut part: Run, after_ns: u64, sessions: Vec<u32>, is_main: bool) {
        if !is_main {
            // The peak that was counted is among the series of the process.
            keep_highest(&mut part);
            part.series.retain(|series| is_of_machine(&series.info.name));
        }
        let nodes = self.renumbered(&part);
        self.add_totals(&part, &nodes);
        self.add_losses(&part);
        let first_thread = count(self.run.threads.len());
        self.move_in(part, &Numbers { after_ns, first_thread, sessions, nodes });
    }

    fn move_in(&mut self, mut part: Run, numbers: &Numbers) {
        let run = &mut self.run;
        let known = run.sessions.iter().map(|session| session.number.saturating_add(1));
        let first_number = known.max().unwrap_or_default();
        for session in &mut part.sessions {
            session.number = session.number.saturating_add(first_number);
        }
        for said in &mut part.section_attributes {
            said.section += run.sections.len();
        }
        for window in &mut part.windows {
            window.files.iter_mut().for_each(|file| numbers.time(&mut file.at_ns));
            window.failures.iter_mut().for_each(|failure| numbers.time(&mut failure.at_ns));
        }
        for point in part.series.iter_mut().flat_map(|series| &mut series.points) {
            numbers.time(&mut point.first_ns);
            numbers.time(&mut point.last_ns);
        }
        run.threads.append(&mut part.threads);
        run.warnings.append(&mut part.warnings);
        move_lists! { run, part, numbers;
            open: time(start_ns) time(until_ns) thread[thread] node(node);
            sections: time(start_ns) time(end_ns) thread(thread) node(node);
            section_attributes: session[session];
            sessions: time(start_ns) time[end_ns] thread(thread) session[parent];
            session_work: time(start_ns) time[end_ns] thread(thread) session(session);
            events: time(at_ns) thread(thread) session[session];
            counters: time(at_ns) session[session];
            cache_events: time(at_ns) session[session];
            generation: time(at_ns) thread(thread) session[session];
            windows: time(opened_ns) time[recording_ns] time[stopped_ns] thread(thread) session[session];
            gpu_spans: time(start_ns) thread(thread) node(node);
            section_memory: time(start_ns) thread(thread) node(node);
            section_resources: time(start_ns) thread(thread) node(node);
            memory: time(at_ns) session[session];
            gaps: time(start_ns) time(end_ns);
        }
        self.add_series(part.series);
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
        run.sessions.sort_by_key(|session| session.start_ns);
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

/// Of each process the places that its sessions have in the whole, where all are in order of their start.
fn session_places(parts: &[Run], later: impl Fn(&Run) -> u64) -> Vec<Vec<u32>> {
    let mut all: Vec<(u64, usize, usize)> = Vec::new();
    for (part, run) in parts.iter().enumerate() {
        let starts = run.sessions.iter().map(|session| session.start_ns.saturating_add(later(run)));
        all.extend(starts.enumerate().map(|(at, start_ns)| (start_ns, part, at)));
    }
    all.sort_unstable();
    let mut places: Vec<Vec<u32>> = parts.iter().map(|run| vec![0; run.sessions.len()]).collect();
    for (place, (_, part, at)) in (0..).zip(all) {
        places[part][at] = place;
    }
    places
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
