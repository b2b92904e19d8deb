//! What to record and report: keys, layers, the environment, and which switch a section falls under.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt::Write;
use std::os::unix::ffi::OsStrExt;

use marey::profiling_config::{Entry, KEYS, Layers, RawValue, SectionKind};
use marey::{ProfilingConfig, Value};
use proptest::prelude::*;

use crate::program::{captures, recorded};

/// The text of a variable by which a key is not what it is by default.
fn other_than_default(key: &str) -> &'static str {
    match (key, default_of(key).as_str()) {
        (_, "true") => "no",
        (_, "false") => "yes",
        ("report_format", _) => "html",
        ("output_dir", _) => "elsewhere",
        ("session_tags", _) => "k=v",
        ("thresholds", _) => "frames_per_second=5",
        _ => "77",
    }
}

fn default_of(key: &str) -> String {
    setting(&ProfilingConfig::default(), key)
}

fn setting(config: &ProfilingConfig, name: &str) -> String {
    config.settings().into_iter().find(|(key, _)| key.name == name).unwrap().1
}

fn variables(given: &[(&str, &str)]) -> Layers {
    let given: BTreeMap<&str, &str> = given.iter().copied().collect();
    Layers::default().variables(&|name| given.get(name).map(OsString::from))
}

#[test]
fn tags_of_a_stronger_layer_replace_all_of_a_weaker_one() {
    let layers = variables(&[("MAREY_SESSION_TAGS", "model=a,seed=7")]);
    let none = Entry::new("session_tags", RawValue::Mapping(vec![]));
    let config = layers.keys("keyword", [none]).strict().unwrap();
    assert_eq!(config.session_tags, []);
}

#[test]
fn every_key_has_a_variable() {
    for key in KEYS {
        let name = key.variable();
        let config = variables(&[(&name, other_than_default(key.name))]).strict().unwrap();
        for other in KEYS {
            let is_default = setting(&config, other.name) == default_of(other.name);
            assert_eq!(is_default, other.name != key.name, "{} by {name}", other.name);
        }
    }
}

#[test]
fn booleans_of_the_environment_have_eight_words() {
    for (text, expected) in [
        ("1", true),
        ("true", true),
        ("Yes", true),
        ("ON", true),
        ("0", false),
        ("false", false),
        ("no", false),
        ("Off", false),
    ] {
        for (variable, key) in
            [("MAREY_SAVE_RAW_DATA", "save_raw_data"), ("MAREY_ENABLED", "enabled")]
        {
            let config = variables(&[(variable, text)]).strict().unwrap();
            assert_eq!(setting(&config, key), expected.to_string(), "{variable}={text}");
        }
    }
}

#[test]
fn a_variable_that_does_not_fit_is_named_with_what_would() {
    for (name, text, expected) in [
        (
            "MAREY_GPU_MONITOR_INTERVAL",
            "fast",
            "`gpu_monitor_interval` is the text \"fast\", but must be a number of seconds from 0.01 to 86400",
        ),
        (
            "MAREY_GPU_MONITOR_INTERVAL",
            "inf",
            "`gpu_monitor_interval` is the number inf, but must be a number of seconds from 0.01 to 86400",
        ),
        (
            "MAREY_MAX_DATA_POINTS",
            "1.5",
            "`max_data_points` is the text \"1.5\", but must be a whole number, at least 2",
        ),
        (
            "MAREY_MONITOR_GPU_POWER",
            "maybe",
            "`monitor_gpu_power` is the text \"maybe\", but must be true or false",
        ),
        (
            "MAREY_SESSION_TAGS",
            "model=a,seed",
            "`session_tags` is the text \"model=a,seed\", but must be name=value pairs with commas between",
        ),
        ("MAREY_SESSION_TAGS", "a=1,a=2", "`session_tags` has `a` twice"),
        (
            "MAREY_THRESHOLDS",
            "frames_per_second",
            "`thresholds` is the text \"frames_per_second\", but must be name=number pairs with commas between",
        ),
        (
            "MAREY_THRESHOLDS",
            "frames_per_second=fast",
            "`thresholds.frames_per_second` is the text \"fast\", but must be a number, 0 or more",
        ),
        (
            "MAREY_THRESHOLDS",
            "stage_ratio=-1",
            "`thresholds.stage_ratio` is the number -1.0, but must be a number, 0 or more",
        ),
        (
            "MAREY_THRESHOLDS",
            "frame_per_second=5",
            "unknown key `thresholds.frame_per_second`; did you mean `frames_per_second`?",
        ),
    ] {
        let error = variables(&[(name, text)]).strict().unwrap_err();
        assert_eq!(error.to_string(), format!("{name}: {expected}"));
    }
}

#[test]
fn a_tolerant_environment_leaves_out_what_does_not_fit() {
    let checked = variables(&[
        ("MAREY_GPU_MONITOR_INTERVAL", "fast"),
        ("MAREY_DISPLAY_INTERVAL", "2"),
        ("MAREY_CPU_MONITOR_INTERVAL", ""),
    ]);
    assert_eq!(checked.errors.len(), 1);
    let expected = ProfilingConfig { display_interval: 2.0, ..ProfilingConfig::default() };
    assert_eq!(checked.config, expected);
}

#[test]
fn limits_that_a_program_set_by_itself_are_checked() {
    let of = |name: &str, value| ProfilingConfig {
        thresholds: vec![(name.into(), value)],
        ..ProfilingConfig::default()
    };
    assert!(of("stage_ratio", 0.5).check().is_ok());
    let error = of("stage_ratio", f64::NAN).check().unwrap_err();
    assert_eq!(error.key(), Some("thresholds.stage_ratio"));
    let error = of("stages", 0.5).check().unwrap_err();
    assert_eq!(error.key(), Some("thresholds.stages"));
}

#[test]
fn limits_become_facts_of_the_capture() {
    let folder = tempfile::tempdir().unwrap();
    recorded("endings", folder.path())
        .env("MAREY_THRESHOLDS", "frames_per_second=5,stage_ratio=0.5")
        .arg("return")
        .output()
        .unwrap();
    let run = marey::load(&captures(folder.path())[0]).unwrap();
    let is_limit = |(key, _): &&(String, String)| key.starts_with("profiling.thresholds");
    let facts: Vec<&(String, String)> = run.info.facts.iter().filter(is_limit).collect();
    let pair = |key: &str, value: &str| (format!("profiling.thresholds.{key}"), value.to_owned());
    let expected = [pair("frames_per_second", "5.0"), pair("stage_ratio", "0.5")];
    assert_eq!(facts, expected.iter().collect::<Vec<_>>());
    let limits = marey::Thresholds::of(&run);
    assert!(limits.frames_per_second < 5.5 && limits.stage_ratio > 0.4);
}

#[test]
fn tags_of_the_environment_are_text_and_folders_any_bytes() {
    let layers = Layers::default().variables(&|name| match name {
        "MAREY_SESSION_TAGS" => Some("seed=7, note=a=b".into()),
        "MAREY_OUTPUT_DIR" => Some(OsStr::from_bytes(b"caf\xe9").into()),
        _ => None,
    });
    let config = layers.strict().unwrap();
    let text = |v: &str| Value::Text(v.into());
    let expected = [("seed".into(), text("7")), ("note".into(), text("a=b"))];
    assert_eq!(config.session_tags, expected);
    assert_eq!(config.output_folder().as_os_str(), OsStr::from_bytes(b"caf\xe9"));
}

#[test]
fn fields_that_a_program_set_are_checked() {
    assert!(ProfilingConfig::default().check().is_ok());
    let never = ProfilingConfig { cpu_monitor_interval: f64::NAN, ..ProfilingConfig::default() };
    assert_eq!(
        never.check().unwrap_err().to_string(),
        "keyword: `cpu_monitor_interval` is the number NaN, but must be a number of seconds from 0.01 to 86400"
    );
    let too_few = ProfilingConfig { max_data_points: 1, ..ProfilingConfig::default() };
    assert_eq!(too_few.check().unwrap_err().key(), Some("max_data_points"));
}

#[test]
fn the_recorder_knows_the_variable_of_every_key_and_names_the_nearest() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = recorded("endings", folder.path());
    for key in KEYS.iter().filter(|key| !["enabled", "output_dir"].contains(&key.name)) {
        command.env(key.variable(), other_than_default(key.name));
    }
    let output = command
        .env("MAREY_PROFILING_CONFIG", "")
        .env("MAREY_INSTRUMENT", "0")
        .env("MAREY_GPU_MONITOR_INTERVALL", "1")
        .env("MAREY_SOMETHING_ELSE", "1")
        .arg("return")
        .output()
        .unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    let mut lines: Vec<&str> = said.lines().collect();
    lines.sort_unstable();
    let expected = [
        "marey: MAREY_GPU_MONITOR_INTERVALL is not a variable that Marey knows, and changes nothing; did you mean \
         MAREY_GPU_MONITOR_INTERVAL?",
        "marey: MAREY_SOMETHING_ELSE is not a variable that Marey knows; it changes nothing",
    ];
    assert_eq!(lines, expected);
}

#[test]
fn the_alias_switches_the_recorder_on_and_no_switches_it_off() {
    for (variables, n_captures) in [
        (vec![("MAREY_ENABLED", "2")], 1),
        (vec![("MAREY_ENABLED", "")], 0),
        (vec![("FRAMEPACK_ENABLE_PROFILING", "1")], 1),
        (vec![("FRAMEPACK_ENABLE_PROFILING", "0")], 0),
        (vec![("FRAMEPACK_ENABLE_PROFILING", "")], 0),
        (vec![("FRAMEPACK_ENABLE_PROFILING", "1"), ("MAREY_ENABLED", "no")], 0),
    ] {
        let folder = tempfile::tempdir().unwrap();
        recorded("endings", folder.path())
            .env_remove("MAREY_ENABLED")
            .envs(variables.iter().copied())
            .arg("return")
            .output()
            .unwrap();
        assert_eq!(captures(folder.path()).len(), n_captures, "{variables:?}");
    }
}

#[test]
fn sections_fall_under_a_switch_by_their_names() {
    use SectionKind::{BlockComputation, InferenceStep, TextEncoding, VaeDecode};
    for (kind, names) in [
        (
            Some(TextEncoding),
            "text_encoding text_encoding_positive text_encode encode_text encode_prompt text_encoder text_encoder_2 \
             text_encoder_forward prompt_encoding TextEncoder.forward StableDiffusionPipeline.encode_prompt \
             T5TextEncoder text-encoding text/encoder pipeline::text_encoder",
        ),
        (
            Some(VaeDecode),
            "vae_decode vae.decode vae_decode_full_chunk_0 decode_latents latent_decode vae_decoding vae_decoder VaeDecode \
             VAEDecode wan_vae_decode AutoencoderKL.decode models.vae.decode decode_vae vae/decode",
        ),
        (
            Some(InferenceStep),
            "inference_step denoising_step denoise_step diffusion_step sampling_step denoising_step_12 InferenceStep \
             denoising-step warm_up_denoising_step",
        ),
        (
            Some(BlockComputation),
            "block block_3 Block block_computation block_processing process_block compute_block causal_block_generation",
        ),
        (
            None,
            "vae_encode vae vae.encode decode text image_encoder text_encoder_loading load_text_encoder offload_vae_decoder \
             scheduler_step scheduler.step step denoising_steps denoising_loop denoise transformer_block blocks \
             block_swap unblock context textual_inversion video_decode_h264 app.vae.decoders.load step_inference 7 _ .",
        ),
    ] {
        for name in names.split(' ').filter(|name| !name.is_empty()) {
            assert_eq!(SectionKind::of(name), kind, "{name}");
        }
    }
    assert_eq!(SectionKind::of(""), None);
    assert_eq!(SectionKind::of("sampling step"), Some(InferenceStep));
    // The module that a function lies in says nothing about it.
    assert_eq!(SectionKind::of("app.vae_decode.Cache.lookup"), None);
}

#[test]
fn a_switch_keeps_out_sections_of_its_kind_only() {
    let names = [
        ("denoising_step", "profile_inference_steps"),
        ("vae_decode", "profile_vae_decode"),
        ("encode_prompt", "profile_text_encoding"),
        ("block", "profile_block_computation"),
    ];
    assert!(names.map(|(name, _)| name).iter().all(|name| {
        ProfilingConfig::default().records(name) && ProfilingConfig::default().records("other")
    }));
    for (_, key) in names {
        let off = Entry::new(key, RawValue::Bool(false));
        let config = Layers::default().keys("keyword", [off]).strict().unwrap();
        for (name, its_key) in names {
            assert_eq!(config.records(name), its_key != key, "{name} under {key}");
        }
        assert!(config.records("vae_encode"));
    }
}

#[test]
fn the_documentation_has_the_table_of_keys() {
    let page = include_str!("../../../../docs/reference/configuration.md");
    let mut expected =
        String::from("| key | default | what it does | variable |\n|---|---|---|---|\n");
    for (key, default) in ProfilingConfig::default().settings() {
        writeln!(
            expected,
            "| `{}` | `{default}` | {} | `{}` |",
            key.name,
            key.meaning(),
            key.variable()
        )
        .unwrap();
    }
    assert!(
        page.contains(&format!("\n{expected}\n")),
        "docs/reference/configuration.md should have\n{expected}"
    );
}

proptest! {
    #[test]
    fn no_name_of_a_section_is_too_strange(name in any::<String>()) {
        ProfilingConfig::default().records(&name);
    }
}
