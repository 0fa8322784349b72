//! Runs a prepared circuit that all parties hold.

use symbolon_circuit::Circuit;
use symbolon_protocols::{Compiled, OtExtension};
use symbolon_store::{ItemId, ItemKind, Store};
use symbolon_transport::{Error, Result};

use super::choose::{Chosen, Opened, choose_prepared};
use super::holdings::{Question, Rounds, all_say};
use super::maker::{Maker, Origin};
use super::{Agreement, lowest_latency, or_give_up, remove, void_cheated, void_damaged};
use crate::autotune::Preferences;
use crate::config::Config;
use crate::params::Job;
use crate::report::{ONLINE, Report};
use crate::session::batch::{Joined, split};
use crate::session::{Begun, begin, counted};
use crate::{Inputs, Outputs};

/// A prepared circuit that was run.
#[derive(Debug)]
pub struct RunPrepared<T = Outputs> {
    /// The outputs of this party.
    pub outputs: T,
    /// The item that was used up.
    pub item: ItemId,
    /// The dealer whose material it depends on, which could have learnt the inputs; `None` if the
    /// parties made all material themselves.
    pub dealer: Option<String>,
    /// How far the stores agreed on what they hold for this circuit.
    pub agreement: Agreement,
    /// What it cost.
    pub report: Report,
}

/// Runs a prepared circuit that all parties hold, on this party's `inputs`.
///
/// The item is used up even if the run fails. If its files cannot be removed then, [`Store::gc`]
/// tries again.
///
/// # Errors
/// As [`run_batch`].
pub fn run(
    config: Config,
    store: &Store,
    circuit: &Circuit,
    inputs: &Inputs,
) -> Result<RunPrepared> {
    inputs.check(circuit, config.terms().party)?;
    let ran = run_batch(config.executions(1), store, circuit, [Ok(inputs.duplicate())])?;
    let RunPrepared { outputs, item, dealer, agreement, report } = ran;
    let outputs = outputs.into_iter().next();
    let outputs = outputs.ok_or_else(|| Error::internal("a run without outputs"))?;
    Ok(RunPrepared { outputs, item, dealer, agreement, report })
}

/// Runs a circuit that was prepared for several evaluations on this party's `inputs` for each of
/// them, as many as [`Config::executions`] says. Returns the outputs of all evaluations in order.
///
/// The item is used up even if the run fails. If its files cannot be removed then, [`Store::gc`]
/// tries again.
///
/// # Errors
/// `InvalidInput` if `config`, `circuit` and `inputs` do not fit together, or an assert fails for
/// certain with the inputs of an evaluation ([`Inputs::certain_failures`]), before any message is
/// sent; `Store` if there is no item that all parties hold, or this party's is damaged, which is
/// void afterwards; otherwise as [`Session::run`](crate::Session::run).
pub fn run_batch(
    config: Config,
    store: &Store,
    circuit: &Circuit,
    inputs: impl IntoIterator<Item = Result<Inputs>>,
) -> Result<RunPrepared<Vec<Outputs>>> {
    void_damaged(store, run_one(config, store, circuit, inputs))
}

fn run_one(
    config: Config,
    store: &Store,
    circuit: &Circuit,
    inputs: impl IntoIterator<Item = Result<Inputs>>,
) -> Result<RunPrepared<Vec<Outputs>>> {
    config.check(circuit)?;
    let terms = config.terms();
    if terms.params.in_flight.is_some() && terms.params.executions > 1 {
        return Err(Error::invalid_input("a batch is not in flight: each evaluation is an item"));
    }
    let executions = terms.side_by_side()?;
    let compiled = Compiled::new(circuit);
    // A protocol without batches has stored none, and a single evaluation would be wasted on one.
    let run_terms = terms.params.run_terms(executions);
    terms.params.protocol.demand_of(&compiled, config.parties() as u16, run_terms)?;
    // An item would be used up for outputs that are all zero.
    let mut inputs = inputs.into_iter().map(|inputs| {
        let inputs = inputs?;
        inputs.check(circuit, terms.party)?;
        inputs.check_asserts(&compiled).map(|()| inputs)
    });
    let inputs = Joined::next(circuit, terms.party, &mut inputs, executions)?;
    let maker = Maker::of(&config)?;
    let timeout = terms.timeout;
    // Nothing is left to negotiate: the prepared circuit fixes the choices.
    let settled =
        Preferences { ot: Some(OtExtension::default()), ..lowest_latency(maker.protocol) };
    let begun = begin(config, Job::RunPrepared(&compiled), (0, settled), |network, _| {
        network.executions = executions;
        let mut rounds = Rounds::default();
        let filter = maker.filter(ItemKind::Prepared, Some(&compiled));
        let (chosen, agreement) = choose_prepared(network, &mut rounds, (store, &filter), timeout)?;
        let chosen = chosen.take(store, network, &compiled, maker.protocol)?;
        // A party that must wait for another's disk waits here rather than online.
        if !all_say(network, &mut rounds, Question::ConsumedItem(chosen.chosen.id), true)? {
            return Err(Error::store("another party cannot use what was prepared"));
        }
        Ok((chosen, agreement))
    })?;
    let Begun { mut network, made: (chosen, agreement), .. } = begun;
    let Opened { prepared, taken, chosen } = chosen;
    let done = counted(&mut network, ONLINE, |network| {
        let bits = prepared.evaluate(network, &compiled, &inputs.bits)?;
        split(circuit, network.me, bits, executions)
    });
    let done = void_cheated(store, [chosen.origin.group], done);
    let outputs = or_give_up(done, &mut network)?;
    remove(taken);
    let Chosen { id: item, origin: Origin { dealer, .. }, .. } = chosen;
    Ok(RunPrepared { outputs, item, dealer, agreement, report: Report::of(&network.meter) })
}
