//! Measures a store on this machine: writing and reading a pool, taking from it.
//!
//! `cargo run --release -p symbolon-store --example disk [DIRECTORY] [MiB]`

use std::io::{Read, Write};
use std::path::PathBuf;
use std::time::Instant;

use symbolon_store::*;

const RECORD: u64 = 128;

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let directory = arguments.next().map_or_else(std::env::temp_dir, PathBuf::from);
    let mebibytes: u64 = arguments.next().and_then(|n| n.parse().ok()).unwrap_or(1280);
    say(
        "protection   write MB/s   read MB/s   one take ms (of 1 item, of 1000)   wipe or remove s\n",
    );
    for (name, protection) in [
        ("none", Protection::None),
        ("passphrase", Protection::passphrase("correct horse battery staple")),
    ] {
        let path = directory.join(format!("symbolon-store-throughput-{}", std::process::id()));
        let result = measure(name, &path, &protection, mebibytes << 20);
        let _ = std::fs::remove_dir_all(&path);
        result?;
    }
    Ok(())
}

fn say(text: &str) {
    let _ = std::io::stdout().write_all(text.as_bytes());
}

fn meta(sequence: u64) -> ItemMeta {
    ItemMeta {
        kind: ItemKind::Pool,
        protocol: "wrk".to_string(),
        group: [1; 32],
        party: 0.into(),
        peers: vec![ItemPeer { party: 1.into(), fingerprint: Some("ab".repeat(32)) }],
        dealer: None,
        rho: 40,
        circuit: None,
        name: None,
        sequence,
        counts: Vec::new(),
        components: Vec::new(),
    }
}

fn measure(name: &str, path: &std::path::Path, protection: &Protection, bytes: u64) -> Result<()> {
    let store = Store::create(path, protection)?;
    let records = Section::Records { counter: 0, bits: 8 * RECORD };
    let chunk: Vec<u8> = (0..1 << 16).map(|i: u32| ((i * i) >> 7) as u8).collect();

    let start = Instant::now();
    let mut item_writer = store.begin(meta(0), &[records], DEFAULT_FRAME)?;
    for _ in 0..bytes / chunk.len() as u64 {
        item_writer.section(0).put(&chunk)?;
    }
    let id = item_writer.finish(vec![bytes / RECORD])?;
    let write = bytes as f64 / start.elapsed().as_secs_f64() / 1e6;

    let takes = 50;
    let start = Instant::now();
    for i in 0..takes {
        store.take_range(id, &[i], &[i + 1])?;
    }
    let one = start.elapsed().as_secs_f64() * 1e3 / takes as f64;

    let start = Instant::now();
    let taken = store.take_range(id, &[takes], &[bytes / RECORD])?;
    let mut reader = taken.read(0, taken.bytes(0))?;
    let mut buffer = vec![0; 1 << 16];
    while reader.read(&mut buffer).expect("nobody changes the store") > 0 {}
    let read = bytes as f64 / start.elapsed().as_secs_f64() / 1e6;
    drop(reader);
    let start = Instant::now();
    taken.done()?;
    let removed = start.elapsed().as_secs_f64();

    for sequence in 1..1000 {
        let mut item_writer = store.begin(meta(sequence), &[records], DEFAULT_FRAME)?;
        item_writer.section(0).put(&chunk)?;
        item_writer.finish(vec![chunk.len() as u64 / RECORD])?;
    }
    let id = store.available_items(&Filter::default())?[0].id;
    let start = Instant::now();
    for i in 0..takes {
        store.take_range(id, &[i], &[i + 1])?;
    }
    let many = start.elapsed().as_secs_f64() * 1e3 / takes as f64;
    say(&format!("{name:10} {write:12.0} {read:11.0} {one:12.2} {many:20.2} {removed:18.2}\n"));
    Ok(())
}
