//! The command line, without what nobody wants to find in a recording.

/// Shown instead of a prompt.
const REDACTED: &str = "[prompt not recorded]";

/// Arguments, with what follows a flag that names a prompt left out (`--prompt x`, `--negative-prompt=x`).
pub(crate) fn redacted(arguments: impl Iterator<Item = String>) -> Vec<String> {
    let is_prompt_flag =
        |flag: &str| flag.starts_with('-') && flag.to_ascii_lowercase().contains("prompt");
    let mut is_prompt = false;
    let mut shown = Vec::new();
    for argument in arguments {
        if argument.starts_with('-') {
            match argument
                .split_once('=')
                .filter(|(flag, _)| is_prompt_flag(flag))
            {
                Some((flag, _)) => shown.push(format!("{flag}={REDACTED}")),
                None => shown.push(argument.clone()),
            }
            is_prompt = is_prompt_flag(&argument) && !argument.contains('=');
        } else if is_prompt {
            shown.push(REDACTED.into());
        } else {
            shown.push(argument);
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prompts_on_the_command_line_are_not_recorded() {
        let given = [
            "gen.py",
            "--prompt",
            "a",
            "secret",
            "cat",
            "--steps",
            "4",
            "--negative_prompt=no dogs",
            "out",
        ];
        let shown = redacted(given.iter().map(ToString::to_string));
        let expected = [
            "gen.py",
            "--prompt",
            REDACTED,
            REDACTED,
            REDACTED,
            "--steps",
            "4",
            "--negative_prompt=[prompt not recorded]",
            "out",
        ];
        assert_eq!(shown, expected);
    }
}
