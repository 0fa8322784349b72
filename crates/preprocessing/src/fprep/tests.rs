//! Sessions in one process whose correlated OT starts from known seeds: everything after the base
//! OTs, honest here, and with cheating peers in [`cheats`], [`many`], [`bits`],
//! [`bits_softspoken`], [`ferret`], [`anchored`] and [`threads`], a silent one in [`silent`]; whole
//! attacks, as often as they should succeed, in [`attack`].

mod anchored;
mod attack;
mod bits;
mod bits_softspoken;
mod cheats;
mod combined_cheats;
mod ferret;
mod league;
mod many;
#[path = "../../../interaction/tests/mesh/mod.rs"]
mod mesh;
mod plain;
mod silent;
mod threads;
mod zero_test;

use std::sync::Arc;

use symbolon_ot::cot::{ExtensionId, MAX_DRAW, SelectiveFailureGuard};
use symbolon_ot::ferret::{LpnParams, Receiver, Sender};
use symbolon_ot::iknp::{self, COLUMNS};
use symbolon_ot::pprf::{self, TreeParams};
use symbolon_ot::setup::Lane;
use symbolon_ot::softspoken;
use symbolon_transport::adversary::fresh;

use super::*;
use crate::{PeerIndex, bucketing::Batch};
use mesh::Lanes;

const SESSION: SessionId = SessionId([3; 32]);

/// The number of bytes in a leaky triple's U at the ρ of these sessions, 40.
const U: usize = 6;

/// The number of bytes in a word of S, and in an element of the blind test, at that ρ.
const WORD: usize = 8;

/// The seeds of one direction between two parties on one lane.
type Seeds = [[Block; 2]; COLUMNS];

/// One party: its session, its channels, and both seeds of each column, by lane and peer, with
/// which it authenticates its bits.
struct Party {
    open: Preprocessor,
    lanes: Lanes,
    seeds: Vec<Vec<Seeds>>,
}

/// Returns parties of which number i uses the global key `delta(i, j)` towards j.
fn parties_with(
    parties: u16,
    lanes: usize,
    seed: u128,
    delta: impl Fn(u16, u16) -> Block,
) -> Vec<Party> {
    parties_by(OtExtension::Iknp, (parties, lanes, seed), delta)
}

/// As [`parties_with`], with this OT extension.
fn parties_by(
    ot_extension: OtExtension,
    (parties, lanes, seed): (u16, usize, u128),
    delta: impl Fn(u16, u16) -> Block,
) -> Vec<Party> {
    let mut prg = Prg::from_seed(Block(fresh(seed)));
    let of_all = 0..usize::from(parties);
    // Indexed by the holder of Δ, the holder of the bits, and the lane.
    let seeds: Vec<Vec<Vec<Seeds>>> = of_all
        .clone()
        .map(|_| of_all.clone().map(|_| (0..lanes).map(|_| seeds(&mut prg)).collect()).collect())
        .collect();
    let meshed = (0..parties).zip(mesh::mesh(parties, lanes));
    let party = |(me, channels): (u16, Lanes)| {
        let guard = SelectiveFailureGuard::new();
        let mut own_seeds = Vec::new();
        let made = (0..lanes).map(|lane| {
            let number = lane as u64 + 1;
            let mut pairs = Vec::new();
            own_seeds.push(Vec::new());
            for peer in crate::peers_of(me, usize::from(parties)) {
                let (i, j) = (usize::from(me), usize::from(peer));
                let both = [&seeds[i][j][lane], &seeds[j][i][lane]];
                let delta = Delta::new(delta(me, peer.number()));
                let tails = Prg::from_seed(prg.block());
                let ends = Ends { me: me.into(), peer, lane: number };
                pairs.push(ends.start(ot_extension, both, (&delta, &guard), tails));
                own_seeds[lane].push(*both[1]);
            }
            let bits = AuthBitGenerator::new(pairs, &SESSION, me.into(), number, &mut prg);
            LeakyAndGenerator::new(bits, &SESSION, me.into(), lane, Prg::from_seed(prg.block()))
        });
        let open = Preprocessor {
            session: SESSION,
            delta: Delta::new(delta(me, u16::from(me == 0))),
            rho: 40,
            lanes: made.collect(),
            chunk: laand::CHUNK,
            prg: Prg::from_seed(prg.block()),
            batches: 0,
            laand: LaAndWorkspace::default(),
            buckets: combine::Scratch::default(),
            failed: false,
        };
        Party { open, lanes: channels, seeds: own_seeds }
    };
    meshed.map(party).collect()
}

/// A party's correlated OT with one peer on one lane.
#[derive(Clone, Copy)]
struct Ends {
    me: PartyId,
    peer: PartyId,
    lane: u64,
}

impl Ends {
    /// Starts both directions, from the seeds of the one in which this party holds `delta`, and of
    /// the one in which it holds the bits.
    fn start(
        self,
        ot_extension: OtExtension,
        [theirs, own]: [&Seeds; 2],
        (delta, guard): (&Delta, &Arc<SelectiveFailureGuard>),
        tails: Prg,
    ) -> Lane {
        let Ends { me, peer, lane } = self;
        let session = SESSION.as_bytes();
        let chosen = std::array::from_fn(|c| theirs[c][delta_bit(**delta, c)]);
        let stream = |sender, receiver| ExtensionId { sender: Some(sender), receiver, lane };
        let (to, from) = (stream(me, peer), stream(peer, me));
        let k = match ot_extension {
            OtExtension::Iknp => {
                let sender = iknp::Sender::new(delta, &chosen, session, to, guard.clone());
                let receiver = iknp::Receiver::new(own, session, from, tails);
                return Lane { sender: Box::new(sender), receiver: Box::new(receiver) };
            }
            OtExtension::SoftSpoken { k } => k,
            OtExtension::Ferret => return self.ferret([theirs, own], (delta, guard), tails),
        };
        let params =
            |tree_sender, tree_receiver| TreeParams { session, tree_sender, tree_receiver, k };
        let (_, message) = pprf::build_trees(params(peer, me), theirs);
        let punctured = pprf::puncture(params(peer, me), delta, &chosen, &message, guard);
        let sender = softspoken::Sender::new(&punctured.unwrap(), session, to, guard.clone());
        let (trees, _) = pprf::build_trees(params(me, peer), own);
        let receiver = softspoken::Receiver::new(&trees, session, from, tails);
        Lane { sender: Box::new(sender), receiver: Box::new(receiver) }
    }

    /// Starts silent OT, with IKNP for its first base.
    fn ferret(
        self,
        seeds: [&Seeds; 2],
        key: (&Delta, &Arc<SelectiveFailureGuard>),
        mut tails: Prg,
    ) -> Lane {
        let Ends { me, peer, lane } = self;
        let first = self.start(OtExtension::Iknp, seeds, key, tails.child());
        let stream = |sender, receiver| ExtensionId { sender: Some(sender), receiver, lane };
        let (to, from) = (stream(me, peer), stream(peer, me));
        let (session, rows) = (SESSION.as_bytes(), LpnParams::USED);
        let sender = Sender::new(first.sender, session, to, rows, tails.child());
        let receiver = Receiver::new(first.receiver, session, from, rows, tails.child());
        Lane { sender: Box::new(sender), receiver: Box::new(receiver) }
    }
}

fn seeds(prg: &mut Prg) -> Seeds {
    std::array::from_fn(|_| std::array::from_fn(|_| prg.block()))
}

fn delta_bit(delta: Block, bit: usize) -> usize {
    (delta.0 >> bit & 1) as usize
}

/// Returns parties with these global keys.
fn parties_under(deltas: &[Block], lanes: usize, seed: u128) -> Vec<Party> {
    parties_with(deltas.len() as u16, lanes, seed, |me, _| deltas[usize::from(me)])
}

/// Returns global keys whose last bits sum to 1. Within a process they depend only on the seed.
fn deltas(parties: u16, seed: u128) -> Vec<Block> {
    let mut prg = Prg::from_seed(Block(fresh(seed) ^ 1 << 100));
    (0..parties).map(|me| prg.block().with_lsb(me != 0 || parties % 2 == 1)).collect()
}

fn parties(n: u16, lanes: usize, seed: u128) -> Vec<Party> {
    parties_under(&deltas(n, seed), lanes, seed)
}

/// Runs `f` for all parties at once. A party that fails closes its lanes.
fn run<T: Send>(
    parties: Vec<Party>,
    f: impl Fn(&mut Preprocessor, &mut Lanes) -> Result<T> + Sync,
) -> Vec<(Preprocessor, Result<T>)> {
    run_on(parties, &f)
}

/// The rest of [`run`]: it is compiled once for each result, not for each test.
fn run_on<T: Send>(
    parties: Vec<Party>,
    f: &(dyn Fn(&mut Preprocessor, &mut Lanes) -> Result<T> + Sync),
) -> Vec<(Preprocessor, Result<T>)> {
    let parties = parties.into_iter().map(|Party { open, lanes, .. }| (open, lanes));
    mesh::play(parties.collect(), |mut open, lanes| {
        let result = f(&mut open, lanes);
        (open, result)
    })
}

/// Returns the results of a run in which nobody may fail.
#[track_caller]
fn all_end_well<T>(ended: Vec<(Preprocessor, Result<T>)>) -> Vec<T> {
    ended.into_iter().map(|(_, result)| result.unwrap()).collect()
}

/// Returns every two parties, and the index of each among the other's peers.
fn pairs(parties: usize) -> impl Iterator<Item = ((usize, usize), (PeerIndex, PeerIndex))> {
    let of_all = move || 0..parties;
    let pairs = of_all().flat_map(move |i| of_all().map(move |j| (i, j)));
    let index = |party: usize, of: usize| PeerIndex::of(party as u16, of as u16);
    pairs.filter(|(i, j)| i != j).map(move |(i, j)| ((i, j), (index(i, j), index(j, i))))
}

/// Asserts that every MAC of every party fits the other's key.
#[track_caller]
fn assert_shared(shares: &[&AuthShares], deltas: &[Block]) {
    for ((i, j), (index_of_i, index_of_j)) in pairs(shares.len()) {
        assert_eq!((shares[i].len(), shares[i].towards.len()), (shares[j].len(), deltas.len() - 1));
        for k in 0..shares[i].len() {
            let (mine, theirs) = (shares[i].pair(k, index_of_j), shares[j].pair(k, index_of_i));
            let expected = theirs.key.mac_of(mine.bit, deltas[j]);
            assert!(mine.mac == expected, "MAC of {i} towards {j} on share {k}");
        }
    }
}

/// Returns the shared values.
fn values(shares: &[&AuthShares]) -> BitVec {
    let mut sum = BitVec::zeros(shares[0].len());
    shares.iter().for_each(|shares| sum.xor_assign(&shares.bits));
    sum
}

/// Asserts that c = a ∧ b in every triple, and that every MAC is right.
#[track_caller]
fn assert_triples(triples: &[&Triples], deltas: &[Block]) {
    let of = |which: fn(&Triples) -> &AuthShares| -> Vec<&AuthShares> {
        triples.iter().map(|triples| which(triples)).collect()
    };
    let [a, b, c] = [of(|t| &t.a), of(|t| &t.b), of(|t| &t.c)];
    [&a, &b, &c].into_iter().for_each(|shares| assert_shared(shares, deltas));
    let (a, b, c) = (values(&a), values(&b), values(&c));
    for k in 0..a.len() {
        assert_eq!(c.get(k), a.get(k) & b.get(k), "triple {k}");
    }
}

#[test]
fn triples_are_right_on_any_number_of_lanes() {
    // One triple, a few, and enough for several chunks per lane, the last one short.
    for (n, triples, bucket, lanes) in [
        (2, 1, 41, 1),
        (2, 1, 2, 3),
        (2, 5, 3, 1),
        (2, 100, 5, 2),
        (2, 7_000, 3, 2),
        (2, 11_000, 3, 3),
        (3, 1, 2, 1),
        (3, 100, 5, 2),
        (3, 7_000, 3, 2),
        (4, 50, 3, 1),
        (5, 1, 2, 3),
        (5, 100, 4, 2),
        (5, 3_500, 3, 1),
    ] {
        let batch = Batch { triples, bucket };
        let made =
            all_end_well(run(parties(n, lanes, 1), |open, lanes| open.triples(lanes, batch)));
        let made: Vec<&Triples> = made.iter().collect();
        assert!(made.iter().all(|made| made.len() == triples));
        assert_triples(&made, &deltas(n, 1));
    }
}

#[test]
fn the_bits_of_triples_are_not_constant() {
    let batch = Batch { triples: 200, bucket: 3 };
    for n in [2, 3] {
        let made = all_end_well(run(parties(n, 1, 2), |open, lanes| open.triples(lanes, batch)));
        for shares in made.iter().flat_map(|t| [&t.a, &t.b, &t.c]) {
            let ones = shares.bits.to_bools().iter().filter(|&&bit| bit).count();
            assert!((50..150).contains(&ones), "{ones} of 200");
        }
    }
}

#[test]
fn batches_in_a_row_differ_and_are_right() {
    let batch = Batch { triples: 20, bucket: 3 };
    for n in [2, 3, 5] {
        let made = all_end_well(run(parties(n, 2, 3), |open, lanes| {
            Ok([open.triples(lanes, batch)?, open.triples(lanes, batch)?])
        }));
        for which in [0, 1] {
            let made: Vec<&Triples> = made.iter().map(|made| &made[which]).collect();
            assert_triples(&made, &deltas(n, 3));
        }
        let [first, second] = &made[0];
        for (first, second) in first.a.towards.iter().zip(&second.a.towards) {
            assert!(first.keys.iter().all(|key| !second.keys.contains(key)));
        }
    }
}

#[test]
fn bits_of_uneven_numbers_and_shares_beyond_one_draw() {
    for counts in
        [&[MAX_DRAW + 1, 3][..], &[0, 0], &[0, 7], &[MAX_DRAW + 1, 0, 130], &[0, 1, 0, 0, 200]]
    {
        let n = counts.len() as u16;
        let made = all_end_well(run(parties(n, 1, 4), |open, lanes| {
            Ok((open.bits(lanes, counts)?, open.shares(lanes, 500)?, open.shares(lanes, 0)?))
        }));
        assert!(made.iter().all(|(_, _, none)| none.is_empty()));
        assert_shared(&made.iter().map(|made| &made.1).collect::<Vec<_>>(), &deltas(n, 4));
        for ((i, j), (index_of_i, index_of_j)) in pairs(counts.len()) {
            let (own, keys) = (&made[i].0.0, &made[j].0.1[index_of_i.get()]);
            let macs = &own.macs[index_of_j.get()];
            assert_eq!((own.bits.len(), macs.len(), keys.len()), (counts[i], counts[i], counts[i]));
            for (k, key) in keys.iter().enumerate() {
                let expected = *key ^ deltas(n, 4)[j].select(own.bits.get(k));
                assert!(macs[k] == expected, "bit {k} of {i} towards {j}");
            }
        }
    }
}

/// The sum of random shares is random, so every party contributes to it.
#[test]
fn shared_values_are_not_constant() {
    for n in [2, 3, 5] {
        let made = all_end_well(run(parties(n, 1, 5), |open, lanes| open.shares(lanes, 400)));
        let value = values(&made.iter().collect::<Vec<_>>());
        for bits in made.iter().map(|shares| &shares.bits).chain([&value]) {
            let ones = bits.to_bools().iter().filter(|&&bit| bit).count();
            assert!((120..280).contains(&ones), "{ones} of 400");
        }
    }
}
