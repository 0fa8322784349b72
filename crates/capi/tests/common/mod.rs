//! What tests of the border share.

use std::ffi::{CStr, CString};
use std::ptr::null_mut;

use symbolon_c::*;

/// Calls, and returns the status with what the error says.
pub fn call(work: impl FnOnce(*mut *mut Failure) -> Status) -> (Status, String) {
    let mut error = null_mut();
    let status = work(&mut error);
    assert_eq!(status == Status::Ok, error.is_null());
    if error.is_null() {
        return (status, String::new());
    }
    // SAFETY: an error that was just given.
    unsafe {
        let text = CStr::from_ptr(symbolon_error_text(error)).to_str().unwrap().to_string();
        let code = CStr::from_ptr(symbolon_error_code(error)).to_str().unwrap().to_string();
        assert!(symbolon_error_check(error).is_null());
        symbolon_error_free(error);
        (status, format!("{code}: {text}"))
    }
}

/// An address with a port that was free a moment ago.
pub fn free_address() -> CString {
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    CString::new(free.local_addr().unwrap().to_string()).unwrap()
}
