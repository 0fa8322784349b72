//! Matching and different preferences, consistent and inconsistent reports about links.

use std::thread;

use symbolon_protocols::Rho;
use symbolon_transport::{Hello, Message, handshake_open};

use super::*;
use crate::handshake_all::agree;
use crate::handshake_all::tests::mesh;
use crate::messages::{GROUP_ECHO, GROUP_NONCE};

type Settled = Result<([u8; 32], Choice)>;

const NOTHING: Preferences = Preferences::NOTHING;

fn work(parties: usize) -> Work {
    Work { and_gates: 1000, rho: Rho::Bits40, parties, threads: 1 }
}

fn hello(parties: usize, wishes: Preferences) -> Hello {
    let hello = Hello::new((0..parties as u16).collect::<Vec<_>>());
    hello.negotiable(FORM, wishes.form).negotiable(OT, wishes.ot)
}

fn party(peers: &mut [Channel], wishes: Preferences) -> Settled {
    let parties = peers.len() + 1;
    let agreed = agree(peers, &hello(parties, wishes))?;
    negotiate(peers, &agreed, (work(parties), NOTHING))
}

/// Runs all parties, party p with `wishes[p]`.
fn all(wishes: &[Preferences]) -> Vec<Settled> {
    let mut ends = mesh(wishes.len() as u16);
    thread::scope(|scope| {
        let start = |(peers, wishes): (&'_ mut Vec<Channel>, &Preferences)| {
            let (peers, wishes) = (std::mem::take(peers), *wishes);
            scope.spawn(move || {
                let mut peers = peers;
                party(&mut peers, wishes)
            })
        };
        let threads: Vec<_> = ends.iter_mut().zip(wishes).map(start).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

/// Runs all honest parties, and plays the last party with `cheat`.
fn against<T>(parties: u16, cheat: impl FnOnce(&mut [Channel]) -> T) -> (Vec<Settled>, T) {
    let mut ends = mesh(parties);
    let mut cheater = ends.pop().unwrap();
    thread::scope(|scope| {
        let start = |peers: &'_ mut Vec<Channel>| {
            let mut peers = std::mem::take(peers);
            scope.spawn(move || {
                let settled = party(&mut peers, NOTHING);
                if settled.is_err() {
                    peers.iter_mut().for_each(|peer| peer.abort("it failed"));
                }
                settled
            })
        };
        let honest: Vec<_> = ends.iter_mut().map(start).collect();
        let played = cheat(&mut cheater);
        (honest.into_iter().map(|thread| thread.join().unwrap()).collect(), played)
    })
}

#[test]
fn any_wish_is_taken_and_the_rest_follows_from_the_link() {
    let iknp = Preferences { ot: Some(OtExtension::Iknp), ..NOTHING };
    let rows = Preferences { form: Some(GateForm::FourRow), ..NOTHING };
    let both = Preferences { form: Some(GateForm::HalfGates), ot: Some(OtExtension::Iknp) };
    let cases: [(&[Preferences], Preferences); 7] = [
        (&[NOTHING, NOTHING], NOTHING),
        (&[NOTHING, iknp], iknp),
        (&[rows, NOTHING], rows),
        (&[rows, iknp], Preferences { ot: iknp.ot, ..rows }),
        (&[both, NOTHING], both),
        (&[NOTHING, NOTHING, both], both),
        (&[iknp, NOTHING, NOTHING], iknp),
    ];
    for (wishes, merged) in cases {
        let settled: Vec<_> = all(wishes).into_iter().map(Result::unwrap).collect();
        assert!(settled.iter().all(|end| *end == settled[0]), "{settled:?}");
        let (_, choice) = settled[0];
        assert_eq!(
            (choice.form_by_link, choice.ot_by_link),
            (merged.form.is_none(), merged.ot.is_none())
        );
        assert_eq!(choice.link.is_some(), merged.settled().is_none());
        assert!(merged.form.is_none_or(|form| choice.form == form));
        assert!(merged.ot.is_none_or(|ot| choice.ot == ot));
        if let Some(link) = choice.link {
            assert_eq!(choice, merged.over(link, work(wishes.len())));
        }
    }
}

#[test]
fn two_different_wishes_are_named_to_all() {
    let wish = |ot| Preferences { ot: Some(ot), ..NOTHING };
    let [a, b] = [OtExtension::ALL[0], OtExtension::ALL[3]];
    let errors = |wishes: &[Preferences]| -> Vec<Error> {
        all(wishes).into_iter().map(Result::unwrap_err).collect()
    };
    let differ = |ours: &str, theirs: &str| Error::incompatible("ot", ours, theirs);
    assert_eq!(
        errors(&[wish(a), wish(b)]),
        [differ("iknp", "softspoken8"), differ("softspoken8", "iknp")]
    );
    assert_eq!(
        errors(&[wish(a), NOTHING, wish(b)]),
        [
            differ("iknp", "softspoken8 (party 2)"),
            differ("auto", "iknp (party 0) and softspoken8 (party 2)"),
            differ("softspoken8", "iknp (party 0)"),
        ]
    );
}

#[test]
fn a_wish_that_is_unknown_here_is_a_difference() {
    let agreed = |wishes: [Option<&str>; 3]| Agreed {
        session: [0; 32],
        open: wishes.map(|wish| vec![None, wish.map(str::to_string)]).to_vec(),
    };
    let ot = |agreed: &Agreed| wish(agreed, OT, 1, |name| name.parse::<OtExtension>().ok());
    assert_eq!(ot(&agreed([None; 3])), Ok(None));
    assert_eq!(ot(&agreed([None, Some("iknp"), Some("iknp")])), Ok(Some(OtExtension::Iknp)));
    assert_eq!(
        ot(&agreed([None, None, Some("silent")])),
        Err(Error::incompatible(OT, "auto", "silent (party 2)"))
    );
    // With two parties, the second value comes from the peer itself.
    let (ends, _) = against(2, |peers| {
        let hello = Hello::new([0, 1]).negotiable(FORM, Some("rings")).negotiable(OT, None::<&str>);
        handshake_open(&mut peers[0], &hello).unwrap();
    });
    assert_eq!(ends[0], Err(Error::incompatible(FORM, "auto", "rings")));
}

/// Party 2 of three sends a wish to one party and none to the other, so one of them would measure
/// links and the other would not. The echo of the session's id catches this before anything depends
/// on it.
/// Cheat: 3; one | choice by link | a wish told to one alone | `broadcast echo` | always
#[test]
fn a_wish_told_to_one_alone_is_noticed() {
    for (wishes, caught) in [
        ([NOTHING, NOTHING], false),
        ([Preferences { ot: Some(OtExtension::Iknp), ..NOTHING }, NOTHING], true),
    ] {
        let (ends, ()) = against(3, |peers| {
            for (peer, wishes) in peers.iter_mut().zip(wishes) {
                handshake_open(peer, &hello(3, wishes)).unwrap();
            }
            for peer in peers.iter_mut() {
                peer.send(GROUP_NONCE, &[9; 32]).unwrap();
                peer.flush().unwrap();
            }
            for peer in peers.iter_mut() {
                peer.recv(GROUP_NONCE, 32).unwrap();
            }
            // Nobody needs the cheater's echo before it has compared the others'.
            for peer in peers.iter_mut() {
                peer.recv(GROUP_ECHO, 34).unwrap();
            }
            peers.iter_mut().for_each(|peer| peer.abort("that is all"));
        });
        let noticed =
            |end: &Settled| *end == Err(Error::misbehaved(Culprit::Unknown, BROADCAST_CHECK));
        // Party 0 sees the cheater's end only after party 1's echo.
        assert_eq!(noticed(&ends[0]), caught, "{ends:?}");
    }
}

/// Runs a party at the end of a mesh up to its report; also returns the others' reports.
fn measured(peers: &mut [Channel]) -> (Agreed, Vec<[u8; 16]>) {
    let agreed = agree(peers, &hello(peers.len() + 1, NOTHING)).unwrap();
    measure_all(peers).unwrap();
    let reports = |peers: &mut [Channel]| -> Vec<[u8; 16]> {
        peers.iter_mut().map(|peer| peer.recv_array(LINK_REPORT).unwrap()).collect()
    };
    let heard = reports(peers);
    (agreed, heard)
}

fn send_all<const N: usize>(peers: &mut [Channel], kind: Message, messages: &[[u8; N]]) {
    for (peer, message) in peers.iter_mut().zip(messages) {
        peer.send(kind, message).unwrap();
        peer.flush().unwrap();
    }
}

fn digest(session: &[u8; 32], reports: &[[u8; 16]]) -> [u8; 32] {
    let mut hasher = Hasher::new_derive_key(REPORTS_DOMAIN);
    hasher.update(session);
    reports.iter().for_each(|report| {
        hasher.update(report);
    });
    *hasher.finalize().as_bytes()
}

/// Party 2 of three reports a different link to each of the others, and sends each the comparison
/// that it expects. Both notice, and neither continues.
/// Cheat: 3; one | choice by link | two reports | `broadcast echo` | always
#[test]
fn two_reports_of_one_party_are_noticed_by_both_others() {
    let slow = |megabytes: u64| {
        encode(LinkSpeed { round_trip: Duration::from_secs(9), bytes_per_second: megabytes << 20 })
    };
    for (told, caught) in [([slow(7); 2], false), ([slow(7), slow(8)], true)] {
        let (ends, ()) = against(3, |peers| {
            let (agreed, heard) = measured(peers);
            send_all(peers, LINK_REPORT, &told);
            let choices = told.map(|told| {
                let reports = [heard[0], heard[1], told];
                let link = reports.iter().map(decode).reduce(slower).unwrap();
                let choice = NOTHING.over(link, work(3));
                let place = OtExtension::ALL.iter().position(|ot| *ot == choice.ot).unwrap();
                let form = GateForm::ALL.iter().position(|form| *form == choice.form).unwrap();
                let mut message = [0; 34];
                message[..32].copy_from_slice(&digest(&agreed.session, &reports));
                message[32..].copy_from_slice(&[form as u8, place as u8]);
                message
            });
            send_all(peers, LINK_CHOICE, &choices);
            for peer in peers.iter_mut() {
                // Waits until the others have ended, successfully or not.
                let _ = peer.recv_array::<34>(LINK_CHOICE);
                let _ = peer.recv_array::<1>("the end");
            }
        });
        for end in ends {
            match end {
                Ok((_, choice)) => {
                    assert!(!caught);
                    assert_eq!(choice.link.unwrap().round_trip, Duration::from_secs(9));
                }
                Err(error) => {
                    assert!(caught);
                    assert_eq!(error, Error::misbehaved(Culprit::Unknown, BROADCAST_CHECK));
                }
            }
        }
    }
}

/// A peer that follows other rules, or none: the difference is named, and nothing is computed.
/// Cheat: 2 | choice by link | another conclusion | the difference is named | always
#[test]
fn another_conclusion_from_the_same_link_is_a_difference() {
    for (place, (index, names)) in [
        (32, (0, ["half-gates", "four-row"])),
        (32, (9, ["half-gates", "something unknown here"])),
        (33, (0, ["softspoken8", "iknp"])),
        (33, (255, ["softspoken8", "something unknown here"])),
    ] {
        let (ends, ()) = against(2, |peers| {
            let (agreed, heard) = measured(peers);
            // This link is so slow that it leads to half-gates and softspoken8.
            let own = LinkSpeed { round_trip: Duration::ZERO, bytes_per_second: 1 };
            send_all(peers, LINK_REPORT, &[encode(own)]);
            let mut message = [0; 34];
            let reports = [heard[0], encode(own)];
            message[..32].copy_from_slice(&digest(&agreed.session, &reports));
            message[32..].copy_from_slice(&[1, 3]);
            message[place] = index;
            send_all(peers, LINK_CHOICE, &[message]);
            let _ = peers[0].recv_array::<34>(LINK_CHOICE);
        });
        let what = if place == 32 { FORM } else { OT };
        let what = Subject::Settled(what.to_string());
        assert_eq!(ends[0], Err(Error::incompatible(what, names[0], names[1])));
    }
}

/// A digest of other reports than were sent: with two parties, this is the peer's fault.
/// Cheat: 2 | choice by link | the digest of other reports | `broadcast echo` | always
#[test]
fn a_digest_of_other_reports_is_the_peers_fault() {
    let (ends, ()) = against(2, |peers| {
        let _ = measured(peers);
        send_all(peers, LINK_REPORT, &[[1; 16]]);
        send_all(peers, LINK_CHOICE, &[[0; 34]]);
        let _ = peers[0].recv_array::<34>(LINK_CHOICE);
    });
    assert_eq!(ends[0], Err(Error::misbehaved(1, BROADCAST_CHECK)));
}

#[test]
fn the_choice_is_part_of_the_session() {
    let session = |wishes: Preferences| {
        let agreed = Agreed {
            session: [5; 32],
            open: vec![
                vec![wishes.form.map(|f| f.to_string()), wishes.ot.map(|o| o.to_string())];
                2
            ],
        };
        negotiate(&mut mesh(2)[0], &agreed, (work(2), NOTHING)).unwrap().0
    };
    let mut seen = Vec::new();
    for form in GateForm::ALL {
        for ot in OtExtension::ALL {
            let id = session(Preferences { form: Some(form), ot: Some(ot) });
            assert!(!seen.contains(&id));
            seen.push(id);
        }
    }
}
