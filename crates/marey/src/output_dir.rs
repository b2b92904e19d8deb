//! Where reports and captures go when nobody says.

use std::path::PathBuf;

/// `profiling_results` in the working directory.
pub fn default_output_dir() -> PathBuf {
    PathBuf::from("profiling_results")
}
