//! Figures in the text format that Prometheus scrapes (version 0.0.4).

use std::fmt::Write as _;

use super::figures::{Figures, Label, Value};
use super::metric::Metric;
use super::observe::Fleet;
use crate::quantity::float;

/// The figures of a job as text: each metric once, with what it is, then its values.
///
/// ```text
/// # HELP diffusion_steps_total Denoising steps that the program reported
/// # TYPE diffusion_steps_total counter
/// diffusion_steps_total{host="a",job_id="j",rank="0",pid="4242"} 120
/// ```
pub fn exposition(fleet: &Fleet) -> String {
    let host = [
        ("host", fleet.host.clone()),
        ("job_id", fleet.job_id.clone()),
    ];
    let mut groups: Vec<(Vec<Label>, &Figures)> = Vec::new();
    for process in &fleet.processes {
        let rank = process.labels.rank;
        let mut labels = host.to_vec();
        labels.extend(rank.map(|rank| ("rank", rank.to_string())));
        labels.push(("pid", process.labels.pid.to_string()));
        groups.push((labels, &process.figures));
    }
    groups.push((host.to_vec(), &fleet.machine));
    let mut text = String::new();
    for metric in Metric::ALL {
        family(&mut text, metric, &groups);
    }
    text
}

fn family(text: &mut String, metric: Metric, groups: &[(Vec<Label>, &Figures)]) {
    let name = metric.name();
    let mut is_begun = false;
    for (outer, figures) in groups {
        let from = (metric, Vec::new());
        let same = figures.range(from..).take_while(|((m, _), _)| *m == metric);
        for ((_, inner), value) in same {
            if !is_begun {
                let (help, kind) = (metric.help(), metric.kind().name());
                // Writing to a text cannot fail.
                writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}").ok();
                is_begun = true;
            }
            let labels: Vec<&Label> = outer.iter().chain(inner).collect();
            sample(text, name, &labels, value);
        }
    }
}

fn sample(text: &mut String, name: &str, labels: &[&Label], value: &Value) {
    match value {
        Value::Number(number) => line(text, name, labels, None, *number),
        Value::Durations {
            count,
            sum_ns,
            quantiles_ns,
        } => {
            for (quantile, ns) in quantiles_ns {
                line(text, name, labels, Some(*quantile), float(*ns) / 1e9);
            }
            let sum = float(*sum_ns) / 1e9;
            line(text, &format!("{name}_sum"), labels, None, sum);
            line(text, &format!("{name}_count"), labels, None, float(*count));
        }
    }
}

fn line(text: &mut String, name: &str, labels: &[&Label], quantile: Option<f64>, value: f64) {
    let mut pairs: Vec<String> = labels
        .iter()
        .map(|(name, value)| format!("{}=\"{}\"", name, escaped(value)))
        .collect();
    pairs.extend(quantile.map(|quantile| format!("quantile=\"{quantile}\"")));
    writeln!(text, "{name}{{{}}} {value}", pairs.join(",")).ok();
}

/// A label's value between quotes.
fn escaped(value: &str) -> String {
    value
        .replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::super::tests::look;
    use super::super::{Member, MemberLabels, Past, observe};
    use super::*;

    #[test]
    fn each_metric_has_its_lines_once_and_texts_of_users_stay_within_their_quotes() {
        let look = look();
        let member = |rank, pid| Member {
            labels: MemberLabels { rank, pid },
            look: &look,
        };
        let members = [member(Some(0), 7), member(Some(1), 8)];
        let text = exposition(&observe("box", "j", &Past::default(), &members, 0));
        let lines = |start: &str| -> Vec<&str> {
            text.lines()
                .filter(|line| line.starts_with(start))
                .collect()
        };
        assert_eq!(
            lines("diffusion_steps_total"),
            [
                r#"diffusion_steps_total{host="box",job_id="j",rank="0",pid="7"} 4"#,
                r#"diffusion_steps_total{host="box",job_id="j",rank="1",pid="8"} 4"#,
            ]
        );
        assert_eq!(
            lines("# TYPE diffusion_steps_total"),
            ["# TYPE diffusion_steps_total counter"]
        );
        // A line feed is spelled out as \x0a, whose backslash is escaped.
        assert_eq!(
            lines("diffusion_section_errors_total")[1],
            r#"diffusion_section_errors_total{host="box",job_id="j",rank="0",pid="7",section="de\"code\\x0a"} 1"#
        );
        assert_eq!(
            lines("diffusion_iteration_time_seconds")[..5],
            [
                r#"diffusion_iteration_time_seconds{host="box",job_id="j",rank="0",pid="7",iteration="block",quantile="0.5"} 3"#,
                r#"diffusion_iteration_time_seconds{host="box",job_id="j",rank="0",pid="7",iteration="block",quantile="0.95"} 4"#,
                r#"diffusion_iteration_time_seconds{host="box",job_id="j",rank="0",pid="7",iteration="block",quantile="0.99"} 4"#,
                r#"diffusion_iteration_time_seconds_sum{host="box",job_id="j",rank="0",pid="7",iteration="block"} 6"#,
                r#"diffusion_iteration_time_seconds_count{host="box",job_id="j",rank="0",pid="7",iteration="block"} 2"#,
            ]
        );
    }

    #[test]
    fn nothing_known_is_no_text() {
        assert_eq!(exposition(&observe("h", "j", &Past::default(), &[], 0)), "");
    }
}
