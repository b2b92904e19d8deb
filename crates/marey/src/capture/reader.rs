//! Reads captures.

use std::fs::File;
use std::io::{self, BufReader, Cursor, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use super::block::{Blocks, FILE_HEADER, Kind, VERSION, version};
use super::decode::{Decode, is_bulk};
use super::rings::Rings;
use crate::recorder::{Identity, is_alive};
use crate::run::{Run, RunInfo, Status};

/// Why nothing of a capture can be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The file cannot be opened or read.
    #[error("cannot read {path}: {source}")]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The file does not begin as captures do.
    #[error("{path} is not a Marey capture")]
    NotACapture {
        /// The file.
        path: PathBuf,
    },
    /// Another version of Marey wrote it.
    #[error(
        "{path} has the unknown capture version {version}; this marey reads version {VERSION}; use a newer one"
    )]
    UnknownVersion {
        /// The file.
        path: PathBuf,
        /// Its version.
        version: u32,
    },
}

/// Reads a capture, and what is still in the rings of its process if that lives or left them behind. Changes nothing.
///
/// Damage becomes [`Run::warnings`]. Memory: 32 bytes for each recorded section.
pub fn load(path: &Path) -> Result<Run, ReadError> {
    let unreadable = |source| ReadError::Unreadable { path: path.to_owned(), source };
    // Opening a pipe would wait for its other end.
    if !path.metadata().map_err(unreadable)?.is_file() {
        return Err(ReadError::NotACapture { path: path.to_owned() });
    }
    let mut file = BufReader::with_capacity(1 << 20, File::open(path).map_err(unreadable)?);
    // Rings before the file: what moves from one to the other meanwhile is then in both, not in neither.
    let beginning = beginning(path);
    let folder = beginning.as_ref().and_then(|said| said.fact("ring_folder"));
    let rings = folder.and_then(|folder| Rings::read(Path::new(folder)));
    let rings = rings.filter(|rings| {
        let belongs = rings.capture_path().and_then(|p| p.canonicalize().ok());
        belongs.is_some() && belongs == path.canonicalize().ok()
    });
    // Before the file, whose later additions are left out: the run is then that of one moment.
    let held = rings.as_ref().map(Rings::held);
    let mut decode = Decode::default();
    if let Some(held) = &held {
        decode.leave_out_after(&held.heads);
    }
    decode_stream(&mut file, path, &mut decode)?;
    // A process that has only just opened its capture has not noted it in its rings.
    let mut status = match written_by(&decode).and_then(|process| is_alive(&process)) {
        Some(true) => Status::Running,
        _ => Status::EndedWithoutClosing,
    };
    if let (Some(rings), Some(held)) = (rings, held)
        && decode.status.is_none()
    {
        decode_blocks(&mut Cursor::new(held.blocks), &mut decode).map_err(unreadable)?;
        if is_alive(&rings.identity()) != Some(false) {
            status = Status::Running;
        }
    }
    Ok(decode.finish(status))
}

/// Reads a capture from memory; `status` stands when it does not say itself how its process ended.
pub fn decode(bytes: &[u8], status: Status) -> Result<Run, ReadError> {
    let mut decode = Decode::default();
    decode_stream(&mut Cursor::new(bytes), Path::new("the capture"), &mut decode)?;
    Ok(decode.finish(status))
}

fn decode_stream(
    source: &mut (impl Read + Seek),
    path: &Path,
    decode: &mut Decode,
) -> Result<(), ReadError> {
    let unreadable = |source| ReadError::Unreadable { path: path.to_owned(), source };
    let mut header = Vec::new();
    source.take(FILE_HEADER.len() as u64).read_to_end(&mut header).map_err(unreadable)?;
    let path = path.to_owned();
    match version(&header) {
        None => Err(ReadError::NotACapture { path }),
        Some(VERSION) => decode_blocks(source, decode).map_err(unreadable),
        Some(version) => Err(ReadError::UnknownVersion { path, version }),
    }
}

/// All blocks from the source's place on, in two passes: see [`Decode::block`]. What is appended meanwhile is in neither.
fn decode_blocks(source: &mut (impl Read + Seek), decode: &mut Decode) -> io::Result<()> {
    let offset = source.stream_position()?;
    let mut length = u64::MAX;
    for is_bulk_wanted in [false, true] {
        source.seek(SeekFrom::Start(offset))?;
        let mut blocks = Blocks::new(source.take(length), offset);
        while let Some(block) = blocks.next()? {
            if is_bulk(block.code) == is_bulk_wanted {
                decode.block(&block);
            }
        }
        length = blocks.n_read();
        let warnings = blocks.warnings.into_iter();
        warnings.for_each(|warning| decode.warn(warning));
    }
    Ok(())
}

/// The process that wrote the capture, as its info block has it.
fn written_by(decode: &Decode) -> Option<Identity> {
    Some(Identity {
        pid: decode.fact("pid")?.parse().ok()?,
        start_time: decode.fact("start_time")?.parse().ok()?,
        boot_id: decode.fact("boot_id")?.parse().ok()?,
        pid_namespace: decode.fact("pid_namespace")?.parse().ok()?,
    })
}

/// A capture up to the first anchor behind the block that says which process wrote it; `None` when it is none. Reads no further.
fn beginning(path: &Path) -> Option<Decode> {
    let mut blocks = Blocks::new(open_blocks(path)?.take(4 << 20), 0);
    let mut decode = Decode::default();
    while let Ok(Some(block)) = blocks.next() {
        decode.block(&block);
        if block.code == Kind::Anchor as u16 && written_by(&decode).is_some() {
            break;
        }
    }
    Some(decode)
}

/// Which process wrote a capture, what its first info block says about that, and when it began, which the anchor behind that says.
/// `None` when the capture does not begin with an info block. Reads no further.
pub(crate) fn read_info(path: &Path) -> Option<(Identity, RunInfo)> {
    let decode = beginning(path)?;
    Some((written_by(&decode)?, decode.finish(Status::Running).info))
}

/// What the beginning of a capture says: which process wrote it, of which job, and when that began (0 where it is cut before that). `None`
/// when it does not begin with an info block. Reads no further, so that other times are not known yet.
pub fn peek(path: &Path) -> Option<RunInfo> {
    read_info(path).map(|(_, info)| info)
}

/// How the capture at a path says that a process ended; `None` when it does not say so, cannot be read, or is that of another one.
pub(crate) fn how_it_ended(path: &Path, process: &Identity) -> Option<Status> {
    let (written_by, status) = ending(open_blocks(path)?).ok()?;
    status.filter(|_| written_by.as_ref() == Some(process))
}

/// Which process wrote a capture, and how it says that one ended, from behind its header. Holds one block at a time.
pub(super) fn ending(source: impl Read) -> io::Result<(Option<Identity>, Option<Status>)> {
    let mut blocks = Blocks::new(source, 0);
    let mut decode = Decode::default();
    while let Some(block) = blocks.next()? {
        if matches!(Kind::from_code(block.code), Some(Kind::Info | Kind::End)) {
            decode.block(&block);
        }
    }
    Ok((written_by(&decode), decode.status))
}

/// A capture from behind its header. Opening anything but a plain file could block.
fn open_blocks(path: &Path) -> Option<BufReader<File>> {
    if !path.metadata().ok()?.is_file() {
        return None;
    }
    behind_header(BufReader::new(File::open(path).ok()?))
}

/// What follows the header of a capture; `None` when it has another one.
pub(super) fn behind_header<R: Read>(mut source: R) -> Option<R> {
    let mut header = [0; FILE_HEADER.len()];
    source.read_exact(&mut header).ok()?;
    (version(&header) == Some(VERSION)).then_some(source)
}
