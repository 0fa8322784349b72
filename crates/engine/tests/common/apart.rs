//! Phases of a run in separate sessions, on pools in memory.

use std::io::{Cursor, Read};
use std::ops::Range;

use symbolon_engine::{Demand, Network, PoolRange, PoolSink, PoolSource};
use symbolon_transport::Result;

use super::Setting;

/// A pool in memory.
#[derive(Clone, Default)]
pub struct Pool {
    pub sections: Vec<Vec<u8>>,
}

impl PoolSink for Pool {
    fn write(&mut self, section: usize, bytes: &[u8]) -> Result<()> {
        if self.sections.len() <= section {
            self.sections.resize(section + 1, Vec::new());
        }
        self.sections[section].extend_from_slice(bytes);
        Ok(())
    }
}

impl PoolSource for Pool {
    fn open(&mut self, section: usize, bytes: Range<u64>) -> Result<Box<dyn Read + Send>> {
        (&*self).open(section, bytes)
    }
}

/// Serves many runs on parts of the same pool.
impl PoolSource for &Pool {
    fn open(&mut self, section: usize, bytes: Range<u64>) -> Result<Box<dyn Read + Send>> {
        let all = self.sections.get(section).map_or(&[][..], |bytes| bytes);
        let range = (bytes.start as usize).min(all.len())..(bytes.end as usize).min(all.len());
        Ok(Box::new(Cursor::new(all[range].to_vec())))
    }
}

/// Runs `part` for all parties in a separate session, with the `state` of each.
pub fn session<S: Send, T: Send>(
    setting: Setting,
    number: u8,
    states: Vec<S>,
    part: impl Fn(&mut Network, S) -> Result<T> + Sync,
) -> Vec<Result<T>> {
    session_bent(setting, number, states, |_| (), part)
}

/// Like [`session`], but runs `part` after `adversary` has changed the networks.
pub fn session_bent<S: Send, T: Send>(
    setting: Setting,
    number: u8,
    states: Vec<S>,
    adversary: impl FnOnce(&mut [Network]),
    part: impl Fn(&mut Network, S) -> Result<T> + Sync,
) -> Vec<Result<T>> {
    let mut nets = super::mesh(setting);
    nets.iter_mut().for_each(|net| net.session = [number; 32]);
    adversary(&mut nets);
    let part = &part;
    std::thread::scope(|scope| {
        let start = |(mut net, state): (Network, S)| {
            scope.spawn(move || {
                let done = part(&mut net, state);
                match &done {
                    Err(_) => net.lanes.iter_mut().flatten().for_each(|lane| lane.abort("failed")),
                    Ok(_) => net.peers().iter_mut().for_each(|peer| drop(peer.flush())),
                }
                done
            })
        };
        let parties: Vec<_> = nets.into_iter().zip(states).map(start).collect();
        parties.into_iter().map(|party| party.join().expect("a party panicked")).collect()
    })
}

/// Returns the `nth` range of a pool from which one circuit after another is prepared.
pub fn range(need: &Demand, nth: u64) -> PoolRange {
    let range = |n: u64| nth * n..(nth + 1) * n;
    PoolRange {
        gates: range(need.and_gates),
        inputs: need.input_bits.iter().copied().map(range).collect(),
    }
}
