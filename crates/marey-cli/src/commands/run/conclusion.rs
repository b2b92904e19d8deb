//! What is said when the program has ended.

use std::io::stderr;
use std::panic::{AssertUnwindSafe, catch_unwind};

use marey::{Launch, Status};
use marey_folder::run_folder::{JobFolder, Reading, captures};
use marey_folder::shown;
use marey_report::{RunStatus, document_text, launch_text, run_document};

use super::Arguments;
use super::child::Child;
use super::job::Job;
use super::python::Entry;
use crate::commands::{processes, say_problems, say_written};
use crate::console::{Console, terminal_width};
use crate::first_screen;

/// Captures of the job before that are larger in all are not read.
const MOST_BYTES_BEFORE: u64 = 64 << 20;

/// Everything that is known when the program has ended.
pub(super) struct Conclusion<'a> {
    pub(super) arguments: &'a Arguments,
    pub(super) job: &'a Job,
    pub(super) child: &'a Child,
    /// What was written down of it.
    pub(super) launched: Option<&'a Launch>,
    pub(super) entry: &'a Entry,
}

impl Conclusion<'_> {
    /// Completes the captures, writes the reports, shows the summary. A defect of ours in that is said; the program's exit code stays.
    pub(super) fn show(&self, console: &mut Console<'_>) {
        let folder = shown(&self.job.folder);
        unless_defective(console, &folder, |console| self.show_all(console));
    }

    fn show_all(&self, console: &mut Console<'_>) {
        let folder = &self.job.folder;
        let is_recorded = captures(folder)
            .is_ok_and(|found| found.iter().any(|path| !self.job.earlier.contains(path)));
        let how = Reading {
            earlier: self.job.earlier.clone(),
            completes: is_recorded,
            killed: self.child.killed_by().map(|signal| (self.child.pid, signal)),
            ..Reading::default()
        };
        if !is_recorded {
            self.show_nothing(&how, console);
            return;
        }
        match JobFolder::read(folder, &how) {
            Err(problem) => console.say(&problem.to_string()),
            Ok(job) => self.show_job(&job, console),
        }
    }

    /// No process recorded anything: how the command ended is all there is.
    fn show_nothing(&self, how: &Reading, console: &mut Console<'_>) {
        self.say_ending(console);
        // A program may have nothing to record.
        if !self.arguments.quiet || self.entry.problem(self.job).is_some() {
            console.say(&format!("nothing was recorded: {}", self.entry.why_nothing(self.job)));
        }
        let Some(launch) = self.launched.filter(|_| self.job.folder.exists()) else {
            return;
        };
        let written = JobFolder::read(&self.job.folder, how).and_then(|job| job.write());
        if let Err(problem) = written {
            console.say(&problem.to_string());
        } else if let Some(text) = launch_text(launch).filter(|_| !self.arguments.quiet) {
            let list = self.job.folder.join("run.json");
            console.say(&format!("the command took {text}: {}", shown(&list)));
        }
    }

    fn show_job(&self, job: &JobFolder, console: &mut Console<'_>) {
        say_problems(job, console);
        let written = job.write();
        let is_shown = !self.arguments.quiet && !self.arguments.no_summary;
        if is_shown {
            console.say_as_it_is(&format!("\n{}\n", self.text(job)));
            self.say_window_before(console);
        } else {
            self.say_ending(console);
        }
        match written {
            Ok(_) if self.arguments.quiet => {}
            Ok(_) if is_shown => console.say(&format!("reports are in {}", shown(&job.path))),
            Ok(written) => say_written(&written, &job.path, console),
            Err(problem) => console
                .say(&format!("{problem}; make room and run: marey report {}", shown(&job.path))),
        }
    }

    /// The first screen, and all tables below it where they are asked for.
    fn text(&self, job: &JobFolder) -> String {
        let Some(report) = &job.report else {
            return processes(job);
        };
        let screen = first_screen::of_job(job, report);
        let screen = first_screen::text(&screen, self.arguments.color, Some(&stderr()));
        if !self.arguments.full {
            return screen;
        }
        let tables = document_text(&run_document(report, job.ranks()), terminal_width(&stderr()));
        format!("{screen}\n{tables}{}", processes(job))
    }

    /// The window in which the job before this one ended: nobody may have seen its report.
    fn say_window_before(&self, console: &mut Console<'_>) {
        let Some(before) = &self.job.before else {
            return;
        };
        let cut_off = before.cut_off_last(&mut { MOST_BYTES_BEFORE });
        if let Some(process) = cut_off.first() {
            console.say(&format!(
                "the job before, {}, ended in {}: {}",
                before.name(),
                process.windows.join(", "),
                shown(&process.capture)
            ));
        }
    }

    /// How the program ended, when that was not well.
    fn say_ending(&self, console: &mut Console<'_>) {
        if self.arguments.quiet {
            return;
        }
        // Only the launch knows of memory.
        let ended = self.launched.map_or_else(|| self.child.status(), Launch::status);
        let Some(ended) = ended.filter(|ended| *ended != Status::Finished) else {
            return;
        };
        let text = RunStatus::new(&ended).text();
        console.say(&match ended {
            Status::Failed(reason) => format!("the program ended with {reason}"),
            Status::Killed(_) => format!("the program was {text}"),
            _ => text,
        });
    }
}

/// Does the work; of a panic in it, whose own message stands above, it says where the recording is.
fn unless_defective(console: &mut Console<'_>, folder: &str, work: impl FnOnce(&mut Console<'_>)) {
    if catch_unwind(AssertUnwindSafe(|| work(console))).is_err() {
        console.say(&format!(
            "the summary failed, which is a defect of Marey, not of the program; what was recorded is in {folder}"
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_defect_of_the_summary_is_said_and_goes_no_further() {
        let (mut shown, mut said) = (Vec::new(), Vec::new());
        let mut console = Console::new(&mut shown, &mut said);
        unless_defective(&mut console, "out/job", |console| {
            console.say("before");
            panic!("a defect");
        });
        let said = String::from_utf8(said).unwrap();
        assert!(said.contains("before"), "{said}");
        assert!(said.contains("recorded is in out/job"), "{said}");
    }
}
