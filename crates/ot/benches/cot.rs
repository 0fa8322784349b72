//! Measures correlated OTs per second for each OT extension, with one thread per party over
//! in-memory channels, and the set-up of both directions.
//!
//! All extensions take turns, so that other load on the machine affects them alike. The rates by
//! processor time (of one party's thread) hold even if the machine does much else. Arguments are
//! the number of rounds, and the names of extensions if not all are wanted.
#![allow(missing_docs, clippy::print_stdout)]

use std::time::{Duration, Instant};

use symbolon_ot::cot::GlobalKey;
use symbolon_ot::cot::MAX_DRAW;
use symbolon_ot::setup::{Lane, both_directions};
use symbolon_ot::{OtExtension, Workspace, draw_bytes};
use symbolon_primitives::{BitVec, Block, Delta, Prg};
use symbolon_transport::{Channel, Meter, memory_pair};

const SESSION: [u8; 32] = [1; 32];

/// Draws in one turn.
const DRAWS: usize = 64;

struct Party {
    channel: Channel,
    lane: Lane,
    prg: Prg,
    blocks: Vec<Block>,
    work: Workspace,
}

fn set_up(channel: &mut Channel, ot_extension: OtExtension) -> (Lane, Prg) {
    let mut prg = Prg::from_seed(Block(u128::from(channel.me()) + 7));
    let delta = prg.block();
    let lanes = both_directions(
        channel,
        &SESSION,
        &GlobalKey::new(Delta::new(delta)),
        1,
        ot_extension,
        &mut prg,
    );
    channel.flush().expect("memory takes everything");
    (lanes.expect("both are honest").remove(0), prg)
}

/// Returns both parties of a session, and the processor time of the set-up at the busier one.
fn session(ot_extension: OtExtension) -> ([Party; 2], Duration) {
    let (a, b) = memory_pair(Meter::new(), Meter::new());
    let party = |mut channel: Channel| {
        let mut made = None;
        let took = timed(|| made = Some(set_up(&mut channel, ot_extension)));
        let (lane, prg) = made.expect("set up");
        let (blocks, work) = (vec![Block::ZERO; MAX_DRAW], Workspace::default());
        (Party { channel, lane, prg, blocks, work }, took)
    };
    let ((first, one), (second, other)) = std::thread::scope(|scope| {
        let other = scope.spawn(|| party(b));
        (party(a), other.join().expect("party 1"))
    });
    ([first, second], one.max(other))
}

/// Returns the processor time of this thread so far, if the system reports it.
fn thread_time() -> Option<Duration> {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    stat.split(' ').next()?.parse().ok().map(Duration::from_nanos)
}

/// Returns the processor time of `f`, or its wall time if the system does not report the former.
fn timed(f: impl FnOnce()) -> Duration {
    let (wall, own) = (Instant::now(), thread_time());
    f();
    let own = own.and_then(|start| Some(thread_time()? - start));
    own.unwrap_or_else(|| wall.elapsed())
}

/// Runs `DRAWS` draws in one direction, with both parties at work. Returns the time from start to
/// end, and the processor time of the sender and of the receiver.
fn turn([keys, macs]: &mut [Party; 2]) -> [Duration; 3] {
    let choices = BitVec::random(MAX_DRAW, &mut macs.prg);
    let start = Instant::now();
    let (sender, receiver) = std::thread::scope(|scope| {
        let receiver = scope.spawn(|| {
            timed(|| {
                for _ in 0..DRAWS {
                    let Party { channel, lane, blocks, work, .. } = &mut *macs;
                    lane.receiver.extend(channel, &choices, blocks, work).expect("sent");
                    // Bounds the data that the peer has not read, as a protocol does.
                    channel.throttle(4 << 20).expect("the peer reads");
                }
            })
        });
        let sender = timed(|| {
            for _ in 0..DRAWS {
                let Party { channel, lane, blocks, work, .. } = &mut *keys;
                lane.sender.extend(channel, blocks, work).expect("honest");
            }
        });
        (sender, receiver.join().expect("the receiver"))
    });
    [start.elapsed(), sender, receiver]
}

fn median(times: &mut [Duration]) -> f64 {
    times.sort_unstable();
    times[times.len() / 2].as_secs_f64()
}

fn main() {
    let rounds = std::env::args().skip(1).find_map(|arg| arg.parse().ok()).unwrap_or(15);
    let named: Vec<OtExtension> = std::env::args().filter_map(|arg| arg.parse().ok()).collect();
    let ot_extensions = if named.is_empty() { OtExtension::ALL.to_vec() } else { named };
    let n = ot_extensions.len();
    let mut set_ups: Vec<Vec<Duration>> = vec![Vec::new(); n];
    let mut turns: Vec<[Vec<Duration>; 3]> = vec![Default::default(); n];
    let mut sessions: Vec<[Party; 2]> =
        ot_extensions.iter().map(|&ot_extension| session(ot_extension).0).collect();
    for _ in 0..rounds {
        for (i, &ot_extension) in ot_extensions.iter().enumerate() {
            set_ups[i].push(session(ot_extension).1);
            for (times, time) in turns[i].iter_mut().zip(turn(&mut sessions[i])) {
                times.push(time);
            }
        }
    }
    let titles = ["M COT/s", "best", "sender CPU", "receiver CPU", "bytes/COT", "set-up ms"];
    println!("{:12}{}", "", titles.map(|title| format!("{title:>14}")).concat());
    for (i, ot_extension) in ot_extensions.into_iter().enumerate() {
        let million = (DRAWS * MAX_DRAW) as f64 / 1e6;
        let [wall, sender, receiver] = &mut turns[i];
        let figures = [
            million / median(wall),
            million / wall[0].as_secs_f64(),
            million / median(sender),
            million / median(receiver),
            draw_bytes(ot_extension, MAX_DRAW) as f64 / MAX_DRAW as f64,
            1e3 * median(&mut set_ups[i]),
        ];
        println!("{ot_extension:12}{}", figures.map(|figure| format!("{figure:14.2}")).concat());
    }
}
