//! Documents of single sessions, each in a folder of its own: `sessions/<safe name>/`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use marey::Run;
use marey_analysis::{SessionRun, SessionRuns};
use marey_report::{
    Report, html_report, profiling_report, raw_profiling_data, raw_profiling_data_of_session,
    summary,
};

use super::Error;
use super::documents::{Chosen, put};
use super::replacement::replace;

/// Sessions beyond this have no folder of their own, nor have those that are nested so deep that all together would have several times what
/// the run has; the report of the run has them all.
const MAX_FOLDERS: usize = 1000;
/// Sessions beyond this have no page of their own: each page carries the program that draws it.
const MAX_PAGES: usize = 100;
/// Longest name that is made of a user's, in bytes.
const MAX_NAME: usize = 64;
/// The name of a session whose own has nothing that is safe.
const UNNAMED: &str = "session";

/// Names for the files of each session, in the order of `Run::sessions`. They consist of ASCII letters, digits, `-`, `_` and
/// `.`, begin with none of the last three, and differ also where capitals do not count. The same run gives the same names.
///
/// ```
/// use marey_folder::run_folder::session_names;
/// let names = session_names(["a b", "../up", "", "A-B", "a b"].into_iter());
/// assert_eq!(names, ["a-b", "up", "session", "A-B-2", "a-b-3"]);
/// ```
pub fn session_names<'a>(sessions: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut taken = BTreeSet::new();
    // Of each name the number to try next, so that a thousand sessions of one name are not a million tries.
    let mut next = BTreeMap::new();
    sessions
        .map(|name| {
            let safe = safe(name);
            if taken.insert(safe.to_ascii_lowercase()) {
                return safe;
            }
            let next = next.entry(safe.to_ascii_lowercase()).or_insert(2u64);
            loop {
                let numbered = format!("{safe}-{next}");
                *next += 1;
                if taken.insert(numbered.to_ascii_lowercase()) {
                    return numbered;
                }
            }
        })
        .collect()
}

/// What of a name is safe in a path; runs of anything else become one `-`.
fn safe(name: &str) -> String {
    let mut safe = String::new();
    for c in name.chars() {
        if safe.len() == MAX_NAME {
            break;
        }
        let is_safe = c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        match (is_safe, safe.is_empty()) {
            (true, true) if !c.is_ascii_alphanumeric() => {}
            (true, _) => safe.push(c),
            (false, false) if !safe.ends_with('-') => safe.push('-'),
            (false, _) => {}
        }
    }
    let safe = safe.trim_end_matches(['-', '.']);
    if safe.is_empty() { UNNAMED.to_owned() } else { safe.to_owned() }
}

/// Writes the documents that a capture's configuration asks for of each of its sessions into `sessions/<safe name>/` of a folder, which is
/// made. Without sessions, or when the capture cannot be read, nothing is written.
///
/// # Errors
/// At the first document that cannot be written; those before it stay.
pub fn write_sessions(capture: &Path, folder: &Path) -> Result<(), Error> {
    let Some(run) = marey::load(capture).ok().filter(|r| !r.sessions.is_empty()) else {
        return Ok(());
    };
    write_of_sessions(folder, &run, Chosen::of(&run)).map(drop)
}

/// Writes the documents of each session into `sessions/<safe name>/` of a folder, then, where the configuration asks for them,
/// `raw_profiling_data_<safe name>.json` with every point of every series for each, or one for a run without sessions
/// (`raw_profiling_data_run.json`); returns their paths.
pub(super) fn write_of_sessions(
    folder: &Path,
    run: &Run,
    chosen: Chosen,
) -> Result<Vec<PathBuf>, Error> {
    let runs = SessionRuns::new(run);
    let names = session_names(run.sessions.iter().map(|session| session.name.as_str()));
    let has_raw_data = asks_for_raw_data(run);
    let raw_file = |name: &str| folder.join(format!("raw_profiling_data_{name}.json"));
    let (mut written, mut raw_data) = (Vec::new(), Vec::new());
    for index in runs.within_room(0..names.len().min(MAX_FOLDERS)) {
        let Some(session) = runs.get(index) else { continue };
        let chosen = Chosen { html: chosen.html && index < MAX_PAGES, ..chosen };
        written.extend(write_session(folder, &names[index], run, &session, chosen)?);
        if has_raw_data {
            let bytes = raw_profiling_data_of_session(&session);
            raw_data.push(replace(raw_file(&names[index]), &bytes)?);
        }
    }
    if has_raw_data && names.is_empty() {
        raw_data.push(replace(raw_file("run"), &raw_profiling_data(run))?);
    }
    written.extend(raw_data);
    Ok(written)
}

/// `save_raw_data` of the recording's configuration, or of a profiler in it.
fn asks_for_raw_data(run: &Run) -> bool {
    let mut facts = run.info.facts.iter();
    facts.any(|(key, value)| key == "profiling.save_raw_data" && value == "true")
}

fn write_session(
    job_folder: &Path,
    name: &str,
    run: &Run,
    session: &SessionRun,
    chosen: Chosen,
) -> Result<Vec<PathBuf>, Error> {
    let sessions = job_folder.join("sessions");
    let folder = sessions.join(name);
    // Of another rank than the first also the folder above.
    marey::make_job_folder(job_folder)
        .and_then(|()| marey::make_job_folder(&sessions))
        .and_then(|()| marey::make_job_folder(&folder))
        .map_err(|source| Error::NotWritten(folder.clone(), source))?;
    let report = Report::about_session(run, session);
    let mut documents = vec![("timing_summary.txt", summary(&report).into_bytes())];
    if chosen.json {
        documents.push(("profiling_report.json", profiling_report(&report)));
    }
    if chosen.html {
        documents.push(("report.html", html_report(&report, &session.run, None)));
    }
    put(&documents, |name| folder.join(name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use marey_testing::RunBuilder;
    use std::os::unix::fs::PermissionsExt;

    fn run_of(names: &[&str]) -> Run {
        let mut builder = RunBuilder::new();
        for (index, name) in names.iter().enumerate() {
            let start_ns = index as u64 * 10;
            builder = builder.session(name, start_ns, Some(start_ns + 10), vec![]).section(
                &format!("work {index}"),
                start_ns + 1,
                start_ns + 9,
                |_| {},
            );
        }
        builder.finish(1000)
    }

    /// Paths of all files below a folder, relative to it.
    fn files(folder: &Path) -> Vec<String> {
        let mut waiting = vec![folder.to_owned()];
        let mut found = Vec::new();
        while let Some(next) = waiting.pop() {
            for entry in std::fs::read_dir(next).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    waiting.push(path);
                } else {
                    let path = path.strip_prefix(folder).unwrap();
                    found.push(path.to_string_lossy().into_owned());
                }
            }
        }
        found.sort();
        found
    }

    #[test]
    fn sessions_that_nobody_ended_do_not_write_everything_again_and_again() {
        // 40 sessions, each begun in the one before, with a section: 40 + 39 + … = 820 sections in all, the run has 40.
        let mut builder = RunBuilder::new();
        for index in 0..40 {
            builder = builder
                .session(&format!("request {index}"), index * 10, None, vec![])
                .section("work", index * 10 + 1, index * 10 + 9, |_| {});
        }
        let run = builder
            .with(|run| {
                for (index, session) in (0_u32..).zip(&mut run.sessions) {
                    session.parent = index.checked_sub(1);
                }
            })
            .finish(1000);
        let folder = tempfile::tempdir().unwrap();
        let chosen = Chosen { json: false, html: false, markdown: false };
        let written = write_of_sessions(folder.path(), &run, chosen).unwrap();
        // The outermost has 40, the next 39: a third would be more than three times 40, with the sessions themselves.
        let names: Vec<_> =
            written.iter().map(|path| path.parent().unwrap().file_name().unwrap()).collect();
        assert_eq!(names[..2], ["request-0", "request-1"]);
        assert!(names.len() < 10, "{names:?}");
    }

    #[test]
    fn sessions_with_any_name_have_distinct_safe_names() {
        let long = "x".repeat(10_000);
        let given = [
            "../../etc/passwd",
            "/absolute",
            "\x1b[31mred\n\0",
            "",
            "..",
            ".hidden",
            "a/b",
            "a:b",
            "A/B",
            &long,
            &long,
            "生成",
            "-rf",
            "a-b-2",
            "plain_name.1",
        ];
        let names = session_names(given.into_iter());
        let lower: BTreeSet<String> = names.iter().map(|n| n.to_ascii_lowercase()).collect();
        assert_eq!(lower.len(), given.len(), "{names:?}");
        for name in &names {
            let is_safe = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
            assert!(name.chars().all(is_safe), "{name:?}");
            assert!(name.starts_with(|c: char| c.is_ascii_alphanumeric()), "{name:?}");
            assert!(name.len() < 100, "{name:?}");
        }
        assert_eq!(names[0], "etc-passwd");
        assert_eq!(names[6..9], ["a-b", "a-b-2", "A-B-3"]);
        assert_eq!(names[13], "a-b-2-2");
        assert_eq!(names[14], "plain_name.1");
    }

    #[test]
    fn each_session_has_a_folder_with_its_own_documents() {
        let folder = tempfile::tempdir().unwrap();
        let run = run_of(&["same", "same", "../up"]);
        let written = write_of_sessions(folder.path(), &run, Chosen::JSON).unwrap();
        assert_eq!(written.len(), 6);
        let expected = [
            "sessions/same-2/profiling_report.json",
            "sessions/same-2/timing_summary.txt",
            "sessions/same/profiling_report.json",
            "sessions/same/timing_summary.txt",
            "sessions/up/profiling_report.json",
            "sessions/up/timing_summary.txt",
        ];
        assert_eq!(files(folder.path()), expected);
        for made in ["sessions", "sessions/up"] {
            let found = std::fs::metadata(folder.path().join(made)).unwrap();
            assert_eq!(found.permissions().mode() & 0o777, 0o700, "{made}");
        }
        let text =
            std::fs::read_to_string(folder.path().join("sessions/same-2/timing_summary.txt"));
        let text = text.unwrap();
        assert!(text.contains("work 1"), "{text}");
        assert!(!text.contains("work 0") && !text.contains("work 2"), "{text}");
    }

    #[test]
    fn raw_data_have_a_file_for_each_session() {
        let folder = tempfile::tempdir().unwrap();
        let raw_data_of = |names: &[&str]| {
            let mut run = run_of(names);
            run.info.facts.push(("profiling.save_raw_data".into(), "true".into()));
            let written = write_of_sessions(folder.path(), &run, Chosen::JSON).unwrap();
            let raw = written.into_iter().filter(|path| path.parent() == Some(folder.path()));
            let names = raw.map(|path| path.file_name().unwrap().to_string_lossy().into_owned());
            names.collect::<Vec<String>>()
        };
        let of_sessions = ["raw_profiling_data_a.json", "raw_profiling_data_a-2.json"];
        assert_eq!(raw_data_of(&["a", "a/"]), of_sessions);
        assert_eq!(raw_data_of(&[]), ["raw_profiling_data_run.json"]);
    }

    #[test]
    fn a_folder_that_cannot_be_made_is_an_error_with_its_name() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("sessions"), "a file").unwrap();
        let error = write_of_sessions(folder.path(), &run_of(&["a"]), Chosen::JSON).unwrap_err();
        assert!(error.to_string().contains("sessions/a"), "{error}");
    }
}
