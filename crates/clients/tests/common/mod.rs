//! Programs, their clients, and runs in the clear.

use symbolon_circuit::{Circuit, ClientPorts, PartyId, eval_ports, format_value, parse_value};
use symbolon_clients::{ClientError, Layout, Share, Submission};
use symbolon_lang::{Options, compile_text};
use symbolon_primitives::{BitVec, Prg};

/// A circuit for clients, and what its outputs are.
pub struct Program {
    pub text: String,
    pub circuit: Circuit,
    pub layout: Layout,
}

/// What a run gives: outputs as text, who was counted, and the clients' answers.
#[derive(Debug)]
pub struct Ran {
    pub outputs: Vec<(String, String)>,
    pub counted: Vec<bool>,
    pub answers: Vec<Vec<u8>>,
}

impl Program {
    pub fn new(text: &str, parties: u16) -> Program {
        let options = Options { parties: Some(parties), ..Options::default() };
        let circuit = compile_text(text, &options).unwrap_or_else(|errors| panic!("{errors}"));
        let layout = Layout::of(&circuit).expect("it has clients");
        assert_eq!(Layout::from_json(&layout.to_json()).unwrap(), layout);
        Program { text: text.into(), circuit, layout }
    }

    /// Runs with a list of the clients' shares for each party, and these inputs of parties.
    pub fn run(&self, shares: &[Vec<Option<Share>>], inputs: &[(&str, &str)]) -> Ran {
        let bits = |shares: &Vec<Option<Share>>| {
            let list: Vec<Option<&Share>> = shares.iter().map(Option::as_ref).collect();
            self.layout.input(&list).unwrap()
        };
        self.run_bits(&shares.iter().map(bits).collect::<Vec<_>>(), inputs)
    }

    /// Runs with the parties' inputs.
    pub fn run_bits(&self, shares: &[BitVec], inputs: &[(&str, &str)]) -> Ran {
        let of_port = |input: &symbolon_circuit::Input| {
            if input.name == ClientPorts::shares(input.owner) {
                return shares[input.owner.index()].to_bools();
            }
            let (_, text) = inputs.iter().find(|(name, _)| *name == input.name).unwrap();
            parse_value(input, text).unwrap()
        };
        let inputs: Vec<Vec<bool>> = self.circuit.inputs().iter().map(of_port).collect();
        let found = eval_ports(&self.circuit, &inputs).unwrap();
        let mut ran = Ran { outputs: Vec::new(), counted: Vec::new(), answers: Vec::new() };
        for (output, bits) in self.circuit.outputs().iter().zip(&found) {
            let packed = BitVec::from_bools(bits);
            match &*output.name {
                ClientPorts::COUNTED => ran.counted = self.layout.counted(&packed),
                ClientPorts::ANSWERS => {
                    let clients = self.layout.ports().clients as usize;
                    let answer = |client| self.layout.answer(&packed, client).unwrap();
                    ran.answers = (0..clients).map(answer).collect();
                }
                name => {
                    let value = format_value(&output.ty, bits).to_string();
                    ran.outputs.push((name.to_string(), value));
                }
            }
        }
        ran
    }

    /// Returns the same outputs from a circuit in which clients give their values in the clear.
    pub fn in_the_clear(&self, inputs: &[(&str, &str)]) -> Vec<(String, String)> {
        let options = Options {
            parties: Some(self.layout.ports().parties),
            clear_clients: true,
            ..Options::default()
        };
        let circuit = compile_text(&self.text, &options).unwrap();
        let of_port = |input: &symbolon_circuit::Input| {
            let (_, text) = inputs.iter().find(|(name, _)| *name == input.name).unwrap();
            parse_value(input, text).unwrap()
        };
        let bits: Vec<Vec<bool>> = circuit.inputs().iter().map(of_port).collect();
        let found = eval_ports(&circuit, &bits).unwrap();
        let one = |(output, bits): (&symbolon_circuit::Output, &Vec<bool>)| {
            (output.name.clone(), format_value(&output.ty, bits).to_string())
        };
        circuit.outputs().iter().zip(&found).map(one).collect()
    }

    pub fn submit(&self, prg: &mut Prg, values: &[(&str, &str)]) -> Submission {
        let bits = self.layout.values(values).unwrap();
        submit_bits(&self.layout, prg, &bits)
    }
}

pub fn submit_bits(layout: &Layout, prg: &mut Prg, bits: &BitVec) -> Submission {
    let made = layout.encode_with(bits, &mut |bytes| {
        prg.fill(bytes);
        Ok::<(), ClientError>(())
    });
    let made = made.unwrap();
    for (party, share) in made.shares.iter().enumerate() {
        let party = PartyId::new(party as u16);
        let accepted = layout.accept(party, &made.hashes, share.as_bytes()).unwrap();
        assert_eq!(accepted.as_bytes(), share.as_bytes());
    }
    made
}

/// Returns each party's list of shares.
pub fn by_party(parties: u16, submissions: &[Option<&Submission>]) -> Vec<Vec<Option<Share>>> {
    let of = |party: usize| {
        submissions.iter().map(|made| made.map(|made| made.shares[party].clone())).collect()
    };
    (0..usize::from(parties)).map(of).collect()
}
