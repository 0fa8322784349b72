//! What each network address may do: strangers take neither all connections nor all the time.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// The maximum number of connections from one address.
const MAX_CONNECTIONS: usize = 128;

/// The maximum number of addresses that are counted; more are turned away.
const MAX_ADDRESSES: usize = 1 << 16;

/// The connections and requests of all addresses.
#[derive(Default)]
pub(super) struct Addresses {
    all: Mutex<HashMap<IpAddr, Usage>>,
}

struct Usage {
    connections: usize,
    /// By function: how many requests there may be, and since when.
    left: HashMap<String, (f64, Instant)>,
}

/// A connection of an address, counted while this exists.
pub(super) struct Visit {
    addresses: Arc<Addresses>,
    address: IpAddr,
}

/// Who sent a request.
#[derive(Clone)]
pub(super) struct Visitor(pub Arc<Visit>);

/// Returns what is counted as one address: an IPv4 address, or the /64 of an IPv6 address.
fn of_one_holder(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() >> 64 << 64).into(),
        address => address,
    }
}

impl Usage {
    /// Returns whether a minute has passed since the last request: then nothing need be known.
    fn is_idle(&self, now: Instant) -> bool {
        let old = |at: &Instant| now.duration_since(*at).as_secs() >= 60;
        self.connections == 0 && self.left.values().all(|(_, at)| old(at))
    }
}

impl Addresses {
    fn lock(&self) -> MutexGuard<'_, HashMap<IpAddr, Usage>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a connection; `None` if its address has too many.
    pub fn admit(addresses: &Arc<Addresses>, from: IpAddr) -> Option<Arc<Visit>> {
        let address = of_one_holder(from);
        let mut all = addresses.lock();
        if all.len() >= MAX_ADDRESSES && !all.contains_key(&address) {
            let now = Instant::now();
            all.retain(|_, usage| !usage.is_idle(now));
            if all.len() >= MAX_ADDRESSES {
                return None;
            }
        }
        let usage = all.entry(address);
        let usage = usage.or_insert_with(|| Usage { connections: 0, left: HashMap::new() });
        if usage.connections >= MAX_CONNECTIONS {
            return None;
        }
        usage.connections += 1;
        Some(Arc::new(Visit { addresses: addresses.clone(), address }))
    }
}

impl Visit {
    /// Counts a request to a function, of which an address may make `per_minute`; returns whether
    /// it may make this one.
    pub fn may_ask(&self, function: &str, per_minute: u32, now: Instant) -> bool {
        let mut all = self.addresses.lock();
        let Some(usage) = all.get_mut(&self.address) else { return false };
        let most = f64::from(per_minute);
        let (left, at) = usage.left.entry(function.to_string()).or_insert((most, now));
        let passed = now.saturating_duration_since(*at).as_secs_f64();
        *left = (*left + passed * most / 60.0).min(most);
        *at = now;
        let may = *left >= 1.0;
        if may {
            *left -= 1.0;
        }
        may
    }
}

impl Drop for Visit {
    fn drop(&mut self) {
        let mut all = self.addresses.lock();
        if let Some(usage) = all.get_mut(&self.address) {
            usage.connections -= 1;
            if usage.is_idle(Instant::now()) {
                all.remove(&self.address);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn an_address_has_so_many_connections_and_requests() {
        let addresses = Arc::new(Addresses::default());
        let admit = |text: &str| Addresses::admit(&addresses, text.parse().unwrap());
        let visits: Vec<_> = (0..MAX_CONNECTIONS).map_while(|_| admit("2001:db8::1")).collect();
        assert_eq!(visits.len(), MAX_CONNECTIONS);
        assert!(admit("2001:db8::ffff:2").is_none(), "of the same /64");
        let other = admit("2001:db8:0:1::1").unwrap();
        let now = Instant::now();
        let asked = |visit: &Visit, at| (0..10).filter(|_| visit.may_ask("f", 6, at)).count();
        assert_eq!((asked(&visits[0], now), asked(&other, now)), (6, 6));
        assert_eq!(asked(&visits[1], now + Duration::from_secs(20)), 2);
        assert!(visits[0].may_ask("g", 6, now));
        drop(visits);
        assert!(admit("2001:db8::1").is_some());
    }
}
