//! The Python on PATH: whether Marey can be imported there, and whether torch is there.

use std::io::Read;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde::Deserialize;

use super::State::{Available, Limited, NotAvailable};
use super::{Check, within};

/// Imports marey, because that is the question; only looks for torch, because importing it takes seconds.
const PROBE: &str = r#"
import importlib.util, json, sys
found = {"version": "%d.%d.%d" % sys.version_info[:3], "executable": sys.executable}
try:
    import marey
    found["marey"] = str(getattr(marey, "__version__", "of unknown version"))
except BaseException as error:
    found["marey_problem"] = "%s: %s" % (type(error).__name__, error)
if importlib.util.find_spec("torch"):
    try:
        from importlib.metadata import version
        found["torch"] = version("torch")
    except Exception:
        found["torch"] = "of unknown version"
print(json.dumps(found))
"#;
const PATIENCE: Duration = Duration::from_secs(20);

/// What the probe found.
#[derive(Debug, Deserialize)]
struct Found {
    version: String,
    executable: String,
    marey: Option<String>,
    marey_problem: Option<String>,
    torch: Option<String>,
}

/// Python, marey and torch.
pub(super) fn checks() -> Vec<Check> {
    let missing = |why: String| vec![Check::new("python", (NotAvailable, why))];
    let Some(program) = on_path("python").or_else(|| on_path("python3")) else {
        return missing("neither python nor python3 is on PATH".into());
    };
    let found = match probe(&program) {
        Err(problem) => return missing(format!("{} {problem}", program.display())),
        Ok(found) => found,
    };
    let this = format!("{} ({})", found.executable, found.version);
    let python = if let Some(version) = found.marey {
        (Available, format!("{this} with marey {version}"))
    } else {
        let why = found.marey_problem.as_deref().unwrap_or("no reason given");
        (Limited, format!("{this} cannot import marey ({why}); install marey there to record it"))
    };
    let torch = match found.torch {
        Some(version) => (Available, version),
        None => (NotAvailable, format!("not installed for {}", found.executable)),
    };
    vec![Check::new("python", python), Check::new("torch", torch)]
}

/// Runs the probe, recording off, for a limited time.
fn probe(program: &PathBuf) -> Result<Found, String> {
    let mut child = Command::new(program)
        .args(["-c", PROBE])
        .env_remove("MAREY_ENABLED")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| format!("cannot be run: {error}"))?;
    let mut output = child.stdout.take().ok_or("gave no answer")?;
    let answer = within(PATIENCE, move || {
        let mut text = String::new();
        output.read_to_string(&mut text).ok();
        text
    });
    child.kill().ok();
    child.wait().ok();
    let answer = answer.ok().flatten();
    let answer = answer.ok_or_else(|| format!("did not answer within {} s", PATIENCE.as_secs()))?;
    let line = answer.lines().next_back().unwrap_or_default();
    serde_json::from_str(line).map_err(|_| "ended without an answer".into())
}

fn on_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| {
        file.is_file() && rustix::fs::access(file, rustix::fs::Access::EXEC_OK).is_ok()
    })
}
