//! Traces that are compressed: `.json.gz`, of one member or many.

use std::io::{Chain, Cursor, Error, Read};

use flate2::read::MultiGzDecoder;

/// Text may be this many times as long as what it was compressed to. Traces come to 10 to 40; 1 032 is what the format
/// can do, and only with text that says nothing.
const MOST_EXPANSION: u64 = 300;

/// Below this length a text is not suspected.
const UNSUSPECTED: u64 = 64 << 20;

/// A source whose first bytes were looked at.
type Whole<R> = Chain<Cursor<Vec<u8>>, R>;

/// A trace's text, whether it is compressed or not.
pub(super) enum Source<R> {
    Plain(Whole<R>),
    Compressed(Box<Inflated<R>>),
}

impl<R: Read> Source<R> {
    /// Tells by the first two bytes.
    pub(super) fn new(mut source: R) -> Result<Self, Error> {
        let mut first = Vec::with_capacity(2);
        source.by_ref().take(2).read_to_end(&mut first)?;
        let is_compressed = first == [0x1F, 0x8B];
        let whole = Cursor::new(first).chain(source);
        Ok(if is_compressed {
            Self::Compressed(Box::new(Inflated {
                decoder: MultiGzDecoder::new(Counted { source: whole, n_bytes: 0 }),
                n_bytes: 0,
            }))
        } else {
            Self::Plain(whole)
        })
    }
}

impl<R: Read> Read for Source<R> {
    fn read(&mut self, into: &mut [u8]) -> Result<usize, Error> {
        match self {
            Self::Plain(source) => source.read(into),
            Self::Compressed(source) => source.read(into),
        }
    }
}

/// The text of compressed bytes.
pub(super) struct Inflated<R> {
    decoder: MultiGzDecoder<Counted<Whole<R>>>,
    n_bytes: u64,
}

impl<R: Read> Read for Inflated<R> {
    fn read(&mut self, into: &mut [u8]) -> Result<usize, Error> {
        let count = self.decoder.read(into)?;
        self.n_bytes += count as u64;
        let n_compressed = self.decoder.get_ref().n_bytes;
        let is_bomb = self.n_bytes > UNSUSPECTED && self.n_bytes / MOST_EXPANSION > n_compressed;
        if is_bomb {
            return Err(Error::other(Bomb));
        }
        Ok(count)
    }
}

/// Small compressed, huge when it is not.
#[derive(Debug)]
pub(super) struct Bomb;

impl std::fmt::Display for Bomb {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "more than {MOST_EXPANSION} times as long as the file")
    }
}

impl std::error::Error for Bomb {}

/// Counts what is read.
struct Counted<R> {
    source: R,
    n_bytes: u64,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, into: &mut [u8]) -> Result<usize, Error> {
        let count = self.source.read(into)?;
        self.n_bytes += count as u64;
        Ok(count)
    }
}
