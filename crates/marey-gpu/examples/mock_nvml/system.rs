//! Functions of the library as a whole.

use std::ffi::{c_char, c_int, c_uint};

use crate::place::{EMPTY, code, put, put_text};
use crate::script::{
    Code, Handle, INVALID_ARGUMENT, NOT_SUPPORTED, SUCCESS, UNINITIALIZED, handle_of, init, script,
    system,
};

#[unsafe(no_mangle)]
extern "C" fn nvmlInit_v2() -> Code {
    begin()
}

/// How Python's bindings begin, which `benches/python/telemetry.py` measures against.
#[unsafe(no_mangle)]
extern "C" fn nvmlInitWithFlags(_flags: c_uint) -> Code {
    begin()
}

fn begin() -> Code {
    match init().system.answer("nvmlInit_v2", true) {
        Err(code) if code != NOT_SUPPORTED => code,
        _ => SUCCESS,
    }
}

#[unsafe(no_mangle)]
extern "C" fn nvmlShutdown() -> Code {
    SUCCESS
}

#[unsafe(no_mangle)]
extern "C" fn nvmlErrorString(_code: Code) -> *const c_char {
    EMPTY.as_ptr().cast()
}

#[unsafe(no_mangle)]
extern "C" fn nvmlSystemGetDriverVersion(text: *mut c_char, length: c_uint) -> Code {
    put_text(text, length, system().and_then(|system| system.text("nvmlSystemGetDriverVersion")))
}

#[unsafe(no_mangle)]
extern "C" fn nvmlSystemGetNVMLVersion(text: *mut c_char, length: c_uint) -> Code {
    put_text(text, length, system().and_then(|system| system.text("nvmlSystemGetNVMLVersion")))
}

#[unsafe(no_mangle)]
extern "C" fn nvmlSystemGetCudaDriverVersion_v2(version: *mut c_int) -> Code {
    let numbers = system().and_then(|system| system.numbers("nvmlSystemGetCudaDriverVersion_v2"));
    numbers
        .map_or_else(|code| code, |numbers| put(version, c_int::try_from(numbers[0]).unwrap_or(0)))
}

#[unsafe(no_mangle)]
extern "C" fn nvmlDeviceGetCount_v2(count: *mut c_uint) -> Code {
    let Ok(script) = script() else {
        return UNINITIALIZED;
    };
    match script.system.numbers("nvmlDeviceGetCount_v2") {
        Err(code) if code != NOT_SUPPORTED => code,
        _ => put(count, c_uint::try_from(script.gpus().count()).unwrap_or(0)),
    }
}

#[unsafe(no_mangle)]
extern "C" fn nvmlDeviceGetHandleByIndex_v2(index: c_uint, handle: *mut Handle) -> Code {
    code((|| {
        let gpu = script()?.gpus().nth(index as usize).ok_or(INVALID_ARGUMENT)?;
        if let Err(code) = gpu.answer("nvmlDeviceGetHandleByIndex_v2", true)
            && code != NOT_SUPPORTED
        {
            return Err(code);
        }
        put(handle, handle_of(gpu)?);
        Ok(())
    })())
}
