//! Which of too many connections gives way to a newcomer: one from the network with the most, so a
//! flood closes its own connections. It is drawn at random: if the oldest gave way, a fast flood
//! would displace every peer behind the same address, however often it retried.

use std::collections::HashMap;
use std::hash::Hash;
use std::net::{IpAddr, Ipv6Addr};

/// Returns the network that an address counts as: one IPv4 address, or the half of an IPv6 address
/// that one host controls.
pub(crate) fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => {
            Ipv6Addr::from_bits(address.to_bits() & !u128::from(u64::MAX)).into()
        }
        v4 => v4,
    }
}

/// Returns which of the callers from `networks` gives way, by a random number: one from the network
/// with the most callers.
fn gives_way<N: Eq + Hash>(networks: &[N], random: usize) -> usize {
    let mut callers: HashMap<&N, usize> = HashMap::new();
    networks.iter().for_each(|network| *callers.entry(network).or_default() += 1);
    let most = callers.values().copied().max().unwrap_or(0);
    let has_the_most = |&index: &usize| callers[&networks[index]] == most;
    let candidates: Vec<usize> = (0..networks.len()).filter(has_the_most).collect();
    candidates.get(random % candidates.len().max(1)).copied().unwrap_or(0)
}

/// Returns which of several connections from these networks gives way to a newcomer: one from the
/// network with the most, so that a flood displaces its own, drawn at random, so that a fast flood
/// does not displace all others behind the same address. Returns 0 if there are none.
pub fn displaced_by_newcomer<N: Eq + Hash>(networks: &[N]) -> usize {
    gives_way(networks, random())
}

/// Returns an unpredictable random number, or 0 if the system has no randomness.
fn random() -> usize {
    getrandom::u64().map_or(0, |random| random as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    const CROWD: usize = 64;

    /// Cheat: 2, network | connecting | a flood from another network | of too many, one of the
    /// network with the most gives way | always
    #[test]
    fn a_flood_closes_its_own_connections() {
        let flood: IpAddr = "203.0.113.9".parse().unwrap();
        let peer: IpAddr = "198.51.100.1".parse().unwrap();
        let mut networks = vec![flood; CROWD];
        networks[17] = peer;
        let drawn: Vec<_> = (0..CROWD - 1).map(|draw| gives_way(&networks, draw)).collect();
        let others: Vec<_> = (0..CROWD).filter(|&index| index != 17).collect();
        assert_eq!(drawn, others, "every one of the flood, and never the peer");
        assert_eq!(gives_way(&networks, CROWD - 1), 0);
        // With a flood from everywhere, any connection may give way.
        assert_eq!(gives_way(&[flood, peer], 1), 1);
    }

    #[test]
    fn hosts_are_told_apart_by_what_they_cannot_choose() {
        let told = |a: &str, b: &str| network(a.parse().unwrap()) == network(b.parse().unwrap());
        assert!(told("2001:db8:1:2::1", "2001:db8:1:2:ffff::9"));
        assert!(!told("2001:db8:1:2::1", "2001:db8:1:3::1"));
        assert!(told("::ffff:192.0.2.1", "192.0.2.1"));
        assert!(!told("192.0.2.1", "192.0.2.2"));
    }
}
