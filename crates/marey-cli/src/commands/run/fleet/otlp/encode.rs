//! Attributes, resources and scopes as OpenTelemetry has them.

use marey_report::fleet::MemberLabels;
use opentelemetry_proto::tonic::common::v1::{
    AnyValue, InstrumentationScope, KeyValue, any_value::Value,
};
use opentelemetry_proto::tonic::resource::v1::Resource;

use super::service::Service;

/// An attribute.
pub(super) fn attribute(key: &str, value: Value) -> KeyValue {
    KeyValue {
        key: key.to_owned(),
        value: Some(AnyValue { value: Some(value) }),
        ..KeyValue::default()
    }
}

/// An attribute that is text.
pub(super) fn text(key: &str, value: &str) -> KeyValue {
    attribute(key, Value::StringValue(value.to_owned()))
}

/// An attribute that is a whole number.
pub(super) fn number(key: &str, value: u64) -> KeyValue {
    attribute(
        key,
        Value::IntValue(i64::try_from(value).unwrap_or(i64::MAX)),
    )
}

/// What figures and phases are about: a process of a job, or without one its machine.
pub(super) fn resource(
    service: &Service,
    host: &str,
    job_id: &str,
    process: Option<MemberLabels>,
) -> Resource {
    let mut attributes = vec![
        text("service.name", &service.name),
        text("host.name", host),
        text("diffusion.job.id", job_id),
    ];
    if let Some(process) = process {
        attributes.push(number("process.pid", process.pid.into()));
        let rank = process.rank;
        attributes.extend(rank.map(|rank| number("diffusion.rank", rank.into())));
    }
    let others = service.attributes.iter();
    attributes.extend(others.map(|(key, value)| text(key, value)));
    Resource {
        attributes,
        ..Resource::default()
    }
}

/// Who says it.
pub(super) fn scope() -> InstrumentationScope {
    InstrumentationScope {
        name: "marey".into(),
        version: env!("CARGO_PKG_VERSION").into(),
        ..InstrumentationScope::default()
    }
}
