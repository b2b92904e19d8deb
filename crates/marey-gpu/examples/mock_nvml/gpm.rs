//! Counters of a GPU's units.

use std::ffi::{c_char, c_uint, c_void};
use std::sync::Mutex;

use crate::place::{EMPTY, put};
use crate::script::{
    Code, Handle, INSUFFICIENT_SIZE, INVALID_ARGUMENT, NOT_SUPPORTED, SUCCESS, subject,
};

/// `nvmlGpmSupport_t`.
#[repr(C)]
struct GpmSupport {
    version: c_uint,
    is_supported: c_uint,
}

#[unsafe(no_mangle)]
extern "C" fn nvmlGpmQueryDeviceSupport(handle: Handle, support: *mut GpmSupport) -> Code {
    let numbers = subject(handle).and_then(|gpu| gpu.numbers("nvmlGpmQueryDeviceSupport"));
    let is_supported = numbers.map(|numbers| c_uint::from(numbers[0] == 1));
    is_supported.map_or_else(
        |code| code,
        |is_supported| put(support, GpmSupport { version: 1, is_supported }),
    )
}

/// Samples are the handle of their GPU in a box; how many there are must come back to none.
static SAMPLES: Mutex<Vec<usize>> = Mutex::new(Vec::new());

type Sample = *mut c_void;

fn with_samples<T>(look: impl FnOnce(&mut Vec<usize>) -> T) -> T {
    look(&mut SAMPLES.lock().unwrap_or_else(std::sync::PoisonError::into_inner))
}

/// Two are enough at any time, so a caller that keeps more than three does not free them.
#[unsafe(no_mangle)]
extern "C" fn nvmlGpmSampleAlloc(sample: *mut Sample) -> Code {
    let alive = with_samples(|samples| samples.len());
    if alive >= 64 {
        return INSUFFICIENT_SIZE;
    }
    let made: *mut Handle = Box::into_raw(Box::new(std::ptr::null_mut()));
    with_samples(|samples| samples.push(made.addr()));
    put(sample, made.cast())
}

#[unsafe(no_mangle)]
extern "C" fn nvmlGpmSampleFree(sample: Sample) -> Code {
    let known = with_samples(|samples| {
        let place = samples.iter().position(|known| *known == sample.addr());
        place.map(|place| samples.swap_remove(place))
    });
    if known.is_none() {
        return INVALID_ARGUMENT;
    }
    // SAFETY: made by `nvmlGpmSampleAlloc`, and just taken off the list of those that are alive.
    drop(unsafe { Box::from_raw(sample.cast::<Handle>()) });
    SUCCESS
}

#[unsafe(no_mangle)]
extern "C" fn nvmlGpmSampleGet(handle: Handle, sample: Sample) -> Code {
    match subject(handle).and_then(|gpu| gpu.answer("nvmlGpmSampleGet", true)) {
        Err(code) if code != NOT_SUPPORTED => code,
        _ => put(sample.cast(), handle),
    }
}

/// `nvmlGpmMetric_t`.
#[repr(C)]
struct GpmMetric {
    id: c_uint,
    code: Code,
    value: f64,
    names: [*const c_char; 3],
}

/// The beginning of `nvmlGpmMetricsGet_t`; its metrics follow.
#[repr(C)]
struct GpmRequest {
    version: c_uint,
    count: c_uint,
    samples: [Sample; 2],
    metrics: [GpmMetric; 0],
}

#[unsafe(no_mangle)]
extern "C" fn nvmlGpmMetricsGet(request: *mut GpmRequest) -> Code {
    // SAFETY: the caller gives a request that it has filled.
    let GpmRequest { version, count, samples, .. } = unsafe { request.read() };
    let is_known =
        with_samples(|known| samples.iter().all(|sample| known.contains(&sample.addr())));
    if version != 1 || !is_known {
        return INVALID_ARGUMENT;
    }
    // SAFETY: it is one of the samples that are alive.
    let handle = unsafe { samples[1].cast::<Handle>().read() };
    let gpu = match subject(handle) {
        Ok(gpu) => gpu,
        Err(code) => return code,
    };
    if let Err(code) = gpu.answer("nvmlGpmMetricsGet", true)
        && code != NOT_SUPPORTED
    {
        return code;
    }
    // SAFETY: a field of the request, whose place is taken and not read.
    let first = unsafe { &raw mut (*request).metrics }.cast::<GpmMetric>();
    for place in 0..count as usize {
        // SAFETY: the request has as many metrics as it says.
        let metric = unsafe { first.add(place) };
        // SAFETY: one of those metrics.
        let id = unsafe { (*metric).id };
        let answer = gpu.answer(&format!("gpm.{id}"), true);
        let value = answer.and_then(|text| text.parse().map_err(|_| INVALID_ARGUMENT));
        let code = value.err().unwrap_or(SUCCESS);
        let names = [EMPTY.as_ptr().cast(); 3];
        put(metric, GpmMetric { id, code, value: value.unwrap_or(f64::NAN), names });
    }
    SUCCESS
}
