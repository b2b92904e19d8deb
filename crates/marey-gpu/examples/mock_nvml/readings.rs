//! What a GPU reads.

use std::ffi::{c_uint, c_ulonglong};

use crate::place::put;
use crate::script::{Code, Handle, INSUFFICIENT_SIZE, INVALID_ARGUMENT, SUCCESS, subject};

/// `nvmlMemory_v2_t`.
#[repr(C)]
struct Memory {
    version: c_uint,
    total: c_ulonglong,
    reserved: c_ulonglong,
    free: c_ulonglong,
    used: c_ulonglong,
}

/// Answers `total/used/free`. Fails, as the driver does, for any other version of the struct.
#[unsafe(no_mangle)]
extern "C" fn nvmlDeviceGetMemoryInfo_v2(handle: Handle, memory: *mut Memory) -> Code {
    const VERSION: usize = size_of::<Memory>() | 2 << 24;
    // SAFETY: the caller gives a struct whose version it has set.
    let version = unsafe { (*memory).version };
    if version as usize != VERSION {
        return INVALID_ARGUMENT;
    }
    match subject(handle).and_then(|gpu| gpu.numbers("nvmlDeviceGetMemoryInfo_v2")) {
        Ok(numbers) if numbers.len() == 3 => {
            let (total, used, free) = (numbers[0], numbers[1], numbers[2]);
            let reserved = total.saturating_sub(used + free);
            put(memory, Memory { version, total, reserved, free, used })
        }
        Ok(_) => INVALID_ARGUMENT,
        Err(code) => code,
    }
}

/// `nvmlProcessInfo_t`.
#[repr(C)]
struct Process {
    pid: c_uint,
    bytes: c_ulonglong,
    gpu_instance: c_uint,
    compute_instance: c_uint,
}

#[unsafe(no_mangle)]
extern "C" fn nvmlDeviceGetComputeRunningProcesses_v3(
    handle: Handle,
    count: *mut c_uint,
    list: *mut Process,
) -> Code {
    processes(handle, "nvmlDeviceGetComputeRunningProcesses_v3", count, list)
}

#[unsafe(no_mangle)]
extern "C" fn nvmlDeviceGetGraphicsRunningProcesses_v3(
    handle: Handle,
    count: *mut c_uint,
    list: *mut Process,
) -> Code {
    processes(handle, "nvmlDeviceGetGraphicsRunningProcesses_v3", count, list)
}

/// Answers `pid=bytes,…`, `-` for none; bytes `?` are those that the driver does not say. A call without a list asks how many there are, and
/// counts only if there are none.
fn processes(handle: Handle, function: &str, count: *mut c_uint, list: *mut Process) -> Code {
    let answer = |counts| subject(handle).and_then(|gpu| gpu.answer(function, counts));
    let text = match answer(!list.is_null()) {
        Ok(text) => text,
        Err(code) if list.is_null() => return answer(true).err().unwrap_or(code),
        Err(code) => return code,
    };
    let parse = |entry: &str| {
        let (pid, bytes) = entry.split_once('=')?;
        Some((pid.parse().ok()?, bytes.parse().unwrap_or(c_ulonglong::MAX)))
    };
    let all: Vec<(c_uint, c_ulonglong)> = text.split(',').filter_map(parse).collect();
    let length = c_uint::try_from(all.len()).unwrap_or(0);
    if list.is_null() {
        put(count, length);
        let is_none = all.is_empty() && answer(true).is_ok();
        return if is_none { SUCCESS } else { INSUFFICIENT_SIZE };
    }
    for (place, (pid, bytes)) in all.into_iter().enumerate() {
        // SAFETY: the caller asked how many there are, and gave room for more.
        let entry = unsafe { list.add(place) };
        let none = c_uint::MAX;
        put(entry, Process { pid, bytes, gpu_instance: none, compute_instance: none });
    }
    put(count, length)
}

/// `nvmlUtilization_t`.
#[repr(C)]
struct Utilization {
    gpu: c_uint,
    memory: c_uint,
}

/// Answers `gpu/memory`, percent.
#[unsafe(no_mangle)]
extern "C" fn nvmlDeviceGetUtilizationRates(handle: Handle, rates: *mut Utilization) -> Code {
    match subject(handle).and_then(|gpu| gpu.numbers("nvmlDeviceGetUtilizationRates")) {
        Ok(numbers) if numbers.len() == 2 => {
            let percent = |place: usize| c_uint::try_from(numbers[place]).unwrap_or(0);
            put(rates, Utilization { gpu: percent(0), memory: percent(1) })
        }
        Ok(_) => INVALID_ARGUMENT,
        Err(code) => code,
    }
}

/// Writes the number that a function answers.
fn one<T: TryFrom<u64> + Default>(handle: Handle, function: &str, place: *mut T) -> Code {
    let numbers = subject(handle).and_then(|gpu| gpu.numbers(function));
    numbers
        .map_or_else(|code| code, |numbers| put(place, T::try_from(numbers[0]).unwrap_or_default()))
}

#[unsafe(no_mangle)]
extern "C" fn nvmlDeviceGetTemperature(
    handle: Handle,
    _sensor: c_uint,
    degrees: *mut c_uint,
) -> Code {
    one(handle, "nvmlDeviceGetTemperature", degrees)
}

#[unsafe(no_mangle)]
extern "C" fn nvmlDeviceGetPowerUsage(handle: Handle, milliwatts: *mut c_uint) -> Code {
    one(handle, "nvmlDeviceGetPowerUsage", milliwatts)
}

#[unsafe(no_mangle)]
extern "C" fn nvmlDeviceGetEnforcedPowerLimit(handle: Handle, milliwatts: *mut c_uint) -> Code {
    one(handle, "nvmlDeviceGetEnforcedPowerLimit", milliwatts)
}

#[unsafe(no_mangle)]
extern "C" fn nvmlDeviceGetTotalEnergyConsumption(
    handle: Handle,
    millijoules: *mut c_ulonglong,
) -> Code {
    one(handle, "nvmlDeviceGetTotalEnergyConsumption", millijoules)
}

#[unsafe(no_mangle)]
extern "C" fn nvmlDeviceGetClockInfo(
    handle: Handle,
    clock: c_uint,
    megahertz: *mut c_uint,
) -> Code {
    one(handle, &format!("nvmlDeviceGetClockInfo.{clock}"), megahertz)
}

#[unsafe(no_mangle)]
extern "C" fn nvmlDeviceGetCurrentClocksThrottleReasons(
    handle: Handle,
    bits: *mut c_ulonglong,
) -> Code {
    one(handle, "nvmlDeviceGetCurrentClocksThrottleReasons", bits)
}

#[unsafe(no_mangle)]
extern "C" fn nvmlDeviceGetPcieThroughput(
    handle: Handle,
    direction: c_uint,
    kilobytes: *mut c_uint,
) -> Code {
    one(handle, &format!("nvmlDeviceGetPcieThroughput.{direction}"), kilobytes)
}

#[unsafe(no_mangle)]
extern "C" fn nvmlDeviceGetTotalEccErrors(
    handle: Handle,
    kind: c_uint,
    _since: c_uint,
    count: *mut c_ulonglong,
) -> Code {
    one(handle, &format!("nvmlDeviceGetTotalEccErrors.{kind}"), count)
}
