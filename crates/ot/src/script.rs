//! What the set-up of correlated OT and its draws send and compute.

use symbolon_transport::PartyId;
use symbolon_transport::script::{Script, Threads, Unit};

use crate::base;
use crate::cot::{CHECK_BYTES, MAX_DRAW, column_bytes};
use crate::extension::{OtExtension, draw_bytes};
use crate::ferret::{self, LpnParams, next_round, total_after};
use crate::pprf::{self, TreeDepth};
use crate::setup::FIRST_BASE;

/// The base OTs with one peer.
const BASE_OTS: Unit = Unit::new("base OTs", 4e7).on(Threads::InTurn(base::THREADS as u16));

/// A leaf of the trees from which SoftSpoken's correlated OTs are drawn, for both directions.
const LEAF: Unit = Unit::new("tree leaf", 800.0);

/// A correlated OT of a draw at one party, by extension.
const IKNP: Unit = Unit::new("iknp", 32.0);
const SOFTSPOKEN_2: Unit = Unit::new("softspoken2", 33.0);
const SOFTSPOKEN_4: Unit = Unit::new("softspoken4", 45.0);
const SOFTSPOKEN_8: Unit = Unit::new("softspoken8", 190.0);
const FERRET: Unit = Unit::new("ferret", 155.0);

/// The part of [`FERRET`] that an expansion takes for each of its outputs, used or not.
const EXPANSION: f64 = 0.4;

/// The kinds of work here.
pub const UNITS: &[Unit] =
    &[BASE_OTS, LEAF, IKNP, SOFTSPOKEN_2, SOFTSPOKEN_4, SOFTSPOKEN_8, FERRET];

/// Returns the unit of work of a correlated OT at one party.
pub fn cot(ot: OtExtension) -> Unit {
    match ot {
        OtExtension::Iknp => IKNP,
        OtExtension::SoftSpoken { k: TreeDepth::Two } => SOFTSPOKEN_2,
        OtExtension::SoftSpoken { k: TreeDepth::Four } => SOFTSPOKEN_4,
        OtExtension::SoftSpoken { k: TreeDepth::Eight } => SOFTSPOKEN_8,
        OtExtension::Ferret => FERRET,
    }
}

/// Adds the set-up of correlated OT with all peers.
pub fn set_up(script: &mut Script, ot: OtExtension) {
    let me = script.me();
    let (smaller, larger): (Vec<PartyId>, Vec<PartyId>) = script.peers().partition(|p| *p < me);
    larger.iter().for_each(|peer| script.send(*peer, 32));
    for peer in &smaller {
        script.work(BASE_OTS, 0.5);
        script.send(*peer, 128 * (32 + 48));
    }
    for peer in larger {
        script.receive(peer);
        script.work(BASE_OTS, 0.5);
        send_draw(script, peer, OtExtension::Iknp, 128);
    }
    // A, and the draw from which the other direction starts.
    for peer in smaller {
        (0..3).for_each(|_| script.receive(peer));
    }
    let trees = match ot {
        OtExtension::Iknp => None,
        OtExtension::SoftSpoken { k } => Some(k),
        OtExtension::Ferret => Some(FIRST_BASE),
    };
    if let Some(k) = trees {
        let bits = k.bits();
        script.work(LEAF, ((128 / bits) << bits) as f64);
        script.exchange(pprf::message_bytes(k) as u64);
    }
}

/// Returns the bytes of a draw's correction, which its check follows.
pub fn correction_bytes(ot: OtExtension, n: usize) -> u64 {
    (draw_bytes(ot, n) - CHECK_BYTES) as u64
}

/// Adds a draw of `n` correlated OTs with one peer, at the receiver.
pub fn send_draw(script: &mut Script, peer: PartyId, ot: OtExtension, n: usize) {
    script.work(cot(ot), n as f64);
    script.send(peer, correction_bytes(ot, n));
    script.send(peer, CHECK_BYTES as u64);
}

/// Adds the other side of a draw.
pub fn receive_draw(script: &mut Script, peer: PartyId, ot: OtExtension, n: usize) {
    script.receive(peer);
    script.receive(peer);
    script.work(cot(ot), n as f64);
}

/// The outputs of silent OT that one lane has with every peer; none with another extension.
#[derive(Clone, Debug)]
pub struct Stocks {
    /// By party: with this party as the sender, and as the receiver.
    totals: Vec<[usize; 2]>,
}

impl Stocks {
    /// Returns those before the first expansion.
    pub fn new(parties: u16) -> Stocks {
        Stocks { totals: vec![[0; 2]; usize::from(parties)] }
    }

    /// Adds the expansions of [`supply`](crate::supply).
    pub fn supply(&mut self, script: &mut Script, own: usize, theirs: impl Fn(PartyId) -> usize) {
        loop {
            let rounds = script.peers().map(|peer| {
                let [sender, receiver] = self.totals[peer.index()];
                let round = |total, need| next_round(LpnParams::USED, total, need);
                (peer, [round(sender, theirs(peer)), round(receiver, own)])
            });
            let rounds: Vec<(PartyId, [Vec<LpnParams>; 2])> = rounds.collect();
            if rounds.iter().all(|(_, both)| both.iter().all(Vec::is_empty)) {
                return;
            }
            self.make(script, &rounds);
        }
    }

    fn make(&mut self, script: &mut Script, rounds: &[(PartyId, [Vec<LpnParams>; 2])]) {
        let first = |total: usize, round: &[LpnParams]| match round {
            [row, ..] if total < row.base() => draws(row.base()),
            _ => Vec::new(),
        };
        let ot = OtExtension::SoftSpoken { k: FIRST_BASE };
        for (peer, [_, round]) in rounds {
            let base = first(self.totals[peer.index()][1], round);
            base.into_iter().for_each(|n| send_draw(script, *peer, ot, n));
        }
        for (peer, [round, _]) in rounds {
            let base = first(self.totals[peer.index()][0], round);
            base.into_iter().for_each(|n| receive_draw(script, *peer, ot, n));
            for row in round {
                script.work(FERRET, EXPANSION * row.outputs() as f64);
                script.send(*peer, row.sums_bytes() as u64);
            }
        }
        for (peer, [_, round]) in rounds {
            round.iter().for_each(|_| script.receive(*peer));
            for row in round {
                script.work(FERRET, EXPANSION * row.outputs() as f64);
                script.send(*peer, ferret::CHALLENGE_BYTES as u64);
            }
        }
        for (peer, [round, _]) in rounds {
            for _ in round {
                script.receive(*peer);
                script.send(*peer, ferret::ANSWER_BYTES as u64);
            }
        }
        for (peer, both) in rounds {
            both[1].iter().for_each(|_| script.receive(*peer));
            for (total, round) in self.totals[peer.index()].iter_mut().zip(both) {
                *total = total_after(round, *total);
            }
        }
    }

    /// Takes the outputs of a draw of `n` random bits of this party, at the work of the rest.
    pub fn take_own(&mut self, script: &mut Script, peer: PartyId, n: usize) {
        self.take(script, (peer, 1), n);
    }

    /// Takes those of a peer's draw.
    pub fn take_theirs(&mut self, script: &mut Script, peer: PartyId, n: usize) {
        self.take(script, (peer, 0), n);
    }

    fn take(&mut self, script: &mut Script, (peer, side): (PartyId, usize), n: usize) {
        let rows = silent_rows(script.parties().into(), n);
        script.work(FERRET, (1.0 - EXPANSION) * rows as f64);
        self.totals[peer.index()][side] -= rows;
    }
}

/// Returns how many outputs of silent OT a draw of `n` random bits takes. Among more than two
/// parties it also takes those that hide its hash.
pub fn silent_rows(parties: usize, n: usize) -> usize {
    if parties > 2 { 8 * column_bytes(n) } else { n }
}

/// Returns about how many bytes of tables a lane keeps with one peer, in both directions, while
/// draws use this many outputs of silent OT.
pub fn silent_memory(outputs: u64) -> u64 {
    let tables: u64 = match LpnParams::USED {
        [small, ..] if outputs <= small.gain() as u64 => small.table() as u64,
        [.., large] => {
            let expansions = outputs.div_ceil(large.gain() as u64) + 1;
            expansions * large.table() as u64
        }
        [] => 0,
    };
    2 * 16 * tables
}

/// Returns the draws of this many correlated OTs.
fn draws(n: usize) -> Vec<usize> {
    (0..n).step_by(MAX_DRAW).map(|at| MAX_DRAW.min(n - at)).collect()
}
