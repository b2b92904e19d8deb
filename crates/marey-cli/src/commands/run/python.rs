//! Whether a command is a Python that can be entered: some of its flags close the way in.

use std::ffi::OsString;
use std::path::Path;

use marey_folder::shown;

use super::job::Job;

/// What is known about the way into a command before it runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Entry {
    /// The command itself is a Python.
    pub(super) is_python: bool,
    /// Why it cannot be entered, if so.
    pub(super) closed_by: Option<String>,
}

impl Entry {
    /// What keeps a program from being recorded, and what to do.
    pub(super) fn problem(&self, job: &Job) -> Option<String> {
        let closed = self.closed_by.clone();
        if let Some(reason) = closed.or_else(|| job.refusal()).or_else(|| job.python_path_problem())
        {
            return Some(reason);
        }
        let folder = shown(&job.folder);
        if !job.folder.exists() {
            return Some(format!("{folder} is gone, and what was recorded with it"));
        }
        if let Err(problem) = job.takes_files() {
            return Some(format!(
                "{folder} takes no files: {problem}; choose another folder with --output"
            ));
        }
        None
    }

    /// The likeliest reason why nothing is recorded, and what to do.
    pub(super) fn why_nothing(&self, job: &Job) -> String {
        if let Some(problem) = self.problem(job) {
            return problem;
        }
        if self.is_python {
            return "the program opened no section; add sections: with marey.profile_section(\"name\"): …"
                .into();
        }
        "the program is neither a Python that Marey can enter nor one that calls marey::start_from_env(); \
         a launcher must pass on MAREY_ENABLED and PYTHONPATH"
            .into()
    }
}

/// Looks at the command only; a script or launcher that starts Python is not known.
pub(super) fn entry(command: &[OsString]) -> Entry {
    let Some((program, arguments)) = command.split_first() else {
        return Entry::default();
    };
    if !is_python(program) {
        return Entry::default();
    }
    let reason = |flag| {
        let does = match flag {
            'I' => "-I (isolated) makes it ignore PYTHONPATH",
            'E' => "-E makes it ignore PYTHONPATH",
            _ => "-S keeps it from importing sitecustomize",
        };
        format!("its option {does}; leave it out, or start Marey in the program: import marey")
    };
    let closing = flags(arguments).into_iter().find(|flag| "IES".contains(*flag));
    Entry { is_python: true, closed_by: closing.map(reason) }
}

/// `python`, `python3`, `python3.13t`, `pypy3` and the like.
fn is_python(program: &OsString) -> bool {
    let name = Path::new(program).file_name().and_then(|name| name.to_str());
    let version = name.and_then(|name| name.strip_prefix("python").or(name.strip_prefix("pypy")));
    version.is_some_and(|version| {
        version.trim_end_matches(['t', 'd']).chars().all(|c| c.is_ascii_digit() || c == '.')
    })
}

/// The single-letter flags of the interpreter itself, those before its script, `-c` or `-m`.
fn flags(arguments: &[OsString]) -> Vec<char> {
    let mut flags = Vec::new();
    let mut arguments = arguments.iter().map(|argument| argument.to_string_lossy());
    while let Some(argument) = arguments.next() {
        if argument == "--check-hash-based-pycs" {
            arguments.next();
            continue;
        }
        if argument.starts_with("--") && argument.len() > 2 {
            continue;
        }
        let Some(letters) = argument.strip_prefix('-').filter(|l| !l.is_empty() && *l != "-")
        else {
            return flags;
        };
        for (at, letter) in letters.char_indices() {
            match letter {
                // What follows is the program and its arguments.
                'c' | 'm' => return flags,
                // Takes a value: the rest of this argument, or the next one.
                'W' | 'X' => {
                    if at + 1 == letters.len() {
                        arguments.next();
                    }
                    break;
                }
                flag => flags.push(flag),
            }
        }
    }
    flags
}

#[cfg(test)]
mod tests {
    use super::*;

    fn closed(command: &str) -> bool {
        let words: Vec<OsString> = command.split(' ').map(OsString::from).collect();
        entry(&words).closed_by.is_some()
    }

    #[test]
    fn flags_that_close_the_way_in_are_seen() {
        for command in [
            "python -I x.py",
            "python3.13 -uE x.py",
            "/usr/bin/python3 -X dev -S x.py",
            "python -Wignore -Ic print()",
            "pypy3 -W ignore -S x.py",
        ] {
            assert!(closed(command), "{command}");
        }
    }

    #[test]
    fn flags_of_the_program_are_not_the_interpreters() {
        for command in [
            "python x.py -I",
            "python -m pipeline -S",
            "python -c print() -E",
            "python -X -I x.py",
            "python - -I",
            "python -- x.py -I",
            "pythonista -I",
            "bash -E",
        ] {
            assert!(!closed(command), "{command}");
        }
    }

    #[test]
    fn a_python_is_known_by_its_name() {
        let is = |name: &str| entry(&[name.into()]).is_python;
        assert!(
            is("python") && is("/opt/venv/bin/python3.12") && is("python3.14t") && is("pypy3.11")
        );
        assert!(!is("python-config") && !is("ipython") && !is("mypython"));
    }
}
