//! Calls from Node, by the package koffi, whose calls have 128 KiB of stack.

use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::{done, here, is_there, libraries};

/// Two parties in one process of Node. `.ci/long node` installs koffi where this test looks for it.
#[test]
fn two_parties_in_node() {
    if !is_there("node") {
        return;
    }
    let packages = here().join("../../target/node/node_modules");
    let with_packages = |command: &mut Command| {
        let named = std::env::var_os("NODE_PATH").unwrap_or_default();
        let all = std::env::split_paths(&named).chain([packages.clone()]);
        command.env("NODE_PATH", std::env::join_paths(all).unwrap());
    };
    let mut koffi = Command::new("node");
    with_packages(koffi.args(["-e", "require('koffi')"]).stderr(Stdio::null()));
    if !koffi.status().unwrap().success() {
        eprintln!("NOT CHECKED: Node has no package koffi (.ci/long node installs it)");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let free = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = free.local_addr().unwrap().to_string();
    drop(free);
    let mut node = Command::new("node");
    node.arg(here().join(Path::new("tests/c/parties.js")));
    node.arg(libraries().join("libsymbolon_c.so")).arg(address).current_dir(&folder);
    with_packages(&mut node);
    assert_eq!(done(&mut node), "42 42\n");
}
