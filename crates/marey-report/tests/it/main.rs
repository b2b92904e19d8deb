//! Integration tests of the reports: all snapshots come from one example run.

mod compare;
mod comparison_screen;
mod device_work;
mod diffusion;
mod documents;
mod escaping;
mod example;
mod findings;
mod first_screen;
mod first_screen_files;
mod job_screen;
mod json;
mod machine;
mod markdown;
mod run_document;
mod run_screen;
mod screen_runs;
mod session;
mod shown;
mod shown_screen;
mod text;
mod trace_files;
mod windows;
