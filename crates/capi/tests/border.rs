//! What C may do wrong, and what it gets for it.

mod common;
#[path = "common/freed.rs"]
mod freed;

use std::ffi::{CStr, CString, c_char, c_void};
use std::hint::black_box;
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use common::{call, free_address};
use freed::{SUM, leaves_sum};
use symbolon_c::*;

fn circuit(name: &CStr) -> *mut CircuitHandle {
    let mut circuit = null_mut();
    // SAFETY: all pointers are of this function.
    let (status, text) =
        call(|error| unsafe { symbolon_circuit_builtin(name.as_ptr(), &mut circuit, error) });
    assert_eq!(status, Status::Ok, "{text}");
    circuit
}

/// A configuration of `party` of two, with the key of the other.
fn config(folder: &std::path::Path, party: u16, address: &CStr) -> *mut ConfigHandle {
    let path = |party: u16| CString::new(folder.join(party.to_string()).to_str().unwrap()).unwrap();
    let mut print = [0; 65];
    let mut config = null_mut();
    // SAFETY: all pointers are of this function.
    unsafe {
        let status = symbolon_key_fingerprint(path(1 - party).as_ptr(), &mut print, null_mut());
        assert_eq!(status, Status::Ok);
        let mut peers = [0, 1].map(|_| Peer { address: null(), fingerprint: null() });
        peers[0].address = address.as_ptr();
        peers[usize::from(1 - party)].fingerprint = print.as_ptr();
        let (key, peers) = (path(party), peers.as_ptr());
        let (status, text) = call(|error| {
            symbolon_config_new(party, key.as_ptr(), null(), peers, 2, &mut config, error)
        });
        assert_eq!(status, Status::Ok, "{text}");
    }
    config
}

fn keys(folder: &std::path::Path) {
    for party in ["0", "1"] {
        let path = CString::new(folder.join(party).to_str().unwrap()).unwrap();
        // SAFETY: all pointers are of this function.
        assert_eq!(unsafe { symbolon_key_create(path.as_ptr(), null_mut()) }, Status::Ok);
    }
}

/// A handle that goes to one other thread.
struct Sent<T>(*mut T);
// SAFETY: the thread that sends it waits for the other one.
unsafe impl<T> Send for Sent<T> {}

impl<T> Sent<T> {
    fn get(&self) -> *mut T {
        self.0
    }
}

/// A terminal obeys control characters, and those that turn text around.
#[test]
fn what_an_error_quotes_is_escaped() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("a\u{1b}[2J\n.sym");
    std::fs::write(&program, "fn main(a: u8 from 0) -> (b: u8 to all) {\n    c\n}\n").unwrap();
    let program = CString::new(program.to_str().unwrap()).unwrap();
    let mut circuit = null_mut();
    // SAFETY: all pointers are of this function.
    let refused = unsafe {
        let name = c"./no\x1b[31m\n\xe2\x80\xaesuch.txt".as_ptr();
        [
            (
                call(|error| symbolon_circuit_read(name, &mut circuit, error)),
                "./no\\u{1b}[31m\\n\\u{202e}",
            ),
            (call(|error| symbolon_circuit_builtin(c"a\x07b".as_ptr(), &mut circuit, error)), ""),
            (
                call(|error| symbolon_circuit_read(program.as_ptr(), &mut circuit, error)),
                "line 2, column 5",
            ),
        ]
    };
    for ((status, text), part) in refused {
        assert_eq!(status, Status::Usage, "{text}");
        assert!(text.contains(part) && !text.contains(char::is_control), "{text:?}");
        assert!(!text.contains('\u{202e}'), "{text:?}");
    }
}

#[test]
fn null_pointers_and_bad_text_are_usage_errors() {
    let mut circuit = null_mut();
    // SAFETY: null is allowed everywhere; everything else is of this function.
    unsafe {
        let refused = [
            call(|error| symbolon_circuit_builtin(null(), &mut circuit, error)),
            call(|error| symbolon_circuit_builtin(c"add:32".as_ptr(), null_mut(), error)),
            call(|error| symbolon_circuit_builtin(c"no such".as_ptr(), &mut circuit, error)),
            call(|error| symbolon_circuit_builtin(c"\xff".as_ptr(), &mut circuit, error)),
            call(|error| symbolon_circuit_read(c"/no/such".as_ptr(), &mut circuit, error)),
            call(|error| symbolon_evaluate(null_mut(), null(), null_mut(), error)),
            call(|error| symbolon_connect(null(), null(), null_mut(), error)),
            call(|error| symbolon_run_prepared(null(), null(), null(), null(), null_mut(), error)),
            call(|error| symbolon_config_set(null_mut(), null(), null(), error)),
            call(|error| symbolon_key_create(null(), error)),
        ];
        assert!(circuit.is_null());
        for (status, text) in refused {
            assert_eq!(status, Status::Usage, "{text}");
            assert!(text.len() > 20, "{text}");
        }
        symbolon_circuit_free(null_mut());
        symbolon_session_free(null_mut());
        symbolon_error_free(null_mut());
        symbolon_cancel_now(null());
        assert!(symbolon_error_text(null()).is_null());
        assert_eq!(symbolon_outputs_count(null()), 0);
    }
}

#[test]
fn inputs_are_checked_one_by_one() {
    let circuit = circuit(c"add:8");
    let mut inputs = null_mut();
    // SAFETY: all pointers are of this function.
    unsafe {
        assert_eq!(symbolon_inputs_new(circuit, 0, &mut inputs, null_mut()), Status::Ok);
        // Inputs live without the circuit.
        symbolon_circuit_free(circuit);
        let (x, y) = (c"x".as_ptr(), c"y".as_ptr());
        let two = [2u8];
        for (status, text) in [
            call(|error| symbolon_inputs_uint(inputs, x, 256, error)),
            call(|error| symbolon_inputs_uint(inputs, y, 1, error)),
            call(|error| symbolon_inputs_text(inputs, x, c"hex:1ff".as_ptr(), error)),
            call(|error| symbolon_inputs_bits(inputs, x, two.as_ptr(), 1, error)),
            call(|error| symbolon_inputs_bits(inputs, x, null(), 8, error)),
        ] {
            assert_eq!(status, Status::Usage, "{text}");
        }
        assert_eq!(symbolon_inputs_uint(inputs, x, 255, null_mut()), Status::Ok);
        let (status, text) = call(|error| symbolon_inputs_uint(inputs, x, 1, error));
        assert_eq!((status, text.contains("twice")), (Status::Usage, true), "{text}");
        symbolon_inputs_free(inputs);
    }
}

/// Limits on the length of an array hold before it is read: here no address can be read.
#[test]
fn arrays_of_wrong_lengths_are_not_read() {
    let folder = tempfile::tempdir().unwrap();
    keys(folder.path());
    let add = circuit(c"add:8");
    let config = config(folder.path(), 0, &free_address());
    let path = |name: &str| CString::new(folder.path().join(name).to_str().unwrap()).unwrap();
    let (key, source, directory) = (path("0"), path("absent.sym"), path("store"));
    let (mut made, mut compiled, mut inputs, mut store) =
        (null_mut(), null_mut(), null_mut(), null_mut());
    let (key, source, x, y) = (key.as_ptr(), source.as_ptr(), c"x".as_ptr(), c"y".as_ptr());
    let mut outputs = [null_mut(); 2];
    let outputs = outputs.as_mut_ptr();
    // SAFETY: all other pointers are of this function.
    unsafe {
        let ok = |status| assert_eq!(status, Status::Ok);
        ok(symbolon_inputs_new(add, 0, &mut inputs, null_mut()));
        ok(symbolon_store_open(directory.as_ptr(), null(), &mut store, null_mut()));
        let mut refused = Vec::new();
        for (party, count) in [(0, 0), (0, 1), (5, 2), (0, 257), (0, 70_000), (0, usize::MAX)] {
            refused.push(call(|error| {
                symbolon_config_new(party, key, null(), wild(), count, &mut made, error)
            }));
        }
        for count in [4_097, usize::MAX] {
            refused.push(call(|error| {
                let out = &mut compiled;
                symbolon_circuit_compile(source, null(), wild(), count, 0, out, error)
            }));
        }
        for (name, count) in [(x, 0), (x, 7), (x, 9), (x, usize::MAX), (y, 8), (c"z".as_ptr(), 8)] {
            refused.push(call(|error| symbolon_inputs_bits(inputs, name, wild(), count, error)));
        }
        for batch in [1, 2, 1 << 25] {
            let value = CString::new(batch.to_string()).unwrap();
            let (name, value) = (c"batch".as_ptr(), value.as_ptr());
            ok(symbolon_config_set(config, name, value, null_mut()));
            // As many as `batch` says are too many, if these are more than any call takes.
            for count in [0, batch + 1, usize::MAX].into_iter().chain((batch > 2).then_some(batch))
            {
                refused.push(call(|error| {
                    symbolon_run_prepared_batch(config, store, add, wild(), count, outputs, error)
                }));
            }
        }
        for (status, text) in refused {
            assert_eq!(status, Status::Usage, "{text}");
        }
        symbolon_store_free(store);
        symbolon_inputs_free(inputs);
        symbolon_circuit_free(add);
        symbolon_config_free(config);
    }
}

/// An address that no program can read.
fn wild<T>() -> *const T {
    std::ptr::without_provenance(align_of::<T>())
}

unsafe extern "C" fn count(event: *const Event, data: *mut c_void) {
    // SAFETY: the counter lives until the sessions end.
    let (event, counter) = unsafe { (&*event, &*data.cast::<AtomicU64>()) };
    // SAFETY: an event has a name.
    if unsafe { CStr::from_ptr(event.event) } == c"connected" {
        counter.fetch_add(1, Ordering::SeqCst);
    }
}

/// What a party learns of the sum of 40 and 2 and, in the same session, of two larger numbers.
fn adds(config: Sent<ConfigHandle>, party: u16) -> Vec<String> {
    let config = config.get();
    let (circuit, wide) = (circuit(c"add:8"), circuit(c"add:64"));
    let mut session = null_mut();
    let mut learnt = Vec::new();
    // SAFETY: all pointers are of this function.
    unsafe {
        let (status, text) = call(|error| symbolon_connect(config, circuit, &mut session, error));
        assert_eq!(status, Status::Ok, "{text}");
        for (circuit, values) in [(circuit, [40, 2]), (wide, [SUM - 100, 100])] {
            if circuit == wide {
                assert_eq!(symbolon_next_circuit(session, wide, null_mut()), Status::Ok);
            }
            let (mut inputs, mut outputs) = (null_mut(), null_mut());
            let none = null_mut();
            assert_eq!(symbolon_inputs_new(circuit, party, &mut inputs, none), Status::Ok);
            // A missing input is found before anything is sent.
            let (status, text) =
                call(|error| symbolon_evaluate(session, inputs, &mut outputs, error));
            assert_eq!(status, Status::Usage, "{text}");
            let name = [c"x", c"y"][usize::from(party)].as_ptr();
            let value = values[usize::from(party)];
            assert_eq!(symbolon_inputs_uint(inputs, name, value, null_mut()), Status::Ok);
            let (status, text) =
                call(|error| symbolon_evaluate(session, inputs, &mut outputs, error));
            assert_eq!(status, Status::Ok, "{text}");
            assert_eq!(symbolon_outputs_count(outputs), 1);
            let name = symbolon_outputs_name(outputs, 0);
            assert!(symbolon_outputs_name(outputs, 1).is_null());
            let (mut shown, mut number) = (null(), 0);
            let (mut bits, mut count) = (null(), 0);
            let none = null_mut();
            assert_eq!(symbolon_outputs_text(outputs, name, &mut shown, none), Status::Ok);
            assert_eq!(symbolon_outputs_uint(outputs, name, &mut number, none), Status::Ok);
            assert_eq!(
                symbolon_outputs_bits(outputs, name, &mut bits, &mut count, none),
                Status::Ok
            );
            let bits = std::slice::from_raw_parts(bits, count);
            let of_bits = bits.iter().rev().fold(0, |n, bit| n << 1 | u64::from(*bit));
            assert_eq!(of_bits, number);
            learnt.push(CStr::from_ptr(shown).to_str().unwrap().to_string());
            let mut json = null();
            assert_eq!(symbolon_outputs_json(outputs, &mut json, none), Status::Ok);
            let json = CStr::from_ptr(json).to_str().unwrap();
            assert!(json.contains(&format!("\"value\":\"{number}\"")), "{json}");
            let (status, text) = call(|error| {
                symbolon_outputs_uint(outputs, c"no such".as_ptr(), &mut number, error)
            });
            assert_eq!(status, Status::Usage, "{text}");
            let is_left = leaves_sum(|| symbolon_outputs_free(outputs));
            assert!(!is_left, "freed outputs are not wiped");
            symbolon_inputs_free(inputs);
        }
        symbolon_session_free(session);
        symbolon_circuit_free(circuit);
        symbolon_circuit_free(wide);
        symbolon_config_free(config);
    }
    learnt
}

#[test]
fn two_circuits_in_one_session() {
    let folder = tempfile::tempdir().unwrap();
    keys(folder.path());
    let address = free_address();
    let connected = AtomicU64::new(0);
    let configs = [0, 1].map(|party| config(folder.path(), party, &address));
    for config in configs {
        let data = (&raw const connected).cast_mut().cast();
        // SAFETY: all pointers are of this function; the counter outlives the sessions.
        let status = unsafe { symbolon_config_on_progress(config, Some(count), data, null_mut()) };
        assert_eq!(status, Status::Ok);
        let set = |key: &CStr, value: &CStr| {
            // SAFETY: all pointers are of this function.
            call(|error| unsafe {
                symbolon_config_set(config, key.as_ptr(), value.as_ptr(), error)
            })
        };
        let kappa_b = [c"80", c"none"].map(|value| (c"kappa_b", value));
        let usual = [(c"rho", c"64"), (c"protocol", c"ywz"), (c"timeout", c"60.5")];
        let per = [c"execution", c"none"].map(|value| (c"kappa_b_per", value));
        for (key, value) in kappa_b.into_iter().chain(per).chain(usual) {
            assert_eq!(set(key, value).0, Status::Ok);
        }
        let mistakes = [
            (c"rho", c"41"),
            (c"kappa_b", c"20"),
            (c"kappa_b_per", c"bucket"),
            (c"dealer", c"none"),
            (c"timeout", c"0"),
        ];
        for (key, value) in mistakes {
            assert_eq!(set(key, value).0, Status::Usage);
        }
    }
    let [zero, one] = configs.map(Sent);
    let one = thread::spawn(move || adds(one, 1));
    let sums = ["42".to_string(), SUM.to_string()];
    assert_eq!(adds(zero, 0), sums);
    assert_eq!(one.join().unwrap(), sums);
    assert_eq!(connected.load(Ordering::SeqCst), 2);
}

/// The test above would find outputs that are not wiped.
#[test]
fn outputs_are_found_in_freed_memory() {
    let bits: Vec<u8> = (0..64).map(|place| (SUM >> place) as u8 & 1).collect();
    let (text, zeros) = (SUM.to_string(), vec![0; bits.len()]);
    assert!(leaves_sum(|| drop(black_box(text))));
    assert!(leaves_sum(|| drop(black_box(bits))));
    assert!(!leaves_sum(|| drop(black_box(zeros))));
}

#[test]
fn a_wait_can_be_cancelled() {
    let folder = tempfile::tempdir().unwrap();
    keys(folder.path());
    let config = config(folder.path(), 0, &free_address());
    let (circuit, cancel) = (circuit(c"add:8"), symbolon_cancel_new());
    let mut session = null_mut();
    // SAFETY: all pointers are of this function; the thread ends before `cancel` is freed.
    unsafe {
        assert_eq!(symbolon_config_cancelled_by(config, cancel, null_mut()), Status::Ok);
        let sent = Sent(cancel);
        let other = thread::spawn(move || {
            thread::sleep(std::time::Duration::from_millis(200));
            symbolon_cancel_now(sent.get());
        });
        let (status, text) = call(|error| symbolon_connect(config, circuit, &mut session, error));
        assert_eq!(status, Status::Interrupted, "{text}");
        assert!(session.is_null());
        other.join().unwrap();
        symbolon_cancel_free(cancel);
        symbolon_config_free(config);
        symbolon_circuit_free(circuit);
    }
}

/// Nothing that panics gets to C.
#[test]
fn a_panic_ends_at_the_border() {
    let (status, text) = call(|error| {
        // SAFETY: `error` is a place of `call`.
        unsafe { border::call(error, || panic!("this test's own")) }
    });
    assert_eq!(status, Status::Internal);
    assert!(text.starts_with("internal: "), "{text}");
    let (status, text) = call(|error| {
        // SAFETY: `error` is a place of `call`.
        unsafe { border::compute(error, || panic!("this test's own")) }
    });
    assert_eq!(status, Status::Internal);
    assert!(text.starts_with("internal: "), "{text}");
}

/// A program's assert is a status of its own.
#[test]
fn an_assert_that_fails_has_its_status() {
    use symbolon::circuit::{
        Circuit, Failure as Said, Receivers, Type,
        builder::{Builder, Word},
        native,
    };
    let mut b = Builder::new("divides");
    let (x, y) = (b.input("x", Type::Uint(1), 0), b.input("y", Type::Uint(1), 1));
    b.output("sum", &Word::zero(1), Type::Uint(1), Receivers::All);
    let both = b.and_each(x[0], &y);
    b.output(Circuit::FAILURE, &both, Type::Uint(1), Receivers::All);
    let said = Said { text: "not both".into(), file: "a.sym".into(), line: 7 };
    let made = b.finish().unwrap().with_failures(vec![said]);
    let folder = tempfile::tempdir().unwrap();
    keys(folder.path());
    let path = folder.path().join("a.sbc");
    native::write(&made, &mut std::fs::File::create(&path).unwrap()).unwrap();
    let path = CString::new(path.to_str().unwrap()).unwrap();
    let address = free_address();
    let run = move |config: Sent<ConfigHandle>, party: u16, path: CString| {
        let config = config.get();
        let (mut circuit, mut session, mut inputs) = (null_mut(), null_mut(), null_mut());
        let mut outputs = null_mut();
        // SAFETY: all pointers are of this function.
        unsafe {
            let none = null_mut::<*mut Failure>();
            assert_eq!(symbolon_circuit_read(path.as_ptr(), &mut circuit, none), Status::Ok);
            assert_eq!(symbolon_inputs_new(circuit, party, &mut inputs, none), Status::Ok);
            let name: *const c_char = [c"x", c"y"][usize::from(party)].as_ptr();
            assert_eq!(symbolon_inputs_uint(inputs, name, 1, none), Status::Ok);
            assert_eq!(symbolon_connect(config, circuit, &mut session, none), Status::Ok);
            let ended = call(|error| symbolon_evaluate(session, inputs, &mut outputs, error));
            assert!(outputs.is_null());
            symbolon_session_free(session);
            symbolon_inputs_free(inputs);
            symbolon_circuit_free(circuit);
            symbolon_config_free(config);
            ended
        }
    };
    let [zero, one] = [0, 1].map(|party| Sent(config(folder.path(), party, &address)));
    let its_path = path.clone();
    let one = thread::spawn(move || run(one, 1, its_path));
    let expected = (Status::Assert, "assert: not both (a.sym, line 7)".to_string());
    assert_eq!(run(zero, 0, path), expected);
    assert_eq!(one.join().unwrap(), expected);
}

/// What a node of a service refuses, before anything is open.
#[test]
fn a_node_is_told_only_what_can_work() {
    let folder = tempfile::tempdir().unwrap();
    keys(folder.path());
    let address = CString::new(free_address()).unwrap();
    let config = config(folder.path(), 0, &address);
    let circuit = circuit(c"add:16");
    let mut about = null_mut();
    // SAFETY: null is allowed everywhere; everything else is of this function.
    unsafe {
        let (status, text) = call(|error| symbolon_node_config_new(config, &mut about, error));
        assert_eq!(status, Status::Ok, "{text}");
        let add = |name: &CStr| {
            call(|error| symbolon_node_config_add(about, name.as_ptr(), circuit, config, error))
        };
        assert_eq!(add(c"sum").0, Status::Ok);
        for name in [c"sum", c"a b", c"", c"\xff"] {
            assert_eq!(add(name).0, Status::Usage, "{name:?}");
        }
        let set = |function: &CStr, key: &CStr, value: &CStr| {
            let (function, key, value) = (function.as_ptr(), key.as_ptr(), value.as_ptr());
            call(|error| symbolon_node_config_set(about, function, key, value, error)).0
        };
        for (key, good, wrong) in [
            (c"ready", c"9", c"-1"),
            (c"low", c"3", c"x"),
            (c"side_by_side", c"2", c"2.5"),
            (c"waiting", c"7", c""),
            (c"calls_per_hour", c"7", c"-7"),
            (c"wait", c"0.2", c"-1"),
            (c"keep", c"5", c"NaN"),
            (c"callers", c"0, 1", c"0;1"),
        ] {
            assert_eq!(set(c"sum", key, wrong), Status::Usage, "{key:?}");
            assert_eq!(set(c"sum", key, good), Status::Ok, "{key:?}");
        }
        assert_eq!(set(c"sum", c"clients", c"1"), Status::Usage);
        assert_eq!(set(c"product", c"ready", c"9"), Status::Usage);
        let mut node = null_mut();
        // More than `ready` cannot run side by side.
        assert_eq!(set(c"sum", c"side_by_side", c"10"), Status::Ok);
        let (status, text) = call(|error| symbolon_node_start(about, &mut node, error));
        assert_eq!((status, node), (Status::Usage, null_mut()), "{text}");
        assert_eq!(set(c"sum", c"side_by_side", c"1"), Status::Ok);
        let (status, text) = call(|error| symbolon_node_start(about, &mut node, error));
        assert_eq!(status, Status::Ok, "{text}");
        // Nobody else is there.
        let (mut count, mut name, mut made) = (7, [1; 65], null_mut());
        let (status, text) =
            call(|error| symbolon_node_ready(node, c"sum".as_ptr(), &mut count, error));
        assert_eq!((status, count), (Status::Ok, 0), "{text}");
        assert_eq!(
            symbolon_node_ready(node, c"no".as_ptr(), &mut count, null_mut()),
            Status::Usage
        );
        let announced = |function: &CStr, seconds: f64, name: *mut [c_char; 65]| {
            symbolon_node_announced(node, function.as_ptr(), seconds, name, null_mut())
        };
        assert_eq!(announced(c"sum", 0.01, &mut name), Status::Ok);
        assert_eq!(name, [0; 65]);
        for seconds in [-1.0, f64::NAN, f64::INFINITY] {
            assert_eq!(announced(c"sum", seconds, &mut name), Status::Usage);
        }
        assert_eq!(announced(c"no", 0.01, &mut name), Status::Usage);
        assert_eq!(announced(c"sum", 0.01, null_mut()), Status::Usage);
        let mut inputs = null_mut();
        assert_eq!(symbolon_inputs_new(circuit, 0, &mut inputs, null_mut()), Status::Ok);
        let bytes = |bytes: *const u8, count| {
            symbolon_inputs_bytes(inputs, c"x".as_ptr(), bytes, count, null_mut())
        };
        assert_eq!(bytes(null(), 2), Status::Usage);
        assert_eq!(bytes([1, 0, 0].as_ptr(), 3), Status::Usage);
        assert_eq!(bytes([1, 0].as_ptr(), 2), Status::Ok);
        let mut give = |name: &CStr, node: *const NodeHandle| {
            let (function, name) = (c"sum".as_ptr(), name.as_ptr());
            call(|error| symbolon_node_call(node, function, name, inputs, &mut made, error))
        };
        assert_eq!(give(c"a/b", node).0, Status::Usage);
        assert_eq!(give(c"a", null()).0, Status::Usage);
        let (status, text) = give(c"a", node);
        assert_eq!(status, Status::Ok, "{text}");
        // At first there is no answer, and then the reason why there is none.
        let mut outputs = black_box(0x10 as *mut OutputsHandle);
        assert_eq!(symbolon_call_wait(made, 0.0, &mut outputs, null_mut()), Status::Ok);
        assert_eq!(outputs, null_mut());
        let mut error = null_mut();
        assert_eq!(symbolon_call_wait(made, 60.0, &mut outputs, &mut error), Status::Peer);
        assert_eq!(symbolon_error_party(error), 1);
        assert_eq!(CStr::from_ptr(symbolon_error_code(error)), c"no-input-from-peer");
        symbolon_error_free(error);
        assert_eq!(symbolon_call_wait(made, 1.0, null_mut(), null_mut()), Status::Usage);
        assert_eq!(symbolon_node_drain(node, null_mut()), Status::Ok);
        let mut late = null_mut();
        let status =
            symbolon_node_call(node, c"sum".as_ptr(), c"b".as_ptr(), inputs, &mut late, null_mut());
        assert_eq!((status, late), (Status::System, null_mut()));
        // In any order.
        symbolon_node_free(node);
        symbolon_call_free(made);
        symbolon_inputs_free(inputs);
        symbolon_node_config_free(about);
        symbolon_config_free(config);
        symbolon_circuit_free(circuit);
        symbolon_node_free(null_mut());
        symbolon_call_free(null_mut());
        symbolon_node_config_free(null_mut());
    }
}
