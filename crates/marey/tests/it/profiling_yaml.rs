//! Configurations in YAML files: what they mean, and what is said of wrong ones.

use std::fmt::Write;
use std::path::Path;

use marey::profiling_config::{ConfigError, Layers, ReportFormat};
use marey::{ProfilingConfig, Value};

/// The configuration of a file in the data folder, with nothing above it.
fn document(name: &str) -> ProfilingConfig {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name);
    Layers::default().yaml(&path).strict().unwrap()
}

fn read(text: impl AsRef<[u8]>) -> Layers {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.yaml");
    std::fs::write(&path, text).unwrap();
    Layers::default().yaml(&path)
}

fn accepted(text: &str) -> ProfilingConfig {
    read(text).strict().unwrap()
}

/// The one thing that is wrong, without the folder of the file.
fn refused(text: impl AsRef<[u8]>) -> String {
    let errors = read(text).errors;
    assert_eq!(errors.len(), 1, "{errors:?}");
    shown(&errors[0])
}

fn shown(error: &ConfigError) -> String {
    let text = error.to_string();
    let at = text.find("p.yaml").unwrap();
    text[at..].to_owned()
}

fn text(value: &str) -> Value {
    Value::Text(value.into())
}

#[test]
fn the_example_is_read_value_by_value() {
    let expected = ProfilingConfig {
        enabled: true,
        real_time_display: true,
        display_interval: 3.0,
        gpu_monitor_interval: 0.5,
        monitor_gpu_memory: true,
        monitor_gpu_utilization: true,
        monitor_gpu_temperature: true,
        monitor_gpu_power: true,
        cpu_monitor_interval: 1.0,
        monitor_cpu_usage: true,
        monitor_system_memory: true,
        generate_final_report: true,
        report_format: ReportFormat::Both,
        output_dir: Some("./example/self_forcing/profiling_reports".into()),
        save_raw_data: false,
        max_data_points: 10_000,
        profile_inference_steps: true,
        profile_vae_decode: true,
        profile_text_encoding: true,
        profile_diffusion_steps: true,
        profile_block_computation: true,
        profile_model_parameters: true,
        torch_ranges: false,
        session_tags: vec![
            ("model".into(), text("self_forcing")),
            ("experiment".into(), text("performance_analysis")),
        ],
        thresholds: vec![],
    };
    assert_eq!(document("profiling_example.yaml"), expected);
}

#[test]
fn the_development_configuration_is_read_value_by_value() {
    let expected = ProfilingConfig {
        enabled: true,
        real_time_display: true,
        display_interval: 1.0,
        gpu_monitor_interval: 0.1,
        monitor_gpu_memory: true,
        monitor_gpu_utilization: true,
        monitor_gpu_temperature: true,
        monitor_gpu_power: true,
        cpu_monitor_interval: 0.5,
        monitor_cpu_usage: true,
        monitor_system_memory: true,
        generate_final_report: true,
        report_format: ReportFormat::Both,
        output_dir: Some("./debug_profiling".into()),
        save_raw_data: true,
        max_data_points: 10_000,
        profile_inference_steps: true,
        profile_vae_decode: true,
        profile_text_encoding: true,
        profile_diffusion_steps: true,
        profile_block_computation: true,
        profile_model_parameters: true,
        torch_ranges: false,
        session_tags: vec![
            ("mode".into(), text("debug")),
            ("detailed_analysis".into(), Value::Bool(true)),
        ],
        thresholds: vec![],
    };
    assert_eq!(document("profiling_development.yaml"), expected);
}

#[test]
fn the_production_configuration_is_read_value_by_value() {
    let expected = ProfilingConfig {
        enabled: true,
        real_time_display: false,
        display_interval: 5.0,
        gpu_monitor_interval: 1.0,
        monitor_gpu_memory: true,
        monitor_gpu_utilization: true,
        monitor_gpu_temperature: false,
        monitor_gpu_power: false,
        cpu_monitor_interval: 2.0,
        monitor_cpu_usage: false,
        monitor_system_memory: true,
        generate_final_report: true,
        report_format: ReportFormat::Json,
        output_dir: Some("./production_profiling".into()),
        save_raw_data: false,
        max_data_points: 5_000,
        profile_inference_steps: true,
        profile_vae_decode: true,
        profile_text_encoding: false,
        profile_diffusion_steps: true,
        profile_block_computation: true,
        profile_model_parameters: true,
        torch_ranges: false,
        session_tags: vec![
            ("mode".into(), text("production")),
            ("minimal_overhead".into(), Value::Bool(true)),
        ],
        thresholds: vec![],
    };
    let config = document("profiling_production.yaml");
    assert_eq!(config, expected);
    assert!(!config.records("text_encoding") && config.records("vae_decode"));
}

#[test]
fn a_file_that_says_nothing_leaves_the_defaults() {
    for text in [
        "",
        "# nothing\n",
        "---\n",
        "{}\n",
        "profiling:\n",
        "profiling: {}\n",
        "profiling:\n  session_tags:\n",
        "profiling:\n  thresholds:\n",
        "profiling:\n  output_dir: null\n",
    ] {
        assert_eq!(accepted(text), ProfilingConfig::default(), "{text:?}");
    }
}

#[test]
fn a_tag_is_what_was_written() {
    let written = [
        "695e0514",
        "1.10",
        "017",
        "0x1F",
        "0o17",
        ".inf",
        "1e-4",
        "+2",
        "123456789012345678901234567890",
    ];
    let block = written.map(|tag| format!("    t: {tag}   # as it is\n"));
    let flow = written.map(|tag| format!("    {{s: 0, t: {tag}}}\n"));
    for (tag, tags) in written.iter().cycle().zip(block.iter().chain(&flow)) {
        let config = accepted(&format!("profiling:\n  session_tags:\n{tags}"));
        let found = config.session_tags.last().unwrap();
        assert_eq!(*found, ("t".to_owned(), text(tag)), "{tags}");
    }
}

#[test]
fn a_tag_is_what_was_written_where_its_anchor_stands() {
    let config = accepted(
        "\u{feff}seed: &seed 7\nversion: &version 1.10\nprofiling:\n  session_tags: {s: *seed, v: *version}\n",
    );
    let expected = [("s", Value::Int(7)), ("v", text("1.10"))];
    assert_eq!(config.session_tags, expected.map(|(name, value)| (name.to_owned(), value)));
}

#[test]
fn tags_keep_their_types_and_their_order() {
    let config = accepted(
        "profiling:\n  session_tags:\n    z: 7\n    a: '7'\n    f: 7.5\n    b: false\n    t: yes\n    5: five\n",
    );
    let expected = [
        ("z", Value::Int(7)),
        ("a", text("7")),
        ("f", Value::Float(7.5)),
        ("b", Value::Bool(false)),
        ("t", text("yes")),
        ("5", text("five")),
    ];
    let expected = expected.map(|(name, value)| (name.to_owned(), value));
    assert_eq!(config.session_tags, expected);
}

#[test]
fn whole_seconds_sections_of_others_and_aliases_are_read() {
    let config = accepted(
        "model: {enabled_blocks: 3}\nprofiling:\n  display_interval: &often 2\n  cpu_monitor_interval: *often\n",
    );
    assert_eq!((config.display_interval, config.cpu_monitor_interval), (2.0, 2.0));
}

#[test]
fn an_unknown_key_is_named_with_its_line_and_the_nearest_valid_key() {
    for (line, expected) in [
        (
            "gpu_monitor_intervall: 1",
            "unknown key `gpu_monitor_intervall`; did you mean `gpu_monitor_interval`?",
        ),
        (
            "Monitor-GPU-Memory: true",
            "unknown key `Monitor-GPU-Memory`; did you mean `monitor_gpu_memory`?",
        ),
        (
            "monitor_gpu_usage: true",
            "unknown key `monitor_gpu_usage`; did you mean `monitor_cpu_usage`?",
        ),
        ("enable: true", "unknown key `enable`; did you mean `enabled`?"),
        ("colour: red", "unknown key `colour`; no valid key has a similar name"),
    ] {
        let text = format!("profiling:\n  enabled: true\n  {line}\n");
        let expected = format!("p.yaml, line 3, column 3: {expected}");
        assert_eq!(refused(&text), expected);
    }
}

#[test]
fn a_value_that_does_not_fit_is_named_with_line_key_found_and_expected() {
    let seconds = "a number of seconds from 0.01 to 86400";
    let switch = "true or false";
    for (line, found, expected) in [
        ("enabled: yes", "the text \"yes\"", "true or false; write true, without quotes"),
        ("enabled: \"true\"", "the text \"true\"", "true or false; write true, without quotes"),
        ("enabled: Off", "the text \"Off\"", "true or false; write false, without quotes"),
        ("enabled: maybe", "the text \"maybe\"", switch),
        ("enabled: 1", "the number 1", switch),
        ("enabled:", "nothing (null)", switch),
        ("enabled: [true]", "a list", switch),
        ("display_interval: 0", "the number 0", seconds),
        ("display_interval: 0.009", "the number 0.009", seconds),
        ("display_interval: -1.5", "the number -1.5", seconds),
        ("display_interval: .inf", "the number inf", seconds),
        ("display_interval: .nan", "the number NaN", seconds),
        ("display_interval: 1e6", "the number 1000000.0", seconds),
        ("display_interval: '1'", "the text \"1\"", seconds),
        ("display_interval: 3 s", "the text \"3 s\"", seconds),
        ("max_data_points: 1", "the number 1", "a whole number, at least 2"),
        ("max_data_points: 1e4", "the number 10000.0", "a whole number, at least 2"),
        (
            "max_data_points: 9223372036854775808",
            "a whole number of more than 64 bits",
            "a whole number, at least 2",
        ),
        ("report_format: pdf", "the text \"pdf\"", "html, json or both"),
        ("report_format: [html, json]", "a list", "html, json or both"),
        ("output_dir: 2026", "the number 2026", "the path of a folder as text, or null"),
        ("output_dir: ''", "the text \"\"", "the path of a folder as text, or null"),
        ("session_tags: production", "the text \"production\"", "a mapping of names to values"),
        ("thresholds: 5", "the number 5", "a mapping of names to numbers"),
    ] {
        let key = line.split(':').next().unwrap();
        let text = format!("profiling:\n\n  {line}\n");
        let said = refused(&text);
        assert!(said.starts_with("p.yaml, line 3, column "), "{said}");
        let problem = format!(": `{key}` is {found}, but must be {expected}");
        assert!(said.ends_with(&problem), "{said}\n{problem}");
    }
}

#[test]
fn a_tag_that_does_not_fit_is_named_with_its_own_line() {
    let said = refused("profiling:\n  session_tags:\n    a: 1\n    sizes: [1, 2]\n");
    assert_eq!(
        said,
        "p.yaml, line 4, column 12: `session_tags.sizes` is a list, but must be text, a number, true or false"
    );
}

#[test]
fn limits_are_numbers_of_known_names() {
    let config = accepted(
        "profiling:\n  thresholds: {frames_per_second: 5, stage_ratio: 0.5, model_parameters: 2e9}\n",
    );
    let expected = [
        ("frames_per_second".into(), 5.0),
        ("stage_ratio".into(), 0.5),
        ("model_parameters".into(), 2e9),
    ];
    assert_eq!(config.thresholds, expected);
    assert_eq!(
        refused("profiling:\n  thresholds:\n    stage_ratio: 0.5\n    frame_per_second: 5\n"),
        "p.yaml, line 4, column 5: unknown key `thresholds.frame_per_second`; did you mean `frames_per_second`?"
    );
    assert_eq!(
        refused("profiling:\n  thresholds:\n    stage_ratio: most\n"),
        "p.yaml, line 3, column 18: `thresholds.stage_ratio` is the text \"most\", but must be a number, 0 or more"
    );
}

#[test]
fn a_key_that_stands_twice_is_refused() {
    assert_eq!(
        refused("profiling:\n  enabled: true\n  enabled: false\n"),
        "p.yaml, line 3, column 3: `enabled` stands here for the second time"
    );
    assert_eq!(
        refused("profiling:\n  session_tags: {a: 1, a: 1}\n"),
        "p.yaml, line 2, column 24: `a` stands here for the second time"
    );
}

#[test]
fn a_missing_root_is_named() {
    assert_eq!(
        refused("enabled: true\n"),
        "p.yaml, line 1, column 1: the key `profiling:` is missing, below which all others stand; found `enabled`"
    );
    assert_eq!(
        refused("- enabled\n"),
        "p.yaml: the key `profiling:` is missing, below which all others stand; found a list"
    );
    assert_eq!(
        refused("profiling: true\n"),
        "p.yaml, line 1, column 12: the keys must be a mapping of keys to values, found true"
    );
    assert_eq!(
        refused("profiling:\n  enabled: true\nsession_tags:\n  a: 1\n"),
        "p.yaml, line 3, column 1: `session_tags` stands beside `profiling:`, not below it; indent it"
    );
}

#[test]
fn what_is_no_yaml_is_refused_with_its_line() {
    for (text, expected) in [
        ("profiling:\n\tenabled: true\n", "p.yaml, line 2, column 2:"),
        ("profiling: {enabled: true\n", "p.yaml, line 1, column 12:"),
        ("profiling:\n  output_dir: *nowhere\n", "p.yaml, line 2, column 15:"),
        ("profiling:\n---\nprofiling:\n", "p.yaml, line 3, column 1:"),
    ] {
        let said = refused(text);
        assert!(said.starts_with(&format!("{expected} not usable as YAML: ")), "{said}");
        assert_eq!(said.matches("line").count(), 1, "{said}");
    }
    assert_eq!(
        refused(b"profiling:\n  output_dir: \xff\n"),
        "p.yaml: not usable as YAML: not UTF-8"
    );
}

#[test]
fn bombs_are_refused() {
    let mut bomb = String::from("a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n");
    for level in 1..12 {
        let below = vec![format!("*a{}", level - 1); 10].join(",");
        writeln!(bomb, "a{level}: &a{level} [{below}]").unwrap();
    }
    for text in
        [bomb, "[".repeat(100_000), format!("profiling:\n  output_dir: {}\n", "x".repeat(1 << 20))]
    {
        assert!(refused(text).contains("not usable as YAML: "));
    }
}

#[test]
fn a_tolerant_reader_takes_what_fits_and_names_the_rest() {
    let checked = read(
        "profiling:\n  enabled: on\n  display_interval: 2\n  colour: red\n  max_data_points: 0\n",
    );
    let keys: Vec<_> = checked.errors.iter().map(|error| error.key()).collect();
    assert_eq!(keys, [Some("enabled"), Some("colour"), Some("max_data_points")]);
    let lines = checked.errors.iter().map(|error| error.position().unwrap().line);
    assert_eq!(lines.collect::<Vec<_>>(), [2, 4, 5]);
    let expected = ProfilingConfig { display_interval: 2.0, ..ProfilingConfig::default() };
    assert_eq!(checked.config, expected);
}
