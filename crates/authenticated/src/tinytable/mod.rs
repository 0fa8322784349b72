//! `tinytable`: scrambled truth tables for two parties (Damgård, Nielsen, Nielsen, Ranellucci, "The
//! TinyTable Protocol for 2-Party Secure Computation, or: Gate-Scrambling Revisited", CRYPTO 2017),
//! sections 2 to 6.
//!
//! There is no garbling: the parties know the masked value e = b ⊕ r of every wire, and hold shares
//! of each gate's truth table with masked inputs and output. To evaluate a gate each party sends
//! its share of the one entry that e selects: one bit per AND gate and direction, and one message
//! per layer. XOR and NOT are free. The MACs on all bits sent are checked at once at the end,
//! before the masks of the outputs are opened. Many executions of one circuit run side by side,
//! bit-sliced.
//!
//! # Figures 5 and 8, step by step
//! | step | where |
//! | --- | --- |
//! | Fig. 8, 1–2: triples, masks of inputs and AND outputs | `crate::gates`, as for `ywz` |
//! | Fig. 8, 3: masks of XOR and NOT outputs, products, table entries | `scramble`, `products` |
//! | §4, tables of look-ups | `one_hot`, `entries` |
//! | Fig. 5, 3–4: masked inputs, table bits | `online` |
//! | Fig. 5, 5: MACs | `check`, `sums` |
//! | Fig. 5, 6–7: outputs | `online` |
//!
//! # Where this departs from the paper
//! * **Tables of AND gates are not stored.** t_cd = r_u·r_v ⊕ r_o ⊕ c·r_v ⊕ d·r_u ⊕ c·d is linear,
//!   so three authenticated shares per gate suffice: 6k bits of MACs and keys (k bits each), while
//!   the four entries of the lookup-style MAC take 12k.
//! * NOT: the mask stays, r_o = r_u, and the masked value flips.
//! * **Linear MACs everywhere** (§3). The lookup-style MAC of Fig. 3 needs a string for every value
//!   of every entry: k + 256k bits per entry of an S-box (80 MiB per AES block at k = 64), while
//!   the linear one takes 2k (0.7 MiB). For AND gates the lookup-style MAC takes twice the memory,
//!   too. It saves two XORs and a product per bit, but these do not dominate the time once the
//!   material is read from memory.
//! * **MACs are truncated to k bits** of 128, k = 64 or 128 as ρ demands (see `check`), or 32 for
//!   comparisons: the highest bits of M, K and Δ, which preserves M = K ⊕ x·Δ. Only the openings of
//!   products in the preprocessing keep all 128 bits. Output masks are opened with k bits, too, in
//!   one message of bits and the hash of their MACs, whose keys are drawn from these bits and the
//!   whole transcript before.
//!
//! * **Section 6** (`--mac code`) sums up what it opens: see `code`.
//!
//! Departure: `tinytable`: output masks | opened in the preprocessing (Fig. 8, step 4) | after the
//! check of all table bits | with free XOR an output need not come out of a table, and would be
//! known before a cheat is caught

mod check;
pub mod checks;
mod code;
mod entries;
mod flat;
pub mod messages;
mod one_hot;
mod online;
mod opened;
pub mod options;
mod prepared;
mod products;
mod program;
mod scramble;
pub(crate) mod script;
mod slices;
mod sums;
mod tag;

use symbolon_engine::{
    Compiled, Demand, EngineSource, GateForm, Network, OtExtension, Prepared, ProtocolSpec,
    RunTerms, StoredOptions,
};
use symbolon_transport::{Error, PartyId, Result};

use crate::gates::{correlations::RandomCorrelations, role::GateRole, source::Gates};
use options::{Commitment, MacLength, commitment, mac_length, table_tags};
use program::Program;

/// The protocol, on correlations like those of `ywz` between two parties.
pub static SPEC: ProtocolSpec = ProtocolSpec {
    name: "tinytable",
    code: 3,
    parties: [2, 2],
    forms: &[GateForm::Tables],
    extensions: &OtExtension::ALL,
    roles: ["peer", "peer"],
    // As in `ywz`, whose pools it takes.
    evaluator: PartyId::new(0),
    pools: "ywz",
    batches: Some(demand),
    forecast: script::forecast,
    units: script::UNITS,
    messages: messages::ALL,
    checks: checks::ALL,
    options: options::ALL,
    stored: Some(StoredOptions { label: options::label, stamp: Some(options::stamp) }),
    runs_in_flight: false,
    batches_together: None,
    continues: false,
    components: None,
    engine: EngineSource::Correlations(&Gates(|_, _| GateRole::Tables(prepare))),
    load: |terms, _, circuit, from| {
        let (me, run) = (terms.me, terms.run);
        match (commitment(run.options), mac_length(run.options, run.rho)?) {
            (Commitment::Code, MacLength::Bits32) => code::load::<u32>(terms, circuit, from),
            (Commitment::Code, MacLength::Bits64) => code::load::<u64>(terms, circuit, from),
            (Commitment::Code, MacLength::Bits128) => code::load::<u128>(terms, circuit, from),
            (_, MacLength::Bits32) => Ok(prepared::load::<u32>(me, run.executions, circuit, from)?),
            (_, MacLength::Bits64) => Ok(prepared::load::<u64>(me, run.executions, circuit, from)?),
            (_, MacLength::Bits128) => {
                Ok(prepared::load::<u128>(me, run.executions, circuit, from)?)
            }
        }
    },
};

/// Returns the demand of a number of executions of a circuit.
fn demand(circuit: &Compiled, terms: RunTerms<'_>) -> Result<Demand> {
    let program = circuit.derived::<Program>()?;
    let by_code = commitment(terms.options) == Commitment::Code;
    program.check(table_tags(terms.options, terms.rho)?)?;
    let input_bits = [0, 1].map(|party| program.input_bits(PartyId::new(party)) as u64).to_vec();
    let demand = Demand { and_gates: program.units(), input_bits }.times(terms.executions)?;
    if !by_code {
        return Ok(demand);
    }
    let more = code::bits(&program, terms.executions, terms.rho)?;
    let input_bits = demand.input_bits.iter().map(|bits| bits.checked_add(more));
    let input_bits = input_bits.collect::<Option<_>>();
    let too_many = || Error::invalid_input("too many executions at a time");
    Ok(Demand { input_bits: input_bits.ok_or_else(too_many)?, ..demand })
}

/// Binds correlations to a circuit, for some number of executions.
type Prepare = fn(RandomCorrelations, &mut Network, &Compiled, usize) -> Result<Box<dyn Prepared>>;

/// Runs phase 2, for the agreed number of executions.
fn prepare(
    correlations: RandomCorrelations,
    net: &mut Network,
    circuit: &Compiled,
) -> Result<Box<dyn Prepared>> {
    let executions = net.executions;
    let run: Prepare = match (commitment(&net.options), mac_length(&net.options, net.rho)?) {
        (Commitment::Code, MacLength::Bits32) => code::prepare::<u32>,
        (Commitment::Code, MacLength::Bits64) => code::prepare::<u64>,
        (Commitment::Code, MacLength::Bits128) => code::prepare::<u128>,
        (_, MacLength::Bits32) => scramble::prepare::<u32>,
        (_, MacLength::Bits64) => scramble::prepare::<u64>,
        (_, MacLength::Bits128) => scramble::prepare::<u128>,
    };
    run(correlations, net, circuit, executions)
}
