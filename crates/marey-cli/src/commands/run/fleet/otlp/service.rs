//! The program, as OpenTelemetry knows it.

use std::ffi::OsString;
use std::path::Path;

use super::environment::Environment;
use super::pairs::{Pair, pairs};

/// What tells processes of a job apart, which nobody else knows better.
const OURS: [&str; 4] = [
    "diffusion.job.id",
    "diffusion.rank",
    "host.name",
    "process.pid",
];

/// The program, as OpenTelemetry knows it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in super::super) struct Service {
    /// `service.name`.
    pub(super) name: String,
    /// What else the user says of it.
    pub(super) attributes: Vec<Pair>,
}

impl Service {
    /// Its name is `OTEL_SERVICE_NAME`, else `service.name` of `OTEL_RESOURCE_ATTRIBUTES`, else that of the program's file; of an
    /// interpreter its script or module. Empty only without a command.
    ///
    /// The other resource attributes go with it; of two with one key the later counts, and those that Marey knows itself do not.
    ///
    /// # Errors
    /// When a variable is wrong; names it, without its value.
    pub(super) fn of(command: &[OsString], environment: &Environment) -> Result<Self, String> {
        let variable = "OTEL_RESOURCE_ATTRIBUTES";
        let text = environment.text(variable)?.unwrap_or_default();
        let said = pairs(text).map_err(|problem| format!("{variable}: {problem}"))?;
        let mut name = environment.text("OTEL_SERVICE_NAME")?.map(str::to_owned);
        let mut attributes: Vec<Pair> = Vec::new();
        for (key, value) in said.into_iter().rev() {
            if key == "service.name" {
                name = name.or(Some(value).filter(|value| !value.is_empty()));
            } else if !OURS.contains(&key.as_str())
                && attributes.iter().all(|(known, _)| *known != key)
            {
                attributes.insert(0, (key, value));
            }
        }
        Ok(Self {
            name: name.unwrap_or_else(|| of_command(command)),
            attributes,
        })
    }
}

fn of_command(command: &[OsString]) -> String {
    let file = |word: &OsString| {
        let path = Path::new(word);
        let file = path.file_name().unwrap_or(path.as_os_str());
        file.to_string_lossy().into_owned()
    };
    let Some((program, arguments)) = command.split_first() else {
        return String::new();
    };
    let program = file(program);
    if !program.starts_with("python") {
        return program;
    }
    let mut arguments = arguments.iter();
    while let Some(word) = arguments.next() {
        match word.to_str() {
            Some("-m") => return arguments.next().map_or(program, file),
            // What follows is the program's text, or an option's value.
            Some("-c" | "-") => return program,
            Some("-W" | "-X") => drop(arguments.next()),
            Some(word) if word.starts_with('-') => {}
            _ => return file(word),
        }
    }
    program
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interpreter_is_called_what_it_runs() {
        let commands = [
            ("/usr/bin/generate --fast", "generate"),
            ("python server.py 80", "server.py"),
            ("/x/python3.11 -X dev -u app/server.py", "server.py"),
            ("python -m app.server", "app.server"),
            ("python -c pass", "python"),
            ("python", "python"),
            ("torchrun --nproc-per-node 4 generate.py", "torchrun"),
            ("", ""),
        ];
        for (command, name) in commands {
            let words: Vec<OsString> = command.split_whitespace().map(OsString::from).collect();
            assert_eq!(of_command(&words), name, "{command}");
        }
    }

    #[test]
    fn attributes_of_the_user_are_kept_but_for_those_that_tell_processes_apart() {
        let said = "team=video%20a,process.pid=1,host.name=x,service.name=theirs,team=b";
        let attributes = ("OTEL_RESOURCE_ATTRIBUTES", said);
        let command = ["program".into()];
        let of = |environment| Service::of(&command, &environment).unwrap();
        let service = of(Environment::from([attributes]));
        assert_eq!(service.name, "theirs");
        assert_eq!(service.attributes, [("team".into(), "b".into())]);
        let service = of(Environment::from([
            attributes,
            ("OTEL_SERVICE_NAME", "mine"),
        ]));
        assert_eq!(service.name, "mine");
        assert_eq!(of(Environment::from([])).name, "program");
    }

    #[test]
    fn attributes_that_are_no_list_are_told_by_the_variables_name() {
        let environment = Environment::from([("OTEL_RESOURCE_ATTRIBUTES", "a=1,secret")]);
        let problem = Service::of(&[], &environment).unwrap_err();
        assert_eq!(problem, "OTEL_RESOURCE_ATTRIBUTES: not a list of key=value");
    }
}
