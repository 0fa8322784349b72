//! Runs on prepared material, with a record of everything that the honest party sends.

use symbolon_circuit::Circuit;
use symbolon_engine::{Compiled, Demand, Network, RunTerms};
use symbolon_transport::adversary::FnAdversary;

use crate::common::apart::{Pool, range, session, session_bent};
use crate::common::{self, Setting};
use crate::compare::{Seen, compare};
use crate::record::Record;

/// Input bits of each party, and gates of each of the two layers.
pub const WIDTH: usize = 16;

/// The number of AND gates.
pub const GATES: usize = 2 * WIDTH;

/// The maximum number of runs for each of the two inputs.
const MOST_RUNS: u64 = 450;

/// The number of runs of a row that is noticed in about half of them.
pub const USUAL_RUNS: u64 = 200;

/// One party's adversary on its channel to one peer.
pub type Cheat = (u16, u16, FnAdversary);

/// A cheat: in the preparation, in the evaluation, or both.
pub struct Row<'a> {
    /// The party whose input is varied; all others may collude.
    pub honest: u16,
    /// The probability with which it ends in an error.
    pub noticed: f64,
    pub prepare: &'a dyn Fn() -> Vec<Cheat>,
    pub evaluate: &'a dyn Fn() -> Vec<Cheat>,
}

impl Row<'_> {
    /// Returns the number of runs for each of the two inputs: enough that a rate of half or twice
    /// the predicted one would be rejected.
    fn runs(&self) -> u64 {
        match self.noticed {
            0.0 | 1.0 => 80,
            few if few < 0.3 => MOST_RUNS,
            _ => USUAL_RUNS,
        }
    }
}

/// Material for all runs of one protocol.
pub struct Stage {
    setting: Setting,
    circuit: Circuit,
    compiled: Compiled,
    need: Demand,
    pools: Vec<Pool>,
}

impl Stage {
    pub fn new(setting: Setting) -> Stage {
        Stage::of(setting, common::circuit_of(WIDTH as u32, setting.parties))
    }

    /// Creates a stage for another circuit, in which each party has one input of [`WIDTH`] bits.
    pub fn of(setting: Setting, circuit: Circuit) -> Stage {
        Stage::for_runs(MOST_RUNS, setting, circuit)
    }

    /// The same with material for fewer runs for each of the two inputs.
    pub fn for_runs(runs: u64, setting: Setting, circuit: Circuit) -> Stage {
        let compiled = Compiled::new(&circuit);
        let Setting { protocol, parties, rho, executions, options, .. } = setting;
        let terms = RunTerms { rho, executions, options };
        let need = protocol.demand_of(&compiled, parties, terms).unwrap();
        let all = Demand {
            and_gates: 2 * runs * need.and_gates,
            input_bits: need.input_bits.iter().map(|n| 2 * runs * n).collect(),
        };
        let states = vec![Pool::default(); usize::from(setting.parties)];
        // Another protocol's pools may serve this one.
        let mut makers =
            [&symbolon_authenticated::wrk::SPEC, &symbolon_authenticated::ywz::SPEC].into_iter();
        let maker = makers.find(|spec| spec.name == protocol.pools).unwrap();
        let filling = Setting { protocol: maker, ..setting };
        let filled = session(filling, 11, states, |net, mut pool| {
            let mut engine = filling.protocol.set_up(net)?;
            engine.fill(net, &all, &mut pool)?;
            Ok(pool)
        });
        let pools = filled.into_iter().map(Result::unwrap).collect();
        Stage { setting, circuit, compiled, need, pools }
    }

    /// Asserts that a row reveals nothing about the honest party's input.
    #[track_caller]
    pub fn assert_private(&self, row: Row<'_>) {
        if let Err(found) = self.compare_spoiled(&row, &|_| Vec::new()) {
            panic!("{found}");
        }
    }

    /// Compares all runs of a row in which `spoil` changes the honest party's messages, depending
    /// on its input.
    pub fn compare_spoiled(
        &self,
        row: &Row<'_>,
        spoil: &dyn Fn(bool) -> Vec<Cheat>,
    ) -> Result<(), String> {
        // Each run has its own masks, so all runs are independent. The two inputs take turns: the
        // machine's load is the same for both.
        let mut runs = [Vec::new(), Vec::new()];
        for number in 0..2 * row.runs() {
            let input = number % 2 == 1;
            runs[usize::from(input)].push(self.run(row, number, (input, spoil(input))));
        }
        compare(&runs, row.noticed)
    }

    fn run(&self, row: &Row<'_>, number: u64, (input, spoil): (bool, Vec<Cheat>)) -> Seen {
        let Stage { setting, circuit, compiled, .. } = self;
        let range = range(&self.need, number);
        let adversary = |cheats: Vec<Cheat>| move |nets: &mut [Network]| set(nets, cheats);
        let adversaries = adversary((row.prepare)());
        let saved = session_bent(
            *setting,
            22,
            self.pools.iter().collect(),
            adversaries,
            |net, mut pool: &Pool| {
                let material = setting.protocol.from_pool(net, &range, &mut pool)?;
                let prepared = material.prepare(net, compiled)?;
                let mut bytes = Vec::new();
                setting.protocol.save_prepared(net, compiled, prepared, &mut bytes)?;
                Ok(bytes)
            },
        );
        let saved = saved.into_iter().map(|saved| saved.expect("nobody notices yet")).collect();
        let inputs: Vec<Vec<bool>> = (0..setting.parties)
            .map(|party| {
                (0..WIDTH).map(|i| if party == row.honest { input } else { i % 3 == 0 }).collect()
            })
            .collect();
        let record = Record::default();
        let cheats = (row.evaluate)();
        let adversaries = |nets: &mut [Network]| {
            set(nets, cheats);
            listen(&record, &mut nets[usize::from(row.honest)], spoil);
        };
        let ended = session_bent(*setting, 33, saved, adversaries, |net, saved: Vec<u8>| {
            let mut bytes = saved.as_slice();
            let prepared = setting.protocol.load_prepared(net, compiled, &mut bytes)?;
            let own = common::inputs_of(circuit, net.me.number(), &inputs);
            prepared.evaluate(net, compiled, &own)
        });
        let error = ended[usize::from(row.honest)].as_ref().err().map(ToString::to_string);
        // All parties learn an output that depends on the input.
        Seen { sent: record.sent(), error, learnt: String::new() }
    }
}

fn set(nets: &mut [Network], cheats: Vec<Cheat>) {
    for (from, to, adversary) in cheats {
        let peers = nets[usize::from(from)].peers();
        let peer = peers.iter_mut().find(|channel| channel.peer() == to).expect("a peer");
        peer.set_adversary(Box::new(adversary));
    }
}

/// Records what a party sends to each peer, after `spoil` has changed it.
fn listen(record: &Record, net: &mut Network, mut spoil: Vec<Cheat>) {
    for channel in net.peers() {
        let peer = channel.peer();
        let at = spoil.iter().position(|(_, to, _)| *to == peer);
        let adversary = at.map_or_else(FnAdversary::new, |at| spoil.swap_remove(at).2);
        record.listen(channel, adversary);
    }
}
