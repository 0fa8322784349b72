//! Any number of circuits in one session, after one set-up.
//!
//! The handshake compares the first circuit. Before each further one the parties compare an
//! announcement pairwise:
//!
//! ```text
//! i → j   number, digest of the circuit        job = H(session, number, digest)
//! ```
//!
//! Every honest party has compared it with every other honest party, so all work on the same
//! circuit, and the job's id replaces the session's id in everything that the phases hash. The
//! engine counts tweaks, and everything else that must not repeat under a Δ, across jobs.

use symbolon_circuit::Circuit;
use symbolon_protocols::Compiled;
use symbolon_transport::{Channel, Error, Result};

use symbolon_protocols::Link;

use super::{Kind, Parts, Session};
use crate::report::{DEPENDENT, SETUP};
use crate::{Inputs, Outputs, config::check_parties, messages::NEXT_CIRCUIT};

const DOMAIN: &str = "symbolon 2026 job id v1";

/// Announces the number and the digest of a session's next circuit.
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

    /// Returns the id to which everything about this circuit is bound.
    fn job(&self, session: &[u8; 32]) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new_derive_key(DOMAIN);
        *hasher.update(session).update(&self.encode()).finalize().as_bytes()
    }

    /// Sends the announcement to all peers, and checks that they announce the same.
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
    /// Moves on to another circuit without a new set-up: from now on every phase is about
    /// `circuit`. All parties must call this with the same circuit, which is compared; this takes
    /// one message of 48 bytes to each peer.
    ///
    /// Earlier material and prepared circuits belong to the previous circuit and are rejected from
    /// now on. What the link decided stays as it is.
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
    ///     Ok((sum.uint("sum")?, is_richer.uint("richer")?))
    /// };
    /// let (zero, one) = std::thread::scope(|scope| {
    ///     let zero = scope.spawn(|| party(0, for_zero, 7));
    ///     let one = scope.spawn(|| party(1, for_one, 5));
    ///     (zero.join().unwrap(), one.join().unwrap())
    /// });
    /// assert_eq!(zero?, (12, 1));
    /// assert_eq!(one?, (12, 1));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `InvalidInput` before anything is sent, and without harm, if an owner or a receiver is not
    /// one of the parties, or the protocol cannot run this circuit. `PeerIncompatible` if a peer
    /// moves on to another circuit; `Transport` if a connection is lost.
    pub fn next_circuit(&mut self, circuit: &Circuit) -> Result<()> {
        self.only(Kind::Run)?;
        self.announce(circuit, circuit.digest())
    }

    /// Moves on to `circuit`, whose digest the parties compare.
    fn announce(&mut self, circuit: &Circuit, digest: [u8; 32]) -> Result<()> {
        self.alive()?;
        let fits = check_parties(circuit, usize::from(self.parties()));
        self.noted(fits)?;
        let circuit = Compiled::new(circuit);
        let runs = self.protocol.demand(&self.network, &circuit).map(drop);
        self.noted(runs)?;
        let known = self.protocol.check_options(circuit.circuit(), &self.network.options);
        self.noted(known)?;
        let announcement = Announcement { number: self.circuits, digest };
        self.phase(SETUP, |parts| {
            let peers = parts.network.lanes.first_mut();
            announcement.compare(peers.ok_or_else(|| Error::internal("a session without lanes"))?)
        })?;
        self.network.session = announcement.job(&self.id.0);
        self.circuits += 1;
        self.circuit = circuit;
        Ok(())
    }

    /// Runs all phases of the session's circuit as the first part of a reactive computation: later
    /// parts can take its outputs as inputs, including those that nobody learns. It counts as
    /// function-dependent. This requires [`Duplo`](crate::Protocol::Duplo) and
    /// [`connect_in_parts`](Session::connect_in_parts).
    ///
    /// ```
    /// use symbolon::{Config, Inputs, Link, Protocol, Result, Session, Transport};
    /// use symbolon::circuit::{Receivers, builtin};
    ///
    /// # fn main() -> Result<()> {
    /// let adder = builtin::by_name("add:8").expect("a built-in circuit");
    /// // Nobody learns the sum.
    /// let hidden = adder.clone().with_receivers(vec![Receivers::Only(vec![])])?;
    /// let (for_zero, for_one) = Transport::memory(1, None)?;
    /// let party = |number: u16, transport| -> Result<_> {
    ///     let config = Config::new(number, transport).protocol(Protocol::Duplo);
    ///     let inputs = Inputs::builder(&hidden, number).uint(usize::from(number), 20)?.finish()?;
    ///     let mut session = Session::connect_in_parts(config, &hidden, &[])?;
    ///     session.evaluate_part(&inputs)?;
    ///     // Both add the sum to itself.
    ///     let links = [0, 1].map(|input| Link { input, part: 0, output: 0 });
    ///     let none = Inputs::builder(&adder, number).finish_linked(&links)?;
    ///     session.continue_with(&adder, &links, &none)
    /// };
    /// let (zero, one) = std::thread::scope(|scope| {
    ///     let zero = scope.spawn(|| party(0, for_zero));
    ///     let one = scope.spawn(|| party(1, for_one));
    ///     (zero.join().unwrap(), one.join().unwrap())
    /// });
    /// for outputs in [zero?, one?] {
    ///     assert_eq!(outputs.uint("sum")?, 80);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Session::evaluate`], and `InvalidInput` if the protocol keeps no outputs or the session
    /// is of the other kind.
    pub fn evaluate_part(&mut self, inputs: &Inputs) -> Result<Outputs> {
        self.only(Kind::Parts)?;
        let checked = inputs.check(self.circuit.circuit(), self.network.me);
        self.noted(checked)?;
        self.part(&[], inputs)
    }

    /// Moves on to another circuit, as [`next_circuit`](Session::next_circuit) does, and evaluates
    /// it as the next part: its inputs in `links` are outputs of earlier parts, which stay as
    /// hidden as they are. The circuit and the links may depend on what the parties have learnt;
    /// all parties must name the same, and this is compared. `inputs` are the inputs without a
    /// link, from [`finish_linked`](crate::InputsBuilder::finish_linked).
    ///
    /// # Errors
    /// As [`next_circuit`](Session::next_circuit) and [`evaluate_part`](Session::evaluate_part);
    /// `InvalidInput` if a link does not fit, which ends the session because the peer may be
    /// waiting.
    pub fn continue_with(
        &mut self,
        circuit: &Circuit,
        links: &[Link],
        inputs: &Inputs,
    ) -> Result<Outputs> {
        self.only(Kind::Parts)?;
        self.announce(circuit, linked_digest(circuit, links))?;
        self.part(links, inputs)
    }

    fn part(&mut self, links: &[Link], inputs: &Inputs) -> Result<Outputs> {
        self.phase(DEPENDENT, |parts| {
            let Parts { engine, network, circuit } = parts;
            let bits = engine.evaluate_part(network, circuit, links, inputs.bits())?;
            Outputs::new(circuit.circuit(), network.me, bits)
        })
    }
}

/// Returns the digest that parties compare for a circuit with linked inputs.
fn linked_digest(circuit: &Circuit, links: &[Link]) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new_derive_key("symbolon 2026 linked circuit v1");
    hasher.update(&circuit.digest());
    let mut sorted = links.to_vec();
    sorted.sort_unstable_by_key(|link| (link.input, link.part, link.output));
    for Link { input, part, output } in sorted {
        for place in [input, part, output] {
            hasher.update(&(place as u64).to_le_bytes());
        }
    }
    *hasher.finalize().as_bytes()
}
