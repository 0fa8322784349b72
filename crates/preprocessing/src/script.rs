//! What the function-independent phase sends and computes, step by step as `fprep`, `abit` and
//! `laand` do it on one lane.

use symbolon_ot::OtExtension;
use symbolon_ot::cot::{CHECK_BYTES, MAX_DRAW};
pub use symbolon_ot::script::silent_memory;
use symbolon_ot::script::{Stocks, correction_bytes, cot, set_up, silent_rows};
use symbolon_transport::PartyId;
use symbolon_transport::script::{Script, Unit};

use crate::abit;
use crate::ashare_check;
use crate::bucketing::Batch;
use crate::laand::{self, LOOKAHEAD, ULength, zero_test_bits};

/// The rest of a leaky AND with one peer.
const LEAKY_AND: Unit = Unit::new("leaky AND", 230.0);

/// The kinds of work here, besides those of OT.
pub const UNITS: &[Unit] = &[LEAKY_AND, BATCH];

/// What a batch of triples takes with one peer, however small it is.
const BATCH: Unit = Unit::new("batch of triples", 6e5);

/// The part of [`LEAKY_AND`] after the coin that assigns it to a bucket.
const BUCKETS: f64 = 0.4;

/// The parameters of a session, and what a party has left of its correlated OTs.
#[derive(Clone, Debug)]
pub struct Terms {
    rho: u32,
    ot: OtExtension,
    stocks: Stocks,
}

impl Terms {
    /// Returns the terms before the set-up: ρ, the extension that makes correlated OTs, and the
    /// number of parties.
    pub fn new(rho: u32, ot: OtExtension, parties: u16) -> Terms {
        Terms { rho, ot, stocks: Stocks::new(parties) }
    }

    fn silent(&self) -> bool {
        self.ot == OtExtension::Ferret
    }

    /// Adds the expansions before draws of these sizes, if there are any.
    fn supply(
        &mut self,
        script: &mut Script,
        own: impl Iterator<Item = usize>,
        theirs: impl Fn(PartyId) -> Vec<usize>,
    ) {
        if self.silent() {
            let parties = script.parties().into();
            let rows = |draws: Vec<usize>| draws.iter().map(|n| silent_rows(parties, *n)).sum();
            self.stocks.supply(script, rows(own.collect()), |peer| rows(theirs(peer)));
        }
    }

    /// Adds the set-up of F_prep.
    pub fn set_up(&mut self, script: &mut Script) {
        set_up(script, self.ot);
        if script.parties() > 2 {
            self.bits(script, &vec![ashare_check::SHARES; usize::from(script.parties())]);
            script.exchange(16);
            script.exchange(16);
            echo(script);
            self.commit_and_open(script, 16 * u64::from(script.parties()));
        }
    }

    /// Adds this party's half of one draw of authenticated bits with all peers.
    fn draw_own(&mut self, script: &mut Script, n: usize) {
        let peers = u64::from(script.parties()) - 1;
        if self.silent() {
            let peers: Vec<PartyId> = script.peers().collect();
            peers.into_iter().for_each(|peer| self.stocks.take_own(script, peer, n));
            if script.parties() == 2 {
                return;
            }
        } else {
            script.work(cot(self.ot), (n as u64 * peers) as f64);
        }
        script.send_all(correction_bytes(self.ot, n));
        if peers > 1 {
            script.send_all(32 * (peers - 1));
        }
        script.send_all(CHECK_BYTES as u64);
    }

    /// Adds a peer's half.
    fn draw_from(&mut self, script: &mut Script, peer: PartyId, n: usize) {
        let messages = match script.parties() {
            2 if self.silent() => 0,
            2 => 2,
            _ => 3,
        };
        (0..messages).for_each(|_| script.receive(peer));
        if self.silent() {
            self.stocks.take_theirs(script, peer, n);
        } else {
            script.work(cot(self.ot), n as f64);
        }
    }

    fn draw_theirs(&mut self, script: &mut Script, n: usize) {
        script.peers().for_each(|peer| self.draw_from(script, peer, n));
    }

    /// Adds draws of this many authenticated bits of each party, and the echo of their broadcasts.
    pub fn bits(&mut self, script: &mut Script, counts: &[usize]) {
        self.bits_before_triples(script, counts);
        echo(script);
    }

    /// Adds the draws alone: the triples that follow have the echo.
    pub fn bits_before_triples(&mut self, script: &mut Script, counts: &[usize]) {
        let count = |party: PartyId| counts.get(party.index()).copied().unwrap_or(0);
        let draws = counts.iter().copied().max().unwrap_or(0).div_ceil(MAX_DRAW);
        let part = |n: usize, draw: usize| n.saturating_sub(draw * MAX_DRAW).min(MAX_DRAW);
        let parts = |n: usize| (0..n.div_ceil(MAX_DRAW)).map(move |draw| part(n, draw));
        let own = parts(count(script.me()));
        self.supply(script, own, |peer| parts(count(peer)).collect());
        for step in 0..draws + abit::AHEAD {
            let own = part(count(script.me()), step);
            if own > 0 {
                self.draw_own(script, own);
            }
            let Some(draw) = step.checked_sub(abit::AHEAD) else { continue };
            for peer in script.peers() {
                let theirs = part(count(peer), draw);
                if theirs > 0 {
                    self.draw_from(script, peer, theirs);
                }
            }
        }
    }

    /// Adds the making of a batch of triples, whose y are `given` or not.
    pub fn triples(&mut self, script: &mut Script, batch: Batch, given: bool) {
        let peers = usize::from(script.parties()) - 1;
        let (leaky, chunk) = (batch.leaky(), laand::chunk(self.ot, peers));
        let anchors = if given { batch.triples } else { 0 };
        let length = ULength::for_rho(self.rho);
        let [u, width] = [length.bytes(), length.width().bytes()].map(|bytes| bytes as u64);
        let test = zero_test_bits(length.width());
        let size = |number: usize| leaky.saturating_sub(number * chunk).min(chunk);
        let draw = |number: usize| {
            let given = anchors.saturating_sub(number * chunk).min(size(number));
            3 * size(number) - given
        };
        let (peers, chunks) = (peers as f64, leaky.div_ceil(chunk));
        script.work(BATCH, peers);
        let draws: Vec<usize> = std::iter::once(test).chain((0..chunks).map(draw)).collect();
        self.supply(script, draws.iter().copied(), |_| draws.clone());
        for step in 0..chunks + 2 * LOOKAHEAD {
            match step {
                0 => self.draw_own(script, test),
                LOOKAHEAD => {
                    self.draw_theirs(script, test);
                    script.send_all(width * test as u64);
                }
                _ if step == 2 * LOOKAHEAD => script.receive_all(),
                _ => {}
            }
            let sent = step.checked_sub(LOOKAHEAD).filter(|number| *number < chunks);
            if let Some(number) = sent {
                self.draw_theirs(script, draw(number));
            }
            if step < chunks {
                self.draw_own(script, draw(step));
            }
            if let Some(number) = sent {
                script.work(LEAKY_AND, (1.0 - BUCKETS) * size(number) as f64 * peers);
                script.send_all(u * size(number) as u64);
            }
            if step >= 2 * LOOKAHEAD {
                script.receive_all();
            }
        }
        echo(script);
        // d, and the seed of the coin.
        self.commit_and_open(script, (leaky as u64).div_ceil(8) + 32);
        script.work(LEAKY_AND, BUCKETS * leaky as f64 * peers);
        script.send_all(width);
        script.send_all((batch.shifted() as u64).div_ceil(8));
        script.receive_all();
        script.receive_all();
        script.send_all(16);
        script.send_all(32);
        script.receive_all();
        script.receive_all();
        echo(script);
        script.exchange(32 + 16);
    }

    /// Adds a commitment to a value, and its opening.
    pub fn commit_and_open(&self, script: &mut Script, value: u64) {
        script.exchange(32);
        echo(script);
        script.exchange(32 + value);
    }
}

/// Adds the comparison of broadcasts among more than two parties.
pub fn echo(script: &mut Script) {
    if script.parties() > 2 {
        script.exchange(32);
    }
}
