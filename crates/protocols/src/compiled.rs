//! A circuit with everything that protocols derive from it alone.

use std::sync::{Arc, OnceLock};

use symbolon_circuit::plan::Limits;
use symbolon_circuit::{Circuit, Plan};
use symbolon_transport::{Error, Result};

use crate::{dualex::function::Function, tinytable::program::Program};

/// A circuit with its digest and the forms in which protocols run it.
///
/// Each form is made when a protocol first requests it, and kept as long as this value. Make one
/// value per circuit, and use it for all phases and evaluations.
#[derive(Debug)]
pub struct Compiled {
    circuit: Circuit,
    limits: Limits,
    digest: OnceLock<[u8; 32]>,
    plan: OnceLock<Plan>,
    layers: OnceLock<Result<Arc<Program>>>,
    masked: OnceLock<Result<Arc<Function>>>,
}

impl Compiled {
    /// Wraps a circuit, which is cheap to clone.
    pub fn new(circuit: &Circuit) -> Compiled {
        Compiled::with_limits(circuit, Limits::DEFAULT)
    }

    /// Wraps a circuit, with other batch sizes of the plan.
    pub fn with_limits(circuit: &Circuit, limits: Limits) -> Compiled {
        Compiled {
            circuit: circuit.clone(),
            limits,
            digest: OnceLock::new(),
            plan: OnceLock::new(),
            layers: OnceLock::new(),
            masked: OnceLock::new(),
        }
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
    /// `InvalidInput` if the circuit is too large for layers.
    pub(crate) fn layers(&self) -> Result<&Arc<Program>> {
        let make = || Program::new(&self.circuit).map(Arc::new);
        self.layers.get_or_init(make).as_ref().map_err(Error::clone)
    }

    /// Returns the circuit with masked outputs that [`DualEx`](crate::Protocol::DualEx) garbles.
    ///
    /// # Errors
    /// `InvalidInput` when the circuit is too large or has an input of a third party.
    pub(crate) fn masked(&self) -> Result<&Arc<Function>> {
        let make = || Function::of(&self.circuit).map(Arc::new);
        self.masked.get_or_init(make).as_ref().map_err(Error::clone)
    }

    /// Checks that this is the circuit with `digest`, for which something was made.
    ///
    /// # Errors
    /// `InvalidInput` if it is a different one.
    pub(crate) fn must_be(&self, digest: &[u8; 32]) -> Result<()> {
        if self.digest() == *digest {
            return Ok(());
        }
        Err(Error::invalid_input("the material was made for another circuit"))
    }
}
