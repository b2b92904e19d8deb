//! One NVIDIA GPU that is read.

use marey::{SeriesInfo, Unavailable};
use nvml_wrapper::Device as Handle;
use nvml_wrapper::error::NvmlError;

use super::call::{Asked, CALLS, Call};
use super::gpm::Gpm;
use super::gpu::INSTANCE;
use super::process::Pids;
use super::reason;
use crate::GpuOptions;
use crate::device::{Device, DeviceDescription, OWN_MEMORY, SHARES_MEMORY};
use crate::metric::{MEMORY_USED, Metric};
use crate::pace::Pace;

/// Rounds between two attempts to reach a GPU that was lost.
const LOST_ROUNDS: u32 = 250;

/// One GPU, or an instance of one.
pub(super) struct NvidiaReader {
    description: DeviceDescription,
    asked: Asked,
    calls: Vec<Asking>,
    gpm: Option<Gpm>,
    /// Rounds until the next attempt, for a GPU that was lost.
    lost: Option<u32>,
}

/// A question that this GPU answers.
struct Asking {
    call: &'static Call,
    pace: Pace,
}

impl NvidiaReader {
    /// Asks everything once, and keeps what is answered.
    pub(super) fn open(
        device: Handle<'static>,
        description: DeviceDescription,
        pids: &Pids,
        options: &GpuOptions,
    ) -> Self {
        // Decides which clock there is, before it is read.
        marey::clock_kind();
        let pids = pids.clone();
        let mut reader = Self {
            description,
            asked: Asked { device, pids },
            calls: Vec::new(),
            gpm: None,
            lost: None,
        };
        if options.utilization {
            reader.open_gpm();
        }
        if options.memory {
            reader.look_at_memory();
        }
        for call in CALLS.iter().filter(|call| (call.switch)(options)) {
            // What the counters give over the whole time needs no call that waits.
            let is_given = |metric: &Metric| {
                let mut given = reader.gpm.iter().flat_map(Gpm::metrics);
                given.any(|given| given == metric)
            };
            if call.metrics.iter().any(is_given) {
                continue;
            }
            if let Err(error) = reader.open_call(call)
                && reason::is_lost(&error)
            {
                reader.give_up(&error);
                break;
            }
        }
        reader
    }

    fn is_instance(&self) -> bool {
        self.description.mig == Some(INSTANCE)
    }

    fn open_call(&mut self, call: &'static Call) -> Result<(), NvmlError> {
        let answer = (call.ask)(&self.asked, &mut [f64::NAN; 2]);
        if let Err(error) = answer
            && reason::is_for_good(&error)
        {
            let is_memory = call.metrics.contains(&MEMORY_USED);
            let why = if is_memory && self.description.shares_memory {
                SHARES_MEMORY.to_owned()
            } else {
                reason::of_reading(&error, self.is_instance())
            };
            for metric in call.metrics {
                self.description.is_without(metric.name, why.clone());
            }
            return Err(error);
        }
        // The first round is whole; what is asked seldom is left out after it.
        let pace = Pace::new(call.one_in);
        self.calls.push(Asking { call, pace });
        Ok(())
    }

    fn open_gpm(&mut self) {
        let opened = if self.is_instance() {
            Err("this version reads them for whole GPUs only, not for an instance (MIG)".into())
        } else {
            Gpm::open(&self.asked.device)
        };
        match opened {
            Ok(gpm) => self.gpm = Some(gpm),
            Err(why) => self.description.is_without("gpm", why),
        }
    }

    /// What its readings of memory are not.
    fn look_at_memory(&mut self) {
        if self.description.shares_memory {
            self.description.is_without(OWN_MEMORY, SHARES_MEMORY);
        }
        if self.asked.pids.are_without_memory(&self.asked.device) {
            let why = "the driver lists this process and does not say what it holds";
            self.description.is_without("gpu.memory.process", why);
        }
    }

    /// The GPU was lost before it could be read.
    fn give_up(&mut self, error: &NvmlError) {
        self.calls.clear();
        self.gpm = None;
        let what = self.description.subject.clone();
        let why = reason::of_reading(error, false);
        self.description.unavailable = vec![Unavailable { what, why }];
    }

    /// `Err` if the GPU is lost.
    fn read_all(&mut self, values: &mut [f64]) -> Result<(), NvmlError> {
        let mut rest = values;
        for asking in &mut self.calls {
            let (own, others) = rest.split_at_mut(asking.call.metrics.len());
            rest = others;
            asking.read(&self.asked, own)?;
        }
        match &mut self.gpm {
            Some(gpm) => gpm.read(&self.asked.device, rest),
            None => Ok(()),
        }
    }
}

impl Asking {
    /// `Err` if the GPU is lost; any other error leaves NaN.
    fn read(&mut self, asked: &Asked, values: &mut [f64]) -> Result<(), NvmlError> {
        let begun = if self.pace.is_limited() {
            let now = marey::ticks();
            if !self.pace.is_due(now) {
                return Ok(());
            }
            Some(now)
        } else {
            None
        };
        let answer = (self.call.ask)(asked, values);
        if let Some(begun) = begun {
            self.pace.took(begun, marey::ticks());
        }
        match answer {
            Err(error) if reason::is_lost(&error) => Err(error),
            Ok(()) | Err(_) => Ok(()),
        }
    }
}

impl Device for NvidiaReader {
    fn description(&self) -> &DeviceDescription {
        &self.description
    }

    fn series(&self) -> Vec<SeriesInfo> {
        let of_calls = self.calls.iter().flat_map(|asking| asking.call.metrics);
        let metrics = of_calls.chain(self.gpm.iter().flat_map(Gpm::metrics));
        metrics.map(|metric| metric.of(&self.description.subject)).collect()
    }

    fn read(&mut self, values: &mut [f64]) {
        if let Some(rounds) = self.lost.as_mut().filter(|rounds| **rounds > 0) {
            *rounds -= 1;
            return;
        }
        let is_lost = self.read_all(values).is_err();
        self.lost = is_lost.then_some(LOST_ROUNDS);
    }

    fn unavailable(&self) -> Vec<Unavailable> {
        let mut all = self.description.unavailable.clone();
        if let Some(why) = self.gpm.as_ref().and_then(Gpm::given_up) {
            let what = format!("gpm {}", self.description.subject);
            all.push(Unavailable { what, why: why.into() });
        }
        all
    }
}
