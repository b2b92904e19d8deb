//! Runs as tables: Arrow record batches, and Parquet files of them. The kinds of tables are in `kinds/`.
//!
//! Only types that every engine has: text, 64-bit integers with a sign, 64-bit floats, flags. Times are nanoseconds. What is not
//! known is null; NaN and infinities are null; a number that has no place in 63 bits is null, and counted.

mod column;
mod file;
mod kind;
mod kinds;
mod process;
mod rows;

pub use column::{ColumnFacts, ColumnType};
pub use file::ParquetFile;
pub use kind::Kind;
pub use process::Process;
pub use rows::{Batches, Rows};

/// Version of the tables: the first number changes when a column changes its meaning or goes.
pub const SCHEMA_VERSION: &str = "1.2";

#[cfg(test)]
mod tests;
