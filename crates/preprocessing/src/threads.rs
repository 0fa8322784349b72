//! Runs work on several threads at once.

use symbolon_primitives::stack;
use symbolon_transport::{Error, Result, threads};

/// Applies `work` to each part, to the first on this thread and to every other on its own thread.
/// Returns the results in order.
///
/// # Errors
/// `System` if the system gives too few threads: then no part was begun. `Internal` if a thread
/// panicked, after all have ended.
pub(crate) fn each<P: Send, R: Send>(
    parts: impl IntoIterator<Item = P>,
    work: impl Fn(P) -> R + Sync,
) -> Result<Vec<R>> {
    let mut parts = parts.into_iter();
    let Some(first) = parts.next() else { return Ok(Vec::new()) };
    let (first, others) =
        threads::beside(parts, |part| stack::wiped(|| work(part)), || work(first))?;
    let panicked = |_| Error::internal("a lane's thread panicked");
    std::iter::once(Ok(first)).chain(others).map(|done| done.map_err(panicked)).collect()
}

/// Returns the first error, but prefers a failed check: it says more than the broken connection
/// that follows from it.
pub(crate) fn first_failure(ended: Vec<Result<()>>) -> Result<()> {
    let mut failed = ended.into_iter().filter_map(Result::err);
    let Some(first) = failed.next() else { return Ok(()) };
    let caught = |error: &Error| matches!(error, Error::PeerMisbehaved { .. });
    if caught(&first) { Err(first) } else { Err(failed.find(caught).unwrap_or(first)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_keep_the_order_of_the_parts() {
        assert_eq!(each(0..5, |part| 10 * part).unwrap(), [0, 10, 20, 30, 40]);
        assert_eq!(each(0..0, |part: u8| part).unwrap(), []);
    }

    #[test]
    fn parts_are_worked_on_at_the_same_time() {
        let all_here = std::sync::Barrier::new(3);
        each(0..3, |_| all_here.wait()).unwrap();
    }

    #[test]
    fn a_panic_elsewhere_is_an_error_here() {
        let ended = each(0..3, |part| assert!(part != 1, "on purpose"));
        assert!(matches!(ended, Err(Error::Internal(text)) if text.contains("panicked")));
    }
}
