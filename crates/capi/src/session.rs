//! A session: connect, evaluate, and evaluate again.

use symbolon::{Error, Session};

use crate::border::{compute, free_beside};
use crate::circuit::CircuitHandle;
use crate::config::ConfigHandle;
use crate::failure::{Failure, Status};
use crate::inputs::{InputsHandle, finish_all};
use crate::outputs::OutputsHandle;
use crate::pointers::{give, give_all, handle, handle_mut, place};

/// A session with all peers.
pub struct SessionHandle {
    /// Nothing while a call has it, so that a session in which something panicked is gone.
    session: Option<Session>,
}

impl SessionHandle {
    fn take(&mut self) -> Result<Session, Error> {
        self.session.take().ok_or_else(gone)
    }
}

fn gone() -> Error {
    Error::internal("the session ended in a panic")
}

/// Meets all peers, agrees with them on `circuit` and the parameters, and does the set-up.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn symbolon_connect(
    config: *const ConfigHandle,
    circuit: *const CircuitHandle,
    session: *mut *mut SessionHandle,
    error: *mut *mut Failure,
) -> Status {
    let work = || {
        // SAFETY: the rules for callers.
        let (config, circuit) = unsafe { (handle(config, "config")?, handle(circuit, "circuit")?) };
        place(session)?;
        let made = Session::connect(config.build()?, &circuit.0)?;
        // SAFETY: the same.
        Ok(unsafe { give(session, SessionHandle { session: Some(made) }) }?)
    };
    // SAFETY: the same.
    unsafe { compute(error, work) }
}

/// Goes on to another circuit in the same session, without a new set-up; all parties do so.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn symbolon_next_circuit(
    session: *mut SessionHandle,
    circuit: *const CircuitHandle,
    error: *mut *mut Failure,
) -> Status {
    let work = || {
        // SAFETY: the rules for callers.
        let (owner, circuit) =
            unsafe { (handle_mut(session, "session")?, handle(circuit, "circuit")?) };
        let mut session = owner.take()?;
        let done = session.next_circuit(&circuit.0);
        owner.session = Some(session);
        Ok(done?)
    };
    // SAFETY: the same.
    unsafe { compute(error, work) }
}

/// Computes the session's circuit on this party's inputs. It may be called again, with other
/// inputs. It is one evaluation, whatever `batch` was set to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn symbolon_evaluate(
    session: *mut SessionHandle,
    inputs: *const InputsHandle,
    outputs: *mut *mut OutputsHandle,
    error: *mut *mut Failure,
) -> Status {
    let work = || {
        // SAFETY: the rules for callers.
        let (owner, inputs) =
            unsafe { (handle_mut(session, "session")?, handle(inputs, "inputs")?) };
        place(outputs)?;
        let inputs = inputs.finish()?;
        let mut session = owner.take()?;
        let (learnt, parties) = (session.evaluate(&inputs), session.parties());
        owner.session = Some(session);
        let learnt = OutputsHandle::checked(learnt?, parties)?;
        // SAFETY: the same.
        Ok(unsafe { give(outputs, learnt) }?)
    };
    // SAFETY: the same.
    unsafe { compute(error, work) }
}

/// Computes the session's circuit on this party's inputs for each evaluation of a batch: on
/// `count` of them, which is what `batch` was set to, and at most 2^24. `outputs` has a place for
/// each. A failed assert concerns its evaluation alone: only reading those outputs has the status
/// ASSERT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn symbolon_evaluate_batch(
    session: *mut SessionHandle,
    inputs: *const *const InputsHandle,
    count: usize,
    outputs: *mut *mut OutputsHandle,
    error: *mut *mut Failure,
) -> Status {
    let work = || {
        // SAFETY: the rules for callers.
        let owner = unsafe { handle_mut(session, "session") }?;
        place(outputs)?;
        let executions = owner.session.as_ref().ok_or_else(gone)?.executions();
        // SAFETY: the same.
        let inputs = unsafe { finish_all(inputs, count, executions) }?;
        let mut session = owner.take()?;
        let (mut all, parties) = (Vec::with_capacity(count), session.parties());
        let done = session.evaluate_batch(inputs.into_iter().map(Ok), |learnt| {
            all.push(OutputsHandle::new(learnt, parties));
            Ok(())
        });
        owner.session = Some(session);
        done?;
        // SAFETY: the same.
        Ok(unsafe { give_all(outputs, all) }?)
    };
    // SAFETY: the same.
    unsafe { compute(error, work) }
}

/// Ends a session: its connections are closed and its keys are wiped.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn symbolon_session_free(session: *mut SessionHandle) {
    // SAFETY: the rules for callers.
    unsafe { free_beside(session) }
}
