//! Writing to the places that a caller gives.

use std::ffi::{c_char, c_uint};

use crate::script::{Code, INSUFFICIENT_SIZE, INVALID_ARGUMENT, SUCCESS};

/// Names handed out as pointers to C.
pub(crate) static EMPTY: &[u8] = b"\0";

/// Writes where a caller said, if it did.
pub(crate) fn put<T>(place: *mut T, value: T) -> Code {
    if place.is_null() {
        return INVALID_ARGUMENT;
    }
    // SAFETY: callers of these functions give a place for the value, or null.
    unsafe { place.write(value) };
    SUCCESS
}

/// Writes a text and its end into a caller's buffer.
pub(crate) fn put_text(place: *mut c_char, length: c_uint, text: Result<String, Code>) -> Code {
    let text = match text {
        Ok(text) => text,
        Err(code) => return code,
    };
    if text.len() >= length as usize {
        return INSUFFICIENT_SIZE;
    }
    // SAFETY: the caller's buffer has `length` bytes, and text and end are fewer.
    unsafe {
        place.cast::<u8>().copy_from_nonoverlapping(text.as_ptr(), text.len());
    };
    // SAFETY: within the buffer, see above.
    let end = unsafe { place.add(text.len()) };
    put(end, 0)
}

pub(crate) fn code(result: Result<(), Code>) -> Code {
    result.err().unwrap_or(SUCCESS)
}
