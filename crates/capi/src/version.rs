//! Versions, which a program can compare before it calls anything else.

use std::ffi::c_char;

use crate::abi::SYMBOLON_ABI_VERSION;

/// The version of the library, such as `0.1.0`.
#[unsafe(no_mangle)]
pub extern "C" fn symbolon_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}

/// The number of the interface that the library has. A program may call it if this is the
/// `SYMBOLON_ABI_VERSION` of the header that the program was compiled with.
#[unsafe(no_mangle)]
pub extern "C" fn symbolon_abi_version() -> u32 {
    SYMBOLON_ABI_VERSION
}

/// The version of the messages, which all parties must have in common. `symbolon --version` shows
/// it, too.
#[unsafe(no_mangle)]
pub extern "C" fn symbolon_wire_version() -> u32 {
    symbolon::PROTOCOL_VERSION
}
