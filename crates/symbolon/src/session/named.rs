//! Runs that have a name: a service prepares many executions, and learns only later what each of
//! them is for.
//!
//! ```text
//! i → j   name          compared, before anything that depends on an input is sent
//! ```
//!
//! Whoever says what an execution is for could tell two parties two things, and each would put in
//! what it holds for another purpose. Every honest party compares the name with every other.

use symbolon_protocols::Network;
use symbolon_transport::{Culprit, Error, Result};

use super::{Kind, Parts, PreparedCircuit, Session};
use crate::messages::RUN_NAME;
use crate::report::ONLINE;
use crate::{Inputs, Outputs, checks};

impl Session {
    /// Runs phases 1 and 2 for `count` evaluations, each of which is [run](Session::run)
    /// separately; otherwise as [`prepare_each`](Session::prepare_each). All parties must name the
    /// same count.
    ///
    /// # Errors
    /// As [`prepare_each`](Session::prepare_each).
    pub fn prepare_more(&mut self, count: usize) -> Result<Vec<PreparedCircuit>> {
        self.only(Kind::Run)?;
        self.prepare_apart(count)
    }

    /// Runs phase 3 as [`run`](Session::run) does, after it compared `name` with every peer. The
    /// name is a hash of everything that says what this run is for.
    ///
    /// Check: service | the name of a call, compared by every two parties before it begins
    /// (`run name`) | one execution for two purposes | –
    ///
    /// # Errors
    /// As [`run`](Session::run), but inputs that do not fit are rejected before anything is sent,
    /// and do no harm; `PeerMisbehaved` if a peer runs something else.
    pub fn run_named(
        &mut self,
        ready: PreparedCircuit,
        inputs: &Inputs,
        name: &[u8; 32],
    ) -> Result<Outputs> {
        self.own(ready.job, "prepared circuit")?;
        let checked = inputs.check(self.circuit(), self.network.me);
        self.noted(checked)?;
        self.phase(ONLINE, |parts| {
            let Parts { network, circuit, .. } = parts;
            compare(network, name)?;
            let bits = ready.inner.evaluate(network, circuit, inputs.bits())?;
            Outputs::new(circuit.circuit(), network.me, bits)
        })
    }
}

/// Compares the name of a run with every peer.
pub(crate) fn compare(network: &mut Network, name: &[u8; 32]) -> Result<()> {
    let peers = network.lanes.first_mut();
    let peers = peers.ok_or_else(|| Error::internal("a session without lanes"))?;
    for peer in peers.iter_mut() {
        peer.send(RUN_NAME, name)?;
        peer.flush()?;
    }
    let several = peers.len() > 1;
    for peer in peers.iter_mut() {
        if peer.recv_array::<32>(RUN_NAME)? != *name {
            // Among several, the one that gave out the names may have given this peer another.
            let culprit = if several { Culprit::Unknown } else { peer.peer().into() };
            return Err(Error::misbehaved(culprit, checks::RUN_NAME));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::thread;

    use symbolon_circuit::builtin;

    use super::*;
    use crate::{Config, Transport};

    /// Returns what every party learns of two runs; `names` has the second one's name by party.
    fn run(names: &[[u8; 32]]) -> Vec<Result<u128>> {
        let circuit = builtin::by_name("add:8").unwrap();
        let party = |number: usize, transport| -> Result<u128> {
            let me = number as u16;
            let mut session = Session::connect(Config::new(me, transport), &circuit)?;
            let inputs = match number {
                0 | 1 => Inputs::builder(&circuit, me).uint(number, 20)?.finish()?,
                _ => Inputs::builder(&circuit, me).finish()?,
            };
            let mut ready = session.prepare_more(2)?;
            let first = session.run_named(ready.remove(0), &inputs, &[1; 32])?.uint("sum")?;
            assert_eq!(first, 40);
            // What is prepared later may be run earlier.
            ready.extend(session.prepare_more(1)?);
            session.run_named(ready.remove(1), &inputs, &[2; 32])?;
            session.run_named(ready.remove(0), &inputs, &names[number])?.uint("sum")
        };
        let ends = Transport::memory_mesh(names.len() as u16, 1, None).unwrap();
        thread::scope(|scope| {
            let party = &party;
            let start = |(number, end)| scope.spawn(move || party(number, end));
            let all: Vec<_> = ends.into_iter().enumerate().map(start).collect();
            all.into_iter().map(|party| party.join().unwrap()).collect()
        })
    }

    #[test]
    fn equal_names_run() {
        assert_eq!(run(&[[3; 32]; 2]), [Ok(40), Ok(40)]);
        assert_eq!(run(&[[3; 32]; 3]), [Ok(40), Ok(40), Ok(40)]);
    }

    /// Cheat: 2; any | online | runs an execution for another call | `run name` | always
    #[test]
    fn another_name_is_noticed_before_an_input_leaves() {
        let ended = run(&[[3; 32], [4; 32]]);
        let named = |party: u16| Err(Error::misbehaved(party, checks::RUN_NAME));
        assert_eq!(ended, [named(1), named(0)]);
        for ended in run(&[[3; 32], [3; 32], [4; 32]]) {
            let error = ended.unwrap_err();
            let check = Error::misbehaved(Culprit::Unknown, checks::RUN_NAME);
            assert!(error == check || matches!(error, Error::Transport { .. }), "{error}");
        }
    }
}
