//! Which call paths do what, by their names.

use marey::profiling_config::{SectionKind, words_of_name};
use marey::{Node, NodeKind};

/// Call paths of a run by what is done there. Of paths within one another that do the same the outermost stands.
#[derive(Clone, Debug, Default)]
pub struct Named {
    /// Denoising steps.
    pub steps: Vec<u32>,
    /// Blocks of frames; those within a step are parts of the network.
    pub blocks: Vec<u32>,
    /// Latents to pixels.
    pub vae: Vec<u32>,
    /// Prompts to embeddings.
    pub text: Vec<u32>,
    /// Passes that only fill the KV cache.
    pub clean: Vec<u32>,
    /// Conditional passes.
    pub conditional: Vec<u32>,
    /// Unconditional passes.
    pub unconditional: Vec<u32>,
}

/// What is done in a section.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Work {
    Step,
    Block,
    Vae,
    Text,
    Clean,
    Conditional,
    Unconditional,
}

impl Named {
    /// As reports take them, also of a process that still runs.
    pub fn new(nodes: &[Node]) -> Self {
        let mut named = Self::default();
        let mut works: Vec<Option<Work>> = nodes.iter().map(|node| Work::of(&node.name)).collect();
        if !works.contains(&Some(Work::Step)) {
            add_step_loops(nodes, &mut works);
        }
        for (id, work) in works.iter().enumerate() {
            let Some(work) = *work else { continue };
            let above =
                |wanted: Work| ancestors(nodes, id).any(|a| works.get(a) == Some(&Some(wanted)));
            let is_inner = above(work) || (work == Work::Block && above(Work::Step));
            if let (false, Ok(id)) = (is_inner, u32::try_from(id)) {
                named.list(work).push(id);
            }
        }
        named
    }

    fn list(&mut self, work: Work) -> &mut Vec<u32> {
        match work {
            Work::Step => &mut self.steps,
            Work::Block => &mut self.blocks,
            Work::Vae => &mut self.vae,
            Work::Text => &mut self.text,
            Work::Clean => &mut self.clean,
            Work::Conditional => &mut self.conditional,
            Work::Unconditional => &mut self.unconditional,
        }
    }
}

/// The nodes above a node, innermost first.
pub(super) fn ancestors(nodes: &[Node], node: usize) -> impl Iterator<Item = usize> + '_ {
    let parent = move |node: usize| {
        let parent = nodes.get(node)?.parent? as usize;
        // A damaged capture may claim a circle.
        (parent < node).then_some(parent)
    };
    std::iter::successors(parent(node), move |node| parent(*node))
}

/// Loops of steps by wider names: only where nothing has the name of a step, so that such a loop around the steps of another name
/// does not stand for them, and not in training.
///
/// ```text
/// step                 |--- 0 ---||--- 1 ---|        steps
///   scheduler_step           |--|      |--|          within one
/// epoch                |---------------------|
///   step               |--- 0 ---||--- 1 ---|        none: training, by the name around them
/// step                 |--- 0 ---||--- 1 ---|        none: training, by what they do
///   backward               |---|     |---|
/// ```
fn add_step_loops(nodes: &[Node], works: &mut [Option<Work>]) {
    let names: Vec<Vec<String>> = nodes.iter().map(|n| words_of_name(&n.name)).collect();
    let mut learns = vec![false; works.len()];
    for (id, words) in names.iter().enumerate() {
        if has_any(words, LEARNS) {
            ancestors(nodes, id).for_each(|above| learns[above] = true);
        }
    }
    for (id, words) in names.iter().enumerate() {
        let is_candidate =
            works[id].is_none() && nodes[id].kind == NodeKind::Iteration && has_any(words, STEPS);
        let mut others = [PREPARES, ENCODES, TRAINS].into_iter();
        if is_candidate && !learns[id] && !others.any(|others| has_any(words, others)) {
            let is_trained = ancestors(nodes, id).any(|above| has_any(&names[above], EPOCHS));
            works[id] = (!is_trained).then_some(Work::Step);
        }
    }
}

fn has_any(words: &[String], any_of: &str) -> bool {
    words.iter().any(|word| any_of.split(' ').any(|one| one == word))
}

const STEPS: &str = "step steps timestep timesteps denoise denoising sampling sampler";
/// A loop with such a word goes over something else.
const TRAINS: &str = "train training optimizer epoch batch dataloader";
/// What lies in something named so is training.
const EPOCHS: &str = "train training epoch epochs";
/// What has something named so in it is training.
const LEARNS: &str = "backward optimizer";
const PREPARES: &str = "load init initialize initialization setup reset clear allocate offload";
const ENCODES: &str = "encode encoder encoding embed embedding vae decode";
/// What is done with the KV cache in a pass over clean frames.
const FILLS: &str = "commit update refresh rerun recompute fill prefill pass write append";
/// A cache with such a word does not answer denoising steps.
const OTHER_CACHES: &str = "kv kvcache prompt text embed embedding embeddings encoder token tokenizer vae weight weights module \
                            compile compiled file disk";

impl Work {
    fn of(name: &str) -> Option<Self> {
        match SectionKind::of(name) {
            Some(SectionKind::InferenceStep) => return Some(Self::Step),
            Some(SectionKind::BlockComputation) => return Some(Self::Block),
            Some(SectionKind::VaeDecode) => return Some(Self::Vae),
            Some(SectionKind::TextEncoding) => return Some(Self::Text),
            None => {}
        }
        let words = words_of_name(name);
        let has = |any_of: &str| has_any(&words, any_of);
        if has(PREPARES) || has(ENCODES) {
            return None;
        }
        if is_clean_pass(&words) {
            return Some(Self::Clean);
        }
        let mut pairs = words.windows(2);
        if pairs.any(|pair| pair == ["sample", "step"]) {
            return Some(Self::Step);
        }
        if has("uncond unconditional unconditioned") {
            return Some(Self::Unconditional);
        }
        has("cond conditional conditioned").then_some(Self::Conditional)
    }
}

/// `kv_cache_commit`, `update_kv`, `clean_context_pass`, `context_rerun`.
fn is_clean_pass(words: &[String]) -> bool {
    let has = |any_of: &str| has_any(words, any_of);
    let follow = |first: &str, second: &str| {
        let mut pairs = words.windows(2);
        pairs.any(|pair| pair[0] == first && has_any(&pair[1..], second))
    };
    (has("kv kvcache") && has(FILLS))
        || has("recache")
        || follow("clean", "context kv cache pass frame frames latent latents")
        || follow("context", "rerun pass commit refresh")
}

/// A cache of this name answers denoising steps, as far as its name tells: it is none for keys and values, prompts or models.
pub(super) fn is_step_cache(name: &str) -> bool {
    !has_any(&words_of_name(name), OTHER_CACHES)
}

#[cfg(test)]
mod tests {
    use super::*;
    use marey::Run;
    use marey_testing::RunBuilder;

    fn names<'a>(run: &'a Run, nodes: &[u32]) -> Vec<&'a str> {
        let name = |node: &u32| run.nodes[*node as usize].name.as_str();
        nodes.iter().map(name).collect()
    }

    #[test]
    fn the_outermost_of_a_kind_stands_for_what_is_within() {
        let run = RunBuilder::new()
            .iteration("block", 0, 90, |s| {
                s.section("denoising_step", 0, 40, |s| {
                    s.section("inference_step", 1, 39, |s| {
                        s.section("block_3", 2, 10, |_| {});
                    });
                });
                s.section("vae_decode", 50, 80, |s| {
                    s.section("vae.decoder", 51, 79, |_| {});
                });
            })
            .finish(100);
        let named = Named::new(&run.nodes);
        assert_eq!(names(&run, &named.steps), ["denoising_step"]);
        assert_eq!(names(&run, &named.blocks), ["block"]);
        assert_eq!(names(&run, &named.vae), ["vae_decode"]);
    }

    fn steps_of(run: &Run) -> Vec<&str> {
        names(run, &Named::new(&run.nodes).steps)
    }

    #[test]
    fn loops_may_have_wider_names_than_sections() {
        for name in [
            "step",
            "steps",
            "sample_step",
            "sampling_step",
            "denoise",
            "denoising",
            "Sampler",
            "timesteps",
        ] {
            let run = RunBuilder::new().iteration(name, 0, 10, |_| {}).finish(20);
            assert_eq!(steps_of(&run), [name]);
        }
        for name in ["chunk", "train_step", "optimizer_step", "batch_step", "load_steps"] {
            let run = RunBuilder::new().iteration(name, 0, 10, |_| {}).finish(20);
            assert_eq!(steps_of(&run), Vec::<&str>::new(), "{name}");
        }
        let sections = ["step", "denoise", "sampling", "sample_step"];
        let of = |name| RunBuilder::new().section(name, 0, 10, |_| {}).finish(20);
        let known = sections.map(|name| steps_of(&of(name)).len());
        assert_eq!(known, [0, 0, 0, 1]);
    }

    #[test]
    fn the_outermost_loop_counts_unless_one_has_the_name_of_a_step() {
        let within = |outer: &str, inner: &str| {
            let run = RunBuilder::new().iteration(outer, 0, 90, |s| {
                s.iteration(inner, 1, 40, |_| {});
            });
            run.finish(100)
        };
        assert_eq!(steps_of(&within("step", "scheduler_step")), ["step"]);
        assert_eq!(steps_of(&within("sampling", "denoising_step")), ["denoising_step"]);
    }

    #[test]
    fn steps_of_training_are_no_denoising() {
        let run = RunBuilder::new()
            .section("epoch", 0, 40, |s| {
                s.iteration("step", 1, 39, |_| {});
            })
            .iteration("step", 50, 90, |s| {
                s.section("loss.backward", 51, 89, |_| {});
            })
            .finish(100);
        assert_eq!(steps_of(&run), Vec::<&str>::new());
    }

    #[test]
    fn passes_over_clean_context_are_told_by_their_names() {
        for name in [
            "kv_cache_commit",
            "update_kv_cache",
            "KVCacheUpdate",
            "clean_context",
            "pipeline.clean_context_pass",
            "context_rerun",
        ] {
            assert!(Work::of(name) == Some(Work::Clean), "{name}");
        }
        for name in ["kv_cache_init", "load_kv_cache", "clean_up", "context", "cache_update"] {
            assert!(Work::of(name).is_none(), "{name}");
        }
    }

    #[test]
    fn conditional_and_unconditional_passes_are_two_things() {
        assert!(Work::of("cond_pass") == Some(Work::Conditional));
        assert!(Work::of("transformer.uncond") == Some(Work::Unconditional));
        assert!(Work::of("UnconditionalForward") == Some(Work::Unconditional));
        for name in ["conditioning", "second", "cond_encoder", "condition"] {
            assert!(Work::of(name).is_none(), "{name}");
        }
    }

    #[test]
    fn caches_of_keys_and_prompts_answer_no_steps() {
        assert!(is_step_cache("teacache") && is_step_cache("first_block_cache"));
        assert!(!is_step_cache("kv_cache") && !is_step_cache("PromptEmbeddings"));
    }
}
