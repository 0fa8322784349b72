//! SIGINT and SIGTERM: the first one cancels the run, so that keys are wiped and the peers are
//! told; the second one ends the process at once.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use symbolon::{CancelHandle, NoThread};

use crate::common::error::{CliError, CliResult};
use crate::common::signal;

/// The flags that are set when a signal comes.
static FLAGS: Mutex<Vec<Arc<AtomicBool>>> = Mutex::new(Vec::new());

/// Returns the handle that cancels every session of this process. From the first call on, signals
/// are caught.
///
/// # Errors
/// A failure of the class `System` when there is no descriptor or thread for that.
pub fn handle() -> CliResult<&'static CancelHandle> {
    static HANDLE: OnceLock<CliResult<CancelHandle>> = OnceLock::new();
    let handle = HANDLE.get_or_init(|| {
        let handle = CancelHandle::new();
        catch(handle.clone()).map(|()| handle)
    });
    handle.as_ref().map_err(CliError::clone)
}

/// Sets `flag` when a signal comes.
///
/// # Errors
/// Those of [`handle`].
pub fn set_on_signal(flag: &Arc<AtomicBool>) -> CliResult<()> {
    handle()?;
    FLAGS.lock().unwrap_or_else(PoisonError::into_inner).push(flag.clone());
    Ok(())
}

/// Sets `flag` at every SIGHUP: an operator asks for the settings to be read again, or the terminal
/// hangs up. The signal then no longer ends this process.
///
/// # Errors
/// A failure of the class `System` when that is not possible.
#[cfg(unix)]
pub fn set_on_hangup(flag: &Arc<AtomicBool>) -> CliResult<()> {
    let done = signal_hook::flag::register(signal_hook::consts::SIGHUP, flag.clone());
    done.map(drop).map_err(|error| CliError::system(format!("cannot catch signals: {error}")))
}

/// There is no such signal on this system.
#[cfg(not(unix))]
pub fn set_on_hangup(_flag: &Arc<AtomicBool>) -> CliResult<()> {
    Ok(())
}

#[cfg(unix)]
fn catch(cancel: CancelHandle) -> CliResult<()> {
    use signal_hook::consts::{SIGINT, SIGTERM};
    use signal_hook::iterator::Signals;
    let uncaught = |error| CliError::system(format!("cannot catch signals: {error}"));
    let mut signals = Signals::new([SIGINT, SIGTERM]).map_err(uncaught)?;
    let watch = move || {
        for signal in signals.forever() {
            if signal::came_before(signal) {
                std::process::exit(signal::exit_code().into());
            }
            cancel.cancel();
            let flags = FLAGS.lock().unwrap_or_else(PoisonError::into_inner);
            flags.iter().for_each(|flag| flag.store(true, Ordering::SeqCst));
        }
    };
    let thread = std::thread::Builder::new().name("symbolon-signals".to_string()).spawn(watch);
    Ok(thread.map(drop).map_err(NoThread)?)
}

#[cfg(not(unix))]
fn catch(_cancel: CancelHandle) -> CliResult<()> {
    Ok(())
}
