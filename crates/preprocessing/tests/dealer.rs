//! What the dealer deals, what it costs, and what happens when somebody lies or dies.

use std::time::Duration;

use symbolon_preprocessing::PeerIndex;
use symbolon_preprocessing::checks::DEALER_REQUEST;
use symbolon_preprocessing::dealer::{DealerClient, Request};
use symbolon_primitives::{Block, Mac};
use symbolon_transport::adversary::{Action, FnAdversary};
use symbolon_transport::checks::FRAMING;
use symbolon_transport::{Culprit, DEALER, Error, Fingerprint, TransportReason};

use crate::dealing::{Counter, Dealt, request, serve, slots, take, with_dealer};
use crate::{dealing, mesh};

/// Deals what `asked` says and returns what every party received.
fn deal(asked: &Request) -> Vec<Dealt> {
    let (parties, dealer) = slots(asked.parties() as u16);
    let (dealt, summary) = with_dealer(|| serve(dealer), parties, |channel| take(channel, asked));
    assert_eq!(summary.unwrap().and_gates, asked.and_gates);
    dealt.into_iter().map(|dealt| dealt.unwrap()).collect()
}

#[test]
fn everything_dealt_is_authenticated_and_every_product_is_right() {
    // More than a chunk, also of inputs; exactly one chunk; nothing; few among many parties.
    let cases: [(u64, &[u64]); 6] = [
        (20_000, &[40_000, 70]),
        (8192, &[0, 64]),
        (0, &[3, 0]),
        (9000, &[10, 0, 33_000]),
        (5000, &[1, 2, 3, 4, 5]),
        (77, &[9; 17]),
    ];
    for (evaluator, (gates, inputs)) in (0..2).cycle().zip(cases) {
        let mut asked = request(inputs, gates);
        asked.evaluator = evaluator.into();
        dealing::check(&deal(&asked), &asked);
    }
}

#[test]
fn last_bits_of_the_deltas_follow_the_rule() {
    for parties in [2, 3, 4, 5] {
        for evaluator in 0..parties as u16 {
            let asked = Request { evaluator: evaluator.into(), ..request(&vec![1; parties], 1) };
            let dealt = deal(&asked);
            let lsbs: Vec<bool> = dealt.iter().map(|dealt| dealt.delta.lsb()).collect();
            for (party, lsb) in (0..).zip(&lsbs) {
                assert_eq!(*lsb, party != evaluator || parties % 2 == 1);
            }
            // Leaky ANDs need this.
            assert!(lsbs.iter().fold(false, |sum, lsb| sum ^ lsb));
        }
    }
}

#[test]
fn nothing_is_dealt_twice() {
    let asked = request(&[100, 100], 100);
    let (one, other) = (deal(&asked), deal(&asked));
    for (one, other) in one.iter().zip(&other) {
        assert_ne!(one.delta.0 | 1, other.delta.0 | 1);
        assert_ne!(one.inputs.bits, other.inputs.bits);
        assert_ne!(one.gates[0].0.towards[0].keys, other.gates[0].0.towards[0].keys);
    }
    assert_ne!(one[0].delta.0 | 1, one[1].delta.0 | 1);
    assert_ne!(one[0].gates[0].0.bits, one[1].gates[0].0.bits);
}

#[test]
fn bits_are_balanced() {
    let dealt = deal(&request(&[20_000, 20_000], 20_000));
    for Dealt { inputs, gates, .. } in dealt {
        let mut ones = [0_u32; 5];
        let count = |bits: &symbolon_primitives::BitVec| {
            bits.words().iter().map(|word| word.count_ones()).sum::<u32>()
        };
        ones[4] = count(&inputs.bits);
        for (masks, triples) in &gates {
            for (ones, shares) in ones.iter_mut().zip([masks, &triples.a, &triples.b, &triples.c]) {
                *ones += count(&shares.bits);
            }
        }
        // The standard deviation is 71; this allows seven of them on either side.
        assert!(ones.iter().all(|ones| ones.abs_diff(10_000) < 500), "{ones:?}");
    }
}

#[test]
fn bytes_are_exactly_those_of_the_formula() {
    let cases: [(u64, &[u64]); 5] = [
        (20_001, &[40_000, 70]),
        (1, &[1, 0]),
        (0, &[70_000, 0]),
        (5003, &[7, 20_000, 1]),
        (300, &[5; 60]),
    ];
    for (gates, inputs) in cases {
        let asked = request(inputs, gates);
        let (parties, dealer) = slots(asked.parties() as u16);
        let meters: Vec<_> = parties.iter().map(|channel| channel.meter().clone()).collect();
        let (_, summary) =
            with_dealer(|| serve(dealer), parties, |channel| take(channel, &asked).unwrap());
        let bytes = summary.unwrap().bytes;
        for (party, meter) in (0..).zip(&meters) {
            let report = meter.report().remove(0);
            assert_eq!(
                report.bytes_received,
                asked.bytes_to_party(party.into()),
                "{gates} {inputs:?}"
            );
            assert_eq!(report.bytes_received, bytes[usize::from(party)]);
            assert_eq!(report.bytes_sent, 8 + 64 + 8 + 8 * inputs.len() as u64 + 8);
        }
    }
    // Written out: two parties, two chunks of gates, one of inputs.
    let asked = request(&[100, 50], 10_000);
    assert_eq!(asked.bytes_to_party(1.into()), 24 + (16 * 50 + 8) + (64 * 10_000 + 2 * 32));
    let c_bits = (8 + 1024) + (8 + (10_000 - 8192) / 8);
    assert_eq!(
        asked.bytes_to_party(0.into()),
        24 + (16 * 100 + 8) + (64 * 10_000 + 2 * 32) + c_bits
    );
}

#[test]
fn a_request_that_makes_no_sense_is_not_sent() {
    let asked = request(&[5, 6], 100);
    let number = "there is no party of this number";
    let parties = "a dealer deals to 2 to 256 parties";
    let count = "more than a dealer can count";
    let keys = "the keys are not one for each party";
    let one_key = "two parties have the same key";
    let slot = "the channel is not this party's to the dealer";
    let bad = [
        (Request { party: 2.into(), ..asked.clone() }, number),
        (Request { evaluator: 2.into(), ..asked.clone() }, number),
        (Request { input_bits: vec![1], ..asked.clone() }, parties),
        (Request { input_bits: vec![0; 257], ..asked.clone() }, parties),
        (Request { input_bits: vec![u64::MAX, u64::MAX], ..asked.clone() }, count),
        (Request { and_gates: u64::MAX, ..asked.clone() }, count),
        (Request { keys: vec![Fingerprint([0; 32])], ..asked.clone() }, keys),
        (Request { keys: vec![Fingerprint([0; 32]); 2], ..asked.clone() }, one_key),
        // The other party's slot.
        (Request { party: 1.into(), ..asked.clone() }, slot),
    ];
    for (asked, words) in bad {
        let (mut parties, dealer) = slots(2);
        let meter = parties[0].meter().clone();
        let refused = DealerClient::new(parties.remove(0), asked).err().unwrap();
        assert_eq!(refused, Error::invalid_input(words));
        assert!(meter.report().iter().all(|phase| phase.bytes_sent == 0));
        drop(dealer);
    }
}

/// Lets party 1 of two send something other than its request; returns the dealer's error and party
/// 1's.
fn bent_request(kind: &'static str, adversary: fn(&mut Vec<u8>)) -> [Error; 2] {
    let asked = request(&[5, 6], 100);
    let (mut parties, dealer) = slots(2);
    parties[1].set_adversary(Box::new(mesh::message(kind, adversary)));
    let (told, summary) =
        with_dealer(|| serve(dealer), parties, |channel| take(channel, &asked).err().unwrap());
    [summary.unwrap_err(), told[1].clone()]
}

/// Cheat: party | request | a malformed request, another's slot or key | `dealer request` | always
#[test]
fn a_malformed_request_is_refused() {
    const HEAD: &str = "dealer request";
    const TABLE: &str = "dealer request: parties";
    let lengths: [fn(&mut Vec<u8>); 2] =
        [|bytes| bytes.truncate(bytes.len() - 1), |bytes| bytes.push(0)];
    let head: [fn(&mut Vec<u8>); 7] = [
        |bytes| bytes[2] = 0,
        |bytes| bytes[2] = 9,
        |bytes| bytes[4..6].fill(0xff),
        |bytes| bytes[4..6].fill(0),
        |bytes| bytes[6] = 2,
        |bytes| bytes[48] = 2,
        |bytes| bytes[63] = 1,
    ];
    let table: fn(&mut Vec<u8>) = |bytes| bytes.fill(0xff);
    let framing = [HEAD, TABLE].map(|kind| lengths.map(|change| (kind, change, FRAMING)));
    let content = head.map(|change| (HEAD, change, DEALER_REQUEST));
    let cases = framing.into_iter().flatten().chain(content);
    for (kind, adversary, check) in cases.chain([(TABLE, table, DEALER_REQUEST)]) {
        let [error, told] = bent_request(kind, adversary);
        let accused = (error.culprit(), error.check());
        assert_eq!(accused, (Some(Culprit::from(1u16)), Some(check)), "{kind}: {error}");
        assert!(told.to_string().contains("the request of party 1 is refused"), "{told}");
    }
    let [error, _] = bent_request("dealer request", |bytes| bytes[0] = 3);
    assert_eq!(
        error.to_string(),
        "the parties disagree on the version of the dealer's messages: ours 2, theirs 3"
    );
}

/// Cheat: party | request | the same key for two slots | `dealer request` | always
#[test]
fn a_request_of_two_slots_for_one_key_is_refused() {
    let asked = request(&[5, 6], 100);
    let (mut parties, dealer) = slots(2);
    // No party of this code sends such a request.
    let one_key_twice = FnAdversary::new().on_outgoing(|kind, _, payload| {
        match kind {
            "dealer request" => payload[48] = 1,
            "dealer request: parties" => payload.extend([7; 64]),
            _ => {}
        }
        Action::Send
    });
    parties[1].set_adversary(Box::new(one_key_twice));
    let (told, summary) =
        with_dealer(|| serve(dealer), parties, |channel| take(channel, &asked).err().unwrap());
    let expected = Error::misbehaved_with(1, DEALER_REQUEST, "two parties have the same key");
    assert_eq!(summary.unwrap_err(), expected);
    assert!(told[1].to_string().contains("two parties have the same key"), "{}", told[1]);
}

/// Cheat: party | any | death and silence | all are told | always
#[test]
fn a_party_that_dies_or_is_silent_ends_it_for_all() {
    let asked = request(&[5, 6, 7], 200_000);
    for silent in [false, true] {
        let (parties, mut dealer) = slots(3);
        dealer.iter_mut().for_each(|channel| channel.set_timeout(Duration::from_millis(300)));
        let (told, summary) = with_dealer(
            || serve(dealer),
            parties,
            |channel| {
                if channel.me() != 1 {
                    return take(channel, &asked).err();
                }
                let client =
                    DealerClient::new(channel, Request { party: 1.into(), ..asked.clone() })
                        .unwrap();
                let (_, _, mut gates) = client.inputs().unwrap();
                gates.next_batch().unwrap();
                if silent {
                    std::thread::sleep(Duration::from_millis(900));
                }
                None
            },
        );
        let error = summary.unwrap_err();
        assert!(
            matches!(error, Error::Transport { party: Some(party), .. } if party == 1),
            "{error}"
        );
        let words =
            if silent { "waited too long for party 1" } else { "lost the connection with party 1" };
        for party in [0, 2] {
            let error = told[party].as_ref().unwrap().to_string();
            assert!(error.contains("the dealer aborted") && error.contains(words), "{error}");
        }
    }
}

/// Returns the error of the parties when the dealer's messages to party 0 are changed.
fn bent_dealer(adversary: FnAdversary) -> Error {
    let asked = request(&[40_000, 6], 20_001);
    let (mut parties, mut dealer) = slots(2);
    parties.iter_mut().for_each(|channel| channel.set_timeout(Duration::from_millis(500)));
    dealer[0].set_adversary(Box::new(adversary));
    let (ended, _) = with_dealer(|| serve(dealer), parties, |channel| take(channel, &asked).err());
    ended[0].clone().expect("it went unnoticed")
}

/// Cheat: dealer | any message | truncated, lengthened, dropped; bits after the last | `message
/// framing`, `dealt bits` | always
#[test]
fn what_the_dealer_garbles_is_noticed() {
    let kinds = [
        ("dealer: seed", 0),
        ("dealer: input MACs", 0),
        ("dealer: input MACs", 1),
        ("dealer: c bits", 2),
        ("dealer: gate MACs", 5),
    ];
    for (kind, index) in kinds {
        let truncated = mesh::nth_message(kind, index, |bytes| {
            bytes.pop();
        });
        let lengthened = mesh::nth_message(kind, index, |bytes| bytes.push(0));
        let dropped = FnAdversary::new().on_message(kind, index, |_| Action::Drop);
        for adversary in [truncated, lengthened, dropped] {
            let error = bent_dealer(adversary);
            assert!(
                matches!(
                    error,
                    Error::PeerMisbehaved {
                        culprit: Culprit::Dealer,
                        check: symbolon_transport::checks::FRAMING,
                        ..
                    }
                ),
                "{kind}: {error}"
            );
        }
        let error = bent_dealer(FnAdversary::new().on_message(kind, index, |_| Action::Close));
        assert_eq!(error, Error::transport(DEALER, TransportReason::Closed), "{kind}");
        let error = bent_dealer(FnAdversary::new().on_message(kind, index, |_| Action::Stall));
        // The other party may end the session first, once it has waited long enough.
        assert!(matches!(error, Error::Transport { party: Some(DEALER), .. }), "{kind}: {error}");
    }
    let padded = mesh::nth_message("dealer: c bits", 2, |bytes| *bytes.last_mut().unwrap() |= 0x80);
    assert_eq!(
        bent_dealer(padded),
        Error::misbehaved(DEALER, symbolon_preprocessing::checks::DEALT_BITS)
    );
}

#[test]
fn what_the_dealer_holds_does_not_follow_the_count() {
    // 32 MiB for each party, which the parties do not read.
    let asked = request(&[0, 0], 1 << 19);
    let (parties, mut dealer) = slots(2);
    let meters: Vec<_> = dealer.iter().map(|channel| channel.meter().clone()).collect();
    dealer.iter_mut().for_each(|channel| channel.set_timeout(Duration::from_millis(200)));
    let (clients, summary) = with_dealer(
        || serve(dealer),
        parties,
        |channel| {
            let party = channel.me();
            DealerClient::new(channel, Request { party, ..asked.clone() }).map(|client| {
                std::thread::sleep(Duration::from_millis(600));
                drop(client);
            })
        },
    );
    assert!(clients.iter().all(Result::is_ok));
    let error = summary.unwrap_err();
    assert!(
        matches!(&error, Error::Transport { reason: TransportReason::TimedOut(_), .. }),
        "{error}"
    );
    for meter in meters {
        let sent: u64 = meter.report().iter().map(|phase| phase.bytes_sent).sum();
        assert!(
            sent > 1 << 20 && sent < 6 << 20,
            "{sent} bytes of {}",
            asked.bytes_to_party(0.into())
        );
    }
}

#[test]
fn a_party_may_run_ahead_of_another() {
    // Party 0 reads nothing before party 1 has received everything it can get.
    let asked = request(&[0, 0], 1 << 17);
    let (parties, dealer) = slots(2);
    let taken = Counter::default();
    let (dealt, summary) = with_dealer(
        || serve(dealer),
        parties,
        |channel| {
            let party = channel.me();
            let client = DealerClient::new(channel, Request { party, ..asked.clone() })?;
            let (_, _, mut gates) = client.inputs()?;
            if party == 0 {
                taken.wait_for(4);
            }
            while gates.next_batch()?.is_some() {
                taken.add(u64::from(party));
            }
            assert!(gates.next_batch()?.is_none());
            Ok::<_, Error>(())
        },
    );
    summary.unwrap();
    assert!(dealt.into_iter().all(|ended| ended == Ok(())));
    assert_eq!(taken.get(), 16);
}

/// Cheat: dealer | gate MACs | one wrong bit | the MAC no longer fits | always
#[test]
fn a_dealer_that_lies_breaks_a_mac() {
    // The parties cannot tell. Their checks find the lie later on, and they blame each other for
    // it.
    let asked = request(&[8, 8], 64);
    let (parties, mut dealer) = slots(2);
    dealer[0]
        .set_adversary(Box::new(mesh::message("dealer: gate MACs", |bytes| bytes[16 * 5] ^= 1)));
    let (dealt, summary) =
        with_dealer(|| serve(dealer), parties, |channel| take(channel, &asked).unwrap());
    summary.unwrap();
    let mac = dealt[0].gates[0].0.pair(5, PeerIndex::of(1, 0));
    let key = dealt[1].gates[0].0.pair(5, PeerIndex::of(0, 1));
    assert_eq!(mac.mac, key.key.mac_of(mac.bit, dealt[1].delta) ^ Mac(Block(1)));
}

#[test]
fn a_party_that_has_all_may_go() {
    for _ in 0..20 {
        let asked = request(&[70_000, 0, 1], 0);
        dealing::check(&deal(&asked), &asked);
    }
}
