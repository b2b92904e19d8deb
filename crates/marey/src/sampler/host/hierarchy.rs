//! Where a process's cgroup lies: `/proc/<pid>/cgroup`, `/proc/self/mountinfo`.
//!
//! ```text
//! version 1: a tree for each controller       version 2: one tree
//! 4:memory:/job/7      …/memory/job/7         0::/job/7      …/job/7
//! ```
//!
//! Both can be there at once, and each controller is in one of them. A mount can show a part of a tree only, and a cgroup namespace makes
//! paths begin at the process's own group, so a path that leads nowhere means the mount's top.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use super::catalogue::Catalogue;
use super::fields::{fields, lines};
use super::kept_file::{KeptFile, below};

/// A cgroup of the process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Group {
    /// 1 or 2.
    pub version: usize,
    /// Its folder.
    pub folder: PathBuf,
    /// The folder at which its tree is mounted, the same or one above.
    pub top: PathBuf,
}

impl Group {
    /// The group for a controller (`memory`, `cpu`); for an empty name that in the tree of version 2.
    pub(super) fn of(catalogue: &Catalogue<'_>, controller: &str) -> Option<Self> {
        let (_, groups) = KeptFile::open(&catalogue.path("proc/<pid>/cgroup")).ok()?;
        let (_, mounts) = KeptFile::open(&catalogue.path("proc/self/mountinfo")).ok()?;
        let (version, path) = path_of(&groups, controller.as_bytes())?;
        lines(&mounts)
            .filter_map(Mount::of)
            .filter(|mount| match version {
                1 => mount.kind == b"cgroup" && has(mount.options, controller.as_bytes()),
                _ => mount.kind == b"cgroup2",
            })
            .map(|mount| {
                let top = below(&catalogue.options.root, &mount.point);
                Self { version, folder: mount.folder(path, &top), top }
            })
            .find(|group| group.folder.is_dir())
    }

    /// The folders from the group up to the top of what is mounted.
    pub(super) fn upwards(&self) -> impl Iterator<Item = &Path> {
        self.folder.ancestors().take_while(|folder| folder.starts_with(&self.top))
    }

    /// Whether it is the whole machine; only version 2 tells.
    pub(super) fn is_root(&self) -> bool {
        !self.folder.join("cgroup.events").exists()
    }
}

/// Which versions there are: `1`, `2`, `1 and 2`.
pub(super) fn version(catalogue: &Catalogue<'_>) -> Option<&'static str> {
    let (_, groups) = KeptFile::open(&catalogue.path("proc/<pid>/cgroup")).ok()?;
    let has_controllers = |line: &[u8]| {
        line.split(|byte| *byte == b':')
            .nth(1)
            .is_some_and(|names| !names.is_empty() && !names.starts_with(b"name="))
    };
    let is_1 = lines(&groups).any(has_controllers);
    match (is_1, Group::of(catalogue, "").is_some()) {
        (true, true) => Some("1 and 2"),
        (true, false) => Some("1"),
        (false, true) => Some("2"),
        (false, false) => None,
    }
}

/// Version and path of the group for a controller, from lines `number:controllers:path`.
fn path_of<'t>(groups: &'t [u8], controller: &[u8]) -> Option<(usize, &'t Path)> {
    let named = |is_it: &dyn Fn(&[u8]) -> bool| {
        lines(groups).find_map(|line| {
            let mut parts = line.splitn(3, |byte| *byte == b':').skip(1);
            let (controllers, path) = (parts.next()?, parts.next()?);
            is_it(controllers).then(|| Path::new(OsStr::from_bytes(path)))
        })
    };
    let own = named(&|controllers| !controller.is_empty() && has(controllers, controller));
    own.map(|path| (1, path)).or_else(|| Some((2, named(&|controllers| controllers.is_empty())?)))
}

/// A line of `mountinfo`.
struct Mount<'t> {
    /// The folder of the tree that is mounted.
    root: PathBuf,
    /// Where.
    point: PathBuf,
    kind: &'t [u8],
    /// Those of the tree: for version 1 its controllers are among them.
    options: &'t [u8],
}

impl<'t> Mount<'t> {
    fn of(line: &'t [u8]) -> Option<Self> {
        let mut rest = fields(line).skip(3);
        let (root, point) = (unescaped(rest.next()?), unescaped(rest.next()?));
        let mut rest = rest.skip_while(|field| *field != b"-").skip(1);
        let kind = rest.next()?;
        let options = rest.nth(1)?;
        Some(Self { root, point, kind, options })
    }

    /// The folder of a group in this mount; its top where the path leads out of it or nowhere.
    fn folder(&self, path: &Path, top: &Path) -> PathBuf {
        let inside = path.strip_prefix(&self.root).ok();
        let inside = inside
            .filter(|path| path.components().all(|part| matches!(part, Component::Normal(_))));
        let folder = inside.map(|inside| top.join(inside));
        folder.filter(|folder| folder.is_dir()).unwrap_or_else(|| top.to_owned())
    }
}

fn has(list: &[u8], name: &[u8]) -> bool {
    list.split(|byte| *byte == b',').any(|each| each == name)
}

/// A path of `mountinfo`, where blanks and the like are `\040`.
fn unescaped(field: &[u8]) -> PathBuf {
    let mut path = Vec::with_capacity(field.len());
    let mut rest = field;
    while let Some((byte, after)) = rest.split_first() {
        let escaped = match rest {
            [b'\\', a @ b'0'..=b'3', b @ b'0'..=b'7', c @ b'0'..=b'7', ..] => {
                Some((a - b'0') * 64 + (b - b'0') * 8 + (c - b'0'))
            }
            _ => None,
        };
        path.push(escaped.unwrap_or(*byte));
        rest = if escaped.is_some() { &rest[4..] } else { after };
    }
    PathBuf::from(OsStr::from_bytes(&path).to_owned())
}
