//! Commitments between honest parties.
#![allow(missing_docs)]

mod common;

use common::{SESSION, Session, add_all, channels, open, params, payload_sent, prg, receive};
use symbolon_cutchoose::hcom::{
    Commitments, Committed, Committer, FieldBits, OwnLater, PROOF_BYTES, Receiver, TheirLater,
    random_bytes,
};
use symbolon_ot::cot::GlobalKey;
use symbolon_ot::{OtExtension, setup};
use symbolon_primitives::{Block, Delta};
use symbolon_transport::{Channel, Error};

const RHOS: [u32; 3] = [40, 64, 80];

#[test]
fn commitments_open_to_what_was_committed_to() {
    for k in FieldBits::ALL {
        for rho in RHOS {
            let params = params(k, rho);
            let mut session = Session::new(&params, 1);
            for n in [0, 1, 127, 1_000] {
                let (committed, commitments) = session.random(n).unwrap();
                assert_eq!(committed.len(), n);
                let values = session.open(&committed, &commitments).unwrap();
                assert_eq!(values, committed.values());
                session.prove(&committed, &commitments, &values).unwrap();
            }
        }
    }
}

#[test]
fn xors_open_to_xors() {
    let mut choose = prg(3);
    for k in FieldBits::ALL {
        let params = params(k, 40);
        let mut session = Session::new(&params, 2);
        let (a, a_theirs) = session.random(200).unwrap();
        let (b, b_theirs) = session.random(2).unwrap();
        let (mut xors, mut xors_theirs) = (Committed::new(&params), Commitments::new(&params));
        let mut expected = Vec::new();
        for parts in 0..50 {
            let picked: Vec<usize> = (0..parts).map(|_| choose.below(200) as usize).collect();
            let mut own: Vec<(&Committed, usize)> = picked.iter().map(|i| (&a, *i)).collect();
            let mut theirs: Vec<(&Commitments, usize)> =
                picked.iter().map(|i| (&a_theirs, *i)).collect();
            own.push((&b, parts % 2));
            theirs.push((&b_theirs, parts % 2));
            xors.push_xor(&own);
            xors_theirs.push_xor(&theirs);
            expected.push(own.iter().fold(Block::ZERO, |sum, (list, i)| sum ^ list.values()[*i]));
        }
        // The XOR of nothing, and of a commitment with itself, is 0.
        xors.push_xor(&[]);
        xors_theirs.push_xor(&[]);
        xors.push_xor(&[(&a, 3), (&a, 3)]);
        xors_theirs.push_xor(&[(&a_theirs, 3), (&a_theirs, 3)]);
        expected.extend([Block::ZERO; 2]);
        assert_eq!(session.open(&xors, &xors_theirs).unwrap(), expected);
    }
}

/// Commitments that were written to a store and read again are the same.
#[test]
fn lists_keep_their_commitments() {
    let params = params(FieldBits::Four, 40);
    let mut session = Session::new(&params, 4);
    let (own, theirs) = session.random(20).unwrap();
    let (mut all, mut all_theirs) = (Committed::new(&params), Commitments::new(&params));
    assert!(all.is_empty());
    for i in (0..20).rev() {
        let (mut record, mut record_theirs) = (Vec::new(), Vec::new());
        own.write_record(i, &mut record);
        theirs.write_record(i, &mut record_theirs);
        assert_eq!(record.len(), Committed::record_bytes(&params));
        assert_eq!(record_theirs.len(), Commitments::record_bytes(&params));
        all.push_record(&record);
        all_theirs.push_record(&record_theirs);
    }
    let mut expected = own.values().to_vec();
    expected.reverse();
    assert_eq!(session.open(&all, &all_theirs).unwrap(), expected);
}

/// Several lists are opened with one proof.
#[test]
fn an_opening_in_pieces() {
    let mut session = Session::new(&params(FieldBits::Two, 40), 5);
    let (a, a_theirs) = session.random(300).unwrap();
    let (b, b_theirs) = session.random(5).unwrap();
    let (to, from) = (&mut session.channels.0, &mut session.channels.1);
    let mut opening = session.committer.opening();
    opening.add_range(&a, 0..300);
    opening.add_range(&b, 2..5);
    opening.finish(to).unwrap();
    to.flush().unwrap();
    let mut opening = session.receiver.opening();
    add_all(&mut opening, &a_theirs, a.values());
    (2..5).for_each(|i| opening.add_sum(&b_theirs, std::iter::once(i), b.values()[i]));
    opening.finish(from).unwrap();
}

#[test]
fn bytes_are_those_of_the_formula() {
    for k in FieldBits::ALL {
        let params = params(k, 40);
        // Exactly one full draw, and more than one.
        for n in [0, 1, 500, 1 << 15, (1 << 15) + 1] {
            let mut session = Session::new(&params, 6);
            let (committed, commitments) = session.random(n).unwrap();
            let sent = |session: &Session| payload_sent(&session.channels.0) as usize;
            assert_eq!(sent(&session), random_bytes(&params, n));
            session.open(&committed, &commitments).unwrap();
            assert_eq!(sent(&session), random_bytes(&params, n) + 16 * n + PROOF_BYTES);
            assert_eq!(payload_sent(&session.channels.1), 0);
        }
    }
}

/// Starts from base OTs: the set-up, and commitments of two lanes that are XORed.
#[test]
fn set_up_from_nothing_on_two_lanes() {
    for k in FieldBits::ALL {
        let params = params(k, 40);
        let ((mut a, mut b), (mut c, mut d)) = (channels(), channels());
        let cot = |channel: &mut Channel, number: u128| {
            let mut prg = prg(number);
            let key = GlobalKey::new(Delta::new(prg.block()));
            let generator = OtExtension::Iknp;
            let lanes = setup::both_directions(channel, &SESSION, &key, 1, generator, &mut prg);
            (lanes.unwrap().pop().unwrap(), prg)
        };
        std::thread::scope(|scope| {
            let (params, params2) = (&params, &params);
            scope.spawn(move || {
                let (mut lane, _) = cot(&mut a, 1);
                let cot = &mut *lane.sender;
                let mut lanes = Committer::set_up(&mut a, &SESSION, params, cot, 2).unwrap();
                let first = lanes[0].commit_random(&mut a, 100).unwrap();
                let second = lanes[1].commit_random(&mut c, 100).unwrap();
                assert_ne!(first.values(), second.values());
                let mut sum = Committed::new(params);
                (0..100).for_each(|i| sum.push_xor(&[(&first, i), (&second, i)]));
                open(&mut lanes[1], &mut c, &sum).unwrap();
                c.flush().unwrap();
                a.flush().unwrap();
            });
            let (mut lane, mut prg) = cot(&mut b, 2);
            let cot = &mut *lane.receiver;
            let lanes = Receiver::set_up(&mut b, &SESSION, params2, cot, 2, &mut prg);
            let mut lanes = lanes.unwrap();
            let first = lanes[0].commit_random(&mut b, 100).unwrap();
            let second = lanes[1].commit_random(&mut d, 100).unwrap();
            let mut sum = Commitments::new(params2);
            (0..100).for_each(|i| sum.push_xor(&[(&first, i), (&second, i)]));
            assert_eq!(receive(&mut lanes[1], &mut d, &sum, 100).unwrap().len(), 100);
        });
    }
}

#[test]
#[should_panic(expected = "other parameters")]
fn commitments_of_other_parameters_are_not_mixed() {
    let (one, four) = (params(FieldBits::One, 40), params(FieldBits::Four, 40));
    let (own, _) = Session::new(&one, 7).random(1).unwrap();
    Committed::new(&four).push_xor(&[(&own, 0)]);
}

/// Openings take their numbers now and are made later, in any order, also by a process that reads
/// them from a store. A proof for one number does not pass for another.
#[test]
fn openings_are_made_later() {
    for rho in RHOS {
        let params = params(FieldBits::Four, rho);
        let mut session = Session::new(&params, 6);
        let (own, theirs) = session.random(9).unwrap();
        let values = own.values().to_vec();
        let pairs: Vec<_> =
            (0..4).map(|_| (session.committer.later(), session.receiver.later())).collect();
        // An ordinary opening comes in between.
        session.prove(&own, &theirs, &values).unwrap();
        let bytes: Vec<_> =
            pairs.into_iter().map(|(own, theirs)| (own.to_bytes(), theirs.to_bytes())).collect();
        let mut prove = |own_number: usize, their_number: usize| {
            let (own_bytes, their_bytes) = (bytes[own_number].0, &bytes[their_number].1);
            assert_eq!(their_bytes.len(), TheirLater::bytes(&params));
            let mut proof = OwnLater::from_bytes(own_bytes).opening();
            proof.add_range(&own, 0..9);
            proof.finish(&mut session.channels.0).unwrap();
            session.channels.0.flush().unwrap();
            let mut check = TheirLater::from_bytes(&params, their_bytes).unwrap().opening();
            add_all(&mut check, &theirs, &values);
            check.finish(&mut session.channels.1)
        };
        for number in [2, 0, 3] {
            prove(number, number).unwrap();
        }
        assert!(matches!(prove(1, 0), Err(Error::PeerMisbehaved { .. })));
        assert!(TheirLater::from_bytes(&params, &bytes[0].1[1..]).is_none());
    }
}
