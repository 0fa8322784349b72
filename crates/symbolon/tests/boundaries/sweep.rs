//! Many runs with one fault each, several side by side. None may hang or panic.

use std::fmt::Debug;
use std::sync::{Mutex, mpsc};
use std::time::Duration;

/// When a run counts as hanging. This is far above everything that a loaded machine needs.
pub const HANGING: Duration = Duration::from_secs(60);

/// Tries the cases, several side by side, because most of them only wait. `attempt` returns what is
/// wrong with how one ended.
#[track_caller]
pub fn try_all<C: Copy + Debug + Send + 'static>(
    cases: Vec<C>,
    attempt: fn(C) -> Result<(), String>,
) {
    let queue = Mutex::new(cases.into_iter());
    let next = || queue.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).next();
    let failed: Mutex<Vec<String>> = Mutex::default();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                while let Some(case) = next() {
                    if let Err(reason) = try_one(case, attempt) {
                        failed.lock().unwrap().push(format!("{case:?}: {reason}"));
                    }
                }
            });
        }
    });
    let failed = failed.into_inner().unwrap();
    assert!(failed.is_empty(), "{} cases failed:\n{}", failed.len(), failed.join("\n"));
}

/// Runs one case in its own thread, so that neither a panic nor a hang goes unnoticed.
fn try_one<C: Copy + Send + 'static>(
    case: C,
    attempt: fn(C) -> Result<(), String>,
) -> Result<(), String> {
    let (done, wait) = mpsc::channel();
    let thread = std::thread::spawn(move || {
        // Nobody receives any more if this took too long.
        let _ = done.send(attempt(case));
    });
    match wait.recv_timeout(HANGING) {
        Ok(ended) => ended,
        Err(mpsc::RecvTimeoutError::Timeout) => Err("hangs".into()),
        Err(mpsc::RecvTimeoutError::Disconnected) => {
            let panic = thread.join().err();
            let text = panic.and_then(|p| p.downcast::<String>().ok()).unwrap_or_default();
            Err(format!("panicked: {text}"))
        }
    }
}
