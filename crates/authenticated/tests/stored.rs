//! Phases in separate sessions: a pool filled in one, a circuit prepared from it in another, and
//! evaluated in a third.

use crate::common::apart::{Pool, range, session};
use crate::common::{self, Setting, chosen};
use proptest::prelude::*;
use symbolon_authenticated::{
    pool::{GATES, HEAD, PoolLayout},
    tinytable::{
        self,
        options::{Commitment, TinyTableOptions},
    },
    ywz,
};
use symbolon_circuit::{Circuit, Receivers};
use symbolon_engine::{Compiled, Demand, GateForm, OtExtension, OutputBits, PoolRange, RunTerms};
use symbolon_transport::{Error, Result};

fn fill(setting: Setting, need: &Demand) -> Vec<Pool> {
    let states = vec![Pool::default(); usize::from(setting.parties)];
    let filled = session(setting, 11, states, |net, mut pool| {
        let mut engine = setting.protocol.set_up(net)?;
        assert_eq!(engine.group(), [11; 32]);
        engine.fill(net, need, &mut pool)?;
        assert!(engine.fill(net, need, &mut Pool::default()).is_err(), "only once");
        Ok(pool)
    });
    filled.into_iter().map(Result::unwrap).collect()
}

fn prepare(
    setting: Setting,
    circuit: &Compiled,
    pools: Vec<Pool>,
    range: &PoolRange,
) -> Vec<Result<Vec<u8>>> {
    session(setting, 22, pools, |net, mut pool| {
        let material = setting.protocol.from_pool(net, range, &mut pool)?;
        let prepared = material.prepare(net, circuit)?;
        let mut bytes = Vec::new();
        setting.protocol.save_prepared(net, circuit, prepared, &mut bytes)?;
        Ok(bytes)
    })
}

fn evaluate(
    setting: Setting,
    circuit: &Compiled,
    saved: Vec<Vec<u8>>,
    all: &[Vec<bool>],
) -> Vec<Result<OutputBits>> {
    session(setting, 33, saved, |net, saved| {
        let prepared = setting.protocol.load_prepared(net, circuit, &mut saved.as_slice())?;
        prepared.evaluate(net, circuit, &common::inputs_of(circuit.circuit(), net.me.number(), all))
    })
}

/// Returns what one evaluation needs.
fn need_of(setting: Setting, circuit: &Compiled) -> Demand {
    let Setting { rho, executions, options, .. } = setting;
    let terms = RunTerms { rho, executions, options };
    setting.protocol.demand_of(circuit, setting.parties, terms).unwrap()
}

fn settings() -> Vec<Setting> {
    let wrk = |form| Setting { form, ..Setting::default() };
    let ywz = |parties| Setting {
        protocol: &ywz::SPEC,
        parties,
        form: GateForm::HalfGates,
        ..Setting::default()
    };
    let tables = Setting { protocol: &tinytable::SPEC, ..Setting::default() };
    let options =
        chosen(TinyTableOptions { commitment: Commitment::Code, ..TinyTableOptions::default() });
    let code = Setting { options, ..tables };
    let silent = Setting { ot: OtExtension::Ferret, ..ywz(2) };
    vec![wrk(GateForm::FourRow), wrk(GateForm::HalfGates), ywz(2), ywz(3), tables, code, silent]
}

fn bits(circuit: &Circuit, seed: usize) -> Vec<Vec<bool>> {
    let input = |(i, input): (usize, &symbolon_circuit::Input)| {
        (0..input.ty.width() as usize).map(|k| (k * 7 + i + seed).is_multiple_of(3)).collect()
    };
    circuit.inputs().iter().enumerate().map(input).collect()
}

#[test]
fn every_phase_in_a_session_of_its_own() {
    // More gates than a chunk of the pass, and than several chunks of the pool.
    for gates in [1, 700, 9_000] {
        let steps: Vec<_> = (0..gates).map(|i| ((i % 3) as u8, i * 7 + 1, i * 11 + 3)).collect();
        let outputs = vec![
            ((gates / 2..gates).collect(), Receivers::All),
            (vec![1, 2], Receivers::only([1])),
        ];
        for setting in settings() {
            let circuit =
                common::circuit(&vec![9; setting.parties.into()], &steps, outputs.clone());
            let compiled = Compiled::new(&circuit);
            let once = need_of(setting, &compiled);
            let twice = Demand {
                and_gates: 2 * once.and_gates,
                input_bits: once.input_bits.iter().map(|n| 2 * n).collect(),
            };
            let pools = fill(setting, &twice);
            let layout = PoolLayout { me: 0.into(), parties: setting.parties };
            assert_eq!(pools[0].sections.len(), layout.sections());
            assert_eq!(
                pools[0].sections.get(GATES).map_or(0, Vec::len) as u64,
                layout.gate_bytes(&(0..twice.and_gates)).end
            );
            for nth in 0..2 {
                let work = &compiled;
                let saved = prepare(setting, work, pools.clone(), &range(&once, nth));
                let saved = saved.into_iter().map(Result::unwrap).collect();
                let all = bits(&circuit, nth as usize);
                for (party, outputs) in (0..).zip(evaluate(setting, work, saved, &all)) {
                    assert_eq!(outputs.unwrap(), common::expected(&circuit, party, &all));
                }
            }
        }
    }
}

#[test]
fn ranges_beyond_the_end_and_pools_of_others_are_refused() {
    let circuit = common::two_layers(40, Receivers::All);
    let compiled = Compiled::new(&circuit);
    let work = &compiled;
    let setting = Setting::default();
    let need = Demand::of(&compiled, 2);
    let pools = fill(setting, &need);
    let mut far = range(&need, 0);
    far.gates = 1024..1024 + need.and_gates;
    let mut short = range(&need, 0);
    short.inputs[1].end -= 1;
    let mut few = range(&need, 0);
    few.gates.end -= 1;
    let mut unknown = range(&need, 0);
    unknown.inputs.pop();
    for range in [far, short, few, unknown] {
        for end in prepare(setting, work, pools.clone(), &range) {
            assert!(
                matches!(end, Err(Error::Store(_) | Error::InvalidInput(_))),
                "{range:?}: {end:?}"
            );
        }
    }
    // A pool for another evaluator has mismatching last bits of Δ.
    let other = Setting { protocol: &ywz::SPEC, form: GateForm::HalfGates, ..setting };
    for end in prepare(other, work, pools, &range(&need, 0)) {
        assert!(
            matches!(&end, Err(Error::Store(why)) if why.text().contains("evaluator")),
            "{end:?}"
        );
    }
}

#[test]
fn what_was_prepared_for_something_else_is_refused() {
    let circuit = common::two_layers(5, Receivers::All);
    let compiled = Compiled::new(&circuit);
    let setting = Setting::default();
    let need = Demand::of(&compiled, 2);
    let saved = prepare(setting, &compiled, fill(setting, &need), &range(&need, 0));
    let saved: Vec<Vec<u8>> = saved.into_iter().map(Result::unwrap).collect();
    let all = bits(&circuit, 0);
    let other = common::two_layers(5, Receivers::only([0]));
    let swapped: Vec<Vec<u8>> = saved.iter().rev().cloned().collect();
    let rho = Setting { rho: symbolon_engine::Rho::Bits64, ..setting };
    let [.., tables, code] = &settings()[..] else { unreachable!("tables with MACs and a code") };
    let coded = need_of(*code, &compiled);
    let prepared = prepare(*code, &compiled, fill(*code, &coded), &range(&coded, 0));
    let prepared: Vec<Vec<u8>> = prepared.into_iter().map(Result::unwrap).collect();
    let longer: Vec<Vec<u8>> = saved.iter().map(|saved| [&saved[..], &[0]].concat()).collect();
    let refusals = [
        evaluate(setting, &Compiled::new(&other), saved.clone(), &all),
        evaluate(setting, &compiled, swapped, &all),
        evaluate(rho, &compiled, saved.clone(), &all),
        evaluate(setting, &compiled, longer, &all),
        evaluate(setting, &compiled, vec![Vec::new(); 2], &all),
        evaluate(*tables, &compiled, prepared.clone(), &all),
        evaluate(*code, &compiled, prepared.into_iter().rev().collect(), &all),
    ];
    for end in refusals.into_iter().flatten() {
        assert!(matches!(end, Err(Error::Store(_))), "{end:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Changed or truncated bytes lead to an error or to the right output: there is no panic, no
    /// hang, and no wrong output.
    /// Cheat: all | prepared circuits | changed and cut bytes | an error, or the right output |
    /// always
    #[test]
    fn damage_gives_nothing_wrong(
        which in 0usize..6,
        party in 0usize..2,
        place in any::<prop::sample::Index>(),
        flip in 1u8..,
        cut in any::<bool>(),
        in_pool in any::<bool>(),
    ) {
        let setting = settings()[which];
        let circuit = common::circuit(
            &vec![6; setting.parties.into()],
            &(0..40).map(|i| ((i % 3) as u8, i * 7 + 1, i * 11 + 3)).collect::<Vec<_>>(),
            vec![((20..40).collect(), Receivers::All)],
        );
        let compiled = Compiled::new(&circuit);
        let work = &compiled;
        let need = need_of(setting, &compiled);
        let mut pools = fill(setting, &need);
        let damage = |bytes: &mut Vec<u8>| {
            let place = place.index(bytes.len());
            if cut { bytes.truncate(place) } else { bytes[place] ^= flip }
        };
        if in_pool {
            let section = [HEAD, GATES, PoolLayout::inputs(0.into())][place.index(3)];
            damage(&mut pools[party].sections[section]);
        }
        let saved = prepare(setting, work, pools, &range(&need, 0));
        let saved: Result<Vec<_>> = saved.into_iter().collect();
        prop_assert!(in_pool || saved.is_ok(), "there is no damage yet");
        let Ok(mut saved) = saved else { return Ok(()) };
        if !in_pool {
            damage(&mut saved[party]);
        }
        let all = bits(&circuit, 1);
        for (me, end) in (0u16..).zip(evaluate(setting, work, saved, &all)) {
            if let Ok(outputs) = end {
                // The party with the damage may itself be wrong, because it trusts its own disk.
                if usize::from(me) != party {
                    prop_assert_eq!(outputs, common::expected(&circuit, me, &all));
                }
            }
        }
    }
}
