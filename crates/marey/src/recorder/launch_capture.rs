//! The small capture that a launcher writes of the command it started: when it began, when and how it ended, what it used.
//!
//! ```text
//! command starts ─► info, anchor │ … the command runs, its processes write captures of their own … │ info with its end, anchor, end
//! ```

use std::fs::File;
use std::io::{self, Write};

use super::arguments::redacted;
use super::config::Config;
use super::facts::of_this_process;
use super::job_id::job_id;
use super::output::{new_in_job, point_latest_to};
use crate::capture::Encode;
use crate::clock::{self, Anchor};
use crate::launch::Launch;
use crate::profiling_config::default_output_dir;
use crate::run::Status;

/// A program that is recorded from outside: what can be seen of its process, by one that is not it. See [`Config::outside`].
///
/// [`Config::outside`]: super::Config::outside
#[derive(Clone, Debug)]
pub struct Outside {
    pub(crate) pid: u32,
    /// Prompts and secrets are replaced.
    pub(crate) command: Vec<String>,
    /// The capture begins here, also when it is opened later.
    pub(crate) start: Anchor,
}

impl Outside {
    /// A program that is started next, with this command line. Its time begins now: what it takes to be started is its own.
    pub fn starting(command: impl IntoIterator<Item = String>) -> Self {
        Self { pid: 0, command: redacted(command.into_iter()), start: clock::anchor() }
    }

    /// The program runs as this process.
    #[must_use]
    pub fn started(self, pid: u32) -> Self {
        Self { pid, ..self }
    }

    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.pid
    }
}

/// A launcher's capture, `launcher-<pid of the command>.launch` in the job's folder, while the command runs. It has another ending than those
/// of processes, because it is of none.
#[derive(Debug)]
pub struct LaunchCapture {
    /// What is known of the command; its time is filled in at the end.
    pub launch: Launch,
    file: File,
    command: Outside,
    config: Config,
}

impl LaunchCapture {
    /// Begins it: the command has been started. `config` says the folder of output and the job, `within` the launcher around this process.
    /// `latest` then points to the job.
    ///
    /// # Errors
    /// When the folder takes no file.
    pub fn begin(config: Config, command: Outside, within: Option<u32>) -> io::Result<Self> {
        let output_dir = config.output_dir.clone().unwrap_or_else(default_output_dir);
        let job = job_id(&config);
        let name = format!("launcher-{}", command.pid());
        let (file, _) = new_in_job(&output_dir, &job, &name, "launch")?;
        let mut begun = Self {
            launch: Launch {
                pid: command.pid(),
                launcher: std::process::id(),
                within,
                ..Launch::default()
            },
            file,
            config: Config { job_id: Some(job.clone()), outside: Some(command.clone()), ..config },
            command,
        };
        let mut encode = Encode::default();
        begun.put_info(&mut encode);
        encode.anchor(begun.command.start);
        begun.file.write_all(&encode.bytes)?;
        point_latest_to(&output_dir, &job);
        Ok(begun)
    }

    /// The command has ended as `launch` says; how, with its time. `None` when it cannot be written.
    pub fn finish(mut self) -> Option<Launch> {
        let end = clock::anchor();
        let start_ns = self.command.start.monotonic_ns;
        self.launch.wall_ns = Some(end.monotonic_ns.saturating_sub(start_ns));
        let mut encode = Encode::default();
        self.put_info(&mut encode);
        encode.anchor(end);
        let ended = self.launch.status();
        encode.end(&ended.unwrap_or(Status::EndedWithoutClosing));
        self.file.write_all(&encode.bytes).ok()?;
        Some(self.launch)
    }

    fn put_info(&self, encode: &mut Encode) {
        let mut facts = of_this_process(&self.config, None, clock::monotonic_ns());
        facts.extend(self.launch.facts());
        encode.info(&facts);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_that_records_nothing_leaves_how_it_ended() {
        let place = tempfile::tempdir().unwrap();
        let config = Config {
            job_id: Some("job".into()),
            output_dir: Some(place.path().into()),
            ..Config::default()
        };
        let words = ["sleep", "--token", "abc"].map(String::from);
        let command = Outside::starting(words).started(77);
        let mut begun = LaunchCapture::begin(config, command, None).unwrap();
        let path = place.path().join("job/launcher-77.launch");
        let running = crate::load(&path).unwrap();
        assert_eq!(running.ending(), Status::Running);
        begun.launch.exit_code = Some(5);
        begun.finish().unwrap();
        let run = crate::load(&path).unwrap();
        assert_eq!(run.status, Status::Failed("exit code 5".into()));
        assert_eq!(run.info.command, ["sleep", "--token", "<redacted>"]);
        assert_eq!((run.info.pid, run.info.job_id.as_str()), (77, "job"));
        let launch = Launch::of(&run.info).unwrap();
        assert_eq!(launch.exit_code, Some(5));
        let wall_ns = launch.wall_ns.unwrap();
        assert!(wall_ns > 0 && run.wall_ns.abs_diff(wall_ns) < 1000, "{wall_ns} {}", run.wall_ns);
        assert!(place.path().join("latest/launcher-77.launch").exists());
        assert_eq!(run.warnings, []);
    }
}
