//! How a long batch is divided into windows.

use symbolon_circuit::Circuit;
use symbolon_protocols::{Compiled, Protocol, RunTerms};
use symbolon_transport::Result;

/// The approximate number of triples in a window, whose material is made together and held in
/// memory.
const TRIPLES: u64 = 1 << 20;

/// How [`Session::evaluate_batch`](crate::Session::evaluate_batch) divides a batch: into windows,
/// whose evaluations run side by side if the protocol can, and which may be prepared several at a
/// time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BatchPlan {
    /// Evaluations in all.
    executions: u64,
    /// The most evaluations in a window.
    window: u64,
    /// The most windows that are prepared together; `None` if the protocol prepares each by itself.
    together: Option<u64>,
}

/// Windows of a batch that are prepared together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BatchWindows {
    /// How many windows.
    pub windows: u64,
    /// How many evaluations in each.
    pub executions: u64,
    /// How many such groups of windows follow one another.
    pub times: u64,
}

impl BatchPlan {
    /// Plans a batch of `executions` evaluations of `circuit` among `parties` parties.
    /// `terms.executions` does not matter.
    ///
    /// # Errors
    /// `InvalidInput` if the protocol cannot run this circuit.
    pub fn new(
        protocol: Protocol,
        circuit: &Compiled,
        parties: u16,
        terms: RunTerms<'_>,
        executions: u64,
    ) -> Result<BatchPlan> {
        let plan = |window, together| BatchPlan { executions, window, together };
        if !protocol.runs_batches() {
            return Ok(plan(1, None));
        }
        let of = |executions| RunTerms { executions, ..terms };
        let need = protocol.demand_of(circuit, parties, of(1))?;
        // What a batch needs once, whatever its size, does not bound it: the circuit's inputs do.
        let most = window(circuit.circuit(), need.and_gates);
        if executions <= most {
            return Ok(plan(most, None));
        }
        // Windows that share a cut-and-choose have the same size.
        let even = (most.div_ceil(2)..=most).rev().find(|n| executions.is_multiple_of(*n));
        let even = even.unwrap_or(most);
        let windows = usize::try_from(executions / even).unwrap_or(usize::MAX);
        Ok(match protocol.batches_together(circuit, of(even as usize), windows)? {
            None | Some(1) => plan(most, None),
            Some(together) => plan(even, Some(together as u64)),
        })
    }

    /// Returns the windows in order, at most three kinds of groups.
    pub fn windows(&self) -> Vec<BatchWindows> {
        let executions = self.window.min(self.executions);
        let Some(windows) = self.executions.checked_div(executions) else { return Vec::new() };
        let rest = self.executions % executions;
        // All groups have about the same number of windows.
        let groups = windows.div_ceil(self.together.unwrap_or(1));
        let (fewer, larger) = (windows / groups, windows % groups);
        let all = [
            BatchWindows { windows: fewer + 1, executions, times: larger },
            BatchWindows { windows: fewer, executions, times: groups - larger },
            BatchWindows { windows: 1, executions: rest, times: u64::from(rest > 0) },
        ];
        all.into_iter().filter(|group| group.times > 0).collect()
    }
}

/// Returns how many evaluations of a circuit a window has room for.
fn window(circuit: &Circuit, and_gates: u64) -> u64 {
    // A bit of an input or an output takes about as much memory as a gate.
    let inputs = circuit.inputs().iter().map(|input| input.ty.width());
    let outputs = circuit.outputs().iter().map(|output| output.ty.width());
    let bits = inputs.chain(outputs).fold(0, u64::saturating_add);
    let window = TRIPLES / and_gates.max(bits).max(1);
    if window > 64 { window / 64 * 64 } else { window.max(1) }
}

#[cfg(test)]
mod tests {
    use symbolon_circuit::{Receivers, Type, builder::Builder, builtin};

    use super::*;

    /// Returns the groups of windows of a batch: how many windows, their evaluations, how often.
    fn windows(protocol: Protocol, circuit: &Circuit, executions: u64) -> Vec<[u64; 3]> {
        let terms = RunTerms::default();
        let circuit = Compiled::new(circuit);
        let plan = BatchPlan::new(protocol, &circuit, 2, terms, executions);
        let groups = plan.expect("it runs batches").windows().into_iter();
        groups.map(|group| [group.windows, group.executions, group.times]).collect()
    }

    #[test]
    fn windows_are_bounded_by_gates_and_by_inputs_and_outputs() {
        let first = |circuit| windows(Protocol::TinyTable, circuit, 1 << 40)[0];
        let of = |window| [1, window, (1 << 40) / window];
        let aes = builtin::by_name("aes128").unwrap();
        assert_eq!(first(&aes), of(TRIPLES / 6400 / 64 * 64));
        let mut b = Builder::new("wires");
        let (x, y) = (b.input("x", Type::Uint(2048), 0), b.input("y", Type::Uint(2048), 1));
        let xor = b.xor(&x, &y);
        b.output("xor", &xor, Type::Uint(2048), Receivers::All);
        assert_eq!(first(&b.finish().unwrap()), of(TRIPLES / 6144 / 64 * 64));
    }

    /// A code needs some thousand authenticated bits, however many evaluations share it.
    #[test]
    fn what_a_batch_needs_once_does_not_bound_it() {
        use crate::tinytable::{Commitment, TinyTableOptions};
        let options = TinyTableOptions { commitment: Commitment::Code, ..Default::default() };
        let terms = RunTerms { options: &options.into(), ..RunTerms::default() };
        let aes = Compiled::new(&builtin::by_name("aes128").unwrap());
        let plan = BatchPlan::new(Protocol::TinyTable, &aes, 2, terms, 300).unwrap();
        let groups = plan.windows().into_iter().map(|group| group.executions);
        assert_eq!(groups.collect::<Vec<_>>(), [128, 44]);
    }

    #[test]
    fn windows_that_are_prepared_together_have_one_size() {
        let aes = builtin::by_name("aes128").unwrap();
        let duplo = |executions| windows(Protocol::Duplo, &aes, executions);
        assert!(duplo(0).is_empty());
        assert_eq!(duplo(1), [[1, 1, 1]]);
        assert_eq!(duplo(128), [[1, 128, 1]]);
        assert_eq!(duplo(170), [[2, 85, 1]]);
        assert_eq!(duplo(257), [[2, 128, 1], [1, 1, 1]]);
        assert_eq!(duplo(1000), [[8, 125, 1]]);
        // One cut-and-choose has room for about 1 600 of these circuits.
        assert_eq!(duplo(4096), [[11, 128, 2], [10, 128, 1]]);
        assert_eq!(windows(Protocol::TinyTable, &aes, 300), [[1, 128, 2], [1, 44, 1]]);
        assert_eq!(windows(Protocol::Wrk, &aes, 2), [[1, 1, 2]]);
        // A window has one of these evaluations, and a cut-and-choose three.
        let large = builtin::by_name("matmul:16x32").unwrap();
        assert_eq!(windows(Protocol::Duplo, &large, 7), [[3, 1, 1], [2, 1, 2]]);
    }
}
