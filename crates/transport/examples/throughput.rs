//! Measures the transports of this crate on this machine: throughput, latency, time to connect.
//!
//! `cargo run --release -p symbolon-transport --example throughput [memory] [tcp] [tls] [links]`

use std::io::Write;
use std::thread;
use std::time::{Duration, Instant};

use symbolon_transport::{
    Channel, Identity, Listener, Meter, Options, Peer, Result, SimulatedLink, connect_lanes,
    memory_lanes,
};

const TOTAL: usize = 2 << 30;

fn main() -> Result<()> {
    let chosen: Vec<String> = std::env::args().skip(1).collect();
    let wanted = |name: &str| chosen.is_empty() || chosen.iter().any(|other| other == name);
    say("transport        1 MiB messages   64 B messages   both ways      round trip\n");
    for name in ["memory", "tcp", "tls"] {
        if wanted(name) {
            measure(name)?;
        }
    }
    if !wanted("links") {
        return Ok(());
    }
    connect_time()?;
    for link in [SimulatedLink::LAN1, SimulatedLink::LAN, SimulatedLink::WAN] {
        let (mut a, mut b) = memory_lanes((0, Meter::new()), (1, Meter::new()), 1, Some(link))?;
        let time = ping_pong(&mut a[0], &mut b[0], 40)?;
        let (wanted, got) = (link.round_trip.as_secs_f64() * 1e3, time.as_secs_f64() * 1e3);
        say(&format!("link {link}: round trip {got:.3} ms, {wanted:.3} wanted\n"));
    }
    Ok(())
}

fn say(text: &str) {
    let _ = std::io::stdout().write_all(text.as_bytes());
}

fn measure(name: &str) -> Result<()> {
    let (mut a, mut b) = connected(name)?;
    stream(&mut a, &mut b, 1 << 20, TOTAL / 8)?;
    let large = TOTAL as f64 / 1e9 / stream(&mut a, &mut b, 1 << 20, TOTAL)?.as_secs_f64();
    let small =
        1e-6 * (TOTAL / 1024) as f64 / stream(&mut a, &mut b, 64, TOTAL / 16)?.as_secs_f64();
    let (mut c, mut d) = connected(name)?;
    let begun = Instant::now();
    thread::scope(|scope| {
        let there = scope.spawn(|| both_ways(&mut c));
        both_ways(&mut d)?;
        there.join().unwrap_or(Ok(()))
    })?;
    let both = TOTAL as f64 / 1e9 / begun.elapsed().as_secs_f64();
    let trip = ping_pong(&mut a, &mut b, 20_000)?.as_secs_f64() * 1e6;
    say(&format!(
        "{name:<16} {large:>8.2} GB/s {small:>12.1} M/s {both:>12.2} GB/s {trip:>12.1} us\n"
    ));
    Ok(())
}

/// Each side sends half of the total and receives the other half, in turns of 4 MiB.
fn both_ways(channel: &mut Channel) -> Result<()> {
    let mut buffer = vec![1; 1 << 20];
    for _ in 0..TOTAL / (8 << 20) {
        for _ in 0..4 {
            channel.send("data", &buffer)?;
        }
        for _ in 0..4 {
            channel.recv_into("data", &mut buffer)?;
        }
    }
    Ok(())
}

/// Measures the time to send `total` bytes in messages of `size`, until all have arrived.
fn stream(a: &mut Channel, b: &mut Channel, size: usize, total: usize) -> Result<Duration> {
    let begun = Instant::now();
    thread::scope(|scope| {
        let receiver = scope.spawn(move || -> Result<()> {
            let mut buffer = vec![0; size];
            for _ in 0..total / size {
                b.recv_into("data", &mut buffer)?;
            }
            Ok(())
        });
        let data = vec![1; size];
        for i in 0..total / size {
            a.send("data", &data)?;
            if i % 64 == 0 {
                a.throttle(8 << 20)?;
            }
        }
        a.flush()?;
        receiver.join().unwrap_or(Ok(()))
    })?;
    Ok(begun.elapsed())
}

fn ping_pong(a: &mut Channel, b: &mut Channel, times: u32) -> Result<Duration> {
    let begun = Instant::now();
    thread::scope(|scope| {
        let answering = scope.spawn(move || -> Result<()> {
            for _ in 0..times {
                let message = b.recv_array::<16>("q")?;
                b.send("a", &message)?;
                b.flush()?;
            }
            Ok(())
        });
        for _ in 0..times {
            a.send("q", &[0; 16])?;
            a.recv_array::<16>("a")?;
        }
        answering.join().unwrap_or(Ok(()))
    })?;
    Ok(begun.elapsed() / times)
}

fn connected(name: &str) -> Result<(Channel, Channel)> {
    if name == "memory" {
        let (mut a, mut b) = memory_lanes((0, Meter::new()), (1, Meter::new()), 1, None)?;
        return Ok((a.remove(0), b.remove(0)));
    }
    let (mut a, mut b) = connect(name == "tls", 1)?;
    Ok((a.remove(0), b.remove(0)))
}

fn connect(tls: bool, lanes: usize) -> Result<(Vec<Channel>, Vec<Channel>)> {
    let (x, y) = (Identity::generate()?, Identity::generate()?);
    let options = |me, key| match tls {
        true => Options::tls(me, key, Meter::new()),
        false => Ok(Options::insecure_plain_tcp(me, Meter::new())),
    };
    let (a, b) = (options(0, &x)?, options(1, &y)?);
    let listener = Listener::bind("127.0.0.1:0")?;
    let address = listener.local_addr().to_string();
    thread::scope(|scope| {
        let peer = Peer::pinned(0, x.fingerprint());
        let dialled = scope.spawn(move || connect_lanes(&b, &address, &peer, lanes));
        let accepted = listener.accept_lanes(&a, &Peer::pinned(1, y.fingerprint()), lanes)?;
        let lost = |_| Err(symbolon_transport::Error::internal("a thread panicked"));
        Ok((accepted, dialled.join().unwrap_or_else(lost)?))
    })
}

fn connect_time() -> Result<()> {
    for lanes in [1, 4] {
        let begun = Instant::now();
        for _ in 0..10 {
            connect(true, lanes)?;
        }
        let time = begun.elapsed().as_secs_f64() * 100.0;
        say(&format!("connecting {lanes} TLS lanes, with new keys: {time:.1} ms\n"));
    }
    Ok(())
}
