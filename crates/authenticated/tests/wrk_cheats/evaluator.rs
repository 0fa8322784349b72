//! The cheating evaluator: its masked inputs, and the outputs it returns.

use symbolon_circuit::Receivers;
use symbolon_engine::OutputBits;
use symbolon_transport::Error;
use symbolon_transport::adversary::{Action, FnAdversary};

use super::tools::*;
use crate::common::{self, Setting};

/// The size of the garbler's output bits in bytes.
const BITS: usize = WIDTH / 8;

/// Step 6, an input bit is flipped, and evaluated as flipped: this is the choice of a different
/// input, which cannot be prevented. Both parties get the function's value on that input, and
/// nobody is accused.
/// Cheat: E | step 6 | another input, meant | none: it is another input | never
#[test]
fn another_input_is_just_another_input() {
    let [a, b] = inputs();
    let mut other = b.clone();
    other[4] = !other[4];
    let circuit = circuit();
    let ended = common::run_apart(
        Setting::default(),
        [&circuit; 2],
        [&[a.clone(), b], &[a.clone(), other.clone()]],
        |_| (),
    );
    let all = [a, other];
    assert_ne!(right(0), common::expected(&circuit, 0, &all), "the bit matters");
    for (party, ended) in (0..).zip(ended) {
        assert_eq!(ended.outputs.unwrap(), common::expected(&circuit, party, &all));
    }
}

/// Step 6, a masked input is flipped only in the message: the evaluator gets a label that does not
/// match the value it evaluates, and ruins its own evaluation. The garbler gets no output rather
/// than a wrong one.
/// Cheat: E | step 6 | a masked input flipped in the message alone | E ruins its own evaluation |
/// always
#[test]
fn flipped_masked_input() {
    for wire in [0, WIDTH - 1] {
        let ended = cheat(1, message(MASKED, 0, move |p| p[wire / 8] ^= 1 << (wire % 8)));
        common::assert_caught(&ended[1], 0, TABLE_CHECK);
        assert!(matches!(ended[0].outputs, Err(Error::Transport { .. })));
    }
}

/// Step 8 for the garbler's outputs (YWZ20 step 11): a flipped Λ with the honest digest; a flipped
/// share of a mask; a changed digest; both bits flipped, so that the output would be the same.
/// Always caught.
/// Cheat: E | step 8, YWZ step 11 | a flipped Λ, share or digest of G's outputs | `returned output
/// label and MAC` | always
#[test]
fn wrong_returned_outputs() {
    let changes: [fn(&mut Vec<u8>); 7] = [
        |p| p[0] ^= 1,
        |p| p[BITS - 1] ^= 0x80,
        |p| p[BITS] ^= 1,
        |p| p[2 * BITS - 1] ^= 0x80,
        |p| p[2 * BITS] ^= 1,
        |p| p[2 * BITS + 31] ^= 0x80,
        |p| {
            p[0] ^= 1;
            p[BITS] ^= 1;
        },
    ];
    for change in changes {
        assert_caught(&cheat(1, message(RETURNED, 0, change)), 1, RETURNED_CHECK);
    }
}

/// The same with a made-up digest, and with nothing but zeros. Always caught.
/// Cheat: E | step 8, YWZ step 11 | a made-up digest, zeros | `returned output label and MAC` |
/// always
#[test]
fn made_up_returned_outputs() {
    let ended = cheat(
        1,
        message(RETURNED, 0, |p| {
            p[0] ^= 1;
            p[2 * BITS..].fill(1);
        }),
    );
    assert_caught(&ended, 1, RETURNED_CHECK);
    assert_caught(&cheat(1, message(RETURNED, 0, |p| p.fill(0))), 1, RETURNED_CHECK);
}

/// The proof is missing, or the message is short or long. The framing always catches it; likewise
/// for the masked inputs.
/// Cheat: E | steps 6, 8 | the proof withheld, short, long | `message framing` | always
#[test]
fn short_and_long() {
    let without_digest: fn(&mut Vec<u8>) = |p| p.truncate(p.len().saturating_sub(32));
    for change in LENGTHS.into_iter().chain([without_digest]) {
        assert_caught(&cheat(1, message(RETURNED, 0, change)), 1, FRAMING);
        assert_caught(&cheat(1, message(MASKED, 0, change)), 1, FRAMING);
    }
}

/// Nothing is returned: the garbler has no output, and accuses nobody of a lost connection; the
/// evaluator has its own output.
/// Cheat: E | step 8 | nothing returned | G has no output | always
#[test]
fn outputs_withheld() {
    let drop = FnAdversary::new().on_message(RETURNED, 0, |_| Action::Drop);
    let [garbler, evaluator] = cheat(1, drop);
    assert!(matches!(garbler.outputs, Err(Error::Transport { .. })));
    assert_eq!(evaluator.outputs.unwrap(), right(1));
}

/// Bits after the last one of any packed message: a message has only one form.
/// Cheat: E | steps 6, 8 | bits after the last | `padding of packed bits` | always
#[test]
fn garbage_behind_packed_bits() {
    const ODD: usize = 5;
    let circuit = common::two_layers(ODD as u32, Receivers::All);
    let inputs = [vec![true; ODD], vec![true; ODD]];
    for (kind, place) in [(MASKED, 0), (RETURNED, 0), (RETURNED, 1)] {
        let adversary = message(kind, 0, move |p| p[place] ^= 0x80);
        let ended = common::run_bent(Setting::default(), &circuit, &inputs, by(1, adversary));
        common::assert_caught(&ended[0], 1, PADDING);
    }
}

/// Only the evaluator learns the output of this circuit: nothing is returned, and the garbler ends
/// successfully without output.
/// Cheat: E | step 8 | outputs that G may not learn | none is sent | always
#[test]
fn nothing_is_returned_that_nobody_may_learn() {
    let circuit = common::two_layers(WIDTH as u32, Receivers::only([1]));
    let never = message(RETURNED, 0, |_| unreachable!("the garbler learns nothing"));
    let ended = cheat_in(&circuit, 1, never);
    let nothing: OutputBits = vec![None];
    assert_eq!(ended[0].outputs.as_ref().unwrap(), &nothing);
    assert_eq!(ended[1].outputs.as_ref().unwrap(), &right(1));
}
