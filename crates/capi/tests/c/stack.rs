//! Calls from threads that have little stack.

use std::net::TcpListener;
use std::process::Command;

use crate::{SEARCHED, done, here, shared};

/// How deep the type of an output and of an input nests: about as deep as a type may.
const DEPTH: usize = 62;

/// A sum, and a value in structures in structures.
fn source() -> String {
    let inner = |depth: usize| format!("struct S{depth} {{ a: S{} }}\n", depth - 1);
    let structs: String = (1..=DEPTH).map(inner).collect();
    format!(
        "pub const W = 4;
struct S0 {{ a: u8 }}
{structs}
fn main(x: [u32; W] from 0, y: u32 from 1, deep: S{DEPTH} from 0)
    -> (sum: u32 to all, echo: S{DEPTH} to all) {{
    assert(W == 2, \"another width\");
    (x[0] + x[1] + y, deep)
}}
"
    )
}

/// The value in all its structures.
fn value() -> String {
    format!("{}7{}", "{\"a\": ".repeat(DEPTH + 1), "}".repeat(DEPTH + 1))
}

/// Runs `small_stack.c`.
fn run(what: &str) {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("small_stack");
    if !shared(&here().join("tests/c/small_stack.c"), &program) {
        return;
    }
    std::fs::write(folder.path().join("sum.sym"), source()).unwrap();
    std::fs::write(folder.path().join("deep.txt"), value()).unwrap();
    let free = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = free.local_addr().unwrap().to_string();
    drop(free);
    let mut command = Command::new(&program);
    command.arg(what).arg(address).current_dir(&folder).env(SEARCHED, folder.path());
    assert_eq!(done(&mut command), "done\n");
}

/// Two parties do all that a party can do, each in a thread of 128 KiB.
#[test]
fn a_thread_of_128_kib_can_call_everything() {
    run("all");
}

/// Without memory for a thread, a call ends with the status SYSTEM, and handles can be freed.
#[test]
#[cfg(target_os = "linux")]
fn a_call_without_a_thread_is_an_error() {
    run("starved");
}
