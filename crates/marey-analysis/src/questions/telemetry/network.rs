//! What went over the network?

use serde::Serialize;

use super::sampled::Sampled;
use crate::readings::Growth;

/// One network interface, in bytes.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct InterfaceUse {
    /// Its name.
    pub interface: String,
    /// Received through it, by anybody.
    pub received: Option<Growth>,
    /// Sent through it, by anybody.
    pub sent: Option<Growth>,
}

pub(super) fn network(sampled: &Sampled<'_>) -> Vec<InterfaceUse> {
    let names = ["host.network.received", "host.network.sent"];
    let mut interfaces: Vec<&str> = names.iter().flat_map(|n| sampled.subjects(n)).collect();
    interfaces.sort_unstable();
    interfaces.dedup();
    let interface = |interface: &str| {
        let [received, sent] = names.map(|name| sampled.growth(name, interface));
        let found = InterfaceUse { interface: interface.to_owned(), received, sent };
        (received.is_some() || sent.is_some()).then_some(found)
    };
    interfaces.into_iter().filter_map(interface).collect()
}
