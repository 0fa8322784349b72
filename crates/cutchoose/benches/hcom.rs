//! Measures commitments and openings per second for each k at ρ = 40, each side by itself, on one
//! thread over in-memory channels. Prints the bytes as well.
//!
//! All k take turns, so that other load on the machine affects them alike. Times are the thread's
//! processor time. The argument is the number of rounds.
#![allow(missing_docs, clippy::print_stdout)]

use std::time::{Duration, Instant};

use symbolon_cutchoose::hcom::{Committer, FieldBits, Params, Receiver, VoleParties, random_bytes};
use symbolon_ot::vole;
use symbolon_primitives::{BitVec, Block, Prg};
use symbolon_transport::{Channel, Meter, memory_pair};

const SESSION: [u8; 32] = [1; 32];

/// Commitments in one turn.
const STRINGS: usize = 1 << 17;

struct Session {
    committer: Committer,
    receiver: Receiver,
    channels: (Channel, Channel),
}

fn session(params: &Params) -> Session {
    let mut prg = Prg::from_seed(Block(7));
    let parties = VoleParties { session: &SESSION, prover: 0.into(), verifier: 1.into() };
    let pairs: Vec<[Block; 2]> =
        (0..params.columns()).map(|_| [prg.block(), prg.block()]).collect();
    let delta = BitVec::random(params.columns(), &mut prg);
    let chosen: Vec<Block> =
        pairs.iter().enumerate().map(|(i, pair)| pair[usize::from(delta.get(i))]).collect();
    let (provers, message) = vole::build_provers(parties, params, &pairs, 1).expect("pairs fit");
    let verifiers = vole::build_verifiers(parties, params, (&delta, &chosen), &message, 1)
        .expect("both are honest");
    Session {
        committer: Committer::of(provers, parties).remove(0),
        receiver: Receiver::of(verifiers, parties).remove(0),
        channels: memory_pair(Meter::new(), Meter::new()),
    }
}

/// Returns the processor time of this thread so far, if the system reports it.
fn thread_time() -> Option<Duration> {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    stat.split(' ').next()?.parse().ok().map(Duration::from_nanos)
}

/// Returns the result of `f` and the processor time it took, or the wall time if the system does
/// not report the former.
fn timed<T>(f: impl FnOnce() -> T) -> (T, Duration) {
    let (wall, own) = (Instant::now(), thread_time());
    let result = f();
    let own = own.and_then(|start| Some(thread_time()? - start));
    (result, own.unwrap_or_else(|| wall.elapsed()))
}

/// Returns the times of the committer and the receiver, for commitments and for their opening.
fn turn(session: &mut Session) -> [Duration; 4] {
    let (to, from) = (&mut session.channels.0, &mut session.channels.1);
    let (own, commit) = timed(|| session.committer.commit_random(to, STRINGS).expect("sent"));
    to.flush().expect("memory takes everything");
    let (theirs, committed) = timed(|| session.receiver.commit_random(from, STRINGS));
    let theirs = theirs.expect("both are honest");
    let ((), open) = timed(|| {
        let mut opening = session.committer.opening();
        opening.add_range(&own, 0..STRINGS);
        opening.finish(to).expect("sent");
    });
    to.flush().expect("memory takes everything");
    let ((), opened) = timed(|| {
        let mut opening = session.receiver.opening();
        for (i, &value) in own.values().iter().enumerate() {
            opening.add_sum(&theirs, std::iter::once(i), value);
        }
        opening.finish(from).expect("both are honest");
    });
    [commit, committed, open, opened]
}

fn main() {
    let rounds = std::env::args().find_map(|arg| arg.parse().ok()).unwrap_or(10);
    let all: Vec<Params> =
        FieldBits::ALL.iter().map(|k| Params::new(*k, 40).expect("there is a code")).collect();
    let mut sessions: Vec<Session> = all.iter().map(session).collect();
    let mut times = vec![[const { Vec::new() }; 4]; all.len()];
    for _ in 0..rounds {
        for (session, times) in sessions.iter_mut().zip(&mut times) {
            turn(session).into_iter().zip(times).for_each(|(took, times)| times.push(took));
        }
    }
    println!("medians of {rounds} rounds of {STRINGS} strings, millions per processor-second");
    println!("k code              bytes    commit  receive   open  verify  set-up OTs");
    for (params, times) in all.iter().zip(&mut times) {
        let [commit, receive, open, verify] = times.each_mut().map(|times| {
            times.sort();
            STRINGS as f64 / times[times.len() / 2].as_secs_f64() / 1e6
        });
        let bytes = random_bytes(params, STRINGS) as f64 / STRINGS as f64;
        let (k, code) = (params.k().bits(), format!("{:?}", params.code()));
        let ots = params.columns();
        println!(
            "{k} {code:16} {bytes:6.2} {commit:9.2} {receive:8.2} {open:6.2} {verify:7.2} {ots:11}"
        );
    }
}
