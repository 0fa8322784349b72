//! Two threads in the function-dependent phase of a circuit that is kept.
//!
//! The phase consists of two passes, one after the other: over the masks, which opens d and e, and
//! over the labels, which garbles chunk by chunk or receives garbled gates. With several lanes, and
//! more than one chunk of gates, each pass has a thread: the pass over the masks runs [`AHEAD`]
//! chunks ahead, and its openings use the second lane. Its thread also does everything for a chunk
//! that does not need the first lane's messages.
//!
//! Departure: order, with threads | masks, triples, openings, garbling | masks of one batch before
//! the triples of the last; openings ahead of garbling | each is checked before its use
//!
//! # Why this is safe
//! As on one thread, a chunk is garbled, or its table received, only after its own d and e were
//! opened and their MACs verified. The difference is that the openings of later chunks may be in
//! transit, or fail, meanwhile. They are in transit on one thread, too ([`super::mask_pass`]): an
//! opening is a function of masks and triples that are fixed when the phase begins, and reveals d
//! and e, which are uniform whatever the tables contain. If an opening is wrong, this party's other
//! pass ends after the chunks before it: everything that it garbles and sends until then belongs to
//! gates whose own openings were right.

use std::sync::mpsc::{self, Receiver, Sender, SyncSender};
use std::thread;

use symbolon_circuit::Plan;
use symbolon_engine::Network;
use symbolon_primitives::stack;
use symbolon_transport::{Channel, Error, Result, Step, threads};

use super::masked_gates::{CHUNK, Lane, MaskedGateStream, MaskedGates};

/// How many chunks wait to be consumed.
const AHEAD: usize = 2;

/// Passes all chunks of `gates` to `consume`, in order, with the first lane's channels. `begin`
/// does the part of the work that needs no message, on the thread of the masks if they have one;
/// otherwise it would not pay to do all of it before the first message arrives.
pub(crate) fn run<T: Send>(
    gates: &mut dyn MaskedGateStream,
    plan: &Plan,
    net: &mut Network,
    mut begin: impl FnMut(&MaskedGates, Lane) -> T + Send,
    mut consume: impl FnMut(&mut [Channel], &MaskedGates, T) -> Result<()>,
) -> Result<()> {
    let meter = net.meter.clone();
    meter.begin_step(Step::Gates, plan.and_count());
    let mut consume = |channels: &mut [Channel], chunk: &MaskedGates, begun: T| {
        consume(channels, chunk, begun)?;
        meter.advance(Step::Gates, chunk.len() as u64);
        Ok(())
    };
    let [first, others @ ..] = &mut net.lanes[..] else {
        return Err(Error::internal("a session without lanes"));
    };
    let Some(second) = others.first_mut().filter(|_| plan.and_count() > CHUNK as u64) else {
        while let Some(chunk) = gates.next(first, Lane::Shared)? {
            let begun = begin(&chunk, Lane::Shared);
            consume(first, &chunk, begun)?;
            gates.recycle(chunk);
        }
        return Ok(());
    };
    let (ready, chunks) = mpsc::sync_channel(AHEAD);
    let (spent, used) = mpsc::channel();
    let next = move || {
        used.try_iter().for_each(|chunk| gates.recycle(chunk));
        let chunk = gates.next(second, Lane::Own)?;
        Ok(chunk.map(|chunk| (begin(&chunk, Lane::Own), chunk)))
    };
    beside(|| produce(next, ready), || consume_all(first, chunks, spent, &mut consume))
}

/// Runs `other` in a thread and `here` on this one, both to their end; returns what `here` returns.
///
/// # Errors
/// `System` if the system gives no thread: then neither ran. A failure of one of them, as [`join`]
/// chooses.
pub(crate) fn beside<T>(
    other: impl FnOnce() -> Result<()> + Send,
    here: impl FnOnce() -> Result<T>,
) -> Result<T> {
    let (here, mut ended) = threads::beside([other], stack::wiped, here)?;
    join(ended.pop().unwrap_or(Ok(Ok(()))), here)
}

/// Sends chunks as long as there are gates and the receiver accepts them.
fn produce<T>(
    mut next: impl FnMut() -> Result<Option<(T, MaskedGates)>>,
    ready: SyncSender<(T, MaskedGates)>,
) -> Result<()> {
    while let Some(chunk) = next()? {
        if ready.send(chunk).is_err() {
            break;
        }
    }
    Ok(())
}

/// Consumes the chunks as they arrive, until there are no more; gives back their memory.
fn consume_all<T>(
    channels: &mut [Channel],
    chunks: Receiver<(T, MaskedGates)>,
    spent: Sender<MaskedGates>,
    consume: &mut impl FnMut(&mut [Channel], &MaskedGates, T) -> Result<()>,
) -> Result<()> {
    loop {
        // The evaluator need not wait until everything is garbled.
        flush(channels)?;
        let Ok((begun, chunk)) = chunks.recv() else {
            return Ok(());
        };
        consume(channels, &chunk, begun)?;
        // After the last chunk nobody can use the memory any more.
        let _ = spent.send(chunk);
    }
}

/// Combines the results of this thread and of the other.
fn join<T>(beside: thread::Result<Result<()>>, here: Result<T>) -> Result<T> {
    let panicked = |_| Err(Error::internal("a thread of this party panicked"));
    match (beside.unwrap_or_else(panicked), here) {
        // A failed check says more than an error that follows from it.
        (Err(_), Err(caught @ Error::PeerMisbehaved { .. })) => Err(caught),
        (Err(error), _) => Err(error),
        (Ok(()), here) => here,
    }
}

/// Sends what is pending.
pub(crate) fn flush(channels: &mut [Channel]) -> Result<()> {
    channels.iter_mut().try_for_each(Channel::flush)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn misbehaved() -> Error {
        Error::misbehaved(1, symbolon_transport::checks::FRAMING)
    }

    fn broken() -> Error {
        Error::internal("what broke")
    }

    #[test]
    fn a_failed_check_is_reported_before_what_broke_because_of_it() {
        type Ended = Result<()>;
        let ended = |beside: Ended, here: Ended| join(Ok(beside), here).map_err(|e| e.to_string());
        let (check, end) = (misbehaved().to_string(), broken().to_string());
        assert_eq!(ended(Ok(()), Ok(())), Ok(()));
        assert_eq!(ended(Err(misbehaved()), Err(broken())), Err(check.clone()));
        assert_eq!(ended(Err(broken()), Err(misbehaved())), Err(check.clone()));
        assert_eq!(ended(Err(misbehaved()), Ok(())), Err(check.clone()));
        assert_eq!(ended(Ok(()), Err(misbehaved())), Err(check));
        assert_eq!(ended(Err(broken()), Ok(())), Err(end.clone()));
        assert_eq!(ended(Ok(()), Err(broken())), Err(end));
    }

    #[test]
    fn a_panic_beside_is_an_error_here() {
        let beside = thread::spawn(|| panic!("on purpose")).join();
        let ended = join(beside, Ok(()));
        assert!(matches!(ended, Err(Error::Internal(text)) if text.contains("panicked")));
    }
}
