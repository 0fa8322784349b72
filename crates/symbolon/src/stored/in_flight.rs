//! Many prepared circuits, run over one connection with several online at a time.

use std::collections::VecDeque;

use symbolon_circuit::Circuit;
use symbolon_protocols::{Compiled, InFlight, OtExtension};
use symbolon_store::{ItemId, ItemKind, Store};
use symbolon_transport::{Error, Result};

use super::choose::choose_many;
use super::holdings::{Question, Rounds, all_say};
use super::maker::Maker;
use super::{Agreement, failed, lowest_latency, or_give_up, remove, void_cheated, void_damaged};
use crate::autotune::Preferences;
use crate::config::Config;
use crate::params::{Job, SessionParams};
use crate::report::{ONLINE, Report};
use crate::session::batch::Joined;
use crate::session::{Begun, begin, counted};
use crate::{Inputs, Outputs};

/// Prepared circuits that were run.
#[derive(Debug)]
pub struct RanInFlight {
    /// The items that were used up, in the order of the evaluations.
    pub items: Vec<ItemId>,
    /// How far the stores agreed on what they hold for this circuit.
    pub agreement: Agreement,
    /// What it cost.
    pub report: Report,
}

/// Runs as many prepared circuits as [`Config::executions`] says, each prepared separately, with
/// [`Config::in_flight`] of them online at a time. `inputs` yields this party's inputs for each
/// circuit in turn, and `each` receives its outputs in turn, once the checks of that evaluation
/// have passed.
///
/// All items are marked as used before the first message that depends on one of them, and all are
/// used up even if the run fails. An item is loaded when its evaluation starts, so memory grows
/// only with the number of evaluations in flight.
///
/// # Errors
/// As [`run_batch`](super::run_batch); `Store` if the parties have fewer items in common, in which
/// case none is used; any error of `each`.
pub fn run_in_flight(
    config: Config,
    store: &Store,
    circuit: &Circuit,
    inputs: impl IntoIterator<Item = Result<Inputs>>,
    each: impl FnMut(Outputs) -> Result<()>,
) -> Result<RanInFlight> {
    void_damaged(store, run_many(config, store, circuit, inputs, each))
}

fn run_many(
    config: Config,
    store: &Store,
    circuit: &Circuit,
    inputs: impl IntoIterator<Item = Result<Inputs>>,
    mut each: impl FnMut(Outputs) -> Result<()>,
) -> Result<RanInFlight> {
    config.check(circuit)?;
    let terms = config.terms();
    let SessionParams { protocol, executions, in_flight, .. } = terms.params;
    let limit = in_flight
        .ok_or_else(|| Error::invalid_input("how many evaluations are to be online at a time?"))?;
    let count = usize::try_from(executions)
        .map_err(|_| Error::invalid_input("more evaluations than a store can hold"))?;
    let side_by_side = terms.side_by_side()?;
    let compiled = &Compiled::new(circuit);
    let maker = Maker::of(&config)?;
    // Nothing is left to negotiate: the prepared circuits fix the choices.
    let settled = Preferences { ot: Some(OtExtension::default()), ..lowest_latency(protocol) };
    let begun = begin(config, Job::RunPrepared(compiled), (0, settled), |network, _| {
        network.executions = side_by_side;
        let mut rounds = Rounds::default();
        let filter = maker.filter(ItemKind::Prepared, Some(compiled));
        let (chosen, agreement) = choose_many(network, &mut rounds, (store, &filter), count)?;
        // One commit, while the peer waits, and not one for each item.
        let ids: Vec<ItemId> = chosen.iter().map(|item| item.id).collect();
        let taken = VecDeque::from(store.take_all_prepared(&ids).map_err(failed)?);
        // All parties name the same first item, and have agreed on the items after it.
        let first = chosen.first().ok_or_else(|| Error::internal("nothing was chosen"))?;
        if !all_say(network, &mut rounds, Question::ConsumedItem(first.id), true)? {
            return Err(Error::store("another party cannot use what was prepared"));
        }
        Ok((chosen, taken, agreement))
    })?;
    let Begun { mut network, made: (chosen, mut waiting, agreement), .. } = begun;
    let (me, mut inputs) = (network.me, inputs.into_iter());
    let mut used = Vec::with_capacity(count);
    let done = counted(&mut network, ONLINE, |network| {
        InFlight::new(compiled, limit)?.evaluate(
            network,
            executions,
            |network| {
                let joined = Joined::next(circuit, me, &mut inputs, 1)?;
                let item = waiting.pop_front();
                let item = item.ok_or_else(|| Error::internal("too few items were taken"))?;
                // The section reader holds one frame at a time, and wipes it.
                let mut section = item.read(0, item.bytes(0)).map_err(failed)?;
                let prepared = protocol.load_prepared(network, compiled, &mut section)?;
                drop(section);
                used.push(item);
                Ok((prepared, joined))
            },
            |bits| each(Outputs::new(circuit, me, bits)?),
        )
    });
    let groups = chosen.iter().map(|item| item.origin.group);
    or_give_up(void_cheated(store, groups, done), &mut network)?;
    used.into_iter().for_each(remove);
    let items = chosen.iter().map(|item| item.id).collect();
    Ok(RanInFlight { items, agreement, report: Report::of(&network.meter) })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use symbolon_circuit::builtin;
    use symbolon_store::Protection;

    use crate::stored::prepare;
    use crate::{Protocol, Transport};

    use super::*;

    /// Runs additions of 7 to 0, 1, …; returns what both parties learn, the number of outputs, and
    /// how the run ended.
    fn additions(
        folder: &Path,
        (count, limit): (u64, [Option<usize>; 2]),
        stored: bool,
    ) -> Vec<(Vec<u128>, Result<()>)> {
        let circuit = builtin::by_name("add:8").unwrap();
        let (zero, one) = Transport::memory(1, None).unwrap();
        std::thread::scope(|scope| {
            let parties = [zero, one].into_iter().zip(0u16..).map(|(transport, party)| {
                let circuit = &circuit;
                scope.spawn(move || {
                    let config = Config::new(party, transport).protocol(Protocol::DualEx);
                    let config = config.executions(count).in_flight(limit[usize::from(party)]);
                    let inputs = (0..count).map(|number| {
                        let value = if party == 0 { 7 } else { u128::from(number) };
                        let inputs = Inputs::builder(circuit, party);
                        inputs.uint(usize::from(party), value)?.finish()
                    });
                    let mut learnt = Vec::new();
                    let each = |outputs: Outputs| {
                        learnt.push(outputs.get(0).and_then(|out| out.uint()).unwrap());
                        Ok(())
                    };
                    let ended = if stored {
                        let store = store(folder, party);
                        run_in_flight(config, &store, circuit, inputs, each).map(|ran| {
                            assert_eq!(ran.items.len() as u64, count);
                        })
                    } else {
                        crate::Session::connect(config, circuit)
                            .and_then(|mut session| session.evaluate_batch(inputs, each))
                    };
                    (learnt, ended)
                })
            });
            let parties: Vec<_> = parties.collect();
            parties.into_iter().map(|party| party.join().unwrap()).collect()
        })
    }

    fn store(folder: &Path, party: u16) -> Store {
        let path = folder.join(format!("party {party}"));
        match path.exists() {
            true => Store::open(path, &Protection::None).unwrap(),
            false => Store::create(path, &Protection::None).unwrap(),
        }
    }

    fn prepared(folder: &Path, count: u32) {
        let circuit = builtin::by_name("add:8").unwrap();
        let (zero, one) = Transport::memory(1, None).unwrap();
        std::thread::scope(|scope| {
            for (transport, party) in [zero, one].into_iter().zip(0u16..) {
                let circuit = &circuit;
                scope.spawn(move || {
                    let config = Config::new(party, transport).protocol(Protocol::DualEx);
                    prepare(config, &store(folder, party), circuit, count).unwrap();
                });
            }
        });
    }

    #[test]
    fn several_evaluations_are_online_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        for limit in [1, 3, 9] {
            for (learnt, ended) in additions(folder.path(), (5, [Some(limit); 2]), false) {
                ended.unwrap();
                assert_eq!(learnt, [7, 8, 9, 10, 11]);
            }
        }
    }

    /// The items come from two preparations. If there are too few items, none is used.
    #[test]
    fn stored_evaluations_are_online_at_a_time_and_used_once() {
        let folder = tempfile::tempdir().unwrap();
        prepared(folder.path(), 3);
        prepared(folder.path(), 2);
        for (learnt, ended) in additions(folder.path(), (6, [Some(2); 2]), true) {
            let Err(error @ Error::Store { .. }) = ended else { panic!("{ended:?}") };
            assert!(error.to_string().contains("6 evaluations need"), "{error}");
            assert!(learnt.is_empty());
        }
        for (learnt, ended) in additions(folder.path(), (4, [Some(2); 2]), true) {
            ended.unwrap();
            assert_eq!(learnt, [7, 8, 9, 10]);
        }
        for (_, ended) in additions(folder.path(), (2, [Some(2); 2]), true) {
            assert!(ended.unwrap_err().to_string().contains("all parties hold 1 that"));
        }
        additions(folder.path(), (1, [Some(2); 2]), true)
            .into_iter()
            .for_each(|(learnt, ended)| assert_eq!((learnt, ended.ok()), (vec![7], Some(()))));
    }

    /// In tests a page has four items.
    #[test]
    fn more_items_than_a_page_has_are_found() {
        let folder = tempfile::tempdir().unwrap();
        prepared(folder.path(), 7);
        // Party 1 has lost its store and prepares again, so that its items are few, and on any page
        // of party 0's.
        std::fs::remove_dir_all(folder.path().join("party 1")).unwrap();
        prepared(folder.path(), 2);
        prepared(folder.path(), 9);
        for (learnt, ended) in additions(folder.path(), (12, [Some(2); 2]), true) {
            assert!(ended.unwrap_err().to_string().contains("all parties hold 11 that"));
            assert!(learnt.is_empty());
        }
        for (learnt, ended) in additions(folder.path(), (11, [Some(2); 2]), true) {
            ended.unwrap();
            assert_eq!(learnt, (7..18).collect::<Vec<u128>>());
        }
    }

    #[test]
    fn files_that_cannot_be_removed_end_no_run() {
        let folder = tempfile::tempdir().unwrap();
        prepared(folder.path(), 2);
        for items in ["party 0/items", "party 1/items"] {
            for item in std::fs::read_dir(folder.path().join(items)).unwrap() {
                std::fs::create_dir(item.unwrap().path().join("in the way")).unwrap();
            }
        }
        for (learnt, ended) in additions(folder.path(), (2, [Some(2); 2]), true) {
            ended.unwrap();
            assert_eq!(learnt, [7, 8]);
        }
    }

    #[test]
    fn both_parties_must_name_as_many() {
        let folder = tempfile::tempdir().unwrap();
        for (learnt, ended) in additions(folder.path(), (2, [Some(2), Some(3)]), false) {
            assert!(matches!(ended, Err(Error::PeerIncompatible { .. })), "{ended:?}");
            assert!(learnt.is_empty());
        }
    }
}
