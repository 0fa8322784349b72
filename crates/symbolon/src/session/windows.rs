//! How a long batch is divided into windows.

use symbolon_circuit::Circuit;
use symbolon_protocols::{Batch, Compiled, ComponentTerms, Protocol};
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
    /// Evaluations in a window, if there are so many.
    window: u64,
    /// The most windows that are prepared together; `None` if the protocol prepares each by itself.
    together: Option<u64>,
}

/// Some windows of a batch that are prepared together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BatchWindows {
    /// How many windows.
    pub windows: u64,
    /// How many evaluations in each.
    pub executions: u64,
}

impl BatchPlan {
    /// Plans a batch of `executions` evaluations of `circuit` among `parties` parties.
    /// `terms.batch.executions` does not matter.
    ///
    /// # Errors
    /// `InvalidInput` if the protocol cannot run this circuit.
    pub fn new(
        protocol: Protocol,
        circuit: &Compiled,
        parties: u16,
        terms: ComponentTerms<'_>,
        executions: u64,
    ) -> Result<BatchPlan> {
        let plan = |window, together| BatchPlan { executions, window, together };
        if !protocol.runs_batches() {
            return Ok(plan(1, None));
        }
        let batch = |executions| Batch { executions, ..terms.batch };
        let need = protocol.demand_of(circuit, parties, batch(1))?;
        let most = window(circuit.circuit(), need.and_gates, &need.input_bits);
        if executions <= most {
            return Ok(plan(most, None));
        }
        // Windows that share a cut-and-choose have the same size.
        let even = (most.div_ceil(2)..=most).rev().find(|n| executions.is_multiple_of(*n));
        let even = even.unwrap_or(most);
        let terms = ComponentTerms { batch: batch(even as usize), ..terms };
        let windows = usize::try_from(executions / even).unwrap_or(usize::MAX);
        Ok(match protocol.batches_together(circuit, terms, windows)? {
            None => plan(most, None),
            Some(together) => plan(even, Some(together as u64)),
        })
    }

    /// Returns the windows in order, those that are prepared together as one item.
    pub fn windows(self) -> impl Iterator<Item = BatchWindows> {
        let mut left = self.executions;
        std::iter::from_fn(move || {
            let executions = self.window.min(left);
            let windows = left.checked_div(executions)?;
            // All groups have about the same number of windows.
            let groups = windows.div_ceil(self.together.unwrap_or(1));
            let windows = windows.div_ceil(groups);
            left -= windows * executions;
            Some(BatchWindows { windows, executions })
        })
    }
}

/// Returns how many evaluations of a circuit a window has room for.
fn window(circuit: &Circuit, and_gates: u64, input_bits: &[u64]) -> u64 {
    // A bit of an input or an output takes about as much memory as a gate.
    let outputs = circuit.outputs().iter().map(|output| output.ty.width());
    let bits = input_bits.iter().copied().chain(outputs).fold(0, u64::saturating_add);
    let window = TRIPLES / and_gates.max(bits).max(1);
    if window > 64 { window / 64 * 64 } else { window.max(1) }
}

#[cfg(test)]
mod tests {
    use symbolon_circuit::{Receivers, Type, builder::Builder, builtin};
    use symbolon_protocols::Rho;

    use super::*;

    /// Returns the windows of a batch: how many are prepared together, and their evaluations.
    fn windows(
        protocol: Protocol,
        circuit: &Circuit,
        executions: u64,
    ) -> impl Iterator<Item = [u64; 2]> {
        let terms = ComponentTerms { rho: Rho::Bits40, batch: Batch::default(), names: &[] };
        let circuit = Compiled::new(circuit);
        let plan = BatchPlan::new(protocol, &circuit, 2, terms, executions);
        plan.expect("it runs batches").windows().map(|next| [next.windows, next.executions])
    }

    #[test]
    fn windows_are_bounded_by_gates_and_by_inputs_and_outputs() {
        let first = |circuit| windows(Protocol::TinyTable, circuit, 1 << 30).next().unwrap();
        let aes = builtin::by_name("aes128").unwrap();
        assert_eq!(first(&aes), [1, TRIPLES / 6400 / 64 * 64]);
        let mut b = Builder::new("wires");
        let (x, y) = (b.input("x", Type::Uint(2048), 0), b.input("y", Type::Uint(2048), 1));
        let xor = b.xor(&x, &y);
        b.output("xor", &xor, Type::Uint(2048), Receivers::All);
        assert_eq!(first(&b.finish().unwrap()), [1, TRIPLES / 6144 / 64 * 64]);
    }

    #[test]
    fn windows_that_are_prepared_together_have_one_size() {
        let aes = builtin::by_name("aes128").unwrap();
        let all = |protocol, executions| windows(protocol, &aes, executions).collect::<Vec<_>>();
        let duplo = |executions| all(Protocol::Duplo, executions);
        assert_eq!(duplo(1), [[1, 1]]);
        assert_eq!(duplo(128), [[1, 128]]);
        assert_eq!(duplo(170), [[2, 85]]);
        assert_eq!(duplo(257), [[2, 128], [1, 1]]);
        assert_eq!(duplo(1000), [[8, 125]]);
        // One cut-and-choose has room for about 1 600 of these circuits.
        assert_eq!(duplo(4096), [[11, 128], [11, 128], [10, 128]]);
        assert_eq!(all(Protocol::TinyTable, 300), [[1, 128], [1, 128], [1, 44]]);
        assert_eq!(all(Protocol::Wrk, 2), [[1, 1], [1, 1]]);
    }
}
