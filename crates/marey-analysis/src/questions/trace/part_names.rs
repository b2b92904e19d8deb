//! What rows of the host stand for in a generation, by their names.

use marey::profiling_config::words_of_name;

use crate::import::chrome::{Class, HostMeanings, Trace};

/// What a row of the host is in a program that generates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// A denoising step as Marey's own recorders name it.
    OwnStep,
    /// A range that is named like a step.
    Step,
    /// A range around many steps.
    Loop,
    /// `ProfilerStep#3`: a step that the program marked for torch's profiler, which may hold a whole request.
    ProfilerStep,
    /// The scheduler goes one step on; it ends a step.
    Scheduler,
    /// The denoiser is called.
    Denoiser,
    /// Prompts to embeddings.
    TextEncoder,
    /// Pictures to latents, or back.
    Vae,
    /// A graph that torch compiled is called.
    CompiledGraph,
    /// A recorded graph of kernels is launched.
    GraphLaunch,
    /// None of these.
    Other,
}

/// All rows of the host with their classes and what they stand for, in the order of the file.
pub(super) fn host_parts(trace: &Trace) -> impl Iterator<Item = (u32, Class, Part)> + '_ {
    let mut known = HostMeanings::new(trace);
    trace
        .rows
        .each()
        .filter_map(move |row| known.of(row, part_of).map(|(class, part)| (row, class, part)))
}

/// What a row of this class and name stands for.
pub(super) fn part_of(class: Class, name: &str) -> Part {
    match class {
        Class::Annotation => named_range(name),
        // Older profilers wrote ranges of the program as operators; those of torch have a namespace.
        Class::Operator if !name.contains("::") => named_range(name),
        Class::PythonFunction => python_function(name),
        Class::Call if name.ends_with("GraphLaunch") => Part::GraphLaunch,
        _ => Part::Other,
    }
}

/// A range that the program, or a tool in it, named.
fn named_range(name: &str) -> Part {
    if name.starts_with("ProfilerStep") {
        return Part::ProfilerStep;
    }
    if name.starts_with("## Call CompiledFxGraph") {
        return Part::CompiledGraph;
    }
    let words = words_of_name(name);
    let has = |wanted: &[&str]| words.iter().any(|word| wanted.contains(&word.as_str()));
    let lower = name.to_ascii_lowercase();
    if words == ["denoising", "step"] {
        Part::OwnStep
    } else if TRAINS.iter().any(|word| lower.contains(word)) {
        Part::Other
    } else if has(&["vae", "autoencoder"]) {
        Part::Vae
    } else if is_text(&lower) {
        Part::TextEncoder
    } else if has(&["scheduler"]) {
        if has(&["step"]) { Part::Scheduler } else { Part::Other }
    } else if has(&["step", "timestep", "iteration", "iter"]) {
        Part::Step
    } else if has(&["denoise", "denoising", "timesteps", "steps"]) {
        Part::Loop
    } else if has(&["transformer", "unet", "dit", "denoiser"]) && !has(&["block", "layer"]) {
        Part::Denoiser
    } else {
        Part::Other
    }
}

/// What has these in its name is a step of training.
const TRAINS: [&str; 6] = ["optimizer", "backward", "epoch", "train", "zero_grad", "dataloader"];

fn is_text(lower: &str) -> bool {
    ["text_encod", "encode_prompt", "textencod", "prompt_encod"]
        .iter()
        .any(|part| lower.contains(part))
}

/// A function or module of Python: `nn.Module: FluxTransformer2DModel_0`, `diffusers/schedulers/scheduling_ddim.py(384): step`.
fn python_function(name: &str) -> Part {
    if let Some(module) = name.strip_prefix("nn.Module: ") {
        return module_part(module);
    }
    let Some((file, function)) = name.rsplit_once(": ") else {
        return Part::Other;
    };
    match function {
        "step" if file.contains("schedulers/scheduling_") => Part::Scheduler,
        "encode_prompt" if file.contains("pipeline") => Part::TextEncoder,
        "encode" | "decode" if file.contains("/autoencoders/autoencoder") => Part::Vae,
        _ => Part::Other,
    }
}

fn module_part(module: &str) -> Part {
    let lower = module.to_ascii_lowercase();
    let has = |part: &str| lower.contains(part);
    if ["block", "layer", "attention", "norm", "embed"].iter().any(|part| has(part)) {
        Part::Other
    } else if has("autoencoder") {
        Part::Vae
    } else if ["textmodel", "textencoder", "t5encodermodel"].iter().any(|part| has(part)) {
        Part::TextEncoder
    } else if has("unet") || (has("transformer") && !has("text") && !has("vision")) {
        Part::Denoiser
    } else {
        Part::Other
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_told_by_their_words() {
        let cases = [
            ("denoising_step", Part::OwnStep),
            ("denoise_step_3", Part::Step),
            ("step_12", Part::Step),
            ("## denoise ##", Part::Loop),
            ("denoising_loop", Part::Loop),
            ("timestep", Part::Step),
            ("scheduler_step", Part::Scheduler),
            ("scheduler.step", Part::Scheduler),
            ("Optimizer.step#SGD.step", Part::Other),
            ("training_step", Part::Other),
            ("ProfilerStep#3", Part::ProfilerStep),
            ("## Call CompiledFxGraph fjs75i ##", Part::CompiledGraph),
            ("transformer_forward", Part::Denoiser),
            ("transformer_block_0", Part::Other),
            ("unet_forward", Part::Denoiser),
            ("text_encoder_2_forward", Part::TextEncoder),
            ("encode_prompt", Part::TextEncoder),
            ("vae_decode", Part::Vae),
            ("vae_decode_step", Part::Vae),
            ("execute_diffusion_1_256x256", Part::Other),
        ];
        for (name, expected) in cases {
            assert_eq!(part_of(Class::Annotation, name), expected, "{name}");
        }
    }

    #[test]
    fn modules_and_functions_of_python_are_told_by_their_names() {
        let cases = [
            ("nn.Module: xFuserFlux1Transformer2DWrapper_0", Part::Denoiser),
            ("nn.Module: UNet2DConditionModel_0", Part::Denoiser),
            ("nn.Module: UNetMidBlock2D_0", Part::Other),
            ("nn.Module: FluxSingleTransformerBlock_0", Part::Other),
            ("nn.Module: CLIPTextTransformer_0", Part::Other),
            ("nn.Module: T5EncoderModel_0", Part::TextEncoder),
            ("nn.Module: AutoencoderKL_0", Part::Vae),
            ("diffusers/schedulers/scheduling_ddim.py(384): step", Part::Scheduler),
            ("diffusers/schedulers/scheduling_ddim.py(334): set_timesteps", Part::Other),
            ("torch/optim/sgd.py(80): step", Part::Other),
            ("diffusers/models/autoencoders/autoencoder_kl.py(213): decode", Part::Vae),
            ("diffusers/pipelines/flux/pipeline_flux.py(311): encode_prompt", Part::TextEncoder),
        ];
        for (name, expected) in cases {
            assert_eq!(part_of(Class::PythonFunction, name), expected, "{name}");
        }
        assert_eq!(part_of(Class::Call, "hipGraphLaunch"), Part::GraphLaunch);
        assert_eq!(part_of(Class::Operator, "aten::step"), Part::Other);
    }
}
