//! Figures of a job as a request for metrics.

use marey_report::fleet::{Figures, Fleet, Instrument, Label, Metric, Value};
use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::metrics::v1::{
    AggregationTemporality, Gauge, Metric as Message, NumberDataPoint, ResourceMetrics,
    ScopeMetrics, Sum, Summary, SummaryDataPoint, metric::Data, number_data_point,
    summary_data_point::ValueAtQuantile,
};
use opentelemetry_proto::tonic::resource::v1::Resource;

use super::encode::{resource, scope, text};
use super::service::Service;

/// The figures of each process and of the machine, of the moment `now_ns` (nanoseconds since 1970).
pub(super) fn request(
    fleet: &Fleet,
    service: &Service,
    now_ns: u64,
) -> ExportMetricsServiceRequest {
    let resource_of = |process| resource(service, &fleet.host, &fleet.job_id, process);
    let mut all: Vec<ResourceMetrics> = fleet
        .processes
        .iter()
        .map(|process| {
            let time = Time {
                start_ns: process.start_unix_ns.unwrap_or(0),
                now_ns,
            };
            group(resource_of(Some(process.labels)), &process.figures, time)
        })
        .collect();
    if !fleet.machine.is_empty() {
        // Since when a driver counts is not known, which is 0.
        let time = Time {
            start_ns: 0,
            now_ns,
        };
        all.push(group(resource_of(None), &fleet.machine, time));
    }
    ExportMetricsServiceRequest {
        resource_metrics: all,
    }
}

#[derive(Clone, Copy)]
struct Time {
    start_ns: u64,
    now_ns: u64,
}

fn group(resource: Resource, figures: &Figures, time: Time) -> ResourceMetrics {
    let mut metrics: Vec<Message> = Vec::new();
    for ((metric, labels), value) in figures {
        if metrics.last().is_none_or(|last| last.name != metric.name()) {
            metrics.push(empty(*metric));
        }
        if let Some(Message {
            data: Some(data), ..
        }) = metrics.last_mut()
        {
            add(data, labels, value, time);
        }
    }
    let metrics = ScopeMetrics {
        scope: Some(scope()),
        metrics,
        ..ScopeMetrics::default()
    };
    ResourceMetrics {
        resource: Some(resource),
        scope_metrics: vec![metrics],
        ..ResourceMetrics::default()
    }
}

fn empty(metric: Metric) -> Message {
    let sum = |is_monotonic| {
        Data::Sum(Sum {
            aggregation_temporality: AggregationTemporality::Cumulative.into(),
            is_monotonic,
            data_points: Vec::new(),
        })
    };
    let data = match metric.instrument() {
        Instrument::Counter => sum(true),
        Instrument::UpDownCounter => sum(false),
        Instrument::Gauge => Data::Gauge(Gauge::default()),
        Instrument::Summary => Data::Summary(Summary::default()),
    };
    Message {
        name: metric.name().into(),
        description: metric.help().into(),
        unit: metric.unit().into(),
        data: Some(data),
        ..Message::default()
    }
}

#[expect(clippy::cast_precision_loss, reason = "seconds")]
fn add(data: &mut Data, labels: &[Label], value: &Value, time: Time) {
    let attributes = labels.iter().map(|(key, value)| text(key, value)).collect();
    match (data, value) {
        (
            Data::Sum(Sum { data_points, .. }) | Data::Gauge(Gauge { data_points }),
            Value::Number(value),
        ) => {
            data_points.push(NumberDataPoint {
                attributes,
                start_time_unix_nano: time.start_ns,
                time_unix_nano: time.now_ns,
                value: Some(number_data_point::Value::AsDouble(*value)),
                ..NumberDataPoint::default()
            });
        }
        (
            Data::Summary(Summary { data_points }),
            Value::Durations {
                count,
                sum_ns,
                quantiles_ns,
            },
        ) => {
            let quantile = |(quantile, ns): &(f64, u64)| ValueAtQuantile {
                quantile: *quantile,
                value: *ns as f64 / 1e9,
            };
            data_points.push(SummaryDataPoint {
                attributes,
                start_time_unix_nano: time.start_ns,
                time_unix_nano: time.now_ns,
                count: *count,
                sum: *sum_ns as f64 / 1e9,
                quantile_values: quantiles_ns.iter().map(quantile).collect(),
                ..SummaryDataPoint::default()
            });
        }
        // No instrument has values of another kind.
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use marey_report::fleet::{Group, MemberLabels};

    use super::*;

    #[test]
    fn each_process_is_a_resource_and_each_metric_has_its_points_together() {
        let section = |name: &str| vec![("section", name.to_owned())];
        let figures = Figures::from([
            ((Metric::SectionCalls, section("a")), Value::Number(2.0)),
            ((Metric::SectionCalls, section("b")), Value::Number(3.0)),
            (
                (Metric::IterationTime, vec![]),
                Value::Durations {
                    count: 4,
                    sum_ns: 6_000_000_000,
                    quantiles_ns: vec![(0.5, 1_500_000_000)],
                },
            ),
        ]);
        let fleet = Fleet {
            host: "box".into(),
            job_id: "j".into(),
            processes: vec![Group {
                labels: MemberLabels {
                    rank: Some(3),
                    pid: 42,
                },
                start_unix_ns: Some(100),
                figures,
            }],
            machine: Figures::new(),
        };
        let service = Service {
            name: "server.py".into(),
            attributes: vec![("team".into(), "video".into())],
        };
        let request = request(&fleet, &service, 900);
        let [only] = &request.resource_metrics[..] else {
            panic!("{request:?}");
        };
        let keys: Vec<&str> = only
            .resource
            .iter()
            .flat_map(|resource| &resource.attributes)
            .map(|attribute| attribute.key.as_str())
            .collect();
        assert_eq!(
            keys,
            [
                "service.name",
                "host.name",
                "diffusion.job.id",
                "process.pid",
                "diffusion.rank",
                "team"
            ]
        );
        let metrics = &only.scope_metrics[0].metrics;
        assert_eq!(metrics.len(), 2);
        let Some(Data::Summary(summary)) = &metrics[0].data else {
            panic!("{metrics:?}");
        };
        let turns = &summary.data_points[0];
        assert_eq!(turns.count, 4);
        let seconds = [turns.sum, turns.quantile_values[0].value];
        assert_eq!(seconds.map(f64::to_bits), [6.0, 1.5].map(f64::to_bits));
        let Some(Data::Sum(calls)) = &metrics[1].data else {
            panic!("{metrics:?}");
        };
        assert!(calls.is_monotonic && calls.aggregation_temporality == 2);
        let points: Vec<_> = calls.data_points.iter().map(|point| point.value).collect();
        let double = |value| Some(number_data_point::Value::AsDouble(value));
        assert_eq!(points, [double(2.0), double(3.0)]);
        let time = &calls.data_points[0];
        assert_eq!((time.start_time_unix_nano, time.time_unix_nano), (100, 900));
    }
}
