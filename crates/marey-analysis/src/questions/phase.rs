//! Which phase of a pipeline does a name stand for?

use marey::profiling_config::{Preparation, SectionKind, words_of_name};

/// A phase of a pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Models are loaded or moved, code is compiled.
    Prepare,
    /// Prompts become embeddings.
    Encode,
    /// Noise becomes latents.
    Denoise,
    /// Latents become pixels.
    Decode,
    /// Pixels are written.
    Save,
}

/// Words of names that stand for several phases.
const SEVERAL: [&str; 7] = ["and", "generate", "generation", "pipeline", "pipe", "run", "main"];

impl Phase {
    /// The phase that the name of a section says, by the words that [`SectionKind`] cuts it into; `None` of a name that says none, or may
    /// hold several.
    pub fn of(name: &str) -> Option<Self> {
        if Preparation::of(name).is_some() {
            return Some(Self::Prepare);
        }
        match SectionKind::of(name) {
            Some(SectionKind::TextEncoding) => return Some(Self::Encode),
            Some(SectionKind::InferenceStep) => return Some(Self::Denoise),
            Some(SectionKind::VaeDecode) => return Some(Self::Decode),
            Some(SectionKind::BlockComputation) => return None,
            None => {}
        }
        let words = words_of_name(name);
        let has = |any_of: &[&str]| words.iter().any(|word| any_of.contains(&word.as_str()));
        if has(&SEVERAL) {
            return None;
        }
        let phases = [
            (Self::Denoise, &["denoise", "denoising", "sampling", "sampler"][..]),
            (Self::Encode, &["encode", "encoding", "encoder", "tokenize"]),
            (Self::Decode, &["decode", "decoding", "decoder", "vae"]),
            (Self::Save, &["save", "saving", "write", "writing", "export", "mux"]),
        ];
        phases.into_iter().find(|(_, words)| has(words)).map(|(phase, _)| phase)
    }
}
