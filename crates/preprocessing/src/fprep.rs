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
    AuthBits, AuthShares, PeerAuth, PeerKeys, Triples,
    aand::combine,
    abit::AuthBitGenerator,
    ashare_check, bucketing,
    laand::{
        self, BatchInputs, LaAndBatch, LaAndCheck, LaAndWorkspace, LeakyAndGenerator, Sampled,
        ULength,
    },
    peers_of,
    shares::{lsb_of_delta, resize_for_overwrite},
    threads,
};

/// The parameters on which the parties of a session agree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// The statistical security parameter ρ, in bits: 40, 64 or 80.
    pub rho: u32,
    /// The party that evaluates what the others garble. The last bit of its Δ is n mod 2; all
    /// others' are 1.
    pub evaluator: PartyId,
    /// The extension that makes the correlated OTs.
    pub ot_extension: OtExtension,
}

/// When the parties compare the broadcasts of a draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Broadcasts {
    /// At its end.
    Compared,
    /// With those of triples, which must be the next step: before that nothing is sent that relies
    /// on them (`docs/proofs/leaky-ands.md#u-before-the-echo`).
    LeftToTriples,
}

/// The values of ρ that the protocols offer. Buckets, MACs and widths are meant for these.
const RHOS: [u32; 3] = [40, 64, 80];

/// One party's open session: its Δ, and correlated OT with every peer on every lane.
///
/// Channels are passed as `lanes[l][p]`: lane l's channel to the peer with index p, peers in
/// ascending order. All parties must call every method at the same time with the same numbers.
/// After an error every further step is refused, because a cheater could guess again under the same
/// Δ. Then the session must be dropped, which wipes it: Δ and everything that depends on it are
/// dead. (A call with wrong arguments takes no step.)
///
/// Paper: WRK17, Fig. 1 | F_Pre, which F_prep is for two parties
pub struct Preprocessor {
    session: SessionId,
    delta: Delta,
    rho: u32,
    lanes: Vec<LeakyAndGenerator>,
    /// The number of leaky triples in a chunk.
    chunk: usize,
    prg: Prg,
    batches: u64,
    /// Kept between batches, because the first use of new memory is slow.
    laand: LaAndWorkspace,
    buckets: combine::Scratch,
    /// Whether a step failed.
    failed: bool,
}

impl Preprocessor {
    /// Chooses Δ and runs the set-up of correlated OT with every peer.
    ///
    /// lsb(Δ) is 1 for every party but the evaluator, whose lsb(Δ) is n mod 2: leaky ANDs need the
    /// sum of all to be 1, and garbling needs each garbler's to be 1.
    ///
    /// Paper: WRK17, Fig. 1, init | Δ
    ///
    /// # Errors
    /// `InvalidInput` for another ρ than 40, 64 and 80; `PeerMisbehaved` for a malformed base-OT
    /// message or a failed check; `Transport` if a connection is lost; `Internal` if the operating
    /// system gives no randomness.
    pub fn set_up(lanes: &mut [Vec<Channel>], session: &SessionId, config: Config) -> Result<Self> {
        let Config { rho, evaluator, ot_extension } = config;
        if !RHOS.contains(&rho) {
            return Err(Error::InvalidInput(format!("ρ is {rho}, not 40, 64 or 80")));
        }
        let mut prg = Prg::from_os().map_err(|e| Error::Internal(e.to_string()))?;
        let count = lanes.len();
        let first = lanes
            .first_mut()
            .filter(|peers| !peers.is_empty())
            .ok_or_else(|| Error::InvalidInput("a session needs a peer and a lane".into()))?;
        let (me, parties) = (first[0].me(), first.len() + 1);
        let delta = Delta::new(prg.block().with_lsb(lsb_of_delta(me, evaluator, parties)));
        // All peers share one set of verdicts, so that colluding peers cannot collect verdicts in
        // parallel.
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
            chunk: laand::chunk(ot_extension, parties - 1),
            prg,
            batches: 0,
            laand: LaAndWorkspace::default(),
            buckets: combine::Scratch::default(),
            failed: false,
        };
        if parties > 2 {
            let shares = open.shares(lanes, ashare_check::SHARES)?;
            ashare_check::check(&mut lanes[0], &shares, &open.delta, &open.session, &mut open.prg)?;
        }
        Ok(open)
    }

    /// Returns this party's global key.
    pub fn delta(&self) -> &Delta {
        &self.delta
    }

    /// Returns this party's generator of randomness.
    pub fn prg(&mut self) -> &mut Prg {
        &mut self.prg
    }

    /// Draws random bits, each known to one party and authenticated towards all others: `counts[i]`
    /// bits of party i. Returns this party's bits, and the keys for each peer's bits.
    ///
    /// Paper: WRK17, Fig. 1, random | authenticated bits of one party, shares of both
    ///
    /// Paper: YWZ20, Fig. 1 | F_prep: aBit, aShare, aAND
    ///
    /// # Errors
    /// `PeerMisbehaved` if a peer's bits are inconsistent; `Transport` if a connection is lost;
    /// `InvalidInput` if an earlier step failed.
    pub fn bits(
        &mut self,
        lanes: &mut [Vec<Channel>],
        counts: &[usize],
    ) -> Result<(AuthBits, PeerKeys)> {
        let drawn = &mut self.run(|open| open.draw(lanes, counts, AuthShares::default()))?;
        let AuthShares { bits, towards } = drawn;
        let each = towards.iter_mut().map(std::mem::take);
        let (macs, keys) = each.map(|PeerAuth { macs, keys }| (macs, keys)).unzip();
        Ok((AuthBits { bits: std::mem::take(bits), macs }, PeerKeys::new(keys)))
    }

    /// Draws bits as [`bits`](Preprocessor::bits) and `n` shares as
    /// [`shares`](Preprocessor::shares), in one draw: all are random bits, so one check covers
    /// both, and they take one trip over the link instead of two.
    ///
    /// # Errors
    /// As [`bits`](Preprocessor::bits).
    pub fn bits_and_shares(
        &mut self,
        lanes: &mut [Vec<Channel>],
        (counts, n): (&[usize], usize),
        broadcasts: Broadcasts,
    ) -> Result<(AuthBits, PeerKeys, AuthShares)> {
        let all: Vec<usize> = counts.iter().map(|count| count + n).collect();
        let mut shares = self.run(|open| match broadcasts {
            Broadcasts::Compared => open.draw(lanes, &all, AuthShares::default()),
            Broadcasts::LeftToTriples => open.draw_unconfirmed(lanes, &all, AuthShares::default()),
        })?;
        let (mine, drawn) = (shares.len() - n, shares.len());
        let bits = shares.bits.slice(0..mine);
        shares.bits = shares.bits.slice(mine..drawn);
        // What the others keep behind their end is wiped with them.
        let first = |list: &mut Vec<Block>| {
            let len = list.len() - n;
            list.drain(..len).collect::<Vec<_>>()
        };
        let each = shares.towards.iter_mut();
        let (macs, keys) = each.map(|PeerAuth { macs, keys }| (first(macs), first(keys))).unzip();
        Ok((AuthBits { bits, macs }, PeerKeys::new(keys), shares))
    }

    /// Takes a step, unless an earlier one failed.
    fn run<T>(&mut self, step: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if self.failed {
            let text = "the preprocessing failed before and must be set up afresh";
            return Err(Error::InvalidInput(text.into()));
        }
        let done = step(self);
        self.failed = done.is_err();
        done
    }

    /// Does the work of [`bits`](Preprocessor::bits), with MACs and keys in the memory of old
    /// shares: as many MACs as this party has bits, as many keys as the peer has.
    fn draw(
        &mut self,
        lanes: &mut [Vec<Channel>],
        counts: &[usize],
        memory: AuthShares,
    ) -> Result<AuthShares> {
        let drawn = self.draw_unconfirmed(lanes, counts, memory)?;
        laand::confirm_logs(&self.lanes, &mut lanes[0])?;
        Ok(drawn)
    }

    /// Draws, without comparing the broadcasts.
    fn draw_unconfirmed(
        &mut self,
        lanes: &mut [Vec<Channel>],
        counts: &[usize],
        mut memory: AuthShares,
    ) -> Result<AuthShares> {
        let (me, peers) = (lanes[0][0].me(), lanes[0].len());
        let mine = counts[me.index()];
        memory.bits = BitVec::zeros(0);
        memory.towards.resize_with(peers, PeerAuth::default);
        let theirs = peers_of(me, counts.len()).map(|peer| counts[peer.index()]);
        for (PeerAuth { macs, keys }, theirs) in memory.towards.iter_mut().zip(theirs) {
            resize_for_overwrite(macs, mine);
            resize_for_overwrite(keys, theirs);
        }
        // One part per lane, as long as each lane has more than one draw.
        let most = counts.iter().copied().max().unwrap_or(0);
        let size = most.div_ceil(lanes.len().min(most.div_ceil(MAX_DRAW)).max(1));
        let mut parts = DrawPart::split(&mut memory.towards, mine, lanes.len(), size);
        let work = self.lanes.iter_mut().zip(&mut *lanes).zip(&mut parts);
        let ended = threads::each(work.filter(|(_, part)| !part.is_empty()), |work| {
            let ((lane, channels), part) = work;
            part.bits = lane.draw(channels, part.n, &mut part.macs, &mut part.keys)?;
            Ok(())
        })?;
        threads::first_failure(ended)?;
        parts.iter().for_each(|part| memory.bits.extend_from(&part.bits));
        Ok(memory)
    }

    /// Draws `n` authenticated shares of random bits that nobody knows.
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

    /// Like [`shares`](Preprocessor::shares), but reuses the memory of used shares, which avoids
    /// the cost of new memory.
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
        self.run(|open| open.draw(lanes, &vec![n; parties], memory))
    }

    /// Returns the batches in which `n` triples are made.
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
    /// `PeerMisbehaved` if a check fails; `Transport` if a connection is lost; `InvalidInput` if an
    /// earlier step failed, or the buckets are too small, which those of
    /// [`plan`](Preprocessor::plan) are not.
    pub fn triples(
        &mut self,
        lanes: &mut [Vec<Channel>],
        batch: bucketing::Batch,
    ) -> Result<Triples> {
        self.make(lanes, batch, None, None)
    }

    /// Returns the batches in which `n` triples on given y are made.
    pub fn plan_on(&self, n: usize) -> Vec<bucketing::Batch> {
        bucketing::plan_on(n, self.rho, self.lanes[0].peers())
    }

    /// Makes one batch of [`plan_on`](Preprocessor::plan_on): triples whose y are the shares `b`,
    /// one for each triple of the batch; the caller fills them up with shares of zero. They are
    /// returned as part of the triples. If shares `onto` are given, one for each triple, the
    /// products are added to them: c ⊕ `onto` is returned in their memory.
    ///
    /// Paper: WRK17, Fig. 1, AND
    ///
    /// # Errors
    /// As [`triples`](Preprocessor::triples); `InvalidInput` if `b` or `onto` does not fit the
    /// batch.
    pub fn triples_on(
        &mut self,
        lanes: &mut [Vec<Channel>],
        batch: bucketing::Batch,
        b: AuthShares,
        onto: Option<AuthShares>,
    ) -> Result<Triples> {
        let fits = |shares: &AuthShares| shares.len() == batch.triples;
        if !fits(&b) || !onto.as_ref().is_none_or(fits) {
            return Err(Error::InvalidInput("the shares do not fit the batch of triples".into()));
        }
        self.make(lanes, batch, Some(b), onto)
    }

    /// Takes back used triples. The next batch overwrites them, which avoids the cost of new
    /// memory. This is worth a call only if batches follow one another; only the triples given back
    /// last are kept.
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
        // This crate's own tests make smaller batches.
        #[cfg(not(test))]
        if !batch.reaches(self.rho) {
            let text = format!("{batch:?} does not reach 2^-{}", self.rho);
            return Err(Error::InvalidInput(text));
        }
        self.run(|open| {
            let peers = lanes[0].len();
            let inputs = BatchInputs { y: given.is_some(), onto: onto.is_some() };
            let output = open.buckets.room(batch, peers, given, onto);
            let length = ULength::for_rho(open.rho);
            let of = LaAndBatch { batch, peers, length, chunk: open.chunk, inputs };
            let sampled = Sampled::sample(&mut open.laand, output, of, &mut open.lanes, lanes)?;
            let threads = lanes.len().min(batch.leaky().div_ceil(open.chunk));
            let channels = &mut lanes[0];
            let confirmed = sampled.confirm(&open.lanes, channels)?;
            let (session, delta, number) = (&open.session, &open.delta, open.batches);
            let zero_test = open.lanes[0].take_zero_test()?;
            let prg = &mut open.prg;
            let check = LaAndCheck { session, delta, batch: number, prg, threads, zero_test };
            let leaky = confirmed.open(channels, check)?;
            open.batches += 1;
            let combine = combine::Combine { leaky, session, number, delta, threads };
            combine.run(channels)
        })
    }
}

/// A lane's part of a draw: own bits with MACs for each peer, and keys for each peer's bits.
struct DrawPart<'a> {
    n: usize,
    bits: BitVec,
    macs: Vec<&'a mut [Block]>,
    keys: Vec<&'a mut [Block]>,
}

impl<'a> DrawPart<'a> {
    /// Splits the memory of `mine` own bits, and of the peers' bits, into parts of at most `size`
    /// bits of each party.
    fn split(towards: &'a mut [PeerAuth], mine: usize, parts: usize, size: usize) -> Vec<Self> {
        let part = |part: usize| DrawPart {
            n: mine.saturating_sub(part * size).min(size),
            bits: BitVec::zeros(0),
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
        self.n == 0 && self.keys.iter().all(|keys| keys.is_empty())
    }
}

#[cfg(test)]
mod tests;
