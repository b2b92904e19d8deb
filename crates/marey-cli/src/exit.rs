//! How the command ends.

use std::process::ExitCode;

use rustix::process::{Resource, Rlimit, setrlimit};

/// How the command ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// With this code.
    Code(u8),
    /// By this signal, because the program under `marey run` died of it.
    Signal(i32),
}

impl Exit {
    /// All is well.
    pub const SUCCESS: Self = Self::Code(0);
    /// What was asked about is not as it should be: a comparison that fails.
    pub const FAILED: Self = Self::Code(1);
    /// The arguments or the input were wrong.
    pub const USAGE: Self = Self::Code(2);

    /// The code that a shell shows: 128 and the number for a signal.
    pub fn code(self) -> u8 {
        match self {
            Self::Code(code) => code,
            Self::Signal(signal) => u8::try_from(128 + signal).unwrap_or(u8::MAX),
        }
    }

    /// Ends the process by the signal, so that its parent sees what the program's parent would have seen; returns the code
    /// for `main` otherwise.
    pub fn end_process(self) -> ExitCode {
        if let Self::Signal(signal) = self {
            // The program's core dump is the one that matters.
            let none = Rlimit { current: Some(0), maximum: Some(0) };
            setrlimit(Resource::Core, none).ok();
            // A signal that it does not know leaves the code.
            signal_hook::low_level::emulate_default_handler(signal).ok();
        }
        ExitCode::from(self.code())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_is_shown_as_shells_do() {
        assert_eq!(Exit::Signal(9).code(), 137);
        assert_eq!(Exit::Signal(200).code(), 255);
        assert_eq!(Exit::Code(3).code(), 3);
    }
}
