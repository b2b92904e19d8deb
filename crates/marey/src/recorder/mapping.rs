//! Memory that other processes can see: the only file that maps any.
//!
//! A mapping is an array of 64-bit words that lives as long as the process. All access goes through atomics, so everything
//! built on top is safe code, and a reader in another process sees whole words.

#![allow(unsafe_code, reason = "mmap and the view of its bytes as atomics")]

use std::fs::{File, OpenOptions};
use std::io;
use std::ops::Range;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

use rustix::mm;

use super::capture_file::file_size_limit;
use crate::descriptors::open_plain;

/// Words that are never unmapped; zero at first.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mapping {
    words: &'static [AtomicU64],
}

impl Mapping {
    /// A new file of `n_words`, mapped, of which the first `n_reserved` have their space and are present in memory: a full disk is an error
    /// here and never a SIGBUS later. Nobody may touch the others before [`Self::reserve_more`]. The file is left in place for other
    /// processes; an existing one is an error.
    pub(crate) fn in_file(path: &Path, n_words: usize, n_reserved: usize) -> io::Result<Self> {
        let file = new_file(path, n_words, n_reserved)?;
        let (null, fd) = (std::ptr::null_mut(), file.as_raw_fd());
        let mapping = map(null, n_words, libc::MAP_SHARED, fd).inspect_err(|_| {
            std::fs::remove_file(path).ok();
        })?;
        mapping.populate(0..n_reserved);
        Ok(mapping)
    }

    /// Gives more words of the file at a path, which is this mapping's, their space.
    pub(crate) fn reserve_more(self, path: &Path, words: Range<usize>) -> io::Result<()> {
        let file = open_plain(OpenOptions::new().write(true), path)?;
        allocate(&file, words.clone())?;
        self.populate(words);
        Ok(())
    }

    /// The first words once more, at another address: there they stay those of the file, whatever becomes of this mapping. `None` in private
    /// memory.
    pub(crate) fn first_words_again(self, n_words: usize) -> Option<Self> {
        let (nothing, flags) = (0, libc::MREMAP_MAYMOVE);
        // SAFETY: with an old length of 0 the range stays, and the kernel chooses a free one for the same pages.
        let base = unsafe { libc::mremap(self.address(), nothing, n_words * 8, flags) };
        if base == libc::MAP_FAILED {
            return None;
        }
        // SAFETY: so long, page-aligned, of words that are only accessed through atomics, and never unmapped.
        let words = unsafe { std::slice::from_raw_parts(base.cast::<AtomicU64>(), n_words) };
        Some(Self { words })
    }

    /// Memory of this process alone: gone when it dies.
    pub(crate) fn private(n_words: usize) -> io::Result<Self> {
        map(
            std::ptr::null_mut(),
            n_words,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
            -1,
        )
    }

    /// The words.
    pub(crate) fn words(self) -> &'static [AtomicU64] {
        self.words
    }

    /// Cuts this process off the file, at the same address, at one moment: the words `kept` stay what they are, all others are 0, and later
    /// writes are this process's alone. Takes memory for what is not 0 only.
    ///
    /// # Errors
    /// When there is no room for it (a limit of the process); nothing has changed then.
    pub(crate) fn make_private(self, kept: &[Range<usize>]) -> io::Result<()> {
        let n_bytes = self.words.len() * 8;
        let copy = Self::private(self.words.len())?;
        for (to, from) in kept
            .iter()
            .flat_map(|range| copy.words[range.clone()].iter().zip(&self.words[range.clone()]))
        {
            let value = from.load(Relaxed);
            if value != 0 {
                to.store(value, Relaxed);
            }
        }
        let flags = libc::MREMAP_MAYMOVE | libc::MREMAP_FIXED;
        let (from, to) = (copy.address(), self.address());
        // SAFETY: both ranges are whole mappings of ours of this length; nobody else knows the first, which is not used afterwards, and the
        // second goes on as words that are only accessed through atomics.
        let moved = unsafe { libc::mremap(from, n_bytes, n_bytes, flags, to) };
        if moved == libc::MAP_FAILED {
            let error = io::Error::last_os_error();
            // SAFETY: the copy's own range, which nobody has a reference to.
            unsafe { libc::munmap(from, n_bytes) };
            return Err(error);
        }
        Ok(())
    }

    /// Cuts this process off the file, at the same address, where [`Self::make_private`] finds no room: all words are 0. It takes no
    /// more memory than there was and counts as no data, so it fails only where the process has more than its limits allow already.
    pub(crate) fn detach(self) -> io::Result<()> {
        let flags = libc::MAP_SHARED | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_FIXED;
        map(self.address(), self.words.len(), flags, -1).map(drop)
    }

    /// Moves the first `n_reserved` words into a new file, mapped at the same address. Nothing changes when that fails.
    pub(crate) fn move_to_file(self, path: &Path, n_reserved: usize) -> io::Result<()> {
        let file = new_file(path, self.words.len(), n_reserved)?;
        let bytes: Vec<u8> =
            self.words[..n_reserved].iter().flat_map(|w| w.load(Relaxed).to_ne_bytes()).collect();
        let flags = libc::MAP_SHARED | libc::MAP_FIXED;
        // Filled before it is mapped: nobody in this process sees other content in between.
        file.write_all_at(&bytes, 0)
            .and_then(|()| map(self.address(), self.words.len(), flags, file.as_raw_fd()))
            .inspect_err(|_| {
                std::fs::remove_file(path).ok();
            })?;
        self.populate(0..n_reserved);
        Ok(())
    }

    /// First writes to a shared file fault even when its pages exist; takes those faults now. Kernels before 5.14 say no, which is fine.
    fn populate(self, words: Range<usize>) {
        let page = usize::try_from(crate::process_memory::page_bytes()).unwrap_or(4096);
        let first = words.start * 8 / page * page;
        let n_bytes = words.end * 8 - first;
        let start = self.address().wrapping_byte_add(first);
        // SAFETY: whole pages of the mapping, whose space is reserved; their content does not change.
        unsafe { libc::madvise(start, n_bytes, libc::MADV_POPULATE_WRITE) };
    }

    fn address(self) -> *mut libc::c_void {
        self.words.as_ptr().cast_mut().cast()
    }
}

/// The 32-bit words that lie in 64-bit words.
pub(crate) fn halves(words: &[AtomicU64]) -> &[AtomicU32] {
    // SAFETY: the words are valid as long as the slice, and only ever accessed as atomics of one size (the layout gives each region
    // one); 8-byte alignment is enough for 4-byte words, and two of those fit into each.
    unsafe { std::slice::from_raw_parts(words.as_ptr().cast(), words.len() * 2) }
}

/// A file of another process, mapped to be read while that process writes. Unmapped when dropped.
#[derive(Debug)]
pub(crate) struct View {
    words: &'static [AtomicU64],
}

impl View {
    /// Maps a whole file of at most 1 GiB, of this user: anybody else could cut it off while it is read, which ends the reader. A recorder
    /// makes its files in one length and only ever removes them.
    pub(crate) fn of_file(path: &Path) -> io::Result<Self> {
        let file = open_plain(OpenOptions::new().read(true), path)?;
        let metadata = file.metadata()?;
        // SAFETY: the call has no arguments and cannot fail.
        let user = unsafe { libc::geteuid() };
        let n_words = usize::try_from(metadata.len() / 8).unwrap_or(0);
        if metadata.uid() != user || !(1..=1 << 27).contains(&n_words) {
            return Err(io::ErrorKind::InvalidData.into());
        }
        // A recorder's file is never truncated: its process only ever removes it.
        let base = map_to_read(&file, n_words * 8)?;
        // SAFETY: the mapping is that long, page-aligned, initialised by the kernel, only read, and `Self` keeps it until it is dropped.
        let words = unsafe { std::slice::from_raw_parts(base.cast::<AtomicU64>(), n_words) };
        Ok(Self { words })
    }

    /// The words.
    pub(crate) fn words(&self) -> &[AtomicU64] {
        self.words
    }
}

impl Drop for View {
    fn drop(&mut self) {
        let base = self.words.as_ptr().cast_mut().cast();
        // SAFETY: the range is the one mapped above, and nobody has a reference to it any more.
        unsafe { mm::munmap(base, self.words.len() * 8) }.ok();
    }
}

/// Maps so many bytes of a file, where the kernel has room. Past the C library, whose `mmap` may be somebody's who watches allocations: as in
/// [`crate::folder`].
fn map_to_read(file: &File, n_bytes: usize) -> io::Result<*mut libc::c_void> {
    let (null, flags) = (std::ptr::null_mut(), mm::MapFlags::SHARED);
    // SAFETY: the kernel chooses a free range; whoever reads there knows what becomes of the file.
    let base = unsafe { mm::mmap(null, n_bytes, mm::ProtFlags::READ, flags, file, 0) };
    Ok(base?)
}

/// How many pages of a file the page cache holds, of how many; asks the kernel and touches none of them. Costs about 1 ms for 100 000
/// pages. `None` for an empty file, and where the kernel does not tell this user.
pub(crate) fn resident_pages(file: &File) -> Option<(u64, u64)> {
    let bytes = file.metadata().ok()?.len();
    let total = bytes.div_ceil(crate::process_memory::page_bytes());
    if total == 0 {
        return None;
    }
    let resident = match cached_pages(file) {
        Err(error) if error.raw_os_error() == Some(libc::ENOSYS) => mapped_pages(file, bytes),
        pages => pages.ok(),
    };
    Some((resident?.min(total), total))
}

/// By `cachestat`, of Linux 6.5 and later.
fn cached_pages(file: &File) -> io::Result<u64> {
    // Offset and length, where 0 means to the end.
    let range = [0u64; 2];
    // Pages in the cache, dirty, being written, evicted, recently evicted.
    let mut counts = [0u64; 5];
    let (fd, flags): (libc::c_int, libc::c_uint) = (file.as_raw_fd(), 0);
    let (range, place) = (range.as_ptr(), counts.as_mut_ptr());
    // SAFETY: both arrays are as long as the kernel's structures of 64-bit numbers, and valid for the duration of the call.
    let code = unsafe { libc::syscall(CACHESTAT, fd, range, place, flags) };
    if code != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(counts[0])
}

/// The number of the system call on every architecture.
const CACHESTAT: libc::c_long = 451;

/// By `mincore`. The kernel tells the truth to the owner of a file and to who may write it; everybody else hears that all is there.
fn mapped_pages(file: &File, bytes: u64) -> Option<u64> {
    const BYTES_AT_ONCE: usize = PAGES_AT_ONCE * 4096;
    const PAGES_AT_ONCE: usize = 16 << 10;
    // SAFETY: the call has no arguments and cannot fail.
    let user = unsafe { libc::geteuid() };
    if file.metadata().ok()?.uid() != user && !may_be_written(file) {
        return None;
    }
    let length = usize::try_from(bytes).ok()?;
    // Never accessed, so it does not matter what happens to the file.
    let base = map_to_read(file, length).ok()?;
    let mut pages = [0u8; PAGES_AT_ONCE];
    let mut resident = 0;
    let mut at = 0;
    let mut is_told = true;
    while at < length && is_told {
        let part = (length - at).min(BYTES_AT_ONCE);
        let n = part.div_ceil(usize::try_from(crate::process_memory::page_bytes()).ok()?);
        let start = base.wrapping_byte_add(at);
        // SAFETY: the range lies in the mapping, and `pages` has a byte for each of its pages, which are no shorter than 4 096 bytes.
        is_told = unsafe { libc::mincore(start, part, pages.as_mut_ptr()) } == 0;
        resident += pages[..n].iter().filter(|page| **page & 1 == 1).count() as u64;
        at += part;
    }
    // SAFETY: the range is the one mapped above, and nobody has a reference to it.
    unsafe { mm::munmap(base, length) }.ok();
    is_told.then_some(resident)
}

fn may_be_written(file: &File) -> bool {
    let flags = libc::AT_EMPTY_PATH | libc::AT_EACCESS;
    // SAFETY: a valid descriptor and an empty text with its end.
    let code = unsafe { libc::faccessat(file.as_raw_fd(), c"".as_ptr(), libc::W_OK, flags) };
    code == 0
}

/// A new file, readable by its owner alone, with the space of its first words allocated.
fn new_file(path: &Path, n_words: usize, n_reserved: usize) -> io::Result<File> {
    // Past the limit the kernel would not only refuse but send SIGXFSZ, which ends most programs.
    if file_size_limit().is_some_and(|limit| n_words as u64 * 8 > limit) {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    let file = OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(path)?;
    let allocated = allocate(&file, 0..n_reserved);
    let sized = allocated.and_then(|()| file.set_len(n_words as u64 * 8));
    sized.inspect_err(|_| {
        std::fs::remove_file(path).ok();
    })?;
    Ok(file)
}

fn allocate(file: &File, words: Range<usize>) -> io::Result<()> {
    let bytes = |n_words: usize| {
        i64::try_from(n_words * 8).map_err(|_| io::Error::from(io::ErrorKind::FileTooLarge))
    };
    let (first, n_bytes) = (bytes(words.start)?, bytes(words.len())?);
    // SAFETY: a valid descriptor and plain numbers.
    let code = unsafe { libc::posix_fallocate(file.as_raw_fd(), first, n_bytes) };
    if code != 0 {
        return Err(io::Error::from_raw_os_error(code));
    }
    Ok(())
}

/// Bytes that are free on the file system of a folder; the largest number where it has no limit of its own. `None` when it does not tell.
pub(crate) fn free_bytes(folder: &Path) -> Option<u64> {
    let found = rustix::fs::statvfs(folder).ok()?;
    // A tmpfs without a limit says that it has no blocks.
    let is_unlimited = found.f_blocks == 0;
    Some(if is_unlimited { u64::MAX } else { found.f_bavail.saturating_mul(found.f_frsize) })
}

fn map(
    address: *mut libc::c_void,
    n_words: usize,
    flags: libc::c_int,
    fd: libc::c_int,
) -> io::Result<Mapping> {
    let length = n_words * 8;
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: with a null address the kernel chooses a free range; with MAP_FIXED the callers pass the exact range of
    // one of our own mappings, which is page-aligned and only accessed through atomics.
    let base = unsafe { libc::mmap(address, length, protection, flags, fd, 0) };
    if base == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the mapping is `length` bytes, page-aligned, readable and writable, initialised by the kernel, and never unmapped.
    let words = unsafe { std::slice::from_raw_parts(base.cast::<AtomicU64>(), n_words) };
    Ok(Mapping { words })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_seen_through_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ring");
        let mapping = Mapping::in_file(&path, 1024, 1024).unwrap();
        mapping.words()[7].store(0x0102_0304, Relaxed);
        let bytes = std::fs::read(&path).unwrap();
        assert_eq!(bytes.len(), 8192);
        assert_eq!(bytes[56..60], [4, 3, 2, 1]);
    }

    #[test]
    fn a_private_copy_no_longer_writes_to_the_file_and_a_moved_one_keeps_its_content() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ring");
        let mapping = Mapping::in_file(&path, 512, 512).unwrap();
        mapping.words()[0].store(1, Relaxed);
        mapping.words()[1].store(4, Relaxed);
        let kept = 1..2;
        mapping.make_private(std::slice::from_ref(&kept)).unwrap();
        let words = || [0, 1].map(|at: usize| mapping.words()[at].load(Relaxed));
        assert_eq!(words(), [0, 4]);
        mapping.words()[0].store(2, Relaxed);
        let before = std::fs::read(&path).unwrap();
        assert_eq!((before[0], before[8]), (1, 4));
        let second = folder.path().join("second");
        mapping.move_to_file(&second, 512).unwrap();
        mapping.words()[1].store(3, Relaxed);
        let bytes = std::fs::read(&second).unwrap();
        assert_eq!((bytes[0], bytes[8]), (2, 3));
        mapping.detach().unwrap();
        mapping.words()[1].store(5, Relaxed);
        assert_eq!((words(), std::fs::read(&second).unwrap()[8]), ([0, 5], 3));
    }

    #[test]
    fn a_file_takes_the_space_that_is_reserved_and_no_more() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ring");
        let mapping = Mapping::in_file(&path, 1 << 20, 1024).unwrap();
        let taken = || std::fs::metadata(&path).unwrap().blocks() * 512;
        let first = taken();
        assert!((8192..64 << 10).contains(&first), "{first}");
        mapping.reserve_more(&path, 1024..(128 << 10)).unwrap();
        mapping.words()[(128 << 10) - 1].store(7, Relaxed);
        assert!((1 << 20..2 << 20).contains(&taken()), "{}", taken());
        assert_eq!(View::of_file(&path).unwrap().words().len(), 1 << 20);
    }

    #[test]
    fn a_link_is_not_read() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("file"), [0; 64]).unwrap();
        std::os::unix::fs::symlink("file", folder.path().join("link")).unwrap();
        assert!(View::of_file(&folder.path().join("file")).is_ok());
        assert!(View::of_file(&folder.path().join("link")).is_err());
        assert!(View::of_file(folder.path()).is_err());
    }

    #[test]
    fn what_was_just_written_is_in_the_page_cache_and_a_hole_is_not() {
        use std::io::Write;
        let page = crate::process_memory::page_bytes();
        let mut file = tempfile::tempfile().unwrap();
        assert_eq!(resident_pages(&file), None);
        let seventeen = usize::try_from(17 * page).unwrap();
        file.write_all(&vec![7; seventeen - 1]).unwrap();
        assert_eq!(resident_pages(&file), Some((17, 17)));
        assert_eq!(mapped_pages(&file, 17 * page - 1), Some(17));
        // Longer than what is asked for at once.
        file.set_len(40_000 * page).unwrap();
        assert_eq!(resident_pages(&file), Some((17, 40_000)));
        assert_eq!(mapped_pages(&file, 40_000 * page), Some(17));
    }

    #[test]
    fn an_existing_file_is_not_touched() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ring");
        std::fs::write(&path, b"mine").unwrap();
        assert!(Mapping::in_file(&path, 512, 512).is_err());
        assert_eq!(std::fs::read(&path).unwrap(), b"mine");
    }
}
