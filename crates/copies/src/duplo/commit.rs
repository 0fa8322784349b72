//! The garbler's commitments to strings of 128 bits, of which it can open sums: F_HCOM, from
//! [`symbolon_cutchoose::hcom`].
//!
//! All commitments are to random strings. To commit to a chosen string, the garbler also sends a
//! correction, which both parties add to whatever is opened. Openings are collected and end with
//! one proof; opened values may be used only after it.
//!
//! Timing: strings, rows, Δ | which commitments are opened, here and in `solder`, `oblivious` and
//! `indicators`, follows from the circuit, the coins, and bits that are sent

use std::marker::PhantomData;
use std::ops::{Range, RangeInclusive};

use symbolon_cutchoose::hcom::{self, OwnOpening, Proof, TheirOpening};
use symbolon_engine::codec::{Reader, Writer};
use symbolon_primitives::{Block, prefetch};
use symbolon_transport::{Channel, Message, Result};
use zeroize::Zeroizing;

/// The number of a commitment.
pub(super) type Id = u32;

/// Bytes of a committed string.
const STRING: usize = size_of::<Block>();

/// How many blocks one message carries.
const PIECE: usize = 1 << 20;

/// A list of commitments that can be stored one by one.
pub(super) trait List {
    /// Returns how many bytes a commitment takes in a store.
    fn bytes(&self) -> usize;

    /// Returns the number that the next commitment gets.
    fn next(&self) -> Id;

    /// Writes a commitment.
    ///
    /// # Errors
    /// `Store` when it cannot be written.
    fn write(&self, id: Id, to: &mut Writer<'_>) -> Result<()>;

    /// Reads a commitment, appends it and returns its number.
    ///
    /// # Errors
    /// `Store` when it cannot be read.
    fn read(&mut self, from: &mut Reader<'_>) -> Result<Id>;
}

/// The garbler's side of commitments: the committed strings, with their rows.
pub(super) type Committed = Commitments<Own>;

/// The evaluator's side of commitments: the corrections, with their rows.
pub(super) type Received = Commitments<Theirs>;

/// Commitments as one side holds them.
pub(super) struct Commitments<S> {
    params: hcom::Params,
    rows: hcom::Committed,
    side: PhantomData<S>,
}

/// A side of commitments.
pub(super) trait Side {
    /// Whether a stored commitment begins with its string. Otherwise it ends with it.
    const STRING_FIRST: bool;
}

/// The garbler's side.
pub(super) enum Own {}

/// The evaluator's side.
pub(super) enum Theirs {}

impl Side for Own {
    const STRING_FIRST: bool = true;
}

impl Side for Theirs {
    const STRING_FIRST: bool = false;
}

impl<S> Commitments<S> {
    fn new(params: &hcom::Params, rows: hcom::Committed) -> Self {
        Commitments { params: params.clone(), rows, side: PhantomData }
    }

    /// Returns an empty list.
    pub fn none(params: &hcom::Params) -> Self {
        Commitments::new(params, hcom::Committed::new(params))
    }

    /// Returns how many bytes a commitment takes in a store.
    pub fn one_bytes(params: &hcom::Params) -> usize {
        hcom::Committed::record_bytes(params)
    }

    /// Prefetches some commitments.
    pub fn prefetch(&self, ids: RangeInclusive<Id>) {
        ids.for_each(|id| {
            self.rows.prefetch(id as usize);
            prefetch(&self.rows.values()[id as usize]);
        });
    }

    /// Returns commitments to these sums.
    pub fn sums(&self, sums: &[Vec<Id>]) -> Self {
        Commitments::new(&self.params, self.rows.sums(sums))
    }

    /// Returns the first `at` commitments, and the others.
    pub fn split(&self, at: usize) -> (Self, Self) {
        let one =
            |range: Range<usize>| self.sums(&range.map(|id| vec![id as Id]).collect::<Vec<_>>());
        (one(0..at), one(at..self.rows.len()))
    }

    /// Returns some commitments of other lists, followed by those of this list.
    pub fn behind(&self, others: &[(&Self, usize)]) -> Self {
        let own = (0..self.rows.len()).map(|id| (self, id));
        let mut rows = hcom::Committed::new(&self.params);
        for (list, id) in others.iter().copied().chain(own) {
            rows.push_xor(&[(&list.rows, id)]);
        }
        Commitments::new(&self.params, rows)
    }
}

impl<S: Side> List for Commitments<S> {
    fn bytes(&self) -> usize {
        Self::one_bytes(&self.params)
    }

    fn next(&self) -> Id {
        self.rows.len() as Id
    }

    fn write(&self, id: Id, to: &mut Writer<'_>) -> Result<()> {
        let mut record = Zeroizing::new(Vec::with_capacity(self.bytes()));
        self.rows.write_record(id as usize, &mut record);
        if !S::STRING_FIRST {
            record.rotate_left(STRING);
        }
        to.bytes(&record)
    }

    fn read(&mut self, from: &mut Reader<'_>) -> Result<Id> {
        let mut record = Zeroizing::new(vec![0; self.bytes()]);
        from.fill(&mut record)?;
        if !S::STRING_FIRST {
            record.rotate_right(STRING);
        }
        self.rows.push_record(&record);
        Ok(self.next() - 1)
    }
}

impl Committed {
    /// Commits to `n` random strings.
    ///
    /// # Errors
    /// `Transport` when the peer is gone.
    pub fn random(
        channel: &mut Channel,
        committer: &mut hcom::Committer,
        n: usize,
    ) -> Result<Committed> {
        let rows = committer.commit_random(channel, n)?;
        Ok(Commitments::new(committer.params(), rows))
    }

    /// Returns the committed value.
    pub fn value(&self, id: Id) -> Block {
        self.rows.values()[id as usize]
    }

    /// Changes the committed value and returns the correction, which the evaluator must receive.
    pub fn correct(&mut self, id: Id, value: Block) -> Block {
        let old = self.value(id);
        self.rows.set_value(id as usize, value);
        old ^ value
    }

    /// Begins an opening of sums.
    pub fn opening(&self, proof: OwnOpening) -> Opening<'_> {
        Opening { committed: self, proof }
    }

    /// Writes all commitments.
    ///
    /// # Errors
    /// `Store` when it cannot be written.
    pub fn save(&self, to: &mut Writer<'_>) -> Result<()> {
        (0..self.next()).try_for_each(|id| self.write(id, to))
    }

    /// Reads `n` commitments.
    ///
    /// # Errors
    /// `Store` when they cannot be read.
    pub fn load(from: &mut Reader<'_>, params: &hcom::Params, n: usize) -> Result<Committed> {
        let mut all = Committed::none(params);
        (0..n).try_for_each(|_| all.read(from).map(drop))?;
        Ok(all)
    }
}

/// Openings that are proved together.
pub(super) struct Opening<'a> {
    committed: &'a Committed,
    proof: OwnOpening,
}

impl<'a> Opening<'a> {
    /// Returns the commitments of which sums are opened.
    pub fn committed(&self) -> &'a Committed {
        self.committed
    }

    /// Opens the sum of some commitments and returns it. The caller must send it unless the
    /// evaluator knows it.
    pub fn open(&mut self, ids: impl IntoIterator<Item = Id>) -> Block {
        let (mut sum, values) = (Block::ZERO, self.committed.rows.values());
        let which = ids.into_iter().map(|id| {
            sum ^= values[id as usize];
            id as usize
        });
        self.proof.add_sum(&self.committed.rows, which);
        sum
    }

    /// Opens each commitment of a range and returns the committed values.
    pub fn open_all(&mut self, ids: Range<Id>) -> &'a [Block] {
        let ids = ids.start as usize..ids.end as usize;
        let rows = &self.committed.rows;
        self.proof.add_range(rows, ids.clone());
        &rows.values()[ids]
    }

    /// Proves everything that was opened.
    ///
    /// # Errors
    /// `Transport` when the peer is gone.
    pub fn prove(self, channel: &mut Channel) -> Result<()> {
        self.proof.finish(channel)
    }
}

impl Received {
    /// Receives commitments to `n` random strings.
    ///
    /// # Errors
    /// `PeerMisbehaved` when they are not consistent; `Transport` when the peer is gone.
    pub fn random(
        channel: &mut Channel,
        receiver: &mut hcom::Receiver,
        n: usize,
    ) -> Result<Received> {
        let rows = receiver.commit_random(channel, n)?;
        Ok(Commitments::new(receiver.params(), hcom::Committed::to_zeros(rows)))
    }

    /// Records a correction.
    pub fn correct(&mut self, id: Id, correction: Block) {
        let known = self.rows.values()[id as usize];
        self.rows.set_value(id as usize, known ^ correction);
    }

    /// Begins to record what is opened.
    pub fn claims(&self, check: TheirOpening) -> Claims<'_> {
        Claims { received: self, check }
    }

    /// Writes all commitments: the rows, then the corrections.
    ///
    /// # Errors
    /// `Store` when it cannot be written.
    pub fn save(&self, to: &mut Writer<'_>) -> Result<()> {
        let mut record = Zeroizing::new(Vec::with_capacity(self.bytes()));
        for id in 0..self.rows.len() {
            record.clear();
            self.rows.rows().write_record(id, &mut record);
            to.bytes(&record)?;
        }
        to.list(self.rows.values())
    }

    /// Reads `n` commitments.
    ///
    /// # Errors
    /// `Store` when they cannot be read.
    pub fn load(from: &mut Reader<'_>, params: &hcom::Params, n: usize) -> Result<Received> {
        let mut rows = hcom::Commitments::new(params);
        for _ in 0..n {
            let record = from.list(hcom::Commitments::record_bytes(params))?;
            rows.push_record(&Zeroizing::new(record));
        }
        let mut all = Received::new(params, hcom::Committed::to_zeros(rows));
        let corrections: Zeroizing<Vec<Block>> = Zeroizing::new(from.list(n)?);
        (0..).zip(corrections.iter()).for_each(|(id, &correction)| all.correct(id, correction));
        Ok(all)
    }
}

/// What the garbler claims to have opened.
pub(super) struct Claims<'a> {
    received: &'a Received,
    check: TheirOpening,
}

impl Claims<'_> {
    /// Returns the commitments of which sums are claimed.
    pub fn received(&self) -> &Received {
        self.received
    }

    /// Records the garbler's claim that the sum of some commitments is `value`.
    pub fn claim(&mut self, ids: impl IntoIterator<Item = Id, IntoIter: Clone>, value: Block) {
        let (ids, corrections) = (ids.into_iter(), self.received.rows.values());
        let random = ids.clone().fold(value, |sum, id| sum ^ corrections[id as usize]);
        self.check.add_sum(self.received.rows.rows(), ids.map(|id| id as usize), random);
    }

    /// Ends the claims without a check, and returns the opening of which they are part.
    pub fn into_opening(self) -> TheirOpening {
        self.check
    }

    /// Checks all claims against a proof that was received earlier.
    ///
    /// # Errors
    /// `PeerMisbehaved` when one of them is wrong.
    pub fn check_against(self, proof: &Proof) -> Result<()> {
        self.check.check(proof)
    }

    /// Receives the proof and checks all claims.
    ///
    /// # Errors
    /// `PeerMisbehaved` when one of them is wrong; `Transport` when the peer is gone.
    pub fn check(self, channel: &mut Channel) -> Result<Checked> {
        self.check.finish(channel).map(|()| Checked(()))
    }
}

/// Evidence that all claims were right. Nothing is computed from claims and released without it.
pub(super) struct Checked(());

/// Sends blocks, in messages small enough to be received.
pub(super) fn send_blocks(channel: &mut Channel, kind: Message, blocks: &[Block]) -> Result<()> {
    blocks.chunks(PIECE).try_for_each(|piece| channel.send(kind, Block::as_bytes(piece)))
}

/// Receives `n` blocks.
pub(super) fn receive_blocks(channel: &mut Channel, kind: Message, n: usize) -> Result<Vec<Block>> {
    let mut blocks = vec![Block::ZERO; n];
    receive_blocks_into(channel, kind, &mut blocks)?;
    Ok(blocks)
}

/// Receives as many blocks as `blocks` has room for.
pub(super) fn receive_blocks_into(
    channel: &mut Channel,
    kind: Message,
    blocks: &mut [Block],
) -> Result<()> {
    let mut pieces = blocks.chunks_mut(PIECE);
    pieces.try_for_each(|piece| channel.recv_into(kind, Block::as_bytes_mut(piece)))
}
