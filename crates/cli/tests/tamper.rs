//! Somebody on the path changes bytes: plain TCP allows it, the protocol notices.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::ops::Range;
use std::thread;

use crate::common::{self, listen};

/// Copies until the end, with the bytes at `flipped` (counted from the first) inverted.
fn copy(mut from: TcpStream, mut to: TcpStream, flipped: Range<usize>) {
    let mut buffer = [0; 4096];
    let mut place = 0;
    while let Ok(read @ 1..) = from.read(&mut buffer) {
        for byte in &mut buffer[..read] {
            *byte ^= if flipped.contains(&place) { 0xff } else { 0 };
            place += 1;
        }
        if to.write_all(&buffer[..read]).is_err() {
            break;
        }
    }
    let _ = to.shutdown(Shutdown::Write);
    let _ = from.shutdown(Shutdown::Read);
}

/// Returns an address at which one caller reaches `server`, with bytes changed on the way there and
/// back.
fn middleman(server: String, there: Range<usize>, back: Range<usize>) -> String {
    let door = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = door.local_addr().unwrap().to_string();
    thread::spawn(move || {
        let (caller, _) = door.accept().unwrap();
        let called = TcpStream::connect(server).unwrap();
        let (to, from) = (called.try_clone().unwrap(), caller.try_clone().unwrap());
        thread::spawn(move || copy(from, to, there));
        copy(called, caller, back);
    });
    address
}

/// Returns exit codes and outputs of both sides.
fn run(there: Range<usize>, back: Range<usize>) -> [(i32, String); 2] {
    // Nothing is left to the link: changed bytes of its measurement would do no harm.
    let choice = ["--form", "four-row", "--ot", "iknp"];
    let same = [&["mul:32", "--transport", "tcp", "--timeout", "10"][..], &choice].concat();
    let zero = listen(&[&same[..], &["--party", "0", "--input", "0=3"]].concat());
    let address = middleman(zero.address.clone(), there, back);
    let one = [&["run", "--connect", &address][..], &same[..], &["--party", "1", "--input", "1=2"]];
    let one = common::symbolon(&one.concat());
    let zero = zero.end();
    [(zero.code, zero.out), (one.code, one.out)]
}

#[test]
fn an_honest_middleman_changes_nothing() {
    for (code, out) in run(0..0, 0..0) {
        assert_eq!((code, out.as_str()), (0, "product = 6\n"));
    }
}

#[test]
fn changed_bytes_are_code_5_and_release_nothing() {
    // In the base OTs, in the middle of the preprocessing, and from there to the end.
    for flipped in [2_000..2_040, 20_000..60_000, 30_000..usize::MAX] {
        for (there, back) in [(flipped.clone(), 0..0), (0..0, flipped.clone())] {
            let ends = run(there.clone(), back.clone());
            let context = format!("{there:?} {back:?} {ends:?}");
            assert!(ends.iter().any(|(code, _)| *code == 5), "{context}");
            for (code, out) in &ends {
                assert!([3, 5].contains(code) && out.is_empty(), "{context}");
            }
        }
    }
}
