//! Step 4a of Fig. 2: the opened bits d and e of Beaver's trick, and the opened bits of bucketing.
//! Both are checked before anything that depends on them is released: by a digest of all MACs in
//! the same message, or by a sum of them in a separate message.

use symbolon_transport::adversary::{Action, FnAdversary};

use super::tools::*;

/// The message with the bits, the message with the proof at its end and the proof's size in bytes,
/// and the check.
const OPENINGS: [(&str, (&str, usize), &str); 2] = [
    ("Beaver: d, e", ("Beaver: d, e", 32), "Beaver MAC"),
    ("bucketing: d", ("bucketing: MACs", 16), "bucketing MAC"),
];

/// A lie in one opened bit, with the honest proof. Always caught.
/// Cheat: `wrk` | Beaver, Fig. 16 | a lie in one opened bit, in a whole run | `Beaver MAC`,
/// `bucketing MAC` | always
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

/// A lie with a made-up proof, and honest bits with one. Always caught.
/// Cheat: `wrk` | Beaver, Fig. 16 | a made-up proof, with a lie and without | `Beaver MAC`,
/// `bucketing MAC` | always
#[test]
fn made_up_proof() {
    for cheater in [0, 1] {
        for (bits, (macs, bytes), check) in OPENINGS {
            for lie in [0, 1] {
                let adversary = FnAdversary::new().on_outgoing(move |kind, index, p| {
                    if kind == bits && index == 0 {
                        p[0] ^= lie;
                    }
                    if kind == macs && index == 0 {
                        let proof = p.len() - bytes;
                        p[proof..].fill(0x33);
                    }
                    Action::Send
                });
                assert_caught(&cheat(cheater, adversary), cheater, check);
            }
        }
    }
}

/// The proof is missing, or the message is short or long. The framing always catches it.
/// Cheat: `wrk` | Beaver, Fig. 16 | short and long; MACs' proof left out | `message framing` |
/// always
#[test]
fn short_and_long() {
    for cheater in [0, 1] {
        for kind in OPENINGS.into_iter().flat_map(|(bits, (macs, _), _)| [bits, macs]) {
            for change in LENGTHS {
                let ended = cheat(cheater, message(kind, 0, change));
                assert_caught(&ended, cheater, FRAMING);
            }
        }
        for (_, (macs, bytes), _) in OPENINGS {
            let without = move |p: &mut Vec<u8>| p.truncate(p.len() - bytes);
            assert_caught(&cheat(cheater, message(macs, 0, without)), cheater, FRAMING);
        }
    }
}
