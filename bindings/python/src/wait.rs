//! Work that takes long: without the lock of the interpreter, and cancelled by Ctrl-C.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Mutex;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use pyo3::prelude::*;
use symbolon::CancelHandle;

/// How often a waiting call looks for a signal.
const LOOK: Duration = Duration::from_millis(100);

/// Runs `work` in a thread of its own while other threads of Python go on. A signal whose handler
/// raises, such as Ctrl-C, cancels it by `cancel`; what the handler raised is raised once the work
/// has ended.
pub(crate) fn wait<T: Send>(
    py: Python<'_>,
    cancel: &CancelHandle,
    work: impl FnOnce() -> T + Send,
) -> PyResult<T> {
    std::thread::scope(|scope| {
        let (sender, receiver) = channel();
        let receiver = Mutex::new(receiver);
        let started = std::thread::Builder::new().spawn_scoped(scope, move || {
            let _ = sender.send(catch_unwind(AssertUnwindSafe(work)));
        });
        started.map_err(|error| {
            crate::error::OutOfResources::new_err(format!("there is no thread: {error}"))
        })?;
        let mut raised = Ok(());
        loop {
            let ended = py.detach(|| receiver.lock().expect("no panic").recv_timeout(LOOK));
            match ended {
                Ok(Ok(done)) => return raised.map(|()| done),
                Ok(Err(panic)) => resume_unwind(panic),
                Err(RecvTimeoutError::Timeout) if raised.is_ok() => {
                    raised = py.check_signals();
                    if raised.is_err() {
                        cancel.cancel();
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => unreachable!("the thread sends or panics"),
            }
        }
    })
}

/// Runs `work` in a thread of its own. A signal whose handler raises ends the wait at once, and
/// the work goes on without anybody who looks at it: a request cannot be taken back.
pub(crate) fn wait_or_leave<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce() -> T + Send + 'static,
) -> PyResult<T> {
    let (sender, receiver) = channel();
    let receiver = Mutex::new(receiver);
    let started = std::thread::Builder::new().spawn(move || {
        let _ = sender.send(catch_unwind(AssertUnwindSafe(work)));
    });
    started.map_err(|error| {
        crate::error::OutOfResources::new_err(format!("there is no thread: {error}"))
    })?;
    loop {
        match py.detach(|| receiver.lock().expect("no panic").recv_timeout(LOOK)) {
            Ok(Ok(done)) => return Ok(done),
            Ok(Err(panic)) => resume_unwind(panic),
            Err(RecvTimeoutError::Timeout) => py.check_signals()?,
            Err(RecvTimeoutError::Disconnected) => unreachable!("the thread sends or panics"),
        }
    }
}
