//! Sets up correlated OT in both directions.
//!
//! Public-key base OTs are run in one direction only: party 0 sends, party 1 receives with the bits
//! of its Δ as choices, which makes party 1 the COT sender and party 0 the COT receiver. The base
//! OTs of the other direction are made from that first extension: party 0 draws 128 correlated OTs
//! with the bits of *its* Δ as choice bits; hashing K and K ⊕ Δ gives party 1 the pairs of seeds,
//! hashing M gives party 0 the chosen seeds. The consistency check of that draw runs before the
//! seeds are used. A party that passes it by guessing bits of Δ has gained no more than in any
//! other draw.
//!
//! The first extension is IKNP's, whatever extension the session uses: 128 correlated OTs are too
//! few for any other extension to pay off. [`crate::softspoken`] then makes its trees from the same
//! 128 seeds in each direction, at the cost of one message each way, and checks them before they
//! are used.
//!
//! [`crate::ferret`] takes its first base from SoftSpoken's, on each lane.
//!
//! With several lanes, every lane gets seeds of its own, derived from the same base OTs under the
//! same Δ: party j cannot use another Δ on another lane, because it knows only the seeds that its Δ
//! chose.
//!
//! Departure: base OT: directions | both | one; the other from the first extension | that extension
//! passes its check before its seeds are used

use symbolon_primitives::{BitVec, Block, Delta, Prg, Secret};
use symbolon_transport::{Channel, PartyId, Result};
use zeroize::Zeroizing;

use crate::messages::TREES;

use crate::{
    CotReceiver, CotSender, Workspace, base,
    cot::{COLUMNS, ExtensionId, GlobalKey},
    extension::OtExtension,
    ferret::{self, LpnParams},
    iknp,
    oracle::Oracle,
    pprf::{self, SenderTrees, TreeDepth, TreeParams},
    softspoken,
};

/// A party's two sides of correlated OT on one lane.
pub struct Lane {
    /// Gets keys for the peer's bits, under this party's Δ.
    pub sender: Box<dyn CotSender>,
    /// Gets MACs on this party's bits, under the peer's Δ.
    pub receiver: Box<dyn CotReceiver>,
}

/// Runs the set-up over `channel` and returns correlated OT for `lanes` lanes under `key`, made by
/// `ot_extension`, which both parties must have agreed on.
///
/// Party 0 of the pair is the one with the smaller number.
///
/// # Errors
/// `PeerMisbehaved` for a malformed base-OT message or a failed consistency check; `Transport` when
/// the peer is gone.
pub fn both_directions(
    channel: &mut Channel,
    session: &[u8; 32],
    key: &GlobalKey,
    lanes: usize,
    ot_extension: OtExtension,
    prg: &mut Prg,
) -> Result<Vec<Lane>> {
    let channels = std::slice::from_mut(channel);
    let mut made = with_all(channels, session, key, lanes, ot_extension, prg)?;
    Ok(made.pop().expect("one list of lanes per channel"))
}

/// Runs the set-up with all peers at once, and returns the lanes of each peer. `channels` are in
/// ascending order of the peers.
///
/// Each step is taken with all peers before the next step is taken with any, and sends before it
/// waits. So the work for other peers fills the time until one peer's answer arrives, and the whole
/// set-up takes as many trips over the links as with one peer. One thread does everything: checks
/// run one after another, and the first failure ends the set-up.
///
/// # Errors
/// As [`both_directions`], for the first peer with which it fails.
pub fn with_all(
    channels: &mut [Channel],
    session: &[u8; 32],
    key: &GlobalKey,
    lanes: usize,
    ot_extension: OtExtension,
    prg: &mut Prg,
) -> Result<Vec<Vec<Lane>>> {
    let pairs = base_seeds(channels, session, key, prg)?;
    match ot_extension {
        OtExtension::Iknp => Ok(pairs.iter().map(|pair| pair.iknp(lanes, prg)).collect()),
        OtExtension::SoftSpoken { k } => softspoken_with_all(channels, &pairs, (lanes, k), prg),
        OtExtension::Ferret => {
            let first = softspoken_with_all(channels, &pairs, (lanes, FIRST_BASE), prg)?;
            let silent = |(pair, lanes): (&DirectedSeeds<'_>, Vec<Lane>)| {
                let lanes = numbers(lanes.len()).zip(lanes);
                lanes.map(|(number, lane)| pair.ferret(number, lane, prg)).collect()
            };
            Ok(pairs.iter().zip(first).map(silent).collect())
        }
    }
}

/// What makes the first base of Ferret: it is small, so bytes matter more than work.
pub(crate) const FIRST_BASE: TreeDepth = TreeDepth::Eight;

fn softspoken_with_all(
    channels: &mut [Channel],
    pairs: &[DirectedSeeds<'_>],
    (lanes, k): (usize, TreeDepth),
    prg: &mut Prg,
) -> Result<Vec<Vec<Lane>>> {
    let sender_trees: Vec<SenderTrees> = channels
        .iter_mut()
        .zip(pairs)
        .map(|(channel, pair)| pair.build_trees(channel, k))
        .collect::<Result<_>>()?;
    let grow = |((channel, pair), sender_trees)| {
        DirectedSeeds::softspoken(pair, channel, (k, sender_trees), lanes, prg)
    };
    channels.iter_mut().zip(pairs).zip(&sender_trees).map(grow).collect()
}

/// Runs base OTs in one direction with every peer, and makes the seeds of the other direction from
/// the first draw.
fn base_seeds<'a>(
    channels: &mut [Channel],
    session: &'a [u8; 32],
    key: &GlobalKey,
    prg: &mut Prg,
) -> Result<Vec<DirectedSeeds<'a>>> {
    let towards = |channel: &mut Channel| {
        let mut key = key.clone();
        let delta = std::slice::from_mut(key.delta.bits_mut());
        channel.tamper_state("set-up: delta", Block::as_bytes_mut(delta));
        Pair {
            session,
            me: channel.me(),
            peer: channel.peer(),
            choices: delta_bits(&key.delta),
            key,
        }
    };
    let pairs: Vec<Pair<'a>> = channels.iter_mut().map(towards).collect();
    let larger = channels.partition_point(|channel| channel.peer() < channel.me());
    let (to_smaller, to_larger) = channels.split_at_mut(larger);
    let (smaller, larger) = pairs.split_at(larger);

    let mut senders = Vec::with_capacity(larger.len());
    for channel in to_larger.iter_mut() {
        senders.push(base::Sender::begin(channel, session, prg)?);
        channel.flush()?;
    }
    let mut receivers = Vec::with_capacity(smaller.len());
    for (channel, pair) in to_smaller.iter_mut().zip(smaller) {
        receivers.push(base::Receiver::begin(channel, session, &pair.choices, prg)?);
        channel.flush()?;
    }
    // The first loop waits only for messages that peers send above, the second only for messages
    // that they send in the first.
    let mut seeds_with_larger = Vec::with_capacity(larger.len());
    for ((channel, pair), sender) in to_larger.iter_mut().zip(larger).zip(senders) {
        seeds_with_larger.push(pair.seeds_as_smaller(channel, sender, prg)?);
        channel.flush()?;
    }
    let mut seeds = Vec::with_capacity(pairs.len());
    for ((channel, pair), receiver) in to_smaller.iter_mut().zip(smaller).zip(receivers) {
        seeds.push(pair.seeds_as_larger(channel, receiver)?);
    }
    seeds.append(&mut seeds_with_larger);
    Ok(seeds)
}

/// This party and one peer before their base OTs.
struct Pair<'a> {
    session: &'a [u8; 32],
    me: PartyId,
    peer: PartyId,
    key: GlobalKey,
    /// The bits of Δ.
    choices: BitVec,
}

impl<'a> Pair<'a> {
    /// Returns the draw from which the second direction starts.
    fn bootstrap(&self) -> ExtensionId {
        let (smaller, larger) = (self.me.min(self.peer), self.me.max(self.peer));
        ExtensionId { sender: Some(larger), receiver: smaller, lane: 0 }
    }

    /// Returns the seeds with a larger peer: this party sends base OTs, and is the receiver of the
    /// first draw.
    fn seeds_as_smaller(
        &self,
        channel: &mut Channel,
        sender: base::Sender,
        prg: &mut Prg,
    ) -> Result<DirectedSeeds<'a>> {
        let pairs = sender.finish(channel, COLUMNS)?;
        let pairs: Secret<Pairs> = Secret::new(pairs.as_slice().try_into().expect("128 pairs"));
        let stream = self.bootstrap();
        let seeds = derive_pairs(&pairs, self.session, stream);
        let mut first = iknp::Receiver::new(&seeds, self.session, stream, prg.child());
        let mut macs = Secret::new([Block::ZERO; COLUMNS]);
        first.extend(channel, &self.choices, &mut *macs, &mut Workspace::default())?;
        let (mut oracle, start) = (Oracle::new(SECOND), stream.start(self.session));
        let chosen: Seeds = std::array::from_fn(|i| seed(&mut oracle, start, i, macs[i]));
        Ok(self.directed(pairs, Secret::new(chosen)))
    }

    /// Returns the seeds with a smaller peer: this party receives base OTs, and is the sender of
    /// the first draw.
    fn seeds_as_larger(
        &self,
        channel: &mut Channel,
        receiver: base::Receiver<'_>,
    ) -> Result<DirectedSeeds<'a>> {
        let GlobalKey { delta, guard } = &self.key;
        let chosen = receiver.finish(channel)?;
        let chosen: Secret<Seeds> = Secret::new(chosen.as_slice().try_into().expect("128 seeds"));
        let stream = self.bootstrap();
        let seeds = derive_all(&chosen, self.session, stream);
        let mut first = iknp::Sender::new(delta, &seeds, self.session, stream, guard.clone());
        let mut keys = Secret::new([Block::ZERO; COLUMNS]);
        first.extend(channel, &mut *keys, &mut Workspace::default())?;
        let (mut oracle, start) = (Oracle::new(SECOND), stream.start(self.session));
        let pair = |i| [keys[i], keys[i] ^ **delta].map(|row| seed(&mut oracle, start, i, row));
        let pairs: Pairs = std::array::from_fn(pair);
        Ok(self.directed(Secret::new(pairs), chosen))
    }

    fn directed(&self, pairs: Secret<Pairs>, chosen: Secret<Seeds>) -> DirectedSeeds<'a> {
        let Pair { session, me, peer, .. } = *self;
        DirectedSeeds { session, me, peer, key: self.key.clone(), pairs, chosen }
    }
}

/// The result of the base OTs of both directions with one peer.
struct DirectedSeeds<'a> {
    session: &'a [u8; 32],
    me: PartyId,
    peer: PartyId,
    key: GlobalKey,
    pairs: Secret<Pairs>,
    chosen: Secret<Seeds>,
}

impl DirectedSeeds<'_> {
    /// Returns the two extensions of a lane: the one with this party as the sender, and the one
    /// with the peer as the sender.
    fn streams(&self, lane: u64) -> (ExtensionId, ExtensionId) {
        let DirectedSeeds { me, peer, .. } = *self;
        let stream = |sender, receiver| ExtensionId { sender: Some(sender), receiver, lane };
        (stream(me, peer), stream(peer, me))
    }

    fn iknp(&self, lanes: usize, prg: &mut Prg) -> Vec<Lane> {
        let lane = |lane: u64| {
            let (sent, received) = self.streams(lane);
            let own = derive_all(&self.chosen, self.session, sent);
            let pairs = derive_pairs(&self.pairs, self.session, received);
            let GlobalKey { delta, guard } = &self.key;
            let sender = iknp::Sender::new(delta, &own, self.session, sent, guard.clone());
            let receiver = iknp::Receiver::new(&pairs, self.session, received, prg.child());
            Lane { sender: Box::new(sender), receiver: Box::new(receiver) }
        };
        numbers(lanes).map(lane).collect()
    }

    /// Builds this party's trees and sends what the peer needs of them.
    fn build_trees(&self, channel: &mut Channel, k: TreeDepth) -> Result<SenderTrees> {
        let tree_params =
            TreeParams { session: self.session, tree_sender: self.me, tree_receiver: self.peer, k };
        let (sender_trees, message) = pprf::build_trees(tree_params, &self.pairs);
        channel.send(TREES, &message)?;
        channel.flush()?;
        Ok(sender_trees)
    }

    /// Receives and checks the peer's trees, and returns the lanes.
    fn softspoken(
        &self,
        channel: &mut Channel,
        (k, sender_trees): (TreeDepth, &SenderTrees),
        lanes: usize,
        prg: &mut Prg,
    ) -> Result<Vec<Lane>> {
        let session = self.session;
        let GlobalKey { delta, guard } = &self.key;
        let theirs = channel.recv(TREES, pprf::message_bytes(k))?;
        let tree_params = TreeParams { session, tree_sender: self.peer, tree_receiver: self.me, k };
        let punctured = pprf::puncture(tree_params, delta, &self.chosen, &theirs, guard)?;
        let lane = |lane: u64| {
            let (sent, received) = self.streams(lane);
            let sender = softspoken::Sender::new(&punctured, session, sent, guard.clone());
            let receiver = softspoken::Receiver::new(sender_trees, session, received, prg.child());
            Lane { sender: Box::new(sender), receiver: Box::new(receiver) }
        };
        Ok(numbers(lanes).map(lane).collect())
    }

    /// Returns silent OT that starts from this lane.
    fn ferret(&self, number: u64, first: Lane, prg: &mut Prg) -> Lane {
        let (sent, received) = self.streams(number);
        let (session, rows) = (self.session, LpnParams::USED);
        let sender = ferret::Sender::new(first.sender, session, sent, rows, prg.child());
        let receiver = ferret::Receiver::new(first.receiver, session, received, rows, prg.child());
        Lane { sender: Box::new(sender), receiver: Box::new(receiver) }
    }
}

/// Returns the numbers of the lanes. 0 is the number of the bootstrap draw.
fn numbers(lanes: usize) -> impl Iterator<Item = u64> {
    1..=lanes as u64
}

type Seeds = [Block; COLUMNS];
type Pairs = [[Block; 2]; COLUMNS];

/// Returns the bits of Δ, bit 0 first.
fn delta_bits(delta: &Delta) -> BitVec {
    BitVec::from_bytes(COLUMNS, &delta.to_bytes()).expect("16 bytes are 128 bits")
}

/// The context of the second direction's seeds.
const SECOND: &str = "symbolon ot setup 2: second direction";

/// Derives a seed of the second direction from a key or MAC of the first; `start` is that of the
/// first.
fn seed(oracle: &mut Oracle, start: Block, index: usize, row: Block) -> Block {
    let row = Zeroizing::new(row.to_bytes());
    truncate(oracle.digest(&[&start.to_bytes(), &(index as u64).to_le_bytes(), &*row]))
}

/// The context of the lanes' seeds.
const LANE: &str = "symbolon ot setup 2: lane";

/// Derives a lane's seed from a base OT's; `start` is that of the lane.
fn derive(oracle: &mut Oracle, start: Block, seed: Block) -> Block {
    let seed = Zeroizing::new(seed.to_bytes());
    truncate(oracle.digest(&[&start.to_bytes(), &*seed]))
}

fn derive_all(seeds: &Seeds, session: &[u8; 32], stream: ExtensionId) -> Secret<Seeds> {
    let (mut oracle, start) = (Oracle::new(LANE), stream.start(session));
    Secret::new(seeds.map(|seed| derive(&mut oracle, start, seed)))
}

fn derive_pairs(pairs: &Pairs, session: &[u8; 32], stream: ExtensionId) -> Secret<Pairs> {
    let (mut oracle, start) = (Oracle::new(LANE), stream.start(session));
    Secret::new(pairs.map(|pair| pair.map(|seed| derive(&mut oracle, start, seed))))
}

fn truncate(digest: [u8; 32]) -> Block {
    Block::from_bytes(digest[..16].try_into().expect("16 of 32 bytes"))
}
