//! Silent correlated OT: Ferret (Yang, Weng, Lan, Zhang and Wang, CCS 2020), with the trees of
//! Half-Tree (Guo and others, EUROCRYPT 2023). It sends about a bit per correlated OT.
//!
//! # An expansion
//! Both sides have k correlated OTs with random bits u: keys at the sender, MACs at the receiver.
//! A public matrix of n > k rows with 10 ones each turns them into n, whose bits A·u are not random
//! yet. So noise is added: of each 2^h outputs in a row one, at a secret place α, gets the bit 1.
//! The keys and MACs of the noise are leaves of trees (`ferret/trees.rs`), for which the sender
//! sends h blocks per tree. By the assumption of learning parity with noise (primal, regular, over
//! a local code), the n bits look random to the sender. Unused outputs are the base of a later
//! expansion. The first base comes from another extension, with its own check.
//! `ferret/rounds.rs` chooses the sizes; several expansions are made at a time.
//!
//! ```text
//! S → R   c       the sums of the trees' levels
//! R → S   seed, x'     x' = φ ⊕ x*
//! S → R   H(V)
//! ```
//!
//! # The check
//! A cheating sender may send sums that fit only some α, and learn where the noise is from whether
//! the receiver goes on. After it has the sums, the receiver draws a seed: a coin that only the
//! checked party has to fear. χ_y for each leaf of a tree, and ρ_j for each tree, follow from it.
//! With the last 128 correlated OTs of the base, whose bits are x* and whose combined keys and MACs
//! are Y and Z = Y ⊕ x*·Δ in GF(2^128),
//!
//! ```text
//! receiver: φ = Σ ρ_j·χ_{α_j},  W = Σ ρ_j·χ_y·w_{j,y} ⊕ Z
//! sender:   V = Σ ρ_j·χ_y·v_{j,y} ⊕ Y ⊕ x'·Δ               = W
//! ```
//!
//! The receiver compares H(V) with H(W). `docs/proofs/ferret.md` has the argument: what passes is
//! one guess at the places of the noise, and a wrong guess ends the session.
//!
//! A receiver cannot cheat in an expansion: it sends only the seed and x'. With another x' it gets
//! the hash of W ⊕ e·Δ for an e of its choice, which tells it nothing unless it guesses Δ.
//!
//! # A draw
//! The receiver's bits r are random. Where random bits will do, between two parties, a draw sends
//! nothing and needs no check: the expansions' is enough ([`SilentReceiver::bits`]).
//! For chosen bits x the receiver sends x ⊕ r, and the sender adds
//! (x ⊕ r)·Δ to its keys. So x is the same in all columns. The columns and their check are those of
//! every extension ([`crate::cot`]): in `ywz` the check also compares the bits towards several
//! verifiers.
//!
//! # Memory and waiting
//! Both sides keep the roots of the trees, or the sums, and grow a tree when a draw needs its
//! outputs: less than the table of k blocks. An expansion needs both parties at the same time.
//! [`crate::supply`] makes all that the next draws need, in both directions. A draw of columns that
//! finds too few outputs makes the missing expansion itself, for which the peer must be in the
//! other side of the same draw.
//!
//! Departure: Ferret: χ | one for each leaf | ρ_j·χ_y, for trees j and leaves y | a product of two
//! random factors: 2^-127 instead of 2^-128
//!
//! Departure: Ferret: parameters | k/2^h = 64 or less | 80 or more | the cheapest count of known
//! attacks stays above 2^128 (`docs/proofs/lpn.py`)

use symbolon_primitives::{BitVec, Block, Delta, Prg, Transcript, gf128, same_digest, watch};
use symbolon_transport::{Channel, Error, Result};
use zeroize::Zeroizing;

use crate::checks::SILENT;
use crate::columns::{Columns, Correction, Workspace, xor_if};
use crate::cot::{
    self, CotReceiver, CotSender, ExtensionId, MAX_DRAW, SelectiveFailureGuard, column_bytes,
};
use crate::messages::{FERRET_ANSWER, FERRET_BITS, FERRET_CHALLENGE, FERRET_SUMS};
use crate::silent::{SilentReceiver, SilentSender};

mod code;
mod params;
mod rounds;
mod supply;
mod trees;

pub use params::LpnParams;
pub use rounds::{available, next_round, total_after};

use supply::{ReceiverTrees, Reserve, SenderTrees, Stock, Supply};

/// Bytes of the receiver's challenge: a seed of 256 bits, and x'.
pub const CHALLENGE_BYTES: usize = 48;

/// Bytes of the sender's answer.
pub const ANSWER_BYTES: usize = 32;

/// Returns the bytes on the wire, without message headers, of one draw of `n` bits.
pub fn draw_bytes(n: usize) -> usize {
    column_bytes(n) + cot::CHECK_BYTES
}

/// Returns the bytes on the wire, without message headers, of one expansion, both ways.
pub fn expansion_bytes(params: LpnParams) -> usize {
    params.sums_bytes() + CHALLENGE_BYTES + ANSWER_BYTES
}

/// Returns the transcript of draws, which is not that of the first extension.
fn own_transcript(session: &[u8; 32], stream: ExtensionId) -> Transcript {
    let mut transcript = stream.transcript(session);
    transcript.absorb("extension", b"ferret");
    transcript
}

/// What both sides hash: everything public of all expansions so far.
struct Binding {
    digest: [u8; 32],
    start: Block,
    expansions: u64,
}

impl Binding {
    fn new(session: &[u8; 32], stream: ExtensionId) -> Self {
        let mut transcript = own_transcript(session, stream);
        let [digest, start] = transcript.challenge("ferret").split();
        let mut bytes = [0; 32];
        digest.into_prg().fill(&mut bytes);
        Binding { digest: bytes, start: start.into_block(), expansions: 0 }
    }

    /// Begins an expansion. Returns the public starts of its trees' hash and of its matrix.
    fn next(&mut self, params: LpnParams) -> [Block; 2] {
        self.expansions += 1;
        let mut hasher = blake3::Hasher::new_derive_key("symbolon ferret 1: expansion");
        hasher.update(&self.start.to_bytes()).update(&self.expansions.to_le_bytes());
        for size in [params.secret, params.trees, params.height] {
            hasher.update(&(size as u64).to_le_bytes());
        }
        let digest = hasher.finalize();
        let half = |at: usize| digest.as_bytes()[at..at + 16].try_into().expect("16 bytes");
        [0, 16].map(|at| Block::from_bytes(half(at)))
    }

    fn absorb(&mut self, message: &[u8]) {
        let mut hasher = blake3::Hasher::new_derive_key("symbolon ferret 1: binding");
        hasher.update(&self.digest).update(message);
        self.digest = *hasher.finalize().as_bytes();
    }

    /// Returns the coefficients: χ for the leaves of a tree, and ρ for the trees. The sums and the
    /// receiver's seed have been absorbed.
    fn coefficients(&self, params: LpnParams) -> [Vec<Block>; 2] {
        let mut prg = Prg::from_public_digest(&self.digest);
        [params.leaves(), params.trees].map(|count| {
            let mut coefficients = vec![Block::ZERO; count];
            prg.fill_blocks(&mut coefficients);
            coefficients
        })
    }

    fn answer(&self, value: Block) -> [u8; ANSWER_BYTES] {
        let mut hasher = blake3::Hasher::new_derive_key("symbolon ferret 1: answer");
        hasher.update(&self.digest).update(&value.to_bytes());
        *hasher.finalize().as_bytes()
    }

    /// Returns the digest of a draw's correction, bound to all expansions.
    fn of(&self, bits: &[u8]) -> [u8; 32] {
        *blake3::keyed_hash(&self.digest, bits).as_bytes()
    }
}

/// The side that holds Δ.
pub struct Sender {
    first: Box<dyn CotSender>,
    rows: Vec<LpnParams>,
    transcript: Transcript,
    binding: Binding,
    roots: Prg,
    stock: Stock<SenderTrees>,
    /// Whether expansions have begun. If one fails, there is none after it.
    begun: bool,
    /// The expansions of the round that was planned.
    round: Vec<LpnParams>,
    pending: Vec<Supply<SenderTrees>>,
}

impl Sender {
    /// Starts from another extension, whose correlated OTs are the base of the first expansion.
    /// `stream` distinguishes the directions and lanes of a session; `rows` are the sizes of
    /// expansions, in ascending order; `random` makes the trees.
    pub fn new(
        first: Box<dyn CotSender>,
        session: &[u8; 32],
        stream: ExtensionId,
        rows: &[LpnParams],
        random: Prg,
    ) -> Self {
        Sender {
            first,
            rows: rows.to_vec(),
            transcript: own_transcript(session, stream),
            binding: Binding::new(session, stream),
            roots: random,
            stock: Stock::new(),
            begun: false,
            round: Vec::new(),
            pending: Vec::new(),
        }
    }

    /// Makes an expansion, while the peer is in [`Receiver::expand`].
    ///
    /// # Errors
    /// As [`CotSender::extend`], for the first base; `Transport` when the peer is gone; `Internal`
    /// after an expansion that failed.
    pub fn expand(&mut self, channel: &mut Channel) -> Result<()> {
        self.plan(self.available() + 1);
        self.offer(channel)?;
        self.answer(channel)
    }

    fn first_base(&mut self, channel: &mut Channel, params: LpnParams) -> Result<Reserve> {
        let mut reserve = Reserve::new(params);
        let mut work = Workspace::default();
        for keys in reserve.blocks.chunks_mut(MAX_DRAW) {
            self.first.extend(channel, keys, &mut work)?;
        }
        Ok(reserve)
    }
}

impl SilentSender for Sender {
    fn available(&self) -> usize {
        rounds::available(&self.rows, self.stock.total())
    }

    fn keys(&mut self, keys: &mut [Block]) -> Result<()> {
        self.stock.rows(self.available(), keys, &mut vec![0; keys.len()])
    }

    fn plan(&mut self, need: usize) -> bool {
        self.round = rounds::next_round(&self.rows, self.stock.total(), need);
        !self.round.is_empty()
    }

    /// Paper: YWLZW20, Fig. 6 | single-point COT for each tree, in one message
    fn offer(&mut self, channel: &mut Channel) -> Result<()> {
        begin(&mut self.begun)?;
        for params in std::mem::take(&mut self.round) {
            let reserve = match self.binding.expansions {
                0 => self.first_base(channel, params)?,
                _ => self.stock.reserve(params)?,
            };
            let mut roots = Zeroizing::new(vec![Block::ZERO; params.trees]);
            self.roots.fill_blocks(&mut roots);
            watch::tell("tree root", Block::as_bytes(&roots));
            let mut delta = self.first.delta().clone();
            let bits = std::slice::from_mut(delta.bits_mut());
            channel.tamper_state("ferret: delta", Block::as_bytes_mut(bits));
            let mut sums = Vec::new();
            let starts = self.binding.next(params);
            let supply = Supply::new(params, starts, reserve, |expander, keys, _| {
                let trees = SenderTrees { delta, roots };
                sums = trees.sums(expander, keys, params);
                trees
            });
            channel.tamper_state("ferret: sums", Block::as_bytes_mut(&mut sums));
            self.binding.absorb(Block::as_bytes(&sums));
            channel.send(FERRET_SUMS, Block::as_bytes(&sums))?;
            self.pending.push(supply);
        }
        channel.flush()
    }

    /// Paper: YWLZW20, Fig. 6, 5–6 | the check of all trees together
    fn answer(&mut self, channel: &mut Channel) -> Result<()> {
        let mut answers = Vec::with_capacity(self.pending.len());
        for supply in &self.pending {
            let challenge: [u8; CHALLENGE_BYTES] = channel.recv_array(FERRET_CHALLENGE)?;
            let (seed, hidden) = challenge.split_at(32);
            self.binding.absorb(seed);
            let [mut chi, mut rho] = self.binding.coefficients(supply.params());
            channel.tamper_state("ferret: chi", Block::as_bytes_mut(&mut chi));
            channel.tamper_state("ferret: rho", Block::as_bytes_mut(&mut rho));
            self.binding.absorb(hidden);
            let hidden = Block::from_bytes(hidden.try_into().expect("16 bytes"));
            let sum = supply.hash(&chi, &rho).0;
            let y = gf128::pow2_combine(supply.check_blocks());
            let value = sum ^ y ^ gf128::mul(hidden, **self.first.delta());
            let mut value = Zeroizing::new([value]);
            channel.tamper_state("ferret: V", Block::as_bytes_mut(&mut *value));
            let mut answer = self.binding.answer(value[0]);
            channel.tamper_state("ferret: answer", &mut answer);
            channel.send(FERRET_ANSWER, &answer)?;
            answers.push(answer);
        }
        channel.flush()?;
        answers.iter().for_each(|answer| self.binding.absorb(answer));
        self.pending.drain(..).for_each(|supply| self.stock.add(supply));
        self.begun = false;
        Ok(())
    }
}

impl CotSender for Sender {
    fn delta(&self) -> &Delta {
        self.first.delta()
    }

    /// Paper: YWLZW20, Fig. 7 | outputs of the local code; chosen bits by derandomisation
    ///
    /// Timing: Δ | a masked XOR for each bit of Δ
    fn receive_columns(
        &mut self,
        channel: &mut Channel,
        n: usize,
        q: &mut Columns,
        Correction { u, .. }: &mut Correction,
    ) -> Result<[u8; 32]> {
        cot::check_draw(n, n)?;
        let stride = column_bytes(n);
        while self.available() < 8 * stride {
            self.expand(channel)?;
        }
        self.stock.columns(stride, q, |_, _| ());
        u.resize(stride, 0);
        channel.recv_into(FERRET_BITS, u)?;
        let delta = self.first.delta();
        for (i, q) in q.each_mut().enumerate() {
            xor_if(q, u, delta.0 >> i & 1 == 1);
        }
        Ok(self.binding.of(u))
    }

    fn silent(&mut self) -> Option<&mut dyn SilentSender> {
        Some(self)
    }

    fn guard(&self) -> &SelectiveFailureGuard {
        self.first.guard()
    }

    fn transcript(&mut self) -> &mut Transcript {
        &mut self.transcript
    }
}

/// The side that holds the choice bits.
pub struct Receiver {
    first: Box<dyn CotReceiver>,
    rows: Vec<LpnParams>,
    transcript: Transcript,
    binding: Binding,
    random: Prg,
    stock: Stock<ReceiverTrees>,
    /// As [`Sender::begun`].
    begun: bool,
    /// As [`Sender::round`].
    round: Vec<LpnParams>,
    first_base: Option<Reserve>,
    /// Expansions, each with the answer that it awaits.
    pending: Vec<(Supply<ReceiverTrees>, [u8; ANSWER_BYTES])>,
}

impl Receiver {
    /// Starts from another extension, as [`Sender::new`]. `random` makes the first base's bits,
    /// the seeds of challenges, and the tails that hide x̃.
    pub fn new(
        first: Box<dyn CotReceiver>,
        session: &[u8; 32],
        stream: ExtensionId,
        rows: &[LpnParams],
        random: Prg,
    ) -> Self {
        Receiver {
            first,
            rows: rows.to_vec(),
            transcript: own_transcript(session, stream),
            binding: Binding::new(session, stream),
            random,
            stock: Stock::new(),
            begun: false,
            round: Vec::new(),
            first_base: None,
            pending: Vec::new(),
        }
    }

    /// Makes an expansion, while the peer is in [`Sender::expand`].
    ///
    /// # Errors
    /// `PeerMisbehaved` when the check fails; then the session must be dropped. `Transport` when
    /// the peer is gone; `Internal` after an expansion that failed.
    pub fn expand(&mut self, channel: &mut Channel) -> Result<()> {
        self.plan(self.available() + 1);
        self.send_base(channel)?;
        self.challenge(channel)?;
        self.accept(channel)
    }
}

impl SilentReceiver for Receiver {
    fn available(&self) -> usize {
        rounds::available(&self.rows, self.stock.total())
    }

    fn bits(&mut self, macs: &mut [Block]) -> Result<BitVec> {
        let mut bytes = Zeroizing::new(vec![0; macs.len()]);
        self.stock.rows(self.available(), macs, &mut bytes)?;
        let mut bits = BitVec::with_capacity(macs.len());
        for bytes in bytes.chunks(64) {
            let word = bytes.iter().rev().fold(0, |word, bit| word << 1 | u64::from(*bit));
            bits.push_word(word, bytes.len());
        }
        Ok(bits)
    }

    fn plan(&mut self, need: usize) -> bool {
        self.round = rounds::next_round(&self.rows, self.stock.total(), need);
        !self.round.is_empty()
    }

    fn send_base(&mut self, channel: &mut Channel) -> Result<()> {
        begin(&mut self.begun)?;
        let ([params, ..], 0) = (&self.round[..], self.binding.expansions) else {
            return Ok(());
        };
        let mut reserve = Reserve::new(*params);
        let mut work = Workspace::default();
        let Reserve { blocks, bits } = &mut reserve;
        for (macs, bits) in blocks.chunks_mut(MAX_DRAW).zip(bits.chunks_mut(MAX_DRAW)) {
            let choices = BitVec::random(macs.len(), &mut self.random);
            self.first.extend(channel, &choices, macs, &mut work)?;
            bits.iter_mut().enumerate().for_each(|(i, bit)| *bit = choices.get(i).into());
        }
        self.first_base = Some(reserve);
        channel.flush()
    }

    /// Paper: YWLZW20, Fig. 6, 5–6
    fn challenge(&mut self, channel: &mut Channel) -> Result<()> {
        let mut supplies = Vec::with_capacity(self.round.len());
        for params in std::mem::take(&mut self.round) {
            let reserve = match self.first_base.take() {
                Some(reserve) => reserve,
                None => self.stock.reserve(params)?,
            };
            let mut sums = Zeroizing::new(vec![Block::ZERO; params.trees * params.height]);
            channel.recv_into(FERRET_SUMS, Block::as_bytes_mut(&mut sums))?;
            let starts = self.binding.next(params);
            self.binding.absorb(Block::as_bytes(&sums));
            supplies.push(Supply::new(params, starts, reserve, |_, macs, bits| {
                sums.iter_mut().zip(macs).for_each(|(sum, mac)| *sum ^= *mac);
                watch::tell("sum of a tree", Block::as_bytes(&sums));
                let alphas = Zeroizing::new(bits.iter().map(|bit| bit ^ 1).collect());
                ReceiverTrees { sums, alphas }
            }));
        }
        for supply in supplies {
            let mut challenge = [0; CHALLENGE_BYTES];
            self.random.fill(&mut challenge[..32]);
            channel.tamper_state("ferret: seed", &mut challenge[..32]);
            self.binding.absorb(&challenge[..32]);
            let [chi, rho] = self.binding.coefficients(supply.params());
            let (sum, phi) = supply.hash(&chi, &rho);
            let hidden = phi ^ supply.check_bits();
            challenge[32..].copy_from_slice(&hidden.to_bytes());
            channel.tamper_state("ferret: x'", &mut challenge[32..]);
            self.binding.absorb(&challenge[32..]);
            let z = gf128::pow2_combine(supply.check_blocks());
            let expected = self.binding.answer(sum ^ z);
            channel.send(FERRET_CHALLENGE, &challenge)?;
            self.pending.push((supply, expected));
        }
        channel.flush()
    }

    /// Compares H(V) of each expansion of the round.
    ///
    /// Check: trees of silent OT | `silent OT consistency`: a hash of all leaves | sums that fit
    /// only some places of the noise | 2^-c for c guessed bits of the places; 2^-127
    fn accept(&mut self, channel: &mut Channel) -> Result<()> {
        let mut equal = true;
        for (_, expected) in &self.pending {
            let answer: [u8; ANSWER_BYTES] = channel.recv_array(FERRET_ANSWER)?;
            equal &= same_digest(&answer, expected);
            self.binding.absorb(&answer);
        }
        if !equal {
            return Err(Error::misbehaved(channel.peer(), SILENT));
        }
        self.pending.drain(..).for_each(|(supply, _)| self.stock.add(supply));
        self.begun = false;
        Ok(())
    }
}

impl CotReceiver for Receiver {
    /// Paper: YWLZW20, Fig. 7
    fn send_columns(
        &mut self,
        channel: &mut Channel,
        x: &[u8],
        t: &mut Columns,
        Correction { u, .. }: &mut Correction,
    ) -> Result<[u8; 32]> {
        while self.available() < 8 * x.len() {
            self.expand(channel)?;
        }
        u.clear();
        u.extend_from_slice(x);
        self.stock.columns(x.len(), t, |row, bits| {
            for (byte, bits) in u[row / 8..].iter_mut().zip(bits.chunks_exact(8)) {
                *byte ^= bits.iter().rev().fold(0, |byte, bit| byte << 1 | bit);
            }
        });
        channel.tamper_state("ferret: bits", u);
        channel.send(FERRET_BITS, u)?;
        Ok(self.binding.of(u))
    }

    fn silent(&mut self) -> Option<&mut dyn SilentReceiver> {
        Some(self)
    }

    fn transcript(&mut self) -> (&mut Transcript, &mut Prg) {
        (&mut self.transcript, &mut self.random)
    }
}

/// Begins a round, unless one failed.
fn begin(begun: &mut bool) -> Result<()> {
    if std::mem::replace(begun, true) {
        return Err(Error::internal("silent OT after a failed expansion"));
    }
    Ok(())
}

#[cfg(test)]
mod tests;
