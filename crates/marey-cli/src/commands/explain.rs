//! `marey explain`: what a rule of findings looks for, what it goes by, and its limits.

use std::io::stdout;

use anyhow::Result;
use clap::builder::PossibleValuesParser;
use marey_analysis::findings::{FORMER_RULES, RULES, Rule, Threshold};

use crate::console::{Console, entry, terminal_width};
use crate::exit::Exit;

/// Columns where nobody says how many there are.
const WIDTH: usize = 100;
/// Columns of what stands before a text of a rule.
const INDENT: usize = 15;
/// Columns of the names of all rules.
const NAMES: usize = 26;

/// Explain a rule of findings: what it looks for, what it goes by, its limits
///
/// Without a rule all are listed.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Its name, as a report shows it
    #[arg(value_parser = PossibleValuesParser::new(names()), hide_possible_values = true)]
    rule: Option<String>,
}

pub(crate) fn run(arguments: &Arguments, console: &mut Console<'_>) -> Result<Exit> {
    let asked = arguments.rule.as_deref();
    let became = FORMER_RULES.iter().find(|(former, _)| Some(*former) == asked);
    if let Some((former, rule)) = became {
        console.say(&format!("{former} is a part of {rule} now"));
    }
    let asked = became.map_or(asked, |(_, rule)| Some(rule));
    let width = terminal_width(&stdout()).unwrap_or(WIDTH).min(WIDTH);
    match RULES.iter().find(|rule| Some(rule.id) == asked) {
        Some(rule) => explain(rule, width, console)?,
        None => {
            for rule in RULES {
                console.show(&entry(rule.id, NAMES, rule.checks, width))?;
            }
        }
    }
    Ok(Exit::SUCCESS)
}

/// Of rules, former ones among them.
fn names() -> impl Iterator<Item = &'static str> {
    RULES.iter().map(|rule| rule.id).chain(FORMER_RULES.iter().map(|(former, _)| *former))
}

fn explain(rule: &Rule, width: usize, console: &mut Console<'_>) -> Result<()> {
    let limits = rule.limits.iter().filter_map(|name| Threshold::of(name).ok());
    let limits = limits.map(|limit| {
        ("limit".into(), format!("{} = {}: {}", limit.name, limit.default, limit.meaning()))
    });
    let by = rule.goes_by().map(|(kind, by)| (format!("in a {kind} by"), by.into()));
    let first: [(String, String); 2] =
        [("rule".into(), rule.id.into()), ("checks".into(), format!("whether {}", rule.checks))];
    let saves = ("could save".into(), rule.saves.into());
    for (name, text) in first.into_iter().chain(by).chain(limits).chain([saves]) {
        console.show(&entry(&name, INDENT, &text, width))?;
    }
    Ok(())
}
