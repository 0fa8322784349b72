//! What a link can do: both ends measure the time there and back and how fast bytes come.
//!
//! ```text
//! lower number                    higher number
//!        ── ping: more ──────────▶                at least one of these
//!        ◀────────────────── pong ──
//!        ── ping: last, size ────▶
//!        ◀────────────────── pong ──
//!        ── burst ──▶  ◀── burst ──               at the same time, each timed where it arrives
//! ```
//!
//! A burst is a head, which starts the receiver's clock, and pieces after it. TCP sends a new
//! connection's bytes in growing windows, one a round trip: over a long distance a wait that is
//! much longer than most does not count.
//!
//! What comes of it may decide how fast a computation is, never how secure: a peer can delay its
//! answers and tell whatever it likes.

use std::time::{Duration, Instant};

use crate::checks::LINK_PING;
use crate::messages::{BURST, PING, PONG};
use crate::wire::HEADER;
use crate::{Channel, Error, Result};

/// What two parties found out about the link between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkSpeed {
    /// The time there and back: the median of a few, of two the shorter one.
    pub round_trip: Duration,
    /// About how fast the peer's bytes came; at least 1.
    pub bytes_per_second: u64,
}

/// The most pings.
const PINGS: usize = 5;

/// Once this long was waited for pongs, another ping is the last.
const ENOUGH: Duration = Duration::from_millis(2);

/// On links with longer round trips one small burst must do.
const FAR: Duration = Duration::from_millis(5);

/// Bytes of a burst's pieces, the head included, which with their headers fill a TLS record.
const PIECE: usize = (16 << 10) - HEADER;

/// What follows the last ping.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bursts {
    /// Two of 128 KiB: a scheduler's hiccup spoils only one.
    Near,
    /// One of 64 KiB.
    Far,
}

impl Bursts {
    /// Pieces after the head.
    fn pieces(self) -> usize {
        match self {
            Bursts::Near => 7,
            Bursts::Far => 3,
        }
    }

    fn count(self) -> usize {
        match self {
            Bursts::Near => 2,
            Bursts::Far => 1,
        }
    }

    /// The ping that announces them, or another ping.
    fn ping(bursts: Option<Bursts>) -> u8 {
        match bursts {
            None => 0,
            Some(Bursts::Near) => 1,
            Some(Bursts::Far) => 2,
        }
    }

    /// What a ping announces; `None` if it is no ping.
    fn announced(ping: u8) -> Option<Option<Bursts>> {
        [None, Some(Bursts::Near), Some(Bursts::Far)]
            .into_iter()
            .find(|bursts| Bursts::ping(*bursts) == ping)
    }
}

/// Measures the link under `channel`, together with the peer, which must do the same.
///
/// Takes a millisecond or less on one machine, and two to four round trips and 64 KiB each way over
/// a long distance.
///
/// # Errors
/// `PeerMisbehaved` when the peer's messages are none of these, `Transport` when it is gone or
/// silent.
pub fn measure(channel: &mut Channel) -> Result<LinkSpeed> {
    let (round_trip, bursts) =
        if channel.me() < channel.peer() { lead(channel)? } else { follow(channel)? };
    send(channel, bursts)?;
    Ok(LinkSpeed { round_trip, bytes_per_second: receive(channel, bursts)? })
}

fn lead(channel: &mut Channel) -> Result<(Duration, Bursts)> {
    let mut samples = Vec::with_capacity(PINGS);
    loop {
        let waited: Duration = samples.iter().sum();
        let last = samples.len() + 1 == PINGS || waited >= ENOUGH;
        let bursts = last.then(|| if median(&samples) < FAR { Bursts::Near } else { Bursts::Far });
        let asked = Instant::now();
        channel.send(PING, &[Bursts::ping(bursts)])?;
        channel.recv_array::<1>(PONG)?;
        samples.push(asked.elapsed());
        if let Some(bursts) = bursts {
            return Ok((median(&samples), bursts));
        }
    }
}

fn follow(channel: &mut Channel) -> Result<(Duration, Bursts)> {
    let mut samples = Vec::with_capacity(PINGS);
    let mut answered: Option<Instant> = None;
    for _ in 0..PINGS {
        let [ping] = channel.recv_array(PING)?;
        samples.extend(answered.map(|at| at.elapsed()));
        let announced =
            Bursts::announced(ping).ok_or_else(|| Error::misbehaved(channel.peer(), LINK_PING))?;
        answered = Some(Instant::now());
        channel.send(PONG, &[0])?;
        channel.flush()?;
        if let Some(bursts) = announced {
            return Ok((median(&samples), bursts));
        }
    }
    Err(Error::misbehaved(channel.peer(), LINK_PING))
}

/// The lower median; nothing is no time.
fn median(samples: &[Duration]) -> Duration {
    let mut samples = samples.to_vec();
    samples.sort_unstable();
    samples.get(samples.len().saturating_sub(1) / 2).copied().unwrap_or_default()
}

fn send(channel: &mut Channel, bursts: Bursts) -> Result<()> {
    // Nothing on the way may make them shorter.
    let mut bytes = vec![0; PIECE * (1 + bursts.pieces())];
    blake3::Hasher::new_derive_key("symbolon 2026 link burst v1").finalize_xof().fill(&mut bytes);
    for _ in 0..bursts.count() {
        for (place, piece) in bytes.chunks_exact(PIECE).enumerate() {
            channel.send(BURST, piece)?;
            if place == 0 {
                // The head comes by itself, however much is handed over at a time.
                channel.flush()?;
            }
        }
        channel.flush()?;
    }
    Ok(())
}

/// The rate of the fastest burst.
fn receive(channel: &mut Channel, bursts: Bursts) -> Result<u64> {
    let mut bytes = vec![0; PIECE];
    let mut waits = Vec::with_capacity(bursts.pieces());
    let mut fastest = 1;
    for _ in 0..bursts.count() {
        channel.recv_into(BURST, &mut bytes)?;
        waits.clear();
        let mut before = Instant::now();
        for _ in 0..bursts.pieces() {
            channel.recv_into(BURST, &mut bytes)?;
            let now = Instant::now();
            waits.push(now - before);
            before = now;
        }
        fastest = fastest.max(rate(&waits, bursts));
    }
    Ok(fastest)
}

/// Bytes a second when a piece came after each of these waits.
fn rate(waits: &[Duration], bursts: Bursts) -> u64 {
    let longest = match bursts {
        Bursts::Near => Duration::MAX,
        Bursts::Far => 2 * median(waits),
    };
    let time: Duration = waits.iter().map(|wait| *wait.min(&longest)).sum();
    let bytes = (waits.len() * (HEADER + PIECE)) as u128;
    let rate = bytes * 1_000_000_000 / time.as_nanos().max(1000);
    u64::try_from(rate).unwrap_or(u64::MAX).max(1)
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;
    use crate::adversary::{Action, FnAdversary};
    use crate::checks::FRAMING;
    use crate::{Meter, SimulatedLink, memory_lanes};

    fn ends(link: Option<SimulatedLink>) -> (Channel, Channel) {
        let (mut a, mut b) = memory_lanes((0, Meter::new()), (4, Meter::new()), 1, link).unwrap();
        (a.remove(0), b.remove(0))
    }

    fn both((mut a, mut b): (Channel, Channel)) -> [Result<LinkSpeed>; 2] {
        thread::scope(|scope| {
            let a = scope.spawn(move || measure(&mut a));
            [measure(&mut b), a.join().unwrap()]
        })
    }

    #[test]
    fn a_simulated_link_is_recognised() {
        let link: SimulatedLink = "30ms,2mbit".parse().unwrap();
        for speed in both(ends(Some(link))) {
            let LinkSpeed { round_trip, bytes_per_second } = speed.unwrap();
            // A loaded machine makes a link slower; a late start of the clock, faster by a little.
            assert!(round_trip >= link.round_trip, "{round_trip:?}");
            assert!((1..=375_000).contains(&bytes_per_second), "{bytes_per_second}");
        }
    }

    #[test]
    fn both_ends_measure_and_leave_nothing_behind() {
        let (mut a, mut b) = ends(None);
        thread::scope(|scope| {
            scope.spawn(|| measure(&mut a).unwrap());
            measure(&mut b).unwrap();
        });
        a.send("next", b"x").unwrap();
        a.flush().unwrap();
        assert_eq!(b.recv("next", 1).unwrap(), b"x");
    }

    /// Cheat: 2 | choice by link | a ping that is none; pings without end | `link ping` | always
    #[test]
    fn a_ping_that_is_none_and_pings_without_end_are_refused() {
        for (ping, sent) in [(3, 1), (0xff, 1), (0, PINGS)] {
            let (mut a, mut b) = ends(None);
            for _ in 0..sent {
                a.send(PING, &[ping]).unwrap();
            }
            a.flush().unwrap();
            assert_eq!(measure(&mut b), Err(Error::misbehaved(0, LINK_PING)));
        }
    }

    #[test]
    fn bursts_of_another_length_are_refused() {
        for (kind, index) in [(PONG, 1), (BURST, 0), (BURST, 3)] {
            let (a, mut b) = ends(None);
            b.set_adversary(Box::new(FnAdversary::new().on_message(kind, index, |bytes| {
                bytes.pop();
                Action::Send
            })));
            let [_, a] = both((a, b));
            let framing = |error: &Error| error.check() == Some(FRAMING);
            assert!(a.as_ref().is_err_and(framing), "{a:?}");
        }
    }

    #[test]
    fn the_windows_of_tcp_do_not_count_over_a_long_distance() {
        let waits = |millis: &[u64]| -> Vec<Duration> {
            millis.iter().map(|millis| Duration::from_millis(*millis)).collect()
        };
        // 16 KiB in 4 ms, and a wait for the next window.
        assert_eq!(rate(&waits(&[4, 80, 4]), Bursts::Far), 3 * 16_384_000 / 16);
        assert_eq!(rate(&waits(&[4, 4, 4]), Bursts::Far), 16_384_000 / 4);
        assert_eq!(rate(&waits(&[4, 12, 4]), Bursts::Near), 3 * 16_384_000 / 20);
        assert_eq!(rate(&waits(&[0, 0, 0]), Bursts::Near), 3 * 16_384_000_000);
    }

    #[test]
    fn medians() {
        let of = |millis: &[u64]| {
            let samples: Vec<_> = millis.iter().map(|m| Duration::from_millis(*m)).collect();
            median(&samples).as_millis()
        };
        assert_eq!([of(&[]), of(&[7]), of(&[9, 4]), of(&[5, 1, 9])], [0, 7, 4, 5]);
        assert_eq!([of(&[8, 2, 6, 4]), of(&[1, 9, 2, 8, 3])], [4, 3]);
    }
}
