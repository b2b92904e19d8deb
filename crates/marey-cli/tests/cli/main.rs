//! The command from outside: in process where possible, as a process where it starts programs.

#![allow(clippy::unwrap_used, reason = "a failing test panics")]

mod aggregate;
mod aggregate_damage;
mod aggregate_jobs;
mod analyze;
mod analyze_parts;
mod analyze_trace;
mod compare;
mod demo;
mod doctor;
mod dumped_groups;
mod ended;
mod explain;
mod export;
mod flight_recorder;
mod generate;
mod output;
mod outside;
mod program;
mod python;
mod report;
mod run;
mod signals;
mod top;
mod traces;
mod windows;
mod windows_on_demand;
