//! A program that takes our place: what was said to us by our process id is said to it by its own.
//!
//! ```text
//! systemd ─ LISTEN_PID=7, LISTEN_FDS=2, sockets 3 and 4 ─► marey run (7) ─ LISTEN_PID=8, 3 and 4 ─► the program (8)
//! ```

#![allow(
    unsafe_code,
    reason = "pre_exec, signal, execvpe and close: a process id is known only after the fork"
)]

use std::ffi::{OsStr, c_char};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// Variables that name the process which they, and those beside them, are for.
const ADDRESSES: [&str; 2] = ["LISTEN_PID", "WATCHDOG_PID"];
/// The same by another number, which is not known before; it may be missing.
const OTHER_ADDRESS: &str = "LISTEN_PIDFDID";

/// A program that is about to begin.
#[derive(Debug)]
pub struct Successor {
    n_sockets: usize,
}

impl Successor {
    /// Of a command whose environment and arguments are complete. `ignored` are signals that were ignored when we began, and have handlers
    /// now: it begins with them ignored.
    pub fn prepare(command: &mut Command, ignored: Vec<i32>) -> Self {
        let us = std::process::id().to_string();
        let names_us = |name: &&str| std::env::var(name).is_ok_and(|pid| pid == us);
        let addresses: Vec<&str> = ADDRESSES.into_iter().filter(names_us).collect();
        let n_sockets = std::env::var("LISTEN_FDS").ok().and_then(|n| n.parse().ok());
        if !addresses.is_empty() {
            command.env_remove(OTHER_ADDRESS);
        }
        let mut image = (!addresses.is_empty()).then(|| Image::of(command, &addresses));
        let begin = move || {
            for signal in &ignored {
                // SAFETY: a signal that there is, ignored.
                unsafe { libc::signal(*signal, libc::SIG_IGN) };
            }
            image.as_mut().map_or(Ok(()), |image| Err(image.take_over()))
        };
        // SAFETY: after the fork there are system calls and writes to memory that was made before it.
        unsafe { command.pre_exec(begin) };
        Self { n_sockets: n_sockets.filter(|_| addresses.contains(&"LISTEN_PID")).unwrap_or(0) }
    }

    /// It runs: the sockets that are for it are closed here, so that nobody waits in the queue of one that the program has closed.
    pub fn has_begun(self) {
        for socket in (3_i32..).take(self.n_sockets) {
            // SAFETY: asks about a number, whatever it is.
            let flags = unsafe { libc::fcntl(socket, libc::F_GETFD) };
            // Of what we open ourselves the program inherits nothing.
            if flags >= 0 && flags & libc::FD_CLOEXEC == 0 {
                // SAFETY: whoever started us opened it for the program, and nobody here knows it.
                unsafe { libc::close(socket) };
            }
        }
    }
}

/// What `exec` gets.
struct Image {
    arguments: Words,
    variables: Words,
    /// Where in the variables the process id goes.
    pids: Vec<(usize, usize)>,
}

impl Image {
    fn of(command: &Command, addresses: &[&str]) -> Self {
        let changed = |name: &OsStr| command.get_envs().any(|(key, _)| key == name);
        let kept = std::env::vars_os().filter(|(name, _)| !changed(name));
        let set = command.get_envs().filter_map(|(name, value)| Some((name.into(), value?.into())));
        let (mut variables, mut pids) = (Vec::new(), Vec::new());
        for (name, value) in kept.chain(set) {
            let mut word = [name.as_bytes(), b"="].concat();
            if addresses.iter().any(|address| name == *address) {
                pids.push((variables.len(), word.len()));
                word.extend([0; 10]);
            } else {
                word.extend(value.as_bytes());
            }
            variables.push(word);
        }
        let arguments = std::iter::once(command.get_program()).chain(command.get_args());
        Self {
            arguments: Words::of(arguments.map(|word| word.as_bytes().to_vec())),
            variables: Words::of(variables),
            pids,
        }
    }

    /// Puts the program in the place of this process, which has just been forked. Returns why not.
    fn take_over(&mut self) -> io::Error {
        for (variable, at) in &self.pids {
            let digits = &mut self.variables.bytes[*variable][*at..];
            write_number(std::process::id(), digits);
        }
        let (arguments, variables) = (self.arguments.pointers(), self.variables.pointers());
        // SAFETY: the program is the first of the arguments, of which there is one.
        let program = unsafe { *arguments };
        // SAFETY: texts that end with a zero, in lists that do.
        unsafe { libc::execvpe(program, arguments, variables) };
        io::Error::last_os_error()
    }
}

/// Texts for C.
struct Words {
    bytes: Vec<Vec<u8>>,
    /// Room for their addresses and a zero.
    addresses: Vec<usize>,
}

impl Words {
    fn of(words: impl IntoIterator<Item = Vec<u8>>) -> Self {
        let ended = |mut word: Vec<u8>| {
            word.push(0);
            word
        };
        let bytes: Vec<_> = words.into_iter().map(ended).collect();
        Self { addresses: vec![0; bytes.len() + 1], bytes }
    }

    fn pointers(&mut self) -> *const *const c_char {
        for (address, word) in self.addresses.iter_mut().zip(&self.bytes) {
            *address = word.as_ptr().expose_provenance();
        }
        self.addresses.as_ptr().cast()
    }
}

/// In decimal, from the beginning of room for ten digits, with zeros after it.
fn write_number(number: u32, room: &mut [u8]) {
    let mut place = 1_000_000_000;
    let mut n_written = 0;
    while place > 0 {
        let digit = number / place % 10;
        if n_written > 0 || digit > 0 || place == 1 {
            room[n_written] = b'0' + u8::try_from(digit).unwrap_or(0);
            n_written += 1;
        }
        place /= 10;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_id_is_written_without_making_anything() {
        for number in [1, 10, 4_194_304, u32::MAX] {
            let mut room = [0; 11];
            write_number(number, &mut room);
            let text = std::ffi::CStr::from_bytes_until_nul(&room).unwrap();
            assert_eq!(text.to_str().unwrap(), number.to_string());
        }
    }
}
