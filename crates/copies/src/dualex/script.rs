//! What `dualex` sends and computes: the steps of `offline` and `steps`.

use symbolon_circuit::PartyId;
use symbolon_engine::Compiled;
use symbolon_engine::forecast::{DEPENDENT, Forecast, ONLINE, SETUP, Way};
use symbolon_ot::OtExtension;
use symbolon_ot::cot::MAX_DRAW;
use symbolon_ot::script::{receive_draw, send_draw, set_up};
use symbolon_transport::Result;
use symbolon_transport::script::{Script, Threads, Unit};

use super::{
    buckets::PIECE,
    function::Function,
    options::{DualExOptions, PsiForm},
    ot::AHEAD,
    params::{Kappas, Params},
    sender::Sender,
};

/// The garbling threads of a machine with two cores.
const TWO: Threads = Threads::AtOnce(2);

/// An AND gate that is garbled, masked and hashed.
const GARBLE: Unit = Unit::new("dualex gate garbled", 80.0).on(TWO);

/// An AND gate of a circuit that is sent, checked and kept, at the party that receives it.
const KEEP: Unit = Unit::new("dualex gate kept", 42.0);

/// An AND gate online.
const EVALUATE: Unit = Unit::new("dualex gate online", 100.0).on(TWO);

/// Both labels of an input, an encoded bit or an output.
const WIRE: Unit = Unit::new("dualex wire", 200.0).on(TWO);

/// Both labels of an input or an output of a circuit online.
const WIRE_ONLINE: Unit = Unit::new("dualex wire online", 450.0).on(TWO);

/// The rest of a garbled circuit.
const CIRCUIT: Unit = Unit::new("dualex circuit", 25_000.0).on(TWO);

/// A label of the encoding that is fetched and checked.
const FETCH: Unit = Unit::new("dualex label", 340.0);

/// The kinds of work here.
pub(super) const UNITS: &[Unit] = &[GARBLE, KEEP, EVALUATE, WIRE, WIRE_ONLINE, CIRCUIT, FETCH];

/// About how many bytes a prepared execution takes besides its tables.
const EXECUTION: u64 = 105_000;

/// About how many bytes of tables each party holds in memory.
const TABLES: u64 = 16 << 20;

/// Forecasts a batch.
pub(super) fn forecast(circuit: &Compiled, way: &Way<'_>) -> Result<Forecast> {
    let function = circuit.derived::<Function>()?;
    let options = DualExOptions::of(way.terms.options, way.terms.rho)?;
    let kappas = Kappas::of(way.terms.rho, options);
    let params = Params::new(way.terms.executions, kappas, options.psi, &function)?;
    params.check_messages(function.inputs, function.outputs)?;
    let script = |me: PartyId| {
        let mut script = Script::new(me, 2);
        script.phase(SETUP);
        set_up(&mut script, way.ot);
        add(&mut script, &function, &params, (false, way.ot));
        script
    };
    let scripts = PartyId::all(2u16).map(script).collect();
    let Sender { n, b, gates, .. } = Sender::new(&function, &params, 0);
    let tables = TABLES.min(u64::try_from(32 * n * b * gates).unwrap_or(u64::MAX));
    let memory = (8 << 20) + 2 * tables + way.terms.executions as u64 * EXECUTION;
    Ok(Forecast { scripts, within_percent: 0, exact_rounds: false, memory })
}

/// Returns what a party does after the set-up; with the first of `how`, each execution runs by
/// itself.
pub(super) fn executions(
    me: PartyId,
    function: &Function,
    params: &Params,
    how: (bool, OtExtension),
) -> Script {
    let mut script = Script::new(me, 2);
    add(&mut script, function, params, how);
    script
}

fn add(
    script: &mut Script,
    function: &Function,
    params: &Params,
    (one_by_one, ot): (bool, OtExtension),
) {
    let me = script.me();
    let [own, peer] =
        [me, me.other_of_two()].map(|party| Sender::new(function, params, party.index()));
    let mut steps = Steps { script, own: &own, peer: &peer };
    steps.offline(ot);
    if !one_by_one {
        return steps.online();
    }
    let [alone, peer] = [own, peer].map(|sender| Sender { n: 1, ..sender });
    let mut steps = Steps { script: steps.script, own: &alone, peer: &peer };
    (0..own.n).for_each(|_| steps.online());
}

/// The steps of a party: what it sends, and what its peer sends.
struct Steps<'a> {
    script: &'a mut Script,
    own: &'a Sender,
    peer: &'a Sender,
}

fn small(n: u128) -> u64 {
    u64::try_from(n).unwrap_or(u64::MAX)
}

fn bytes(bits: u128) -> u64 {
    small(bits.div_ceil(8))
}

impl Steps<'_> {
    /// Adds work of this many units in each of a number of circuits.
    fn work(&mut self, unit: Unit, circuits: u128, units: u128) {
        self.script.work(unit, circuits as f64 * units as f64);
    }

    fn coin(&mut self) {
        self.script.exchange(32);
        self.script.exchange(64);
    }

    /// Adds the garbling of this many circuits.
    fn garble(&mut self, circuits: u128) {
        let Sender { inputs: [own, peer], encoded, outputs, gates, .. } = *self.own;
        self.work(GARBLE, circuits, gates);
        self.work(WIRE, circuits, own + peer + encoded[1] + outputs);
        self.work(CIRCUIT, circuits, 1);
    }

    fn offline(&mut self, ot: OtExtension) {
        self.script.phase(DEPENDENT);
        self.coin();
        self.draws(ot);
        let Sender { n, b, circuits, encoded, outputs, .. } = *self.own;
        let opened = circuits - n * b;
        self.garble(circuits);
        self.script.exchange(small(32 * circuits));
        self.coin();
        self.script.exchange(small(16 * opened) + bytes(opened * encoded[0]) + 32);
        self.garble(opened);
        self.script.exchange(bytes(n * (b - 1) * encoded[0]));
        for _ in 0..n {
            self.circuits();
            self.script.exchange(small(32 * outputs * b) + 32);
            self.script.exchange(small(32 * b * encoded[1]));
            self.work(FETCH, b, encoded[0]);
            if self.own.psi == PsiForm::Asynchronous {
                self.script.exchange(small(64 * b * b * self.own.item));
            }
        }
    }

    /// Adds the OTs, whose draws run ahead.
    fn draws(&mut self, ot: OtExtension) {
        let peer = self.script.me().other_of_two();
        let choices = |sender: &Sender| {
            small(sender.circuits * sender.encoded[0] + sender.n * sender.b * sender.item) as usize
        };
        let [own, theirs] = [choices(self.own), choices(self.peer)];
        let part = |n: usize, draw: usize| n.saturating_sub(draw * MAX_DRAW).min(MAX_DRAW);
        for step in 0..own.max(theirs).div_ceil(MAX_DRAW) + AHEAD {
            let sent = part(own, step);
            if sent > 0 {
                send_draw(self.script, peer, ot, sent);
            }
            let received = step.checked_sub(AHEAD).map_or(0, |draw| part(theirs, draw));
            if received > 0 {
                receive_draw(self.script, peer, ot, received);
            }
        }
    }

    /// Adds the circuits of a bucket.
    fn circuits(&mut self) {
        let Sender { b, gates, .. } = *self.own;
        for _ in 0..b {
            self.garble(1);
            for piece in pieces(gates) {
                self.script.send_all(32 * piece);
            }
            self.script.send_all(ending(self.own));
        }
        for _ in 0..b {
            for piece in pieces(gates) {
                self.script.receive_all();
                self.script.work(KEEP, piece as f64);
            }
            self.script.receive_all();
        }
    }

    fn online(&mut self) {
        self.script.phase(ONLINE);
        let Sender { n, b, inputs: [own, peer], outputs, item, psi, gates, .. } = *self.own;
        self.script.exchange(bytes(n * own));
        (0..n).for_each(|_| self.script.send_all(small(16 * b * (own + peer + 1))));
        for _ in 0..n {
            self.script.receive_all();
            self.work(EVALUATE, b, gates);
            self.work(WIRE_ONLINE, b, own + peer + outputs);
        }
        let (items, values) = (bytes(n * b * item), small(16 * b * b));
        match psi {
            PsiForm::Synchronous => {
                self.script.exchange(items);
                self.script.exchange(32);
                self.script.exchange(small(16 * n * b));
                self.script.exchange(32 + values * small(n));
            }
            PsiForm::Asynchronous => {
                self.script.exchange(2 * items);
                self.script.exchange(small(16 * n * b));
                (0..n).for_each(|_| self.script.send_all(values * small(item)));
                (0..n).for_each(|_| self.script.receive_all());
            }
        }
    }
}

/// Returns the AND gates in each piece of a table.
fn pieces(gates: u128) -> impl Iterator<Item = u64> {
    (0..gates).step_by(PIECE).map(move |first| small((gates - first).min(PIECE as u128)))
}

/// Returns the length of what follows a table.
fn ending(sender: &Sender) -> u64 {
    let Sender { inputs: [own, peer], encoded, outputs, .. } = *sender;
    let leaves = 32 * (own + peer + encoded[1]) + 128;
    small(16 * outputs.div_ceil(128) + 32 * outputs + leaves + 32)
}
