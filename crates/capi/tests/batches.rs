//! Programs, parameters, outputs, batches and dealers from C.

mod common;

use std::ffi::{CStr, CString};
use std::path::{Path, PathBuf};
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use common::{call, free_address};
use symbolon::circuit::builder::{Builder, Word};
use symbolon::circuit::{Receivers, Type, native};
use symbolon::dealer::{AdmissionPolicy, Dealing, ServerLimits};
use symbolon::{Identity, Listener, Protocol, SessionParams};
use symbolon_c::*;

/// Divides, and asserts that it can.
const PROGRAM: &str = "pub const W = 8;
fn main(x: u8 from 0, y: u8 from 1) -> (quotient: u8 to all) {
    assert(y != 0 || x == 255, \"nothing to divide by\");
    assert(W == 8, \"another width\");
    x / y
}
fn double(x: u8 from 0, y: u8 from 1) -> (sum: u8 to all) { x + y + y }
";

fn text(text: impl AsRef<str>) -> CString {
    CString::new(text.as_ref()).unwrap()
}

fn path(path: impl AsRef<Path>) -> CString {
    text(path.as_ref().to_str().unwrap())
}

/// Calls what must work.
fn done(work: impl FnOnce(*mut *mut Failure) -> Status) {
    let (status, said) = call(work);
    assert_eq!(status, Status::Ok, "{said}");
}

/// Two parties with keys, and a program.
struct Town {
    folder: tempfile::TempDir,
    address: CString,
    prints: Vec<CString>,
}

impl Town {
    fn new() -> Town {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("divide.sym"), PROGRAM).unwrap();
        let print = |party: &str| {
            let identity = Identity::generate().unwrap();
            identity.save(folder.path().join(party), false).unwrap();
            text(identity.fingerprint().to_string())
        };
        let prints = vec![print("0"), print("1")];
        Town { folder, address: free_address(), prints }
    }

    fn file(&self, name: impl AsRef<Path>) -> PathBuf {
        self.folder.path().join(name)
    }

    fn program(&self) -> *mut CircuitHandle {
        let (file, mut circuit) = (path(self.file("divide.sym")), null_mut());
        // SAFETY: all pointers are of this function.
        done(|error| unsafe { symbolon_circuit_read(file.as_ptr(), &mut circuit, error) });
        circuit
    }

    fn config(&self, party: u16, settings: &[(&str, &str)]) -> *mut ConfigHandle {
        let key = path(self.file(party.to_string()));
        let mut config = null_mut();
        let mut peers = [0, 1].map(|_| Peer { address: null(), fingerprint: null() });
        peers[0].address = self.address.as_ptr();
        peers[usize::from(1 - party)].fingerprint = self.prints[usize::from(1 - party)].as_ptr();
        let peers = peers.as_ptr();
        // SAFETY: all pointers are of this function.
        unsafe {
            done(|error| {
                symbolon_config_new(party, key.as_ptr(), null(), peers, 2, &mut config, error)
            });
            for (name, value) in settings {
                let (name, value) = (text(name), text(value));
                done(|error| symbolon_config_set(config, name.as_ptr(), value.as_ptr(), error));
            }
        }
        config
    }

    /// Both parties at once, each in a thread.
    fn both<T: Send>(&self, party: impl Fn(u16) -> T + Sync) -> [T; 2] {
        thread::scope(|scope| {
            let party = &party;
            let one = scope.spawn(move || party(1));
            [party(0), one.join().unwrap()]
        })
    }
}

/// A party's inputs, one handle for each value.
fn inputs(circuit: *const CircuitHandle, party: u16, values: &[u64]) -> Vec<*const InputsHandle> {
    let name = [c"x", c"y"][usize::from(party)].as_ptr();
    let one = |&value: &u64| {
        let mut inputs = null_mut();
        // SAFETY: all pointers are of this function.
        unsafe {
            done(|error| symbolon_inputs_new(circuit, party, &mut inputs, error));
            done(|error| symbolon_inputs_uint(inputs, name, value, error));
        }
        inputs.cast_const()
    };
    values.iter().map(one).collect()
}

/// What an evaluation gave, freed.
fn learnt(outputs: *mut OutputsHandle, name: &CStr) -> Result<u64, (Status, String)> {
    let mut value = 0;
    // SAFETY: all pointers are of this function.
    unsafe {
        let read = call(|error| symbolon_outputs_uint(outputs, name.as_ptr(), &mut value, error));
        symbolon_outputs_free(outputs);
        if read.0 == Status::Ok { Ok(value) } else { Err(read) }
    }
}

/// What the quotients of 100 and 3, 0, 9 are.
fn check_quotients(outputs: &[*mut OutputsHandle]) {
    let (failed, name) = (outputs[1], c"quotient".as_ptr());
    let (mut number, mut json, mut is_learnt) = (0, null(), 0);
    // SAFETY: all pointers are of this function.
    unsafe {
        for (status, said) in [
            call(|error| symbolon_outputs_int(failed, name, &mut number, error)),
            call(|error| symbolon_outputs_json(failed, &mut json, error)),
        ] {
            assert_eq!(status, Status::Assert, "{said}");
        }
        done(|error| symbolon_outputs_is_learnt(failed, name, &mut is_learnt, error));
    }
    assert_eq!((is_learnt, json.is_null()), (1, true));
    let all: Vec<_> = outputs.iter().map(|&outputs| learnt(outputs, c"quotient")).collect();
    assert_eq!((&all[0], &all[2]), (&Ok(33), &Ok(11)));
    let Err((Status::Assert, said)) = &all[1] else { panic!("{all:?}") };
    assert!(
        said.starts_with("assert: nothing to divide by (") && said.ends_with(", line 3)"),
        "{said}"
    );
}

const VALUES: [[u64; 3]; 2] = [[100, 100, 99], [3, 0, 9]];

fn free(inputs: Vec<*const InputsHandle>) {
    // SAFETY: each is freed once.
    inputs.into_iter().for_each(|one| unsafe { symbolon_inputs_free(one.cast_mut()) });
}

#[test]
fn programs_are_compiled() {
    let town = Town::new();
    let file = path(town.file("divide.sym"));
    let constant =
        |name: &CStr, value: &CStr| [Constant { name: name.as_ptr(), value: value.as_ptr() }];
    let compile = |entry: Option<&CStr>, constants: &[Constant], parties| {
        let mut circuit = null_mut();
        let entry = entry.map_or(null(), CStr::as_ptr);
        let (first, count) = (constants.as_ptr(), constants.len());
        // SAFETY: all pointers are of this function.
        let ended = call(|error| unsafe {
            let out = &mut circuit;
            symbolon_circuit_compile(file.as_ptr(), entry, first, count, parties, out, error)
        });
        assert_eq!(circuit.is_null(), ended.0 != Status::Ok);
        // SAFETY: freed once, or null.
        unsafe { symbolon_circuit_free(circuit) };
        ended
    };
    let eight = constant(c"W", c"8");
    for (entry, constants, parties) in
        [(None, &[][..], 0), (Some(c"double"), &eight[..], 2), (None, &eight[..], 5)]
    {
        let (status, said) = compile(entry, constants, parties);
        assert_eq!(status, Status::Ok, "{said}");
    }
    let (nine, none) = (constant(c"W", c"9"), constant(c"V", c"8"));
    let unnamed = [Constant { name: null(), value: null() }];
    for (entry, constants, parties, says) in [
        (None, &nine[..], 0, "another width"),
        (None, &none[..], 0, "V"),
        (Some(c"treble"), &[], 0, "treble"),
        (None, &unnamed[..], 0, "the name of a constant is a null pointer"),
        (None, &[], 1, ""),
    ] {
        let (status, said) = compile(entry, constants, parties);
        assert_eq!(status, Status::Usage, "{said}");
        assert!(said.contains(says), "{said}");
    }
    let mut circuit = null_mut();
    let absent = path(town.file("absent.sym"));
    let (absent, file, none) = (absent.as_ptr(), file.as_ptr(), null());
    // SAFETY: all pointers are of this function; null is allowed.
    unsafe {
        let out = &raw mut circuit;
        for (status, said) in [
            call(|error| symbolon_circuit_read(absent, out, error)),
            call(|error| symbolon_circuit_compile(null(), none, null(), 0, 0, out, error)),
            call(|error| symbolon_circuit_compile(file, none, null(), 1, 0, out, error)),
            call(|error| symbolon_circuit_compile(file, none, null(), 0, 0, null_mut(), error)),
        ] {
            assert_eq!(status, Status::Usage, "{said}");
        }
    }
    assert!(circuit.is_null());
}

/// All parameters of the library have a name in C. Here they get the values that they have anyway.
#[test]
fn every_parameter_can_be_set() {
    let town = Town::new();
    let settings: Vec<(String, String)> = SessionParams::new(Protocol::Wrk)
        .values()
        .into_iter()
        // `symbolon_config_dealer` sets this one.
        .filter(|(name, _)| *name != "dealer")
        .map(|(name, value)| (name.replace('-', "_"), value))
        .collect();
    assert!(settings.iter().any(|(name, _)| name == "in_flight"));
    let settings = settings.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let config = town.config(0, &settings.collect::<Vec<_>>());
    // SAFETY: freed once.
    unsafe { symbolon_config_free(config) };
}

#[test]
fn components_are_those_of_the_protocol_and_the_circuit() {
    let town = Town::new();
    let (circuit, config) = (town.program(), town.config(0, &[]));
    let set = |name: &CStr, value: &CStr| {
        // SAFETY: all pointers are of this function.
        call(|error| unsafe { symbolon_config_set(config, name.as_ptr(), value.as_ptr(), error) }).0
    };
    assert_eq!(set(c"components", c"block; sbox"), Status::Ok);
    let mut session = null_mut();
    // No peer is waited for.
    // SAFETY: all pointers are of this function.
    let mut refusal = || unsafe {
        let (status, said) = call(|error| symbolon_connect(config, circuit, &mut session, error));
        assert_eq!(status, Status::Usage, "{said}");
        said
    };
    let said = refusal();
    assert!(said.contains("wrk") && said.contains("component"), "wrk garbles none: {said}");
    assert_eq!(set(c"protocol", c"duplo"), Status::Ok);
    let said = refusal();
    assert!(said.contains("block"), "{said}");
    // SAFETY: freed once.
    unsafe {
        symbolon_config_free(config);
        symbolon_circuit_free(circuit);
    }
}

/// Writes a circuit that gives a sum in several types, one of them to party 0 alone.
fn write_sums(path: &Path) {
    let mut b = Builder::new("sums");
    let (x, y) = (b.input("x", Type::Uint(8), 0), b.input("y", Type::Uint(8), 1));
    let sum = b.add(&x, &y);
    b.output("signed", &sum, Type::Int(8), Receivers::All);
    b.output("private", &sum, Type::Uint(8), Receivers::only([0]));
    b.output("list", &sum, Type::words(2, 4), Receivers::All);
    b.output("wide", &Word::constant(64, 7), Type::Uint(64), Receivers::All);
    let circuit = b.finish().unwrap();
    native::write(&circuit, &mut std::fs::File::create(path).unwrap()).unwrap();
}

#[test]
fn outputs_are_read_in_their_types() {
    let town = Town::new();
    let file = town.file("sums.sbc");
    write_sums(&file);
    let file = path(file);
    town.both(|party| {
        let (mut circuit, mut session, mut outputs) = (null_mut(), null_mut(), null_mut());
        let config = town.config(party, &[]);
        // SAFETY: all pointers are of this function.
        unsafe {
            done(|error| symbolon_circuit_read(file.as_ptr(), &mut circuit, error));
            let given = inputs(circuit, party, &[[250, 3][usize::from(party)]]);
            done(|error| symbolon_connect(config, circuit, &mut session, error));
            done(|error| symbolon_evaluate(session, given[0], &mut outputs, error));
            check_numbers(outputs, party == 0);
            check_json(outputs, party == 0);
            symbolon_outputs_free(outputs);
            free(given);
            symbolon_session_free(session);
            symbolon_config_free(config);
            symbolon_circuit_free(circuit);
        }
    });
}

/// Reads the outputs of `write_sums` as numbers.
fn check_numbers(outputs: *const OutputsHandle, is_zero: bool) {
    let (signed, wide, list) = (c"signed".as_ptr(), c"wide".as_ptr(), c"list".as_ptr());
    let (private, absent) = (c"private".as_ptr(), c"sum".as_ptr());
    let (mut int, mut uint, mut is_learnt) = (0, 0, 0);
    // SAFETY: all pointers are of this function; null is allowed.
    unsafe {
        done(|error| symbolon_outputs_int(outputs, signed, &mut int, error));
        done(|error| symbolon_outputs_uint(outputs, signed, &mut uint, error));
        assert_eq!((int, uint), (-3, 253));
        done(|error| symbolon_outputs_uint(outputs, wide, &mut uint, error));
        assert_eq!(uint, 7);
        for (name, expected) in [(signed, true), (private, is_zero)] {
            done(|error| symbolon_outputs_is_learnt(outputs, name, &mut is_learnt, error));
            assert_eq!(is_learnt, u8::from(expected));
        }
        let (place, none) = (null_mut(), null());
        for ((status, said), says) in [
            (call(|error| symbolon_outputs_int(outputs, wide, &mut int, error)), "(u64)"),
            (call(|error| symbolon_outputs_int(outputs, list, &mut int, error)), "([u4; 2])"),
            (call(|error| symbolon_outputs_int(outputs, absent, &mut int, error)), "`wide`"),
            (call(|error| symbolon_outputs_int(none, wide, &mut int, error)), "null"),
            (call(|error| symbolon_outputs_int(outputs, signed, null_mut(), error)), "null"),
            (call(|error| symbolon_outputs_is_learnt(outputs, absent, place, error)), "`wide`"),
            (call(|error| symbolon_outputs_is_learnt(outputs, wide, place, error)), "null"),
            (call(|error| symbolon_outputs_is_learnt(outputs, null(), place, error)), "null"),
        ] {
            assert_eq!((status, said.contains(says)), (Status::Usage, true), "{said}");
        }
        let (status, said) =
            call(|error| symbolon_outputs_uint(outputs, private, &mut uint, error));
        let hidden = "does not learn output `private`; it learns `signed`, `list`, `wide`";
        assert_eq!((status == Status::Ok, said.ends_with(hidden)), (is_zero, !is_zero), "{said}");
    }
}

/// Reads the outputs of `write_sums` as JSON.
fn check_json(outputs: *const OutputsHandle, is_zero: bool) {
    let (mut json, mut again) = (null(), null());
    // SAFETY: all pointers are of this function; null is allowed.
    let text = unsafe {
        for (status, said) in [
            call(|error| symbolon_outputs_json(null(), &mut json, error)),
            call(|error| symbolon_outputs_json(outputs, null_mut(), error)),
        ] {
            assert_eq!(status, Status::Usage, "{said}");
        }
        done(|error| symbolon_outputs_json(outputs, &mut json, error));
        done(|error| symbolon_outputs_json(outputs, &mut again, error));
        CStr::from_ptr(json).to_str().unwrap()
    };
    assert_eq!(json, again, "the text lives as long as the outputs");
    let bits = r#""bits":"10111111","hex":"hex:fd""#;
    let private = match is_zero {
        true => format!(r#"{bits},"value":"253""#),
        false => r#""bits":null,"hex":null,"value":null"#.to_string(),
    };
    let entry = |name: &str, ty: &str, to: &str, value: &str| {
        format!(r#"{{"name":"{name}","type":"{ty}","receivers":{to},{value}}}"#)
    };
    let expected = [
        entry("signed", "i8", "[0,1]", &format!(r#"{bits},"value":"-3""#)),
        entry("private", "u8", "[0]", &private),
        entry("list", "[u4; 2]", "[0,1]", &format!(r#"{bits},"value":["13","15"]"#)),
        String::new(),
    ];
    assert!(text.starts_with(&format!("[{}", expected.join(","))), "{text}");
    assert!(text.ends_with(r#""value":"7"}]"#), "{text}");
}

#[test]
fn a_batch_in_one_session() {
    let town = Town::new();
    for protocol in ["tinytable", "wrk"] {
        town.both(|party| {
            let circuit = town.program();
            let config = town.config(party, &[("protocol", protocol), ("batch", "3")]);
            let given = inputs(circuit, party, &VALUES[usize::from(party)]);
            let (mut session, mut outputs) = (null_mut(), [null_mut(); 3]);
            let out = outputs.as_mut_ptr();
            let holes = [given[0], null(), given[2]];
            // SAFETY: all pointers are of this function.
            unsafe {
                done(|error| symbolon_connect(config, circuit, &mut session, error));
                let all = given.as_ptr();
                for (status, said) in [
                    call(|error| symbolon_evaluate_batch(session, all, 2, out, error)),
                    call(|error| symbolon_evaluate_batch(session, all, 0, out, error)),
                    call(|error| symbolon_evaluate_batch(session, null(), 3, out, error)),
                    call(|error| symbolon_evaluate_batch(session, all, 3, null_mut(), error)),
                    call(|error| symbolon_evaluate_batch(session, holes.as_ptr(), 3, out, error)),
                    call(|error| symbolon_evaluate_batch(null_mut(), all, 3, out, error)),
                ] {
                    assert_eq!(status, Status::Usage, "{said}");
                }
                assert!(outputs.iter().all(|outputs| outputs.is_null()));
                let out = outputs.as_mut_ptr();
                done(|error| symbolon_evaluate_batch(session, all, 3, out, error));
                check_quotients(&outputs);
                free(given);
                symbolon_session_free(session);
                symbolon_config_free(config);
                symbolon_circuit_free(circuit);
            }
        });
    }
}

/// A party prepares for this many runs or, if there is no number, runs what was prepared.
fn prepare_or_run(town: &Town, party: u16, settings: &[(&str, &str)], runs: Option<u32>) {
    let circuit = town.program();
    let config = town.config(party, settings);
    let given = inputs(circuit, party, &VALUES[usize::from(party)]);
    let folder = path(town.file(format!("{party}.store")));
    let (mut store, mut outputs) = (null_mut(), [null_mut(); 3]);
    // SAFETY: all pointers are of this function.
    unsafe {
        done(|error| symbolon_store_open(folder.as_ptr(), null(), &mut store, error));
        let (all, out) = (given.as_ptr(), outputs.as_mut_ptr());
        if let Some(runs) = runs {
            done(|error| symbolon_prepare(config, store, circuit, runs, error));
        } else {
            let (status, said) = call(|error| {
                symbolon_run_prepared_batch(config, store, circuit, all, 2, out, error)
            });
            assert_eq!(status, Status::Usage, "{said}");
            done(|error| symbolon_run_prepared_batch(config, store, circuit, all, 3, out, error));
            check_quotients(&outputs);
        }
        free(given);
        symbolon_store_free(store);
        symbolon_config_free(config);
        symbolon_circuit_free(circuit);
    }
}

#[test]
fn a_batch_is_prepared_and_run() {
    // With `dualex`, three circuits are prepared, of which two at a time are online.
    let side_by_side = &[("protocol", "tinytable"), ("batch", "3")][..];
    let in_flight = &[("protocol", "dualex"), ("batch", "3"), ("in_flight", "2")][..];
    for (settings, runs) in [(side_by_side, 1), (in_flight, 3)] {
        let town = Town::new();
        for run in [false, true] {
            town.both(|party| prepare_or_run(&town, party, settings, (!run).then_some(runs)));
        }
    }
    // SAFETY: null is allowed everywhere.
    let ended = call(|error| unsafe {
        symbolon_run_prepared_batch(null(), null(), null(), null(), 0, null_mut(), error)
    });
    assert_eq!(ended.0, Status::Usage);
}

#[test]
fn a_dealer_deals() {
    let town = Town::new();
    let identity = Identity::generate().unwrap();
    let print = text(identity.fingerprint().to_string());
    let door = Listener::bind("127.0.0.1:0").unwrap();
    let address = text(door.local_addr().to_string());
    let limits = ServerLimits::default();
    let dealing = Dealing { identity: Some(identity), admit: AdmissionPolicy::Anybody, limits };
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        let serves = scope.spawn(|| symbolon::dealer::serve(door, &dealing, &stop, |_| ()));
        town.both(|party| {
            let circuit = town.program();
            let config = town.config(party, &[]);
            let given = inputs(circuit, party, &[[90, 9][usize::from(party)]]);
            let (mut session, mut outputs) = (null_mut(), null_mut());
            let own = town.prints[usize::from(party)].as_ptr();
            let address = address.as_ptr();
            // SAFETY: all pointers are of this function.
            unsafe {
                for (status, said) in [
                    call(|error| symbolon_config_dealer(config, address, null(), error)),
                    call(|error| symbolon_config_dealer(config, null(), print.as_ptr(), error)),
                    call(|error| symbolon_config_dealer(config, address, c"12".as_ptr(), error)),
                    call(|error| symbolon_config_dealer(null_mut(), address, own, error)),
                ] {
                    assert_eq!(status, Status::Usage, "{said}");
                }
                // A party's own key is refused when it is used.
                done(|error| symbolon_config_dealer(config, address, own, error));
                let (status, said) =
                    call(|error| symbolon_connect(config, circuit, &mut session, error));
                assert_eq!(status, Status::Usage, "{said}");
                done(|error| symbolon_config_dealer(config, address, print.as_ptr(), error));
                done(|error| symbolon_connect(config, circuit, &mut session, error));
                done(|error| symbolon_evaluate(session, given[0], &mut outputs, error));
                assert_eq!(learnt(outputs, c"quotient"), Ok(10));
                free(given);
                symbolon_session_free(session);
                symbolon_config_free(config);
                symbolon_circuit_free(circuit);
            }
        });
        stop.store(true, Ordering::SeqCst);
        serves.join().unwrap().unwrap();
    });
}
