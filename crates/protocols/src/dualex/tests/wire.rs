//! Checks how many bytes a party sends against the formulas of docs/protocols.md.

use symbolon_circuit::{Circuit, builtin};
use symbolon_ot::{cot::MAX_DRAW, draw_bytes};

use super::runs::example;
use super::tools::{Setting, both, inputs_of, networks, prg, random_inputs};
use crate::dualex::{
    engine::set_up_own, function::Function, params::item_bits, probe_matrix::encoded_bits,
    psi::PsiForm,
};
use crate::{Compiled, OtExtension, Prepared, TreeDepth};

/// Bytes of a message besides its content.
const FRAME: u64 = 8;

fn bytes(bits: u64) -> u64 {
    bits.div_ceil(8)
}

/// The sizes that determine how much a party sends.
struct Sizes {
    n: u64,
    b: u64,
    circuits: u64,
    /// Input bits and encoded bits of the party and of its peer.
    inputs: [u64; 2],
    encoded: [u64; 2],
    outputs: u64,
    gates: u64,
    /// Bits of a reconciliation value, and whether terms are committed in advance.
    item: u64,
    asynchronous: bool,
    ot: OtExtension,
}

impl Sizes {
    fn of(circuit: &Circuit, setting: Setting, party: usize) -> Sizes {
        let function = Function::of(circuit).unwrap();
        let [n, b, circuits] = setting.sizes;
        let inputs = [party, 1 - party].map(|party| function.inputs[party]);
        let encoded = inputs.map(|bits| encoded_bits(bits, setting.kappa_s) as u64);
        Sizes {
            n,
            b,
            circuits,
            inputs: inputs.map(|bits| bits as u64),
            encoded,
            outputs: function.outputs as u64,
            gates: function.plan.and_count(),
            item: item_bits(b as usize, setting.kappa_s, setting.psi) as u64,
            asynchronous: setting.psi == PsiForm::Asynchronous,
            ot: OtExtension::default(),
        }
    }

    /// Returns the bytes that party 0 or 1 sends in the set-up: the base OTs of one direction, from
    /// which the base OTs of the other are extended. IKNP needs nothing else.
    fn set_up(&self, party: usize) -> u64 {
        assert_eq!(self.ot, OtExtension::Iknp);
        match party {
            // The point of the base OTs, and a draw whose choice bits are this party's own Δ.
            0 => 32 + draw_bytes(OtExtension::Iknp, 128) as u64 + 3 * FRAME,
            _ => 80 * 128 + FRAME,
        }
    }

    /// Returns the bytes that the party sends offline.
    fn offline(&self) -> u64 {
        let Sizes { n, b, circuits, inputs: [own, peer], encoded, outputs, gates, item, .. } =
            *self;
        let coins = 2 * (32 + 64 + 2 * FRAME);
        let choices = circuits * encoded[0] + n * b * item;
        let draws = (0..choices.div_ceil(MAX_DRAW as u64)).map(|draw| {
            let left = choices - draw * MAX_DRAW as u64;
            draw_bytes(self.ot, left.min(MAX_DRAW as u64) as usize) as u64
        });
        let committed = 32 * circuits + FRAME;
        let opened = circuits - n * b;
        let opened = 16 * opened + bytes(opened * encoded[0]) + 32 + FRAME;
        let leaves = 32 * (own + peer + encoded[1]) + 128;
        let ending = 16 * outputs.div_ceil(128) + 32 * outputs + leaves + 32 + FRAME;
        let circuit = 32 * gates + gates.div_ceil(1 << 15) * FRAME + ending;
        let bucket = 32 * outputs * b + 32 + FRAME;
        let inputs = bytes(n * (b - 1) * encoded[0]) + FRAME + n * (32 * b * encoded[1] + FRAME);
        let terms = if self.asynchronous { n * (64 * b * b * item + FRAME) } else { 0 };
        coins
            + draws.sum::<u64>()
            + committed
            + opened
            + n * (b * circuit + bucket)
            + inputs
            + terms
    }

    /// Returns the bytes that the party sends online, and the number of rounds.
    fn online(&self) -> (u64, u64) {
        let Sizes { n, b, inputs: [own, peer], item, .. } = *self;
        let labels = n * (16 * b * (own + peer + 1) + FRAME);
        let inputs = bytes(n * own) + FRAME + labels;
        let items = bytes(n * b * item);
        let seeds = 16 * n * b + FRAME;
        match self.asynchronous {
            true => (inputs + 2 * items + FRAME + seeds + n * (16 * b * b * item + FRAME), 5),
            false => {
                let sums = 32 + FRAME + 32 + 16 * n * b * b + FRAME;
                (inputs + items + FRAME + seeds + sums, 6)
            }
        }
    }
}

fn assert_bytes(circuit: &Circuit, setting: Setting) {
    let all = random_inputs(circuit, setting.sizes[0] as usize, &mut prg(1));
    let reports = both(networks(setting), [(); 2], |net, ()| {
        net.meter.set_phase("set-up");
        let mut engine = set_up_own(net)?;
        net.meter.set_phase("offline");
        let prepared =
            engine.prepare_batch(net, &Compiled::new(circuit), setting.params(), None)?;
        net.meter.set_phase("online");
        let inputs = inputs_of(circuit, net.me.number(), &all);
        Box::new(prepared).evaluate(net, &Compiled::new(circuit), &inputs)?;
        Ok(net.meter.report())
    });
    for (party, report) in reports.into_iter().enumerate() {
        let report = report.unwrap();
        let sizes = Sizes::of(circuit, setting, party);
        let phase = |name: &str| report.iter().find(|phase| phase.phase == name).unwrap();
        let (sent, rounds) = sizes.online();
        assert_eq!(phase("online").bytes_sent, sent, "party {party}, {setting:?}");
        assert!(phase("online").rounds <= rounds, "{} rounds", phase("online").rounds);
        for (name, formula) in [("set-up", sizes.set_up(party)), ("offline", sizes.offline())] {
            let sent = phase(name).bytes_sent;
            let apart = (sent as f64 / formula as f64 - 1.0).abs();
            assert!(apart < 0.05, "{name}: {sent}, not {formula}, party {party}, {setting:?}");
        }
    }
}

#[test]
fn a_party_sends_as_many_bytes_as_documented() {
    for psi in PsiForm::ALL {
        let setting = Setting { psi, sizes: [12, 3, 60], ..Setting::default() };
        assert_bytes(&example(), setting);
        assert_bytes(
            &builtin::by_name("aes128").unwrap(),
            Setting { sizes: [3, 3, 12], ..setting },
        );
    }
}

/// The figures for AES in docs/protocols.md: what a party sends for an execution, all phases, in
/// kilobytes.
#[test]
fn an_execution_of_aes_costs_as_much_as_documented() {
    let aes = builtin::by_name("aes128").unwrap();
    let kilobytes = |sizes: [u64; 3]| {
        let ot = OtExtension::SoftSpoken { k: TreeDepth::Four };
        let sizes = Sizes { ot, ..Sizes::of(&aes, Setting { sizes, ..Setting::default() }, 0) };
        ((sizes.offline() + sizes.online().0) as f64 / sizes.n as f64 / 1e3).round() as u64
    };
    assert_eq!([[32, 6, 430], [128, 5, 1137], [1024, 4, 5664]].map(kilobytes), [1505, 1250, 998]);
}
