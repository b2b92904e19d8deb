//! What a script says.

use std::collections::HashMap;
use std::ffi::{c_uint, c_void};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

pub(crate) type Code = c_uint;

pub(crate) const SUCCESS: Code = 0;
pub(crate) const UNINITIALIZED: Code = 1;
pub(crate) const INVALID_ARGUMENT: Code = 2;
pub(crate) const NOT_SUPPORTED: Code = 3;
pub(crate) const INSUFFICIENT_SIZE: Code = 7;
pub(crate) const GPU_IS_LOST: Code = 15;

/// One answer of a script.
#[derive(Clone, Debug)]
enum Answer {
    Text(String),
    Error(Code),
    Wait(PathBuf),
}

/// The answers of one function, and how many were given.
#[derive(Default)]
struct Answers {
    list: Vec<Answer>,
    /// The line as it stands, for names with blanks.
    whole: String,
    given: AtomicUsize,
}

/// The system, a GPU, or an instance of one.
#[derive(Default)]
pub(crate) struct Subject {
    pub(crate) uuid: String,
    /// Place of the GPU whose instance this is.
    pub(crate) parent: Option<usize>,
    lost_when: Option<PathBuf>,
    functions: HashMap<String, Answers>,
}

pub(crate) struct Script {
    pub(crate) system: Subject,
    pub(crate) subjects: Vec<Subject>,
}

static SCRIPT: OnceLock<Script> = OnceLock::new();

impl Script {
    pub(crate) fn read() -> Self {
        let path =
            std::env::var_os("MAREY_MOCK_NVML").map_or_else(beside, |path| Some(path.into()));
        let text = path.and_then(|path: PathBuf| std::fs::read_to_string(path).ok());
        let mut script = Self { system: Subject::default(), subjects: Vec::new() };
        let mut last_gpu = None;
        for line in text.unwrap_or_default().lines() {
            let line = line.split('#').next().unwrap_or_default().trim();
            let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
            let place = script.subjects.len();
            match word {
                "" => {}
                "gpu" | "mig" => {
                    let parent = last_gpu.filter(|_| word == "mig");
                    if parent.is_none() {
                        last_gpu = Some(place);
                    }
                    script.subjects.push(Subject {
                        uuid: rest.trim().into(),
                        parent,
                        ..Subject::default()
                    });
                }
                _ => script.last().learn(word, rest.trim()),
            }
        }
        script
    }

    fn last(&mut self) -> &mut Subject {
        self.subjects.last_mut().unwrap_or(&mut self.system)
    }

    pub(crate) fn gpus(&self) -> impl Iterator<Item = &Subject> {
        self.subjects.iter().filter(|subject| subject.parent.is_none())
    }
}

impl Subject {
    fn learn(&mut self, word: &str, rest: &str) {
        if word == "lost_when" {
            self.lost_when = Some(rest.into());
            return;
        }
        let answer = |token: &str| match (token.strip_prefix('!'), token.strip_prefix('@')) {
            (Some(code), _) => Answer::Error(code.parse().unwrap_or(INVALID_ARGUMENT)),
            (_, Some(path)) => Answer::Wait(path.into()),
            _ => Answer::Text(token.into()),
        };
        let answers = Answers {
            list: rest.split_whitespace().map(answer).collect(),
            whole: rest.into(),
            given: AtomicUsize::new(0),
        };
        self.functions.insert(word.into(), answers);
    }

    /// The next answer of a function, or the same once more for a look that does not count.
    pub(crate) fn answer(&self, function: &str, counts: bool) -> Result<String, Code> {
        if self.lost_when.as_ref().is_some_and(|path| path.exists()) {
            return Err(GPU_IS_LOST);
        }
        let answers = self.functions.get(function).ok_or(NOT_SUPPORTED)?;
        loop {
            let given = answers.given.load(Relaxed);
            let last = answers.list.len().saturating_sub(1);
            let answer = answers.list.get(given.min(last)).ok_or(NOT_SUPPORTED)?;
            if counts || matches!(answer, Answer::Wait(_)) {
                answers.given.fetch_add(1, Relaxed);
            }
            match answer {
                Answer::Text(text) => return Ok(text.clone()),
                Answer::Error(code) => return Err(*code),
                Answer::Wait(path) => wait_for(path),
            }
        }
    }

    pub(crate) fn numbers(&self, function: &str) -> Result<Vec<u64>, Code> {
        let answer = self.answer(function, true)?;
        let numbers = answer.split('/').map(|number| number.parse().map_err(|_| INVALID_ARGUMENT));
        numbers.collect()
    }

    /// All of the line, as names have blanks.
    pub(crate) fn text(&self, function: &str) -> Result<String, Code> {
        self.answer(function, true)?;
        Ok(self.functions[function].whole.clone())
    }
}

fn wait_for(path: &Path) {
    let mut waiting = path.as_os_str().to_owned();
    waiting.push(".waiting");
    if std::fs::write(waiting, "").is_err() {
        return;
    }
    while !path.exists() {
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// The script beside this library, whose place the memory map of the process tells.
fn beside() -> Option<PathBuf> {
    let own = beside as *const () as usize;
    let maps = std::fs::read_to_string("/proc/self/maps").ok()?;
    let library = maps.lines().find_map(|line| {
        let (range, rest) = line.split_once(' ')?;
        let (begin, end) = range.split_once('-')?;
        let begin = usize::from_str_radix(begin, 16).ok()?;
        let end = usize::from_str_radix(end, 16).ok()?;
        let path = rest.find('/').map(|at| &rest[at..])?;
        (begin..end).contains(&own).then(|| path.to_owned())
    })?;
    Some(format!("{library}.script").into())
}

pub(crate) fn script() -> Result<&'static Script, Code> {
    SCRIPT.get().ok_or(UNINITIALIZED)
}

pub(crate) fn system() -> Result<&'static Subject, Code> {
    Ok(&script()?.system)
}

/// A device handle: the place of a subject, plus one.
pub(crate) type Handle = *mut c_void;

pub(crate) fn subject(handle: Handle) -> Result<&'static Subject, Code> {
    let place = handle.addr().checked_sub(1).ok_or(INVALID_ARGUMENT)?;
    script()?.subjects.get(place).ok_or(INVALID_ARGUMENT)
}

pub(crate) fn handle_of(subject: &Subject) -> Result<Handle, Code> {
    let place = script()?.subjects.iter().position(|known| std::ptr::eq(known, subject));
    place.map(|place| std::ptr::without_provenance_mut(place + 1)).ok_or(INVALID_ARGUMENT)
}

/// Reads the script, with the first call.
pub(crate) fn init() -> &'static Script {
    SCRIPT.get_or_init(Script::read)
}
