//! Measures correlated OTs per second for each OT extension, with one thread per party over
//! in-memory channels, and the set-up of both directions.
//!
//! All extensions take turns, so that other load on the machine affects them alike. The rates by
//! processor time (of one party's thread) hold even if the machine does much else. Arguments are
//! the number of rounds, and the names of extensions if not all are wanted.
#![allow(missing_docs, clippy::print_stdout)]

use std::time::{Duration, Instant};

use symbolon_ot::cot::{ExtensionId, GlobalKey, MAX_DRAW};
use symbolon_ot::ferret::{self, LpnParams};
use symbolon_ot::setup::{Lane, both_directions};
use symbolon_ot::{OtExtension, TreeDepth, Workspace, draw_bytes};
use symbolon_primitives::{BitVec, Block, Delta, Prg};
use symbolon_transport::{Channel, Meter, memory_pair};

const SESSION: [u8; 32] = [1; 32];

/// Draws in one turn.
const DRAWS: usize = 64;

/// What is measured: an extension with chosen bits, Ferret by the rows of its table, or its random
/// bits, with the expansions of a session.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    By(OtExtension),
    Ferret(LpnParams),
    Silent,
}

impl Kind {
    fn all() -> Vec<Kind> {
        let extensions = OtExtension::DIRECT.iter().copied().map(Kind::By);
        let rows = LpnParams::ROWS.into_iter().map(Kind::Ferret);
        extensions.chain(rows).chain([Kind::Silent]).collect()
    }

    fn name(self) -> String {
        match self {
            Kind::By(ot_extension) => ot_extension.to_string(),
            Kind::Ferret(row) => format!("ferret{}k", row.table() >> 10),
            Kind::Silent => "silent".to_string(),
        }
    }

    /// Returns the extension that the set-up makes, the first base of Ferret's.
    fn first(self) -> OtExtension {
        match self {
            Kind::By(ot_extension) => ot_extension,
            Kind::Ferret(_) => OtExtension::SoftSpoken { k: TreeDepth::Four },
            Kind::Silent => OtExtension::Ferret,
        }
    }

    /// Returns the bytes of a correlated OT, without the first base.
    fn bytes(self) -> f64 {
        match self {
            Kind::By(ot_extension) => draw_bytes(ot_extension, MAX_DRAW) as f64 / MAX_DRAW as f64,
            Kind::Ferret(row) => {
                let rows = (MAX_DRAW + 128) as f64;
                let expansion = ferret::expansion_bytes(row) as f64 / row.gain() as f64 * rows;
                (expansion + ferret::draw_bytes(MAX_DRAW) as f64) / MAX_DRAW as f64
            }
            Kind::Silent => {
                let row = LpnParams::USED[LpnParams::USED.len() - 1];
                ferret::expansion_bytes(row) as f64 / row.gain() as f64
            }
        }
    }
}

struct Party {
    channel: Channel,
    lane: Lane,
    prg: Prg,
    blocks: Vec<Block>,
    work: Workspace,
}

fn set_up(channel: &mut Channel, kind: Kind) -> (Lane, Prg) {
    let mut prg = Prg::from_seed(Block(u128::from(channel.me()) + 7));
    let delta = prg.block();
    let lanes = both_directions(
        channel,
        &SESSION,
        &GlobalKey::new(Delta::new(delta)),
        1,
        kind.first(),
        &mut prg,
    );
    channel.flush().expect("memory takes everything");
    let lane = lanes.expect("both are honest").remove(0);
    let Kind::Ferret(row) = kind else { return (lane, prg) };
    let (me, peer) = (channel.me(), channel.peer());
    let id = |sender, receiver| ExtensionId { sender: Some(sender), receiver, lane: 1 };
    let (sent, received) = (id(me, peer), id(peer, me));
    let rows = &[row];
    let sender = ferret::Sender::new(lane.sender, &SESSION, sent, rows, prg.child());
    let receiver = ferret::Receiver::new(lane.receiver, &SESSION, received, rows, prg.child());
    let mut lane = Lane { sender: Box::new(sender), receiver: Box::new(receiver) };
    let both = (std::slice::from_mut(channel), std::slice::from_mut(&mut lane));
    symbolon_ot::supply(both.0, both.1, 1, &[1]).expect("both are honest");
    (lane, prg)
}

/// Returns both parties of a session, and the processor time of the set-up at the busier one.
fn session(kind: Kind) -> ([Party; 2], Duration) {
    let (a, b) = memory_pair(Meter::new(), Meter::new());
    let party = |mut channel: Channel| {
        let mut made = None;
        let took = timed(|| made = Some(set_up(&mut channel, kind)));
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

/// Makes a turn's expansions, if the lane is silent, and its draws. Returns whether it is.
fn silent(party: &mut Party, receives: bool) -> bool {
    let Party { channel, lane, blocks, .. } = party;
    if lane.sender.silent().is_none() {
        return false;
    }
    let n = DRAWS * MAX_DRAW;
    let [own, theirs] = if receives { [n, 0] } else { [0, n] };
    let both = (std::slice::from_mut(channel), std::slice::from_mut(lane));
    symbolon_ot::supply(both.0, both.1, own, &[theirs]).expect("both are honest");
    for _ in 0..DRAWS {
        match receives {
            true => drop(lane.receiver.silent().map(|r| r.bits(blocks).expect("supplied"))),
            false => lane.sender.silent().map_or((), |s| s.keys(blocks).expect("supplied")),
        }
    }
    true
}

/// Runs `DRAWS` draws in one direction, with both parties at work. Returns the time from start to
/// end, and the processor time of the sender and of the receiver.
fn turn(kind: Kind, [keys, macs]: &mut [Party; 2]) -> [Duration; 3] {
    let choices = BitVec::random(MAX_DRAW, &mut macs.prg);
    let start = Instant::now();
    let (sender, receiver) = std::thread::scope(|scope| {
        let receiver = scope.spawn(|| {
            timed(|| {
                if kind == Kind::Silent && silent(macs, true) {
                    return;
                }
                for _ in 0..DRAWS {
                    let Party { channel, lane, blocks, work, .. } = &mut *macs;
                    lane.receiver.extend(channel, &choices, blocks, work).expect("sent");
                    // Bounds the data that the peer has not read, as a protocol does.
                    channel.throttle(4 << 20).expect("the peer reads");
                }
            })
        });
        let sender = timed(|| {
            if kind == Kind::Silent && silent(keys, false) {
                return;
            }
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
    let args: Vec<String> = std::env::args().skip(1).collect();
    let mut kinds = Kind::all();
    if kinds.iter().any(|kind| args.contains(&kind.name())) {
        kinds.retain(|kind| args.contains(&kind.name()));
    }
    let n = kinds.len();
    let mut set_ups: Vec<Vec<Duration>> = vec![Vec::new(); n];
    let mut turns: Vec<[Vec<Duration>; 3]> = vec![Default::default(); n];
    let mut sessions: Vec<[Party; 2]> = kinds.iter().map(|&kind| session(kind).0).collect();
    for _ in 0..rounds {
        for (i, &kind) in kinds.iter().enumerate() {
            set_ups[i].push(session(kind).1);
            for (times, time) in turns[i].iter_mut().zip(turn(kind, &mut sessions[i])) {
                times.push(time);
            }
        }
    }
    let titles = ["M COT/s", "best", "sender CPU", "receiver CPU", "bytes/COT", "set-up ms"];
    println!("{:12}{}", "", titles.map(|title| format!("{title:>14}")).concat());
    for (i, kind) in kinds.into_iter().enumerate() {
        let million = (DRAWS * MAX_DRAW) as f64 / 1e6;
        let [wall, sender, receiver] = &mut turns[i];
        let figures = [
            million / median(wall),
            million / wall[0].as_secs_f64(),
            million / median(sender),
            million / median(receiver),
            kind.bytes(),
            1e3 * median(&mut set_ups[i]),
        ];
        println!("{:12}{}", kind.name(), figures.map(|figure| format!("{figure:14.2}")).concat());
    }
}
