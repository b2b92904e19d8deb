//! How the commands that read show what they found: one path from what was asked for to standard output or a file.
//!
//! ```text
//! --format, or the ending of --output ─► format ─┐
//! files ─► Found ────────────────────────────────┴─► bytes ─┬─► standard output
//!                                                           └─► a file, whose path is on standard output
//! ```

use std::io::{Stdout, stdout};
use std::path::{Path, PathBuf};

use anyhow::bail;
use clap::ValueEnum;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use marey_folder::run_folder::replace_named;
use marey_report::{Document, FirstScreen, Table, document_text, markdown_text};

use super::show_paths;
use crate::console::{Console, terminal_width};
use crate::first_screen::{self, Color};
use crate::tables::Tables;

/// Rows of each table where nobody asks for more or fewer.
pub(crate) const ROWS: usize = 15;

/// How to show what was found, on the command line.
#[derive(Clone, Debug, clap::Args)]
#[group(skip)]
pub(crate) struct Arguments {
    /// Write it to this file instead; `-` is standard output; csv without --table: into this folder, one file a table
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// What to show; by itself what the ending of --output says, otherwise text
    #[arg(long)]
    format: Option<Format>,
    /// Show everything, not only the first screen
    #[arg(long, visible_alias = "details")]
    pub(crate) full: bool,
    /// Show only the first screen: as JSON a line of at most 4 KiB
    #[arg(long, conflicts_with_all = ["full", "table"])]
    pub(crate) brief: bool,
    /// Colours of the first screen
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = Color::Auto)]
    color: Color,
    /// Only this table, with all its rows and columns, as text, JSON, Markdown or CSV; `list` shows the names of all
    #[arg(long, value_name = "NAME")]
    table: Option<String>,
}

/// Formats by their names on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For a terminal
    Text,
    /// One document with all figures
    Json,
    /// Tables for pull requests and issues
    Markdown,
    /// All rows of each table as a file, or of one --table
    Csv,
    /// A page, as a file
    Html,
    /// All of them, as files; their paths on standard output
    All,
    /// What is kept of each rank
    Summaries,
    /// One trace of all captures, as a file: ranks.pftrace.gz unless --output names it
    Perfetto,
}

impl Format {
    /// Those that every command has.
    const COMMON: [Self; 5] = [Self::Text, Self::Json, Self::Markdown, Self::Csv, Self::Html];

    /// Endings of files that say a format.
    const ENDINGS: [(&str, Self); 9] = [
        (".ranks.json", Self::Summaries),
        (".json", Self::Json),
        (".md", Self::Markdown),
        (".html", Self::Html),
        (".htm", Self::Html),
        (".txt", Self::Text),
        (".csv", Self::Csv),
        (".pftrace", Self::Perfetto),
        (".pftrace.gz", Self::Perfetto),
    ];

    /// The common formats, with where a page lies that nobody named, and these.
    pub(crate) fn parser(page: &str, more: &[Self]) -> impl TypedValueParser<Value = Self> + use<> {
        let page = format!("A page, as a file: {page} unless --output names it");
        let values = Self::COMMON.iter().chain(more).filter_map(|format| {
            let value = format.to_possible_value()?;
            Some(if *format == Self::Html { value.help(page.clone()) } else { value })
        });
        PossibleValuesParser::new(values.collect::<Vec<_>>())
            .try_map(|name| Self::from_str(&name, false))
    }

    /// What the ending of a file says, of the common formats and these; `None` where it says none of them.
    fn said_by(file: &Path, more: &[Self]) -> Option<Self> {
        let name = file.to_string_lossy().to_ascii_lowercase();
        let said = Self::ENDINGS.into_iter().filter(|(ending, _)| name.ends_with(ending));
        let mut said = said.map(|(_, format)| format);
        said.find(|format| Self::COMMON.contains(format) || more.contains(format))
    }
}

/// What a command found, in each of the formats.
pub(crate) trait Found {
    /// For a terminal, or for a file of text.
    fn text(&self, output: &Output<'_>) -> String;
    /// All of it.
    fn document(&self, output: &Output<'_>) -> Document;
    /// All tables, those of the first screen, too.
    fn tables(&self) -> Vec<Table>;
    /// The first screen as one line, or all figures.
    fn json(&self, output: &Output<'_>) -> Vec<u8>;
    /// A page.
    ///
    /// # Errors
    /// When what it is made of can no longer be read, or there is none.
    fn page(&self) -> anyhow::Result<Vec<u8>>;
    /// Where a page lies that nobody named.
    fn page_name(&self) -> PathBuf;
}

/// How to show what was found.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Output<'a> {
    pub(crate) asked: &'a Arguments,
    pub(crate) format: Format,
    rows: Option<usize>,
    /// Where to write; `None` for standard output, and where the user named nothing.
    pub(crate) file: Option<&'a Path>,
    /// Standard output was named as the file.
    pub(crate) is_stdout: bool,
}

impl Arguments {
    /// What is asked for, of the common formats and these; with at most so many rows a table.
    ///
    /// # Errors
    /// When parts of it do not go together.
    pub(crate) fn output(
        &self,
        more: &[Format],
        rows: Option<usize>,
    ) -> anyhow::Result<Output<'_>> {
        let is_stdout = self.output.as_deref() == Some(Path::new("-"));
        let file = self.output.as_deref().filter(|_| !is_stdout);
        let said = file.and_then(|file| Format::said_by(file, more));
        if let (Some(file), None, None) = (file, self.format, said)
            && file.extension().is_some()
        {
            bail!("the ending of {} says no format; --format does", file.display());
        }
        let format = self.format.or(said).unwrap_or(Format::Text);
        if self.table.is_some() && (format == Format::Html || !Format::COMMON.contains(&format)) {
            bail!("--table goes with --format text, json, markdown or csv");
        }
        if self.brief && !matches!(format, Format::Text | Format::Json) {
            bail!("--brief goes with --format text or json");
        }
        Ok(Output { asked: self, format, rows, file, is_stdout })
    }
}

impl Output<'_> {
    /// The stream that it goes to; `None` for a file.
    fn stream(&self) -> Option<Stdout> {
        self.file.is_none().then(stdout)
    }

    /// It is a page, and the user did not say where it goes.
    pub(crate) fn is_unnamed_page(&self) -> bool {
        self.format == Format::Html && self.file.is_none() && !self.is_stdout
    }

    /// Rows of each table of a document.
    pub(crate) fn rows(&self) -> usize {
        self.rows.unwrap_or(ROWS)
    }

    /// A first screen as text.
    pub(crate) fn screen(&self, screen: &FirstScreen) -> String {
        first_screen::text(screen, self.asked.color, self.stream().as_ref())
    }

    /// A document as text.
    pub(crate) fn whole(&self, document: &Document) -> String {
        document_text(document, self.stream().as_ref().and_then(terminal_width))
    }

    /// Refuses to write over what is about to be read.
    pub(crate) fn keep<'f>(
        &self,
        inputs: impl IntoIterator<Item = &'f Path>,
    ) -> anyhow::Result<()> {
        let Some((file, place)) =
            self.file.and_then(|file| Some((file, file.canonicalize().ok()?)))
        else {
            return Ok(());
        };
        if inputs.into_iter().any(|input| input.canonicalize().is_ok_and(|path| path == place)) {
            bail!("{} is one of the files to read; name another one for --output", file.display());
        }
        Ok(())
    }

    /// What was found in the format that was asked for; `None` of tables that are files of their own now.
    pub(crate) fn bytes(
        &self,
        found: &impl Found,
        console: &mut Console<'_>,
    ) -> anyhow::Result<Option<Vec<u8>>> {
        let tables = || Tables::new(found.tables());
        let bytes = match (&self.asked.table, self.format) {
            (Some(name), format) => {
                let width = self.stream().as_ref().and_then(terminal_width);
                let rows = self.rows.unwrap_or(usize::MAX);
                tables().named(name, format, width, rows)?.into_bytes()
            }
            (None, Format::Csv) => {
                show_paths(&tables().write_csv(self.file)?, console)?;
                return Ok(None);
            }
            (None, Format::Html) => found.page()?,
            (None, Format::Json | Format::Summaries) => found.json(self),
            (None, Format::Markdown) => markdown_text(&found.document(self)).into_bytes(),
            (None, _) => found.text(self).into_bytes(),
        };
        Ok(Some(bytes))
    }

    /// Shows what was found, or writes it to the file that the user named, whose path is shown then. A page is a file unless standard output
    /// was named for it.
    pub(crate) fn show(&self, found: &impl Found, console: &mut Console<'_>) -> anyhow::Result<()> {
        let Some(bytes) = self.bytes(found, console)? else {
            return Ok(());
        };
        let page = || self.is_unnamed_page().then(|| found.page_name());
        match self.file.map(Path::to_owned).or_else(page) {
            Some(file) => show_paths(&[replace_named(file, &bytes)?], console),
            None => Ok(console.show(&String::from_utf8_lossy(&bytes))?),
        }
    }
}
