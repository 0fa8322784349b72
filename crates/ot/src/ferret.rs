//! Silent correlated OT: Ferret (Yang, Weng, Lan, Zhang and Wang, CCS 2020), with the trees of
//! Half-Tree (Guo and others, EUROCRYPT 2023). It sends two to four bits per correlated OT. No
//! protocol uses it: a session's [`OtExtension`](crate::OtExtension) is another one.
//!
//! # An expansion
//! Both sides have k correlated OTs with random bits u: keys at the sender, MACs at the receiver.
//! A public matrix of n > k rows with 10 ones each turns them into n, whose bits A·u are not random
//! yet. So noise is added: of each 2^h outputs in a row one, at a secret place α, gets the bit 1.
//! The keys and MACs of the noise are leaves of trees (`ferret/trees.rs`), for which the sender
//! sends h blocks per tree. By the assumption of learning parity with noise (primal, regular, over
//! a local code), the n bits look random to the sender. The first outputs are the base of the next
//! expansion. The first base comes from another extension, with its own check.
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
//! The receiver's bits r are random. For chosen bits x it sends x ⊕ r, and the sender adds
//! (x ⊕ r)·Δ to its keys. So x is the same in all columns. The columns and their check are those of
//! every extension ([`crate::cot`]): in `ywz` the check also compares the bits towards several
//! verifiers.
//!
//! # Memory and waiting
//! Both sides keep the roots of the trees, or the sums, and grow a tree when a draw needs its
//! outputs: less than the table of k blocks. An expansion needs both parties at the same time.
//! [`expand_both`] makes one in each direction. A draw that finds too few outputs makes the missing
//! expansion itself, for which the peer must be in the other side of the same draw.
//!
//! Departure: Ferret: χ | one for each leaf | ρ_j·χ_y, for trees j and leaves y | a product of two
//! random factors: 2^-127 instead of 2^-128
//!
//! Departure: Ferret: parameters | k/2^h = 64 or less | 80 or more | the cheapest count of known
//! attacks stays above 2^128 (`docs/proofs/lpn.py`)

use symbolon_primitives::{BitVec, Block, Delta, Prg, Transcript, gf128, same_digest};
use symbolon_transport::{Channel, Error, Result};
use zeroize::Zeroizing;

use crate::checks::SILENT;
use crate::columns::{Columns, Correction, Workspace, xor_if};
use crate::cot::{
    self, CotReceiver, CotSender, ExtensionId, MAX_DRAW, SelectiveFailureGuard, column_bytes,
};
use crate::messages::{FERRET_ANSWER, FERRET_BITS, FERRET_CHALLENGE, FERRET_SUMS};

mod code;
mod params;
mod supply;
mod trees;

pub use params::LpnParams;

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
    fn new(session: &[u8; 32], stream: ExtensionId, params: LpnParams) -> Self {
        let mut transcript = own_transcript(session, stream);
        for size in [params.secret, params.trees, params.height] {
            transcript.absorb("sizes", &(size as u64).to_le_bytes());
        }
        let [digest, start] = transcript.challenge("ferret").split();
        let mut bytes = [0; 32];
        digest.into_prg().fill(&mut bytes);
        Binding { digest: bytes, start: start.into_block(), expansions: 0 }
    }

    /// Begins an expansion. Returns the public starts of its trees' hash and of its matrix.
    fn next(&mut self) -> [Block; 2] {
        self.expansions += 1;
        let mut hasher = blake3::Hasher::new_derive_key("symbolon ferret 1: expansion");
        hasher.update(&self.start.to_bytes()).update(&self.expansions.to_le_bytes());
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

/// What the next expansion starts from.
enum Base {
    /// Draws of the first extension.
    First,
    Ready(Reserve),
    /// An expansion has begun. If it fails, there is none after it.
    Used,
}

impl Base {
    fn take(&mut self) -> Base {
        std::mem::replace(self, Base::Used)
    }
}

/// The side that holds Δ.
pub struct Sender {
    first: Box<dyn CotSender>,
    params: LpnParams,
    transcript: Transcript,
    binding: Binding,
    roots: Prg,
    base: Base,
    stock: Stock<SenderTrees>,
    pending: Option<Supply<SenderTrees>>,
}

impl Sender {
    /// Starts from another extension, whose correlated OTs are the base of the first expansion.
    /// `stream` distinguishes the directions and lanes of a session; `random` makes the trees.
    pub fn new(
        first: Box<dyn CotSender>,
        session: &[u8; 32],
        stream: ExtensionId,
        params: LpnParams,
        random: Prg,
    ) -> Self {
        Sender {
            first,
            params,
            transcript: own_transcript(session, stream),
            binding: Binding::new(session, stream, params),
            roots: random,
            base: Base::First,
            stock: Stock::new(params),
            pending: None,
        }
    }

    /// Returns how many outputs, for bits and for the rows that hide their hash, draws can have
    /// before the next expansion.
    pub fn available(&self) -> usize {
        self.stock.available()
    }

    /// Makes an expansion, while the peer is in [`Receiver::expand`].
    ///
    /// # Errors
    /// As [`CotSender::extend`], for the first base; `Transport` when the peer is gone.
    pub fn expand(&mut self, channel: &mut Channel) -> Result<()> {
        self.offer(channel)?;
        self.answer(channel)
    }

    /// Receives the first base, if this is the first expansion, and sends the sums.
    ///
    /// Paper: YWLZW20, Fig. 6 | single-point COT for each tree, in one message
    fn offer(&mut self, channel: &mut Channel) -> Result<()> {
        let params = self.params;
        let reserve = match self.base.take() {
            Base::First => self.first_base(channel)?,
            Base::Ready(reserve) => reserve,
            Base::Used => return Err(after_failure()),
        };
        let mut roots = Zeroizing::new(vec![Block::ZERO; params.trees]);
        self.roots.fill_blocks(&mut roots);
        let delta = self.first.delta().clone();
        let mut sums = Vec::new();
        let supply = Supply::new(params, self.binding.next(), reserve, |expander, keys, _| {
            let trees = SenderTrees { delta, roots };
            sums = trees.sums(expander, keys, params);
            trees
        });
        channel.tamper_state("ferret: sums", Block::as_bytes_mut(&mut sums));
        self.binding.absorb(Block::as_bytes(&sums));
        channel.send(FERRET_SUMS, Block::as_bytes(&sums))?;
        channel.flush()?;
        self.pending = Some(supply);
        Ok(())
    }

    fn first_base(&mut self, channel: &mut Channel) -> Result<Reserve> {
        let mut reserve = Reserve::new(self.params);
        let mut work = Workspace::default();
        for keys in reserve.blocks.chunks_mut(MAX_DRAW) {
            self.first.extend(channel, keys, &mut work)?;
        }
        Ok(reserve)
    }

    /// Receives the challenge and sends H(V).
    ///
    /// Paper: YWLZW20, Fig. 6, 5–6 | the check of all trees together
    fn answer(&mut self, channel: &mut Channel) -> Result<()> {
        let challenge: [u8; CHALLENGE_BYTES] = channel.recv_array(FERRET_CHALLENGE)?;
        let (seed, hidden) = challenge.split_at(32);
        self.binding.absorb(seed);
        let [mut chi, mut rho] = self.binding.coefficients(self.params);
        channel.tamper_state("ferret: chi", Block::as_bytes_mut(&mut chi));
        channel.tamper_state("ferret: rho", Block::as_bytes_mut(&mut rho));
        self.binding.absorb(hidden);
        let hidden = Block::from_bytes(hidden.try_into().expect("16 bytes"));
        let supply = self.pending.take().ok_or_else(after_failure)?;
        let sum = supply.hash(&chi, &rho).0;
        let y = gf128::pow2_combine(supply.check_blocks());
        let value = sum ^ y ^ gf128::mul(hidden, **self.first.delta());
        let mut value = Zeroizing::new([value]);
        channel.tamper_state("ferret: V", Block::as_bytes_mut(&mut *value));
        let mut answer = self.binding.answer(value[0]);
        channel.tamper_state("ferret: answer", &mut answer);
        self.binding.absorb(&answer);
        channel.send(FERRET_ANSWER, &answer)?;
        channel.flush()?;
        self.base = Base::Ready(self.stock.add(supply));
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
        while self.stock.available() < 8 * stride {
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
    params: LpnParams,
    transcript: Transcript,
    binding: Binding,
    random: Prg,
    base: Base,
    stock: Stock<ReceiverTrees>,
    pending: Option<(Supply<ReceiverTrees>, [u8; ANSWER_BYTES])>,
}

impl Receiver {
    /// Starts from another extension, as [`Sender::new`]. `random` makes the first base's bits,
    /// the seeds of challenges, and the tails that hide x̃.
    pub fn new(
        first: Box<dyn CotReceiver>,
        session: &[u8; 32],
        stream: ExtensionId,
        params: LpnParams,
        random: Prg,
    ) -> Self {
        Receiver {
            first,
            params,
            transcript: own_transcript(session, stream),
            binding: Binding::new(session, stream, params),
            random,
            base: Base::First,
            stock: Stock::new(params),
            pending: None,
        }
    }

    /// Returns how many outputs draws can have before the next expansion, as
    /// [`Sender::available`].
    pub fn available(&self) -> usize {
        self.stock.available()
    }

    /// Makes an expansion, while the peer is in [`Sender::expand`].
    ///
    /// # Errors
    /// `PeerMisbehaved` when the check fails; then the session must be dropped. `Transport` when
    /// the peer is gone.
    pub fn expand(&mut self, channel: &mut Channel) -> Result<()> {
        self.send_base(channel)?;
        self.challenge(channel)?;
        self.accept(channel)
    }

    /// Sends the first base, if this is the first expansion.
    fn send_base(&mut self, channel: &mut Channel) -> Result<()> {
        match self.base.take() {
            Base::First => (),
            Base::Ready(reserve) => {
                self.base = Base::Ready(reserve);
                return Ok(());
            }
            Base::Used => return Err(after_failure()),
        }
        let mut reserve = Reserve::new(self.params);
        let mut work = Workspace::default();
        let Reserve { blocks, bits } = &mut reserve;
        for (macs, bits) in blocks.chunks_mut(MAX_DRAW).zip(bits.chunks_mut(MAX_DRAW)) {
            let choices = BitVec::random(macs.len(), &mut self.random);
            self.first.extend(channel, &choices, macs, &mut work)?;
            bits.iter_mut().enumerate().for_each(|(i, bit)| *bit = choices.get(i).into());
        }
        channel.flush()?;
        self.base = Base::Ready(reserve);
        Ok(())
    }

    /// Receives the sums, and sends the challenge.
    ///
    /// Paper: YWLZW20, Fig. 6, 5–6
    fn challenge(&mut self, channel: &mut Channel) -> Result<()> {
        let params = self.params;
        let Base::Ready(reserve) = self.base.take() else { return Err(after_failure()) };
        let mut sums = Zeroizing::new(vec![Block::ZERO; params.trees * params.height]);
        channel.recv_into(FERRET_SUMS, Block::as_bytes_mut(&mut sums))?;
        self.binding.absorb(Block::as_bytes(&sums));
        let supply = Supply::new(params, self.binding.next(), reserve, |_, macs, bits| {
            sums.iter_mut().zip(macs).for_each(|(sum, mac)| *sum ^= *mac);
            let alphas = Zeroizing::new(bits.iter().map(|bit| bit ^ 1).collect());
            ReceiverTrees { sums, alphas }
        });

        let mut challenge = [0; CHALLENGE_BYTES];
        self.random.fill(&mut challenge[..32]);
        channel.tamper_state("ferret: seed", &mut challenge[..32]);
        self.binding.absorb(&challenge[..32]);
        let [chi, rho] = self.binding.coefficients(params);
        let (sum, phi) = supply.hash(&chi, &rho);
        let hidden = phi ^ supply.check_bits();
        challenge[32..].copy_from_slice(&hidden.to_bytes());
        channel.tamper_state("ferret: x'", &mut challenge[32..]);
        self.binding.absorb(&challenge[32..]);
        let z = gf128::pow2_combine(supply.check_blocks());
        let expected = self.binding.answer(sum ^ z);
        channel.send(FERRET_CHALLENGE, &challenge)?;
        channel.flush()?;
        self.pending = Some((supply, expected));
        Ok(())
    }

    /// Receives and compares H(V).
    ///
    /// Check: trees of silent OT | `silent OT consistency`: a hash of all leaves | sums that fit
    /// only some places of the noise | 2^-c for c guessed bits of the places; 2^-127
    fn accept(&mut self, channel: &mut Channel) -> Result<()> {
        let answer: [u8; ANSWER_BYTES] = channel.recv_array(FERRET_ANSWER)?;
        let (supply, expected) = self.pending.take().ok_or_else(after_failure)?;
        if !same_digest(&answer, &expected) {
            return Err(Error::misbehaved(channel.peer(), SILENT));
        }
        self.binding.absorb(&answer);
        self.base = Base::Ready(self.stock.add(supply));
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
        while self.stock.available() < 8 * x.len() {
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

    fn transcript(&mut self) -> (&mut Transcript, &mut Prg) {
        (&mut self.transcript, &mut self.random)
    }
}

/// Makes an expansion in each direction, while the peer does the same. Each step sends before it
/// waits, so both take the same three trips over the link.
///
/// # Errors
/// As [`Receiver::expand`] and [`Sender::expand`].
pub fn expand_both(
    channel: &mut Channel,
    sender: &mut Sender,
    receiver: &mut Receiver,
) -> Result<()> {
    receiver.send_base(channel)?;
    sender.offer(channel)?;
    receiver.challenge(channel)?;
    sender.answer(channel)?;
    receiver.accept(channel)
}

fn after_failure() -> Error {
    Error::internal("silent OT after a failed expansion")
}

#[cfg(test)]
mod tests;
