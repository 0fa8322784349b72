//! F_prep (YWZ20 Fig. 1), which is F_Pre (WRK17 Fig. 1) for two parties: authenticated bits, shares
//! and AND triples.

use symbolon_ot::{
    OtExtension,
    cot::{GlobalKey, MAX_DRAW},
    setup,
};
use symbolon_primitives::{BitVec, Block, Delta, Prg};
use symbolon_transport::{Channel, Error, PartyId, Result, SessionId};

use crate::{
    AuthBits, AuthShares, PeerAuth, Triples,
    aand::combine,
    abit::AuthBitGenerator,
    ashare_check, bucketing,
    laand::{
        self, BatchInputs, LaAndBatch, LaAndCheck, LaAndWorkspace, LeakyAndGenerator, Sampled,
        Width,
    },
    peers_of,
    shares::{lsb_of_delta, resize_for_overwrite},
    threads,
};

/// What the parties of a session have agreed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// Statistical security ρ, in bits.
    pub rho: u32,
    /// The party that evaluates what the others garble; its lsb(Δ) differs.
    pub evaluator: PartyId,
    /// Makes the correlated OTs.
    pub ot_extension: OtExtension,
}

/// One party's open session: its Δ, and correlated OT with every peer on every lane.
///
/// Channels are passed in as `lanes[l][p]`: lane l's channel to the peer with index p, peers in
/// ascending order. Every method is run by all parties at the same time with the same numbers.
/// After an error the session must be dropped, which wipes it: Δ and all that hangs on it are dead.
///
/// Paper: WRK17, Fig. 1 | F_Pre, which F_prep is for two parties
pub struct Preprocessor {
    session: SessionId,
    delta: Delta,
    rho: u32,
    lanes: Vec<LeakyAndGenerator>,
    /// Leaky triples in a chunk.
    chunk: usize,
    prg: Prg,
    batches: u64,
    /// Kept between batches: the first touch of new memory is slow.
    laand: LaAndWorkspace,
    buckets: combine::Scratch,
}

impl Preprocessor {
    /// Chooses Δ and runs the set-up of correlated OT with every peer.
    ///
    /// lsb(Δ) is 1 for every party but the evaluator, whose is n mod 2: leaky ANDs need the sum of
    /// all to be 1, garbling needs the garblers' to be 1.
    ///
    /// Paper: WRK17, Fig. 1, init | Δ
    ///
    /// # Errors
    /// `PeerMisbehaved` for a malformed base-OT message or a failed check; `Transport` when a
    /// peer is gone; `Internal` when the operating system gives no randomness.
    pub fn set_up(lanes: &mut [Vec<Channel>], session: &SessionId, config: Config) -> Result<Self> {
        let Config { rho, evaluator, ot_extension } = config;
        let mut prg = Prg::from_os().map_err(|e| Error::Internal(e.to_string()))?;
        let count = lanes.len();
        let first = lanes
            .first_mut()
            .filter(|peers| !peers.is_empty())
            .ok_or_else(|| Error::InvalidInput("a session needs a peer and a lane".into()))?;
        let (me, parties) = (first[0].me(), first.len() + 1);
        let delta = Delta::new(prg.block().with_lsb(lsb_of_delta(me, evaluator, parties)));
        // One set of verdicts for all peers: those in league may not collect them side by side.
        let key = GlobalKey::new(delta.clone());
        let of_peers =
            setup::with_all(first, session.as_bytes(), &key, count, ot_extension, &mut prg)?;
        let mut pairs: Vec<Vec<setup::Lane>> = (0..count).map(|_| Vec::new()).collect();
        for lanes in of_peers {
            for (lane, pair) in pairs.iter_mut().zip(lanes) {
                lane.push(pair);
            }
        }
        let lane = |(number, pairs): (usize, Vec<setup::Lane>)| {
            // Number 0 was the set-up's own draw.
            let bits = AuthBitGenerator::new(pairs, session, me, number as u64 + 1, &mut prg);
            LeakyAndGenerator::new(bits, session, me, number, prg.child())
        };
        let lanes_made: Vec<LeakyAndGenerator> = pairs.into_iter().enumerate().map(lane).collect();
        let mut open = Preprocessor {
            session: *session,
            delta,
            rho,
            lanes: lanes_made,
            chunk: laand::chunk(ot_extension),
            prg,
            batches: 0,
            laand: LaAndWorkspace::default(),
            buckets: combine::Scratch::default(),
        };
        if parties > 2 {
            let shares = open.shares(lanes, ashare_check::SHARES)?;
            ashare_check::check(&mut lanes[0], &shares, &open.delta, &open.session, &mut open.prg)?;
        }
        Ok(open)
    }

    /// This party's global key.
    pub fn delta(&self) -> &Delta {
        &self.delta
    }

    /// This party's generator of randomness.
    pub fn prg(&mut self) -> &mut Prg {
        &mut self.prg
    }

    /// Random bits known to one party each and authenticated towards all others: `counts[i]` of
    /// party i. Returns this party's bits, and the keys for each peer's.
    ///
    /// Paper: WRK17, Fig. 1, random | authenticated bits of one party, shares of both
    ///
    /// Paper: YWZ20, Fig. 1 | F_prep: aBit, aShare, aAND
    ///
    /// # Errors
    /// `PeerMisbehaved` when a peer's bits are inconsistent; `Transport` when it is gone.
    pub fn bits(
        &mut self,
        lanes: &mut [Vec<Channel>],
        counts: &[usize],
    ) -> Result<(AuthBits, Vec<Vec<Block>>)> {
        let AuthShares { bits, towards } = &mut self.draw(lanes, counts, AuthShares::default())?;
        let each = towards.iter_mut().map(std::mem::take);
        let (macs, keys) = each.map(|PeerAuth { macs, keys }| (macs, keys)).unzip();
        Ok((AuthBits { bits: std::mem::take(bits), macs }, keys))
    }

    /// The same, with MACs and keys in the memory of old shares: as many MACs as this party has
    /// bits, as many keys as the peer has.
    fn draw(
        &mut self,
        lanes: &mut [Vec<Channel>],
        counts: &[usize],
        mut memory: AuthShares,
    ) -> Result<AuthShares> {
        let (me, peers) = (lanes[0][0].me(), lanes[0].len());
        let mine = counts[me.index()];
        memory.bits = self.lanes[0].random_bits(mine);
        memory.towards.resize_with(peers, PeerAuth::default);
        let theirs = peers_of(me, counts.len()).map(|peer| counts[peer.index()]);
        for (PeerAuth { macs, keys }, theirs) in memory.towards.iter_mut().zip(theirs) {
            resize_for_overwrite(macs, mine);
            resize_for_overwrite(keys, theirs);
        }
        // A part for each lane, as long as there is more than a draw for it.
        let most = counts.iter().copied().max().unwrap_or(0);
        let size = most.div_ceil(lanes.len().min(most.div_ceil(MAX_DRAW)).max(1));
        let parts = DrawPart::split(&mut memory, lanes.len(), size);
        let work = self.lanes.iter_mut().zip(&mut *lanes).zip(parts);
        let ended = threads::each(work.filter(|(_, part)| !part.is_empty()), |work| {
            let ((lane, channels), mut part) = work;
            lane.bits().draw(channels, &part.bits, &mut part.macs, &mut part.keys)
        })?;
        threads::first_failure(ended)?;
        laand::confirm_logs(&self.lanes, &mut lanes[0])?;
        Ok(memory)
    }

    /// `n` authenticated shares of random bits that nobody knows.
    ///
    /// Paper: WRK17, Fig. 1, random
    ///
    /// Paper: YWZ20, Fig. 1
    ///
    /// # Errors
    /// As [`bits`](Preprocessor::bits).
    pub fn shares(&mut self, lanes: &mut [Vec<Channel>], n: usize) -> Result<AuthShares> {
        self.shares_in(lanes, n, AuthShares::default())
    }

    /// The same in the memory of shares that are used up, which spares it the first touch.
    ///
    /// # Errors
    /// As [`bits`](Preprocessor::bits).
    pub fn shares_in(
        &mut self,
        lanes: &mut [Vec<Channel>],
        n: usize,
        memory: AuthShares,
    ) -> Result<AuthShares> {
        let parties = lanes[0].len() + 1;
        self.draw(lanes, &vec![n; parties], memory)
    }

    /// The batches in which `n` triples are made.
    pub fn plan(&self, n: usize) -> Vec<bucketing::Batch> {
        bucketing::plan(n, self.rho, self.lanes[0].peers())
    }

    /// Makes one batch of triples, on all lanes.
    ///
    /// Paper: WRK17, Fig. 1, AND | triples on fresh shares, or on a given factor
    ///
    /// Paper: YWZ20, Fig. 1
    ///
    /// # Errors
    /// `PeerMisbehaved` when a check fails; `Transport` when a peer is gone.
    pub fn triples(
        &mut self,
        lanes: &mut [Vec<Channel>],
        batch: bucketing::Batch,
    ) -> Result<Triples> {
        self.make(lanes, batch, None, None)
    }

    /// The batches in which `n` triples on given y are made.
    pub fn plan_on(&self, n: usize) -> Vec<bucketing::Batch> {
        bucketing::plan_anchored(n, self.rho, self.lanes[0].peers())
    }

    /// Makes one batch of [`plan_on`](Preprocessor::plan_on): triples whose y are
    /// the shares `b`, as many as the batch has triples; they come back as part of them. Shares
    /// of zero fill a batch up. The products are added to the shares `onto`, if there are such, as
    /// many again: c ⊕ `onto` comes back in their memory.
    ///
    /// Paper: WRK17, Fig. 1, AND
    ///
    /// # Errors
    /// As [`triples`](Preprocessor::triples); `InvalidInput` when `b` or `onto` does not fit the
    /// batch.
    pub fn triples_on(
        &mut self,
        lanes: &mut [Vec<Channel>],
        batch: bucketing::Batch,
        b: AuthShares,
        onto: Option<AuthShares>,
    ) -> Result<Triples> {
        let fits = |shares: &AuthShares| shares.len() == batch.triples;
        if !batch.anchored || !fits(&b) || !onto.as_ref().is_none_or(fits) {
            return Err(Error::InvalidInput("the shares do not fit the batch of triples".into()));
        }
        self.make(lanes, batch, Some(b), onto)
    }

    /// Takes back triples that are used up: the next batch is written over them, which spares it
    /// the first touch of its memory. Only worth a call where batches come one after another; the
    /// last ones given back are kept.
    pub fn recycle(&mut self, triples: Triples) {
        self.buckets.recycle(triples);
    }

    fn make(
        &mut self,
        lanes: &mut [Vec<Channel>],
        batch: bucketing::Batch,
        given: Option<AuthShares>,
        onto: Option<AuthShares>,
    ) -> Result<Triples> {
        if batch.triples == 0 {
            return Ok(Triples::default());
        }
        let peers = lanes[0].len();
        let inputs = BatchInputs { y: given.is_some(), onto: onto.is_some() };
        let output = self.buckets.room((batch, peers), given, onto);
        let width = Width::for_rho(self.rho);
        let of = LaAndBatch { batch, peers, width, chunk: self.chunk, inputs };
        let sampled = Sampled::sample(&mut self.laand, output, of, &mut self.lanes, lanes)?;
        let threads = lanes.len().min(batch.leaky().div_ceil(self.chunk));
        let channels = &mut lanes[0];
        let confirmed = sampled.confirm(&self.lanes, channels)?;
        let (session, delta, number) = (&self.session, &self.delta, self.batches);
        let zero_test = self.lanes[0].take_zero_test()?;
        let prg = &mut self.prg;
        let check = LaAndCheck { session, delta, batch: number, prg, threads, zero_test };
        let leaky = confirmed.check(channels, check)?;
        self.batches += 1;
        let combine = combine::Combine { leaky, session, number, delta, threads };
        combine.run(channels, &mut self.prg)
    }
}

/// A lane's part of a draw: own bits with MACs for each peer, and keys for each peer's bits.
struct DrawPart<'a> {
    bits: BitVec,
    macs: Vec<&'a mut [Block]>,
    keys: Vec<&'a mut [Block]>,
}

impl<'a> DrawPart<'a> {
    /// Parts of at most `size` bits of each party.
    fn split(
        AuthShares { bits, towards }: &'a mut AuthShares,
        parts: usize,
        size: usize,
    ) -> Vec<Self> {
        let range = |part: usize, of: usize| (part * size).min(of)..((part + 1) * size).min(of);
        let part = |part| DrawPart {
            bits: bits.slice(range(part, bits.len())),
            macs: Vec::new(),
            keys: Vec::new(),
        };
        let mut all: Vec<DrawPart<'_>> = (0..parts).map(part).collect();
        for PeerAuth { macs, keys } in towards {
            let mut rest = [&mut macs[..], &mut keys[..]];
            for part in &mut all {
                let [macs, keys] = rest.map(|rest| rest.split_at_mut(size.min(rest.len())));
                part.macs.push(macs.0);
                part.keys.push(keys.0);
                rest = [macs.1, keys.1];
            }
        }
        all
    }

    fn is_empty(&self) -> bool {
        self.bits.is_empty() && self.keys.iter().all(|keys| keys.is_empty())
    }
}

#[cfg(test)]
mod tests;
