//! Correlated OT extension of Ishai, Kilian, Nissim and Petrank (CRYPTO 2003), with the consistency
//! check of SoftSpokenOT (Roy, CRYPTO 2022) for the repetition code.
//!
//! The receiver holds 128 pairs of seeds, the sender one seed of each pair, chosen by the bits of Δ.
//! For a draw of n bits x, padded to n' = 128·m bits with 128 random bits at the end:
//!
//! ```text
//! receiver: t^i = PRG(seed_i^0),  u^i = t^i ⊕ PRG(seed_i^1) ⊕ x       for each column i of 128
//! sender:   q^i = PRG(seed_i^{Δ_i}) ⊕ Δ_i·u^i  = t^i ⊕ Δ_i·x
//! ```
//!
//! Transposed, row k is K_k at the sender and M_k = K_k ⊕ x_k·Δ at the receiver.
//!
//! # The check
//! A cheating receiver uses another x in some columns. The lemma of KOS15 (and so Lemma 2 of
//! Yang–Wang–Zhang 2020) by which one combination over the rows detects that was shown false as
//! stated by Roy. Here the whole matrix is hashed column by column: with every column cut into m
//! elements of GF(2^128), and coefficients χ_1 … χ_{m−1} random, χ_m = 1,
//!
//! ```text
//! receiver sends  x̃ = Σ χ_k·x_k  and  t̃^i = Σ χ_k·t^i_k  for every column i    (2 KiB + 16 bytes)
//! sender checks   q̃^i = t̃^i ⊕ Δ_i·x̃                                            for every column i
//! ```
//!
//! Linear universal hashing makes the difference of two distinct columns' x survive except with
//! probability 2^-128; a receiver that used another x in column i passes only if it guessed Δ_i. It
//! so learns c bits of Δ with probability 2^-c, and all later uses of Δ (MACs, labels) need all of
//! the remaining 128 − c bits: the product stays 2^-128 (YWZ20 §2.2). For that reason Δ is never
//! shortened. x̃ and the t̃^i reveal 128 linear functions of x, hidden by the last 128 rows, which are
//! thrown away; given x̃, each t̃^i is a function of what the sender has.
//!
//! # The challenge
//! The χ come from a hash of the session and of all messages of this direction so far, the whole
//! matrix u included, so nothing waits for a round trip. A cheat passes a random χ with probability
//! 2^-128 only, so grinding the hash offline gains nothing (unlike for 2^-ρ challenges, which are
//! interactive coin tosses everywhere in this project).

use std::sync::{Arc, Mutex};

use symbolon_primitives::{BitVec, Block, Prg, Transcript, gf128, transpose};
use symbolon_transport::{Channel, Error, Result};
use zeroize::Zeroize;

use crate::{CotReceiver, CotSender};

/// Columns of the matrix: the bits of Δ.
pub const COLUMNS: usize = 128;

/// Rows thrown away per draw, to hide x̃.
const SACRIFICE: usize = 128;

/// The largest draw: its matrices (two of `MAX_DRAW · 16` bytes) stay in a core's own cache.
pub const MAX_DRAW: usize = 1 << 15;

/// The name of the check in `PeerMisbehaved`.
pub const CHECK: &str = "OT extension consistency check";

/// Bytes on the wire, headers of messages not counted, for one draw of `n` bits.
pub fn draw_bytes(n: usize) -> usize {
    COLUMNS * column_bytes(n) + 16 * (COLUMNS + 1)
}

/// Rows of the matrix for a draw of `n` bits, in bytes of one column.
fn column_bytes(n: usize) -> usize {
    (n.next_multiple_of(128) + SACRIFICE) / 8
}

/// The receiver: holds both seeds of every pair.
pub struct Receiver {
    seeds: Vec<[Prg; 2]>,
    choices: Prg,
    transcript: Transcript,
    t: Vec<u8>,
    u: Vec<u8>,
    rows: Vec<Block>,
}

impl Receiver {
    /// Starts from 128 pairs of seeds, of which the peer knows one each.
    ///
    /// `stream` tells apart the directions and lanes of one session.
    pub fn new(
        seeds: &[[Block; 2]; COLUMNS],
        session: &[u8; 32],
        stream: Stream,
        choices: Prg,
    ) -> Self {
        Receiver {
            seeds: seeds.iter().map(|pair| pair.map(Prg::from_seed)).collect(),
            choices,
            transcript: stream.transcript(session),
            t: Vec::new(),
            u: Vec::new(),
            rows: Vec::new(),
        }
    }

    /// The choice bits with the random tail that pads them and hides x̃, one per row.
    fn padded(&mut self, choices: &BitVec) -> Vec<u8> {
        let mut bytes = vec![0u8; column_bytes(choices.len())];
        self.choices.fill(&mut bytes);
        let own = choices.to_bytes();
        let (whole, rest) = (choices.len() / 8, choices.len() % 8);
        bytes[..whole].copy_from_slice(&own[..whole]);
        if rest != 0 {
            let mask = (1u8 << rest) - 1;
            bytes[whole] = (bytes[whole] & !mask) | own[whole];
        }
        bytes
    }
}

impl CotReceiver for Receiver {
    fn max_draw(&self) -> usize {
        MAX_DRAW
    }

    fn extend(
        &mut self,
        channel: &mut Channel,
        choices: &BitVec,
        macs: &mut [Block],
    ) -> Result<()> {
        check_draw(choices.len(), macs.len())?;
        let stride = column_bytes(choices.len());
        let mut x = self.padded(choices);
        self.t.resize(COLUMNS * stride, 0);
        self.u.resize(COLUMNS * stride, 0);
        for (i, [zero, one]) in self.seeds.iter_mut().enumerate() {
            let t = &mut self.t[i * stride..][..stride];
            let u = &mut self.u[i * stride..][..stride];
            zero.fill(t);
            one.fill(u);
            xor_into(u, t);
            xor_into(u, &x);
        }
        channel.bend_state("iknp: u", &mut self.u);
        channel.send("iknp: u", &self.u)?;

        let chi = challenge(&mut self.transcript, &self.u, stride);
        let mut check = vec![Block::ZERO; COLUMNS + 1];
        let x_blocks: Vec<Block> = blocks(&x);
        check[0] = gf128::inner_product(&x_blocks, &chi);
        let columns = (&mut check[1..]).try_into().expect("128 columns");
        gf128::column_hash(&self.t, stride, chi.len(), &chi, columns);
        self.transcript.absorb("check", Block::as_bytes(&check));
        channel.send("iknp: check", Block::as_bytes(&check))?;

        self.rows.resize(stride * 8 - SACRIFICE, Block::ZERO);
        transpose::transpose_128(&self.t, stride, &mut self.rows);
        macs.copy_from_slice(&self.rows[..macs.len()]);
        x.zeroize();
        Ok(())
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.t.zeroize();
        self.rows.zeroize();
    }
}

/// The sender: holds Δ and the seed of each pair that Δ's bits chose.
pub struct Sender {
    delta: Block,
    seeds: Vec<Prg>,
    transcript: Transcript,
    verdicts: Arc<Verdicts>,
    q: Vec<u8>,
    u: Vec<u8>,
    rows: Vec<Block>,
}

impl Sender {
    /// Starts from Δ and 128 seeds: seed i is the one that bit i of Δ chose.
    ///
    /// `stream` and `verdicts` are shared with nobody and with all senders under this Δ.
    pub fn new(
        delta: Block,
        seeds: &[Block; COLUMNS],
        session: &[u8; 32],
        stream: Stream,
        verdicts: Arc<Verdicts>,
    ) -> Self {
        Sender {
            delta,
            seeds: seeds.iter().map(|&seed| Prg::from_seed(seed)).collect(),
            transcript: stream.transcript(session),
            verdicts,
            q: Vec::new(),
            u: Vec::new(),
            rows: Vec::new(),
        }
    }

    /// Receives t̃ and x̃ and compares them with the own matrix; names no column on failure.
    fn verify(&mut self, channel: &mut Channel, stride: usize) -> Result<()> {
        let chi = challenge(&mut self.transcript, &self.u, stride);
        let mut check = vec![Block::ZERO; COLUMNS + 1];
        channel.recv_into("iknp: check", Block::as_bytes_mut(&mut check))?;
        self.transcript.absorb("check", Block::as_bytes(&check));
        let mut hashes = [Block::ZERO; COLUMNS];
        gf128::column_hash(&self.q, stride, chi.len(), &chi, &mut hashes);
        let mut difference = Block::ZERO;
        for (i, hash) in hashes.iter().enumerate() {
            let expected = check[1 + i] ^ check[0].select(self.delta.0 >> i & 1 == 1);
            difference = Block(difference.0 | (*hash ^ expected).0);
        }
        self.verdicts.pass(difference.ct_eq(&Block::ZERO), channel.peer())
    }
}

impl CotSender for Sender {
    fn delta(&self) -> Block {
        self.delta
    }

    fn max_draw(&self) -> usize {
        MAX_DRAW
    }

    fn extend(&mut self, channel: &mut Channel, keys: &mut [Block]) -> Result<()> {
        check_draw(keys.len(), keys.len())?;
        let stride = column_bytes(keys.len());
        self.q.resize(COLUMNS * stride, 0);
        self.u.resize(COLUMNS * stride, 0);
        // The own part needs nothing from the peer: it is done while the message is on its way.
        for (i, seed) in self.seeds.iter_mut().enumerate() {
            seed.fill(&mut self.q[i * stride..][..stride]);
        }
        channel.recv_into("iknp: u", &mut self.u)?;
        for i in 0..COLUMNS {
            let mask = 0u8.wrapping_sub((self.delta.0 >> i & 1) as u8);
            let columns = i * stride..(i + 1) * stride;
            xor_masked(&mut self.q[columns.clone()], &self.u[columns], mask);
        }
        self.verify(channel, stride)?;
        self.rows.resize(stride * 8 - SACRIFICE, Block::ZERO);
        transpose::transpose_128(&self.q, stride, &mut self.rows);
        keys.copy_from_slice(&self.rows[..keys.len()]);
        Ok(())
    }
}

impl Drop for Sender {
    fn drop(&mut self) {
        self.delta.zeroize();
        self.q.zeroize();
        self.rows.zeroize();
    }
}

/// The verdicts of all checks under one Δ, one after another.
///
/// A cheater may guess a bit of Δ per check. Were two lanes to check at the same time, it could learn
/// from the second verdict although the first one failed; here nothing passes after a failure.
#[derive(Default)]
pub struct Verdicts {
    failed: Mutex<bool>,
}

impl Verdicts {
    /// Lets a check through only if it passed and all before it did.
    fn pass(&self, passed: bool, party: u16) -> Result<()> {
        let mut failed = self.failed.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        *failed |= !passed;
        if *failed { Err(Error::misbehaved(party, CHECK)) } else { Ok(()) }
    }
}

/// Which of a session's extensions this is; enters its challenges.
#[derive(Clone, Copy, Debug)]
pub struct Stream {
    /// The party that holds the choice bits.
    pub receiver: u16,
    /// The lane, or 0 for the set-up's own draw.
    pub lane: u64,
}

impl Stream {
    fn transcript(self, session: &[u8; 32]) -> Transcript {
        let mut transcript = Transcript::new("symbolon iknp 1", session);
        transcript.absorb("receiver", &self.receiver.to_le_bytes());
        transcript.absorb("lane", &self.lane.to_le_bytes());
        transcript
    }
}

/// The coefficients χ, from everything sent so far; the last one is 1.
fn challenge(transcript: &mut Transcript, u: &[u8], stride: usize) -> Vec<Block> {
    transcript.absorb("u", u);
    let mut prg = transcript.challenge("chi").into_prg();
    let mut chi = vec![Block::ZERO; stride / 16];
    prg.fill_blocks(&mut chi);
    *chi.last_mut().expect("a draw has at least the sacrificed rows") = Block::ONE;
    chi
}

fn check_draw(choices: usize, outputs: usize) -> Result<()> {
    if choices != outputs || choices > MAX_DRAW {
        return Err(Error::InvalidInput(format!(
            "a draw of correlated OTs with {choices} choices and {outputs} outputs; at most {MAX_DRAW}"
        )));
    }
    Ok(())
}

fn blocks(bytes: &[u8]) -> Vec<Block> {
    let of = |chunk: &[u8]| Block::from_bytes(chunk.try_into().expect("16 bytes"));
    bytes.chunks_exact(16).map(of).collect()
}

fn xor_into(into: &mut [u8], other: &[u8]) {
    for (a, b) in into.iter_mut().zip(other) {
        *a ^= b;
    }
}

fn xor_masked(into: &mut [u8], other: &[u8], mask: u8) {
    for (a, b) in into.iter_mut().zip(other) {
        *a ^= b & mask;
    }
}
