//! Simulated links with the latency and bandwidth of a network.

use std::fmt;
use std::str::FromStr;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::Error;

/// The latency and bandwidth of a link, to be simulated over any transport.
///
/// Parsed from `lan` (0.2 ms, 10 Gbit/s), `lan1` (0.02 ms, 1 Gbit/s), `wan` (75 ms, 200 Mbit/s), or
/// `RTT,BANDWIDTH` such as `20ms,100mbit`: a number and `s`, `ms` or `us`; a number and `kbit`,
/// `mbit` or `gbit`.
///
/// Each sender delays its own direction: bytes passed to the transport at time t leave at max(t,
/// when the link is free) + size / bandwidth and arrive half a round trip later. Bandwidth is per
/// direction, and all lanes to the same peer share it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SimulatedLink {
    /// The round-trip time.
    pub round_trip: Duration,
    /// Bits per second in each direction; not zero.
    pub bits_per_second: u64,
}

impl SimulatedLink {
    /// 0.2 ms, 10 Gbit/s.
    pub const LAN: Self =
        SimulatedLink { round_trip: Duration::from_micros(200), bits_per_second: 10_000_000_000 };
    /// 0.02 ms, 1 Gbit/s.
    pub const LAN1: Self =
        SimulatedLink { round_trip: Duration::from_micros(20), bits_per_second: 1_000_000_000 };
    /// 75 ms, 200 Mbit/s.
    pub const WAN: Self =
        SimulatedLink { round_trip: Duration::from_millis(75), bits_per_second: 200_000_000 };
}

impl fmt::Display for SimulatedLink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let micros = self.round_trip.as_micros();
        if micros >= 1000 && micros.is_multiple_of(1000) {
            write!(f, "{}ms,", micros / 1000)?;
        } else {
            write!(f, "{micros}us,")?;
        }
        match self.bits_per_second {
            b if b.is_multiple_of(1_000_000_000) => write!(f, "{}gbit", b / 1_000_000_000),
            b if b.is_multiple_of(1_000_000) => write!(f, "{}mbit", b / 1_000_000),
            b => write!(f, "{}kbit", b as f64 / 1e3),
        }
    }
}

impl FromStr for SimulatedLink {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        match text {
            "lan" => return Ok(Self::LAN),
            "lan1" => return Ok(Self::LAN1),
            "wan" => return Ok(Self::WAN),
            _ => {}
        }
        let wrong = || {
            Error::invalid_input(format!(
                "`{}` is not a link: use lan, lan1, wan, or RTT,BANDWIDTH such as 20ms,100mbit",
                crate::text::printable(text)
            ))
        };
        let (rtt, bandwidth) = text.split_once(',').ok_or_else(wrong)?;
        let rtt = quantity(rtt.trim(), &[("us", 1e-6), ("µs", 1e-6), ("ms", 1e-3), ("s", 1.0)]);
        let bandwidth = quantity(bandwidth.trim(), &[("kbit", 1e3), ("mbit", 1e6), ("gbit", 1e9)]);
        let (Some(rtt), Some(bandwidth)) = (rtt, bandwidth) else {
            return Err(wrong());
        };
        // Values above an hour or a Pbit/s are mistakes; below a kbit/s nothing would ever end.
        if !(0.0..=3600.0).contains(&rtt) || !(1e3..=1e15).contains(&bandwidth) {
            return Err(wrong());
        }
        Ok(SimulatedLink {
            round_trip: Duration::from_secs_f64(rtt),
            bits_per_second: bandwidth.round() as u64,
        })
    }
}

fn quantity(text: &str, units: &[(&str, f64)]) -> Option<f64> {
    let (number, scale) =
        units.iter().find_map(|(unit, scale)| Some((text.strip_suffix(unit)?, scale)))?;
    let digits = number.trim();
    // `f64` also parses "inf", "nan" and "1e9"; a quantity consists of plain digits.
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit() || b == b'.') {
        return None;
    }
    digits.parse::<f64>().ok().map(|value| value * scale)
}

/// One direction of a simulated link. Clones share the bandwidth.
#[derive(Clone, Debug)]
pub(crate) struct Direction {
    half_trip: Duration,
    bytes_per_second: f64,
    free: Arc<Mutex<Instant>>,
}

impl Direction {
    /// Returns the direction from us to one peer.
    pub(crate) fn new(link: SimulatedLink) -> Self {
        Direction {
            // The limit keeps times that are added to "now" from overflowing.
            half_trip: link.round_trip.min(Duration::from_secs(3600)) / 2,
            bytes_per_second: link.bits_per_second.max(1) as f64 / 8.0,
            free: Arc::new(Mutex::new(Instant::now())),
        }
    }

    /// Reserves the time that `bytes` need on the link, from now or from when it is free; returns
    /// when they arrive.
    pub(crate) fn reserve(&self, bytes: usize) -> Instant {
        let time = Duration::from_secs_f64(bytes as f64 / self.bytes_per_second);
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        *free = Instant::now().max(*free) + time;
        *free + self.half_trip
    }

    /// Returns about 0.1 ms worth of bytes. A chunk arrives as a whole, so a large one would delay
    /// its own beginning.
    pub(crate) fn chunk_bytes(&self) -> usize {
        ((self.bytes_per_second * 1e-4) as usize).clamp(16 << 10, crate::pipe::CHUNK)
    }
}

/// Sleeps until `moment`, to within a few microseconds.
pub(crate) fn wait_until(moment: Instant) {
    // The kernel may wake a sleeper this much too late (default timer slack plus wake-up time).
    const SLACK: Duration = Duration::from_micros(80);
    loop {
        let left = moment.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return;
        }
        match left.checked_sub(SLACK) {
            Some(sleep) if !sleep.is_zero() => thread::sleep(sleep),
            _ => thread::yield_now(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_quantities() {
        let parse = |text: &str| text.parse::<SimulatedLink>();
        assert_eq!(parse("lan").unwrap(), SimulatedLink::LAN);
        assert_eq!(parse("lan1").unwrap(), SimulatedLink::LAN1);
        assert_eq!(parse("wan").unwrap(), SimulatedLink::WAN);
        assert_eq!(parse("75ms,200mbit").unwrap(), SimulatedLink::WAN);
        assert_eq!(parse("0.2ms, 10gbit").unwrap(), SimulatedLink::LAN);
        assert_eq!(parse("20us,1gbit").unwrap(), SimulatedLink::LAN1);
        assert_eq!(parse("0s,500kbit").unwrap().bits_per_second, 500_000);
        let bad =
            ["", "lan2", "20ms", "20,100", "-1ms,1mbit", "infs,1gbit", "1ms,0mbit", "1e9s,1mbit"];
        for text in bad {
            assert!(parse(text).is_err(), "{text}");
        }
        for link in [SimulatedLink::LAN, SimulatedLink::LAN1, SimulatedLink::WAN] {
            assert_eq!(parse(&link.to_string()).unwrap(), link);
        }
    }

    #[test]
    fn bandwidth_is_shared_and_latency_is_not() {
        // 1000 bytes take one second. The times are virtual, so nothing sleeps.
        let link = Direction::new("2s,8kbit".parse().unwrap());
        let start = Instant::now();
        let first = link.reserve(1000);
        let second = link.clone().reserve(500);
        assert!(first >= start + Duration::from_secs(2));
        assert_eq!(second - first, Duration::from_millis(500));
    }

    #[test]
    fn waiting_never_ends_early() {
        let moment = Instant::now() + Duration::from_millis(3);
        wait_until(moment);
        assert!(Instant::now() >= moment);
        wait_until(moment);
    }
}
