//! Writes the HTML report of a drawn run, for the tests and benches of the page.
//!
//!     report_page video|hostile|empty|killed|million OUT.html

mod killed;
mod million;
mod video;

use std::io::Write;

use marey_report::{Report, html_report};

fn main() -> std::io::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let (Some(kind), Some(path), None) = (arguments.next(), arguments.next(), arguments.next())
    else {
        return usage();
    };
    let run = match kind.as_str() {
        "video" => video::run(video::PLAIN),
        "hostile" => video::run(video::HOSTILE),
        "empty" => marey::RunBuilder::new().finish(0),
        "killed" => killed::run(),
        "million" => million::run(1_000_000),
        _ => return usage(),
    };
    std::fs::write(path, html_report(&Report::new(&run), &run))
}

fn usage() -> std::io::Result<()> {
    writeln!(
        std::io::stderr(),
        "report_page video|hostile|empty|killed|million OUT.html"
    )?;
    Err(std::io::ErrorKind::InvalidInput.into())
}
