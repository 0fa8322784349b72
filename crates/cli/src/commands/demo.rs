//! `symbolon demo`: two parties on this machine, with a known answer and with a useful one; or an
//! auction among several.

use symbolon::OutputValue;
use symbolon::circuit::{Circuit, Output, eval_ports, parse_value};

use crate::args::options::{LocalTransport, TuningArgs};
use crate::args::tuning::Tuning;
use crate::common::error::{CliError, CliResult};
use crate::common::output::print;
use crate::common::packed::Packed;
use crate::parties::agreement::{agreed, chosen, parties};
use crate::parties::execute::RunOptions;
use crate::parties::local_runner::{LocalRun, Work};
use crate::results::costs;
use crate::results::party::PartyResult;
use crate::source::CircuitSpec;
use crate::source::values::Resolved;
use clap::Args;

/// Arguments of `demo`.
#[derive(Args, Debug)]
pub struct DemoArgs {
    /// Show an auction among N bidders, 3 to 16, instead
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(3..=16))]
    pub parties: Option<u16>,
    /// Simulate a link: lan, lan1, wan, or ROUNDTRIP,BANDWIDTH such as 20ms,100mbit
    #[arg(long, value_name = "LINK")]
    pub link: Option<String>,
}

/// One thing to show.
struct Scene {
    circuit: &'static str,
    title: &'static str,
    /// A value for every input, in order.
    values: &'static [&'static str],
    /// The expected first output, if it is known beforehand.
    expected: Option<&'static str>,
}

const SCENES: [Scene; 2] = [
    // FIPS-197, appendix B.
    Scene {
        circuit: "aes128",
        title: "AES-128: party 0 has the key, party 1 the block; FIPS-197, appendix B",
        values: &["hex:2b7e151628aed2a6abf7158809cf4f3c", "hex:3243f6a8885a308d313198a2e0370734"],
        expected: Some("hex:3925841d02dc09fbdc118597196a0b32"),
    },
    Scene {
        circuit: "merge:8x32",
        title: "Merge: each party has a private list; both learn all numbers in order",
        values: &["52,7,1999,310,45,800,23,61", "12,75,1000,8,64,330,2500,41"],
        expected: None,
    },
];

/// Runs every scene as `local` would, over TLS between two processes.
///
/// # Errors
/// Those of `local`; an internal failure when a result is wrong.
pub fn command(args: &DemoArgs) -> CliResult<()> {
    let tuning = TuningArgs { link: args.link.clone(), ..TuningArgs::default() };
    if let Some(parties) = args.parties {
        return auction(parties, &Tuning::new(&tuning, parties)?);
    }
    let tuning = Tuning::new(&tuning, 2)?;
    print(
        "Two processes on this machine, one a party, joined by TLS with fresh keys. Each sees only its \
         own\ninput and the result; if one cheats, the other notices and stops.\n",
    )?;
    for scene in &SCENES {
        scene.play(&tuning)?;
    }
    print("\nNext: `symbolon run --help` shows the same between two machines.\n")
}

/// Runs all parties; returns what each has at the end, and the outputs.
fn run(
    circuit: &Circuit,
    inputs: &Resolved,
    parties: u16,
    tuning: &Tuning,
) -> CliResult<(Vec<PartyResult>, Vec<Option<Packed>>)> {
    let work = Work::Circuit { circuit, inputs, options: RunOptions::ONCE };
    let transport = LocalTransport::Tls;
    let played = LocalRun { work, parties, tuning, transport, dealer: false }.run()?;
    let outputs = agreed(circuit, &played)?;
    Ok((played, outputs))
}

/// Returns every output as people read it.
fn texts(circuit: &Circuit, outputs: &[Option<Packed>]) -> Vec<String> {
    let text = |(output, bits): (&Output, &Option<Packed>)| {
        bits.as_ref()
            .map_or_else(String::new, |Packed(bits)| OutputValue::text_of(&output.ty, bits))
    };
    circuit.outputs().iter().zip(outputs).map(text).collect()
}

fn show_costs(tuning: &Tuning, played: &[PartyResult]) -> CliResult<()> {
    let costs = costs(&parties(tuning, played, |played| played.phases.clone()));
    let choice = chosen(played)?.line();
    let indented: String =
        choice.lines().chain(costs.lines()).map(|line| format!("  {line}\n")).collect();
    print(&format!("\n{indented}"))
}

/// Returns what bidder `party` offers; no two offer the same.
fn bid(party: u16) -> u64 {
    300 + 37 * u64::from(party) % 101
}

/// Runs a sealed-bid auction: all learn who wins, and only the winner learns what it pays.
fn auction(bidders: u16, tuning: &Tuning) -> CliResult<()> {
    let circuit = format!("auction:{bidders}x32");
    let spec = CircuitSpec { circuit, ..CircuitSpec::default() };
    let circuit = spec.load(bidders)?.circuit;
    print(&format!(
        "{bidders} processes on this machine, one a bidder, each two joined by TLS with fresh keys. All \
         learn who bids\nmost and nothing else; the winner alone learns what it pays, the second-highest \
         bid. Even if all but one\ncheat together, that one notices and stops.\n\n"
    ))?;
    let mut inputs = Resolved::new();
    for party in 0..bidders {
        print(&format!("  party {party} bids {}\n", bid(party)))?;
        let (place, bid) = (usize::from(party), bid(party).to_string());
        inputs.push((place, vec![parse_value(&circuit.inputs()[place], &bid)?.into()]));
    }
    let (played, outputs) = run(&circuit, &inputs, bidders, tuning)?;

    let mut order: Vec<u16> = (0..bidders).collect();
    order.sort_by_key(|party| (std::cmp::Reverse(bid(*party)), *party));
    let text = texts(&circuit, &outputs);
    print(&format!("\n  all learn winner = {}\n", text[0]))?;
    for (party, price) in text[1..].iter().enumerate() {
        print(&format!("  party {party} alone learns price_{party} = {price}\n"))?;
    }
    let price = |party: u16| if party == order[0] { bid(order[1]) } else { 0 };
    let expected: Vec<String> =
        (0..bidders).map(price).chain([order[0].into()]).map(|value| value.to_string()).collect();
    let (prices, winner) = expected.split_at(usize::from(bidders));
    if text[1..] != *prices || text[..1] != *winner {
        return Err(CliError::internal("the result is not that of the auction"));
    }
    print("  the same as an auctioneer would find\n")?;
    show_costs(tuning, &played)
}

impl Scene {
    fn play(&self, tuning: &Tuning) -> CliResult<()> {
        let spec = CircuitSpec { circuit: self.circuit.to_string(), ..CircuitSpec::default() };
        let circuit = spec.load(2)?.circuit;
        print(&format!("\n{}\n\n", self.title))?;
        for (input, value) in circuit.inputs().iter().zip(self.values) {
            print(&format!("  party {} brings {} = {value}\n", input.owner, input.name))?;
        }
        let mut inputs = Resolved::new();
        for (place, (input, value)) in circuit.inputs().iter().zip(self.values).enumerate() {
            inputs.push((place, vec![parse_value(input, value)?.into()]));
        }
        let (played, outputs) = run(&circuit, &inputs, 2, tuning)?;
        for (output, value) in circuit.outputs().iter().zip(texts(&circuit, &outputs)) {
            print(&format!("  both learn {} = {value}\n", output.name))?;
        }
        self.check(&circuit, &outputs)?;
        show_costs(tuning, &played)
    }

    fn check(&self, circuit: &Circuit, outputs: &[Option<Packed>]) -> CliResult<()> {
        let mut clear = Vec::new();
        for (input, value) in circuit.inputs().iter().zip(self.values) {
            clear.push(parse_value(input, value)?);
        }
        let expected = eval_ports(circuit, &clear)?;
        let expected = expected.into_iter().map(|bits| Some(bits.into()));
        if outputs != expected.collect::<Vec<_>>() {
            return Err(CliError::internal("the result differs from the evaluation in the clear"));
        }
        if self.expected.is_some_and(|known| texts(circuit, outputs)[0] != known) {
            return Err(CliError::internal("the result is not the published one"));
        }
        print(match self.expected {
            Some(_) => "  the same as the evaluation in the clear and the published result\n",
            None => "  the same as the evaluation in the clear\n",
        })
    }
}
