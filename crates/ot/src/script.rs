//! What the set-up of correlated OT and its draws send and compute.

use symbolon_transport::PartyId;
use symbolon_transport::script::{Script, Threads, Unit};

use crate::base;
use crate::cot::CHECK_BYTES;
use crate::extension::{OtExtension, draw_bytes};
use crate::pprf::{self, TreeDepth};

/// The base OTs with one peer.
const BASE_OTS: Unit = Unit::new("base OTs", 4e7).on(Threads::InTurn(base::THREADS as u16));

/// A leaf of the trees from which SoftSpoken's correlated OTs are drawn, for both directions.
const LEAF: Unit = Unit::new("tree leaf", 800.0);

/// A correlated OT of a draw at one party, by extension.
const IKNP: Unit = Unit::new("iknp", 32.0);
const SOFTSPOKEN_2: Unit = Unit::new("softspoken2", 33.0);
const SOFTSPOKEN_4: Unit = Unit::new("softspoken4", 45.0);
const SOFTSPOKEN_8: Unit = Unit::new("softspoken8", 190.0);

/// The kinds of work here.
pub const UNITS: &[Unit] = &[BASE_OTS, LEAF, IKNP, SOFTSPOKEN_2, SOFTSPOKEN_4, SOFTSPOKEN_8];

/// Returns the unit of work of a correlated OT at one party.
pub fn cot(ot: OtExtension) -> Unit {
    match ot {
        OtExtension::Iknp => IKNP,
        OtExtension::SoftSpoken { k: TreeDepth::Two } => SOFTSPOKEN_2,
        OtExtension::SoftSpoken { k: TreeDepth::Four } => SOFTSPOKEN_4,
        OtExtension::SoftSpoken { k: TreeDepth::Eight } => SOFTSPOKEN_8,
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
    if let OtExtension::SoftSpoken { k } = ot {
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
