//! Threads of a computation. A machine without another thread for it is an error, and never a
//! panic, which is what `thread::spawn` and `Scope::spawn` make of that.

use std::sync::OnceLock;
use std::thread;

use crate::{NoThread, Result};

/// Runs `here` on this thread while `work` runs on each of `parts`, each on its own thread. Returns
/// what `here` returned, and how every thread ended, in order.
///
/// Nothing begins until all threads exist: without one of them the others would wait for it, or
/// their peers would.
///
/// # Errors
/// [`Error::System`](crate::Error::System) if the system gives too few threads; then neither `work`
/// nor `here` ran.
pub fn beside<P: Send, R: Send, O>(
    parts: impl IntoIterator<Item = P>,
    work: impl Fn(P) -> R + Sync,
    here: impl FnOnce() -> O,
) -> Result<(O, Vec<thread::Result<R>>)> {
    beside_with(|_| thread::Builder::new(), parts, work, here)
}

/// Does the same with threads that `builder` prepares, by number.
fn beside_with<P: Send, R: Send, O>(
    builder: impl Fn(usize) -> thread::Builder,
    parts: impl IntoIterator<Item = P>,
    work: impl Fn(P) -> R + Sync,
    here: impl FnOnce() -> O,
) -> Result<(O, Vec<thread::Result<R>>)> {
    let parts: Vec<P> = parts.into_iter().collect();
    let (complete, work) = (OnceLock::<bool>::new(), &work);
    let begins = &complete;
    thread::scope(|scope| {
        let mut threads = Vec::with_capacity(parts.len());
        let started: Result<()> = parts.into_iter().enumerate().try_for_each(|(number, part)| {
            let run = move || begins.wait().then(|| work(part));
            let thread = builder(number).name("symbolon-worker".to_string());
            threads.push(thread.spawn_scoped(scope, run).map_err(NoThread)?);
            Ok(())
        });
        // Only this sets it, and the threads wait for it.
        let _ = complete.set(started.is_ok());
        started?;
        let here = here();
        let ended = threads.into_iter().filter_map(|thread| match thread.join() {
            Ok(done) => done.map(Ok),
            Err(panic) => Some(Err(panic)),
        });
        Ok((here, ended.collect()))
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::Error;

    #[test]
    fn results_keep_the_order_of_the_parts() {
        let (here, ended) = beside(0..5, |part| 10 * part, || "here").unwrap();
        let ended: Vec<u32> = ended.into_iter().map(|end| end.unwrap()).collect();
        assert_eq!((here, ended), ("here", vec![0, 10, 20, 30, 40]));
        assert_eq!(beside([], |part: u8| part, || 7).unwrap().0, 7);
    }

    #[test]
    fn all_parts_run_at_once() {
        let all_here = Barrier::new(3);
        let (_, ended) = beside(0..2, |_| all_here.wait(), || all_here.wait()).unwrap();
        assert_eq!(ended.len(), 2);
    }

    #[test]
    fn a_panic_is_the_end_of_its_own_thread() {
        let (_, ended) = beside(0..3, |part| assert!(part != 1, "on purpose"), || ()).unwrap();
        assert_eq!(ended.iter().map(|end| end.is_ok()).collect::<Vec<_>>(), [true, false, true]);
    }

    /// The last of three threads asks for more stack than there are addresses.
    #[test]
    fn without_a_thread_nothing_runs() {
        let ran = AtomicUsize::new(0);
        let count = || ran.fetch_add(1, Ordering::SeqCst);
        let builder = |number| match number {
            2 => thread::Builder::new().stack_size(1 << 60),
            _ => thread::Builder::new(),
        };
        let error = beside_with(builder, 0..3, |_| count(), count).unwrap_err();
        assert!(matches!(&error, Error::System(_)), "{error}");
        assert!(error.to_string().starts_with("cannot start a thread: "), "{error}");
        assert_eq!(ran.load(Ordering::SeqCst), 0);
    }
}
