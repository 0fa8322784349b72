//! Recover of Appendix A: what the evaluator does once it has both keys of a wire.
//!
//! The two keys differ by the wire's Δ, which gives Δ_ot and every other Δ. The wires of the
//! garbler's inputs authenticate themselves: the key for 0 is H(Δ). So the evaluator reads the
//! value of each key that it was given, and evaluates the circuit in the clear. For a wire whose
//! key it must return, it finds the value of the key that it holds in the same way, and returns the
//! key of the right value.
//!
//! The evaluator takes the same steps when it knows no Δ, and a mask then drops the result. Whether
//! a cheat shows may depend on the evaluator's inputs, so the garbler must not learn it from the
//! time of an answer.

use symbolon_circuit::{Plan, eval_lanes};
use symbolon_primitives::Block;
use zeroize::Zeroizing;

use super::assemble::returned;
use super::authenticators::Authenticators;
use super::evaluate::Evaluated;
use super::program::{Carrier, Program, ToGarbler};

/// The result of a recovery.
pub(super) struct Recovered {
    /// Whether there was a recovery. If not, the outputs are meaningless.
    pub known: bool,
    /// All output bits.
    pub outputs: Zeroizing<Vec<bool>>,
    /// The keys to return: the right ones after a recovery, else those that were found.
    pub returned: Zeroizing<Vec<Block>>,
}

/// Recovers the outputs and the keys to return, if Δ_ot is known: reads the garbler's inputs from
/// the keys of the input wires. `own` are the evaluator's inputs, and `plan` is the circuit's.
///
/// Paper: KNRTT17, Recover | recovery
///
/// Timing: whether Δ was learnt, inputs | the same steps with and without it, on a circuit in the
/// clear without indices (`eval_lanes`); masks choose the result
pub(super) fn recover(
    (program, plan): (&Program, &Plan),
    authenticators: &Authenticators,
    evaluated: &Evaluated,
    own: &[bool],
) -> Recovered {
    let (common_offset, known) =
        (evaluated.common_offset.value(), evaluated.common_offset.is_known());
    let value = |wire: usize| match program.carriers[wire] {
        Carrier::OwnInput(input) => own[input as usize],
        Carrier::Authenticated(_) => {
            authenticators.value(wire, evaluated.wires[wire], common_offset)
        }
    };
    let mut inputs = Zeroizing::new(vec![false; program.graph.inputs]);
    inputs.iter_mut().enumerate().for_each(|(wire, bit)| *bit = value(wire));
    let outputs = clear((program, plan), &inputs);
    let right = program.to_garbler.iter().filter_map(|&(output, source)| match source {
        ToGarbler::Wire(_, constant) => Some(outputs[output] ^ constant),
        ToGarbler::Sum(_) => Some(outputs[output] ^ program.graph.outputs.get(output).1),
        ToGarbler::Constant(_) => None,
    });
    let key = |(wire, right): (u32, bool)| {
        let wire = wire as usize;
        let offset = common_offset ^ evaluated.differences[wire];
        evaluated.wires[wire] ^ offset.select(known & (right ^ value(wire)))
    };
    let mut keys = Zeroizing::new(Vec::with_capacity(program.to_garbler.len()));
    keys.extend(returned(program).zip(right).map(key));
    Recovered { known, outputs, returned: keys }
}

/// Evaluates all executions in the clear and returns the output bits.
fn clear((program, plan): (&Program, &Plan), inputs: &[bool]) -> Zeroizing<Vec<bool>> {
    let width = inputs.len() / program.executions;
    let mut outputs = Zeroizing::new(Vec::with_capacity(program.graph.outputs.len()));
    let mut lanes: Zeroizing<Vec<u64>> = Zeroizing::new(Vec::with_capacity(width));
    for execution in 0..program.executions {
        lanes.clear();
        lanes.extend(inputs[execution * width..][..width].iter().map(|&bit| u64::from(bit)));
        let words = Zeroizing::new(eval_lanes(plan, &lanes));
        outputs.extend(words.iter().map(|word| word & 1 == 1));
    }
    outputs
}
