//! Subspace vector OLE over a binary linear code, from which XOR-homomorphic commitments are made.
//! SoftSpokenOT (Roy, CRYPTO 2022), Figs. 8 and 9, for the systematic codes of [`crate::codes`].
//!
//! Let the code have n places and distance d, and let q = 2^k. The *verifier* holds Δ, an element
//! of GF(2)^k for each place. A draw of some number of rows gives the *prover* random strings u of
//! 128 bits and rows V, and the verifier rows W; a row has k bits for each place, and
//!
//! ```text
//! W = V ⊕ (u·G) ∗ Δ        k bits of W at place i:  V_i ⊕ (u·G)_i·Δ_i
//! ```
//!
//! Correlated OT ([`crate::cot`]) is the same with the repetition code, where u is one chosen bit
//! and G repeats it 128 times. The two share the trees ([`crate::pprf`]), the streams of their
//! leaves, the column hash and the selective-failure guard. They are not one generic
//! implementation, because most of the rest differs: correlated OT sends a correction for every
//! column, because its bits are chosen, and the hashes of all columns, which other parties verify
//! too.
//!
//! Departure: commitments: new ones | SoftSpokenOT: hashes of all columns | hashes of the strings'
//! columns, a digest of the others; two or three rows of coefficients | the receiver computes the
//! others; the rows make up for the choice of guessed places (`docs/proofs/commitments.md`)
//!
//! Timing: strings, rows, Δ | entries are chosen by the public code and by opened strings
//!
//! # The columns
//! Each place has a tree of q leaves, or for k = 1 a pair of seeds. As in [`crate::softspoken`],
//! with r_y the stream of leaf y:
//!
//! ```text
//! prover:   u'_i = ⊕_y r_y         V_{i,j} = ⊕_{y: bit j of y is 1} r_y
//! verifier:                        W_{i,j} = V_{i,j} ⊕ Δ_{i,j}·u'_i
//! ```
//!
//! The columns u' of the first 128 places are the strings: they are random, so they need no
//! correction. For each parity place i the prover sends C_i = u'_i ⊕ (u·G)_i, and the verifier adds
//! Δ_{i,j}·C_i to W_{i,j}. So a string takes n − 128 bits. The leaf of place i that the verifier
//! lacks hides C_i.
//!
//! # The check
//! With h rows of coefficients χ, the prover sends ũ_i = Σ χ_k·u_{i,k} for the first 128 places and
//! a digest of all ṽ_{i,j} = Σ χ_k·v_{i,j,k}. The verifier computes w̃_{i,j} ⊕ Δ_{i,j}·(ũ·G)_i and
//! compares the digest. `docs/proofs/commitments.md` proves that this binds the prover (for
//! k·d ≥ ρ, except with probability 2^-ρ over all draws and checks), that it hides the strings, and
//! that h rows are enough.
//!
//! # Codes and costs
//! | k | code for ρ = 40 | bits sent for a string | AES blocks for a string, prover | base OTs |
//! | --- | --- | --- | --- | --- |
//! | 1 | [262, 128, 40] | 134 | 4.1 | 262 |
//! | 2 | [197, 128, 20] | 69 | 6.2 | 394 |
//! | 4 | [161, 128, 10] | 33 | 20.1 | 644 |
//!
//! A draw of any size takes an additional 128·h rows and [`Params::check_bytes`]: for h = 2 and the
//! largest draw, 2^15, that is 1 % and 0.13 bytes per string.

use std::sync::Arc;

use blake3::Hasher;
use symbolon_primitives::{Block, Transcript};
use symbolon_transport::{Channel, Check, Error, PartyId, Result};
use zeroize::Zeroizing;

use crate::checks::CONSISTENCY;
use crate::codes::{Code, DIMENSION};
use crate::columns::xor_if;
use crate::cot::SelectiveFailureGuard;
use crate::messages::{CORRECTION, VOLE_CHECK};
use crate::pprf::{self, TreeDepth, TreeParams};

mod leaf_streams;
mod matrix;
mod seeds;

use leaf_streams::LeafStreams;
use matrix::{Matrix, add_parity};
pub use seeds::{build_provers, build_verifiers, set_up_prover, set_up_verifier};

/// The largest draw.
pub const MAX_DRAW: usize = 1 << 15;

const DIGEST: usize = 32;

/// One direction of one session.
#[derive(Clone, Copy, Debug)]
pub struct VoleParties<'a> {
    /// The session.
    pub session: &'a [u8; 32],
    /// The prover's party number.
    pub prover: PartyId,
    /// The verifier's party number.
    pub verifier: PartyId,
}

impl VoleParties<'_> {
    /// Returns the session for these trees, which separates them from those of correlated OT.
    fn session(&self) -> [u8; 32] {
        blake3::derive_key("symbolon vector ole 1: session", self.session)
    }

    fn transcript(&self, params: &Params, lane: u64) -> Transcript {
        let mut transcript = Transcript::new("symbolon vector ole 1", self.session);
        transcript.absorb("prover", &self.prover.to_le_bytes());
        transcript.absorb("verifier", &self.verifier.to_le_bytes());
        transcript.absorb("lane", &lane.to_le_bytes());
        let code = params.code();
        for number in [params.k().bits(), code.length(), code.distance()] {
            transcript.absorb("code", &(number as u64).to_le_bytes());
        }
        transcript
    }

    fn tree_params<'a>(&self, session: &'a [u8; 32], params: &Params) -> Option<TreeParams<'a>> {
        let k = params.k().trees()?;
        Some(TreeParams { session, tree_sender: self.prover, tree_receiver: self.verifier, k })
    }
}

/// k, the bits of Δ at one place of the code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FieldBits {
    /// A pair of seeds for each place.
    One,
    /// Trees of 4 leaves.
    Two,
    /// Trees of 16 leaves.
    Four,
}

impl FieldBits {
    /// All values of k.
    pub const ALL: [FieldBits; 3] = [FieldBits::One, FieldBits::Two, FieldBits::Four];

    /// Returns k.
    pub const fn bits(self) -> usize {
        match self {
            FieldBits::One => 1,
            FieldBits::Two => 2,
            FieldBits::Four => 4,
        }
    }

    /// Returns the depth of the trees; `None` for pairs of seeds.
    const fn trees(self) -> Option<TreeDepth> {
        match self {
            FieldBits::One => None,
            FieldBits::Two => Some(TreeDepth::Two),
            FieldBits::Four => Some(TreeDepth::Four),
        }
    }
}

/// A code and the field it is used with.
#[derive(Clone, Debug)]
pub struct Params {
    k: FieldBits,
    code: Arc<Code>,
    /// h, the rows of coefficients in the check.
    hashes: usize,
}

impl Params {
    /// Returns the parameters with the shortest code for which k·d ≥ `rho`.
    ///
    /// # Errors
    /// `InvalidInput` if ρ is 0, or if there is no code for it.
    pub fn new(k: FieldBits, rho: u32) -> Result<Params> {
        let distance = (rho as usize).div_ceil(k.bits());
        let fits = |code: &Code| (code.length() * k.bits()).div_ceil(64) <= MAX_ROW_WORDS;
        let code = Code::with_distance(distance).filter(fits).ok_or_else(|| {
            let bits = k.bits();
            Error::InvalidInput(format!("commitments with k = {bits} at ρ = {rho}: no code"))
        })?;
        let mut hashes = 1;
        while chances(&code, k) > (128.0 * (hashes as f64 - 1.0)).exp2() {
            hashes += 1;
        }
        Ok(Params { k, code: Arc::new(code), hashes })
    }

    /// Returns k.
    pub fn k(&self) -> FieldBits {
        self.k
    }

    /// Returns the code.
    pub fn code(&self) -> &Code {
        &self.code
    }

    /// Returns n·k: the bits of Δ and of a row of V or W, which is also the number of base OTs.
    pub fn columns(&self) -> usize {
        self.code.length() * self.k.bits()
    }

    /// Returns the bytes of the prover's message about its trees; 0 for k = 1.
    pub fn tree_bytes(&self) -> usize {
        self.k.trees().map_or(0, |k| pprf::message_bytes_of(k, self.code.length()))
    }

    /// Returns the words of a row of V or W; bits beyond [`Params::columns`] are 0.
    pub fn row_words(&self) -> usize {
        self.columns().div_ceil(64)
    }

    /// Returns the bytes of the check's message: ũ, and a digest.
    pub fn check_bytes(&self) -> usize {
        self.hashes * DIMENSION * 16 + DIGEST
    }

    /// Returns the bytes of one column in a draw of `n` rows, including the rows that hide ũ.
    fn column_bytes(&self, n: usize) -> usize {
        (n.next_multiple_of(128) + 128 * self.hashes) / 8
    }

    /// Returns the bytes on the wire, without message headers, of one draw of `n` rows.
    pub fn draw_bytes(&self, n: usize) -> usize {
        self.code.parity_bits() * self.column_bytes(n) + self.check_bytes()
    }

    /// Writes the codeword of a public string to a row, with each bit repeated k times.
    fn spread(&self, value: Block, row: &mut [u64]) {
        let code = &self.code;
        let mut word = [0u64; MAX_WORDS];
        (word[0], word[1]) = (value.0 as u64, (value.0 >> 64) as u64);
        let words = code.length().div_ceil(64);
        code.parity_of_public(value, &mut word[2..words]);
        match self.k {
            FieldBits::One => row.copy_from_slice(&word[..row.len()]),
            FieldBits::Two => spread_by::<2>(&word, row, |from| 3 * apart2(from)),
            FieldBits::Four => spread_by::<4>(&word, row, |from| 15 * apart4(from)),
        }
    }
}

/// Repeats each bit of a word `K` times. `apart` makes 64 bits from the lowest `64 / K`.
fn spread_by<const K: usize>(word: &[u64], row: &mut [u64], apart: impl Fn(u64) -> u64) {
    for (&word, row) in word.iter().zip(row.chunks_mut(K)) {
        for (part, row) in row.iter_mut().enumerate() {
            *row = apart(word >> (part * (64 / K)));
        }
    }
}

/// Returns Σ_{b<d} C(n, b)·2^(−k·b): see "The check" in the module's introduction.
fn chances(code: &Code, k: FieldBits) -> f64 {
    let (mut choose, mut sum) = (1.0f64, 0.0f64);
    for b in 0..code.distance() {
        sum += choose;
        choose *= (code.length() - b) as f64 / (b + 1) as f64 / (1 << k.bits()) as f64;
    }
    sum
}

/// Words of the longest codeword.
const MAX_WORDS: usize = 8;

/// Returns the low 32 bits, each at twice its place.
fn apart2(x: u64) -> u64 {
    let x = (x & 0xffff_ffff | x << 16) & 0x0000_ffff_0000_ffff;
    let x = (x | x << 8) & 0x00ff_00ff_00ff_00ff;
    let x = (x | x << 4) & 0x0f0f_0f0f_0f0f_0f0f;
    let x = (x | x << 2) & 0x3333_3333_3333_3333;
    (x | x << 1) & 0x5555_5555_5555_5555
}

/// Returns the low 16 bits, each at four times its place.
fn apart4(x: u64) -> u64 {
    let x = (x & 0xffff | x << 24) & 0x0000_00ff_0000_00ff;
    let x = (x | x << 12) & 0x000f_000f_000f_000f;
    let x = (x | x << 6) & 0x0303_0303_0303_0303;
    (x | x << 3) & 0x1111_1111_1111_1111
}

/// Returns h rows of χ for columns of `stride` bytes; their last h blocks are the identity.
fn coefficients(
    transcript: &mut Transcript,
    digest: &[u8; DIGEST],
    hashes: usize,
    stride: usize,
) -> Vec<Vec<Block>> {
    transcript.absorb("correction", digest);
    let mut prg = transcript.challenge("chi").into_prg();
    let blocks = stride / 16;
    let mut row = |hash| {
        let mut chi = vec![Block::ZERO; blocks];
        prg.fill_blocks(&mut chi);
        for (i, last) in chi[blocks - hashes..].iter_mut().enumerate() {
            *last = if i == hash { Block::ONE } else { Block::ZERO };
        }
        chi
    };
    (0..hashes).map(&mut row).collect()
}

fn digest_of(hashes: &[Block]) -> blake3::Hash {
    let mut hasher = Hasher::new_derive_key("symbolon vector ole 1: hashes of columns");
    hasher.update(Block::as_bytes(hashes)).finalize()
}

/// Refuses draws that are too large or do not fit their output.
fn check_draw(params: &Params, n: usize, rows: usize) -> Result<()> {
    if n > MAX_DRAW || rows != n * params.row_words() {
        return Err(Error::InvalidInput(format!(
            "a draw of {n} rows into {rows} words; at most {MAX_DRAW} rows"
        )));
    }
    Ok(())
}

/// The side that gets strings. It only sends messages.
pub struct Prover {
    leaf_streams: LeafStreams,
    transcript: Transcript,
    /// u' and C, one after another.
    strings: Matrix,
    v: Matrix,
}

impl Prover {
    fn new(leaf_streams: LeafStreams, transcript: Transcript) -> Prover {
        Prover { leaf_streams, transcript, strings: Matrix::default(), v: Matrix::default() }
    }

    /// Returns the code and the field.
    pub fn params(&self) -> &Params {
        &self.leaf_streams.params
    }

    /// Draws as many strings as fit in `values`, and writes their rows of V to `rows`,
    /// [`Params::row_words`] words each.
    ///
    /// Paper: Roy22, Figs. 8, 9 | subspace VOLE over a code, and its check
    ///
    /// # Errors
    /// `Transport` when the peer is gone; `InvalidInput` when the lengths do not fit or there are
    /// more than [`MAX_DRAW`].
    pub fn draw(
        &mut self,
        channel: &mut Channel,
        values: &mut [Block],
        rows: &mut [u64],
    ) -> Result<()> {
        let Prover { leaf_streams, transcript, strings, v } = self;
        let params = leaf_streams.params.clone();
        check_draw(&params, values.len(), rows.len())?;
        let stride = params.column_bytes(values.len());
        strings.reset(params.code.length(), stride);
        v.reset(params.columns(), stride);
        leaf_streams.draw_all(strings.columns_mut(), v.columns_mut(), stride);
        let blocks = stride / size_of::<Block>();
        let (own, correction) = strings.blocks_mut().split_at_mut(DIMENSION * blocks);
        let correction = &mut correction[..params.code.parity_bits() * blocks];
        add_parity(&params.code, own, correction, blocks);
        let correction = Block::as_bytes_mut(correction);
        channel.tamper_state("commitments: correction", correction);
        channel.send(CORRECTION, correction)?;

        let digest = leaf_streams.digest(correction);
        let chi = coefficients(transcript, &digest, params.hashes, stride);
        let mut check = Zeroizing::new(Vec::with_capacity(params.check_bytes()));
        check.extend_from_slice(Block::as_bytes(&strings.hash(DIMENSION, &chi)));
        let mut hashes = v.hash(params.columns(), &chi);
        channel.tamper_state("commitments: hashes", Block::as_bytes_mut(&mut hashes));
        check.extend_from_slice(digest_of(&hashes).as_bytes());
        channel.tamper_state("commitments: check", &mut check);
        transcript.absorb("check", &check);
        channel.send(VOLE_CHECK, &check)?;

        strings.strings(values);
        v.rows(params.row_words(), values.len(), rows);
        Ok(())
    }
}

/// The side that holds Δ. It only receives messages.
pub struct Verifier {
    leaf_streams: LeafStreams,
    key: VerifierKey,
    transcript: Transcript,
    w: Matrix,
    scratch: Zeroizing<Vec<u8>>,
    correction: Vec<u8>,
}

impl Verifier {
    fn new(
        leaf_streams: LeafStreams,
        delta: Zeroizing<Vec<u64>>,
        transcript: Transcript,
        guard: Arc<SelectiveFailureGuard>,
    ) -> Verifier {
        let key = VerifierKey { params: leaf_streams.params.clone(), delta, guard };
        Verifier {
            leaf_streams,
            key,
            transcript,
            w: Matrix::default(),
            scratch: Zeroizing::default(),
            correction: Vec::new(),
        }
    }

    /// Returns the code and the field.
    pub fn params(&self) -> &Params {
        &self.leaf_streams.params
    }

    /// Draws `n` rows of W, which may be used only if this succeeds.
    ///
    /// Paper: Roy22, Figs. 8, 9
    ///
    /// # Errors
    /// `PeerMisbehaved` when the check fails, or an earlier one under this Δ failed; `Transport`
    /// when the peer is gone; `InvalidInput` as [`Prover::draw`].
    pub fn draw(&mut self, channel: &mut Channel, n: usize, rows: &mut [u64]) -> Result<()> {
        let params = self.leaf_streams.params.clone();
        check_draw(&params, n, rows.len())?;
        let stride = params.column_bytes(n);
        self.scratch.resize(stride, 0);
        self.w.reset(params.columns(), stride);
        // This party's part needs nothing from the peer, so it is done while the message is in
        // transit.
        self.leaf_streams.draw_some(&mut self.scratch, self.w.columns_mut(), stride);
        self.correction.resize(params.code.parity_bits() * stride, 0);
        channel.recv_into(CORRECTION, &mut self.correction)?;
        let (k, first) = (params.k.bits(), DIMENSION * params.k.bits());
        let parity = self.w.columns_mut().chunks_exact_mut(stride).enumerate().skip(first);
        for (column, w) in parity.take(params.columns() - first) {
            let correction = &self.correction[(column - first) / k * stride..][..stride];
            xor_if(w, correction, delta_bit(&self.key.delta, column));
        }

        let digest = self.leaf_streams.digest(&self.correction);
        let chi = coefficients(&mut self.transcript, &digest, params.hashes, stride);
        let check = channel.recv(VOLE_CHECK, params.check_bytes())?;
        self.transcript.absorb("check", &check);
        let passed = self.agrees(&check, &chi);
        self.key.pass(passed, channel.peer(), CONSISTENCY)?;
        self.w.rows(params.row_words(), n, rows);
        Ok(())
    }

    /// Whether the digest is that of w̃ ⊕ Δ∗(ũ·G).
    ///
    /// Paper: Roy22, Figs. 8, 9
    ///
    /// Check: new commitments | `commitment consistency` | rows that are no codewords | 2^(−k·w)
    /// for guesses at w places; binding needs d places: 2^-ρ
    fn agrees(&self, check: &[u8], chi: &[Vec<Block>]) -> bool {
        let params = self.params();
        let (sent, digest) = check.split_at(check.len() - DIGEST);
        let block = |bytes: &[u8]| Block::from_bytes(bytes.try_into().expect("16 bytes"));
        let sent: Vec<Block> = sent.chunks_exact(16).map(block).collect();
        let mut hashes = self.w.hash(params.columns(), chi);
        let k = params.k.bits();
        for (hashes, sent) in hashes.chunks_exact_mut(params.columns()).zip(sent.chunks(DIMENSION))
        {
            let parity = params.code.sums().iter().map(|bits| {
                let among = (0..DIMENSION).filter(|i| bits.0 >> i & 1 == 1);
                among.fold(Block::ZERO, |sum, i| sum ^ sent[i])
            });
            let word = sent.iter().copied().chain(parity);
            for (place, (hashes, bit)) in hashes.chunks_exact_mut(k).zip(word).enumerate() {
                for (j, hash) in hashes.iter_mut().enumerate() {
                    *hash ^= bit.select(delta_bit(&self.key.delta, place * k + j));
                }
            }
        }
        // The comparison is in constant time.
        let digest: [u8; DIGEST] = digest.try_into().expect("32 bytes");
        digest_of(&hashes) == blake3::Hash::from_bytes(digest)
    }

    /// Returns the key for later checks of the rows.
    pub fn key(&self) -> &VerifierKey {
        &self.key
    }
}

/// Δ, with everything that checks under it need: all that a verifier needs once it has its rows.
#[derive(Clone)]
pub struct VerifierKey {
    params: Params,
    delta: Zeroizing<Vec<u64>>,
    guard: Arc<SelectiveFailureGuard>,
}

impl VerifierKey {
    /// Reads a key from bytes, for checks one after another in another process. Returns `None` if
    /// there are not as many bytes as [`to_bytes`](VerifierKey::to_bytes) gives.
    pub fn from_bytes(params: &Params, bytes: &[u8]) -> Option<VerifierKey> {
        let mut delta = Zeroizing::new(vec![0; params.row_words()]);
        let room: &mut [u8] = bytemuck::cast_slice_mut(&mut delta);
        if room.len() != bytes.len() {
            return None;
        }
        room.copy_from_slice(bytes);
        let guard = SelectiveFailureGuard::new();
        Some(VerifierKey { params: params.clone(), delta, guard })
    }

    /// Returns Δ, 8 bytes for each of [`Params::row_words`].
    pub fn to_bytes(&self) -> Zeroizing<Vec<u8>> {
        Zeroizing::new(bytemuck::cast_slice(&self.delta).to_vec())
    }

    /// Returns the code and the field.
    pub fn params(&self) -> &Params {
        &self.params
    }

    /// Adds (value·G)∗Δ to a row. For the prover's own string, this turns a row of W into the row
    /// of V.
    ///
    /// `value` is public.
    ///
    /// # Panics
    /// If the row does not have [`Params::row_words`] words.
    pub fn add_public(&self, value: Block, row: &mut [u64]) {
        let mut word = [0; MAX_ROW_WORDS];
        let word = &mut word[..self.params.row_words()];
        assert_eq!(row.len(), word.len(), "words of a row");
        self.params.spread(value, word);
        for ((row, word), delta) in row.iter_mut().zip(word).zip(self.delta.iter()) {
            *row ^= *word & delta;
        }
    }

    /// Lets a check by the caller pass only if it succeeded and all earlier checks under this Δ
    /// did.
    ///
    /// # Errors
    /// `PeerMisbehaved` by `peer`, or by the party that failed first.
    pub fn pass(&self, passed: bool, peer: PartyId, check: Check) -> Result<()> {
        self.guard.pass(passed, peer, check)
    }
}

/// Words of the longest row: 420 places with k = 1, 197 with 4.
const MAX_ROW_WORDS: usize = 16;

fn delta_bit(delta: &[u64], column: usize) -> bool {
    delta[column / 64] >> (column % 64) & 1 == 1
}

#[cfg(test)]
#[path = "vole/tests.rs"]
mod tests;
