//! `--table NAME`: one table of what a command shows, in any format that tables have.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use marey_folder::run_folder::replace_named;
use marey_report::{
    Block, Cell, Document, Table, csv, document_text, joined, markdown_text, table_json,
};

use crate::commands::output::Format;

/// The name that stands for a list of all names.
const LIST: &str = "list";
/// Names that are offered for one that is none.
const MAX_NAMES: usize = 3;

/// Tables by their keys, in the order in which they are shown.
pub(crate) struct Tables(Vec<Vec<Table>>);

impl Tables {
    /// Of several tables of a key each is about a file or a device of its own.
    pub(crate) fn new(tables: impl IntoIterator<Item = Table>) -> Self {
        let mut all: Vec<Vec<Table>> = Vec::new();
        for table in tables {
            let known = all
                .iter_mut()
                .find(|known| known.first().is_some_and(|first| first.key == table.key));
            match known {
                Some(known) => known.push(table),
                None => all.push(vec![table]),
            }
        }
        Self(all)
    }

    /// The table of this name with at most so many rows for people, or the list of all.
    ///
    /// # Errors
    /// When there is none; the nearest names are said.
    pub(crate) fn named(
        &self,
        name: &str,
        format: Format,
        width: Option<usize>,
        rows: usize,
    ) -> anyhow::Result<String> {
        if name == LIST {
            return Ok(shown(&[self.list()], format, width, rows));
        }
        let mut all = self.0.iter();
        let found = all.find(|tables| tables.first().is_some_and(|table| table.key == name));
        let Some(tables) = found else {
            let nearest = self.nearest(name);
            bail!(
                "there is no table `{name}`, or nothing was recorded for it{nearest}; --table {LIST} shows all"
            )
        };
        Ok(shown(tables, format, width, rows))
    }

    /// Writes one file a table; files that lie there under other names stay. Returns their paths.
    ///
    /// # Errors
    /// At the first one that cannot be written.
    pub(crate) fn write_csv(&self, folder: Option<&Path>) -> anyhow::Result<Vec<PathBuf>> {
        let Some(folder) = folder else {
            bail!(
                "csv is one file a table: name a folder with --output, or one table with --table (`--table {LIST}` shows all)"
            );
        };
        let refused = || format!("cannot make the folder {}", folder.display());
        std::fs::create_dir_all(folder).with_context(refused)?;
        let whole = self.0.iter().filter_map(|tables| joined(tables));
        let written = whole.map(|table| {
            let path = folder.join(format!("{}.csv", table.key));
            Ok(replace_named(path, csv(&table).as_bytes())?)
        });
        written.collect()
    }

    fn list(&self) -> Table {
        let columns = [("name", "Name"), ("title", "Title"), ("n_rows", "Rows")];
        let mut list = Table::new(LIST, "Tables", &columns);
        for table in self.0.iter().filter_map(|tables| joined(tables)) {
            let n_rows = Cell::Count(table.rows.len() as u64);
            list.row(vec![Cell::name(table.key), Cell::Name(table.title), n_rows]);
        }
        list
    }

    /// `; the nearest are kernels, kernel_classes`; empty without tables.
    fn nearest(&self, name: &str) -> String {
        let keys = self.0.iter().filter_map(|tables| tables.first());
        let mut keys: Vec<&str> = keys.map(|table| table.key).collect();
        let name = name.to_lowercase().replace('-', "_");
        keys.sort_by_key(|key| {
            let is_part = key.contains(&name) || name.contains(key);
            (!is_part, strsim::osa_distance(&name, key))
        });
        keys.truncate(MAX_NAMES);
        match keys.as_slice() {
            [] => String::new(),
            _ => format!("; the nearest are {}", keys.join(", ")),
        }
    }
}

/// People see tables of a key one after the other, programs one with all rows.
fn shown(tables: &[Table], format: Format, width: Option<usize>, rows: usize) -> String {
    let document = || {
        let mut document = Document::default();
        let mut about = tables.first().and_then(|first| first.origin.as_ref());
        let are_several = tables.iter().any(|table| table.origin.as_ref() != about);
        about = about.filter(|_| !are_several);
        for table in tables {
            if table.origin.as_ref() != about {
                about = table.origin.as_ref();
                let title = about.map(|(_, name)| Block::Title(name.clone()));
                document.blocks.extend(title);
            }
            document.tables([table.clone().limited(rows)]);
        }
        document
    };
    let whole = |show: fn(&Table) -> String| joined(tables).as_ref().map(show).unwrap_or_default();
    match format {
        Format::Text => document_text(&document(), width),
        Format::Markdown => markdown_text(&document()),
        Format::Json => whole(table_json),
        _ => whole(csv),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tables() -> Tables {
        let table = |key, device: &str| {
            let mut table = Table::new(key, format!("{key} · {device}"), &[("name", "Name")]);
            table.device = Some(device.into());
            table.row(vec![Cell::text("k")]);
            table
        };
        Tables::new([
            table("kernels", "GPU 0"),
            table("devices", "GPU 0"),
            table("kernels", "GPU 1"),
        ])
    }

    #[test]
    fn people_see_tables_of_a_key_one_by_one_and_programs_one() {
        let said = |format| tables().named("kernels", format, None, usize::MAX).unwrap();
        let text = said(Format::Text);
        assert!(text.contains("GPU 0") && text.contains("GPU 1"), "{text}");
        assert!(!text.contains("DEVICES"), "{text}");
        assert_eq!(said(Format::Csv), "device,name\r\nGPU 0,k\r\nGPU 1,k\r\n");
    }

    #[test]
    fn all_names_are_listed_and_for_one_that_is_none_the_nearest_are_said() {
        let list = tables().named("list", Format::Csv, None, 0).unwrap();
        assert_eq!(list, "name,title,n_rows\r\nkernels,kernels,2\r\ndevices,devices · GPU 0,1\r\n");
        let refused = tables().named("kernel", Format::Csv, None, 0).unwrap_err();
        assert_eq!(
            refused.to_string(),
            "there is no table `kernel`, or nothing was recorded for it; the nearest are kernels, devices; --table list shows all"
        );
    }

    #[test]
    fn of_several_files_people_see_which() {
        let table = |file: &str| {
            let mut table = Table::new("kernels", "Kernels", &[("name", "Name")]).of("file", file);
            table.row(vec![Cell::text("k")]);
            table
        };
        let said = |tables: &[Table]| shown(tables, Format::Markdown, None, usize::MAX);
        let both = said(&[table("a.json"), table("a.json"), table("b.json")]);
        assert_eq!(both.matches("## a.json\n").count(), 1, "{both}");
        assert_eq!(both.matches("## b.json\n").count(), 1, "{both}");
        assert!(!said(&[table("a.json")]).contains("a.json"));
    }
}
