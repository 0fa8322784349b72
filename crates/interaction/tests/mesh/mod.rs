//! Parties in one process, connected pairwise by memory channels.
#![allow(dead_code, missing_docs)]

use std::time::Duration;

use symbolon_transport::adversary::{Action, CheckName, Endings, FnAdversary, Stage};
use symbolon_transport::{Channel, Culprit, Error, Meter, Result, memory_lanes};

/// One party's channels: `lanes[l][p]` is lane l's channel to the peer in place p.
pub type Lanes = Vec<Vec<Channel>>;

/// Returns the lanes of each of `parties` parties.
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

/// Runs `f` for all parties at once. An honest party that ends closes its lanes; a cheater waits
/// for that.
pub fn run<T: Send>(parties: Vec<Lanes>, f: impl Fn(&mut Lanes) -> T + Sync) -> Vec<T> {
    play(parties.into_iter().map(|lanes| ((), lanes)).collect(), |(), lanes| f(lanes))
}

/// Runs `f` for all parties at once, each with a value of its own.
pub fn play<S: Send, T: Send>(
    parties: Vec<(S, Lanes)>,
    f: impl Fn(S, &mut Lanes) -> T + Sync,
) -> Vec<T> {
    let cheats = |lanes: &Lanes| lanes.iter().flatten().any(Channel::cheats);
    let stage = &Stage::new(parties.iter().filter(|(_, lanes)| !cheats(lanes)).count());
    let f = &f;
    std::thread::scope(|scope| {
        let start = |(own, lanes): (S, Lanes)| {
            let cheats = cheats(&lanes);
            scope.spawn(move || stage.play(cheats, lanes, |lanes| f(own, lanes)))
        };
        let threads: Vec<_> = parties.into_iter().map(start).collect();
        threads.into_iter().map(|thread| thread.join().expect("a party panicked")).collect()
    })
}

/// Returns the channel to `peer` on the first lane.
pub fn towards(lanes: &mut Lanes, peer: u16) -> &mut Channel {
    lanes[0].iter_mut().find(|channel| channel.peer() == peer).expect("a peer")
}

/// Makes a party a cheater towards one peer, on the first lane.
pub fn cheat(lanes: &mut Lanes, peer: u16, adversary: FnAdversary) {
    towards(lanes, peer).set_adversary(Box::new(adversary));
}

/// Listens to an honest party's channel to one peer, on the first lane.
pub fn listen(lanes: &mut Lanes, peer: u16, spy: FnAdversary) {
    towards(lanes, peer).set_adversary(Box::new(spy.listening()));
}

/// Changes the first message of one kind.
pub fn message(kind: &'static str, f: impl FnMut(&mut Vec<u8>) + Send + 'static) -> FnAdversary {
    nth_message(kind, 0, f)
}

/// Changes message number `index` of one kind.
pub fn nth_message(
    kind: &'static str,
    index: usize,
    mut f: impl FnMut(&mut Vec<u8>) + Send + 'static,
) -> FnAdversary {
    FnAdversary::new().on_message(kind, index, move |payload| {
        f(payload);
        Action::Send
    })
}

/// Changes the state at one point, every time.
pub fn state(point: &'static str, mut f: impl FnMut(&mut [u8]) + Send + 'static) -> FnAdversary {
    FnAdversary::new().on_state(move |at, data| {
        if at == point {
            f(data);
        }
    })
}

/// Asserts that no honest party has a result and at least one noticed; see [`Endings`].
#[track_caller]
pub fn assert_caught<T>(ended: &[Result<T>], cheaters: &[u16], at: impl CheckName) {
    Endings::new(ended, cheaters).assert_caught(&[at]);
}

/// Asserts that every honest party noticed by itself.
#[track_caller]
pub fn assert_caught_by_all<T>(ended: &[Result<T>], cheaters: &[u16], at: impl CheckName) {
    Endings::new(ended, cheaters).assert_caught_by_all(&[at]);
}

/// Asserts that at least one victim caught the cheater; the others at worst lost their connection.
#[track_caller]
pub fn assert_caught_by_one_of<T>(
    ended: &[Result<T>],
    victims: &[u16],
    cheater: u16,
    at: impl CheckName,
) {
    let mut seen = 0;
    for ended in victims.iter().map(|&victim| ended[usize::from(victim)].as_ref().err()) {
        match ended {
            // Another victim was faster, and closed its channels.
            Some(Error::Transport { .. }) => {}
            refused => {
                let accused = refused.and_then(Error::culprit);
                assert_eq!(accused, Some(Culprit::from(cheater)));
                let check = refused.and_then(Error::check).map(|check| check.name());
                assert_eq!(check, Some(at.check_name()));
                seen += 1;
            }
        }
    }
    assert!(seen > 0, "nobody saw the {} check fail", at.check_name());
}
