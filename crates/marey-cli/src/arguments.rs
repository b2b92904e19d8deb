//! What can be said on the command line.

use clap::{Parser, Subcommand};

use crate::commands::{
    aggregate, analyze, compare, demo, doctor, explain, export, report, run, top, view,
};

/// Flight recorder for image and video generation: where the time and the memory of a pipeline went.
#[derive(Debug, Parser)]
#[command(name = "marey", version, max_term_width = 100, disable_help_subcommand = true)]
#[command(after_help = "\
Start with:
  marey run -- python pipeline.py      record a pipeline and see a summary when it ends
  marey top                            see what it is doing meanwhile
  marey report profiling_results       see the newest recording again
  marey view profiling_results         see its timeline in Perfetto's viewer
  marey compare BEFORE AFTER           see what changed from one to another
  marey aggregate DIR                  see which rank of a job is slow, and which wait
  marey analyze FILE                   see what a trace or a memory snapshot of torch holds
  marey explain RULE                   see what a rule of findings looks for, and its limits
  marey doctor                         see what can be measured on this machine")]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Run(run::Arguments),
    Report(report::Arguments),
    Compare(compare::Arguments),
    Export(export::Arguments),
    View(view::Arguments),
    Analyze(analyze::Arguments),
    Aggregate(aggregate::Arguments),
    Top(top::Arguments),
    Explain(explain::Arguments),
    Doctor(doctor::Arguments),
    Demo(demo::Arguments),
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_sound() {
        super::Arguments::command().debug_assert();
    }
}
