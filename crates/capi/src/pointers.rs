//! Raw pointers become references and boxes here, and nowhere else.

use std::ffi::{CStr, CString, c_char, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};

use symbolon::{Error, Result};

/// A handle that is only read.
///
/// # Safety
/// `handle` is null, or from [`give`] and not freed.
pub unsafe fn handle<'a, T>(handle: *const T, what: &str) -> Result<&'a T> {
    // SAFETY: the caller's promise.
    unsafe { handle.as_ref() }.ok_or_else(|| missing(what))
}

/// A handle that is changed.
///
/// # Safety
/// `handle` is null, or from [`give`], not freed, and in no other use.
pub unsafe fn handle_mut<'a, T>(handle: *mut T, what: &str) -> Result<&'a mut T> {
    // SAFETY: the caller's promise.
    unsafe { handle.as_mut() }.ok_or_else(|| missing(what))
}

/// Whether there is a place for a result, before any work is done for it.
pub fn place<T>(out: *mut T) -> Result<()> {
    if out.is_null() { Err(missing("the place for the result")) } else { Ok(()) }
}

/// Hands a plain value over to C.
///
/// # Safety
/// `out` is null, or a pointer to be written to.
pub unsafe fn put<T>(out: *mut T, value: T) -> Result<()> {
    place(out)?;
    // SAFETY: not null, so it is to be written to.
    unsafe { out.write(value) };
    Ok(())
}

/// Hands a new handle over to C, which frees it with [`free`].
///
/// # Safety
/// `out` is null, or a pointer to be written to.
pub unsafe fn give<T>(out: *mut *mut T, value: T) -> Result<()> {
    place(out)?;
    // SAFETY: not null, so it is to be written to.
    unsafe { put(out, Box::into_raw(Box::new(value))) }
}

/// Hands new handles over to C, one in each place of an array, as [`give`] does.
///
/// # Safety
/// `out` is null, or points to places for all of `values`.
pub unsafe fn give_all<T>(out: *mut *mut T, values: Vec<T>) -> Result<()> {
    place(out)?;
    for (number, value) in values.into_iter().enumerate() {
        // SAFETY: the caller's promise.
        unsafe { out.add(number).write(Box::into_raw(Box::new(value))) };
    }
    Ok(())
}

/// Takes a handle back and drops it.
///
/// # Safety
/// `handle` is null, or from [`give`], not freed, and never used again.
pub unsafe fn free<T>(handle: *mut T) {
    if handle.is_null() {
        return;
    }
    // SAFETY: `give` made it of a box, and it is freed once.
    let owned = unsafe { Box::from_raw(handle) };
    // A panic must not cross the border here either.
    let _ = catch_unwind(AssertUnwindSafe(|| drop(owned)));
}

/// A string of C.
///
/// # Safety
/// `text` is null, or ends with a zero byte and stays as it is for `'a`.
pub unsafe fn text<'a>(text: *const c_char, what: &str) -> Result<&'a str> {
    // SAFETY: the caller's promise.
    unsafe { optional_text(text, what) }?.ok_or_else(|| missing(what))
}

/// A string of C, or null for none.
///
/// # Safety
/// As [`text`].
pub unsafe fn optional_text<'a>(text: *const c_char, what: &str) -> Result<Option<&'a str>> {
    if text.is_null() {
        return Ok(None);
    }
    // SAFETY: not null, so it ends with a zero byte.
    let text = unsafe { CStr::from_ptr(text) };
    let text = text.to_str().map_err(|_| Error::invalid_input(format!("{what} is not UTF-8")))?;
    Ok(Some(text))
}

/// An array of C. The caller has compared `count` with a limit: a wrong one would have memory read
/// that is not of the array.
///
/// # Safety
/// `first` is null, or points to `count` values that stay as they are for `'a`.
pub unsafe fn array<'a, T>(first: *const T, count: usize, what: &str) -> Result<&'a [T]> {
    if count == 0 {
        return Ok(&[]);
    }
    if first.is_null() {
        return Err(missing(what));
    }
    // SAFETY: not null, so there are as many.
    Ok(unsafe { std::slice::from_raw_parts(first, count) })
}

/// A pointer that C handed over to have it handed back, and never looked at here.
#[derive(Clone, Copy)]
pub struct Data(pub *mut c_void);

// SAFETY: nothing is done with it here. `symbolon_config_on_progress` demands of the caller that
// it may be used from any thread.
unsafe impl Send for Data {}
// SAFETY: the same.
unsafe impl Sync for Data {}

/// Work with pointers of C, lent to another thread.
pub struct Lent<W>(W);

impl<W> Lent<W> {
    /// Lends `work`.
    ///
    /// # Safety
    /// The lender waits for the thread that does `work` or drops it, and touches nothing of it
    /// before. Nothing in it belongs to one thread, as a lock or an `Rc` would.
    pub unsafe fn new(work: W) -> Self {
        Lent(work)
    }

    /// The work, on the thread that it was lent to.
    pub fn take(self) -> W {
        self.0
    }
}

// SAFETY: the promise to `new`. Handles may change threads, as `lib.rs` asserts of their types.
unsafe impl<W> Send for Lent<W> {}

/// A string for C. A zero byte, which none of our texts has, would be left out.
pub fn c_string(text: &str) -> CString {
    CString::new(text.replace('\0', "")).unwrap_or_default()
}

fn missing(what: &str) -> Error {
    Error::invalid_input(format!("{what} is a null pointer"))
}
