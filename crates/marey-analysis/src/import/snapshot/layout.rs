//! Which key of a snapshot is what.
//!
//! Versions of torch differ: keys came (`time_us`, `pool_id`, addresses of blocks), and a state was renamed. What is missing is
//! `None`; keys that are not known are passed over.

use super::error::SnapshotError;
use super::frames::{Frame, Frames, Stack};
use super::memory_event::{Action, DeviceTrace, MemoryEvent, RangeEnd};
use super::record::{Record, natural, whole};
use super::segment::{Block, BlockState, Segment, SegmentKind};
use super::values::{Value, Values};

/// The state of torch's caching allocators at one moment, and what they did before.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Snapshot {
    /// What they had from the driver, of all devices, in the order of the file.
    pub segments: Vec<Segment>,
    /// Pieces of segments; each segment's lie together, by address.
    pub blocks: Vec<Block>,
    /// What happened on each device, by its number. Empty without a recorded history; its beginning is missing where more happened than
    /// was kept.
    pub traces: Vec<DeviceTrace>,
    /// Ends of ranges that the program named, in order of time. Empty in files of older versions, and where none was named.
    pub range_ends: Vec<RangeEnd>,
    /// Places in the program, each once.
    pub frames: Vec<Frame>,
    /// Stacks, each once.
    pub stacks: Vec<Stack>,
    /// Sizes were rounded up to parts of powers of two (`roundup_power2_divisions`), not to 512 bytes only.
    pub rounds_to_powers: bool,
    /// What could not be used: what it is, and how often.
    pub warnings: Vec<(&'static str, u64)>,
}

/// More devices than any machine has; each is looked at by itself.
const MAX_DEVICES: usize = 128;

/// Characters of a range's name.
const MAX_NAME: usize = 1024;

/// Reads the root of a pickle.
pub(super) fn snapshot(values: &Values<'_>, root: Value) -> Result<Snapshot, SnapshotError> {
    let keys =
        ["segments", "device_traces", "allocator_settings", "external_annotations", "pg_config"];
    let [segments, traces, settings, ranges, groups] = Record::new(keys, values).read(values, root);
    if groups.is_some() {
        return Err(SnapshotError::NotASnapshot {
            what: "it is a dump of NCCL's flight recorder; `marey aggregate` reads those of all ranks together",
        });
    }
    // What torch.cuda.memory_snapshot() gives: segments without a history.
    let first = || values.items(root).and_then(|mut items| items.next());
    let is_list = || matches!(first(), Some(Value::Dict(_)));
    let segments = segments.or_else(|| is_list().then_some(root));
    let mut reader = Reader {
        values,
        frames: Frames::new(values),
        budget: values.n_dicts(),
        found: Snapshot::default(),
    };
    let Some(segments) = segments else {
        return Err(SnapshotError::NotASnapshot { what: "it has no segments" });
    };
    reader.segments(segments)?;
    if let Some(traces) = traces {
        reader.traces(traces)?;
    }
    if let Some(ranges) = ranges {
        reader.range_ends(ranges)?;
        reader.found.range_ends.sort_by_key(|end| end.time_us);
    }
    reader.settings(settings);
    if values.is_misread() {
        let what = "an event is something else, too";
        return Err(SnapshotError::NotASnapshot { what });
    }
    Ok(reader.finish())
}

struct Reader<'a> {
    values: &'a Values<'a>,
    frames: Frames,
    /// How many more dictionaries may be read as segments, blocks and events. An honest file has one for each of them; one that refers
    /// to the same ones again and again would never end.
    budget: usize,
    found: Snapshot,
}

impl Reader<'_> {
    fn segments(&mut self, segments: Value) -> Result<(), SnapshotError> {
        let keys = [
            "device",
            "address",
            "total_size",
            "stream",
            "segment_type",
            "segment_pool_id",
            "is_expandable",
            "blocks",
        ];
        let mut record = Record::new(keys, self.values);
        let mut blocks =
            Record::new(["address", "size", "requested_size", "state", "frames"], self.values);
        let values = self.values;
        for segment in list(values, segments, "the segments are no list")? {
            self.spend()?;
            let [device, address, bytes, stream, kind, pool, expandable, pieces] =
                record.read(values, segment);
            let known = (natural(address), natural(bytes), device_number(device));
            let (Some(address), Some(total_bytes), Some(device)) = known else {
                self.warn("segments without address, size or device");
                continue;
            };
            let first_block = self.found.blocks.len();
            if let Some(pieces) = pieces {
                self.blocks(&mut blocks, pieces, address)?;
            }
            self.found.segments.push(Segment {
                device,
                address,
                total_bytes,
                kind: self.kind(kind),
                stream: natural(stream),
                pool: self.pool(pool),
                is_expandable: expandable == Some(Value::Bool(true)),
                first_block,
                n_blocks: self.found.blocks.len() - first_block,
            });
        }
        Ok(())
    }

    /// Blocks of old versions have no address: they lie one behind the other.
    fn blocks(
        &mut self,
        record: &mut Record<5>,
        pieces: Value,
        segment_address: u64,
    ) -> Result<(), SnapshotError> {
        let values = self.values;
        let mut next_address = segment_address;
        for piece in list(values, pieces, "the blocks of a segment are no list")? {
            self.spend()?;
            let [address, bytes, requested, state, frames] = record.read(values, piece);
            let state = state.and_then(|state| values.text_bytes(state));
            let known = natural(bytes).zip(state.and_then(block_state));
            let Some((bytes, state)) = known else {
                self.warn("blocks without size or a known state");
                continue;
            };
            let address = natural(address).unwrap_or(next_address);
            next_address = address.saturating_add(bytes);
            let stack = self.frames.stack(values, frames);
            self.found.blocks.push(Block {
                address,
                bytes,
                requested_bytes: natural(requested),
                state,
                stack,
            });
        }
        Ok(())
    }

    fn traces(&mut self, traces: Value) -> Result<(), SnapshotError> {
        let keys = ["action", "addr", "size", "time_us", "frames", "device_free"];
        let values = self.values;
        let mut record = Record::new(keys, values);
        for trace in list(values, traces, "the traces of devices are no list")? {
            if self.found.traces.len() >= MAX_DEVICES {
                self.warn("devices beyond the 128th");
                continue;
            }
            let mut events = Vec::new();
            for event in list(values, trace, "the trace of a device is no list")? {
                self.spend()?;
                match self.event(&mut record, event) {
                    Some(event) if event.action == Action::Mark => {}
                    Some(event) => events.push(event),
                    None => self.warn("events without size, address or a known action"),
                }
            }
            self.found.traces.push(DeviceTrace { events });
        }
        Ok(())
    }

    fn event(&mut self, record: &mut Record<6>, event: Value) -> Option<MemoryEvent> {
        let values = self.values;
        if let Some(known) = values.event(event) {
            return Some(MemoryEvent {
                action: known.action,
                address: known.address,
                bytes: known.bytes,
                time_us: Some(known.time_us).filter(|time| *time > 0),
                stack: self.frames.stack(values, Some(Value::List(known.list))),
                device_free_bytes: None,
            });
        }
        let [action, address, bytes, time, frames, device_free] = record.read(values, event);
        let action = Action::of(values.text_bytes(action?)?)?;
        let needs_address =
            !matches!(action, Action::OutOfMemory | Action::Snapshot | Action::Mark);
        let address = natural(address);
        if needs_address && address.is_none() {
            return None;
        }
        Some(MemoryEvent {
            action,
            address: address.filter(|_| needs_address).unwrap_or(0),
            bytes: natural(bytes)?,
            time_us: natural(time).filter(|time| *time > 0),
            stack: self.frames.stack(values, frames),
            device_free_bytes: natural(device_free).filter(|_| action == Action::OutOfMemory),
        })
    }

    fn range_ends(&mut self, ranges: Value) -> Result<(), SnapshotError> {
        let values = self.values;
        let mut record = Record::new(["stage", "name", "device", "time_us"], values);
        for range in values.items(ranges).into_iter().flatten() {
            self.spend()?;
            let [stage, name, device, time] = record.read(values, range);
            let is_start = match stage.and_then(|stage| values.text_bytes(stage)) {
                Some(b"START") => Some(true),
                Some(b"END") => Some(false),
                _ => None,
            };
            let name = name.and_then(|name| values.text(name));
            let known = name.zip(device_number(device)).zip(natural(time));
            let Some((((name, device), time_us), is_start)) = known.zip(is_start) else {
                self.warn("annotations without name, stage, device or time");
                continue;
            };
            self.found.range_ends.push(RangeEnd {
                device,
                name: name.chars().take(MAX_NAME).collect(),
                is_start,
                time_us,
            });
        }
        Ok(())
    }

    fn settings(&mut self, settings: Option<Value>) {
        let values = self.values;
        let mut record = Record::new(["roundup_power2_divisions"], values);
        let [divisions] = settings.map_or([None], |settings| record.read(values, settings));
        let Some(divisions) = divisions.and_then(|divisions| values.dict(divisions)) else {
            return;
        };
        let mut all = values.parts(divisions).flat_map(|(_, held)| held);
        self.found.rounds_to_powers = all.any(|n| matches!(n, Value::Int(n) if *n > 1));
    }

    fn kind(&self, kind: Option<Value>) -> SegmentKind {
        match kind.and_then(|kind| self.values.text_bytes(kind)) {
            Some(b"small") => SegmentKind::Small,
            Some(b"large") => SegmentKind::Large,
            _ => SegmentKind::Unknown,
        }
    }

    fn pool(&self, pool: Option<Value>) -> Option<(i64, i64)> {
        let mut ids = self.values.items(pool?)?;
        Some((whole(ids.next())?, whole(ids.next())?))
    }

    fn spend(&mut self) -> Result<(), SnapshotError> {
        match self.budget.checked_sub(1) {
            Some(left) => {
                self.budget = left;
                Ok(())
            }
            None => Err(SnapshotError::Limit {
                what: "segments, blocks and events for its dictionaries",
                limit: self.values.n_dicts() as u64,
                offset: 0,
            }),
        }
    }

    fn warn(&mut self, what: &'static str) {
        let warnings = &mut self.found.warnings;
        match warnings.iter_mut().find(|(known, _)| *known == what) {
            Some((_, count)) => *count += 1,
            None => warnings.push((what, 1)),
        }
    }

    fn finish(mut self) -> Snapshot {
        (self.found.frames, self.found.stacks) = self.frames.finish();
        self.found
    }
}

/// Items of a list or tuple.
fn list<'a>(
    values: &'a Values<'a>,
    value: Value,
    otherwise: &'static str,
) -> Result<impl Iterator<Item = Value> + use<'a>, SnapshotError> {
    let items = values.items(value);
    items.ok_or(SnapshotError::NotASnapshot { what: otherwise })
}

/// Devices have small numbers; what is larger is none.
fn device_number(device: Option<Value>) -> Option<u32> {
    // Snapshots of the first versions with one device had no number.
    let number = device.map_or(Some(0), |device| natural(Some(device)))?;
    let number = u32::try_from(number).ok();
    number.filter(|number| (*number as usize) < MAX_DEVICES)
}

fn block_state(state: &[u8]) -> Option<BlockState> {
    Some(match state {
        b"active_allocated" => BlockState::Allocated,
        b"active_awaiting_free" | b"active_pending_free" => BlockState::AwaitingFree,
        b"inactive" => BlockState::Inactive,
        _ => return None,
    })
}
