//! BLIF's covers: the rows of a `.names`, each a product of literals.

use super::{AND, Function, Net, Netlist, OR};
use crate::{CircuitError, Table};

/// A cover of more inputs than a table may have becomes gates.
const MOST: usize = Table::MAX_INPUTS as usize;

/// A `.names` whose rows are being read.
pub(super) struct Cover {
    pub(super) inputs: Vec<Net>,
    pub(super) output: Net,
    /// Whether the rows list the inputs for which the output is 1, or those for which it is 0.
    value: Option<bool>,
    /// With few inputs: which combinations are covered.
    covered: Vec<bool>,
    /// With many inputs: the products.
    products: Vec<Net>,
}

impl Cover {
    pub(super) fn new(inputs: Vec<Net>, output: Net) -> Cover {
        let covered = if inputs.len() <= MOST { vec![false; 1 << inputs.len()] } else { vec![] };
        Cover { inputs, output, value: None, covered, products: Vec::new() }
    }

    /// Returns whether there are neither inputs nor rows.
    pub(super) fn is_empty(&self) -> bool {
        self.inputs.is_empty() && self.value.is_none()
    }

    /// Adds a row.
    ///
    /// # Errors
    /// The reason why the row is invalid.
    pub(super) fn row(
        &mut self,
        netlist: &mut Netlist,
        cube: &[u8],
        value: &[u8],
    ) -> Result<(), String> {
        let value = match value {
            b"0" => false,
            b"1" => true,
            _ => return Err("a row ends with 0 or 1".into()),
        };
        if self.value.is_some_and(|known| known != value) {
            return Err("all rows of a cover end with the same value".into());
        }
        self.value = Some(value);
        if cube.len() != self.inputs.len() {
            return Err(format!("{} signs for {} inputs", cube.len(), self.inputs.len()));
        }
        if let Some(sign) = cube.iter().find(|sign| !b"01-".contains(sign)) {
            let sign = sign.escape_ascii();
            return Err(format!("a row is made of 0, 1 and -, not of `{sign}`"));
        }
        if self.inputs.len() > MOST {
            let product = self.product(netlist, cube).map_err(|error| error.to_string())?;
            self.products.push(product);
            return Ok(());
        }
        // The inputs that a row names, and their values.
        let bits = |of: &[u8]| {
            let set = cube.iter().enumerate().filter(|(_, sign)| of.contains(sign));
            set.fold(0usize, |mask, (place, _)| mask | 1 << place)
        };
        let (named, ones) = (bits(b"01"), bits(b"1"));
        for (inputs, covered) in self.covered.iter_mut().enumerate() {
            *covered |= inputs & named == ones;
        }
        Ok(())
    }

    fn product(&self, netlist: &mut Netlist, cube: &[u8]) -> Result<Net, CircuitError> {
        let mut literals = Vec::new();
        for (&net, sign) in self.inputs.iter().zip(cube) {
            match sign {
                b'1' => literals.push(net),
                b'0' => literals.push(netlist.fresh(Function::Unary { invert: true }, &[net])?),
                _ => {}
            }
        }
        tree(netlist, literals, AND)
    }

    /// Ends the cover, which drives its output.
    pub(super) fn finish(self, netlist: &mut Netlist) -> Result<(), CircuitError> {
        // Without rows the output is 0.
        let value = self.value.unwrap_or(true);
        if self.inputs.len() > MOST {
            let sum = tree(netlist, self.products, OR)?;
            netlist.cell(Function::Unary { invert: !value }, &[sum], self.output);
            return Ok(());
        }
        let truth: Vec<bool> = self.covered.iter().map(|covered| *covered == value).collect();
        of_truth(netlist, &truth, &self.inputs, self.output)
    }
}

/// Builds a product or sum of nets, as flat as possible.
fn tree(netlist: &mut Netlist, mut nets: Vec<Net>, truth: u8) -> Result<Net, CircuitError> {
    while nets.len() > 1 {
        let pairs = nets.chunks(2).map(|pair| match *pair {
            [a, b] => netlist.fresh(Function::Binary(truth), &[a, b]),
            _ => Ok(pair[0]),
        });
        nets = pairs.collect::<Result<_, _>>()?;
    }
    match nets.first() {
        Some(net) => Ok(*net),
        None => netlist.fresh(Function::Const(truth == AND), &[]),
    }
}

/// Builds a function of at most eight nets from its truth table.
fn of_truth(
    netlist: &mut Netlist,
    truth: &[bool],
    inputs: &[Net],
    output: Net,
) -> Result<(), CircuitError> {
    let matters = |place: &usize| (0..truth.len()).any(|i| truth[i] != truth[i ^ 1 << place]);
    let places: Vec<usize> = (0..inputs.len()).filter(matters).collect();
    let spread = |index: usize| {
        places.iter().enumerate().fold(0, |all, (i, place)| all | (index >> i & 1) << place)
    };
    let truth: Vec<bool> = (0..1 << places.len()).map(|index| truth[spread(index)]).collect();
    let inputs: Vec<Net> = places.iter().map(|place| inputs[*place]).collect();
    let linear =
        (0..truth.len()).all(|index| truth[index] == (truth[0] ^ (index.count_ones() & 1 == 1)));
    let function = match inputs.len() {
        0 => Function::Const(truth[0]),
        1 => Function::Unary { invert: truth[0] },
        2 => {
            let bits = truth.iter().enumerate();
            Function::Binary(bits.fold(0, |all, (i, &bit)| all | u8::from(bit) << i))
        }
        // Every input that is left matters, so a linear function is the sum of all of them.
        _ if linear => {
            let sum = tree(netlist, inputs, 0b0110)?;
            netlist.cell(Function::Unary { invert: truth[0] }, &[sum], output);
            return Ok(());
        }
        k => {
            let entries: Vec<u64> = truth.iter().map(|&bit| u64::from(bit)).collect();
            Function::Lookup(netlist.table(Table::new(k as u32, 1, entries)?))
        }
    };
    netlist.cell(function, &inputs, output);
    Ok(())
}
