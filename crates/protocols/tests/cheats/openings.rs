//! Step 4a of Fig. 2: the opened bits d and e of Beaver's trick, and the opened bits of bucketing.
//! Both are checked by one digest of all MACs, before anything that depends on them is let out: in the same
//! message, or in one of its own.

use symbolon_transport::bend::{Action, FnBend};

use super::tools::*;

/// The message with the bits, the one with the digest at its end, and the check.
const OPENINGS: [(&str, &str, &str); 2] = [
    ("Beaver: d, e", "Beaver: d, e", "Beaver MAC"),
    ("bucketing: d", "bucketing: MACs", "bucketing MAC"),
];

/// A lie in one opened bit, with the honest digest. Always caught.
#[test]
fn lie_in_one_opened_bit() {
    for cheater in [0, 1] {
        for (kind, _, check) in OPENINGS {
            for byte in [0, 2 * GATES / 8 - 1] {
                let ended = cheat(cheater, message(kind, 0, move |p| p[byte] ^= 0x40));
                assert_caught(&ended, cheater, check);
            }
        }
    }
}

/// A lie with a made-up digest, and honest bits with one. Always caught.
#[test]
fn made_up_digest() {
    for cheater in [0, 1] {
        for (bits, macs, check) in OPENINGS {
            for lie in [0, 1] {
                let bend = FnBend::new().on_outgoing(move |kind, index, p| {
                    if kind == bits && index == 0 {
                        p[0] ^= lie;
                    }
                    if kind == macs && index == 0 {
                        let digest = p.len() - 32;
                        p[digest..].fill(0x33);
                    }
                    Action::Send
                });
                assert_caught(&cheat(cheater, bend), cheater, check);
            }
        }
    }
}

/// The MACs' digest left out, a short message, a long one. The framing, always.
#[test]
fn short_and_long() {
    for cheater in [0, 1] {
        for kind in OPENINGS.into_iter().flat_map(|(bits, macs, _)| [bits, macs]) {
            let without_digest: fn(&mut Vec<u8>) = |p| p.truncate(p.len() - 32);
            for change in LENGTHS.into_iter().chain([without_digest]) {
                let ended = cheat(cheater, message(kind, 0, change));
                assert_caught(&ended, cheater, FRAMING);
            }
        }
    }
}
