//! Files that other tools wrote, read into values. Bytes go in: whoever calls has opened the file.

pub mod chrome;
pub mod flight_recorder;
pub mod snapshot;
