//! What may be different in a trace.

use std::str::FromStr;

use serde::Deserialize;
use serde::de::value::{Error, StrDeserializer};

use super::super::KernelClass;

/// One thing that is different, as people write it: `gemm=fp8`.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// As it was written.
    pub(super) text: String,
    pub(super) effect: Effect,
}

/// What it does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Effect {
    /// `gemm=2x`: kernels of a class are so many times as fast.
    Faster(KernelClass, f64),
    /// `gemm=fp8`: products of matrices are computed in FP8.
    GemmFp8,
    /// `attention=sage`: attention is computed in 8 bits.
    AttentionSage,
    /// `no-sync`: calls that wait for a device do not wait for it.
    NoSync,
    /// `overlap-copies`: nothing waits for copies between host and device but calls of the host.
    OverlapCopies,
}

/// Those that have a name of their own.
const NAMED: [(&str, Effect); 4] = [
    ("attention=sage", Effect::AttentionSage),
    ("gemm=fp8", Effect::GemmFp8),
    ("no-sync", Effect::NoSync),
    ("overlap-copies", Effect::OverlapCopies),
];

/// Why nothing can be said of a change.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnknownChange {
    /// It is none.
    #[error("is none of {known}, CLASS=2x", known = NAMED.map(|(name, _)| name).join(", "))]
    Unreadable,
    /// There is no such class of kernels.
    #[error("{0}")]
    NoClass(String),
    /// It is no number of a size that kernels may have.
    #[error("how many times as fast is a number from 0.001 to 1000, as in gemm=1.5x")]
    NoFactor,
    /// There are two changes of one class.
    #[error("{0}: another change is of the same class of kernels")]
    Twice(String),
    /// The trace has no work of a device.
    #[error("it has no work of a device")]
    NoDevice,
    /// The trace lacks work that was launched, so that nobody knows what waited for it.
    #[error("{0}")]
    Incomplete(String),
    /// The trace has nothing that would be different.
    #[error("{0} would change nothing")]
    Nothing(String),
    /// How fast a device is in a format is not known.
    #[error(
        "{change}: {device} is not known to compute so, or how fast; {class}=1.5x says how much faster"
    )]
    NoPeak {
        /// The change.
        change: String,
        /// The device, by its model or as the trace calls it.
        device: String,
        /// The class that it is about.
        class: &'static str,
    },
}

impl Change {
    /// The class of kernels that it is of.
    pub(super) fn class(&self) -> Option<KernelClass> {
        match self.effect {
            Effect::Faster(class, _) => Some(class),
            Effect::GemmFp8 => Some(KernelClass::Gemm),
            Effect::AttentionSage => Some(KernelClass::Attention),
            Effect::NoSync | Effect::OverlapCopies => None,
        }
    }
}

impl FromStr for Change {
    type Err = UnknownChange;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let named = NAMED.iter().find(|(name, _)| *name == text);
        let effect = named.map_or_else(|| faster(text), |(_, effect)| Ok(*effect))?;
        Ok(Self { text: text.to_owned(), effect })
    }
}

/// `gemm=2x`.
fn faster(text: &str) -> Result<Effect, UnknownChange> {
    let (class, times) = text.split_once('=').ok_or(UnknownChange::Unreadable)?;
    let times = times.strip_suffix('x').ok_or(UnknownChange::Unreadable)?;
    let class = KernelClass::deserialize(StrDeserializer::<Error>::new(class));
    let class = class.map_err(|error| {
        let listed = error.to_string().replace("unknown variant ", "there is no class ");
        UnknownChange::NoClass(listed.replace("expected one of", "there are"))
    })?;
    let factor: Option<f64> = times.parse().ok();
    let factor = factor.filter(|factor| (0.001..=1000.0).contains(factor));
    factor.map(|factor| Effect::Faster(class, factor)).ok_or(UnknownChange::NoFactor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_read_as_people_write_them() {
        let effect = |text: &str| text.parse::<Change>().map(|change| change.effect);
        assert_eq!(effect("gemm=fp8"), Ok(Effect::GemmFp8));
        assert_eq!(effect("no-sync"), Ok(Effect::NoSync));
        assert_eq!(effect("attention=1.5x"), Ok(Effect::Faster(KernelClass::Attention, 1.5)));
        for nothing in ["gemm=0x", "gemm=-1x", "gemm=infx", "gemm=NaNx", "gemm=x", "gemm=1e-9x"] {
            assert_eq!(effect(nothing), Err(UnknownChange::NoFactor), "{nothing}");
        }
        for nothing in ["", "faster", "gemm=2", "gemm=int3"] {
            assert_eq!(effect(nothing), Err(UnknownChange::Unreadable), "{nothing}");
        }
        let said = effect("gemms=2x").unwrap_err().to_string();
        assert!(said.starts_with("there is no class `gemms`, there are `communication`"), "{said}");
    }
}
