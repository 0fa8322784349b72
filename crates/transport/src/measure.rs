//! Measures a link: both ends measure the round-trip time and the rate of arriving bytes.
//!
//! ```text
//! lower number                    higher number
//!        ── ping: more ──────────▶                at least one of these
//!        ◀────────────────── pong ──
//!        ── ping: last, size ────▶
//!        ◀────────────────── pong ──
//!        ── burst ──▶  ◀── burst ──               at the same time, each timed where it arrives
//!        ── ping: last, size ────▶
//!        ◀────────────────── pong ──              on a short link: three bursts
//!        ── burst ──▶  ◀── burst ──
//! ```
//!
//! A burst is a head followed by pieces.
//!
//! On a short link the receiver's clock starts at the earliest possible arrival of the head: a
//! round trip after the last message that this party sent before. A busy machine may look at a
//! piece late, perhaps when all of them have arrived, but never early. So each piece gives a rate
//! that is right or too low, and the highest rate of all bursts counts.
//!
//! Over a long distance the head starts the clock. TCP sends a new connection's bytes in growing
//! windows, one per round trip, so a wait that is much longer than most is ignored.
//!
//! The result may affect the speed of a computation, never its security: a peer can delay its
//! answers and report any numbers.

use std::time::{Duration, Instant};

use crate::checks::LINK_PING;
use crate::messages::{BURST, PING, PONG};
use crate::wire::HEADER;
use crate::{Channel, Error, Result};

/// What two parties measured about the link between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkSpeed {
    /// The round-trip time: the shortest of a few.
    pub round_trip: Duration,
    /// The approximate rate of the peer's bytes; at least 1, and at most [`LinkSpeed::FASTEST`].
    pub bytes_per_second: u64,
}

impl LinkSpeed {
    /// 10 Gbit/s or more, in bytes. At this rate a burst takes 0.1 ms, in which the machine rather
    /// than the link determines when bytes arrive, so faster links are not distinguished.
    pub const FASTEST: u64 = 1_250_000_000;

    /// Returns whether the link may be faster than measured.
    pub fn is_fastest(&self) -> bool {
        self.bytes_per_second >= Self::FASTEST
    }
}

/// The maximum number of pings.
const PINGS: usize = 5;

/// Once this much time was spent waiting for pongs, the next ping is the last.
const ENOUGH: Duration = Duration::from_millis(2);

/// Links with longer round trips get a single small burst.
const FAR: Duration = Duration::from_millis(5);

/// The size of each piece of a burst, the head included. With its header, a piece fills a TLS
/// record.
const PIECE: usize = (16 << 10) - HEADER;

/// The bursts after the last ping.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bursts {
    /// Three bursts of 128 KiB: a machine that is busy elsewhere does not spoil all of them.
    Near,
    /// One burst of 64 KiB.
    Far,
}

impl Bursts {
    /// Returns the number of pieces after the head.
    fn pieces(self) -> usize {
        match self {
            Bursts::Near => 7,
            Bursts::Far => 3,
        }
    }

    fn count(self) -> usize {
        match self {
            Bursts::Near => 3,
            Bursts::Far => 1,
        }
    }

    /// Returns the ping that announces `bursts`, or another ping.
    fn ping(bursts: Option<Bursts>) -> u8 {
        match bursts {
            None => 0,
            Some(Bursts::Near) => 1,
            Some(Bursts::Far) => 2,
        }
    }

    /// Returns what a ping announces; `None` if it is not a ping.
    fn announced(ping: u8) -> Option<Option<Bursts>> {
        [None, Some(Bursts::Near), Some(Bursts::Far)]
            .into_iter()
            .find(|bursts| Bursts::ping(*bursts) == ping)
    }
}

/// Measures the link under `channel`, together with the peer, which must do the same.
///
/// Takes at most a millisecond on one machine, and two to four round trips and 64 KiB each way over
/// a long distance.
///
/// # Errors
/// `PeerMisbehaved` if the peer's messages are not part of this exchange, `Transport` if it
/// disconnects or is silent.
pub fn measure(channel: &mut Channel) -> Result<LinkSpeed> {
    let bytes = burst(Bursts::Near);
    let leads = channel.me() < channel.peer();
    let mut pinged = if leads { lead(channel)? } else { follow(channel)? };
    let mut bytes_per_second = exchange(channel, &pinged, &bytes)?;
    for _ in 1..pinged.bursts.count() {
        if leads {
            pinged.ping(channel)?
        } else {
            pinged.pong(channel)?
        }
        bytes_per_second = bytes_per_second.max(exchange(channel, &pinged, &bytes)?);
    }
    Ok(LinkSpeed { round_trip: pinged.shortest, bytes_per_second })
}

/// The result of the pings.
struct Pinged {
    /// The shortest round trip.
    shortest: Duration,
    /// The bursts that follow.
    bursts: Bursts,
    /// When this party sent the message that the peer needed before its burst.
    sent: Instant,
}

impl Pinged {
    /// Announces another burst.
    fn ping(&mut self, channel: &mut Channel) -> Result<()> {
        self.sent = Instant::now();
        channel.send(PING, &[Bursts::ping(Some(self.bursts))])?;
        channel.recv_array::<1>(PONG)?;
        self.shortest = self.shortest.min(self.sent.elapsed());
        Ok(())
    }

    /// Receives the ping that announces another burst, and answers.
    fn pong(&mut self, channel: &mut Channel) -> Result<()> {
        let [ping] = channel.recv_array(PING)?;
        if Bursts::announced(ping) != Some(Some(self.bursts)) {
            return Err(Error::misbehaved(channel.peer(), LINK_PING));
        }
        self.sent = Instant::now();
        channel.send(PONG, &[0])?;
        channel.flush()
    }
}

fn lead(channel: &mut Channel) -> Result<Pinged> {
    let mut samples = Vec::with_capacity(PINGS);
    loop {
        let waited: Duration = samples.iter().sum();
        let last = samples.len() + 1 == PINGS || waited >= ENOUGH;
        let near = shortest(&samples) < FAR;
        let bursts = last.then_some(if near { Bursts::Near } else { Bursts::Far });
        let asked = Instant::now();
        channel.send(PING, &[Bursts::ping(bursts)])?;
        channel.recv_array::<1>(PONG)?;
        samples.push(asked.elapsed());
        if let Some(bursts) = bursts {
            return Ok(Pinged { shortest: shortest(&samples), bursts, sent: asked });
        }
    }
}

/// Check: what the link decides | `link ping` | pings without end, or that announce nothing known |
/// –
fn follow(channel: &mut Channel) -> Result<Pinged> {
    let mut samples = Vec::with_capacity(PINGS);
    let mut answered: Option<Instant> = None;
    for _ in 0..PINGS {
        let [ping] = channel.recv_array(PING)?;
        samples.extend(answered.map(|at| at.elapsed()));
        let announced =
            Bursts::announced(ping).ok_or_else(|| Error::misbehaved(channel.peer(), LINK_PING))?;
        let sent = Instant::now();
        answered = Some(sent);
        channel.send(PONG, &[0])?;
        channel.flush()?;
        if let Some(bursts) = announced {
            return Ok(Pinged { shortest: shortest(&samples), bursts, sent });
        }
    }
    Err(Error::misbehaved(channel.peer(), LINK_PING))
}

/// Returns the shortest sample; zero if there are none.
fn shortest(samples: &[Duration]) -> Duration {
    samples.iter().copied().min().unwrap_or_default()
}

/// Returns the lower median; zero if there are no samples.
fn median(samples: &[Duration]) -> Duration {
    let mut samples = samples.to_vec();
    samples.sort_unstable();
    samples.get(samples.len().saturating_sub(1) / 2).copied().unwrap_or_default()
}

/// Returns the bytes of a burst, which must not be compressible on the way.
fn burst(bursts: Bursts) -> Vec<u8> {
    let mut bytes = vec![0; PIECE * (1 + bursts.pieces())];
    blake3::Hasher::new_derive_key("symbolon 2026 link burst v1").finalize_xof().fill(&mut bytes);
    bytes
}

/// Sends a burst and receives the peer's; returns its rate.
fn exchange(channel: &mut Channel, pinged: &Pinged, bytes: &[u8]) -> Result<u64> {
    let Pinged { shortest, bursts, sent } = *pinged;
    let pieces = 1 + bursts.pieces();
    for (place, piece) in bytes.chunks_exact(PIECE).take(pieces).enumerate() {
        channel.send(BURST, piece)?;
        if place == 0 {
            // The head is sent separately, however much is passed on at a time.
            channel.flush()?;
        }
    }
    channel.flush()?;
    let mut piece = vec![0; PIECE];
    let mut arrivals = Vec::with_capacity(pieces);
    for _ in 0..pieces {
        channel.recv_into(BURST, &mut piece)?;
        arrivals.push(sent.elapsed());
    }
    Ok(match bursts {
        Bursts::Near => {
            let since = |arrival: &Duration| arrival.saturating_sub(shortest);
            near_rate(&arrivals.iter().map(since).collect::<Vec<_>>())
        }
        Bursts::Far => far_rate(&arrivals),
    })
}

/// Returns the highest rate that these arrivals show. Those before the fourth are too early to
/// tell.
fn near_rate(arrivals: &[Duration]) -> u64 {
    let rates = arrivals.iter().enumerate().skip(3).map(|(place, time)| rate(place + 1, *time));
    rates.max().unwrap_or(1)
}

/// Returns the rate after the head, without long waits.
fn far_rate(arrivals: &[Duration]) -> u64 {
    let waits: Vec<_> = arrivals.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let longest = 2 * median(&waits);
    rate(waits.len(), waits.iter().map(|wait| *wait.min(&longest)).sum())
}

/// Returns the rate in bytes per second if `pieces` took `time`, within the limits of the
/// measurement.
fn rate(pieces: usize, time: Duration) -> u64 {
    let bytes = (pieces * (HEADER + PIECE)) as u128;
    let rate = bytes * 1_000_000_000 / time.as_nanos().max(1000);
    u64::try_from(rate).unwrap_or(u64::MAX).clamp(1, LinkSpeed::FASTEST)
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
            // A loaded machine makes a link look slower; a late start of the clock makes it look
            // slightly faster.
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

    /// Every later ping must announce the bursts that the first one named.
    #[test]
    fn a_later_ping_that_announces_something_else_is_refused() {
        for later in [0, 2, 3] {
            let (mut a, mut b) = ends(None);
            thread::scope(|scope| {
                let b = scope.spawn(move || measure(&mut b));
                let pinged = lead(&mut a).unwrap();
                exchange(&mut a, &pinged, &burst(Bursts::Near)).unwrap();
                if pinged.bursts == Bursts::Near {
                    a.send(PING, &[later]).unwrap();
                    a.flush().unwrap();
                    assert_eq!(b.join().unwrap(), Err(Error::misbehaved(0, LINK_PING)));
                } else {
                    // A busy machine may see a long round trip even in its own memory.
                    assert!(b.join().unwrap().is_ok());
                }
            });
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

    fn millis(times: &[u64]) -> Vec<Duration> {
        times.iter().map(|millis| Duration::from_millis(*millis)).collect()
    }

    #[test]
    fn a_receiver_that_looks_late_sees_no_faster_link() {
        // 16 KiB in 4 ms.
        let right = 16_384_000 / 4;
        assert_eq!(near_rate(&millis(&[4, 8, 12, 16, 20, 24, 28, 32])), right);
        // The receiver sleeps at the beginning, for a while in the middle, and at the end.
        assert_eq!(near_rate(&millis(&[19, 19, 19, 19, 20, 24, 28, 32])), right);
        assert_eq!(near_rate(&millis(&[4, 8, 12, 25, 25, 25, 28, 32])), right);
        assert_eq!(near_rate(&millis(&[4, 8, 12, 16, 90, 90, 90, 90])), right);
        // If it sleeps all along, the link may be as slow as this.
        assert_eq!(near_rate(&millis(&[64; 8])), right / 2);
        assert_eq!(near_rate(&millis(&[0; 8])), LinkSpeed::FASTEST);
        assert_eq!(near_rate(&[Duration::from_millis(1); 16]), 16 * 16_384_000);
    }

    #[test]
    fn the_windows_of_tcp_do_not_count_over_a_long_distance() {
        // 16 KiB in 4 ms, and a wait for the next window.
        assert_eq!(far_rate(&millis(&[9, 13, 93, 97])), 3 * 16_384_000 / 16);
        assert_eq!(far_rate(&millis(&[9, 13, 17, 21])), 16_384_000 / 4);
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
