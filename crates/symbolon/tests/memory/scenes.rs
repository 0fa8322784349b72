//! The sessions that a child runs.

use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use symbolon::circuit::{Circuit, builtin};
use symbolon::dealer::{DealerServer, ServerLimits};
use symbolon::store::{Protection, Store, create_key_file};
use symbolon::stored::{self, Amount};
use symbolon::tinytable::{Commitment, TinyTableOptions};
use symbolon::zeroize::Zeroizing;
use symbolon::{
    Config, Dealer, Error, GateForm, Inputs, Options, OtExtension, Protocol, Result, Session,
    Transport, TreeDepth,
};
use symbolon_primitives::{Block, Delta, Prg, watch};
use symbolon_transport::adversary::{Action, FnAdversary};
use symbolon_transport::{Meter, memory_lanes};

use super::search::Secrets;

/// Only bounds the duration of a child that hangs.
const WAIT: Duration = Duration::from_secs(60);

/// What a child does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scene {
    /// Leaves secrets on purpose.
    Left,
    FourRow,
    HalfGates,
    Streamed,
    Three,
    Iknp,
    Silent,
    SilentThree,
    TinyTable,
    TableCode,
    Duplo,
    DualEx,
    Filled,
    Stored,
    StoredTables,
    StoredCode,
    StoredComponents,
    StoredCircuits,
    Dealt,
    Cheated,
    Died,
    GivenUp,
}

use Scene::*;

const ALL: [Scene; 22] = [
    Left,
    FourRow,
    HalfGates,
    Streamed,
    Three,
    Iknp,
    Silent,
    SilentThree,
    TinyTable,
    TableCode,
    Duplo,
    DualEx,
    Filled,
    Stored,
    StoredTables,
    StoredCode,
    StoredComponents,
    StoredCircuits,
    Dealt,
    Cheated,
    Died,
    GivenUp,
];

impl Scene {
    pub fn named(name: &str) -> Option<Scene> {
        ALL.into_iter().find(|scene| scene.name() == name)
    }

    pub fn name(self) -> String {
        format!("{self:?}")
    }

    /// Returns the minimum number of secrets that the child must report.
    pub fn least_secrets(self) -> usize {
        match self {
            Left => 3,
            // Δ of each party and of the dealer's copies, and the seeds of their streams.
            Dealt => 8,
            _ => 500,
        }
    }

    /// Adds secrets that the parent knows itself.
    pub fn more_secrets(self, folder: &Path, secrets: &mut Secrets) {
        if matches!(self, Filled | Stored) {
            let key = std::fs::read(folder.join("key")).expect("the store's key");
            assert!(key.len() >= 64);
            secrets.add("key file", &key);
        }
    }

    pub fn run(self, folder: &Path) {
        match self {
            Left => leave(),
            FourRow => evaluate(Protocol::Wrk, (2, 1), |config| config.form(GateForm::FourRow)),
            HalfGates => evaluate(Protocol::Wrk, (2, 2), |config| config.form(GateForm::HalfGates)),
            Streamed => {
                let how = |config: Config| config.form(GateForm::FourRow).segment_gates(2_000);
                evaluate(Protocol::Wrk, (2, 2), how);
            }
            Three => evaluate(Protocol::Ywz, (3, 1), |config| config),
            Iknp => evaluate(Protocol::Ywz, (2, 1), |config| config.ot(OtExtension::Iknp)),
            Silent => evaluate(Protocol::Wrk, (2, 2), |config| config.ot(OtExtension::Ferret)),
            SilentThree => evaluate(Protocol::Ywz, (3, 1), |config| config.ot(OtExtension::Ferret)),
            TinyTable => evaluate(Protocol::TinyTable, (2, 1), |config| config),
            TableCode => evaluate(Protocol::TinyTable, (2, 1), |config| config.options(code())),
            Duplo => evaluate(Protocol::Duplo, (2, 1), |config| config),
            DualEx => evaluate(Protocol::DualEx, (2, 1), |config| config),
            Filled => fill(folder),
            Stored => store(folder, Protocol::Wrk, Options::default()),
            StoredTables => store(folder, Protocol::TinyTable, Options::default()),
            StoredCode => store(folder, Protocol::TinyTable, code()),
            StoredComponents => store(folder, Protocol::Duplo, Options::default()),
            StoredCircuits => store(folder, Protocol::DualEx, Options::default()),
            Dealt => deal(),
            // Every row, because the evaluator opens one of each gate's.
            Cheated => end_early("garbled table", |payload| {
                payload.iter_mut().for_each(|byte| *byte ^= 1);
                Action::Send
            }),
            Died => end_early("leaky AND: U", |_| Action::Close),
            GivenUp => give_up(),
        }
    }
}

/// Leaves a Δ that is never dropped, a seed in freed memory, and one in the frame of a function
/// that has returned.
fn leave() {
    let mut prg = Prg::from_os().expect("randomness");
    std::mem::forget(Delta::new(prg.block()));
    let secret = prg.block();
    watch::tell("on the heap", &secret.to_bytes());
    drop(std::hint::black_box(vec![secret; 64]));
    leave_on_stack(&mut prg);
}

#[inline(never)]
fn leave_on_stack(prg: &mut Prg) {
    let mut secrets = [Block::ZERO; 1024];
    secrets.fill(prg.block());
    watch::tell("on a stack", &secrets[0].to_bytes());
    std::hint::black_box(&mut secrets);
}

fn circuit(protocol: Protocol) -> Circuit {
    let name = match protocol {
        Protocol::Wrk | Protocol::Ywz => "aes128",
        Protocol::TinyTable | Protocol::Duplo | Protocol::DualEx => "aes128:sbox",
    };
    builtin::by_name(name).expect("it is built in")
}

fn inputs(circuit: &Circuit, party: u16) -> Inputs {
    let mut builder = Inputs::builder(circuit, party);
    for (place, input) in circuit.inputs().iter().enumerate() {
        if input.owner == party {
            builder = builder.uint(place, 0x2b7e_1516_28ae_d2a6_abf7).expect("it fits");
        }
    }
    builder.finish().expect("all are given")
}

fn soft_spoken(config: Config) -> Config {
    config.timeout(WAIT).ot(OtExtension::SoftSpoken { k: TreeDepth::Four })
}

/// Runs `part` for each party in its own thread.
fn each<P: Send>(parties: Vec<P>, part: impl Fn(u16, P) + Sync) {
    let part = &part;
    thread::scope(|scope| {
        let start = |(number, party)| scope.spawn(move || part(number, party));
        let threads: Vec<_> = (0u16..).zip(parties).map(start).collect();
        threads.into_iter().for_each(|party| party.join().expect("no party panics"));
    });
}

/// Returns the options of `tinytable` with tables under a code.
fn code() -> Options {
    TinyTableOptions { commitment: Commitment::Code, ..TinyTableOptions::default() }.into()
}

fn mesh(parties: u16, threads: usize) -> Vec<Transport> {
    Transport::memory_mesh(parties, threads, None).expect("channels in memory")
}

fn evaluate(
    protocol: Protocol,
    (parties, threads): (u16, usize),
    how: impl Fn(Config) -> Config + Sync,
) {
    each(mesh(parties, threads), |party, transport| {
        let config = soft_spoken(Config::new(party, transport)).protocol(protocol);
        let config = how(config.threads(threads));
        let circuit = circuit(protocol);
        let outputs = Session::connect(config, &circuit)
            .and_then(|mut session| session.evaluate(&inputs(&circuit, party)));
        outputs.expect("an honest run");
    });
}

/// Creates a store for each party. A key file opens one store, a passphrase the other.
fn stores(folder: &Path) -> Vec<Store> {
    let key = folder.join("key");
    create_key_file(&key).expect("a key");
    let mut prg = Prg::from_os().expect("randomness");
    let mut text = Zeroizing::new(String::with_capacity(32));
    text.extend((0..32).map(|_| char::from(b'a' + (prg.u64() % 26) as u8)));
    watch::tell("passphrase", text.as_bytes());
    let file = folder.join("passphrase");
    let private = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&file);
    private.and_then(|mut file| file.write_all(text.as_bytes())).expect("a file");
    drop(text);
    let passphrase = Protection::passphrase_file(file).expect("a passphrase");
    let protections = [Protection::KeyFile(key), passphrase];
    let stores = protections.iter().enumerate().map(|(party, protection)| {
        Store::create(folder.join(format!("store{party}")), protection).expect("a store")
    });
    stores.collect()
}

const AMOUNT: Amount = Amount { and_gates: 8_000, input_bits: 200 };

/// Fills a pool.
fn fill(folder: &Path) {
    let stores = stores(folder);
    each(mesh(2, 1), |party, transport| {
        let config = soft_spoken(Config::new(party, transport)).protocol(Protocol::Wrk);
        stored::fill(config, &stores[usize::from(party)], AMOUNT).expect("an honest run");
    });
}

/// Fills a pool if the protocol has one, prepares a circuit from it and one without it, and runs
/// both.
fn store(folder: &Path, protocol: Protocol, options: Options) {
    let stores = &stores(folder);
    let circuit = circuit(protocol);
    let step = |work: &(dyn Fn(u16, Config, &Store) -> Result<()> + Sync)| {
        each(mesh(2, 1), |party, transport| {
            let config = soft_spoken(Config::new(party, transport)).protocol(protocol);
            let config = config.options(options.clone());
            work(party, config, &stores[usize::from(party)]).expect("an honest run");
        });
    };
    if !matches!(protocol, Protocol::Duplo | Protocol::DualEx) {
        step(&|_, config, store| stored::fill(config, store, AMOUNT).map(drop));
    }
    step(&|_, config, store| stored::prepare(config, store, &circuit, 2).map(drop));
    for _ in 0..2 {
        step(&|party, config, store| {
            stored::run(config, store, &circuit, &inputs(&circuit, party)).map(drop)
        });
    }
}

fn deal() {
    let server = Arc::new(DealerServer::new(ServerLimits::default(), |_| ()).expect("a server"));
    each(mesh(2, 1), |party, transport| {
        let circuit = circuit(Protocol::Wrk);
        let config = Config::new(party, transport).timeout(WAIT);
        let config = config.dealer(Dealer::in_process(server.clone()));
        let outputs = Session::connect(config, &circuit)
            .and_then(|mut session| session.evaluate(&inputs(&circuit, party)));
        outputs.expect("an honest run");
    });
    Arc::into_inner(server).expect("all parties have gone").finish();
}

/// Runs two parties of `wrk`; party 0 changes its first message of a kind.
fn end_early(kind: &'static str, change: fn(&mut Vec<u8>) -> Action) {
    let meters = [Meter::new(), Meter::new()];
    let ends = memory_lanes((0, meters[0].clone()), (1, meters[1].clone()), 1, None);
    let (mut near, far) = ends.expect("channels in memory");
    near[0].set_adversary(Box::new(FnAdversary::new().on_message(kind, 0, change)));
    let parties = vec![
        Transport::channels(near, meters[0].clone()),
        Transport::channels(far, meters[1].clone()),
    ];
    each(parties, |party, transport| {
        let circuit = circuit(Protocol::Wrk);
        let config = soft_spoken(Config::new(party, transport)).form(GateForm::FourRow);
        let ended = Session::connect(config, &circuit)
            .and_then(|mut session| session.evaluate(&inputs(&circuit, party)));
        match (party, ended) {
            (0, _) | (1, Err(Error::PeerMisbehaved { .. } | Error::Transport { .. })) => {}
            (_, ended) => panic!("{ended:?}"),
        }
    });
}

/// Lets both parties give up a session with material, and with a prepared circuit.
fn give_up() {
    each(mesh(2, 1), |party, transport| {
        let circuit = circuit(Protocol::Wrk);
        let config = soft_spoken(Config::new(party, transport)).form(GateForm::FourRow);
        let mut session = Session::connect(config, &circuit).expect("an honest set-up");
        let material = session.preprocess().expect("honest preprocessing");
        let kept = session.preprocess_circuit().expect("honest preprocessing");
        let ready = session.prepare(material).expect("honest garbling");
        drop((kept, ready));
    });
}
