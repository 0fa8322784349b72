//! The example of a service in C: two nodes, each a process.

use std::net::TcpListener;
use std::process::{Child, Command, Stdio};

use crate::{SEARCHED, done, here, shared};

/// How many calls are made.
const CALLS: usize = 20;

#[test]
fn a_service_in_c() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("service");
    if !shared(&here().join("examples/service.c"), &program) {
        return;
    }
    let run = || {
        let mut command = Command::new(&program);
        command.env(SEARCHED, folder.path()).current_dir(&folder);
        command
    };
    let prints = ["0", "1"].map(|key| done(run().args(["key", key])).trim().to_string());
    let free = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = free.local_addr().unwrap().to_string();
    drop(free);
    // Whoever begins, either party may be the one that asks.
    for asks in [0, 1] {
        let start = |party: usize| -> Child {
            let what = if party == asks { "ask" } else { "answer" };
            let (me, calls) = (party.to_string(), CALLS.to_string());
            let mut command = run();
            command.args([what, &me, &me, &address, &prints[1 - party], &calls]);
            command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
            command.spawn().unwrap()
        };
        let children = [start(0), start(1)];
        let expected: String = (0..CALLS).map(|i| format!("call-{i}: {}\n", 1000 + i)).collect();
        for child in children {
            let output = child.wait_with_output().unwrap();
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(output.status.success(), "{said}");
            assert_eq!(String::from_utf8(output.stdout).unwrap(), expected);
        }
    }
}
