//! The threads of samplers: when they read, and how they end.
//!
//! ```text
//! deadlines     |    |    |    |    |    |    |
//! reads         xx   xx   xxxxxxxxxxxx   xx
//!                                   ^ late; two rounds missed, not made up for
//! ```
//!
//! Whoever ends a sampler waits for it up to [`patience_ms`](crate::Config::patience_ms), together with all others; one that hangs in its source is left behind. When it
//! comes back it finds its recording over and ends.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use super::Source;
use super::rounds::Rounds;
use crate::clock;
use crate::descriptors::leave_the_programs_table;
use crate::profiling_config::ProfilingConfig;
use crate::recorder::{Recorder, identity, recording_number};
use crate::resources::rusage;

/// A source that takes longer is not read once more at the end.
const QUICK_NS: u64 = 20_000_000;

/// How a sampler reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SamplerOptions {
    /// What it is called: its thread is `marey-<name>`, and its own series carry the name. One of a name runs at a time.
    pub name: &'static str,
    /// Time between two rounds; at least a millisecond.
    pub interval: Duration,
    /// Points that a series keeps, at least 2: rounds share ever wider time buckets beyond.
    pub max_points: u64,
    /// What of its source is switched on, in bits of the source's own.
    pub switches: u32,
    /// Its thread has a table of descriptors of its own, so that its files are no business of the program's; without one it does not run. Not
    /// for a source with a library that the program may use, too: numbers which that library keeps must mean the same to both.
    pub has_own_descriptors: bool,
}

/// A sampler of the recording.
#[derive(Debug)]
pub(crate) struct Sampler {
    options: SamplerOptions,
    control: Arc<Control>,
    thread: Option<Thread>,
    /// While it is paused.
    idle: Option<Work>,
}

/// Returns what goes on working, and what the system called it.
type Thread = JoinHandle<(Option<Work>, u32)>;

/// What a sampler's thread works with, from start to start.
struct Work {
    rounds: Rounds,
    deadline: Deadline,
}

impl std::fmt::Debug for Work {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Work").finish_non_exhaustive()
    }
}

/// What a sampler is to do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Order {
    /// Read on.
    #[default]
    Read,
    /// End, to be started again.
    Pause,
    /// Read once more, write what there is, and end.
    Finish,
}

#[derive(Debug, Default)]
struct Control {
    state: Mutex<(Order, bool)>,
    signal: Condvar,
}

impl Control {
    fn lock(&self) -> MutexGuard<'_, (Order, bool)> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn give(&self, order: Order) {
        self.lock().0 = order;
        self.signal.notify_all();
    }

    /// Waits until something is so, or until a moment; what the order is then, and whether the thread has ended.
    fn wait(&self, at_ns: u64, is_so: impl Fn(Order, bool) -> bool) -> (Order, bool) {
        let mut state = self.lock();
        loop {
            let now = clock::monotonic_ns();
            if is_so(state.0, state.1) || now >= at_ns {
                return *state;
            }
            let left = Duration::from_nanos(at_ns - now);
            (state, _) =
                self.signal.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Takes an order back; false when it was carried out.
    fn read_on(&self) -> bool {
        let mut state = self.lock();
        state.0 = Order::Read;
        !state.1
    }
}

/// Says that the thread is done when it is dropped.
struct SayDone<'a>(&'a Control);

impl Drop for SayDone<'_> {
    fn drop(&mut self) {
        self.0.lock().1 = true;
        self.0.signal.notify_all();
    }
}

impl Recorder {
    /// Starts a sampler on a thread of its own, which also makes its source, so that a slow library delays nobody. Returns false when one
    /// of that name is at work, recording is off, or no such thread is to be had.
    pub fn start_sampler(
        &'static self,
        options: SamplerOptions,
        make: impl FnOnce() -> Box<dyn Source> + Send + 'static,
    ) -> bool {
        let mut samplers = self.samplers();
        if samplers.iter().any(|s| s.options.name == options.name) {
            return false;
        }
        if options.has_own_descriptors && self.is_refused_tables() {
            return false;
        }
        let recording = recording_number();
        // Here, for it opens a file.
        let Some(lane) = (recording != 0).then(|| self.sampler_lane()).flatten() else {
            return false;
        };
        let begin = move || {
            let rounds = Rounds::begin(make(), options, self, recording, lane)?;
            let deadline =
                Deadline { next_ns: clock::monotonic_ns(), interval_ns: options.interval_ns() };
            Some(Work { rounds, deadline })
        };
        let mut sampler = Sampler { options, control: Arc::default(), thread: None, idle: None };
        let is_started = sampler.spawn(begin);
        if is_started {
            samplers.push(sampler);
        }
        is_started
    }

    /// As [`Self::start_sampler`], in place of the sampler of that name that is at work; one that does the same already goes on, and with
    /// nothing switched on there is none. True when one is at work then.
    pub fn replace_sampler(
        &'static self,
        options: SamplerOptions,
        make: impl FnOnce() -> Box<dyn Source> + Send + 'static,
    ) -> bool {
        if self.samplers().iter().any(|s| s.options == options) {
            return true;
        }
        self.finish_sampler(options.name);
        options.switches != 0 && self.start_sampler(options, make)
    }

    /// Ends all samplers for a moment, as [`Recorder::pause_threads`] asks for.
    pub(crate) fn pause_samplers(&self) {
        let mut samplers = std::mem::take(&mut *self.samplers());
        self.end_all(&mut samplers, Order::Pause);
        self.samplers().append(&mut samplers);
    }

    /// Starts what was paused.
    pub(crate) fn resume_samplers(&self) {
        for sampler in self.samplers().iter_mut() {
            sampler.come_back(self.config().patience_ns());
            if let Some(work) = sampler.idle.take() {
                sampler.control = Arc::default();
                sampler.spawn(move || Some(work));
            }
        }
    }

    /// Ends the sampler of a name after a last round, for good. Waits for it as a stop does.
    pub fn finish_sampler(&self, name: &str) {
        let mut found = {
            let mut samplers = self.samplers();
            let is_found = |s: &mut Sampler| s.options.name == name;
            samplers.extract_if(.., is_found).collect::<Vec<_>>()
        };
        self.end_all(&mut found, Order::Finish);
    }

    /// Ends all samplers after a last round, for good.
    pub(crate) fn finish_samplers(&self) {
        let mut samplers = std::mem::take(&mut *self.samplers());
        self.end_all(&mut samplers, Order::Finish);
    }

    /// Gives the order to all, then waits for all together.
    fn end_all(&self, samplers: &mut [Sampler], order: Order) {
        for sampler in samplers.iter() {
            sampler.control.give(order);
        }
        let patience_ns = self.config().patience_ns();
        let deadline_ns = clock::monotonic_ns().saturating_add(patience_ns);
        for sampler in samplers {
            let (_, is_done) = sampler.control.wait(deadline_ns, |_, is_done| is_done);
            if let Some(thread) = sampler.thread.take_if(|_| is_done) {
                sampler.join(thread, patience_ns);
            }
        }
    }
}

impl Sampler {
    /// Looks after a thread that was not waited for: it reads on, or has ended meanwhile.
    fn come_back(&mut self, patience_ns: u64) {
        if self.control.read_on() {
            return;
        }
        if let Some(thread) = self.thread.take() {
            self.join(thread, patience_ns);
        }
    }

    /// Waits for a thread that has ended, or is about to.
    fn join(&mut self, thread: Thread, patience_ns: u64) {
        self.idle = thread.join().ok().and_then(|(work, os_id)| {
            identity::wait_until_gone(os_id, patience_ns);
            work
        });
    }

    fn spawn(&mut self, begin: impl FnOnce() -> Option<Work> + Send + 'static) -> bool {
        let control = Arc::clone(&self.control);
        let has_own_descriptors = self.options.has_own_descriptors;
        let work = move || {
            // Said last, also when a source panics.
            let done = SayDone(&control);
            let may_open = !has_own_descriptors || leave_the_programs_table();
            let mut work = may_open.then(begin).flatten();
            let is_to_continue = match &mut work {
                Some(work) => work.run(done.0),
                None => false,
            };
            let os_id = identity::this_thread();
            (work.filter(|_| is_to_continue), os_id)
        };
        let thread = std::thread::Builder::new()
            .name(format!("marey-{}", self.options.name))
            .stack_size(512 << 10);
        let thread = crate::without_signals(|| thread.spawn(work));
        self.thread = thread.ok();
        self.thread.is_some()
    }
}

impl Work {
    /// Reads until ordered to end. Whether it is to be continued.
    fn run(&mut self, control: &Control) -> bool {
        let mut last_took_ns = 0;
        loop {
            let (order, _) = control.wait(self.deadline.next_ns, |order, _| order != Order::Read);
            let begun = Begun::now();
            match order {
                Order::Read => {
                    let Delay { late_ns, n_missed } = self.deadline.begin(begun.wall_ns);
                    if !self.rounds.round(late_ns, n_missed) {
                        return false;
                    }
                    last_took_ns = begun.took_ns();
                }
                Order::Pause => return true,
                Order::Finish => {
                    if last_took_ns < QUICK_NS {
                        self.rounds.round(0, 0);
                    }
                    self.rounds.finish();
                    return false;
                }
            }
        }
    }
}

/// When the next round is due: whole intervals after the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Deadline {
    next_ns: u64,
    interval_ns: u64,
}

/// How far a round is behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Delay {
    late_ns: u64,
    /// Rounds that were due meanwhile and are left out.
    n_missed: u64,
}

impl Deadline {
    /// A round begins; the next is due at the first deadline after this moment.
    fn begin(&mut self, now_ns: u64) -> Delay {
        let late_ns = now_ns.saturating_sub(self.next_ns);
        let n_missed = late_ns / self.interval_ns;
        self.next_ns += (n_missed + 1) * self.interval_ns;
        Delay { late_ns, n_missed }
    }
}

/// A moment of the calling thread.
struct Begun {
    wall_ns: u64,
    cpu_ns: u64,
    n_waits: Option<libc::c_long>,
}

impl Begun {
    fn now() -> Self {
        Self {
            wall_ns: clock::monotonic_ns(),
            cpu_ns: clock::thread_cpu_ns(),
            n_waits: rusage(libc::RUSAGE_THREAD).map(|usage| usage.ru_nvcsw),
        }
    }

    /// How long what was done since took by itself. On a busy machine a thread stands still in between, and that is no slow source:
    /// where it never waited of its own accord, its processor time counts.
    fn took_ns(&self) -> u64 {
        let now = Self::now();
        if self.n_waits.is_some() && now.n_waits == self.n_waits {
            now.cpu_ns.saturating_sub(self.cpu_ns)
        } else {
            now.wall_ns.saturating_sub(self.wall_ns)
        }
    }
}

impl SamplerOptions {
    /// A sampler that reads every so many seconds and keeps as many points as a configuration says, with these switches of its source.
    pub fn of(
        name: &'static str,
        interval_s: f64,
        config: &ProfilingConfig,
        switches: &[bool],
    ) -> Self {
        Self {
            name,
            interval: Duration::try_from_secs_f64(interval_s).unwrap_or(Duration::from_secs(1)),
            max_points: config.max_data_points.try_into().unwrap_or(u64::MAX),
            switches: switches.iter().fold(0, |bits, on| bits << 1 | u32::from(*on)),
            has_own_descriptors: false,
        }
    }

    pub(super) fn interval_ns(&self) -> u64 {
        u64::try_from(self.interval.as_nanos()).unwrap_or(u64::MAX).clamp(1_000_000, 1 << 60)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // due    100       110       120       130       140       150
    // begins 100          113    120                      147  150
    #[test]
    fn rounds_are_due_whole_intervals_after_the_first_and_missed_ones_are_left_out() {
        let mut deadline = Deadline { next_ns: 100, interval_ns: 10 };
        let rounds = [(100, 0, 0), (113, 3, 0), (120, 0, 0), (147, 17, 1), (150, 0, 0)];
        for (now_ns, late_ns, n_missed) in rounds {
            assert_eq!(deadline.begin(now_ns), Delay { late_ns, n_missed });
        }
        assert_eq!(deadline.next_ns, 160);
    }
}
