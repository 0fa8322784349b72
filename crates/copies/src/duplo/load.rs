//! Loading what was prepared.

use std::sync::Arc;

use symbolon_cutchoose::hcom::{OwnLater, TheirLater};
use symbolon_engine::{Compiled, LoadTerms, Prepared, RunTerms, codec::Reader};
use symbolon_transport::{Error, Result};
use zeroize::Zeroizing;

use super::assemble::GarblerKeys;
use super::commit::{Committed, Received};
use super::evaluate::GarbledProgram;
use super::online::{EvaluatorReady, GarblerReady};
use super::options;
use super::params::{BucketSizes, Games};
use super::pool;
use super::program::{GARBLER, Origin, Program, Task};
use super::state::commitments;
use super::store;
use super::windows::Windows;

/// Reads back what a party saved.
pub(super) fn load(
    LoadTerms { me, run, .. }: LoadTerms<'_>,
    circuit: &Compiled,
    mut from: Reader<'_>,
) -> Result<Box<dyn Prepared>> {
    let origin = store::read_origin(&mut from)?;
    let (program, buckets) = match &origin {
        Origin::Made(preparations) => made(run, circuit, *preparations)?,
        Origin::Pool(kinds, buckets) => {
            let program = pool::program(run, circuit, kinds).map_err(|_| store::other_program())?;
            (program, buckets.clone())
        }
    };
    store::check_program(&mut from, &program)?;
    let program = Arc::new(program);
    let digest = circuit.digest();
    let params = commitments(run.rho.bits())?;
    let sums = 1 + program.inputs[1].len() + program.to_evaluator.len();
    if me == GARBLER {
        let (inputs, indicators, outputs) = store::read_keys(&mut from, &program)?;
        let online = Committed::load(&mut from, &params, sums)?;
        let keys = GarblerKeys { inputs, indicators, outputs, online };
        let online = OwnLater::from_bytes(from.array()?);
        Ok(Box::new(GarblerReady { digest, program, origin, keys, online }))
    } else {
        let (garbled, transfers) = GarbledProgram::load(&mut from, &program, &buckets)?;
        let received = Received::load(&mut from, &params, sums)?;
        let online = Zeroizing::new(from.list(TheirLater::bytes(&params))?);
        let online = TheirLater::from_bytes(&params, &online)
            .ok_or_else(|| Error::internal("a record of another length than was read"))?;
        let ready =
            EvaluatorReady { digest, program, origin, garbled, transfers, received, online };
        Ok(Box::new(ready))
    }
}

/// Returns the program of one of some preparations that were prepared together, and its bucket
/// sizes.
fn made(
    run: RunTerms<'_>,
    circuit: &Compiled,
    preparations: usize,
) -> Result<(Program, BucketSizes)> {
    let games = Games::new(run.rho.bits());
    let (executions, components) = (run.executions, options::components(run.options));
    let sized = |preparations| {
        let task = Task { executions, preparations, games, components, linked: &[] };
        let program = Program::new(circuit.circuit(), task)?;
        let buckets = Windows::of_program(&program, games)?.buckets();
        Ok((program, buckets))
    };
    match sized(preparations) {
        // `prepare` refuses such a number, so no party saved it.
        Err(Error::InvalidInput(_)) if preparations > 1 && sized(1).is_ok() => {
            Err(store::impossible_number())
        }
        sized => sized,
    }
}
