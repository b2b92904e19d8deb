//! A command line of `marey aggregate` for those who read the files themselves: other engines, and Python.

use std::ffi::OsString;

use clap::Parser;
use marey_analysis::job::Ranks;
use marey_report::aggregation_json;

use super::Inputs;
use crate::commands::aggregate::{Arguments, conclude};
use crate::console::Console;
use crate::exit::Exit;
use crate::in_one_line;

/// What is asked.
#[derive(Debug, Parser)]
#[command(name = "marey aggregate", no_binary_name = true)]
pub struct Request {
    #[command(flatten)]
    arguments: Arguments,
}

/// What came of it.
#[derive(Debug)]
pub struct Concluded {
    /// How the command ends.
    pub exit: Exit,
    /// What it shows.
    pub out: String,
    /// What it says besides.
    pub err: String,
    /// The document of `--format json`; `None` when nothing could be read.
    pub json: Option<Vec<u8>>,
}

impl Request {
    /// Of the arguments behind `aggregate`.
    ///
    /// # Errors
    /// When they are wrong: why, in a line. Help comes this way, too.
    pub fn of(arguments: impl IntoIterator<Item = OsString>) -> Result<Self, String> {
        Self::try_parse_from(arguments).map_err(|refusal| reason(&refusal.render().to_string()))
    }

    /// The files to read.
    ///
    /// # Errors
    /// When there are none: why, in a line.
    pub fn inputs(&self) -> Result<Inputs, String> {
        self.arguments.inputs().map_err(|error| in_one_line(&error))
    }

    /// The cluster that was asked for.
    pub fn address(&self) -> Option<&str> {
        self.arguments.address()
    }

    /// Writes what was found in the files; with `only_summary` it shows the summary alone, and writes nothing.
    ///
    /// # Errors
    /// When it cannot be written: why, in a line.
    pub fn conclude(
        &self,
        inputs: Inputs,
        found: Ranks,
        only_summary: bool,
    ) -> Result<Concluded, String> {
        if self.arguments.is_binary_to_stdout() {
            return Err("a trace for standard output is no text: name a file".into());
        }
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let mut console = Console::new(&mut out, &mut err);
        let concluded = conclude(&self.arguments, inputs, found, only_summary, &mut console);
        let (exit, answers) = concluded.map_err(|error| in_one_line(&error))?;
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        Ok(Concluded {
            exit,
            json: answers.as_ref().map(aggregation_json),
            out: text(out),
            err: text(err),
        })
    }
}

/// What is wrong with arguments, without how the command is used.
fn reason(refusal: &str) -> String {
    let (first, _) = refusal.split_once("\n\n").unwrap_or((refusal, ""));
    let first = first.strip_prefix("error: ").unwrap_or(first);
    first.split_whitespace().collect::<Vec<&str>>().join(" ")
}
