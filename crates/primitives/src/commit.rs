//! Hash commitments, each bound to its maker and its place.
//!
//! A commitment is BLAKE3 over the domain, the session, the committing party, an index, a 256-bit
//! nonce and the value. Because the party is included, a peer cannot echo our own commitment and
//! later our opening: the verifier hashes the peer's number, not ours.

use std::fmt;

use subtle::ConstantTimeEq;
use zeroize::ZeroizeOnDrop;

use crate::Prg;

const CONTEXT: &str = "symbolon 2026 commitment";

/// Who commits, and at which point of which protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommitContext<'a> {
    /// The protocol step.
    pub domain: &'a str,
    /// The session.
    pub session: &'a [u8; 32],
    /// The party that commits (for a verifier: the peer).
    pub party: u16,
    /// The index of the commitment among the party's in this step and session.
    pub index: u64,
}

/// A commitment, ready to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Commitment(pub [u8; 32]);

/// The data that, together with the value, open a commitment. Wiped on drop.
#[derive(Clone, PartialEq, Eq, ZeroizeOnDrop)]
pub struct Opening {
    /// The random nonce that hides the value.
    pub nonce: [u8; 32],
}

impl Opening {
    /// Draws a nonce from `prg`, which must be unpredictable to others.
    pub fn draw(prg: &mut Prg) -> Opening {
        let mut opening = Opening { nonce: [0; 32] };
        prg.fill(&mut opening.nonce);
        opening
    }
}

impl fmt::Debug for Opening {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Opening(..)")
    }
}

/// Commits to a value of any length, with a nonce from `prg`, which must be unpredictable to
/// others.
pub fn commit(ctx: &CommitContext<'_>, value: &[u8], prg: &mut Prg) -> (Commitment, Opening) {
    let opening = Opening::draw(prg);
    (commit_with(ctx, &opening, value), opening)
}

/// Returns the commitment to a value for a given opening.
pub fn commit_with(ctx: &CommitContext<'_>, opening: &Opening, value: &[u8]) -> Commitment {
    Commitment(hash(ctx, opening, value))
}

/// Returns whether this party made the commitment to this value at this place; compares in constant
/// time.
pub fn verify(
    ctx: &CommitContext<'_>,
    commitment: &Commitment,
    opening: &Opening,
    value: &[u8],
) -> bool {
    hash(ctx, opening, value).ct_eq(&commitment.0).into()
}

/// Hashes all fields. Every field but the last has a fixed length or is preceded by its length, so
/// different inputs are hashed differently.
fn hash(ctx: &CommitContext<'_>, opening: &Opening, value: &[u8]) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new_derive_key(CONTEXT);
    hasher.update(&(ctx.domain.len() as u64).to_le_bytes());
    hasher.update(ctx.domain.as_bytes());
    hasher.update(ctx.session);
    hasher.update(&ctx.party.to_le_bytes());
    hasher.update(&ctx.index.to_le_bytes());
    hasher.update(&opening.nonce);
    hasher.update(value);
    *hasher.finalize().as_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Block;

    const CTX: CommitContext<'_> =
        CommitContext { domain: "toss", session: &[1; 32], party: 3, index: 9 };

    #[test]
    fn opens_to_what_was_committed() {
        let mut prg = Prg::from_seed(Block(1));
        let (commitment, opening) = commit(&CTX, b"value", &mut prg);
        assert!(verify(&CTX, &commitment, &opening, b"value"));
        assert!(!verify(&CTX, &commitment, &opening, b"valuf"));
        assert!(!verify(&CTX, &commitment, &opening, b"valu"));
        let mut other = opening.clone();
        other.nonce[31] ^= 1;
        assert!(!verify(&CTX, &commitment, &other, b"value"));
        let mut wrong = commitment;
        wrong.0[31] ^= 0x80;
        assert!(!verify(&CTX, &wrong, &opening, b"value"));
    }

    #[test]
    fn every_part_of_the_context_binds() {
        let mut prg = Prg::from_seed(Block(1));
        let (commitment, opening) = commit(&CTX, b"value", &mut prg);
        let others = [
            CommitContext { domain: "tos", ..CTX },
            CommitContext { domain: "tosS", ..CTX },
            CommitContext { session: &[2; 32], ..CTX },
            CommitContext { party: 4, ..CTX },
            CommitContext { index: 10, ..CTX },
        ];
        for other in others {
            assert!(!verify(&other, &commitment, &opening, b"value"), "{other:?}");
        }
    }

    /// The hash includes the boundaries of fields: a domain that extends into the session does not
    /// make two contexts equal.
    #[test]
    fn fields_do_not_run_into_each_other() {
        let (short, long) = (
            CommitContext { domain: "a", session: &[b'a'; 32], party: 0x6161, index: 0 },
            CommitContext { domain: "aa", session: &[b'a'; 32], party: 0x6161, index: 0 },
        );
        let all_a = |ctx: CommitContext<'_>, value: &[u8]| {
            let ctx = CommitContext { index: u64::from_le_bytes([b'a'; 8]), ..ctx };
            hash(&ctx, &Opening { nonce: [b'a'; 32] }, value)
        };
        assert_ne!(all_a(short, b"aa"), all_a(long, b"a"));
    }

    #[test]
    fn commitments_to_one_value_differ() {
        let mut prg = Prg::from_seed(Block(1));
        let (a, _) = commit(&CTX, b"value", &mut prg);
        let (b, _) = commit(&CTX, b"value", &mut prg);
        assert_ne!(a, b);
    }
}
