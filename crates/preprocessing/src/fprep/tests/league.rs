//! Colluding peers against one party, whose Δ they guess in all of its checks: after the first
//! failure nothing passes, for any peer and on any lane.
//!
//! The sessions are complete, including base OTs, because the set-up creates what all peers share.

use symbolon_ot::TreeDepth;
use symbolon_transport::adversary::{Action, FnAdversary};

use super::*;
use mesh::state;

const OT_EXTENSIONS: [OtExtension; 2] =
    [OtExtension::Iknp, OtExtension::SoftSpoken { k: TreeDepth::Four }];

/// The party against which the others collude.
const VICTIM: u16 = 2;

const BITS: usize = 100;

fn set_up(lanes: &mut Lanes, ot_extension: OtExtension) -> Result<Preprocessor> {
    Preprocessor::set_up(lanes, &SESSION, Config { rho: 40, evaluator: 0.into(), ot_extension })
}

/// Spoils a draw in every column, for either extension.
fn spoiled() -> FnAdversary {
    FnAdversary::new().on_state(|point, u| {
        if ["iknp: u", "softspoken: u"].contains(&point) {
            u.iter_mut().for_each(|byte| *byte ^= 1);
        }
    })
}

/// Returns the results of the victim's checks: bits of party 0 on the first lane, then bits of
/// party 1 on the second.
fn checks(cheat: bool, ot_extension: OtExtension) -> [Result<()>; 2] {
    let ended = mesh::run(mesh::mesh(3, 2), |lanes| {
        let mut open = set_up(lanes, ot_extension).unwrap();
        let me = lanes[0][0].me();
        let mut blocks = [[Block::ZERO; BITS]; 2];
        let [one, other] = &mut blocks;
        let results = if me == VICTIM {
            let from_party_0: &mut [&mut [Block]] = &mut [one, &mut []];
            let first = open.lanes[0].bits().draw_theirs(&mut lanes[0], from_party_0);
            let from_party_1: &mut [&mut [Block]] = &mut [&mut [], other];
            [first, open.lanes[1].bits().draw_theirs(&mut lanes[1], from_party_1)]
        } else {
            if me == 0 && cheat {
                mesh::cheat(lanes, VICTIM, spoiled());
            }
            let (lane, prg) = (usize::from(me), &mut open.prg);
            let macs: &mut [&mut [Block]] = &mut [one, other];
            let drawn = open.lanes[lane].bits().draw_own(&mut lanes[lane], BITS, prg, macs);
            lanes[lane].iter_mut().for_each(|channel| channel.flush().unwrap());
            [drawn.map(drop), Ok(())]
        };
        // The senders' channels stay open until the victim has seen both.
        (results, std::mem::take(lanes))
    });
    let (results, _) = ended.into_iter().nth(usize::from(VICTIM)).expect("three parties");
    results
}

/// Party 0's draw fails its check. Party 1's draw, honest and on another lane, is then rejected,
/// and the error names party 0. Without the first draw it passes.
/// Cheat: 3; two | verdicts | an honest draw of another peer and lane after a failed check | the
/// verdicts under one Δ | always
#[test]
fn a_failed_check_ends_every_peer_and_lane() {
    for ot_extension in OT_EXTENSIONS {
        assert_eq!(checks(false, ot_extension), [Ok(()), Ok(())]);
        let failed = Err(Error::misbehaved(0, symbolon_ot::checks::EXTENSION));
        assert_eq!(checks(true, ot_extension), [failed.clone(), failed]);
    }
}

/// In the set-up both peers fail the same check. The victim names the one that it noticed first,
/// and nobody gets a session.
/// Cheat: 3; two | set-up | both fail the same check | the first is named | always
#[test]
fn the_first_culprit_of_a_set_up_is_named() {
    for ot_extension in OT_EXTENSIONS {
        let mut parties = mesh::mesh(3, 1);
        for cheater in [0, 1] {
            let adversary = state("iknp: u", |u| u.iter_mut().for_each(|byte| *byte ^= 1));
            mesh::cheat(&mut parties[cheater], VICTIM, adversary);
        }
        let ended = mesh::run(parties, |lanes| set_up(lanes, ot_extension).map(drop));
        assert_eq!(
            ended[usize::from(VICTIM)],
            Err(Error::misbehaved(0, symbolon_ot::checks::EXTENSION))
        );
        assert!(ended.iter().all(Result::is_err));
    }
}

/// One peer fails a check in the set-up while the other sends nothing to the victim. The victim
/// ends with the check, and does not wait for the other peer.
/// Cheat: 3; one | set-up | a failed check while another party is silent | the check, not the
/// silence | always
#[test]
fn a_failed_check_ends_a_set_up_without_the_other_peer() {
    for ot_extension in OT_EXTENSIONS {
        let mut parties = mesh::mesh(3, 1);
        let spoil = state("iknp: u", |u| u.iter_mut().for_each(|byte| *byte ^= 1));
        mesh::cheat(&mut parties[0], VICTIM, spoil);
        mesh::cheat(
            &mut parties[1],
            VICTIM,
            FnAdversary::new().on_outgoing(|_, _, _| Action::Stall),
        );
        let ended = mesh::run(parties, |lanes| set_up(lanes, ot_extension).map(drop));
        assert_eq!(
            ended[usize::from(VICTIM)],
            Err(Error::misbehaved(0, symbolon_ot::checks::EXTENSION))
        );
        assert!(ended.iter().all(Result::is_err));
    }
}
