//! `marey`: where the time and the memory of an image or video pipeline went.

use std::process::ExitCode;

fn main() -> ExitCode {
    marey_cli::run_as_process(std::env::args_os()).end_process()
}
