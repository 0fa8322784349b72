//! All parties of a run in one process, over memory channels: for the tests of every protocol. A
//! test program defines `PROTOCOL`, the one that a [`Setting`] has by default.
#![allow(dead_code, missing_docs)]

pub mod apart;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use proptest::prelude::*;
use symbolon_circuit::plan::Limits;
use symbolon_circuit::{Circuit, Component, Input, Linear, Output, Receivers, Step, Type, builtin};
use symbolon_engine::{
    Compiled, GateForm, InputBits, Network, Options, OtExtension, OutputBits, ProtocolSpec, Rho,
    RunTerms, SEGMENT_GATES,
};
use symbolon_transport::adversary::{
    Action, CheckName, Endings, FnAdversary, Stage, assert_noticed,
};
use symbolon_transport::{Channel, Meter, PhaseReport, Result, memory_lanes};

/// How one party of a run ended.
pub struct Ended {
    pub outputs: Result<OutputBits>,
    pub phases: Vec<PhaseReport>,
}

/// The settings of a run.
#[derive(Clone, Copy)]
pub struct Setting {
    pub protocol: &'static ProtocolSpec,
    pub parties: u16,
    pub lanes: usize,
    pub rho: Rho,
    pub ot: OtExtension,
    /// Whether the material is made for the circuit.
    pub known: bool,
    /// The form of garbling; protocols without a choice use their only form.
    pub form: GateForm,
    pub executions: usize,
    pub options: &'static Options,
    /// If set, all phases run at once, in segments of about this many gates.
    pub segment_gates: Option<u64>,
}

/// Returns options that live as long as the test's program.
pub fn chosen(options: impl Into<Options>) -> &'static Options {
    Box::leak(Box::new(options.into()))
}

impl Default for Setting {
    fn default() -> Self {
        Setting {
            protocol: crate::PROTOCOL,
            parties: 2,
            lanes: 1,
            rho: Rho::Bits40,
            ot: OtExtension::default(),
            known: false,
            form: GateForm::default(),
            executions: 1,
            options: RunTerms::default().options,
            segment_gates: None,
        }
    }
}

/// Returns every party's network. The session id is as fresh as a test needs.
pub fn mesh(setting: Setting) -> Vec<Network> {
    let n = setting.parties;
    let meters: Vec<Arc<Meter>> = (0..n).map(|_| Meter::new()).collect();
    let mut lanes: Vec<Vec<Vec<Channel>>> =
        (0..n).map(|_| (0..setting.lanes).map(|_| Vec::new()).collect()).collect();
    for i in 0..n {
        for j in i + 1..n {
            let (a, b) = (meters[i as usize].clone(), meters[j as usize].clone());
            let (a, b) = memory_lanes((i, a), (j, b), setting.lanes, None).unwrap();
            for (party, channels) in [(i, a), (j, b)] {
                for (lane, channel) in lanes[party as usize].iter_mut().zip(channels) {
                    lane.push(channel);
                }
            }
        }
    }
    for lanes in &mut lanes {
        for peers in lanes {
            peers.sort_by_key(Channel::peer);
            peers.iter_mut().for_each(|channel| channel.set_timeout(Duration::from_secs(10)));
        }
    }
    let forms = setting.protocol.forms();
    let form = if forms.contains(&setting.form) { setting.form } else { forms[0] };
    let network = |((me, lanes), meter): ((u16, Vec<Vec<Channel>>), &Arc<Meter>)| Network {
        me: me.into(),
        lanes,
        meter: meter.clone(),
        session: [7; 32],
        rho: setting.rho,
        ot: setting.ot,
        form,
        executions: setting.executions,
        options: setting.options.clone(),
        segment_gates: setting.segment_gates.unwrap_or(SEGMENT_GATES),
    };
    (0..).zip(lanes).zip(&meters).map(network).collect()
}

/// Returns the circuit files in the folder that `SYMBOLON_TEST_CIRCUITS` names, or else next to the
/// repository; says so if there is no folder there.
///
/// # Panics
/// If a folder that is named is not there, or has no circuits.
pub fn sample_files() -> Vec<PathBuf> {
    let given = std::env::var_os("SYMBOLON_TEST_CIRCUITS").map(PathBuf::from);
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/circuits");
    if given.is_none() && !beside.is_dir() {
        eprintln!("skipped: no folder {} (set SYMBOLON_TEST_CIRCUITS)", beside.display());
        return Vec::new();
    }
    let folder = given.unwrap_or(beside);
    let kinds = ["bristol", "bristol-fashion"].map(|kind| folder.join(kind));
    let files = kinds.iter().flat_map(|kind| {
        let entries = std::fs::read_dir(kind);
        entries.unwrap_or_else(|error| panic!("{}: {error}", kind.display()))
    });
    let files: Vec<PathBuf> = files.map(|entry| entry.unwrap().path()).collect();
    assert!(!files.is_empty(), "no circuits in {}", folder.display());
    files
}

/// Returns the connected networks of two parties.
pub fn networks(setting: Setting) -> [Network; 2] {
    let nets = mesh(Setting { parties: 2, ..setting });
    nets.try_into().unwrap_or_else(|_| unreachable!("two parties were asked for"))
}

/// Returns the circuit in the form that protocols take; for runs in segments, with batches so small
/// that a few gates fill several.
pub fn compiled(setting: Setting, circuit: &Circuit) -> Compiled {
    match setting.segment_gates {
        None => Compiled::new(circuit),
        Some(_) => Compiled::with_limits(circuit, Limits { batch: 4, ..Limits::DEFAULT }),
    }
}

/// Runs all phases of one party. It prepares the first circuit and evaluates the second, which are
/// the same for an honest party.
pub fn party(
    setting: Setting,
    net: Network,
    circuits: [&Compiled; 2],
    inputs: &InputBits,
) -> Ended {
    party_on((setting, &Stage::new(0)), net, circuits, inputs)
}

/// Like [`party`], but a cheater does not report its own failed checks, and leaves only after an
/// honest party has.
fn party_on(
    (setting, stage): (Setting, &Stage),
    net: Network,
    circuits: [&Compiled; 2],
    inputs: &InputBits,
) -> Ended {
    let cheats = cheats(&net);
    stage.play(cheats, net, |net| {
        let outputs = phases(setting, net, circuits, inputs);
        if outputs.is_err() && !cheats {
            net.lanes.iter_mut().flatten().for_each(|lane| lane.abort("the run failed"));
        }
        Ended { outputs, phases: net.meter.report() }
    })
}

fn cheats(net: &Network) -> bool {
    net.lanes.iter().flatten().any(Channel::cheats)
}

/// Returns a stage for these parties.
fn stage(nets: &[Network]) -> Stage {
    Stage::new(nets.iter().filter(|net| !cheats(net)).count())
}

/// Runs all phases without telling the others about a failure.
pub fn phases(
    setting: Setting,
    net: &mut Network,
    [prepared, circuit]: [&Compiled; 2],
    inputs: &InputBits,
) -> Result<OutputBits> {
    net.meter.set_phase("setup");
    let mut engine = setting.protocol.set_up(net)?;
    if setting.segment_gates.is_some() {
        net.meter.set_phase("streamed");
        return engine.stream(net, circuit, inputs);
    }
    net.meter.set_phase("independent");
    let need = setting.protocol.demand(net, circuit)?;
    let material = match setting.known || !setting.protocol.has_pools() {
        false => engine.preprocess(net, &need)?,
        true => engine.preprocess_for(net, circuit)?,
    };
    net.meter.set_phase("dependent");
    let prepared = material.prepare(net, prepared)?;
    net.meter.set_phase("online");
    prepared.evaluate(net, circuit, inputs)
}

/// Returns the inputs that `party` owns, out of all inputs.
pub fn inputs_of(circuit: &Circuit, party: u16, all: &[Vec<bool>]) -> InputBits {
    let own = |(input, bits): (&symbolon_circuit::Input, &Vec<bool>)| {
        (input.owner == party).then(|| bits[..].into())
    };
    circuit.inputs().iter().zip(all).map(own).collect()
}

/// Runs both parties, each in its own thread, after `adversary` has changed the networks.
pub fn run_bent(
    setting: Setting,
    circuit: &Circuit,
    all: &[Vec<bool>],
    adversary: impl FnOnce(&mut [Network; 2]),
) -> [Ended; 2] {
    run_apart(setting, [circuit; 2], [all; 2], adversary)
}

/// Like [`run_bent`], with parties that may have different circuits and inputs.
pub fn run_apart(
    setting: Setting,
    circuits: [&Circuit; 2],
    all: [&[Vec<bool>]; 2],
    adversary: impl FnOnce(&mut [Network; 2]),
) -> [Ended; 2] {
    let mut nets = networks(setting);
    adversary(&mut nets);
    let stage = &stage(&nets);
    let [a, b] = nets;
    std::thread::scope(|scope| {
        let run = |net: Network| {
            let (circuit, all) = (circuits[net.me.index()], all[net.me.index()]);
            let inputs = inputs_of(circuit, net.me.number(), all);
            let run = move || {
                let circuit = compiled(setting, circuit);
                party_on((setting, stage), net, [&circuit; 2], &inputs)
            };
            scope.spawn(run)
        };
        let (a, b) = (run(a), run(b));
        [a.join().expect("party 0 panicked"), b.join().expect("party 1 panicked")]
    })
}

/// Runs both parties honestly.
pub fn run(setting: Setting, circuit: &Circuit, all: &[Vec<bool>]) -> [Ended; 2] {
    run_bent(setting, circuit, all, |_| ())
}

/// Runs any number of parties, each in its own thread, after `adversary` has changed the networks.
pub fn run_all(
    setting: Setting,
    circuit: &Circuit,
    all: &[Vec<bool>],
    adversary: impl FnOnce(&mut [Network]),
) -> Vec<Ended> {
    run_preparing(setting, circuit, &|_| circuit, all, adversary)
}

/// Like [`run_all`], with parties that may prepare a circuit other than the one they evaluate.
pub fn run_preparing<'a>(
    setting: Setting,
    circuit: &'a Circuit,
    prepared: &dyn Fn(u16) -> &'a Circuit,
    all: &[Vec<bool>],
    adversary: impl FnOnce(&mut [Network]),
) -> Vec<Ended> {
    let evaluated = compiled(setting, circuit);
    let mut nets = mesh(setting);
    adversary(&mut nets);
    let stage = &stage(&nets);
    std::thread::scope(|scope| {
        let run = |net: Network| {
            let (evaluated, prepared) = (&evaluated, prepared(net.me.number()));
            let inputs = inputs_of(circuit, net.me.number(), all);
            scope.spawn(move || {
                let prepared = Compiled::new(prepared);
                party_on((setting, stage), net, [&prepared, evaluated], &inputs)
            })
        };
        let parties: Vec<_> = nets.into_iter().map(run).collect();
        parties.into_iter().map(|party| party.join().expect("a party panicked")).collect()
    })
}

/// Returns what `party` should learn, according to the reference evaluation.
pub fn expected(circuit: &Circuit, party: u16, all: &[Vec<bool>]) -> OutputBits {
    let mut bits = symbolon_circuit::reference::eval(circuit, &all.concat()).into_iter();
    let of = |output: &symbolon_circuit::Output| {
        let value = bits.by_ref().take(output.ty.width() as usize).collect();
        output.to.contains(party).then_some(value)
    };
    circuit.outputs().iter().map(of).collect()
}

/// Asserts that an honest run gives all parties the outputs of the reference evaluation.
pub fn assert_runs(setting: Setting, circuit: &Circuit, all: &[Vec<bool>]) -> Vec<Ended> {
    let ended = run_all(setting, circuit, all, |_| ());
    let errors: Vec<_> = ended.iter().filter_map(|ended| ended.outputs.as_ref().err()).collect();
    assert!(errors.is_empty(), "{errors:?}");
    for (party, ended) in (0..).zip(&ended) {
        match &ended.outputs {
            Ok(outputs) => assert_eq!(outputs, &expected(circuit, party, all), "party {party}"),
            Err(error) => panic!("party {party}: {error}"),
        }
    }
    ended
}

/// Asserts that this honest party noticed the cheat and names `cheater`: it ended at this check,
/// and so without output.
#[track_caller]
pub fn assert_caught(honest: &Ended, cheater: u16, at: impl CheckName) {
    assert_noticed(&honest.outputs, cheater, at);
}

/// Returns how all parties ended in a run in which `cheaters` cheat.
pub fn endings<'a>(ended: &'a [Ended], cheaters: &'a [u16]) -> Endings<'a> {
    Endings::new(ended.iter().map(|ended| &ended.outputs), cheaters)
}

/// Returns two layers of `width` AND gates each: t_i = a_i ∧ b_i, u_i = t_i ∧ t_{i+1}, o_i = u_i ⊕
/// a_i. Party 0 owns a, party 1 owns b. The plan keeps the gates in this order.
pub fn two_layers(width: u32, to: Receivers) -> Circuit {
    let (a, b, t, u, o) = (0, width, 2 * width, 3 * width, 4 * width);
    let first = |i| Step::And { a: a + i, b: b + i, out: t + i };
    let second = |i| Step::And { a: t + i, b: t + (i + 1) % width, out: u + i };
    let last = |i| Step::Xor { a: u + i, b: a + i, out: o + i };
    let steps = (0..width).map(first).chain((0..width).map(second)).chain((0..width).map(last));
    of_steps(width, steps.collect(), (o..o + width).collect(), to)
}

/// Returns t_i = a_i ∧ b_i with the inputs of parties 0 and 1, s_i = t_i ⊕ the inputs of all
/// others, u_i = s_i ∧ s_{i+1}, o_i = u_i ⊕ a_i. All learn the output.
pub fn circuit_of(width: u32, parties: u16) -> Circuit {
    let (and, xor) = (0, 3);
    let input = |party: u16, i: u32| u32::from(party) * width + i;
    let mut next = input(parties, 0);
    let mut steps = Vec::new();
    let mut layer = |kind: u8, operands: &dyn Fn(u32) -> (u32, u32)| {
        steps.extend((0..width).map(operands).map(|(a, b)| (kind, a, b)));
        next += width;
        next - width
    };
    let mut sums = layer(and, &|i| (input(0, i), input(1, i)));
    for party in 2..parties {
        sums = layer(xor, &|i| (sums + i, input(party, i)));
    }
    let products = layer(and, &|i| (sums + i, sums + (i + 1) % width));
    let out = layer(xor, &|i| (products + i, input(0, i)));
    let widths = vec![width; usize::from(parties)];
    circuit(&widths, &steps, vec![((out..out + width).collect(), Receivers::All)])
}

/// Returns a circuit with one input of `width` bits for each party and one output.
pub fn of_steps(width: u32, steps: Vec<Step>, outputs: Vec<u32>, to: Receivers) -> Circuit {
    let input = |(owner, name): (u16, &str)| Input {
        name: name.into(),
        ty: Type::Uint(width),
        owner: owner.into(),
    };
    let output = Output { name: "o".into(), ty: Type::Uint(outputs.len() as u32), to };
    let component = Component {
        name: "main".into(),
        inputs: 2 * width,
        wires: 2 * width + steps.len() as u32,
        steps,
        outputs,
        ..Component::default()
    };
    let inputs = [(0, "a"), (1, "b")].map(input).into();
    Circuit::new("two layers", inputs, vec![output], vec![component]).unwrap()
}

/// Returns a circuit whose calls pass 32 wires and more at once, and inputs for it.
pub fn long_runs(setting: Setting) -> (Circuit, Vec<Vec<bool>>) {
    let circuit = builtin::by_name("sort:8x32").expect("it is built in");
    let compiled = compiled(setting, &circuit);
    let plan = compiled.plan();
    let (mut cursor, mut runs) = (plan.cursor(), 0);
    while let Some(batch) = cursor.next_batch() {
        let long = |op: &&Linear| matches!(op, Linear::Copy { len, .. } if *len >= 32);
        runs += batch.linear.iter().filter(long).count();
    }
    assert!(runs > 0, "no calls, or none of long runs");
    let bits = |(place, input): (usize, &Input)| {
        (0..input.ty.width()).map(|i| (i * i + i / 3 + place as u64) % 5 < 2).collect()
    };
    let all = circuit.inputs().iter().enumerate().map(bits).collect();
    (circuit, all)
}

/// Returns a circuit of one component from a list of steps: (kind, left operand, right operand).
pub fn circuit(
    inputs: &[u32],
    steps: &[(u8, u32, u32)],
    outputs: Vec<(Vec<u32>, Receivers)>,
) -> Circuit {
    let first: u32 = inputs.iter().sum();
    let steps: Vec<Step> = (first..)
        .zip(steps)
        .map(|(out, &(kind, a, b))| match kind % 8 {
            0..=2 => Step::And { a: a % out, b: b % out, out },
            3..=5 => Step::Xor { a: a % out, b: b % out, out },
            6 => Step::Inv { a: a % out, out },
            _ => Step::Const { value: a % 2 == 1, out },
        })
        .collect();
    let wires = first + steps.len() as u32;
    let ports = outputs
        .iter()
        .enumerate()
        .map(|(i, (bits, to))| Output {
            name: format!("o{i}"),
            ty: Type::Uint(bits.len() as u32),
            to: to.clone(),
        })
        .collect();
    let component = Component {
        name: "main".into(),
        inputs: first,
        wires,
        steps,
        outputs: outputs.into_iter().flat_map(|(bits, _)| bits).map(|w| w % wires).collect(),
        ..Component::default()
    };
    let input = |(i, &width): (usize, &u32)| Input {
        name: format!("i{i}"),
        ty: Type::Uint(width),
        owner: (i as u16).into(),
    };
    let ports_in = inputs.iter().enumerate().map(input).collect();
    Circuit::new("test", ports_in, ports, vec![component]).unwrap()
}

/// Returns any receivers among `parties` parties.
pub fn receivers(parties: u16) -> impl Strategy<Value = Receivers> {
    prop_oneof![
        Just(Receivers::All),
        prop::collection::btree_set(0..parties, 0..=parties as usize).prop_map(Receivers::only),
    ]
}

/// Changes one message.
pub fn message(
    kind: &'static str,
    index: usize,
    mut change: impl FnMut(&mut Vec<u8>) + Send + 'static,
) -> FnAdversary {
    FnAdversary::new().on_message(kind, index, move |payload| {
        change(payload);
        Action::Send
    })
}

/// Makes a garbler ignore whether its labels match the masked values: an honest one would abort
/// there, and its own cheat would never be tested. For its channel to the evaluator.
pub fn careless(adversary: FnAdversary) -> FnAdversary {
    let digest = Arc::new(Mutex::new([0; 32]));
    let received = digest.clone();
    adversary
        .on_incoming(move |kind, _, payload| {
            if kind == "masked values, label digest, chi" {
                let end = payload.len() - 16;
                received.lock().unwrap().copy_from_slice(&payload[end - 32..end]);
            }
        })
        .on_state(move |point, computed| {
            if point == "masked value label" {
                computed.copy_from_slice(&*digest.lock().unwrap());
            }
        })
}
