//! What to record and report: keys, layers, the environment, and which switch a section falls under.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt::Write;
use std::os::unix::ffi::OsStrExt;

use marey::profiling_config::{
    CheckedLayer, Entry, KEYS, Key, KeyKind, Layer, Layers, RawValue, SectionKind, Setting,
};
use marey::{ProfilingConfig, Value};
use proptest::prelude::*;

use crate::program::{captures, recorded};

/// A value of a key that is not its default, as a program gives it and as a variable says it.
fn other_than_default(key: &Key) -> (RawValue, &'static str) {
    match key.kind {
        KeyKind::Switch => {
            let settings = ProfilingConfig::default().settings();
            let (_, was) = settings.iter().find(|(k, _)| k.name == key.name).unwrap();
            let is_on = *was == Setting::Switch(false);
            (RawValue::Bool(is_on), if is_on { "yes" } else { "no" })
        }
        KeyKind::Seconds => (RawValue::Float(0.25), "0.25"),
        KeyKind::Points => (RawValue::Int(77), "77"),
        KeyKind::Format => (RawValue::Text("html".into()), "html"),
        KeyKind::Folder => (RawValue::Text("elsewhere".into()), "elsewhere"),
        KeyKind::Tags => {
            let tag = Entry::new("k", RawValue::Text("v".into()));
            (RawValue::Mapping(vec![tag]), "k=v")
        }
        KeyKind::Limits => {
            let limit = Entry::new("frames_per_second", RawValue::Int(5));
            (RawValue::Mapping(vec![limit]), "frames_per_second=5")
        }
    }
}

fn variables(given: &[(&str, &str)]) -> CheckedLayer {
    let given: BTreeMap<&str, &str> = given.iter().copied().collect();
    CheckedLayer::of_variables(&|name| given.get(name).map(OsString::from))
}

fn keywords(given: Vec<(&str, RawValue)>) -> CheckedLayer {
    let entries: Vec<_> = given.into_iter().map(|(name, value)| Entry::new(name, value)).collect();
    CheckedLayer::of_keywords(&entries)
}

#[test]
fn tags_of_a_stronger_layer_replace_all_of_a_weaker_one() {
    let layers = Layers {
        environment: variables(&[("MAREY_SESSION_TAGS", "model=a,seed=7")]).layer,
        keywords: keywords(vec![("session_tags", RawValue::Mapping(vec![]))]).layer,
        ..Layers::default()
    };
    assert_eq!(layers.config().session_tags, []);
}

#[test]
fn the_origin_of_a_variable_is_its_name() {
    let layers = Layers {
        environment: variables(&[
            ("MAREY_GPU_MONITOR_INTERVAL", "2"),
            ("FRAMEPACK_ENABLE_PROFILING", "1"),
        ])
        .layer,
        ..Layers::default()
    };
    let origin = |name| layers.origin(Key::of(name).unwrap()).to_string();
    assert_eq!(origin("gpu_monitor_interval"), "MAREY_GPU_MONITOR_INTERVAL");
    assert_eq!(origin("enabled"), "FRAMEPACK_ENABLE_PROFILING");
    assert_eq!(origin("display_interval"), "default");
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
            let layer = variables(&[(variable, text)]).strict().unwrap();
            let (said, _) = layer.get(Key::of(key).unwrap()).unwrap();
            assert_eq!(*said, Setting::Switch(expected), "{variable}={text}");
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
        (
            "MAREY_SESSION_TAGS",
            "a=1,a=2",
            "`session_tags` is the text \"a=1,a=2\", but must be name=value pairs with commas between",
        ),
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
    let layers = Layers { environment: checked.layer, ..Layers::default() };
    let expected = ProfilingConfig { display_interval: 2.0, ..ProfilingConfig::default() };
    assert_eq!(layers.config(), expected);
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
    let layer = CheckedLayer::of_variables(&|name| match name {
        "MAREY_SESSION_TAGS" => Some("seed=7, note=a=b".into()),
        "MAREY_OUTPUT_DIR" => Some(OsStr::from_bytes(b"caf\xe9").into()),
        _ => None,
    });
    let layers = Layers { environment: layer.strict().unwrap(), ..Layers::default() };
    let config = layers.config();
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
    for key in KEYS.iter().filter(|key| key.argument.is_none()) {
        command.env(key.variable(), other_than_default(key).1);
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
        let layers = Layers {
            keywords: keywords(vec![(key, RawValue::Bool(false))]).layer,
            ..Layers::default()
        };
        let config = layers.config();
        for (name, its_key) in names {
            assert_eq!(config.records(name), its_key != key, "{name} under {key}");
        }
        assert!(config.records("vae_encode"));
    }
}

#[test]
fn the_guide_has_the_table_of_keys() {
    let guide = include_str!("../../../../docs/guide.md");
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
        guide.contains(&format!("\n{expected}\n")),
        "docs/guide.md, section Configuration, should have\n{expected}"
    );
}

fn layer() -> impl Strategy<Value = Layer> {
    prop::collection::vec((0..KEYS.len(), any::<bool>()), 0..12).prop_map(|given| {
        let entries = given.into_iter().map(|(i, is_other)| {
            let default = match other_than_default(&KEYS[i]).0 {
                RawValue::Bool(v) => RawValue::Bool(!v),
                RawValue::Text(_) if KEYS[i].kind == KeyKind::Format => {
                    RawValue::Text("json".into())
                }
                RawValue::Text(_) => RawValue::Null,
                RawValue::Mapping(_) => RawValue::Mapping(vec![]),
                _ => RawValue::Int(9),
            };
            let value = if is_other { other_than_default(&KEYS[i]).0 } else { default };
            Entry::new(KEYS[i].name, value)
        });
        CheckedLayer::of_keywords(&entries.collect::<Vec<_>>()).strict().unwrap()
    })
}

proptest! {
    #[test]
    fn layers_can_be_put_together_in_any_grouping(a in layer(), b in layer(), c in layer()) {
        let left = a.clone().over(b.clone()).over(c.clone());
        let right = a.clone().over(b.over(c));
        prop_assert_eq!(left, right);
        prop_assert_eq!(a.clone().over(Layer::default()), a.clone());
        prop_assert_eq!(Layer::default().over(a.clone()), a);
    }

    #[test]
    fn no_name_of_a_section_is_too_strange(name in any::<String>()) {
        ProfilingConfig::default().records(&name);
    }
}
