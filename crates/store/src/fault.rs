//! Named points at which a test aborts or pauses the process, or simulates a full disk.
//!
//! Active only under the feature `faults` and in this crate's own tests. In a normal build the
//! calls do nothing.

/// Every fault point, in the order of the operations that pass it.
///
/// With `SYMBOLON_FAULT=NAME` the process aborts when it reaches the point, with `NAME:3` when it
/// reaches the point for the third time. With `SYMBOLON_FULL=NAME` the disk is full there instead,
/// if `NAME` is one of [`WRITES`]. With `SYMBOLON_PAUSE=NAME` the process says so on standard error
/// and waits there until its standard input ends.
#[cfg(any(test, feature = "faults"))]
pub const POINTS: &[&str] = &[
    "create.directories",
    "create.manifest",
    "begin.directory",
    "begin.files",
    "write.frame",
    "finish.flushed",
    "finish.unlocked",
    "finish.moved",
    "finish.renamed",
    "finish.committed",
    "commit.written",
    "head.created",
    "head.written",
    "commit.decided",
    "commit.done",
    "take.checked",
    "take.committed",
    "void.committed",
    "collect.aside",
    "discard.file",
    "discard.directory",
    "encrypt.item",
    "encrypt.body",
    "encrypt.switched",
    "encrypt.removed",
];

/// The points, in [`POINTS`] and others, at which the disk can be full.
#[cfg(any(test, feature = "faults"))]
pub const WRITES: &[&str] =
    &["begin.directory", "begin.files", "write.frame", "finish.flushed", "replace.write"];

#[cfg(any(test, feature = "faults"))]
mod active {
    use std::collections::HashMap;
    use std::sync::Mutex;

    /// How often this process has passed each point.
    static PASSED: Mutex<Option<HashMap<&'static str, u64>>> = Mutex::new(None);

    /// Returns whether the environment variable names this point and this pass.
    pub(super) fn is_due(variable: &str, name: &'static str) -> bool {
        let Ok(wanted) = std::env::var(variable) else { return false };
        let (point, time) = match wanted.split_once(':') {
            Some((point, time)) => (point, time.parse().unwrap_or(1)),
            None => (wanted.as_str(), 1),
        };
        if point != name {
            return false;
        }
        let mut passed = PASSED.lock().unwrap_or_else(|e| e.into_inner());
        let count = passed.get_or_insert_default().entry(name).or_default();
        *count += 1;
        *count == time
    }
}

/// Returns whether a test asks for files without birth times, as on some file systems.
#[cfg(any(test, feature = "faults"))]
pub(crate) fn hides_births() -> bool {
    std::env::var_os("SYMBOLON_NO_BIRTHS").is_some()
}

/// Returns whether a test asks for files without birth times, as on some file systems.
#[cfg(not(any(test, feature = "faults")))]
#[inline(always)]
pub(crate) fn hides_births() -> bool {
    false
}

/// Marks a point at which a test may abort or pause the process.
#[cfg(any(test, feature = "faults"))]
pub(crate) fn point(name: &'static str) {
    assert!(POINTS.contains(&name), "{name} is not in the list of points");
    if active::is_due("SYMBOLON_FAULT", name) {
        std::process::abort();
    }
    if active::is_due("SYMBOLON_PAUSE", name) {
        eprintln!("paused at {name}");
        let _ = std::io::stdin().read_line(&mut String::new());
    }
}

/// Marks a point at which a test may abort or pause the process.
#[cfg(not(any(test, feature = "faults")))]
#[inline(always)]
pub(crate) fn point(_name: &'static str) {}

/// Marks a point at which a test may simulate a full disk.
#[cfg(any(test, feature = "faults"))]
pub(crate) fn write(name: &'static str) -> std::io::Result<()> {
    assert!(WRITES.contains(&name), "{name} is not in the list of writes");
    if active::is_due("SYMBOLON_FULL", name) {
        return Err(std::io::ErrorKind::StorageFull.into());
    }
    Ok(())
}

/// Marks a point at which a test may simulate a full disk.
#[cfg(not(any(test, feature = "faults")))]
#[inline(always)]
pub(crate) fn write(_name: &'static str) -> std::io::Result<()> {
    Ok(())
}
