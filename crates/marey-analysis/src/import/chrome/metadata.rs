//! What a trace says about itself, before or after its events.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// What one document says. Everything is absent that it does not say.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Metadata {
    /// What the times of its events count from, in nanoseconds since 1970. Without it they count from an unknown moment.
    pub base_unix_ns: Option<i64>,
    /// Which of the processes that work together.
    pub rank: Option<i64>,
    /// How many of them there are.
    pub world_size: Option<i64>,
    /// How they talk to each other.
    pub backend: Option<String>,
    /// Devices of the machine.
    pub devices: Vec<Device>,
    /// Everything else that is a single value, as it is written: versions, options of the profiler.
    pub others: BTreeMap<String, String>,
}

/// A device of the machine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Device {
    /// Its number.
    #[serde(default)]
    pub id: Option<i64>,
    /// Its model.
    #[serde(default)]
    pub name: Option<String>,
    /// Everything else that the trace says of it.
    #[serde(flatten, skip_serializing)]
    #[schemars(skip)]
    pub others: serde_json::Map<String, serde_json::Value>,
}

#[derive(Deserialize)]
struct Distributed {
    #[serde(default)]
    rank: Option<i64>,
    #[serde(default)]
    world_size: Option<i64>,
    #[serde(default)]
    backend: Option<String>,
}

/// Single values that are kept, and how long they may be.
const MOST_OTHERS: usize = 64;
const LONGEST_OTHER: usize = 1024;

impl Metadata {
    /// What a document of these is called: by its rank, or its number. `None` where there is but one.
    pub fn name_in(documents: &[Self], document: u32) -> Option<String> {
        let rank = documents.get(document as usize).and_then(|said| said.rank);
        let by_number = || format!("document {document}");
        let name = rank.map_or_else(by_number, |rank| format!("rank {rank}"));
        (documents.len() > 1).then_some(name)
    }

    /// The device of a number, of so many that did something. Where the trace knows one device and one did something, that is it: masks of
    /// visible devices change the numbers of one and not of the other.
    pub fn device(&self, number: i64, n_used: usize) -> Option<&Device> {
        let by_number = self.devices.iter().find(|device| device.id == Some(number));
        let is_only = n_used == 1 && self.devices.len() == 1;
        by_number.or_else(|| self.devices.first().filter(|_| is_only))
    }

    /// Takes in a key with its value as it is written. What is not as expected is left out.
    pub(super) fn take(&mut self, key: &str, value: &[u8]) {
        match key {
            "baseTimeNanoseconds" => self.base_unix_ns = super::args::integer(value),
            "deviceProperties" => {
                self.devices = serde_json::from_slice(value).unwrap_or_default();
            }
            "distributedInfo" => {
                if let Ok(read) = serde_json::from_slice::<Distributed>(value) {
                    (self.rank, self.world_size) = (read.rank, read.world_size);
                    self.backend = read.backend;
                }
            }
            _ => self.take_other(key, value),
        }
    }

    fn take_other(&mut self, key: &str, value: &[u8]) {
        let is_single = !matches!(value.first(), Some(b'{' | b'[') | None);
        let is_short = key.len() + value.len() <= LONGEST_OTHER;
        if is_single && is_short && self.others.len() < MOST_OTHERS {
            let written = String::from_utf8_lossy(value).into_owned();
            let said = serde_json::from_slice(value).unwrap_or(written);
            self.others.insert(key.to_owned(), said);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_as_expected_is_left_out() {
        let mut read = Metadata::default();
        read.take("distributedInfo", br#"{"rank": 3, "pg_config": [{}]}"#);
        read.take("deviceProperties", br#"[{"id": 0, "name": "A100", "numSms": 108}, {}]"#);
        read.take("baseTimeNanoseconds", b"1711964646000000000");
        read.take("traceName", br#""a\u0062""#);
        read.take("with_stack", b"1");
        read.take("INFO", br#"["x"]"#);
        assert_eq!((read.rank, read.world_size), (Some(3), None));
        assert_eq!(read.devices.len(), 2);
        assert_eq!(read.devices[0].name.as_deref(), Some("A100"));
        assert_eq!(read.base_unix_ns, Some(1_711_964_646_000_000_000));
        assert_eq!(read.others["traceName"], "ab");
        assert_eq!(read.others["with_stack"], "1");
        assert_eq!(read.others.len(), 2);
        read.take("distributedInfo", br#"{"rank": "x"}"#);
        assert_eq!(read.rank, Some(3));
    }
}
