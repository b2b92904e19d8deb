//! Files that other tools wrote, read into values. Bytes go in: whoever calls has read the file.

pub mod snapshot;
