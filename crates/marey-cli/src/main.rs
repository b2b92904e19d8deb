//! `marey`: where the time and the memory of an image or video pipeline went.

use std::process::ExitCode;

fn main() -> ExitCode {
    let exit = marey_cli::run(
        std::env::args_os(),
        &mut std::io::stdout(),
        &mut std::io::stderr(),
    );
    exit.end_process()
}
