//! Complete sessions, including base OTs, as users open them.

use symbolon_preprocessing::bucketing::Batch;
use symbolon_preprocessing::{
    AuthShares, Config, OtExtension, PeerIndex, Preprocessor, Triples, checks,
};
use symbolon_primitives::Block;
use symbolon_transport::{Error, PartyId, Result, SessionId};

use crate::mesh::{self, Lanes, assert_caught, state};

const SESSION: SessionId = SessionId([4; 32]);

/// The party whose Δ makes the last bits of all sum to 1.
const EVALUATOR: PartyId = PartyId::new(0);

fn set_up(lanes: &mut Lanes) -> Result<Preprocessor> {
    Preprocessor::set_up(
        lanes,
        &SESSION,
        Config { rho: 40, evaluator: EVALUATOR, ot_extension: OtExtension::default() },
    )
}

/// The results of one party: Δ, shares and triples.
type Made = (Block, AuthShares, Triples);

fn make(lanes: &mut Lanes) -> Result<Made> {
    let mut open = set_up(lanes)?;
    let batch = open.plan(10)[0];
    let triples = open.triples(lanes, batch)?;
    assert!(triples.len() >= 10);
    Ok((**open.delta(), open.shares(lanes, 9)?, triples))
}

fn assert_shared(all: &[Made], which: impl Fn(&Made) -> &AuthShares) {
    for (i, own) in all.iter().enumerate() {
        for (j, peer) in all.iter().enumerate().filter(|(j, _)| *j != i) {
            let index = |peer: usize, of: usize| PeerIndex::of(peer as u16, of as u16);
            assert_eq!(which(own).len(), which(peer).len());
            for k in 0..which(own).len() {
                let mine = which(own).pair(k, index(j, i));
                let theirs = which(peer).pair(k, index(i, j));
                assert!(mine.mac == theirs.key.mac_of(mine.bit, peer.0));
            }
        }
    }
}

#[test]
fn a_session_from_nothing_makes_right_shares_and_triples() {
    for (n, lanes) in [(2, 2), (3, 1), (3, 2), (5, 1)] {
        let all: Vec<Made> =
            mesh::run(mesh::mesh(n, lanes), make).into_iter().map(Result::unwrap).collect();
        for (party, (delta, ..)) in (0..n).zip(&all) {
            let last = party != EVALUATOR || n % 2 == 1;
            assert_eq!(delta.lsb(), last, "leaky ANDs need the sum of all to be 1");
        }
        let lists: [fn(&Made) -> &AuthShares; 4] = [|m| &m.1, |m| &m.2.a, |m| &m.2.b, |m| &m.2.c];
        lists.into_iter().for_each(|which| assert_shared(&all, which));
        for k in 0..all[0].2.len() {
            let value = |which: fn(&Triples) -> &AuthShares| {
                all.iter().fold(false, |sum, made| sum ^ which(&made.2).bits.get(k))
            };
            assert_eq!(value(|t| &t.c), value(|t| &t.a) & value(|t| &t.b), "triple {k}");
        }
    }
}

#[test]
fn a_session_without_lanes_or_peers_is_refused() {
    for mut lanes in [Vec::new(), vec![Vec::new()]] {
        assert!(matches!(set_up(&mut lanes), Err(Error::InvalidInput(_))));
    }
}

#[test]
fn only_the_offered_rho_are_accepted() {
    for rho in [0, 1, 39, 41, 63, 65, 79, 81, 126, 127, 128, u32::MAX] {
        let mut parties = mesh::mesh(2, 1);
        let ot_extension = OtExtension::default();
        let config = Config { rho, evaluator: EVALUATOR, ot_extension };
        let refused = Preprocessor::set_up(&mut parties[0], &SESSION, config);
        assert!(matches!(refused, Err(Error::InvalidInput(_))), "{rho}");
    }
    for rho in [40, 64, 80] {
        let ended = mesh::run(mesh::mesh(2, 1), |lanes| {
            let ot_extension = OtExtension::default();
            let config = Config { rho, evaluator: EVALUATOR, ot_extension };
            Preprocessor::set_up(lanes, &SESSION, config).map(drop)
        });
        assert!(ended.iter().all(Result::is_ok), "{rho}");
    }
}

/// Neither too few triples nor too small buckets are accepted from a caller.
#[test]
fn batches_below_the_bound_are_refused() {
    let ended = mesh::run(mesh::mesh(2, 1), |lanes| {
        let mut open = set_up(lanes)?;
        let fit = open.plan(10)[0];
        let batches = [
            Batch { triples: 7, ..fit },
            Batch { bucket: fit.bucket - 1, ..fit },
            Batch { bucket: 1, ..fit },
            Batch { bucket: 0, ..fit },
        ];
        for batch in batches {
            assert!(matches!(open.triples(lanes, batch), Err(Error::InvalidInput(_))), "{batch:?}");
        }
        // Nothing was sent, and a batch that is large enough still works.
        open.triples(lanes, fit).map(|triples| assert_eq!(triples.len(), fit.triples))
    });
    ended.into_iter().for_each(|party| party.unwrap());
}

/// Fig. 5: a different Δ towards one peer than towards the others, in any bit, by any party. The
/// check of the global keys always catches it.
#[test]
fn another_delta_towards_one_peer() {
    for n in [3, 5] {
        for (cheater, victim, byte) in [(0, 1, 0), (0, n - 1, 15), (n - 1, 0, 7), (1, 2, 1)] {
            let mut parties = mesh::mesh(n, 1);
            let other = state("set-up: delta", move |delta| delta[byte] ^= 0x10);
            mesh::cheat(&mut parties[cheater as usize], victim, other);
            let ended = mesh::run(parties, |lanes| set_up(lanes).map(drop));
            assert_caught(&ended, &[cheater], checks::GLOBAL_KEY);
        }
    }
}
