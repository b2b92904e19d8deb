//! `marey generate`: what shells and `man` read of the command.

use std::process::Command;

use crate::program::marey;

#[test]
fn bash_completes_the_commands_and_their_arguments() {
    let script = marey(&["generate", "bash"]);
    assert_eq!((script.code, script.err.as_str()), (0, ""));
    let completed = |words: &[&str]| {
        let asked = format!(
            "{}\nCOMP_WORDS=({}); COMP_CWORD={}; _marey marey '{}' '{}'; echo \"${{COMPREPLY[@]}}\"",
            script.out,
            words.join(" "),
            words.len() - 1,
            words[words.len() - 1],
            words[words.len() - 2],
        );
        let bash = Command::new("bash").args(["--norc", "-c", &asked]).output().unwrap();
        String::from_utf8(bash.stdout).unwrap().trim_end().to_owned()
    };
    assert_eq!(completed(&["marey", "rep"]), "report");
    assert_eq!(completed(&["marey", "report", "--bri"]), "--brief");
    assert_eq!(completed(&["marey", "generate", "zs"]), "zsh");
}

#[test]
fn a_manual_page_is_of_all_or_of_one_command() {
    let all = marey(&["generate", "man"]);
    assert!(all.out.lines().any(|line| line.starts_with(".TH marey 1")), "{}", all.out);
    assert!(all.out.contains("marey\\-aggregate(1)"), "{}", all.out);
    let one = marey(&["generate", "man", "compare"]);
    assert!(one.out.contains("\\-\\-fail\\-on"), "{}", one.out);
    let none = marey(&["generate", "man", "nothing"]);
    assert_eq!((none.code, none.err.as_str()), (2, "marey: marey has no command nothing\n"));
    assert_eq!(marey(&["generate", "bash", "compare"]).code, 2);
}
