//! A circuit with everything that protocols derive from it alone.

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use symbolon_circuit::plan::Limits;
use symbolon_circuit::{Circuit, Plan};
use symbolon_transport::{Error, Result};

/// A form in which a protocol runs a circuit, derived from the circuit alone.
pub trait Derived: Sized + Send + Sync + 'static {
    /// Derives the form.
    ///
    /// # Errors
    /// `InvalidInput` if the protocol cannot run the circuit.
    fn derive(circuit: &Circuit) -> Result<Self>;
}

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
    /// Each form by its type: a `Result<Arc<form>>`.
    derived: Mutex<HashMap<TypeId, Box<dyn Any + Send>>>,
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
            derived: Mutex::default(),
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
    pub fn planned(&self) -> (&Circuit, &Plan) {
        (&self.circuit, self.plan())
    }

    /// Returns a protocol's own form of the circuit. Concurrent calls wait for the first one.
    ///
    /// # Errors
    /// As [`Derived::derive`], the same at every call.
    pub fn derived<T: Derived>(&self) -> Result<Arc<T>> {
        // A panic while a form is made leaves none, so the map is as good as before.
        let mut all = self.derived.lock().unwrap_or_else(PoisonError::into_inner);
        let make = || -> Box<dyn Any + Send> { Box::new(T::derive(&self.circuit).map(Arc::new)) };
        let form = all.entry(TypeId::of::<T>()).or_insert_with(make);
        let form = form.downcast_ref::<Result<Arc<T>>>();
        form.cloned().unwrap_or_else(|| Err(Error::internal("a form of another type")))
    }

    /// Checks that this is the circuit with `digest`, for which something was made.
    ///
    /// # Errors
    /// `InvalidInput` if it is a different one.
    pub fn must_be(&self, digest: &[u8; 32]) -> Result<()> {
        if self.digest() == *digest {
            return Ok(());
        }
        Err(Error::invalid_input("the material was made for another circuit"))
    }
}
