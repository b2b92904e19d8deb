//! `marey generate`: completions of a shell, and manual pages, for those who install or package the command.

use anyhow::{Context, Result, bail};
use clap::CommandFactory;
use clap::builder::PossibleValuesParser;
use clap_complete::Shell;
use clap_mangen::Man;

use crate::console::Console;
use crate::exit::Exit;

/// Write completions for a shell, or a manual page, to standard output
///
/// marey generate bash > ~/.local/share/bash-completion/completions/marey
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Completions for a shell, or a manual page
    #[arg(value_parser = PossibleValuesParser::new(["bash", "elvish", "fish", "zsh", "man"]))]
    what: String,

    /// After `man`: the command that the page is about, rather than all of marey
    command: Option<String>,
}

pub(crate) fn run(arguments: &Arguments, console: &mut Console<'_>) -> Result<Exit> {
    let mut marey = super::Arguments::command();
    marey.build();
    let mut text = Vec::new();
    match (arguments.what.parse::<Shell>(), &arguments.command) {
        (Ok(shell), None) => clap_complete::generate(shell, &mut marey, "marey", &mut text),
        (Ok(_), Some(_)) => bail!("completions are of all commands: name none"),
        (Err(_), None) => Man::new(marey).render(&mut text)?,
        (Err(_), Some(name)) => {
            let command = marey.find_subcommand(name);
            let command = command.with_context(|| format!("marey has no command {name}"))?;
            Man::new(command.clone()).render(&mut text)?;
        }
    }
    console.show(&String::from_utf8_lossy(&text))?;
    Ok(Exit::SUCCESS)
}
