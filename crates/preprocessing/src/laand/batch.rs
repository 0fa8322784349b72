//! The states of a batch of leaky triples in Fig. 14: `Sampled`, `Confirmed`, `Opened`. Each step
//! consumes one state and returns the next, so no step can be omitted or repeated.

use symbolon_interaction::confirm_broadcasts;
use symbolon_primitives::{BitVec, Block, Challenge, Delta};
use symbolon_transport::{Channel, Error, Result};

use super::{LaAndBatch, LaAndCheck, LaAndWorkspace, LeakyAndGenerator, MaskedV, StreamShares};
use crate::{PeerIndex, Triples, bucketing::Batch, threads};

/// A batch after steps 1 to 4b: x, y, r and S of all triples, and this party's d. Other parties may
/// have received different broadcasts.
///
/// Paper: YWZ20, Fig. 14, 7 | z; the states of a batch
pub(crate) struct Sampled<'a> {
    memory: &'a mut LaAndWorkspace,
    of: LaAndBatch,
    /// Memory for the sums of the buckets, which contains the anchors.
    output: Triples,
}

impl<'a> Sampled<'a> {
    /// Runs steps 1 to 4b, one part on each lane. `output` has room for the batch's triples, and
    /// contains the shares that `of.inputs` declares as given.
    ///
    /// # Errors
    /// `PeerMisbehaved` if a peer's bits are inconsistent; `Transport` if a connection is lost.
    pub fn sample(
        memory: &'a mut LaAndWorkspace,
        mut output: Triples,
        of: LaAndBatch,
        generators: &mut [LeakyAndGenerator],
        lanes: &mut [Vec<Channel>],
    ) -> Result<Self> {
        memory.reset(&of);
        let mut parts = memory.split(&mut output, &of, lanes.len());
        let work = generators.iter_mut().zip(lanes).zip(&mut parts);
        let ended = threads::each(work, |((generator, channels), part)| {
            generator.generate(channels, part)
        })?;
        threads::first_failure(ended)?;
        let bits = parts.into_iter().map(|part| part.bits).collect();
        memory.set_bits(bits);
        if !of.inputs.y {
            output.b.bits = memory.y_bits(of.batch.triples);
        }
        Ok(Sampled { memory, of, output })
    }

    /// Compares the broadcasts of all lanes with all parties.
    ///
    /// # Errors
    /// `PeerMisbehaved` if a party received something else; `Transport` if a connection is lost.
    pub fn confirm(
        self,
        generators: &[LeakyAndGenerator],
        channels: &mut [Channel],
    ) -> Result<Confirmed<'a>> {
        confirm_logs(generators, channels)?;
        Ok(Confirmed(self))
    }
}

/// A sampled batch for which all parties received the same broadcasts, so d may be committed to.
///
/// Paper: YWZ20, Fig. 14, 7
pub(crate) struct Confirmed<'a>(Sampled<'a>);

impl<'a> Confirmed<'a> {
    /// Runs the rest of step 4: opens d, and tosses the coin of the check and of the buckets.
    ///
    /// # Errors
    /// `PeerMisbehaved` if a peer opens a value other than the committed one; `Transport` if a
    /// connection is lost.
    pub fn open<'c>(
        self,
        channels: &mut [Channel],
        mut by: LaAndCheck<'c>,
    ) -> Result<Opened<'a, 'c>> {
        let Confirmed(Sampled { memory, of, output }) = self;
        let d = memory.take_d();
        let (d, [of_check, of_buckets]) = by.open_d(channels, d)?;
        // ⟨z⟩ = ⟨r⟩ ⊕ d: party 0 flips its bit, and the others change their keys for it.
        let own = channels[0].me() == 0;
        let correction = if own { Delta::default() } else { by.delta.clone() };
        memory.open(d, own);
        let check = Some((by, of_check));
        Ok(Opened { memory, of, output, correction, check, buckets: Some(of_buckets) })
    }
}

/// A batch whose d are open. Everything about its triples is fixed, and the coin that assigns them
/// to buckets is known. Whether z = x ∧ y is not known yet: the sums of buckets may be used only
/// when the check has passed ([`Right`](super::Right)).
///
/// Paper: YWZ20, Fig. 14, 7
pub(crate) struct Opened<'a, 'c> {
    memory: &'a LaAndWorkspace,
    of: LaAndBatch,
    output: Triples,
    /// What is missing from a key for z where d is 1: Δ if the first peer is party 0, otherwise
    /// nothing.
    correction: Delta,
    /// The check, until it begins, and its coin.
    check: Option<(LaAndCheck<'c>, Challenge)>,
    /// The coin of the buckets, until it is taken.
    pub(crate) buckets: Option<Challenge>,
}

impl<'c> Opened<'_, 'c> {
    pub fn batch(&self) -> Batch {
        self.of.batch
    }

    /// Takes the coin that assigns the triples to buckets.
    ///
    /// # Errors
    /// `Internal` if it was taken before.
    pub fn take_buckets(&mut self) -> Result<Challenge> {
        self.buckets.take().ok_or_else(|| Error::internal("buckets were drawn before"))
    }

    /// Begins step 5: sends V of all triples, masked, with the next flush.
    ///
    /// # Errors
    /// `Transport` if a connection is lost; `Internal` if it began before.
    pub fn send_v(&mut self, channels: &mut [Channel]) -> Result<MaskedV<'c>> {
        let (check, coin) =
            self.check.take().ok_or_else(|| Error::internal("a check that began before"))?;
        let [.., d] = self.memory.bits();
        check.send_v(channels, (self.memory.s(), self.of.length), d, coin)
    }

    /// Takes the memory for the sums of the buckets, which contains the anchors.
    pub fn take_output(&mut self) -> Triples {
        std::mem::take(&mut self.output)
    }

    /// Returns MACs and keys of the triples in shifted streams. Keys for z still lack
    /// [`correction`](Opened::correction) where d is 1.
    pub fn streams(&self) -> &StreamShares {
        self.memory.streams()
    }

    /// Returns what must be added to the key for the z of `peer` where d is 1.
    pub fn correction(&self, peer: PeerIndex) -> Block {
        self.correction.select(peer.get() == 0)
    }

    /// Returns this party's bits of x, y and z of all triples, and d.
    pub fn bits(&self) -> &[BitVec; 4] {
        self.memory.bits()
    }
}

/// Compares the digests of all lanes' broadcast logs with all parties.
pub(crate) fn confirm_logs(
    generators: &[LeakyAndGenerator],
    channels: &mut [Channel],
) -> Result<()> {
    let digests: Vec<[u8; 32]> = generators.iter().map(LeakyAndGenerator::log_digest).collect();
    confirm_broadcasts(channels, blake3::hash(&digests.concat()).as_bytes())
}

#[cfg(test)]
impl Sampled<'_> {
    /// Returns this party's bits of x, y, r of a triple.
    pub(crate) fn own_bits(&self, triple: usize) -> [bool; 3] {
        self.memory.own_bits(triple)
    }

    /// Returns the low bits of S_i of a triple.
    pub(crate) fn s_of(&self, triple: usize) -> Block {
        match self.of.length.width() {
            super::Width::Half => {
                Block(bytemuck::cast_slice::<_, u64>(self.memory.s())[triple].into())
            }
            super::Width::Whole => self.memory.s()[triple],
        }
    }

    /// Returns MAC and key of a triple's x, y and r with `peer`. All bits of y must have been kept.
    pub(crate) fn auths_of(&self, triple: usize, peer: PeerIndex) -> [[Block; 2]; 3] {
        let Some(shifted) = triple.checked_sub(self.of.batch.triples) else {
            let Triples { a, b, c } = &self.output;
            return [a, b, c].map(|shares| {
                let share = shares.pair(triple, peer);
                [share.mac.0, share.key.0]
            });
        };
        let streams = self.memory.streams();
        let [x_mac, x_key, z_mac, z_key] = streams.rows(peer.get()).map(|row| row[shifted]);
        [[x_mac, x_key], streams.y().get(shifted, peer.get()), [z_mac, z_key]]
    }
}
