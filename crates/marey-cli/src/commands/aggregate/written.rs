//! What was found, in the format and at the place that were asked for.

use std::collections::BTreeSet;
use std::io::stdout;
use std::path::{Path, PathBuf};

use marey_analysis::ranks::RanksAnswers;
use marey_report::{
    FirstScreen, LaunchFacts, Places, aggregation_document, aggregation_json, aggregation_summary,
    document_text, escape, html_ranks, markdown_text, ranks_tables,
};

use super::read::Read;
use super::{Arguments, Format, trace};
use crate::commands::{ROWS, show_paths};
use crate::console::Console;
use crate::first_screen;
use crate::run_folder::{Launches, replace_named};
use crate::shown_path::shown;
use crate::tables::{TableFormat, Tables};
use crate::terminal_width::terminal_width;

pub(super) fn write(
    arguments: &Arguments,
    format: Format,
    read: &Read<'_>,
    console: &mut Console<'_>,
) -> anyhow::Result<()> {
    let answers = read.answers;
    let document = || aggregation_document(answers, arguments.rows.unwrap_or(ROWS));
    let out = Some(stdout()).filter(|_| arguments.file().is_none());
    let width = terminal_width(&stdout()).filter(|_| arguments.file().is_none());
    let tables = || Tables::new(ranks_tables(answers));
    let bytes = match (&arguments.table, format) {
        (Some(name), format) => {
            let rows = arguments.rows.unwrap_or(usize::MAX);
            tables().named(name, TableFormat::of(&format, width)?, rows)?.into_bytes()
        }
        (None, Format::Csv) => {
            return show_paths(&tables().write_csv(arguments.file())?, console);
        }
        (None, Format::Text) => match screen(arguments, read) {
            Some(screen) => first_screen::text(&screen, arguments.color, out.as_ref()).into_bytes(),
            None => document_text(&document(), width).into_bytes(),
        },
        (None, Format::Markdown) => markdown_text(&document()).into_bytes(),
        (None, Format::Json) => match screen(arguments, read).filter(|_| arguments.brief) {
            Some(screen) => screen.json().into_bytes(),
            None => aggregation_json(answers),
        },
        (None, Format::Summaries) => read.found.to_json(),
        (None, Format::Html) => html_ranks(answers),
        (None, Format::Perfetto) if arguments.is_to_stdout() => {
            trace::write_to_stdout(read, console)?;
            console.say_as_it_is(&aggregation_summary(answers));
            return Ok(());
        }
        (None, Format::Perfetto) => {
            let path = place(arguments, "ranks.pftrace.gz");
            return show(&trace::write(path, read, console)?, answers, console);
        }
    };
    if arguments.is_to_stdout() {
        console.write_bytes(|out| out.write_all(&bytes))?;
        if format != Format::Text {
            console.say_as_it_is(&aggregation_summary(answers));
        }
        return Ok(());
    }
    let is_file = format == Format::Html;
    match &arguments.output {
        None if !is_file => Ok(console.show(&String::from_utf8_lossy(&bytes))?),
        _ => {
            let path = replace_named(place(arguments, "ranks.html"), &bytes)?;
            show(&path, answers, console)
        }
    }
}

/// What is shown first of the only job; `None` where everything is asked for, and of several jobs.
fn screen(arguments: &Arguments, read: &Read<'_>) -> Option<FirstScreen> {
    let [job] = read.answers.jobs.as_slice() else {
        return None;
    };
    if arguments.full || arguments.file().is_some() && !arguments.brief {
        return None;
    }
    let paths = arguments.paths();
    let paths: Vec<String> = paths.iter().map(|path| shown(path)).collect();
    let full = escape::visible(&format!("marey aggregate {} --full", paths.join(" ")));
    let places = Places { full, ..Places::default() };
    Some(FirstScreen::of_job(job, places, launch(read).as_ref()))
}

/// What the launcher of all ranks saw; `None` where they lie in several folders, as those of several hosts do.
fn launch(read: &Read<'_>) -> Option<LaunchFacts> {
    let folders = read.inputs.files.iter().map(|file| file.path.parent());
    let folders: BTreeSet<Option<&Path>> = folders.collect();
    let [Some(folder)] = folders.into_iter().collect::<Vec<_>>()[..] else {
        return None;
    };
    let launches = Launches::read(folder);
    Some(LaunchFacts::new(&launches.of_job()?.launch))
}

fn place(arguments: &Arguments, name: &str) -> PathBuf {
    let output = arguments.output.clone();
    output.unwrap_or_else(|| PathBuf::from(name))
}

/// The figures that a person looks at first, on standard output, and where the rest is.
fn show(path: &Path, answers: &RanksAnswers, console: &mut Console<'_>) -> anyhow::Result<()> {
    console.show(&aggregation_summary(answers))?;
    console.say(&format!("the rest is in {}", shown(path)));
    Ok(())
}
