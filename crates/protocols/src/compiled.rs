//! A circuit, with everything that protocols derive from it alone.

use std::sync::{Arc, OnceLock};

use symbolon_circuit::plan::Limits;
use symbolon_circuit::{Circuit, Plan};
use symbolon_transport::{Error, Result};

use crate::tinytable::program::Program;

/// A circuit with its digest and the forms in which protocols run it.
///
/// Each form is made when a protocol first asks for it, and kept as long as this value. Make one
/// value for a circuit, and use it for all phases and evaluations.
#[derive(Debug)]
pub struct Compiled {
    circuit: Circuit,
    limits: Limits,
    digest: OnceLock<[u8; 32]>,
    plan: OnceLock<Plan>,
    layers: OnceLock<Result<Arc<Program>>>,
}

impl Compiled {
    /// Takes a circuit, which is cheap to clone.
    pub fn new(circuit: &Circuit) -> Compiled {
        Compiled::with_limits(circuit, Limits::DEFAULT)
    }

    /// Like [`new`](Compiled::new), with other sizes of the plan's batches.
    pub fn with_limits(circuit: &Circuit, limits: Limits) -> Compiled {
        let (digest, plan, layers) = (OnceLock::new(), OnceLock::new(), OnceLock::new());
        Compiled { circuit: circuit.clone(), limits, digest, plan, layers }
    }

    /// Returns the circuit.
    pub fn circuit(&self) -> &Circuit {
        &self.circuit
    }

    /// Returns the circuit's digest.
    pub fn digest(&self) -> [u8; 32] {
        *self.digest.get_or_init(|| self.circuit.digest())
    }

    /// Returns the flat plan by which garbling protocols evaluate it, with gates in place of
    /// look-ups.
    pub fn plan(&self) -> &Plan {
        self.plan.get_or_init(|| Plan::with_limits(&self.circuit, self.limits))
    }

    /// Returns the circuit with its plan.
    pub(crate) fn planned(&self) -> (&Circuit, &Plan) {
        (&self.circuit, self.plan())
    }

    /// Returns the layers by which [`TinyTable`](crate::Protocol::TinyTable) evaluates it.
    ///
    /// # Errors
    /// `InvalidInput` when the circuit is too large for layers.
    pub(crate) fn layers(&self) -> Result<&Arc<Program>> {
        let make = || Program::new(&self.circuit).map(Arc::new);
        self.layers.get_or_init(make).as_ref().map_err(Error::clone)
    }

    /// Refuses this circuit unless it is the one with `digest`, for which material was made.
    ///
    /// # Errors
    /// `InvalidInput` when it is another circuit.
    pub(crate) fn must_be(&self, digest: &[u8; 32]) -> Result<()> {
        if self.digest() == *digest {
            return Ok(());
        }
        Err(Error::invalid_input("the material was made for another circuit"))
    }
}
