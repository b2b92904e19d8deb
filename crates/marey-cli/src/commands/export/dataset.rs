//! Tables of a job: a folder of Parquet files, which appears when it is whole.
//!
//! ```text
//! <folder>/_marey.json                                      what this is, and how many rows it has
//!         /kind=sections/rank=0/part-00000-<pid>.parquet    a file for each process that has such rows
//!         /kind=totals/rank=0/…
//!         …                                                 of a kind without rows: one empty file
//! ```
//!
//! Folders are named after kinds and ranks, files after numbers: no name of a user becomes a path.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, File, Permissions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use marey_folder::run_folder::folder_of;
use marey_report::parquet::{Kind, ParquetFile, Process, SCHEMA_VERSION};
use rustix::fs::{CWD, RenameFlags, renameat_with};
use serde_json::{Map, json};
use tempfile::TempDir;

use super::super::show_paths;
use super::{Arguments, Target};
use crate::console::Console;
use crate::exit::Exit;

/// Says that a folder is a dataset. Engines pass over names that begin with `_`.
const MARK: &str = "_marey.json";
/// Stands for no rank: not every engine knows a folder without a number.
const NO_RANK: i64 = -1;

/// Writes the tables of all captures; one run is in memory at a time.
pub(super) fn export(arguments: &Arguments, console: &mut Console<'_>) -> Result<Exit> {
    let target = Target::find(super::only(&arguments.runs)?, arguments.rank, true, console)?;
    let folder = match arguments.output.as_deref() {
        Some(path) if path == Path::new("-") => bail!("tables are a folder: name one"),
        Some(path) => path.to_owned(),
        None => target.beside(arguments.format.name()),
    };
    let mut dataset = Dataset::new(folder)?;
    for capture in &target.captures {
        let run = marey::load(&capture.path)
            .with_context(|| format!("cannot read {}", capture.path.display()))?;
        let process = Arc::new(Process::new(Arc::new(run)));
        dataset
            .add(&process)
            .with_context(|| format!("cannot write {}", dataset.folder.display()))?;
    }
    let n_too_large = dataset.n_too_large;
    let folder = dataset.finish(&target.unread)?;
    if n_too_large > 0 {
        console.say(&format!("{n_too_large} numbers have no place in 63 bits: they are null"));
    }
    show_paths(&[folder], console)?;
    Ok(target.exit())
}

/// A dataset under construction, in a hidden folder beside its place.
struct Dataset {
    folder: PathBuf,
    hidden: TempDir,
    n_processes: usize,
    n_rows: BTreeMap<Kind, usize>,
    /// Rank of the first process.
    first: Option<i64>,
    n_too_large: u64,
}

impl Dataset {
    /// # Errors
    /// When something else is in its place.
    fn new(folder: PathBuf) -> Result<Self> {
        check_place(&folder)?;
        let above = folder_of(&folder);
        fs::create_dir_all(above).with_context(|| format!("cannot write {}", above.display()))?;
        let hidden = tempfile::Builder::new()
            .prefix(".marey-")
            .permissions(Permissions::from_mode(0o777))
            .tempdir_in(above)
            .with_context(|| format!("cannot write into {}", above.display()))?;
        Ok(Self {
            folder,
            hidden,
            n_processes: 0,
            n_rows: BTreeMap::new(),
            first: None,
            n_too_large: 0,
        })
    }

    /// Writes the tables of a process.
    fn add(&mut self, process: &Arc<Process>) -> Result<()> {
        let rank = process.rank().map_or(NO_RANK, i64::from);
        self.first.get_or_insert(rank);
        let name = format!("part-{:05}-{}.parquet", self.n_processes, process.pid());
        self.n_processes += 1;
        for kind in Kind::ALL {
            let mut rows = kind.rows(Arc::clone(process));
            if rows.is_empty() {
                continue;
            }
            let mut file = self.file(kind, rank, &name)?;
            file.write(&mut rows)?;
            file.finish()?.flush()?;
            *self.n_rows.entry(kind).or_default() += rows.len();
            self.n_too_large = self.n_too_large.saturating_add(rows.n_too_large());
        }
        Ok(())
    }

    fn file(&self, kind: Kind, rank: i64, name: &str) -> Result<ParquetFile<BufWriter<File>>> {
        let place = self.hidden.path().join(format!("kind={}/rank={rank}", kind.name()));
        fs::create_dir_all(&place)?;
        Ok(ParquetFile::new(kind, BufWriter::new(File::create_new(place.join(name))?))?)
    }

    /// Puts it in its place; a dataset that was there goes. `unread` are captures that are not in it.
    fn finish(self, unread: &[String]) -> Result<PathBuf> {
        for kind in Kind::ALL {
            if !self.n_rows.contains_key(&kind) {
                let file = self.file(kind, self.first.unwrap_or(NO_RANK), "part-00000.parquet")?;
                file.finish()?.flush()?;
            }
        }
        let n_rows = |kind: Kind| self.n_rows.get(&kind).copied().unwrap_or(0);
        let rows = Kind::ALL.map(|kind| (kind.name().to_owned(), json!(n_rows(kind))));
        let rows: Map<String, _> = rows.into_iter().collect();
        let mark = json!({
            "schema_version": SCHEMA_VERSION, "marey": env!("CARGO_PKG_VERSION"),
            "processes": self.n_processes, "rows": rows, "unread": unread,
        });
        fs::write(self.hidden.path().join(MARK), format!("{mark:#}\n"))?;
        // Again: it took a while.
        check_place(&self.folder)?;
        put(self.hidden, &self.folder)
            .with_context(|| format!("cannot write {}", self.folder.display()))?;
        Ok(self.folder)
    }
}

/// Only a dataset with nothing else in its folder is replaced, or an empty folder.
fn check_place(folder: &Path) -> Result<()> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries.with_context(|| {
            format!(
                "{} is there and is no folder that can be read: name another one with --output",
                folder.display()
            )
        })?,
    };
    let names = entries.map(|entry| entry.map(|entry| entry.file_name()));
    let names = names
        .collect::<io::Result<Vec<OsString>>>()
        .with_context(|| format!("cannot read {}", folder.display()))?;
    if !names.is_empty() && !folder.join(MARK).is_file() {
        bail!(
            "{} is there and is no dataset of Marey: name another folder with --output",
            folder.display()
        );
    }
    let is_foreign =
        |name: &&OsString| *name != MARK && !name.as_encoded_bytes().starts_with(b"kind=");
    if let Some(foreign) = names.iter().find(is_foreign) {
        bail!(
            "{} holds {}, which is no part of a dataset and would be lost: move it, or name another folder with --output",
            folder.display(),
            Path::new(foreign).display()
        );
    }
    Ok(())
}

/// Gives the hidden folder its name. What had that name goes with the hidden one: readers see the old dataset or the new one.
fn put(hidden: TempDir, folder: &Path) -> io::Result<()> {
    if fs::symlink_metadata(folder).is_err() {
        fs::rename(hidden.path(), folder)?;
        // Its name is gone, so nothing is removed.
        let _gone = hidden.keep();
        return Ok(());
    }
    let folder = folder.canonicalize()?;
    let exchanged = renameat_with(CWD, hidden.path(), CWD, &folder, RenameFlags::EXCHANGE);
    if exchanged.is_err() {
        // Some file systems cannot: then there is a moment without any.
        let old = tempfile::Builder::new()
            .prefix(".marey-")
            .tempdir_in(folder.parent().unwrap_or(Path::new(".")))?;
        fs::rename(&folder, old.path().join("old"))?;
        fs::rename(hidden.path(), &folder)?;
        let _gone = hidden.keep();
        return old.close();
    }
    hidden.close()
}
