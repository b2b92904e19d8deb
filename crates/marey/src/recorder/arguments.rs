//! The command line, without what nobody wants to find in a recording: prompts, and what opens doors.
//!
//! | | recognised by | what becomes [`REDACTED`] |
//! |---|---|---|
//! | prompts, headers | `prompt`, `caption` or `authorization` in the name; `-p` | the value, all words up to the next option |
//! | secrets | `password`, `passwd`, `passphrase`, `secret`, `credential` in the name | the value |
//! | keys | a part of the name between `-`, `_` and `.` that ends with `key` or `token`, or is `auth`, `bearer`, `jwt`, `pass`, `pwd`, `sig`, `signature` or `tok` | the value |
//! | numbers of keys | the same with `keys` or `tokens`, or beside `max`, `min`, `n` or `num` | the value, unless it is a number: `--max-new-tokens 5` |
//! | known keys | `sk-…`, `hf_…`, `ghp_…` and its kin, `AKIA…`, `eyJ…` at the beginning of a word | the word |
//! | users | `scheme://user:password@host` | what is before the `@` |
//!
//! A name and its value are `--name value`, `--name=value`, `name=value` or `name: value`. An argument of several words, as `sh -c` has
//! it, is looked through word by word. What begins with `--` and has no capitals is taken for the next option, never for a value.

/// Shown instead of what is not recorded.
pub(crate) const REDACTED: &str = "<redacted>";

/// What a name says of the value that belongs to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Words up to the next option: a prompt.
    Words,
    /// A word.
    Secret,
    /// A word that is no number.
    Key,
}

const WORDS: [&str; 3] = ["prompt", "caption", "authorization"];
const SECRETS: [&str; 5] = ["password", "passwd", "passphrase", "secret", "credential"];
/// Ends of parts of names, and whole parts.
const KEYS: [&str; 2] = ["key", "token"];
const SHORT_KEYS: [&str; 8] = [
    "auth",
    "bearer",
    "jwt",
    "pass",
    "pwd",
    "sig",
    "signature",
    "tok",
];
/// As [`KEYS`], of which there are many, and what counts them.
const MANY_KEYS: [&str; 2] = ["keys", "tokens"];
const COUNTS: [&str; 4] = ["max", "min", "n", "num"];

/// Beginnings of keys, and how many letters and digits follow at least. The last of a pair: `-` and `_` may be among them.
const KNOWN_KEYS: [(&str, usize, bool); 10] = [
    ("eyJ", 12, true),
    ("glpat-", 6, true),
    ("sk-", 6, true),
    ("hf_", 6, false),
    ("ghp_", 6, false),
    ("gho_", 6, false),
    ("ghs_", 6, false),
    ("github_pat_", 6, true),
    ("xoxb-", 6, true),
    ("AKIA", 12, false),
];

/// Arguments, with what the table above names left out.
pub(crate) fn redacted(arguments: impl Iterator<Item = String>) -> Vec<String> {
    let mut expected = Expected::Nothing;
    arguments.map(|argument| expected.shown(argument)).collect()
}

/// What the next argument is, as far as those before it say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expected {
    Nothing,
    /// The value that belongs to a name.
    Value(Kind),
    /// One more word of a value.
    MoreWords,
}

impl Expected {
    /// The argument as it is recorded.
    fn shown(&mut self, argument: String) -> String {
        // Between a name and its value it is neither.
        if argument == "--" && matches!(self, Self::Value(_)) {
            return argument;
        }
        let is_option = is_option(&argument);
        match *self {
            // A value may begin with a dash: only what cannot be one is the next option.
            Self::Value(kind) if !(is_option && is_next_option(&argument)) => {
                *self = if kind == Kind::Words || is_option {
                    Self::MoreWords
                } else {
                    Self::Nothing
                };
                return hidden(kind, argument);
            }
            Self::MoreWords if !is_option => return REDACTED.into(),
            _ => *self = Self::Nothing,
        }
        if argument.contains(char::is_whitespace) {
            return words_redacted(argument);
        }
        if is_attached(&argument) {
            return format!("-p{REDACTED}");
        }
        let (shown, kind) = word_redacted(&argument);
        if let Some(kind) = kind {
            *self = Self::Value(kind);
        }
        shown
    }
}

/// `-pVALUE`. Some of them are options with a longer name, but which ones is not known.
fn is_attached(argument: &str) -> bool {
    argument
        .strip_prefix("-p")
        .is_some_and(|rest| !rest.is_empty() && !rest.starts_with('='))
        && kind_of(argument).is_none()
}

fn hidden(kind: Kind, value: String) -> String {
    let is_number = || value.parse::<f64>().is_ok();
    if value.is_empty() || (kind == Kind::Key && is_number()) {
        return value;
    }
    REDACTED.into()
}

/// `-x`, `--name`, `--name=value`; not `-` alone, a number, or several words.
fn is_option(argument: &str) -> bool {
    let name = argument.trim_start_matches('-');
    let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic());
    let before_value = name.split('=').next().unwrap_or_default();
    let n_dashes = argument.len() - name.len();
    (1..=2).contains(&n_dashes) && is_name && !before_value.contains(char::is_whitespace)
}

/// What comes after the name of a secret and is no secret: options have no capitals.
fn is_next_option(argument: &str) -> bool {
    let name = argument.split('=').next().unwrap_or_default();
    name.starts_with("--") && !name.contains(|c: char| c.is_ascii_uppercase())
}

/// An argument of several words: a script, a header. As it is where nothing in it is hidden.
fn words_redacted(argument: String) -> String {
    if let Some((name, kind)) = named(&argument).filter(|(name, kind)| is_all_value(name, *kind)) {
        return format!("{name}{}", hidden(kind, argument[name.len()..].to_owned()));
    }
    let words = words(&argument);
    let [word] = words[..] else {
        let shown = redacted(words.iter().map(ToString::to_string));
        return if shown == words {
            argument
        } else {
            shown.join(" ")
        };
    };
    let quoted = word.trim_matches(['"', '\'']);
    if quoted.len() == word.len() {
        return word_redacted(word).0;
    }
    let shown = redacted(std::iter::once(quoted.to_owned())).concat();
    if shown == quoted { argument } else { shown }
}

/// Whether all that comes after a name and its sign is the value: in `--password=a b`, `prompt=a b` and `Authorization: a b`, and not in
/// `TOKEN=a ./program`.
fn is_all_value(name: &str, kind: Kind) -> bool {
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || "_-.+".contains(c);
    let is_whole = name[..name.len() - 1].chars().all(is_of_name);
    is_whole && (kind == Kind::Words || name.starts_with('-') || name.ends_with(':'))
}

/// What blanks separate; those between quotes do not.
fn words(text: &str) -> Vec<&str> {
    let (mut quote, mut before) = (None, ' ');
    let mut is_between = |c: char| {
        match quote {
            Some(open) if c == open => quote = None,
            // Not the apostrophe in a word.
            None if matches!(c, '\'' | '"') && !before.is_alphanumeric() => quote = Some(c),
            _ => {}
        }
        before = c;
        quote.is_none() && c.is_whitespace()
    };
    let parts: Vec<&str> = text.split(&mut is_between).collect();
    let parts = if quote.is_some() {
        text.split_whitespace().collect()
    } else {
        parts
    };
    parts.into_iter().filter(|word| !word.is_empty()).collect()
}

/// A word as it is recorded, and what comes after it if it is a name alone.
fn word_redacted(word: &str) -> (String, Option<Kind>) {
    if let Some((name, kind)) = named(word) {
        let value = word[name.len()..].to_owned();
        if value.trim_matches(['"', '\'']).is_empty() {
            return (word.to_owned(), Some(kind));
        }
        return (format!("{}{}", plain(name), hidden(kind, value)), None);
    }
    let is_flag = is_option(word) && !word.contains('=');
    let is_name = is_flag || word.eq_ignore_ascii_case("bearer");
    (plain(word), kind_of(word).filter(|_| is_name))
}

/// A word without what is known by its look.
fn plain(word: &str) -> String {
    without_known_keys(&without_user(word))
}

/// The beginning of a word up to the first `=` or `:` that ends a name of something hidden, that sign included.
fn named(word: &str) -> Option<(&str, Kind)> {
    let signs = word.match_indices(['=', ':']);
    let mut named = signs.filter_map(|(at, _)| {
        let before = word[..at].trim_end_matches(['"', '\'']);
        let is_of_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
        let name = before.rsplit(|c| !is_of_name(c)).next()?;
        Some((&word[..=at], kind_of(name)?))
    });
    named.next()
}

/// What a name hides; `None` for most.
fn kind_of(name: &str) -> Option<Kind> {
    let name = name.to_ascii_lowercase();
    if name == "-p" || WORDS.iter().any(|word| name.contains(word)) {
        return Some(Kind::Words);
    }
    if SECRETS.iter().any(|secret| name.contains(secret)) {
        return Some(Kind::Secret);
    }
    let has = |is_wanted: &dyn Fn(&str) -> bool| name.split(['-', '_', '.']).any(is_wanted);
    let ends = |keys: &[&str], part: &str| keys.iter().any(|key| part.ends_with(key));
    if has(&|part| ends(&MANY_KEYS, part)) || has(&|part| ends(&KEYS, part)) {
        let is_number = has(&|part| ends(&MANY_KEYS, part) || COUNTS.contains(&part));
        return Some(if is_number { Kind::Key } else { Kind::Secret });
    }
    has(&|part| SHORT_KEYS.contains(&part)).then_some(Kind::Secret)
}

/// A word without the user parts of addresses in it.
fn without_user(word: &str) -> String {
    let mut shown = String::new();
    let mut rest = word;
    while let Some(at) = rest.find("://") {
        let (before, after) = rest.split_at(at + 3);
        let end = after
            .find(['/', '?', '#', '"', '\''])
            .unwrap_or(after.len());
        let host = after[..end].rfind('@').map_or(0, |at| at);
        shown.push_str(before);
        if host > 0 {
            shown.push_str(REDACTED);
        }
        rest = &after[host..];
    }
    shown + rest
}

/// A word without the keys in it that are known by how they begin.
fn without_known_keys(word: &str) -> String {
    let mut shown = String::new();
    let mut rest = word;
    // A key begins where a word does, or a value; in the middle of a path it is a name.
    let mut can_begin = true;
    while let Some(c) = rest.chars().next() {
        let length = if can_begin { known_key(rest) } else { None };
        let taken = length.unwrap_or(c.len_utf8());
        shown.push_str(length.map_or(&rest[..taken], |_| REDACTED));
        can_begin = matches!(
            c,
            '=' | ':' | ',' | ';' | '"' | '\'' | '(' | '[' | '{' | '?' | '&' | '@'
        );
        rest = &rest[taken..];
    }
    shown
}

/// How long the known key is that a text begins with.
fn known_key(text: &str) -> Option<usize> {
    KNOWN_KEYS.iter().find_map(|(beginning, least, has_signs)| {
        let rest = text.strip_prefix(beginning)?;
        let is_of_key =
            |c: char| c.is_ascii_alphanumeric() || (*has_signs && matches!(c, '-' | '_'));
        let n = rest.find(|c| !is_of_key(c)).unwrap_or(rest.len());
        (n >= *least).then_some(beginning.len() + n)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Arguments with `|` between them, before and after.
    fn shown(given: &str) -> String {
        redacted(given.split('|').map(String::from)).join("|")
    }

    #[test]
    fn prompts_and_secrets_are_not_recorded() {
        for (given, expected) in [
            (
                "python|-c|pass|--private_key|-----BEGIN S3CRET",
                "python|-c|pass|--private_key|<redacted>",
            ),
            ("--token|--S3CRET|--steps|4", "--token|<redacted>|--steps|4"),
            (
                "--private-key|-----BEGIN|--steps|4",
                "--private-key|<redacted>|--steps|4",
            ),
            (
                "--prompt|a|red|fox|--steps|4",
                "--prompt|<redacted>|<redacted>|<redacted>|--steps|4",
            ),
            (
                "--negative_prompt=no dogs|out",
                "--negative_prompt=<redacted>|out",
            ),
            ("--prompt|-text|--steps|4", "--prompt|<redacted>|--steps|4"),
            ("--prompt|- a fox|-v", "--prompt|<redacted>|-v"),
            ("--prompt|--steps|4", "--prompt|--steps|4"),
            ("-p|a fox|-n|2", "-p|<redacted>|-n|2"),
            ("prompt=a red fox|steps=4", "prompt=<redacted>|steps=4"),
            ("+model.prompt='a fox'", "+model.prompt=<redacted>"),
            ("--api-key|abc|out.png", "--api-key|<redacted>|out.png"),
            ("--api-key=abc", "--api-key=<redacted>"),
            ("--apikey|abc", "--apikey|<redacted>"),
            ("--hf-token|abc", "--hf-token|<redacted>"),
            (
                "HF_TOKEN=abc|python|x.py",
                "HF_TOKEN=<redacted>|python|x.py",
            ),
            ("--password|123456", "--password|<redacted>"),
            ("--db.passwd=1", "--db.passwd=<redacted>"),
            ("--client_secret|-abc", "--client_secret|<redacted>"),
            ("--aws-credentials|x", "--aws-credentials|<redacted>"),
            (
                "--use-auth-token|-p|abc|-v",
                "--use-auth-token|<redacted>|<redacted>|-v",
            ),
            (
                "-H|Authorization: Bearer abc.def",
                "-H|Authorization:<redacted>",
            ),
            (
                "--header=Authorization: Bearer abc",
                "--header=Authorization: <redacted> <redacted>",
            ),
            ("--password=a b", "--password=<redacted>"),
            ("--password|--|abc", "--password|--|<redacted>"),
            ("-pabc|-v", "-p<redacted>|-v"),
            ("--api-key|12345678", "--api-key|<redacted>"),
            ("--hf_token=12345678", "--hf_token=<redacted>"),
            ("--pwd|abc|--jwt=abc", "--pwd|<redacted>|--jwt=<redacted>"),
            ("--caption|a|fox|-v", "--caption|<redacted>|<redacted>|-v"),
            (
                "--header=Authorization:abc",
                "--header=Authorization:<redacted>",
            ),
        ] {
            assert_eq!(shown(given), expected, "{given}");
        }
    }

    #[test]
    fn what_is_a_key_by_itself_is_not_recorded() {
        for (given, expected) in [
            ("sk-proj-abc_123", "<redacted>"),
            ("hf_abcDEF123", "<redacted>"),
            ("ghp_0123456789", "<redacted>"),
            ("glpat-0123456789", "<redacted>"),
            ("eyJhbGciOiJIUzI1NiJ9", "<redacted>"),
            (
                "https://host/x?n=1&sig=abc",
                "https://host/x?n=1&sig=<redacted>",
            ),
            (
                "https://host/x?X-Amz-Signature=abc",
                "https://host/x?X-Amz-Signature=<redacted>",
            ),
            ("AKIAIOSFODNN7EXAMPLE", "<redacted>"),
            ("--auth=hf_abcDEF123", "--auth=<redacted>"),
            ("x=sk-abcdef,y=1", "x=<redacted>,y=1"),
            ("https://me:pass@host/a", "https://<redacted>@host/a"),
            (
                "--index-url=https://hf_user@host",
                "--index-url=https://<redacted>@host",
            ),
            (
                "s3://a@b/c|git+ssh://git@host/x",
                "s3://<redacted>@b/c|git+ssh://<redacted>@host/x",
            ),
            (
                "https://me:pass@host/x?token=abc",
                "https://<redacted>@host/x?token=<redacted>",
            ),
            (
                "https://host/x?token=abc&n=1",
                "https://host/x?token=<redacted>",
            ),
        ] {
            assert_eq!(shown(given), expected, "{given}");
        }
    }

    #[test]
    fn scripts_are_looked_through_word_by_word() {
        for (given, expected) in [
            (
                "-c|gen.py --prompt 'a red fox' --steps 4",
                "-c|gen.py --prompt <redacted> --steps 4",
            ),
            (
                "-c|run(prompt='a red fox', n=1)",
                "-c|run(prompt=<redacted> n=1)",
            ),
            (
                "-c|ssh host 'x --token abc'",
                "-c|ssh host x --token <redacted>",
            ),
            ("-c|I don't --token abc", "-c|I don't --token <redacted>"),
            (
                "-c|TOKEN=abc x.py --steps 4",
                "-c|TOKEN=<redacted> x.py --steps 4",
            ),
            (
                "{\"api_key\": \"abc\", \"n\": 1}",
                "{\"api_key\": <redacted> \"n\": 1}",
            ),
            (
                "-c|export  HF_TOKEN=abc;\n ./x",
                "-c|export HF_TOKEN=<redacted> ./x",
            ),
        ] {
            assert_eq!(shown(given), expected, "{given}");
        }
    }

    #[test]
    fn everything_else_is_recorded_as_it_is() {
        for given in [
            "torchrun|--nproc-per-node|4|x.py|out",
            "--tokenizer|path|--max-new-tokens|5|--max_new_tokens=5",
            "--num-keys|3|--keyframes|a.json|--monitor|x",
            "--device|cuda:0|--ratio=16:9",
            "https://host:80/@user|me@host|models/hf_abcDEF123/x",
            "--lib|sk-learn|hf_hub",
            "-c|import x;\n  print('a   b')",
            "-|--|-1|--seed|-1",
            "",
        ] {
            assert_eq!(shown(given), given);
        }
    }
}
