//! What a program is called.

use std::ffi::OsString;
use std::path::Path;

/// `OTEL_SERVICE_NAME`, else the program's file; of an interpreter its script or module. Empty only without a command.
pub(super) fn name(command: &[OsString]) -> String {
    let said = std::env::var("OTEL_SERVICE_NAME").unwrap_or_default();
    if said.is_empty() {
        of_command(command)
    } else {
        said
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
}
