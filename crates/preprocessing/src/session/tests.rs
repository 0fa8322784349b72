//! Two sessions in one process whose correlated OT starts from known seeds: everything after the base
//! OTs, honest here, and with a cheating peer in [`cheats`].

mod cheats;

use std::sync::Arc;
use std::time::Duration;

use symbolon_ot::iknp::{self, COLUMNS, MAX_DRAW, Stream, Verdicts};
use symbolon_ot::setup::Lane;
use symbolon_transport::{Meter, memory_lanes};

use super::*;
use crate::bucketing::Batch;

const SESSION: [u8; 32] = [3; 32];

/// One party: its session, and its lanes to the other.
struct Party {
    open: Preprocessor,
    channels: Vec<Channel>,
}

/// Both parties under these global keys.
fn parties_under(deltas: [Block; 2], lanes: usize, seed: u128) -> [Party; 2] {
    let mut prg = Prg::from_seed(Block(seed));
    let verdicts: [Arc<Verdicts>; 2] = Default::default();
    let mut ots: [Vec<Lane>; 2] = Default::default();
    for lane in 1..=lanes as u64 {
        // Direction i: party i holds Δ, the other one the choice bits.
        let [to_0, to_1] = [0, 1].map(|i: usize| {
            let pairs: [[Block; 2]; COLUMNS] =
                std::array::from_fn(|_| std::array::from_fn(|_| prg.block()));
            let chosen = std::array::from_fn(|c| pairs[c][(deltas[i].0 >> c & 1) as usize]);
            let stream = Stream { receiver: 1 - i as u16, lane };
            let choices = Prg::from_seed(prg.block());
            let verdicts = verdicts[i].clone();
            (
                iknp::Sender::new(deltas[i], &chosen, &SESSION, stream, verdicts),
                iknp::Receiver::new(&pairs, &SESSION, stream, choices),
            )
        });
        ots[0].push(Lane { sender: Box::new(to_0.0), receiver: Box::new(to_1.1) });
        ots[1].push(Lane { sender: Box::new(to_1.0), receiver: Box::new(to_0.1) });
    }
    let (a, b) = memory_lanes((0, Meter::new()), (1, Meter::new()), lanes, None).unwrap();
    let mut both = ots.into_iter().zip([a, b]).zip(0u16..).map(|((ots, mut channels), me)| {
        // Only bounds a test that hangs.
        channels.iter_mut().for_each(|c| c.set_timeout(Duration::from_secs(20)));
        let lanes = ots.into_iter().enumerate().map(|(i, ot)| {
            LeakyLane::new(ot, &SESSION, me, 1 - me, i, Prg::from_seed(prg.block()))
        });
        let lanes = lanes.collect();
        let open = Preprocessor {
            session: SESSION,
            delta: deltas[me as usize],
            rho: 40,
            lanes,
            prg: Prg::from_seed(prg.block()),
            batches: 0,
            leaky: LeakyTriples::default(),
        };
        Party { open, channels }
    });
    std::array::from_fn(|_| both.next().expect("two parties"))
}

fn deltas(seed: u128) -> [Block; 2] {
    let mut prg = Prg::from_seed(Block(seed ^ 1 << 100));
    [prg.block().with_lsb(true), prg.block().with_lsb(false)]
}

fn parties(lanes: usize, seed: u128) -> [Party; 2] {
    parties_under(deltas(seed), lanes, seed)
}

/// Runs `f` for both parties at once; a party that fails closes its lanes.
fn run<T: Send>(
    parties: [Party; 2],
    f: impl Fn(&mut Preprocessor, &mut [Channel]) -> Result<T> + Sync,
) -> [(Preprocessor, Result<T>); 2] {
    std::thread::scope(|scope| {
        parties
            .map(|Party { mut open, mut channels }| {
                let f = &f;
                scope.spawn(move || {
                    let result = f(&mut open, &mut channels);
                    (open, result)
                })
            })
            .map(|thread| thread.join().expect("a party panicked"))
    })
}

/// Every MAC of one party fits the other's key.
#[track_caller]
fn assert_authenticated(mine: &Shares, theirs: &Shares, delta: Block) {
    assert_eq!((mine.len(), mine.bits.len()), (theirs.len(), theirs.len()));
    for k in 0..mine.len() {
        let (mine, theirs) = (mine.get(k), theirs.get(k));
        assert!(mine.mac == theirs.key ^ delta.select(mine.bit), "MAC of share {k}");
    }
}

#[track_caller]
fn assert_shared(a: &Shares, b: &Shares, deltas: [Block; 2]) {
    assert_authenticated(a, b, deltas[1]);
    assert_authenticated(b, a, deltas[0]);
}

/// c = a ∧ b in every triple, and every MAC is right.
#[track_caller]
fn assert_triples(ours: &Triples, theirs: &Triples, deltas: [Block; 2]) {
    for (x, y) in [(&ours.a, &theirs.a), (&ours.b, &theirs.b), (&ours.c, &theirs.c)] {
        assert_shared(x, y, deltas);
    }
    for k in 0..ours.len() {
        let bit = |x: &Shares, y: &Shares| x.bits.get(k) ^ y.bits.get(k);
        let (a, b) = (bit(&ours.a, &theirs.a), bit(&ours.b, &theirs.b));
        assert_eq!(bit(&ours.c, &theirs.c), a & b, "triple {k}");
    }
}

#[test]
fn triples_are_right_on_any_number_of_lanes() {
    // One, a few, and so many that lanes get several chunks, the last of them short.
    for (triples, bucket, lanes) in
        [(1, 41, 1), (1, 2, 3), (5, 3, 1), (100, 5, 2), (7_000, 3, 2), (11_000, 3, 3)]
    {
        let batch = Batch { triples, bucket };
        let [a, b] = run(parties(lanes, 1), |open, channels| open.triples(channels, batch));
        let (a, b) = (a.1.unwrap(), b.1.unwrap());
        assert_eq!((a.len(), b.len()), (triples, triples));
        assert_triples(&a, &b, deltas(1));
    }
}

#[test]
fn the_bits_of_triples_are_not_constant() {
    let batch = Batch { triples: 200, bucket: 3 };
    let [a, b] = run(parties(1, 2), |open, channels| open.triples(channels, batch));
    let (a, b) = (a.1.unwrap(), b.1.unwrap());
    for shares in [&a.a, &a.b, &a.c, &b.a, &b.b, &b.c] {
        let ones = shares.bits.to_bools().iter().filter(|&&bit| bit).count();
        assert!((50..150).contains(&ones), "{ones} of 200");
    }
}

#[test]
fn batches_in_a_row_differ_and_are_right() {
    let batch = Batch { triples: 20, bucket: 3 };
    let [a, b] = run(parties(2, 3), |open, channels| {
        Ok([open.triples(channels, batch)?, open.triples(channels, batch)?])
    });
    let (a, b) = (a.1.unwrap(), b.1.unwrap());
    for (a, b) in a.iter().zip(&b) {
        assert_triples(a, b, deltas(3));
    }
    assert!(a[0].a.keys.iter().all(|key| !a[1].a.keys.contains(key)));
}

#[test]
fn bits_of_uneven_numbers_and_shares_beyond_one_draw() {
    let numbers = [MAX_DRAW + 1, 3];
    let [a, b] = run(parties(1, 4), |open, channels| {
        let me = usize::from(channels[0].me());
        let bits = open.bits(&mut channels[0], numbers[me], numbers[1 - me])?;
        Ok((bits, open.shares(&mut channels[0], 500)?, open.bits(&mut channels[0], 0, 0)?.1))
    });
    let ((a_bits, a_shares, none), (b_bits, b_shares, _)) = (a.1.unwrap(), b.1.unwrap());
    assert!(none.is_empty());
    assert_shared(&a_shares, &b_shares, deltas(4));
    for (((own, _), (_, keys)), delta) in
        [(&a_bits, &b_bits), (&b_bits, &a_bits)].into_iter().zip(deltas(4).into_iter().rev())
    {
        assert_eq!(own.macs.len(), keys.len());
        for (k, key) in keys.iter().enumerate() {
            assert!(own.macs[k] == *key ^ delta.select(own.bits.get(k)), "bit {k}");
        }
    }
}
