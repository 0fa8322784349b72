use symbolon_primitives::{BitVec, Prg};
use symbolon_transport::{Meter, memory_pair};

use super::*;

const SESSION: [u8; 32] = [9; 32];

/// Returns provers and verifiers of some lanes, from known seeds, and Δ's words.
fn lanes(params: &Params, lanes: usize, seed: u128) -> (Vec<Prover>, Vec<Verifier>, Vec<u64>) {
    let mut prg = Prg::from_seed(Block(seed));
    let parties = VoleParties { session: &SESSION, prover: 0.into(), verifier: 1.into() };
    let pairs: Vec<[Block; 2]> =
        (0..params.columns()).map(|_| [prg.block(), prg.block()]).collect();
    let delta = BitVec::random(params.columns(), &mut prg);
    let chosen: Vec<Block> =
        pairs.iter().enumerate().map(|(i, pair)| pair[usize::from(delta.get(i))]).collect();
    let (provers, message) = build_provers(parties, params, &pairs, lanes).unwrap();
    let verifiers = build_verifiers(parties, params, (&delta, &chosen), &message, lanes).unwrap();
    let mut words = delta.words().to_vec();
    words.resize(params.row_words(), 0);
    (provers, verifiers, words)
}

fn channels() -> (Channel, Channel) {
    memory_pair(Meter::new(), Meter::new())
}

/// Performs one draw of `n` rows. Returns the strings and the rows of V and W.
fn draw(
    (prover, verifier): (&mut Prover, &mut Verifier),
    (a, b): &mut (Channel, Channel),
    n: usize,
) -> (Vec<Block>, Vec<u64>, Vec<u64>) {
    let words = n * prover.params().row_words();
    let (mut values, mut v, mut w) = (vec![Block::ZERO; n], vec![0; words], vec![0; words]);
    prover.draw(a, &mut values, &mut v).unwrap();
    a.flush().unwrap();
    verifier.draw(b, n, &mut w).unwrap();
    (values, v, w)
}

/// Checks bit by bit that the k bits of W at place i are V_i ⊕ (u·G)_i·Δ_i.
#[test]
fn rows_are_codewords_times_delta() {
    for k in FieldBits::ALL {
        for rho in [3, 40, 80] {
            let params = Params::new(k, rho).unwrap();
            let (mut provers, mut verifiers, delta) = lanes(&params, 2, 1);
            let (words, k) = (params.row_words(), k.bits());
            let mut channels = channels();
            let mut seen = std::collections::HashSet::new();
            for (lane, n) in [(0, 1), (1, 300), (0, 128), (0, 640), (1, 5)] {
                let sides = (&mut provers[lane], &mut verifiers[lane]);
                let (values, v, w) = draw(sides, &mut channels, n);
                for (i, value) in values.iter().enumerate() {
                    assert!(seen.insert(value.0), "a string twice");
                    let (v, w) = (&v[i * words..][..words], &w[i * words..][..words]);
                    for column in 0..64 * words {
                        let bit = |words: &[u64]| words[column / 64] >> (column % 64) & 1;
                        let word = if column >= params.columns() {
                            0
                        } else if column / k < DIMENSION {
                            value.0 >> (column / k) & 1
                        } else {
                            let sum = params.code().sums()[column / k - DIMENSION];
                            u128::from((*value & sum).0.count_ones() & 1)
                        };
                        assert_eq!(bit(w), bit(v) ^ bit(&delta) & word as u64);
                    }
                    let mut row = w.to_vec();
                    verifiers[0].key().add_public(*value, &mut row);
                    assert_eq!(row, v);
                }
            }
        }
    }
}

/// Parameters whose rows are too long are refused.
#[test]
fn there_are_no_parameters_for_rows_that_are_too_long() {
    Params::new(FieldBits::Four, 80).unwrap();
    for rho in [0, 153, 320] {
        assert!(Params::new(FieldBits::Four, rho).is_err(), "{rho}");
    }
}

#[test]
fn bytes_are_those_of_the_formula() {
    for (k, per_string) in [(FieldBits::One, 17.1), (FieldBits::Two, 8.9), (FieldBits::Four, 4.3)] {
        let params = Params::new(k, 40).unwrap();
        let (mut provers, mut verifiers, _) = lanes(&params, 1, 2);
        for n in [1, 1_000, MAX_DRAW] {
            let mut channels = channels();
            draw((&mut provers[0], &mut verifiers[0]), &mut channels, n);
            let sent = channels.0.meter().report()[0].clone();
            let sent = sent.bytes_sent as usize - 8 * sent.messages_sent as usize;
            assert_eq!(sent, params.draw_bytes(n));
            assert!(n < MAX_DRAW || (sent as f64) < per_string * n as f64, "{k:?}: {sent}");
        }
    }
}

#[test]
fn codes_and_losses() {
    for (k, rho, code, row_words) in [
        (FieldBits::One, 40, (262, 40), 5),
        (FieldBits::Two, 40, (197, 20), 7),
        (FieldBits::Four, 40, (161, 10), 11),
        (FieldBits::One, 64, (390, 64), 7),
        (FieldBits::Two, 64, (245, 32), 8),
        (FieldBits::Four, 64, (185, 16), 12),
        (FieldBits::One, 80, (420, 80), 7),
        (FieldBits::Two, 80, (262, 40), 9),
        (FieldBits::Four, 80, (197, 20), 13),
    ] {
        let params = Params::new(k, rho).unwrap();
        assert_eq!((params.code().length(), params.code().distance()), code);
        assert_eq!(params.row_words(), row_words);
        assert!(params.code().distance() * k.bits() >= rho as usize);
        let loss = chances(params.code(), k).log2() - 128.0 * params.hashes as f64;
        assert!((-256.0..=-128.0).contains(&loss), "{k:?} {loss}");
        assert_eq!(params.hashes, if k == FieldBits::One && rho > 40 { 3 } else { 2 });
    }
    for (k, rho) in [(FieldBits::One, 0), (FieldBits::One, 81), (FieldBits::Four, 321)] {
        assert!(matches!(Params::new(k, rho), Err(Error::InvalidInput(_))));
    }
}

#[test]
fn lengths_that_do_not_fit_are_refused() {
    let params = Params::new(FieldBits::Two, 40).unwrap();
    let (mut provers, mut verifiers, _) = lanes(&params, 1, 3);
    let (mut a, mut b) = channels();
    let refused = |result| assert!(matches!(result, Err(Error::InvalidInput(_))), "{result:?}");
    let mut values = vec![Block::ZERO; MAX_DRAW + 1];
    let mut rows = vec![0; (MAX_DRAW + 1) * params.row_words()];
    refused(provers[0].draw(&mut a, &mut values, &mut rows));
    refused(provers[0].draw(&mut a, &mut values[..2], &mut rows[..1]));
    refused(verifiers[0].draw(&mut b, MAX_DRAW + 1, &mut rows));
    refused(verifiers[0].draw(&mut b, 2, &mut rows[..1]));
    let parties = VoleParties { session: &SESSION, prover: 0.into(), verifier: 1.into() };
    let pairs = vec![[Block::ZERO; 2]; params.columns()];
    refused(build_provers(parties, &params, &pairs[1..], 1).map(drop));
    let (delta, chosen) = (BitVec::zeros(params.columns()), vec![Block::ZERO; params.columns()]);
    let message = build_provers(parties, &params, &pairs, 1).unwrap().1;
    refused(build_verifiers(parties, &params, (&delta, &chosen[1..]), &message, 1).map(drop));
    refused(build_verifiers(parties, &params, (&BitVec::zeros(5), &chosen), &message, 1).map(drop));
    refused(build_verifiers(parties, &params, (&delta, &chosen), &message[1..], 1).map(drop));
}

/// The challenge depends on the session, the parties, the lane and the code before any message is
/// sent.
#[test]
fn challenges_of_other_ends_are_others() {
    let of = |parties: VoleParties<'_>, params: &Params, lane| {
        coefficients(&mut parties.transcript(params, lane), &[7; DIGEST], 2, 64)
    };
    let parties = VoleParties { session: &SESSION, prover: 0.into(), verifier: 1.into() };
    let params = |k, rho| Params::new(k, rho).unwrap();
    let first = of(parties, &params(FieldBits::Two, 40), 1);
    assert_eq!(first, of(parties, &params(FieldBits::Two, 40), 1));
    assert_eq!(first[0][2..], [Block::ONE, Block::ZERO]);
    assert_eq!(first[1][2..], [Block::ZERO, Block::ONE]);
    for other in [
        of(VoleParties { session: &[8; 32], ..parties }, &params(FieldBits::Two, 40), 1),
        of(VoleParties { prover: 2.into(), ..parties }, &params(FieldBits::Two, 40), 1),
        of(VoleParties { verifier: 2.into(), ..parties }, &params(FieldBits::Two, 40), 1),
        of(parties, &params(FieldBits::Two, 40), 2),
        of(parties, &params(FieldBits::Four, 80), 1),
        of(parties, &params(FieldBits::Two, 64), 1),
    ] {
        assert_ne!(first[0][0], other[0][0]);
    }
    assert_ne!(first[0][0], first[1][0]);
}
