//! Which of a party's inputs the node fills with what clients give.

use symbolon::circuit::{Circuit, ClientPorts, PartyId};
use symbolon::{BitVec, Error, Inputs, InputsBuilder, Result};

/// Returns the place of a party's input that the node fills with the shares of clients.
pub(crate) fn own_port(circuit: &Circuit, party: PartyId) -> Option<usize> {
    ClientPorts::of(circuit)?;
    let name = ClientPorts::shares(party);
    circuit.inputs().iter().position(|input| input.name == name)
}

/// Finishes a party's own inputs for a call. What clients give is not among them: the node fills it
/// in.
///
/// # Errors
/// `InvalidInput` with the names of all own inputs without a value.
pub fn complete(
    circuit: &Circuit,
    party: impl Into<PartyId>,
    inputs: InputsBuilder<'_>,
) -> Result<Inputs> {
    let Some(port) = own_port(circuit, party.into()) else { return inputs.finish() };
    let width = usize::try_from(inputs.width(port)?)
        .map_err(|_| Error::InvalidInput("too many clients for this machine".to_string()))?;
    inputs.bits(port, BitVec::zeros(width))?.finish()
}
