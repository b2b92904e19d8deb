//! Finding AMD's cards among the graphics devices of the kernel.

use std::path::{Path, PathBuf};

/// One card.
pub(super) struct Card {
    /// `/sys/class/drm/card0/device`.
    pub folder: PathBuf,
    /// Its folder of sensors, if it has one.
    pub sensors: Option<PathBuf>,
    /// `0000:03:00.0`.
    pub pci: Option<String>,
    unique_id: Option<String>,
}

/// All cards below a root, in the order of the PCI bus.
pub(super) fn list(root: &Path) -> Vec<Card> {
    let mut cards: Vec<Card> = folders(&root.join("sys/class/drm"), is_card)
        .into_iter()
        .filter_map(|card| Card::new(card.join("device")))
        .collect();
    cards.sort_by(|a, b| (&a.pci, &a.folder).cmp(&(&b.pci, &b.folder)));
    cards
}

impl Card {
    fn new(folder: PathBuf) -> Option<Self> {
        line(&folder.join("vendor")).filter(|vendor| vendor == "0x1002")?;
        let sensors = folders(&folder.join("hwmon"), |name| name.starts_with("hwmon"));
        let described = std::fs::read_to_string(folder.join("uevent")).unwrap_or_default();
        let pci = described.lines().find_map(|line| line.strip_prefix("PCI_SLOT_NAME="));
        Some(Self {
            sensors: sensors.into_iter().next(),
            pci: pci.map(str::to_owned),
            unique_id: line(&folder.join("unique_id")),
            folder,
        })
    }

    /// The UUID as AMD's tools write it; without one the PCI address, else the folder.
    pub(super) fn subject(&self) -> String {
        match (&self.unique_id, &self.pci) {
            (Some(id), _) => format!("GPU-{}", id.trim_start_matches("0x")),
            (None, Some(pci)) => pci.clone(),
            (None, None) => self.folder.display().to_string(),
        }
    }
}

/// First line of a file, if it says something.
pub(super) fn line(path: &Path) -> Option<String> {
    let text = std::fs::read_to_string(path).ok()?;
    let line = text.lines().next()?.trim();
    (!line.is_empty()).then(|| line.to_owned())
}

/// `card0`, not its connectors `card0-DP-1`.
fn is_card(name: &str) -> bool {
    name.strip_prefix("card").is_some_and(|number| number.parse::<u32>().is_ok())
}

/// Entries of a folder by name, sorted.
fn folders(folder: &Path, is_wanted: fn(&str) -> bool) -> Vec<PathBuf> {
    let names = marey::names_in(folder).into_iter().flatten();
    let mut folders: Vec<PathBuf> = names
        .filter(|name| name.to_str().is_some_and(is_wanted))
        .map(|name| folder.join(name))
        .collect();
    folders.sort();
    folders
}
