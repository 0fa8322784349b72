//! Runs of both parties over memory channels.

use std::time::Duration;

use symbolon_circuit::{Circuit, eval_ports};
use symbolon_cutchoose::games::Sizes;
use symbolon_engine::{
    Compiled, GateForm, InputBits, Network, OtExtension, OutputBits, Prepared, Rho, SEGMENT_GATES,
};
use symbolon_primitives::{Block, Prg};
use symbolon_transport::adversary::{Action, FnAdversary, Stage};
use symbolon_transport::{Meter, Result, memory_lanes};

use super::garbling_cheat::{GarblingCheat, prepare_batch};
use crate::dualex::options::{DualExOptions, PsiForm};
use crate::dualex::{
    engine::{DualEx, set_up_own},
    execution::Execution,
    online::PreparedExecutions,
    params::Params,
    tables::Table,
};

/// Parameters of a run.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// N, B and N̂.
    pub sizes: [u64; 3],
    pub psi: PsiForm,
    pub kappa_s: u32,
    pub lanes: usize,
}

impl Default for Setting {
    fn default() -> Self {
        Setting { sizes: [2, 2, 6], psi: PsiForm::Synchronous, kappa_s: 40, lanes: 1 }
    }
}

impl Setting {
    pub fn params(self) -> Params {
        let [buckets, bucket, objects] = self.sizes;
        Params { sizes: Sizes { buckets, bucket, objects }, kappa_s: self.kappa_s, psi: self.psi }
    }
}

/// Both parties' networks.
pub fn networks(setting: Setting) -> [Network; 2] {
    let meters = [Meter::new(), Meter::new()];
    let (a, b) =
        memory_lanes((0, meters[0].clone()), (1, meters[1].clone()), setting.lanes, None).unwrap();
    let mut meters = meters.into_iter();
    let mut network = |me: u16, channels: Vec<symbolon_transport::Channel>| Network {
        me: me.into(),
        lanes: channels
            .into_iter()
            .map(|mut channel| {
                channel.set_timeout(Duration::from_secs(20));
                vec![channel]
            })
            .collect(),
        meter: meters.next().unwrap(),
        session: [7; 32],
        rho: Rho::Bits40,
        ot: OtExtension::default(),
        form: GateForm::HalfGates,
        executions: setting.sizes[0] as usize,
        options: DualExOptions { psi: setting.psi, ..DualExOptions::default() }.into(),
        segment_gates: SEGMENT_GATES,
    };
    [network(0, a), network(1, b)]
}

/// Returns random inputs of a number of executions: for each, the bits of all inputs.
pub fn random_inputs(circuit: &Circuit, executions: usize, prg: &mut Prg) -> Vec<Vec<Vec<bool>>> {
    let input = |width: u64, prg: &mut Prg| (0..width).map(|_| prg.bool()).collect();
    (0..executions)
        .map(|_| circuit.inputs().iter().map(|port| input(port.ty.width(), prg)).collect())
        .collect()
}

/// Returns the inputs of a party, executions joined.
pub fn inputs_of(circuit: &Circuit, party: u16, all: &[Vec<Vec<bool>>]) -> InputBits {
    let joined = |k: usize| all.iter().flat_map(|inputs| inputs[k].clone()).collect();
    let ports = circuit.inputs().iter().enumerate();
    ports.map(|(k, port)| (port.owner == party).then(|| joined(k))).collect()
}

/// Returns what a party has to learn, executions joined.
pub fn expected(circuit: &Circuit, party: u16, all: &[Vec<Vec<bool>>]) -> OutputBits {
    let clear: Vec<_> = all.iter().map(|inputs| eval_ports(circuit, inputs).unwrap()).collect();
    let joined = |k: usize| clear.iter().flat_map(|outputs| outputs[k].clone()).collect();
    let ports = circuit.outputs().iter().enumerate();
    ports.map(|(k, port)| port.to.contains(party).then(|| joined(k))).collect()
}

/// Runs `part` for both parties, each on its own thread. An honest party tells the other about its
/// error. A cheater does not report what its own checks find, and stays until the honest party has
/// ended.
pub fn both<S: Send, T: Send>(
    nets: [Network; 2],
    states: [S; 2],
    part: &(dyn Fn(&mut Network, S) -> Result<T> + Sync),
) -> [Result<T>; 2] {
    let cheats = |net: &Network| net.lanes[0][0].cheats();
    let stage = &Stage::new(nets.iter().filter(|net| !cheats(net)).count());
    std::thread::scope(|scope| {
        let parties = nets.into_iter().zip(states).map(|(net, state)| {
            let cheats = cheats(&net);
            scope.spawn(move || {
                stage.play(cheats, net, |net| {
                    let done = part(net, state);
                    let channel = &mut net.lanes[0][0];
                    match &done {
                        Err(_) if !cheats => channel.abort("a check failed"),
                        _ => drop(channel.flush()),
                    }
                    done
                })
            })
        });
        let parties: Vec<_> = parties.collect();
        let mut ended = parties.into_iter().map(|party| party.join().expect("a party panicked"));
        [ended.next().unwrap(), ended.next().unwrap()]
    })
}

/// Sets up and prepares; party 0 garbles something else if there is a cheat.
pub fn prepare(
    net: &mut Network,
    circuit: &Circuit,
    setting: Setting,
    cheat: Option<&GarblingCheat>,
) -> Result<PreparedExecutions> {
    let mut engine: DualEx = set_up_own(net)?;
    let cheat = cheat.filter(|_| net.me == 0);
    prepare_batch(&mut engine, net, &Compiled::new(circuit), setting.params(), cheat)
}

/// Returns each execution separately.
pub fn apart(mut prepared: PreparedExecutions) -> Vec<Box<dyn Prepared>> {
    let executions = std::mem::take(&mut prepared.executions);
    let alone = |execution| -> Box<dyn Prepared> { Box::new(prepared.with(execution)) };
    executions.into_iter().map(alone).collect()
}

/// Changes all gates of a table.
pub fn change_table(table: &mut Table) {
    let mut gates = table.to_vec().unwrap();
    gates.iter_mut().for_each(|gate| gate[0].0 ^= 3);
    *table = Table::held(gates);
}

/// Runs all phases of both parties.
pub fn run(
    setting: Setting,
    circuit: &Circuit,
    all: &[Vec<Vec<bool>>],
    cheat: Option<&GarblingCheat>,
    adversary: impl FnOnce(&mut [Network; 2]),
) -> [Result<OutputBits>; 2] {
    run_changed(setting, circuit, all, cheat, (adversary, |_| {}))
}

/// Runs all phases of both parties; party 0 also changes what it has prepared.
pub fn run_changed(
    setting: Setting,
    circuit: &Circuit,
    all: &[Vec<Vec<bool>>],
    cheat: Option<&GarblingCheat>,
    (adversary, change): (impl FnOnce(&mut [Network; 2]), impl Fn(&mut Vec<Execution>) + Sync),
) -> [Result<OutputBits>; 2] {
    let mut nets = networks(setting);
    if cheat.is_some() {
        nets[0].lanes[0][0].set_adversary(Box::new(FnAdversary::new()));
    }
    adversary(&mut nets);
    run_on(nets, (setting, circuit, all), cheat, &change)
}

/// The rest of [`run_changed`]: it is compiled once, not for each cheat.
fn run_on(
    nets: [Network; 2],
    (setting, circuit, all): (Setting, &Circuit, &[Vec<Vec<bool>>]),
    cheat: Option<&GarblingCheat>,
    change: &(dyn Fn(&mut Vec<Execution>) + Sync),
) -> [Result<OutputBits>; 2] {
    both(nets, [(); 2], &|net, ()| {
        let mut prepared = Box::new(prepare(net, circuit, setting, cheat)?);
        if net.me == 0 {
            change(&mut prepared.executions);
        }
        let inputs = inputs_of(circuit, net.me.number(), all);
        prepared.evaluate(net, &Compiled::new(circuit), &inputs)
    })
}

/// Makes party 0 change the `index`-th message of a kind.
pub fn adversary(
    nets: &mut [Network; 2],
    kind: &'static str,
    index: usize,
    mut change: impl FnMut(&mut Vec<u8>) + Send + 'static,
) {
    let adversary = FnAdversary::new().on_message(kind, index, move |payload| {
        change(payload);
        Action::Send
    });
    nets[0].lanes[0][0].set_adversary(Box::new(adversary));
}

/// Returns a generator for this test.
pub fn prg(number: u128) -> Prg {
    Prg::from_seed(Block(symbolon_transport::adversary::fresh(number)))
}
