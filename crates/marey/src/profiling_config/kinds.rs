//! Which switch a section falls under, by its name.

use super::keys::ProfilingConfig;

/// Kinds of sections that can be switched off.
///
/// A name is cut into words: at everything that is neither letter nor digit, and where a capital begins a word (`VaeDecode`,
/// `VAEDecode`). Case does not matter, nor do digits at the end of a word. Of a name with points, `::` or `/` in it the last two parts
/// count. Then, in this order:
///
/// | a name is | when it has |
/// |---|---|
/// | none of these | `load` `loading` `loaded` `init` `initialize` `initialization` `setup` `offload` `offloading` `onload` `download` `compile` |
/// | text encoding | `text` or `prompt` directly before `encode` `encoding` `encoder`, or `encode` directly before `text` or `prompt` |
/// | VAE decoding | `vae` or `autoencoder`, and `decode` `decoding` `decoder`; or `decode` directly before `latent` `latents`, or these before `decode` `decoding` |
/// | a denoising step | `inference` `denoising` `denoise` `diffusion` `sampling` directly before `step` |
/// | a block | `block` directly before `computation` `processing` `generation`, or after `process` `compute` `generate`; or `block` as its only word |
///
/// Whatever is none of these is always recorded: `vae_encode`, `scheduler_step`, `denoising_steps` (the loop), `transformer_block`
/// (a part of the network), `text_encoder_loading`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SectionKind {
    /// A denoising step.
    InferenceStep,
    /// Latents to pixels.
    VaeDecode,
    /// Prompts to embeddings.
    TextEncoding,
    /// One autoregressive block of frames.
    BlockComputation,
}

const PREPARING: [&str; 12] = [
    "load",
    "loading",
    "loaded",
    "init",
    "initialize",
    "initialization",
    "setup",
    "offload",
    "offloading",
    "onload",
    "download",
    "compile",
];

/// What comes before the work of a pipeline, or beside it.
///
/// Words are as in [`SectionKind`]. In this order:
///
/// | a name is | when it has |
/// |---|---|
/// | compilation | `compile` `compiling` `compilation` `autotune` `autotuning` |
/// | warm-up | `warmup` or `warming`, or `warm` directly before `up` |
/// | loading | any of the other words of the first row there |
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Preparation {
    /// Models and whatever else are fetched, set up or moved.
    Load,
    /// Code is made for the machine.
    Compile,
    /// Work is done once in vain, so that later work is steady.
    WarmUp,
}

const COMPILING: [&str; 5] = ["compile", "compiling", "compilation", "autotune", "autotuning"];

impl Preparation {
    /// What a section of this name prepares; `None` when it is no preparation.
    pub fn of(name: &str) -> Option<Self> {
        let words = words_of_name(name);
        let has = |any_of: &[&str]| words.iter().any(|word| any_of.contains(&word.as_str()));
        if has(&COMPILING) {
            Some(Self::Compile)
        } else if has(&["warmup", "warming"]) || words.windows(2).any(|pair| pair == ["warm", "up"])
        {
            Some(Self::WarmUp)
        } else {
            has(&PREPARING).then_some(Self::Load)
        }
    }
}

impl SectionKind {
    /// The kind of a section's name; `None` for a section that no switch is about.
    pub fn of(name: &str) -> Option<Self> {
        let words = words_of_name(name);
        let has = |any_of: &[&str]| words.iter().any(|word| any_of.contains(&word.as_str()));
        let follow = |first: &[&str], second: &[&str]| {
            words
                .windows(2)
                .any(|pair| first.contains(&pair[0].as_str()) && second.contains(&pair[1].as_str()))
        };
        if has(&PREPARING) {
            None
        } else if follow(&["text", "prompt"], &["encode", "encoding", "encoder"])
            || follow(&["encode"], &["text", "prompt"])
        {
            Some(Self::TextEncoding)
        } else if (has(&["vae", "autoencoder"]) && has(&["decode", "decoding", "decoder"]))
            || follow(&["decode"], &["latent", "latents"])
            || follow(&["latent", "latents"], &["decode", "decoding"])
        {
            Some(Self::VaeDecode)
        } else if follow(&["inference", "denoising", "denoise", "diffusion", "sampling"], &["step"])
        {
            Some(Self::InferenceStep)
        } else if follow(&["block"], &["computation", "processing", "generation"])
            || follow(&["process", "compute", "generate"], &["block"])
            || words == ["block"]
        {
            Some(Self::BlockComputation)
        } else {
            None
        }
    }

    /// All kinds.
    pub const ALL: [Self; 4] =
        [Self::InferenceStep, Self::VaeDecode, Self::TextEncoding, Self::BlockComputation];

    /// Whether sections of this kind are switched on.
    pub fn is_recorded(self, config: &ProfilingConfig) -> bool {
        match self {
            Self::InferenceStep => config.profile_inference_steps,
            Self::VaeDecode => config.profile_vae_decode,
            Self::TextEncoding => config.profile_text_encoding,
            Self::BlockComputation => config.profile_block_computation,
        }
    }
}

/// The words of the last two parts of a name, as [`SectionKind`] cuts them: in small letters, without digits at their ends.
pub fn words_of_name(name: &str) -> Vec<String> {
    let parts: Vec<&str> = name.split(['.', ':', '/']).filter(|part| !part.is_empty()).collect();
    let mut words = Vec::new();
    for part in &parts[parts.len().saturating_sub(2)..] {
        for run in part.split(|c: char| !c.is_alphanumeric()) {
            cut_at_capitals(run, &mut words);
        }
    }
    words
}

fn cut_at_capitals(run: &str, words: &mut Vec<String>) {
    let letters: Vec<char> = run.chars().collect();
    let begins = |i: &usize| {
        *i == 0
            || letters[*i].is_uppercase()
                && (!letters[i - 1].is_uppercase()
                    || letters.get(i + 1).is_some_and(|c| c.is_lowercase()))
    };
    let starts: Vec<usize> = (0..letters.len()).filter(begins).collect();
    for (n, start) in starts.iter().enumerate() {
        let end = starts.get(n + 1).copied().unwrap_or(letters.len());
        let word: String = letters[*start..end].iter().flat_map(|c| c.to_lowercase()).collect();
        let word = word.trim_end_matches(|c: char| c.is_ascii_digit());
        if !word.is_empty() {
            words.push(word.to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_what_a_section_prepares() {
        use Preparation::{Compile, Load, WarmUp};
        for (name, expected) in [
            ("load_models", Some(Load)),
            ("Pipeline.setup", Some(Load)),
            ("torch.compile", Some(Compile)),
            ("load_and_compile", Some(Compile)),
            ("autotuning", Some(Compile)),
            ("warmup", Some(WarmUp)),
            ("warm_up_2", Some(WarmUp)),
            ("WarmUp", Some(WarmUp)),
            ("denoise", None),
            ("warm_denoise", None),
            ("upload", None),
            ("", None),
        ] {
            assert_eq!(Preparation::of(name), expected, "{name}");
        }
    }
}
