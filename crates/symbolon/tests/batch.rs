//! Many evaluations of one circuit: AES vectors with gates and with tables, at several batch sizes,
//! in one session and from stores.

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use symbolon::circuit::{Circuit, builtin};
use symbolon::duplo::{Forecast, Plans};
use symbolon::store::{ItemKind, Protection, Store};
use symbolon::stored::{self, Amount};
use symbolon::tinytable::{MacLength, TinyTableOptions};
use symbolon::{
    Config, DEPENDENT, Error, Inputs, ONLINE, Options, Outputs, Progress, Protocol, Result, SETUP,
    Session, Transport,
};

/// Returns the options of `tinytable` with MACs of this length.
fn macs(mac: MacLength) -> Options {
    TinyTableOptions { mac: mac.into(), ..Default::default() }.into()
}

/// Keys, messages and ciphertexts: FIPS 197 C.1 and B, SP 800-38A F.1.1.
const VECTORS: [[u128; 3]; 3] = [
    [
        0x000102030405060708090a0b0c0d0e0f,
        0x00112233445566778899aabbccddeeff,
        0x69c4e0d86a7b0430d8cdb78070b4c55a,
    ],
    [
        0x2b7e151628aed2a6abf7158809cf4f3c,
        0x3243f6a8885a308d313198a2e0370734,
        0x3925841d02dc09fbdc118597196a0b32,
    ],
    [
        0x2b7e151628aed2a6abf7158809cf4f3c,
        0x6bc1bee22e409f96e93d7e117393172a,
        0x3ad77bb40d7a3660a89ecaf32466ef97,
    ],
];

fn circuit(name: &str) -> Circuit {
    builtin::by_name(name).unwrap()
}

/// Returns the inputs of one party in the evaluation with this number.
fn inputs(circuit: &Circuit, party: u16, number: usize) -> Result<Inputs> {
    let value = VECTORS[number % 3][usize::from(party)];
    Inputs::builder(circuit, party).uint(usize::from(party), value)?.finish()
}

fn is_right(number: usize, outputs: &Outputs) -> bool {
    outputs.get(0).and_then(|output| output.uint()) == Some(VECTORS[number % 3][2])
}

/// Runs both parties, each with its configuration.
fn both<T: Send>(
    protocol: Protocol,
    party: impl Fn(u16, Config) -> Result<T> + Sync,
) -> [Result<T>; 2] {
    let (zero, one) = Transport::memory(1, None).unwrap();
    let party = &party;
    thread::scope(|scope| {
        let [zero, one] = [(0, zero), (1, one)].map(|(me, transport)| {
            let config = Config::new(me, transport).protocol(protocol);
            let config = config.timeout(Duration::from_secs(60));
            scope.spawn(move || party(me, config))
        });
        [zero, one].map(|party| party.join().unwrap())
    })
}

/// Evaluates a batch, for which there are `given` inputs. Returns how many outputs are right.
fn evaluate_all(session: &mut Session, me: u16, given: usize) -> Result<usize> {
    let circuit = session.circuit().clone();
    let mut right = 0;
    session.evaluate_batch((0..given).map(|number| inputs(&circuit, me, number)), |outputs| {
        right += usize::from(is_right(right, &outputs));
        Ok(())
    })?;
    Ok(right)
}

fn evaluate(protocol: Protocol, name: &str, executions: usize) {
    let circuit = circuit(name);
    for ended in both(protocol, |me, config| {
        let config = config.executions(executions as u64);
        let mut session = Session::connect(config, &circuit)?;
        evaluate_all(&mut session, me, executions)
    }) {
        assert_eq!(ended, Ok(executions), "{name}");
    }
}

#[test]
fn aes_by_gates_in_batches() {
    for executions in [1, 63, 64, 130] {
        evaluate(Protocol::TinyTable, "aes128", executions);
    }
}

#[test]
fn aes_by_tables_in_batches() {
    for executions in [1, 20] {
        evaluate(Protocol::TinyTable, "aes128:sbox", executions);
    }
}

/// Makes 55 million triples, which takes a minute or two.
#[test]
#[ignore = "long"]
fn aes_a_thousand_times() {
    for circuit in ["aes128", "aes128:sbox"] {
        evaluate(Protocol::TinyTable, circuit, 1000);
    }
}

#[test]
fn protocols_that_garble_run_one_after_the_other() {
    evaluate(Protocol::Wrk, "aes128:sbox", 3);
    evaluate(Protocol::Ywz, "aes128", 2);
}

/// The phases that began and ended.
type Told = Arc<Mutex<Vec<(&'static str, &'static str)>>>;

/// Returns the configuration with an observer, and what it sees.
fn observed(config: Config) -> (Config, Told) {
    let told = Told::default();
    let phases = told.clone();
    let config = config.on_progress(move |progress| match progress {
        Progress::Phase { phase } => phases.lock().unwrap().push(("began", *phase)),
        Progress::PhaseEnded { phase, .. } => phases.lock().unwrap().push(("ended", *phase)),
        _ => {}
    });
    (config, told)
}

/// Asserts that these phases followed each other.
#[track_caller]
fn assert_phases(told: &Told, phases: &[&'static str]) {
    let expected = phases.iter().flat_map(|phase| [("began", *phase), ("ended", *phase)]);
    assert_eq!(*told.lock().unwrap(), expected.collect::<Vec<_>>());
}

/// `dualex` has nothing to prepare after it made material for the circuit, so no phase is told of.
#[test]
fn dualex_has_no_empty_phase() {
    let circuit = circuit("add:16");
    for ended in both(Protocol::DualEx, |me, config| {
        let (config, told) = observed(config);
        let inputs = || Inputs::builder(&circuit, me).uint(usize::from(me), 20)?.finish();
        let mut session = Session::connect(config.executions(2), &circuit)?;
        let sum = |outputs: &Outputs| outputs.get(0).and_then(|output| output.uint());
        let mut sums = Vec::new();
        session.evaluate_batch([inputs(), inputs()], |outputs| {
            sums.push(sum(&outputs));
            Ok(())
        })?;
        sums.push(sum(&session.evaluate(&inputs()?)?));
        assert_eq!(sums, [Some(40); 3]);
        assert_phases(&told, &[SETUP, DEPENDENT, ONLINE, DEPENDENT, ONLINE]);
        Ok(())
    }) {
        ended.unwrap();
    }
}

/// The windows of a batch of `duplo` share a cut-and-choose, and send what is forecast for that.
/// Each phase that is told of does something.
#[test]
fn windows_of_duplo_are_prepared_together() {
    let circuit = circuit("aes128");
    const ALL: usize = 257;
    let [zero, one] = both(Protocol::Duplo, |me, config| {
        let (config, told) = observed(config);
        let mut session = Session::connect(config.executions(ALL as u64), &circuit)?;
        assert_eq!(evaluate_all(&mut session, me, ALL)?, ALL);
        // Two windows, whose phases take turns, and the rest, in three steps.
        let turns = [DEPENDENT, ONLINE, DEPENDENT, ONLINE];
        assert_phases(&told, &[&[SETUP][..], &turns, &[DEPENDENT, DEPENDENT, ONLINE]].concat());
        let report = session.report();
        let sent = |phase| report.phase(phase).map_or(0, |phase| phase.bytes_sent);
        Ok([sent(DEPENDENT), sent(ONLINE)])
    })
    .map(Result::unwrap);
    let forecast = |executions, count| {
        Forecast::new(&circuit, Plans { executions, count, ..Plans::default() }).unwrap()
    };
    let (windows, rest) = (forecast(128, 2), forecast(1, 1));
    let near = |sent: u64, forecast: u64| sent.abs_diff(forecast) < forecast / 100;
    assert!(near(zero[0] + zero[1] + one[0] + one[1], windows.bytes() + rest.bytes()));
    let online = windows.online.garbler + rest.online.garbler;
    assert!(near(zero[1], online), "{} sent online, {online} forecast", zero[1]);
    // Each window by itself would send a tenth more.
    assert!(windows.bytes() * 11 / 10 < 2 * forecast(128, 1).bytes());
}

/// Too few inputs for the first window end the session before anything is garbled for it.
#[test]
fn inputs_are_read_before_windows_are_prepared_together() {
    let circuit = circuit("aes128");
    let ended = both(Protocol::Duplo, |me, config| {
        let mut session = Session::connect(config.executions(256), &circuit)?;
        let error = evaluate_all(&mut session, me, 127).unwrap_err();
        assert!(
            matches!(&error, Error::InvalidInput(why) if why.contains("fewer inputs")),
            "{error}"
        );
        Ok(session.report().phase(DEPENDENT).map_or(0, |phase| phase.bytes_sent))
    });
    assert_eq!(ended, [Ok(0), Ok(0)]);
}

fn store(folder: &Path, party: u16) -> Store {
    let path = folder.join(party.to_string());
    if path.exists() {
        return Store::open(path, &Protection::None).unwrap();
    }
    Store::create(path, &Protection::None).unwrap()
}

#[test]
fn batches_are_prepared_from_the_pools_of_ywz_and_run_later() {
    let folder = tempfile::tempdir().unwrap();
    let circuit = circuit("aes128");
    let amount = Amount { and_gates: 70 * 6400, input_bits: 70 * 128 };
    for filled in
        both(Protocol::Ywz, |me, config| stored::fill(config, &store(folder.path(), me), amount))
    {
        assert_eq!(filled.unwrap().made, amount);
    }
    for (batches, executions) in [(1, 65), (2, 2)] {
        for prepared in both(Protocol::TinyTable, |me, config| {
            let config = config.executions(executions).options(macs(MacLength::Bits128));
            stored::prepare(config, &store(folder.path(), me), &circuit, batches)
        }) {
            assert_eq!(prepared.unwrap().from_pools, batches as usize);
        }
    }
    let run = |mac: MacLength, executions: usize| {
        both(Protocol::TinyTable, |me, config| {
            let config = config.executions(executions as u64).options(macs(mac));
            let all = (0..executions).map(|number| inputs(&circuit, me, number));
            let ran = stored::run_batch(config, &store(folder.path(), me), &circuit, all)?;
            Ok(ran.outputs.iter().enumerate().all(|(number, outputs)| is_right(number, outputs)))
        })
    };
    // Neither a different number of executions nor different MACs.
    for (mac, executions) in [(MacLength::Bits64, 65), (MacLength::Bits128, 64)] {
        for ended in run(mac, executions) {
            assert!(matches!(ended, Err(Error::Store(_))), "{ended:?}");
        }
    }
    assert_eq!(run(MacLength::Bits128, 65), [Ok(true), Ok(true)]);
    assert_eq!(run(MacLength::Bits128, 2), [Ok(true), Ok(true)]);
    assert!(run(MacLength::Bits128, 65).iter().all(Result::is_err), "it was used up");
    let left = store(folder.path(), 0).available_items(&Default::default()).unwrap();
    assert_eq!(left.iter().filter(|item| item.meta.kind == ItemKind::Prepared).count(), 1);
}

#[test]
fn what_does_not_go_together_is_refused() {
    let circuit = circuit("add:16");
    let connect = |of: fn(u16, Config) -> Config| {
        both(Protocol::TinyTable, |me, config| Session::connect(of(me, config), &circuit).map(drop))
    };
    for ended in connect(|me, config| config.executions(1 + u64::from(me))) {
        assert!(matches!(ended, Err(Error::PeerIncompatible { .. })), "{ended:?}");
    }
    for ended in connect(|me, config| match me {
        0 => config.options(macs(MacLength::Bits128)),
        _ => config,
    }) {
        assert!(matches!(ended, Err(Error::PeerIncompatible { .. })), "{ended:?}");
    }
    for ended in connect(|_, config| config.executions(0)) {
        assert!(matches!(ended, Err(Error::InvalidInput(_))), "{ended:?}");
    }
    // Too few inputs end the session, also for the peer.
    for ended in both(Protocol::TinyTable, |me, config| {
        let mut session = Session::connect(config.executions(3), &circuit)?;
        let one = Inputs::builder(&circuit, me).uint(usize::from(me), 1)?.finish()?;
        session.evaluate_batch([Ok(one)], |_| Ok(()))
    }) {
        assert!(
            matches!(ended, Err(Error::InvalidInput(_) | Error::Transport { .. })),
            "{ended:?}"
        );
    }
}
