//! A store: work ahead of time.

use std::ffi::c_char;

use symbolon::store::{Protection, Store};
use symbolon::{Error, stored};

use crate::border::{compute, free_beside};
use crate::circuit::CircuitHandle;
use crate::config::ConfigHandle;
use crate::failure::{Failure, Status};
use crate::inputs::{InputsHandle, finish_all};
use crate::outputs::OutputsHandle;
use crate::pointers::{give, give_all, handle, optional_text, place, text};

/// A directory with material of one party, of which nothing is used twice.
pub struct StoreHandle(pub(crate) Store);

/// Opens the store in `directory`, or makes it there. If `key_file` is not null, it is encrypted
/// under that file, which `symbolon store keygen` makes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn symbolon_store_open(
    directory: *const c_char,
    key_file: *const c_char,
    store: *mut *mut StoreHandle,
    error: *mut *mut Failure,
) -> Status {
    let work = || {
        // SAFETY: the rules for callers.
        let (directory, key) = unsafe {
            let directory = text(directory, "the directory of the store")?;
            (directory, optional_text(key_file, "the key file of the store")?)
        };
        let protection = key.map_or(Protection::None, |key| Protection::KeyFile(key.into()));
        let opened = Store::open_or_create(directory, &protection).map_err(Error::from)?;
        // SAFETY: the same.
        Ok(unsafe { give(store, StoreHandle(opened)) }?)
    };
    // SAFETY: the same.
    unsafe { compute(error, work) }
}

/// Fills the pools of all parties' stores, together with them, until there is material for this
/// many AND gates, and for this many input bits of each party.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn symbolon_preprocess(
    config: *const ConfigHandle,
    store: *const StoreHandle,
    and_gates: u64,
    input_bits: u64,
    error: *mut *mut Failure,
) -> Status {
    let work = || {
        // SAFETY: the rules for callers.
        let (config, store) = unsafe { (handle(config, "config")?, handle(store, "store")?) };
        let target = stored::Amount { and_gates, input_bits };
        stored::fill(config.build()?, &store.0, target)?;
        Ok(())
    };
    // SAFETY: the same.
    unsafe { compute(error, work) }
}

/// Prepares `circuit` in all parties' stores, together with them, for `count` runs, each of as many
/// evaluations as `batch` says, or of one with `in_flight`: from pools where there are any, from
/// new material otherwise.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn symbolon_prepare(
    config: *const ConfigHandle,
    store: *const StoreHandle,
    circuit: *const CircuitHandle,
    count: u32,
    error: *mut *mut Failure,
) -> Status {
    let work = || {
        // SAFETY: the rules for callers.
        let (config, store, circuit) = unsafe {
            let store = handle(store, "store")?;
            (handle(config, "config")?, store, handle(circuit, "circuit")?)
        };
        stored::prepare(config.build()?, &store.0, &circuit.0, count)?;
        Ok(())
    };
    // SAFETY: the same.
    unsafe { compute(error, work) }
}

/// Runs a prepared circuit that all parties hold. It is used up, whatever comes of the run.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn symbolon_run_prepared(
    config: *const ConfigHandle,
    store: *const StoreHandle,
    circuit: *const CircuitHandle,
    inputs: *const InputsHandle,
    outputs: *mut *mut OutputsHandle,
    error: *mut *mut Failure,
) -> Status {
    let work = || {
        // SAFETY: the rules for callers.
        let (config, store, circuit, inputs) = unsafe {
            let (config, store) = (handle(config, "config")?, handle(store, "store")?);
            (config, store, handle(circuit, "circuit")?, handle(inputs, "inputs")?)
        };
        place(outputs)?;
        let inputs = inputs.finish()?;
        let ran = stored::run(config.build()?, &store.0, &circuit.0, &inputs)?;
        let learnt = OutputsHandle::checked(ran.outputs, config.parties())?;
        // SAFETY: the same.
        Ok(unsafe { give(outputs, learnt) }?)
    };
    // SAFETY: the same.
    unsafe { compute(error, work) }
}

/// Runs a circuit that was prepared for a batch, and that all parties hold, as
/// symbolon_evaluate_batch does. It is used up, whatever comes of the run. With `in_flight`, each
/// evaluation takes a prepared circuit of its own, and so `count` of them are used up.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn symbolon_run_prepared_batch(
    config: *const ConfigHandle,
    store: *const StoreHandle,
    circuit: *const CircuitHandle,
    inputs: *const *const InputsHandle,
    count: usize,
    outputs: *mut *mut OutputsHandle,
    error: *mut *mut Failure,
) -> Status {
    let work = || {
        // SAFETY: the rules for callers.
        let (config, store, circuit) = unsafe {
            let store = handle(store, "store")?;
            (handle(config, "config")?, store, handle(circuit, "circuit")?)
        };
        place(outputs)?;
        // SAFETY: the same.
        let inputs = unsafe { finish_all(inputs, count, config.executions()) }?;
        let inputs = inputs.into_iter().map(Ok);
        let mut all = Vec::with_capacity(count);
        let mut take = |learnt| all.push(OutputsHandle::new(learnt, config.parties()));
        if config.is_in_flight() {
            stored::run_in_flight(config.build()?, &store.0, &circuit.0, inputs, |learnt| {
                take(learnt);
                Ok(())
            })?;
        } else {
            let ran = stored::run_batch(config.build()?, &store.0, &circuit.0, inputs)?;
            ran.outputs.into_iter().for_each(take);
        }
        // SAFETY: the same.
        Ok(unsafe { give_all(outputs, all) }?)
    };
    // SAFETY: the same.
    unsafe { compute(error, work) }
}

/// Closes a store.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn symbolon_store_free(store: *mut StoreHandle) {
    // SAFETY: the rules for callers.
    unsafe { free_beside(store) }
}
