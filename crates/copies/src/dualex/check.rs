//! Commit, open, check: cut-and-choose on the circuits (Fig. 15, "Cut-and-Choose Commit" and
//! "Cut-and-Choose").
//!
//! In the figure each party chooses a check set and commits to it. Here one coin, tossed after both
//! parties' circuits and OTs are fixed, decides both check sets and the buckets.
//!
//! To open a circuit, its garbler sends the circuit's seed and the choice bits of its OTs. One
//! digest proves the choice bits of all opened circuits. The other party garbles the circuit again
//! and compares the commitment, which covers the table, the labels, the order of the leaves (M·c),
//! R and the output labels.
//!
//! Departure: `dualex`: opening | buckets in order (prototype) | one coin for both after everything
//! is fixed; random buckets | Lemma 1 needs random buckets (`docs/proofs/dual-execution.md`)

use symbolon_cutchoose::draw::CheckSet;
use symbolon_engine::{
    decode_bits,
    parallel::{allow_gates, in_parallel},
};
use symbolon_primitives::{BitVec, Block, Commitment, Seed, same_digest, watch};
use symbolon_transport::{Error, Result, Step};
use zeroize::Zeroizing;

use super::garble::Source;
use super::preparation::{Ots, Preparation};
use super::{checks, messages};

/// Both parties' committed circuits.
pub(super) struct Committed {
    /// Seeds of this party's circuits.
    pub seeds: Vec<Seed>,
    /// M·c for each of this party's circuits: the order of its input leaves.
    pub orders: Vec<Zeroizing<BitVec>>,
    /// The peer's commitments.
    pub theirs: Vec<Commitment>,
}

/// Garbles N̂ circuits, and exchanges the commitments to them.
///
/// Paper: RR16, Fig. 15, Cut-and-Choose Commit | all circuits are committed to
///
/// # Errors
/// As [`Committed::exchange`].
pub(super) fn commit(offline: &mut Preparation<'_>, ots: &Ots) -> Result<Committed> {
    let mut committed = Committed::draw(offline, ots);
    let own = committed.garble(offline)?;
    committed.exchange(offline, &own)?;
    Ok(committed)
}

impl Committed {
    /// Draws from what this party's circuits are made.
    pub fn draw(offline: &mut Preparation<'_>, ots: &Ots) -> Committed {
        let (n, me) = (offline.params.circuits(), offline.me());
        let encoded = offline.matrices[me].encoded();
        let order = |j: usize| {
            let choices = ots.received.choices.slice(j * encoded..(j + 1) * encoded);
            Zeroizing::new(offline.matrices[me].decode(&Zeroizing::new(choices)))
        };
        let orders = (0..n).map(order).collect();
        let seeds = (0..n).map(|_| offline.prg.seed()).collect();
        Committed { seeds, orders, theirs: Vec::new() }
    }

    /// Returns from what this party's circuit `j` is made. `first` is the number of the first one.
    pub fn source(&self, first: u64, j: usize) -> Source<'_> {
        Source { number: first + j as u64, seed: &self.seeds[j], order: &self.orders[j] }
    }

    /// Garbles this party's circuits and returns the commitments to them.
    fn garble(&self, offline: &Preparation<'_>) -> Result<Vec<Commitment>> {
        let garbler = offline.garbler(offline.me());
        let (meter, gates) = (&offline.net.meter, offline.function.plan.and_count());
        // Each circuit is garbled now, and again when it is opened to this party or sent.
        meter.begin_step(Step::Gates, 2 * gates * self.seeds.len() as u64);
        let sources: Vec<_> =
            (0..self.seeds.len()).map(|j| self.source(offline.first, j)).collect();
        let groups: Vec<_> = sources.chunks(garbler.side_by_side()).collect();
        let own = in_parallel(offline.threads(), groups, |group| {
            let commitments = garbler.commit(group);
            meter.advance(Step::Gates, gates * group.len() as u64);
            commitments
        })?;
        Ok(own.into_iter().flatten().collect())
    }

    /// Exchanges the commitments to all circuits.
    ///
    /// Check: `dualex`: circuits | `circuit commitment` | an echo of our commitments | –
    ///
    /// # Errors
    /// `PeerMisbehaved` when the peer echoes this party's commitments; `Transport`.
    pub fn exchange(&mut self, offline: &mut Preparation<'_>, own: &[Commitment]) -> Result<()> {
        let gates = offline.function.plan.and_count() * own.len() as u64;
        let message: Vec<u8> = own.iter().flat_map(|commitment| commitment.0).collect();
        let channel = offline.channel();
        channel.send(messages::CIRCUITS, &message)?;
        allow_gates(channel, gates);
        let theirs = channel.recv(messages::CIRCUITS, message.len())?;
        if theirs == message {
            return Err(Error::misbehaved(channel.peer(), checks::ECHO));
        }
        self.theirs = theirs.as_chunks::<32>().0.iter().copied().map(Commitment).collect();
        Ok(())
    }
}

/// Opens this party's check set, checks the peer's opened circuits, and releases the OTs of both.
/// The check sets are `[own, peer's]`.
///
/// Paper: RR16, Fig. 15, Cut-and-Choose | circuits are opened and garbled again
///
/// Check: `dualex`: circuits | `opened circuit`, `opened OT choices`: after all commitments a coin
/// opens some and puts the rest into buckets | wrong circuits; labels in another order than that of
/// the OT choices | 2^-κ_b (2^-ρ unless κ_b is chosen) that any bucket of a session has no good
/// circuit (with `--kappa-b-per execution` that a given one has none), and then one bit leaks
///
/// # Errors
/// `PeerMisbehaved` when an opened circuit does not match its commitment or the opened choice bits
/// are wrong; `Transport`.
pub(super) fn open(
    offline: &mut Preparation<'_>,
    committed: &Committed,
    ots: &mut Ots,
    [own, theirs]: [&CheckSet; 2],
) -> Result<()> {
    let me = offline.me();
    let [own_bits, their_bits] = [me, 1 - me].map(|party| offline.matrices[party].encoded());
    let runs = |set: &CheckSet, bits: usize| {
        set.opened().map(|j| j * bits..(j + 1) * bits).collect::<Vec<_>>()
    };

    let own_runs = runs(own, own_bits);
    let mut choices = BitVec::with_capacity(own_runs.len() * own_bits);
    own_runs.iter().for_each(|run| choices.extend_from(&ots.received.choices.slice(run.clone())));
    let seeds: Vec<Block> = own.opened().map(|j| *committed.seeds[j]).collect();
    watch::tell_opened(Block::as_bytes(&seeds));
    let digest = ots.received.opening(own_runs.into_iter());
    let channel = offline.channel();
    let parts: [&[u8]; 3] = [Block::as_bytes(&seeds), &choices.to_bytes(), &digest];
    channel.send_parts(messages::OPENED, &parts)?;

    let their_runs = runs(theirs, their_bits);
    let opened = their_runs.len();
    let bits = opened * their_bits;
    let message = channel.recv(messages::OPENED, 16 * opened + BitVec::byte_len(bits) + 32)?;
    let peer = channel.peer();
    let (seeds, rest) = message.split_at(16 * opened);
    let (choices, digest) = rest.split_at(rest.len() - 32);
    let choices = decode_bits(channel, bits, choices)?;
    let digest = digest.try_into().expect("32 bytes were split off");
    if !same_digest(&ots.sent.expected_opening(their_runs.into_iter(), &choices), digest) {
        return Err(Error::misbehaved(peer, checks::CHOICES));
    }
    runs(own, own_bits).into_iter().for_each(|run| ots.received.release(run));
    runs(theirs, their_bits).into_iter().for_each(|run| ots.sent.release(run));
    let seeds: Vec<Seed> = seeds.as_chunks::<16>().0.iter().map(|s| seed(*s)).collect();
    let numbers: Vec<usize> = theirs.opened().collect();
    let garbler = offline.garbler(1 - me);
    let (first, matrix) = (offline.first, &offline.matrices[1 - me]);
    let (meter, gates) = (&offline.net.meter, offline.function.plan.and_count());
    let orders: Vec<BitVec> = (0..opened)
        .map(|k| matrix.decode(&choices.slice(k * their_bits..(k + 1) * their_bits)))
        .collect();
    let circuit = |k: usize| {
        let (number, seed, order) = (first + numbers[k] as u64, &seeds[k], &orders[k]);
        (Source { number, seed, order }, &committed.theirs[numbers[k]])
    };
    let circuits: Vec<_> = (0..opened).map(circuit).collect();
    let groups: Vec<_> = circuits.chunks(garbler.side_by_side()).collect();
    let good = in_parallel(offline.threads(), groups, |group| {
        let sources: Vec<Source<'_>> = group.iter().map(|(source, _)| *source).collect();
        let commitments = garbler.commit(&sources);
        meter.advance(Step::Gates, gates * group.len() as u64);
        let mut pairs = commitments.iter().zip(group);
        pairs.all(|(commitment, (_, theirs))| same_digest(&commitment.0, &theirs.0))
    })?;
    allow_gates(offline.channel(), gates * own.opened().count() as u64);
    match good.into_iter().all(|good| good) {
        true => Ok(()),
        false => Err(Error::misbehaved(peer, checks::CIRCUIT)),
    }
}

fn seed(bytes: [u8; 16]) -> Seed {
    Seed::new(Block::from_bytes(bytes))
}
