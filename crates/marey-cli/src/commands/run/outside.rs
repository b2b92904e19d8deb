//! Samples a program that records nothing itself, from outside.
//!
//! ```text
//! program starts ─► a second ─► nobody of the job records ─► samplers, a capture of ours ─┬─► the program ends ─► capture is closed
//!                                                                                         └─► somebody records ─► capture is dropped
//! ```

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{Builder, Scope, ScopedJoinHandle};
use std::time::Duration;

use marey::{Config, Outside, ProfilingConfig, Recorder, Recording, Status};
use marey_folder::run_folder::{captures, is_outside_capture};
use marey_gpu::GpuOptions;
use marey_report::RunFacts;

use super::job::Job;
use super::python::Entry;

/// A program that records itself has begun by then, mostly. Also the time between two looks whether it does.
const PATIENCE: Duration = Duration::from_secs(1);

/// What is known of a program that has just been started.
pub(super) struct Started<'a> {
    pub(super) job: &'a Job,
    pub(super) entry: &'a Entry,
    pub(super) outside: Outside,
}

/// The thread that looks after the program until its end.
pub(super) struct Watch<'scope> {
    ended: Sender<Status>,
    thread: ScopedJoinHandle<'scope, ()>,
}

impl<'scope> Watch<'scope> {
    /// Returns at once. `None` when no thread is to be had, or this very process records already, as the job's own.
    pub(super) fn start<'env: 'scope>(
        scope: &'scope Scope<'scope, 'env>,
        program: Started<'env>,
    ) -> Option<Self> {
        if marey::is_on() {
            return None;
        }
        let (ended, end) = channel();
        let watch = move || program.watch(&end);
        let thread = Builder::new().name("marey-outside".into());
        let thread = marey::without_signals(|| thread.spawn_scoped(scope, watch)).ok()?;
        Some(Self { ended, thread })
    }

    /// The program has ended, and is not waited for yet: what it used can be read a last time. Without a status nothing is kept.
    pub(super) fn end(self, status: Option<Status>) {
        if let Some(status) = status {
            self.ended.send(status).ok();
        }
        drop(self.ended);
        self.thread.join().ok();
    }
}

impl Started<'_> {
    fn watch(self, end: &Receiver<Status>) {
        if self.entry.closed_by.is_none()
            && end.recv_timeout(PATIENCE) != Err(RecvTimeoutError::Timeout)
        {
            return;
        }
        if is_recorded_by_itself(self.job) {
            return;
        }
        let Some((recorder, recording)) = self.record() else {
            return;
        };
        let status = loop {
            let next = end.recv_timeout(PATIENCE);
            if is_recorded_by_itself(self.job) {
                break None;
            }
            if next != Err(RecvTimeoutError::Timeout) {
                break next.ok();
            }
        };
        let capture = recorder.stop(status.as_ref().unwrap_or(&Status::Finished));
        drop(recording);
        if let (None, Some(capture)) = (status, capture) {
            std::fs::remove_file(capture).ok();
        }
    }

    /// Begins a capture and samples into it. `None` when the configuration asks for nothing, or the folder takes no capture.
    fn record(&self) -> Option<(&'static Recorder, Recording)> {
        let (from_env, _) = Config::from_env();
        let profiling = from_env.profiling.clone();
        if !samples_anything(&profiling) {
            return None;
        }
        let config = Config {
            outside: Some(self.outside.clone()),
            facts: vec![(RunFacts::OUTSIDE_BECAUSE.into(), self.entry.why_nothing(self.job))],
            ..from_env
        };
        let recording = marey::start(self.job.place(config)).ok()?;
        let recorder = marey::recorder()?;
        let of_the_program = GpuOptions { pid: self.outside.pid(), ..GpuOptions::default() };
        marey_gpu::sample_with(recorder, &profiling, of_the_program);
        Some((recorder, recording))
    }
}

/// A process of the job has a capture that was not there before. Captures from outside, those of another `marey run` among them, do not
/// count.
fn is_recorded_by_itself(job: &Job) -> bool {
    let found = captures(&job.folder).unwrap_or_default();
    found.iter().any(|path| !job.earlier.contains(path) && !is_outside_capture(path))
}

/// Something about the program, the machine or its GPUs is to be sampled.
fn samples_anything(config: &ProfilingConfig) -> bool {
    config.monitor_cpu_usage
        || config.monitor_system_memory
        || config.monitor_gpu_memory
        || config.monitor_gpu_utilization
        || config.monitor_gpu_temperature
        || config.monitor_gpu_power
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_program_that_ended_within_the_first_second_nothing_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let out = Some(folder.path().join("out"));
        let job = Job::prepare(out, Some("job".into())).unwrap();
        let (ended, end) = channel();
        ended.send(Status::Finished).unwrap();
        let outside = Outside::starting(["program".to_owned()]).started(1);
        Started { job: &job, entry: &Entry::default(), outside }.watch(&end);
        assert!(captures(&job.folder).unwrap().is_empty());
        drop(job);
        assert!(!folder.path().join("out").exists());
    }
}
