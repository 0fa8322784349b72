//! From nothing to correlated OT in both directions.
//!
//! Public-key base OTs are run in one direction only: party 0 sends, party 1 receives with the bits
//! of its Δ as choices, which makes party 1 the COT sender and party 0 the COT receiver. The base OTs
//! of the other direction are made from that first extension: party 0 draws 128 correlated OTs with
//! the bits of *its* Δ as choice bits; hashing K and K ⊕ Δ gives party 1 the pairs of seeds, hashing M
//! gives party 0 the chosen one. The consistency check of that draw runs before the seeds are used.
//! A party that passes it by guessing bits of Δ has gained no more than in any other draw.
//!
//! The first extension is IKNP's, whatever generator the session uses: 128 correlated OTs are too
//! few for anything else to pay. [`crate::softspoken`] then makes its trees from the same 128 seeds
//! in each direction, at the cost of one message each way, and checks them before they are used.
//!
//! With several lanes, every lane gets seeds of its own, derived from the same base OTs under the
//! same Δ: party j cannot use another Δ on another lane, as it knows only the seeds its Δ chose.

use std::sync::Arc;

use blake3::Hasher;
use symbolon_primitives::{BitVec, Block, Prg};
use symbolon_transport::{Channel, Result};
use zeroize::{Zeroize, Zeroizing};

use crate::{
    CotReceiver, CotSender, base,
    cot::{COLUMNS, GlobalKey, Stream, Verdicts},
    generator::{BlockBits, Generator},
    iknp,
    pprf::{self, Ground},
    softspoken,
};

/// A party's two sides of correlated OT on one lane.
pub struct Lane {
    /// Gets keys for the peer's bits, under the own Δ.
    pub sender: Box<dyn CotSender>,
    /// Gets MACs on the own bits, under the peer's Δ.
    pub receiver: Box<dyn CotReceiver>,
}

/// Runs the set-up over `channel` and returns correlated OT for `lanes` lanes under `key`, made by
/// `generator`, which both parties must have agreed on.
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
    generator: Generator,
    prg: &mut Prg,
) -> Result<Vec<Lane>> {
    let (me, peer) = (channel.me(), channel.peer());
    let (delta, verdicts) = (key.delta, key.verdicts.clone());
    let choices = delta_bits(delta);
    let bootstrap = Stream { receiver: me.min(peer), lane: 0 };
    let (pairs, chosen): (Zeroizing<Pairs>, Zeroizing<Seeds>) = if me < peer {
        let pairs = Zeroizing::new(base::send(channel, session, COLUMNS, prg)?);
        let pairs: Pairs = pairs.as_slice().try_into().expect("128 pairs");
        let mut first =
            iknp::Receiver::new(&derive_pairs(&pairs, 0), session, bootstrap, fork(prg));
        let mut macs = Zeroizing::new([Block::ZERO; COLUMNS]);
        first.extend(channel, &choices, &mut *macs)?;
        (pairs.into(), std::array::from_fn(|i| seed(session, i, macs[i])).into())
    } else {
        let chosen = Zeroizing::new(base::receive(channel, session, &choices, prg)?);
        let chosen: Seeds = chosen.as_slice().try_into().expect("128 seeds");
        let own = derive_all(&chosen, 0);
        let mut first = iknp::Sender::new(delta, &own, session, bootstrap, verdicts.clone());
        let mut keys = Zeroizing::new([Block::ZERO; COLUMNS]);
        first.extend(channel, &mut *keys)?;
        let pair = |i| [seed(session, i, keys[i]), seed(session, i, keys[i] ^ delta)];
        (std::array::from_fn(pair).into(), chosen.into())
    };
    // The caller may turn to another peer next, who may wait for this one.
    channel.flush()?;
    let seeds = DirectedSeeds { delta, session, pairs, chosen, verdicts };
    match generator {
        Generator::Iknp => Ok(seeds.iknp(me, peer, lanes, prg)),
        Generator::SoftSpoken { k } => seeds.softspoken(channel, k, lanes, prg),
    }
}

/// What the base OTs of both directions come to.
struct DirectedSeeds<'a> {
    delta: Block,
    session: &'a [u8; 32],
    pairs: Zeroizing<Pairs>,
    chosen: Zeroizing<Seeds>,
    verdicts: Arc<Verdicts>,
}

impl DirectedSeeds<'_> {
    fn iknp(&self, me: u16, peer: u16, lanes: usize, prg: &mut Prg) -> Vec<Lane> {
        let lane = |lane: u64| {
            let own = derive_all(&self.chosen, lane);
            let pairs = derive_pairs(&self.pairs, lane);
            let (sent, received) = (Stream { receiver: peer, lane }, Stream { receiver: me, lane });
            let verdicts = self.verdicts.clone();
            let sender = iknp::Sender::new(self.delta, &own, self.session, sent, verdicts);
            let receiver = iknp::Receiver::new(&pairs, self.session, received, fork(prg));
            Lane { sender: Box::new(sender), receiver: Box::new(receiver) }
        };
        numbers(lanes).map(lane).collect()
    }

    fn softspoken(
        &self,
        channel: &mut Channel,
        k: BlockBits,
        lanes: usize,
        prg: &mut Prg,
    ) -> Result<Vec<Lane>> {
        let (me, peer, session) = (channel.me(), channel.peer(), self.session);
        let ground = |planter| Ground { session, planter, k };
        let (planted, message) = pprf::plant(ground(me), &self.pairs);
        channel.send("softspoken: pprf", &message)?;
        let theirs = channel.recv("softspoken: pprf", pprf::message_bytes(k))?;
        let punctured =
            pprf::puncture(ground(peer), self.delta, &self.chosen, &theirs, &self.verdicts)?;
        let lane = |lane: u64| {
            let (sent, received) = (Stream { receiver: peer, lane }, Stream { receiver: me, lane });
            let verdicts = self.verdicts.clone();
            let sender = softspoken::Sender::new(&punctured, session, sent, verdicts);
            let receiver = softspoken::Receiver::new(&planted, session, received, fork(prg));
            Lane { sender: Box::new(sender), receiver: Box::new(receiver) }
        };
        Ok(numbers(lanes).map(lane).collect())
    }
}

impl Drop for DirectedSeeds<'_> {
    fn drop(&mut self) {
        self.delta.zeroize();
    }
}

/// The numbers of lanes; 0 was the bootstrap's own.
fn numbers(lanes: usize) -> impl Iterator<Item = u64> {
    1..=lanes as u64
}

type Seeds = [Block; COLUMNS];
type Pairs = [[Block; 2]; COLUMNS];

/// The bits of Δ, bit 0 first.
fn delta_bits(delta: Block) -> BitVec {
    BitVec::from_bytes(COLUMNS, &delta.to_bytes()).expect("16 bytes are 128 bits")
}

/// A seed of the second direction from a key or MAC of the first.
fn seed(session: &[u8; 32], index: usize, row: Block) -> Block {
    let mut hasher = Hasher::new_derive_key("symbolon ot setup 1: second direction");
    hasher.update(session).update(&(index as u64).to_le_bytes()).update(&row.to_bytes());
    truncate(&hasher)
}

/// A lane's seed from the base OT's.
fn derive(seed: Block, lane: u64) -> Block {
    let mut hasher = Hasher::new_derive_key("symbolon ot setup 1: lane");
    hasher.update(&lane.to_le_bytes()).update(&seed.to_bytes());
    truncate(&hasher)
}

fn derive_all(seeds: &[Block; COLUMNS], lane: u64) -> [Block; COLUMNS] {
    seeds.map(|seed| derive(seed, lane))
}

fn derive_pairs(pairs: &[[Block; 2]; COLUMNS], lane: u64) -> [[Block; 2]; COLUMNS] {
    pairs.map(|pair| pair.map(|seed| derive(seed, lane)))
}

fn truncate(hasher: &Hasher) -> Block {
    let digest = hasher.finalize();
    Block::from_bytes(digest.as_bytes()[..16].try_into().expect("16 of 32 bytes"))
}

fn fork(prg: &mut Prg) -> Prg {
    Prg::from_seed(prg.block())
}
