"""The three configurations of the Self-Forcing guide, and what they say besides the defaults."""

from __future__ import annotations

BASIC = """
profiling:
  enabled: true
  real_time_display: true
  display_interval: 3.0
  gpu_monitor_interval: 0.5
  monitor_gpu_memory: true
  monitor_gpu_utilization: true
  monitor_gpu_temperature: true
  monitor_gpu_power: true
  cpu_monitor_interval: 1.0
  monitor_cpu_usage: true
  monitor_system_memory: true
  generate_final_report: true
  report_format: "both"
  output_dir: "./example/self_forcing/profiling_reports"
  max_data_points: 10000
  profile_inference_steps: true
  profile_vae_decode: true
  profile_text_encoding: true
  session_tags:
    model: "self_forcing"
    experiment: "performance_analysis"
"""

DEVELOPMENT = """
profiling:
  enabled: true
  real_time_display: true
  display_interval: 1.0
  gpu_monitor_interval: 0.1
  cpu_monitor_interval: 0.5
  generate_final_report: true
  report_format: "both"
  save_raw_data: true
  output_dir: "./debug_profiling"
  profile_inference_steps: true
  profile_vae_decode: true
  profile_text_encoding: true
  session_tags:
    mode: "debug"
    detailed_analysis: true
"""

PRODUCTION = """
profiling:
  enabled: true
  real_time_display: false
  gpu_monitor_interval: 1.0
  cpu_monitor_interval: 2.0
  monitor_gpu_memory: true
  monitor_gpu_utilization: true
  monitor_gpu_temperature: false
  monitor_gpu_power: false
  monitor_cpu_usage: false
  monitor_system_memory: true
  generate_final_report: true
  report_format: "json"
  save_raw_data: false
  output_dir: "./production_profiling"
  max_data_points: 5000
  profile_inference_steps: true
  profile_vae_decode: true
  profile_text_encoding: false
  session_tags:
    mode: "production"
    minimal_overhead: true
"""

# What each says that is not the default.
SAID = {
    BASIC: {
        "enabled": True,
        "display_interval": 3.0,
        "output_dir": "./example/self_forcing/profiling_reports",
        "session_tags": {"model": "self_forcing", "experiment": "performance_analysis"},
    },
    DEVELOPMENT: {
        "enabled": True,
        "display_interval": 1.0,
        "gpu_monitor_interval": 0.1,
        "cpu_monitor_interval": 0.5,
        "save_raw_data": True,
        "output_dir": "./debug_profiling",
        "session_tags": {"mode": "debug", "detailed_analysis": True},
    },
    PRODUCTION: {
        "enabled": True,
        "real_time_display": False,
        "gpu_monitor_interval": 1.0,
        "cpu_monitor_interval": 2.0,
        "monitor_gpu_temperature": False,
        "monitor_gpu_power": False,
        "monitor_cpu_usage": False,
        "report_format": "json",
        "output_dir": "./production_profiling",
        "max_data_points": 5000,
        "profile_text_encoding": False,
        "session_tags": {"mode": "production", "minimal_overhead": True},
    },
}
