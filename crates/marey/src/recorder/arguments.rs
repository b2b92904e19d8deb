//! The command line as it is recorded: only what is known to be harmless, because a prompt or a key may look like anything.
//!
//! | recorded | such as |
//! |---|---|
//! | the program, scripts, the module after `-m` | `python`, `generate.py`, `-m torch.distributed.run` |
//! | names of options and variables | `--prompt`, `-n`, `HF_TOKEN=` |
//! | numbers with units, sizes, ratios, lists of them; but for those of a key | `30`, `1.5GB`, `512x512`, `16:9`, `0,1` |
//! | switches | `true`, `off`, `auto` |
//! | values of options that are named in [`TOLD`] | `--model black-forest-labs/FLUX.1-dev`, `vae.dtype=bf16` |
//!
//! All else is [`REDACTED`]. A name and its value are `--name value`, `--name=value` or `name=value`.

/// Shown instead of what is not recorded.
pub(crate) const REDACTED: &str = "<redacted>";

/// Last parts of the names of options whose values are recorded. Also before one of [`OF_TOLD`]: `--model-id`.
#[rustfmt::skip]
const TOLD: [&str; 32] = [
    "attention", "attn", "backend", "compile", "device", "dtype", "engine", "format", "height", "layout", "mode", "model",
    "offload", "optimizer", "pipeline", "precision", "preset", "quant", "quantization", "resolution", "sampler", "scheduler",
    "shape", "size", "solver", "task", "transformer", "type", "unet", "vae", "variant", "width",
];
const OF_TOLD: [&str; 4] = ["id", "name", "path", "version"];
/// Ends of names whose values open something, even numbers.
#[rustfmt::skip]
const OPENING: [&str; 24] = [
    "auth", "bearer", "card", "code", "credential", "credentials", "cvv", "iban", "jwt", "k", "key", "login", "mfa", "otp", "p",
    "pass", "passphrase", "passwd", "password", "phone", "pin", "pwd", "secret", "token",
];
const SWITCHES: [&str; 9] = ["true", "false", "yes", "no", "on", "off", "none", "auto", ""];
#[rustfmt::skip]
const UNITS: [&str; 25] = [
    "", "%", "B", "G", "GB", "GiB", "K", "KB", "KiB", "M", "MB", "MiB", "TB", "TiB", "b", "fps", "h", "k", "m", "ms", "ns", "p",
    "px", "s", "us",
];
const SCRIPTS: [&str; 4] = [".py", ".pyc", ".pyz", ".sh"];
/// Characters of a value that is recorded.
const MAX_VALUE: usize = 100;

/// Arguments, the first of which is the program, as they are recorded.
pub(crate) fn redacted(mut arguments: impl Iterator<Item = String>) -> Vec<String> {
    let program = arguments.next();
    let mut before = Before::Nothing;
    program.into_iter().chain(arguments.map(|argument| before.shown(argument))).collect()
}

/// What comes before an argument.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Before {
    Nothing,
    /// An option, whose value it may be.
    Name(String),
    /// Something that is not recorded: it may be the next word of it.
    Redacted,
}

impl Before {
    /// The argument as it is recorded.
    fn shown(&mut self, argument: String) -> String {
        let before = std::mem::replace(self, Self::Nothing);
        if matches!(argument.as_str(), "-" | "--") {
            return argument;
        }
        if is_option(&argument) {
            *self = Self::Name(argument.clone());
            return argument;
        }
        let is_plain = match &before {
            Self::Redacted => is_script(&argument),
            Self::Nothing => is_value(&argument, "") || is_script(&argument),
            Self::Name(name) => is_value(&argument, name) || is_script(&argument),
        };
        if is_plain {
            return argument;
        }
        *self = Self::Redacted;
        match named(&argument) {
            Some((name, value)) if is_value(value, name) => {
                *self = Self::Nothing;
                argument
            }
            Some((name, _)) => format!("{name}={REDACTED}"),
            None => REDACTED.into(),
        }
    }
}

/// `-x`, `-vv`, `-n4`, `--name`: options have no capitals, keys may.
fn is_option(argument: &str) -> bool {
    let is_of_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "_-.".contains(c);
    if let Some(name) = argument.strip_prefix("--") {
        return name.starts_with(|c: char| c.is_ascii_lowercase()) && name.chars().all(is_of_name);
    }
    let mut letters = argument.strip_prefix('-').unwrap_or_default().chars();
    let Some(first) = letters.next().filter(char::is_ascii_alphabetic) else {
        return false;
    };
    let is_number = letters.clone().all(|c| c.is_ascii_digit());
    (is_number && first != 'p') || letters.all(|c| c == first)
}

/// The name and the value of `--name=value` and `name=value`. What ends with `=` may be anything in base 64.
fn named(argument: &str) -> Option<(&str, &str)> {
    let (name, value) = argument.split_once('=')?;
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || "_-.+/~".contains(c);
    let is_name = name.len() <= MAX_VALUE && name.chars().all(is_of_name) && !name.is_empty();
    let is_known = !name.starts_with('-') || is_option(name);
    (is_name && is_known && !value.is_empty() && !value.starts_with('=')).then_some((name, value))
}

/// Whether a value is recorded, by its look and the name that it belongs to.
fn is_value(value: &str, name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let parts: Vec<&str> =
        name.split(['-', '_', '.', '+', '/']).filter(|part| !part.is_empty()).collect();
    let last = parts.last().copied().unwrap_or_default();
    let is_told = TOLD.contains(&last)
        || (OF_TOLD.contains(&last) && parts.iter().any(|part| TOLD.contains(part)));
    let is_letter = |end: &str| end.len() == 1;
    let is_opening =
        OPENING.iter().any(|end| last == *end || (!is_letter(end) && last.ends_with(end)));
    SWITCHES.contains(&value.to_ascii_lowercase().as_str())
        || (!is_opening && is_numbers(value))
        || (is_told && is_word(value))
        || (last == "m" && is_word(value) && !value.contains('/'))
}

/// Letters, digits and what stands between them in names, paths and versions; not an address, and no user in it.
fn is_word(value: &str) -> bool {
    let is_of_word = |c: char| c.is_ascii_alphanumeric() || "_-./+:,~".contains(c);
    value.len() <= MAX_VALUE && value.chars().all(is_of_word) && !value.contains("://")
}

/// A number with a unit, or several: `512x512`, `16:9`, `0,1`, `1/2`.
fn is_numbers(value: &str) -> bool {
    let is_number = |text: &str| {
        let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic() || c == '%');
        digits.parse::<f64>().is_ok() && UNITS.contains(&&text[digits.len()..])
    };
    let is_one = value.len() <= MAX_VALUE && value.parse::<f64>().is_ok_and(f64::is_finite);
    is_one || (value.len() <= MAX_VALUE && value.split(['x', ':', ',', '/']).all(is_number))
}

/// A file with a program: it says what ran.
fn is_script(argument: &str) -> bool {
    is_word(argument) && SCRIPTS.iter().any(|end| argument.ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Arguments with blanks between them after a program, before and after; `'` stands for a blank within one.
    fn shown(given: &str) -> String {
        let arguments = std::iter::once("program").chain(given.split(' '));
        let shown = redacted(arguments.map(|argument| argument.replace('\'', " ")));
        shown[1..].join(" ").replace(REDACTED, "*")
    }

    #[test]
    fn prompts_and_what_opens_something_are_not_recorded() {
        for (given, expected) in [
            ("--prompt a red fox --steps 4", "--prompt * * * --steps 4"),
            ("--prompt 7 red foxes", "--prompt 7 * *"),
            ("--prompt a'red'fox", "--prompt *"),
            ("--prompt -text --steps 4", "--prompt * --steps 4"),
            ("--negative_prompt=no'dogs out", "--negative_prompt=* *"),
            ("prompt=a'red'fox steps=4", "prompt=* steps=4"),
            ("+model.prompt=fox", "+model.prompt=*"),
            ("a'red'fox 30", "* *"),
            ("fox", "*"),
            ("--text hello --lyrics la --caption x", "--text * --lyrics * --caption *"),
            ("-p fox -pfox -p1234 -p 1234", "-p * * * -p *"),
            ("-u admin:pw --user u:pw --cookie a=b", "-u * --user * --cookie a=*"),
            ("-H Authorization:'Bearer'abc.def", "-H *"),
            ("--header=Authorization:'Bearer'abc", "--header=*"),
            ("--api-key abc --api-key=abc --apikey abc", "--api-key * --api-key=* --apikey *"),
            ("--api-key 12345678 --hf_token=12345678", "--api-key * --hf_token=*"),
            ("--password 123456 --pin 1234", "--password * --pin *"),
            (
                "--otp 1 --pwd 2 -k 3 --credit-card 4 --bearer 5",
                "--otp * --pwd * -k * --credit-card * --bearer *",
            ),
            ("--token --S3CRET --steps 4", "--token * --steps 4"),
            ("--client_secret -abc -v", "--client_secret * -v"),
            ("--password -- abc", "--password -- *"),
            ("HF_TOKEN=abc python x.py", "HF_TOKEN=* * x.py"),
            (
                "sk-proj-abc_123 AIzaSyA nvapi-x r8_abc c2VjcmV0LWtleQ== c2VjcmV0LWtleXM=",
                "* * * * * *",
            ),
            ("https://me:pass@host/x?token=abc s3://a@b/c me@host", "* * *"),
            ("--model https://me:pass@host/x --model me@host", "--model * --model *"),
            ("-c gen.py'--prompt'x'--steps'4", "-c *"),
            ("-c TOKEN=abc'./x.py", "-c TOKEN=*"),
            ("{\"api_key\":'\"abc\"}", "*"),
        ] {
            assert_eq!(shown(given), expected, "{given}");
        }
    }

    #[test]
    fn what_a_comparison_needs_is_recorded_as_it_is() {
        for given in [
            "generate.py hf_generate.py models/hf_abcDEF123/x.py both.sh",
            "-m torch.distributed.run --nproc-per-node 4 --nnodes=1:2 x.py",
            "--steps 30 --seed -1 --guidance=7.5 --lr 1e-4 -n 2 -n2 -vv -",
            "--size 512x512 --ratio=16:9 --gpus 0,1 --budget 1.5GB --timeout 30s --share 50%",
            "--key-dim 64 --token-count 5 --max-new-tokens 5 --num-keys 3",
            "--model black-forest-labs/FLUX.1-dev --model-id=Wan-AI/Wan2.1 --pretrained_model_name x/y",
            "--dtype bfloat16 --vae-dtype=fp32 --scheduler euler --device cuda:0 model.precision=bf16",
            "--compile --offload=true --cache off CUDA_VISIBLE_DEVICES=0,1",
            "",
        ] {
            assert_eq!(shown(given), given);
        }
    }

    #[test]
    fn the_program_is_recorded_and_nothing_is_no_program() {
        let program = ["/opt/venv a/bin/python".to_owned()];
        assert_eq!(redacted(program.clone().into_iter()), program);
        assert!(redacted(std::iter::empty()).is_empty());
    }
}
