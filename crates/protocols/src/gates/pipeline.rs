//! Work on a second thread beside this one.
//!
//! # The function-dependent phase of a circuit that is kept
//! It is two walks, one behind the other: over the masks, which opens d and e, and over the labels, which garbles chunk by
//! chunk, or takes in what is garbled. With several lanes, and more than one chunk of gates, each has a thread:
//! the walk over the masks runs [`AHEAD`] chunks ahead, and its openings go by the second lane. What can be made of a chunk
//! without the first lane's messages is made by its thread, too.
//!
//! # Why that is safe
//! A chunk is garbled, or its table taken in, when its own d and e were opened and their MACs found right, as on one thread.
//! What differs is that the openings of later chunks may be on their way, or fail, meanwhile. They are on their way on one thread, too
//! ([`crate::gates::mask_pass`]): an opening is a function of masks and triples that are fixed when the phase begins, and shows d and e, which are
//! uniform whatever tables say. When an opening is wrong, this party's other walk ends behind the chunks before it: whatever it garbles and sends
//! until then is of gates whose own openings were right.

use std::sync::mpsc::{self, Receiver, Sender, SyncSender};
use std::thread;

use symbolon_primitives::stack;
use symbolon_transport::{Channel, Error, Result};

use crate::{
    Network,
    gates::correlations::Correlations,
    gates::mask_pass::{MaskPass, MaskedGates},
};

/// How many chunks wait for the walk over the labels.
const AHEAD: usize = 2;

/// Walks over the masks, and has each chunk dealt with in the order of the walk: first what needs no message, by `begin`,
/// then the rest, by `deal`, with the first lane's channels. On one thread there is nothing begun: `deal` does that too, and better
/// bit by bit, between messages.
pub(crate) fn run<T: Send>(
    masks: &mut MaskPass<'_>,
    correlations: &mut Correlations,
    net: &mut Network,
    begin: impl Fn(&MaskedGates) -> T + Send,
    mut deal: impl FnMut(&mut [Channel], &MaskedGates, Option<T>) -> Result<()>,
) -> Result<()> {
    let [first, others @ ..] = &mut net.lanes[..] else {
        return Err(Error::internal("a session without lanes"));
    };
    let Some(second) = others.first_mut().filter(|_| masks.is_long()) else {
        while let Some(chunk) = masks.next_chunk(first, correlations)? {
            deal(first, &chunk, None)?;
            masks.recycle(chunk);
        }
        return Ok(());
    };
    let (ready, chunks) = mpsc::sync_channel(AHEAD);
    let (spent, used) = mpsc::channel();
    masks.has_a_lane = true;
    thread::scope(|scope| {
        let next = move || {
            used.try_iter().for_each(|chunk| masks.recycle(chunk));
            let chunk = masks.next_chunk(second, correlations)?;
            Ok(chunk.map(|chunk| (begin(&chunk), chunk)))
        };
        let walk = scope.spawn(move || stack::wiped(|| produce(next, ready)));
        let dealt = consume(first, (chunks, spent), &mut deal);
        join(walk.join(), dealt)
    })
}

/// The walk over the masks, as long as there are gates and somebody takes the chunks.
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

/// Deals with the chunks as they come, until there are no more; gives back their memory.
fn consume<T>(
    channels: &mut [Channel],
    (chunks, spent): (Receiver<(T, MaskedGates)>, Sender<MaskedGates>),
    deal: &mut impl FnMut(&mut [Channel], &MaskedGates, Option<T>) -> Result<()>,
) -> Result<()> {
    loop {
        // The evaluator need not wait for the end of what was garbled.
        flush(channels)?;
        let Ok((begun, chunk)) = chunks.recv() else {
            return Ok(());
        };
        deal(channels, &chunk, Some(begun))?;
        // After the last chunk nobody is there any more who could use it.
        let _ = spent.send(chunk);
    }
}

/// What a thread beside this one and this one have come to.
pub(crate) fn join<T>(beside: thread::Result<Result<()>>, here: Result<T>) -> Result<T> {
    let panicked = |_| Err(Error::internal("a thread of this party panicked"));
    match (beside.unwrap_or_else(panicked), here) {
        // A failed check is the better news than what broke because of it.
        (Err(_), Err(caught @ Error::PeerMisbehaved { .. })) => Err(caught),
        (Err(error), _) => Err(error),
        (Ok(()), here) => here,
    }
}

/// Sends what waits to be sent.
pub(crate) fn flush(channels: &mut [Channel]) -> Result<()> {
    channels.iter_mut().try_for_each(Channel::flush)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn misbehaved() -> Error {
        Error::misbehaved(1, "a check")
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
