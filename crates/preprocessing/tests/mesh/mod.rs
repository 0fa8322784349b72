//! Parties in one process, every two of them connected by memory channels.
#![allow(dead_code, missing_docs)]

use std::time::Duration;

use symbolon_transport::bend::{Action, FnBend, note_caught};
use symbolon_transport::{Channel, Error, Meter, Result, SOMEBODY, memory_lanes};

/// One party's channels: `lanes[l][p]` is lane l's channel to the peer in place p.
pub type Lanes = Vec<Vec<Channel>>;

/// The lanes of each of `parties` parties.
pub fn mesh(parties: u16, lanes: usize) -> Vec<Lanes> {
    let mut all: Vec<Lanes> =
        (0..parties).map(|_| (0..lanes).map(|_| Vec::new()).collect()).collect();
    for i in 0..parties {
        for j in i + 1..parties {
            let pair = memory_lanes((i, Meter::new()), (j, Meter::new()), lanes, None).unwrap();
            for (party, channels) in [(i, pair.0), (j, pair.1)] {
                for (lane, mut channel) in all[usize::from(party)].iter_mut().zip(channels) {
                    // Only bounds a test that hangs.
                    channel.set_timeout(Duration::from_secs(20));
                    lane.push(channel);
                }
            }
        }
    }
    for lane in all.iter_mut().flatten() {
        lane.sort_by_key(Channel::peer);
    }
    all
}

/// Runs `f` for all parties at once, each with something of its own; a party that ends closes its
/// lanes.
pub fn run<P: Send, T: Send>(parties: Vec<P>, f: impl Fn(P) -> T + Sync) -> Vec<T> {
    std::thread::scope(|scope| {
        let f = &f;
        let threads: Vec<_> =
            parties.into_iter().map(|party| scope.spawn(move || f(party))).collect();
        threads.into_iter().map(|thread| thread.join().expect("a party panicked")).collect()
    })
}

/// The channel to `peer` on the first lane.
pub fn towards(lanes: &mut Lanes, peer: u16) -> &mut Channel {
    lanes[0].iter_mut().find(|channel| channel.peer() == peer).expect("a peer")
}

/// Makes a party a cheater towards one peer, on the first lane.
pub fn cheat(lanes: &mut Lanes, peer: u16, bend: FnBend) {
    towards(lanes, peer).set_bend(Box::new(bend));
}

/// Changes the first message of one kind.
pub fn message(kind: &'static str, f: impl FnMut(&mut Vec<u8>) + Send + 'static) -> FnBend {
    nth_message(kind, 0, f)
}

/// Changes message number `index` of one kind.
pub fn nth_message(
    kind: &'static str,
    index: usize,
    mut f: impl FnMut(&mut Vec<u8>) + Send + 'static,
) -> FnBend {
    FnBend::new().on_message(kind, index, move |payload| {
        f(payload);
        Action::Send
    })
}

/// Changes the state at one point, every time.
pub fn state(point: &'static str, mut f: impl FnMut(&mut [u8]) + Send + 'static) -> FnBend {
    FnBend::new().on_state(move |at, data| {
        if at == point {
            f(data);
        }
    })
}

/// Every honest party ended in an error: at this check, accusing one of the cheaters or nobody by name, or
/// because the connection ended.
///
/// Whose check fails first is a matter of speed. It may be the cheater's own, which goes on honestly and then
/// closes its channels before the others have compared anything; but somebody must have seen it fail, and an
/// honest party that is alone must have seen it itself.
#[track_caller]
pub fn assert_caught<T>(ended: &[Result<T>], cheaters: &[u16], at: &str) {
    let (parties, mut seen) = (ended.len(), 0);
    let alone = cheaters.len() + 1 == parties;
    for (me, ended) in (0..).zip(ended) {
        match ended {
            Err(Error::PeerMisbehaved { check, .. }) if cheaters.contains(&me) => {
                seen += usize::from(*check == at && !alone);
            }
            _ if cheaters.contains(&me) => {}
            Err(Error::PeerMisbehaved { party, check, .. }) => {
                assert_eq!(*check, at, "party {me}");
                // Between two parties there is no doubt who it was.
                let doubt = *party == SOMEBODY && parties > 2;
                assert!(doubt || cheaters.contains(party), "party {me} accuses {party}");
                seen += 1;
            }
            Err(Error::Transport { .. }) => {}
            Err(error) => panic!("party {me}: another error: {error}"),
            Ok(_) => panic!("party {me}: the cheat went unnoticed"),
        }
    }
    assert!(seen > 0, "nobody saw the {at} check fail");
    note_caught();
}
