//! The public transcript of a session, and the challenges drawn from it.
//!
//! A challenge depends on everything absorbed before it, in order, with labels and lengths, so that
//! different histories never feed the same bytes to the hash. Drawing a challenge replaces the
//! state by a hash output (a ratchet): later challenges depend on earlier ones, and a leaked state
//! does not reveal what was absorbed before the last challenge.
//!
//! The party that chooses what is absorbed can try a hash again and again. If a lucky guess wins
//! with probability 2^-ρ, the seed must come from an interactive coin toss instead:
//! [`Challenge::from_seed32`].

use std::fmt;

use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::{Block, Prg, prg::halves};

const CONTEXT: &str = "symbolon 2026 transcript";
const ABSORB: u8 = 1;
const CHALLENGE: u8 = 2;

/// A running hash of what both parties have sent and received.
#[derive(ZeroizeOnDrop)]
pub struct Transcript {
    /// Boxed, because a move would also copy the unused part, which holds stale bytes of the stack.
    hasher: Box<blake3::Hasher>,
}

impl fmt::Debug for Transcript {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Transcript(..)")
    }
}

impl Transcript {
    /// Creates a fresh transcript, separate from those of other domains and sessions.
    pub fn new(domain: &str, session: &[u8; 32]) -> Transcript {
        let mut transcript =
            Transcript { hasher: Box::new(blake3::Hasher::new_derive_key(CONTEXT)) };
        transcript.absorb(domain, session);
        transcript
    }

    /// Absorbs a labelled message.
    pub fn absorb(&mut self, label: &str, data: &[u8]) {
        self.header(ABSORB, label, data.len());
        self.hasher.update(data);
    }

    /// Returns a copy, to be continued differently.
    pub fn fork(&self) -> Transcript {
        Transcript { hasher: self.hasher.clone() }
    }

    /// Draws a challenge that depends on everything absorbed and drawn before.
    pub fn challenge(&mut self, label: &str) -> Challenge {
        self.header(CHALLENGE, label, 0);
        let mut out = [0u8; 64];
        self.hasher.finalize_xof().fill(&mut out);
        let (mut seed, mut next) = ([0u8; 32], [0u8; 32]);
        seed.copy_from_slice(&out[..32]);
        next.copy_from_slice(&out[32..]);
        self.hasher.zeroize();
        *self.hasher = blake3::Hasher::new_keyed(&next);
        out.zeroize();
        next.zeroize();
        Challenge { seed }
    }

    fn header(&mut self, kind: u8, label: &str, data_len: usize) {
        self.hasher.update(&[kind]);
        self.hasher.update(&(label.len() as u64).to_le_bytes());
        self.hasher.update(label.as_bytes());
        self.hasher.update(&(data_len as u64).to_le_bytes());
    }
}

/// A 256-bit challenge for a single use: it can be neither copied nor inspected, and turning it
/// into randomness consumes it.
#[derive(ZeroizeOnDrop)]
pub struct Challenge {
    seed: [u8; 32],
}

impl fmt::Debug for Challenge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Challenge(..)")
    }
}

impl Challenge {
    /// Creates a challenge whose seed is the outcome of a coin toss.
    pub fn from_seed32(seed: [u8; 32]) -> Challenge {
        Challenge { seed }
    }

    /// Returns a generator for a challenge of many values, from all 256 bits. With a 128-bit seed,
    /// a cheater could fit its error to a few hundred seeds, and one of them would occur with
    /// probability more than 2^-128.
    pub fn into_prg(self) -> Prg {
        let mut digest = self.derive("symbolon 2026 challenge generator 2");
        let prg = Prg::from_public_digest(&digest);
        digest.zeroize();
        prg
    }

    /// Returns a single uniform block.
    pub fn into_block(self) -> Block {
        let mut digest = self.derive("symbolon 2026 challenge block");
        let block = halves(&digest).0;
        digest.zeroize();
        block
    }

    /// Returns a single uniform block and 32 bytes that are computationally independent of it and
    /// as hard to predict, for a [`Transcript`] of later messages.
    pub fn into_block_and_mark(self) -> (Block, [u8; 32]) {
        let mark = self.derive("symbolon 2026 challenge mark");
        (self.into_block(), mark)
    }

    /// Returns two challenges that are computationally independent, for two uses of one coin.
    pub fn split(self) -> [Challenge; 2] {
        ["symbolon 2026 first challenge", "symbolon 2026 second challenge"]
            .map(|context| Challenge { seed: self.derive(context) })
    }

    pub(crate) fn derive(&self, context: &str) -> [u8; 32] {
        blake3::derive_key(context, &self.seed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SESSION: [u8; 32] = [7; 32];

    fn draw(steps: &[(&str, &[u8])]) -> Block {
        let mut t = Transcript::new("test", &SESSION);
        for (label, data) in steps {
            t.absorb(label, data);
        }
        t.challenge("c").into_block()
    }

    #[test]
    fn equal_histories_give_equal_challenges() {
        assert_eq!(draw(&[("a", b"x"), ("b", b"y")]), draw(&[("a", b"x"), ("b", b"y")]));
    }

    #[test]
    fn a_mark_belongs_to_its_challenge() {
        let of = |seed| Challenge::from_seed32([seed; 32]).into_block_and_mark();
        let (block, mark) = of(1);
        assert_eq!(of(1), (block, mark));
        assert_eq!(Challenge::from_seed32([1; 32]).into_block(), block);
        assert_ne!(of(2).1, mark);
        assert_ne!(mark[..16], block.to_bytes());
        assert_ne!(mark, [1; 32]);
    }

    #[test]
    fn halves_of_a_challenge_differ_from_it_and_from_each_other() {
        let of = |seed| Challenge::from_seed32([seed; 32]);
        let [first, second] = of(1).split().map(Challenge::into_block);
        assert_eq!(of(1).split().map(Challenge::into_block), [first, second]);
        let all = [first, second, of(1).into_block(), of(2).into_block()];
        for (i, a) in all.iter().enumerate() {
            assert!(!all[..i].contains(a));
        }
    }

    #[test]
    fn every_difference_matters() {
        let all = [
            draw(&[]),
            draw(&[("a", b"")]),
            draw(&[("", b"a")]),
            draw(&[("a", b"xy")]),
            draw(&[("ax", b"y")]),
            draw(&[("a", b"x"), ("a", b"y")]),
            draw(&[("a", b"y"), ("a", b"x")]),
            Transcript::new("test", &[8; 32]).challenge("c").into_block(),
            Transcript::new("tesu", &SESSION).challenge("c").into_block(),
            Transcript::new("test", &SESSION).challenge("d").into_block(),
            Transcript::new("test", &SESSION).challenge("c").into_prg().block(),
        ];
        for (i, a) in all.iter().enumerate() {
            for b in &all[..i] {
                assert_ne!(a.0, b.0);
            }
        }
    }

    #[test]
    fn framing_cannot_be_imitated() {
        // If the label's length were not hashed, these would collide: one label continues with the
        // other's data length.
        let long = draw(&[("a", &[1, 0, 0, 0, 0, 0, 0, 0, b'x'])]);
        assert_ne!(draw(&[("a\x09\0\0\0\0\0\0\0", b"x")]), long);
        // If the data's length were not hashed, these would collide: the data continue with the
        // next header.
        let imitation = [ABSORB, 1, 0, 0, 0, 0, 0, 0, 0, b'b'];
        assert_ne!(draw(&[("a", &imitation)]), draw(&[("a", b""), ("b", b"")]));
    }

    #[test]
    fn challenges_ratchet() {
        let mut t = Transcript::new("test", &SESSION);
        let first = t.challenge("c").into_block();
        let second = t.challenge("c").into_block();
        assert_ne!(first, second);
        // What was absorbed before the first challenge still affects the second.
        let mut u = Transcript::new("test", &SESSION);
        u.absorb("a", b"x");
        u.challenge("c");
        assert_ne!(u.challenge("c").into_block(), second);
        // A drawn challenge differs from an absorbed label.
        let mut v = Transcript::new("test", &SESSION);
        v.absorb("c", b"");
        assert_ne!(v.challenge("c").into_block(), second);
    }

    #[test]
    fn coin_tosses_become_challenges() {
        let block = |byte| Challenge::from_seed32([byte; 32]).into_block();
        assert_eq!(block(1), block(1));
        assert_ne!(block(1), block(2));
        assert_ne!(block(1), Challenge::from_seed32([1; 32]).into_prg().block());
    }
}
