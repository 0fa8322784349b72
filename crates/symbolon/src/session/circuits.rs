//! Any number of circuits in one session, after one set-up.
//!
//! The handshake compares the first circuit. Before each further one the parties compare a message
//! of their own, pairwise:
//!
//! ```text
//! i → j   number, digest of the circuit        job = H(session, number, digest)
//! ```
//!
//! Every honest party has compared it with every other honest one, so all work on the same circuit,
//! and the job's id takes the place of the session's in whatever the phases hash. Tweaks, and all
//! else that must not repeat under a Δ, are counted by the engine across jobs.

use symbolon_circuit::{Circuit, Plan};
use symbolon_transport::{Channel, Error, Result};

use super::Session;
use crate::{config::check_parties, messages::NEXT_CIRCUIT, report::SETUP};

const DOMAIN: &str = "symbolon 2026 job id v1";

/// Which circuit of a session, and which one that is.
struct Announcement {
    number: u64,
    digest: [u8; 32],
}

impl Announcement {
    const BYTES: usize = 40;

    fn encode(&self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        bytes[..8].copy_from_slice(&self.number.to_le_bytes());
        bytes[8..].copy_from_slice(&self.digest);
        bytes
    }

    /// The id that everything about this circuit is bound to.
    fn job(&self, session: &[u8; 32]) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new_derive_key(DOMAIN);
        *hasher.update(session).update(&self.encode()).finalize().as_bytes()
    }

    /// Tells all peers, and makes sure that they announce the same.
    fn compare(&self, peers: &mut [Channel]) -> Result<()> {
        let own = self.encode();
        for peer in peers.iter_mut() {
            peer.send(NEXT_CIRCUIT, &own)?;
            peer.flush()?;
        }
        let several = peers.len() > 1;
        for peer in peers.iter_mut() {
            let theirs = peer.recv_array::<{ Self::BYTES }>(NEXT_CIRCUIT)?;
            if theirs == own {
                continue;
            }
            let whose = if several { format!(" (party {})", peer.peer()) } else { String::new() };
            let (number, digest) = theirs.split_at(8);
            if number != self.number.to_le_bytes() {
                let theirs = number.iter().rev().fold(0u64, |n, byte| n << 8 | u64::from(*byte));
                let what = "how many circuits there were";
                let theirs = format!("{theirs}{whose}");
                return Err(Error::incompatible(what, self.number.to_string(), theirs));
            }
            let theirs = format!("{}{whose}", hex::encode(digest));
            return Err(Error::incompatible("circuit", hex::encode(self.digest), theirs));
        }
        Ok(())
    }
}

impl Session {
    /// Goes on to another circuit, without a new set-up: from now on every phase is about
    /// `circuit`. All parties must call this with the same one, which is compared; it takes one
    /// message of 48 bytes to each peer.
    ///
    /// Material and prepared circuits that were made before are for the circuit before, and are
    /// refused from now on. What was left to the link's choice stays as it was chosen.
    ///
    /// ```
    /// use symbolon::{Config, Inputs, Result, Session, Transport, circuit::builtin};
    ///
    /// # fn main() -> Result<()> {
    /// let adder = builtin::by_name("add:16").expect("a built-in circuit");
    /// let richer = builtin::by_name("millionaires:16").expect("a built-in circuit");
    /// let (for_zero, for_one) = Transport::memory(1, None)?;
    /// let party = |number: u16, transport, wealth| -> Result<_> {
    ///     let place = usize::from(number);
    ///     let inputs = |circuit| Inputs::builder(circuit, number).uint(place, wealth)?.finish();
    ///     let mut session = Session::connect(Config::new(number, transport), &adder)?;
    ///     let sum = session.evaluate(&inputs(&adder)?)?;
    ///     session.next_circuit(&richer)?;
    ///     let is_richer = session.evaluate(&inputs(&richer)?)?;
    ///     Ok((sum.get(0).and_then(|out| out.uint()), is_richer.get(0).and_then(|out| out.uint())))
    /// };
    /// let (zero, one) = std::thread::scope(|scope| {
    ///     let zero = scope.spawn(|| party(0, for_zero, 7));
    ///     let one = scope.spawn(|| party(1, for_one, 5));
    ///     (zero.join().unwrap(), one.join().unwrap())
    /// });
    /// assert_eq!(zero?, (Some(12), Some(1)));
    /// assert_eq!(one?, (Some(12), Some(1)));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `InvalidInput` before anything is sent, and without harm, when an owner or a receiver is
    /// none of the parties, or the protocol cannot run this circuit. `PeerIncompatible` when a peer
    /// goes on to another circuit; `Transport` when one is gone.
    pub fn next_circuit(&mut self, circuit: &Circuit) -> Result<()> {
        if let Some(error) = &self.dead {
            return Err(error.clone());
        }
        check_parties(circuit, usize::from(self.parties()))?;
        let plan = Plan::new(circuit);
        self.protocol.demand(&self.network, circuit, &plan)?;
        let announcement = Announcement { number: self.circuits, digest: circuit.digest() };
        self.phase(SETUP, |parts| {
            let peers = parts.network.lanes.first_mut();
            announcement.compare(peers.ok_or_else(|| Error::internal("a session without lanes"))?)
        })?;
        self.network.session = announcement.job(&self.id.0);
        self.circuits += 1;
        (self.circuit, self.plan) = (circuit.clone(), plan);
        Ok(())
    }
}
