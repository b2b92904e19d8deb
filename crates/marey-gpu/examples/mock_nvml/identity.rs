//! Who a GPU is, and its instances.

use std::ffi::{c_char, c_int, c_uint};

use crate::place::{code, put, put_text};
use crate::script::{
    Code, Handle, INVALID_ARGUMENT, NOT_SUPPORTED, Subject, handle_of, script, subject,
};

#[unsafe(no_mangle)]
extern "C" fn nvmlDeviceGetName(handle: Handle, text: *mut c_char, length: c_uint) -> Code {
    put_text(text, length, subject(handle).and_then(|gpu| gpu.text("nvmlDeviceGetName")))
}

#[unsafe(no_mangle)]
extern "C" fn nvmlDeviceGetUUID(handle: Handle, text: *mut c_char, length: c_uint) -> Code {
    let uuid = subject(handle).and_then(|gpu| match gpu.answer("nvmlDeviceGetUUID", true) {
        Err(code) if code != NOT_SUPPORTED => Err(code),
        _ => Ok(gpu.uuid.clone()),
    });
    put_text(text, length, uuid)
}

/// `nvmlPciInfo_t`.
#[repr(C)]
struct PciInfo {
    bus_id_legacy: [c_char; 16],
    domain: c_uint,
    bus: c_uint,
    device: c_uint,
    device_id: c_uint,
    subsystem_id: c_uint,
    bus_id: [c_char; 32],
}

/// Answers `domain/bus/device`.
#[unsafe(no_mangle)]
extern "C" fn nvmlDeviceGetPciInfo_v3(handle: Handle, info: *mut PciInfo) -> Code {
    let numbers = match subject(handle).and_then(|gpu| gpu.numbers("nvmlDeviceGetPciInfo_v3")) {
        Ok(numbers) if numbers.len() == 3 => numbers,
        Ok(_) => return INVALID_ARGUMENT,
        Err(code) => return code,
    };
    let number = |place: usize| c_uint::try_from(numbers[place]).unwrap_or(0);
    let (domain, bus, device) = (number(0), number(1), number(2));
    let mut bus_id = [0; 32];
    let address = format!("{domain:08X}:{bus:02X}:{device:02X}.0");
    for (place, byte) in bus_id.iter_mut().zip(address.bytes()) {
        *place = byte.cast_signed();
    }
    let info_read = PciInfo {
        bus_id_legacy: [0; 16],
        domain,
        bus,
        device,
        device_id: 0,
        subsystem_id: 0,
        bus_id,
    };
    put(info, info_read)
}

#[unsafe(no_mangle)]
extern "C" fn nvmlDeviceGetCudaComputeCapability(
    handle: Handle,
    major: *mut c_int,
    minor: *mut c_int,
) -> Code {
    two(handle, "nvmlDeviceGetCudaComputeCapability", major, minor)
}

#[unsafe(no_mangle)]
extern "C" fn nvmlDeviceGetMigMode(
    handle: Handle,
    current: *mut c_uint,
    pending: *mut c_uint,
) -> Code {
    two(handle, "nvmlDeviceGetMigMode", current, pending)
}

/// Writes the two numbers of an answer.
fn two<T: TryFrom<u64> + Default>(
    handle: Handle,
    function: &str,
    first: *mut T,
    second: *mut T,
) -> Code {
    match subject(handle).and_then(|gpu| gpu.numbers(function)) {
        Ok(numbers) if numbers.len() == 2 => {
            put(first, T::try_from(numbers[0]).unwrap_or_default());
            put(second, T::try_from(numbers[1]).unwrap_or_default())
        }
        Ok(_) => INVALID_ARGUMENT,
        Err(code) => code,
    }
}

fn instances(handle: Handle) -> Result<Vec<&'static Subject>, Code> {
    let place = handle.addr().checked_sub(1);
    let subjects = script()?.subjects.iter();
    Ok(subjects.filter(|one| one.parent.is_some() && one.parent == place).collect())
}

#[unsafe(no_mangle)]
extern "C" fn nvmlDeviceGetMaxMigDeviceCount(handle: Handle, count: *mut c_uint) -> Code {
    instances(handle)
        .map_or_else(|code| code, |all| put(count, c_uint::try_from(all.len()).unwrap_or(0)))
}

#[unsafe(no_mangle)]
extern "C" fn nvmlDeviceGetMigDeviceHandleByIndex(
    handle: Handle,
    index: c_uint,
    instance: *mut Handle,
) -> Code {
    code((|| {
        let all = instances(handle)?;
        let found = all.get(index as usize).ok_or(INVALID_ARGUMENT)?;
        put(instance, handle_of(found)?);
        Ok(())
    })())
}
