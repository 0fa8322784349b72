//! The cheating peer in `duplo`: each test is a cheat, and the check that must catch it, or the
//! recovery that makes up for it.

use symbolon_cutchoose::checks::OPENING;
use symbolon_engine::{Compiled, OutputBits};
use symbolon_primitives::Block;
use symbolon_transport::adversary::{
    Action, CheckName, FnAdversary, Rate, assert_noticed, note_caught,
};
use symbolon_transport::{Error, Meter, PartyId, Result};

use super::engine::set_up_with;
use super::tests::{Scene, Small, TINY, table_of};

const GARBLER: PartyId = super::program::GARBLER;
const EVALUATOR: PartyId = super::program::EVALUATOR;

/// Runs both parties, of which `cheater` cheats.
fn cheat(scene: &Scene, cheater: PartyId, adversary: FnAdversary) -> [Result<OutputBits>; 2] {
    scene.run(|channels| channels[usize::from(cheater)].set_adversary(Box::new(adversary)))
}

/// Asserts that the honest party fails at this check and names the cheater, whatever the inputs.
#[track_caller]
fn assert_caught(cheater: PartyId, check: impl CheckName, adversary: impl Fn() -> FnAdversary) {
    for seed in 0..4 {
        let scene = Scene::new(Some(TINY), 1, seed);
        let ended = cheat(&scene, cheater, adversary());
        assert_noticed(&ended[cheater.other_of_two().index()], cheater, check);
    }
}

/// Asserts that both parties learn what they should, as if nobody had cheated.
#[track_caller]
fn assert_unaffected(scene: &Scene, ended: &[Result<OutputBits>; 2]) {
    for (party, ended) in (0..).zip(ended) {
        assert_eq!(ended.as_ref().ok(), Some(&scene.expected(party.into())), "party {party}");
    }
}

/// Changes the cheater's state at a point, every time or only the `index`-th time that it gets
/// there.
fn state(
    point: &'static str,
    index: Option<usize>,
    change: impl Fn(&mut [u8]) + Send + 'static,
) -> FnAdversary {
    let mut times = 0;
    FnAdversary::new().on_state(move |at, data| {
        if at == point {
            if index.is_none_or(|index| index == times) {
                change(data);
            }
            times += 1;
        }
    })
}

/// Commits to other transfers, and goes on although the evaluator's sums do not fit.
fn transfers(point: &'static str, places: &[usize]) -> FnAdversary {
    let places = places.to_vec();
    FnAdversary::new().on_state(move |at, data| match at {
        _ if at == point => places.iter().for_each(|&place| data[place] ^= 2),
        "duplo: verdict on transfers" => data[0] = 1,
        _ => {}
    })
}

/// Changes a message.
fn message(kind: &'static str, change: impl Fn(&mut Vec<u8>) + Send + 'static) -> FnAdversary {
    FnAdversary::new().on_message(kind, 0, move |payload| {
        change(payload);
        Action::Send
    })
}

fn flip(place: usize) -> impl Fn(&mut [u8]) + Send + 'static {
    move |data| data[place] ^= 2
}

fn flip_in(place: usize) -> impl Fn(&mut Vec<u8>) + Send + 'static {
    move |data| data[place] ^= 2
}

/// Swaps the meaning of an output in some copies: turns the indicator bit of what is committed to.
fn swapped(copies: &[usize]) -> FnAdversary {
    let copies = copies.to_vec();
    let mut times = 0;
    FnAdversary::new().on_state(move |at, data| {
        if at == "duplo: output keys" {
            if copies.contains(&times) {
                data[0] ^= 1;
            }
            times += 1;
        }
    })
}

/// GenSub: a copy computes the opposite of an output. If it is opened, the cheat is caught; if it
/// is the only bad one in its bucket, the evaluator recovers; if its bucket has no good one, the
/// output is wrong. Of six copies two are opened, two buckets of two are filled, and two copies are
/// bad.
/// Cheat: G | GenSub | swapped outputs in two of six copies | `commitment opening` if one is
/// opened; the inputs are recovered if a good copy is in the bucket | caught 3/5, then wrong 1/3,
/// at these sizes
#[test]
fn bad_copies_are_opened_or_recovered_from_as_often_as_the_game_says() {
    let (mut caught, mut wrong) = (Rate::default(), Rate::default());
    for seed in 0..160 {
        let scene = Scene::new(Some(TINY), 1, seed);
        let ended = cheat(&scene, GARBLER, swapped(&[1, 4]));
        let opened = match &ended[1] {
            Err(Error::PeerMisbehaved { check, .. }) => *check == OPENING,
            _ => false,
        };
        caught.note(opened);
        if opened {
            note_caught();
            continue;
        }
        let right = (0..).zip(&ended).all(|(party, ended)| {
            ended.as_ref().unwrap_or_else(|e| panic!("{e}")) == &scene.expected(party.into())
        });
        wrong.note(!right);
    }
    // At least one is opened with probability 1 − C(4,2)/C(6,2). Otherwise four copies are left,
    // and both bad ones are in the same of two buckets with probability 1/3.
    caught.assert_predicted(0.6, "bad copies that are opened");
    wrong.assert_predicted(1.0 / 3.0, "buckets of bad copies");
}

/// The same with a good copy in every bucket: the evaluator's answer is right and the garbler sees
/// no difference, for all inputs.
/// Cheat: G | GenSub | swapped outputs in copies, next to a good one in every bucket | recovery:
/// both outputs are right | always right
#[test]
fn the_inputs_are_recovered_from_bad_copies() {
    let small = Small { components: [3, 0], authenticators: [3, 3] };
    for seed in 0..16 {
        let scene = Scene::new(Some(small), 1, seed);
        for copies in [&[0][..], &[2, 5], &[1, 4]] {
            assert_unaffected(&scene, &cheat(&scene, GARBLER, swapped(copies)));
        }
    }
}

/// What a bad copy gives may depend on the evaluator's input. The work of the evaluator does not:
/// it checks as many keys when copies disagree or give garbage as when all agree. The evaluation
/// itself asserts this (`GarbledProgram::keys_to_check`).
/// Cheat: G | EvKAs | copies that give opposite outputs, or garbage | no effect: the evaluator
/// looks at as many keys as always | always
#[test]
#[cfg_attr(not(debug_assertions), ignore = "only debug builds assert this")]
fn the_evaluator_looks_at_as_many_keys_whatever_the_copies_give() {
    let small = Small { components: [3, 0], authenticators: [3, 3] };
    for seed in 0..8 {
        let garbage = table_of(1, |table| table.fill(7));
        for adversary in [FnAdversary::new(), swapped(&[1, 4]), garbage] {
            let scene = Scene::new(Some(small), 1, seed);
            assert_unaffected(&scene, &cheat(&scene, GARBLER, adversary));
        }
    }
}

/// The same in one of several executions: all of them are recovered from one Δ.
/// Cheat: G | GenSub | swapped outputs in copies of one execution of several | recovery: both
/// outputs are right | always right
#[test]
fn all_executions_are_recovered() {
    let small = Small { components: [3, 0], authenticators: [3, 3] };
    for seed in 0..4 {
        let scene = Scene::new(Some(small), 3, seed);
        assert_unaffected(&scene, &cheat(&scene, GARBLER, swapped(&[3])));
    }
}

/// A table with a wrong row, in a bucket with a good copy.
/// Cheat: G | GenSub | a wrong row in a copy in a bucket | authenticators: the outputs are right |
/// always right
#[test]
fn a_wrong_row_does_no_harm() {
    let small = Small { components: [2, 0], authenticators: [3, 3] };
    for seed in 0..16 {
        let scene = Scene::new(Some(small), 1, seed);
        let adversary = table_of(1, |table| table.iter_mut().for_each(|b| *b ^= 1));
        assert_unaffected(&scene, &cheat(&scene, GARBLER, adversary));
    }
}

/// VerSub: all tables are wrong, so the opened ones are.
/// Cheat: G | VerSub | all tables wrong | `opened component` | always
#[test]
fn a_wrong_table_is_noticed_when_it_is_opened() {
    assert_caught(GARBLER, super::checks::OPENED_COMPONENT, || {
        state("duplo: table", None, flip(40))
    });
}

/// VerSub: the opened keys are not those that were used to garble.
/// Cheat: G | VerSub | other keys opened than were garbled with | `opened component` | always
#[test]
fn other_keys_than_were_garbled_with() {
    for place in [0, 16, 5 * 16 + 3] {
        assert_caught(GARBLER, super::checks::OPENED_COMPONENT, || {
            message("duplo: opened component", flip_in(place))
        });
    }
}

/// VerSub: Δ of an opened copy ends in 0.
/// Cheat: G | VerSub | Δ that ends in 0 | `opened component` | always
#[test]
fn an_even_offset_is_noticed_when_it_is_opened() {
    assert_caught(GARBLER, super::checks::OPENED_COMPONENT, || {
        message("duplo: opened component", |payload| payload[0] ^= 1)
    });
}

/// The table that is sent does not match its digest.
/// Cheat: G | VerSub | another table sent than the digest was of | `component table` | always
#[test]
fn another_table_than_was_fixed() {
    assert_caught(GARBLER, super::checks::TABLE_DIGEST, || message("duplo: table", flip_in(77)));
}

/// VerInKeyAuth: authenticators that accept other keys.
/// Cheat: G | VerInKeyAuth | authenticators that accept other keys | `opened authenticator` |
/// always
#[test]
fn a_malformed_authenticator_is_noticed_when_it_is_opened() {
    // One hash: of either colour, for the first or the last of the four wires of a bundle.
    for place in [3, 19, 3 * 32 + 3, 3 * 32 + 19] {
        assert_caught(GARBLER, super::checks::OPENED_AUTHENTICATOR, || {
            state("duplo: accepted", None, move |data| {
                data.chunks_mut(4 * 32).for_each(|accepted| accepted[place] ^= 1);
            })
        });
    }
}

/// VerInKeyAuth: authenticators whose hashes are those of their neighbours.
/// Cheat: G | VerInKeyAuth | authenticators swapped | `opened authenticator` | always
#[test]
fn swapped_authenticators_are_noticed_when_they_are_opened() {
    assert_caught(GARBLER, super::checks::OPENED_AUTHENTICATOR, || {
        state("duplo: accepted", None, |data| data.rotate_left(32))
    });
}

/// VerInKeyAuth: K^0 is not H(Δ), so that nothing could be recovered.
/// Cheat: G | VerInKeyAuth | keys that do not authenticate themselves | `opened authenticator` |
/// always
#[test]
fn a_key_that_does_not_authenticate_itself() {
    assert_caught(GARBLER, super::checks::OPENED_AUTHENTICATOR, || {
        state("duplo: authenticator key", None, flip(5))
    });
}

/// VerInKeyAuth: Δ of all authenticators ends in 0. They are made before the copies.
/// Cheat: G | VerInKeyAuth | Δ that ends in 0 | `opened authenticator` | always
#[test]
fn an_even_offset_of_an_authenticator_is_noticed_when_it_is_opened() {
    // Four buckets of three, and three that are opened.
    const AUTHENTICATORS: usize = 4 * 3 + 3;
    assert_caught(GARBLER, super::checks::OPENED_AUTHENTICATOR, || {
        let mut made = 0;
        FnAdversary::new().on_state(move |at, data| {
            if at == "duplo: offset" {
                data[0] ^= u8::from(made < AUTHENTICATORS);
                made += 1;
            }
        })
    });
}

/// The opened Δ of an authenticator is not the committed one, and fits nothing.
/// Cheat: G | VerInKeyAuth | another Δ opened | `opened authenticator` | always
#[test]
fn another_offset_of_an_authenticator() {
    assert_caught(GARBLER, super::checks::OPENED_AUTHENTICATOR, || {
        message("duplo: opened authenticators", flip_in(1))
    });
}

/// An authenticator that accepts no key is outvoted by the two others in its bucket.
/// Cheat: G | EvKAs | one bad authenticator in a bucket | majority: the outputs are right | always
/// right
#[test]
fn one_bad_authenticator_is_outvoted() {
    let small = Small { components: [2, 2], authenticators: [3, 0] };
    for seed in 0..8 {
        let scene = Scene::new(Some(small), 1, seed);
        // All hashes of one authenticator, two for each of its four wires.
        let adversary = state("duplo: accepted", None, move |data| {
            data[4 * 32 * seed as usize..][..4 * 32].iter_mut().for_each(|b| *b ^= 1);
        });
        assert_unaffected(&scene, &cheat(&scene, GARBLER, adversary));
    }
}

/// An authenticator that accepts no key, alone in its bucket. The wires are in four bundles. The
/// first has the garbler's inputs: there the cheat is caught when the inputs arrive. In the others
/// it is caught when the keys of the bundle's wires are checked.
/// Cheat: G | EvKAs | an authenticator that accepts no key, alone in its bucket | `wire key` for an
/// output of a component, `input key` for an input | always; 3/4 of them `wire key`, at these sizes
#[test]
fn an_authenticator_that_accepts_nothing_is_noticed() {
    let small = Small { components: [2, 2], authenticators: [1, 0] };
    let mut of_wires = Rate::default();
    for seed in 0..120 {
        let scene = Scene::new(Some(small), 1, seed);
        // The hashes that the first of the authenticators accepts, two for each of its four wires.
        let adversary =
            state("duplo: accepted", None, |data| data[..4 * 32].iter_mut().for_each(|b| *b ^= 1));
        let [_, evaluator] = cheat(&scene, GARBLER, adversary);
        let of_wire = matches!(
            evaluator,
            Err(Error::PeerMisbehaved { check, .. }) if check == super::checks::WIRE_KEY
        );
        let check = if of_wire { super::checks::WIRE_KEY } else { super::checks::INPUT_KEY };
        assert_noticed(&evaluator, GARBLER, check);
        of_wires.note(of_wire);
    }
    of_wires.assert_predicted(0.75, "authenticators of outputs that accept nothing");
}

/// No copy in a bucket is good, and all give garbage: there is no right key to go on with.
/// Cheat: G | EvSubs | wrong tables in all copies of all buckets, none of which is opened | `wire
/// key` | always
#[test]
fn buckets_without_a_good_copy_are_noticed_when_they_give_garbage() {
    let small = Small { components: [2, 0], authenticators: [3, 3] };
    for seed in 0..4 {
        let scene = Scene::new(Some(small), 1, seed);
        let ended = cheat(&scene, GARBLER, state("duplo: table", None, |table| table.fill(7)));
        assert_noticed(&ended[1], GARBLER, super::checks::WIRE_KEY);
    }
}

/// GenSold: solderings of components, of authenticators and between slots do not match the
/// commitments.
/// Cheat: G | GenSold | inconsistent solderings in buckets and between slots | `commitment opening`
/// | always
#[test]
fn inconsistent_solderings() {
    for point in
        ["duplo: component soldering", "duplo: authenticator soldering", "duplo: soldering"]
    {
        for place in [1, 16, 33] {
            assert_caught(GARBLER, OPENING, || state(point, None, flip(place)));
        }
    }
}

/// GenSold: the indicator bit does not match the commitment.
/// Cheat: G | GenSold | a turned indicator bit | `commitment opening` | always
#[test]
fn a_turned_indicator_bit() {
    assert_caught(GARBLER, OPENING, || state("duplo: soldering", None, |data| data[16 * 3] ^= 1));
}

/// GenSold: differences of Δ whose last bit is 1.
/// Cheat: G | GenSold | a difference of Δ that ends in 1 | `offset difference` | always
#[test]
fn an_odd_difference_of_offsets() {
    for point in ["duplo: component soldering", "duplo: authenticator soldering"] {
        assert_caught(GARBLER, super::checks::DIFFERENCE, || {
            state(point, None, |data| data[0] ^= 1)
        });
    }
}

/// PreProcessOTInit: a transfer does not match its commitment. An evaluator whose input uses it
/// would fail for one value of the input only.
/// Cheat: G | PreProcessOTInit | a transfer that is not committed to (selective failure) |
/// `commitment opening` | 1 − 2^-ρ
#[test]
fn a_transfer_that_is_not_committed_to() {
    // One of the evaluator's four transfers, or one of the forty that are sacrificed. Then two that
    // cancel, and one that every sacrificed one cancels.
    let cancelled: Vec<usize> = [0].into_iter().chain((4..44).map(|i| 16 * i)).collect();
    for places in [&[0][..], &[16 * 3 + 7], &[16 * 4], &[16 * 43], &[0, 16], &cancelled[..]] {
        assert_caught(GARBLER, OPENING, || transfers("duplo: transfer keys", places));
    }
}

/// PreProcessOTInit: the committed offset is not that of the transfers.
/// Cheat: G | PreProcessOTInit | another Δ_ot committed to | `commitment opening` | 1 − 2^-ρ
#[test]
fn another_common_offset() {
    assert_caught(GARBLER, OPENING, || transfers("duplo: common offset", &[9]));
}

/// PreProcessOTInit: Δ_ot ends in 0, in the transfers as in the commitments. Then an opening of the
/// evaluator's input would be right for one value of the input only. Here nothing but that input
/// needs keys; one bucket of authenticators is made all the same, and shows that Δ_ot ends in 1.
/// Cheat: G | PreProcessOTInit | a Δ_ot that ends in 0, for a circuit of the evaluator's inputs
/// alone (selective failure) | `offset difference` | always
#[test]
fn an_even_common_offset() {
    for small in [Some(TINY), None] {
        let scene = Scene { small, ..Scene::of_evaluator(7) };
        assert_unaffected(&scene, &scene.run(|_| {}));
        let ended = cheat(&scene, GARBLER, state("set-up: delta", None, |delta| delta[0] ^= 1));
        assert_noticed(&ended[1], GARBLER, super::checks::DIFFERENCE);
    }
}

/// PreProcessOTInit: the evaluator lies about its sums in order to be told Δ_ot.
/// Cheat: E | PreProcessOTInit | lies about sums of transfers, to be told Δ_ot | `oblivious
/// transfer sum` | always
#[test]
fn a_lie_about_sums_of_transfers() {
    assert_caught(EVALUATOR, super::checks::TRANSFER, || {
        message("duplo: sums of choices", |payload| payload[0] ^= 1)
    });
    assert_caught(EVALUATOR, super::checks::TRANSFER, || {
        message("duplo: sums of transfers", flip_in(20))
    });
}

/// §5.1: a mask that ends in 1 would flip an output of the evaluator.
/// Cheat: G | §5.1 | masks of indicator bits that end in 1 | `indicator mask` | 1 − 2^-ρ
#[test]
fn a_mask_that_turns_a_bit() {
    // All masks, or only the first or the last one: of nine outputs, of forty sacrificed ones.
    for which in [None, Some(0), Some(8), Some(9), Some(48)] {
        assert_caught(GARBLER, super::checks::MASK, || {
            state("duplo: mask", which, |data| data[0] ^= 1)
        });
    }
}

/// §5.1: a sum of masks that does not match the commitments.
/// Cheat: G | §5.1 | a wrong sum of masks | `commitment opening` | always
#[test]
fn another_sum_of_masks() {
    assert_caught(GARBLER, OPENING, || message("duplo: sums of masks", flip_in(3)));
}

/// InputG: a key that is neither of the wire's two.
/// Cheat: G | InputG | a key that is none of the wire's | `input key` | always
#[test]
fn a_wrong_input_key() {
    for place in [0, 16, 63] {
        let wrong = || state("duplo: own input keys", None, flip(place));
        assert_caught(GARBLER, super::checks::INPUT_KEY, wrong);
    }
}

/// InputE: a key other than the committed one, and a lie about e, for every value of the input.
/// Cheat: G | InputE | a wrong opening, and a lie about e | `commitment opening` | always
#[test]
fn a_wrong_opening_of_an_input() {
    for bit in [1, 2] {
        let wrong = move |data: &mut [u8]| data[32] ^= bit;
        assert_caught(GARBLER, OPENING, || state("duplo: opened inputs", None, wrong));
    }
}

/// OutputE: a lie about the meaning of an output.
/// Cheat: G | OutputE | a lie about an indicator bit | `commitment opening` | always
#[test]
fn a_wrong_indicator_bit() {
    let wrong = |data: &mut [u8]| data[16] ^= 1;
    assert_caught(GARBLER, OPENING, || state("duplo: indicator bits", None, wrong));
}

/// OutputG: a key that is neither of the output's two, and a key of another output.
/// Cheat: E | OutputG | a key that did not come out | `returned key` | always
#[test]
fn a_returned_key_that_did_not_come_out() {
    assert_caught(EVALUATOR, super::checks::RETURNED_KEY, || {
        state("duplo: returned keys", None, flip(18))
    });
    assert_caught(EVALUATOR, super::checks::RETURNED_KEY, || {
        state("duplo: returned keys", None, |data| data.rotate_left(16))
    });
    assert_caught(EVALUATOR, super::checks::RETURNED_KEY, || {
        state("duplo: returned keys", None, |data| {
            data[..16].copy_from_slice(Block::as_bytes(&[Block(1)]));
        })
    });
}

/// The proof of the openings is wrong.
/// Cheat: G | F_HCOM | a wrong proof of openings | `commitment opening` | always
#[test]
fn a_wrong_proof() {
    assert_caught(GARBLER, OPENING, || message("commitments: proof", flip_in(31)));
}

/// GenSold of a linked input: a soldering to another key, or to the other value.
/// Cheat: G | GenSold | a wrong soldering of an output to an input of a later part | `commitment
/// opening` | always
#[test]
fn a_wrong_link() {
    for place in [0, 16, 15] {
        for change in [1, 2] {
            let adversary = move || {
                state("duplo: link", Some(1), move |data| {
                    if let Some(byte) = data.get_mut(place) {
                        *byte ^= change;
                    }
                })
            };
            for seed in 0..2 {
                let scene = Scene::new(Some(TINY), 1, seed);
                let ended =
                    scene.run_parts(|channels| channels[0].set_adversary(Box::new(adversary())));
                assert_noticed(&ended[1], GARBLER, OPENING);
            }
        }
    }
}

/// Bad copies in the part whose outputs nobody learns and in those that follow, next to a good one
/// in every bucket: everything that is learnt is right, whether the evaluator recovers in the first
/// part or in a later one.
/// Cheat: G | GenSub | swapped outputs in a part whose outputs nobody learns, and in later parts |
/// recovery: all outputs are right | always right
#[test]
fn parts_are_recovered_from_bad_copies() {
    let small = Small { components: [3, 0], authenticators: [3, 3] };
    for seed in 0..8 {
        let scene = Scene::new(Some(small), 1, seed);
        for copies in [&[0][..], &[2, 5], &[7], &[0, 8, 13]] {
            let adversary = swapped(copies);
            let ended = scene.run_parts(|channels| channels[0].set_adversary(Box::new(adversary)));
            for ended in ended {
                let expected = scene.expected_of_parts();
                assert_eq!(ended.unwrap(), [expected.clone(), expected], "seed {seed}, {copies:?}");
            }
        }
    }
}

/// At real sizes bad copies do not help a garbler: with so many of them one is opened, except with
/// probability 2^-40.
/// Cheat: G | GenSub | swapped outputs in half of the copies, at real sizes | `commitment opening`
/// | 1 − 2^-ρ
#[test]
fn bad_copies_are_opened_at_real_sizes() {
    let scene = Scene::new(None, 1, 5);
    let odd: Vec<usize> = (0..1000).filter(|copy| copy % 2 == 1).collect();
    let ended = cheat(&scene, GARBLER, swapped(&odd));
    assert_noticed(&ended[1], GARBLER, OPENING);
}

/// Of two batches that share a cut-and-choose, the first one runs before the second one is filled.
/// A garbler that has seen it run can change nothing in the second one.
/// Cheat: G | a batch that follows one with the same cut-and-choose | another table, a wrong
/// soldering | `component table`, `commitment opening` | always
#[test]
fn cheats_in_a_later_batch_are_caught() {
    // Each batch has two slots of two copies; its slots take one message of solderings.
    let table = || {
        FnAdversary::new().on_message("duplo: table", 4, |payload| {
            payload[3] ^= 1;
            Action::Send
        })
    };
    let soldering = || state("duplo: component soldering", Some(3), flip(16));
    for seed in 0..3 {
        let scene = Scene::new(Some(TINY), 1, seed);
        let ended = two_batches(&scene, table());
        assert_noticed(&ended[1], GARBLER, super::checks::TABLE_DIGEST);
        let ended = two_batches(&scene, soldering());
        assert_noticed(&ended[1], GARBLER, OPENING);
        for ended in two_batches(&scene, FnAdversary::new()) {
            assert_eq!(ended, Ok(2));
        }
    }
}

/// Runs two batches that are prepared together, each as soon as it is ready. Returns how many were
/// right.
fn two_batches(scene: &Scene, adversary: FnAdversary) -> [Result<usize>; 2] {
    let compiled = &Compiled::new(&scene.circuit);
    scene.play(
        [Meter::new(), Meter::new()],
        |channels| channels[usize::from(GARBLER)].set_adversary(Box::new(adversary)),
        |net| {
            let mut right = 0;
            set_up_with(net, scene.games())?.prepare_each(
                net,
                compiled,
                2,
                &mut |net, ready| {
                    let outputs = ready.evaluate(net, compiled, &scene.inputs_of(net.me))?;
                    assert_eq!(outputs, scene.expected(net.me));
                    right += 1;
                    Ok(())
                },
            )?;
            Ok(right)
        },
    )
}

/// A caller that goes on after a failed evaluation gets no further batch under the same keys.
/// Cheat: E | OutputG of a batch that another one follows, when the garbler's caller ignores the
/// error | a key that did not come out | the engine is dead | always
#[test]
fn a_failed_evaluation_ends_the_preparation_that_it_interrupts() {
    let scene = Scene::new(Some(TINY), 1, 0);
    let compiled = &Compiled::new(&scene.circuit);
    let wrong_key = state("duplo: returned keys", None, flip(18));
    let ended = scene.play(
        [Meter::new(), Meter::new()],
        |channels| channels[usize::from(EVALUATOR)].set_adversary(Box::new(wrong_key)),
        |net| {
            let mut engine = symbolon_engine::poisonable(set_up_with(net, scene.games())?);
            let mut failed = 0;
            let done = engine.prepare_each(net, compiled, 2, &mut |net, ready| {
                let evaluated = ready.evaluate(net, compiled, &scene.inputs_of(net.me));
                failed += usize::from(evaluated.is_err());
                Ok(())
            });
            assert!(net.me == EVALUATOR || failed == 1);
            done
        },
    );
    let of_garbler = &ended[usize::from(GARBLER)];
    let dead = |why: &str| why.contains("failed before");
    assert!(matches!(of_garbler, Err(Error::InvalidInput(why)) if dead(why)), "{of_garbler:?}");
}
