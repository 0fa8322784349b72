//! Expansions of silent OT with all peers, in both directions, where both sides know how many
//! correlated OTs come next.

use symbolon_transport::{Channel, Result};

use crate::setup::Lane;
use crate::silent::{SilentReceiver, SilentSender};

/// Both directions with one peer.
struct Side<'a> {
    channel: &'a mut Channel,
    sender: &'a mut dyn SilentSender,
    receiver: &'a mut dyn SilentReceiver,
    /// Whether there is a round: with this party as the sender, as the receiver.
    plans: [bool; 2],
}

/// Makes all expansions that the next draws need: those of this party take `own` outputs towards
/// each peer, and those of the peer with index p take `theirs[p]`. All parties must call this with
/// the same numbers. If the lanes are not silent, it does nothing.
///
/// Each step is taken with all peers before the next one is taken with any, and sends before it
/// waits: a round takes three trips over the links, whatever the number of peers.
///
/// # Errors
/// `PeerMisbehaved` if a check fails; `Transport` if a connection is lost.
pub fn supply(
    channels: &mut [Channel],
    lanes: &mut [Lane],
    own: usize,
    theirs: &[usize],
) -> Result<()> {
    let mut sides: Vec<Side<'_>> = Vec::with_capacity(lanes.len());
    for (lane, channel) in lanes.iter_mut().zip(channels) {
        let (Some(sender), Some(receiver)) = (lane.sender.silent(), lane.receiver.silent()) else {
            return Ok(());
        };
        sides.push(Side { channel, sender, receiver, plans: [false; 2] });
    }
    loop {
        for (side, theirs) in sides.iter_mut().zip(theirs) {
            side.plans = [side.sender.plan(*theirs), side.receiver.plan(own)];
        }
        if sides.iter().all(|side| side.plans == [false; 2]) {
            return Ok(());
        }
        make(&mut sides)?;
    }
}

/// Makes the round that was planned.
fn make(sides: &mut [Side<'_>]) -> Result<()> {
    let (by_sender, by_receiver) = (0, 1);
    let mut each = |whose: usize, step: fn(&mut Side<'_>) -> Result<()>| {
        sides.iter_mut().filter(|side| side.plans[whose]).try_for_each(step)
    };
    each(by_receiver, |side| side.receiver.send_base(side.channel))?;
    each(by_sender, |side| side.sender.offer(side.channel))?;
    each(by_receiver, |side| side.receiver.challenge(side.channel))?;
    each(by_sender, |side| side.sender.answer(side.channel))?;
    each(by_receiver, |side| side.receiver.accept(side.channel))
}
