//! Clients' values where one command runs all parties: it shares them as the clients would.

use symbolon::BitVec;
use symbolon::circuit::{Input, PartyId, Type};
use symbolon_clients::{ClientError, Layout, Share};

use crate::common::error::{CliError, CliResult};
use crate::common::packed::Packed;

/// Returns a list for each value that clients give, with one optional element for each client.
pub fn lists(layout: &Layout) -> Vec<Input> {
    let ports = layout.ports();
    let list = |(name, ty): &(String, Type)| {
        let variants = vec![("None".into(), Vec::new()), ("Some".into(), vec![ty.clone()])];
        let optional = Type::Enum { name: "Option".into(), variants };
        Input { name: name.clone(), ty: ports.each(optional), owner: PartyId::new(0) }
    };
    ports.values.iter().map(list).collect()
}

/// Makes each party's shares of such lists; with a batch, for each evaluation.
///
/// # Errors
/// A usage failure when a client has one value and not another; a system failure when the
/// operating system gives no randomness.
pub fn shares(layout: &Layout, lists: &[Vec<Packed>]) -> CliResult<Vec<Vec<Packed>>> {
    let parties = usize::from(layout.ports().parties);
    let mut shares = vec![Vec::new(); parties];
    let runs = lists.iter().map(Vec::len).max().unwrap_or(0);
    for run in 0..runs {
        // A value that is given once is for all evaluations.
        let lists: Vec<&Packed> =
            lists.iter().filter_map(|list| list.get(run).or(list.last())).collect();
        let made = (0..layout.ports().clients as usize)
            .map(|client| of_client(layout, &lists, client))
            .collect::<CliResult<Vec<Option<Vec<Share>>>>>()?;
        for (party, shares) in shares.iter_mut().enumerate() {
            let own: Vec<Option<&Share>> =
                made.iter().map(|made| made.as_ref().map(|made| &made[party])).collect();
            shares.push(Packed(layout.input(&own).map_err(failed)?));
        }
    }
    Ok(shares)
}

/// Returns the shares of one client, unless it is absent.
fn of_client(layout: &Layout, lists: &[&Packed], client: usize) -> CliResult<Option<Vec<Share>>> {
    let mut bits = BitVec::zeros(0);
    let mut present = Vec::new();
    for ((_, ty), Packed(list)) in layout.ports().values.iter().zip(lists) {
        let width = ty.width() as usize + 1;
        present.push(list.get(client * width));
        bits.extend_from(&list.slice(client * width + 1..(client + 1) * width));
    }
    if present.iter().any(|one| *one != present[0]) {
        return Err(CliError::usage(format!("client {client} gives some values, and not all")));
    }
    match present.first() {
        Some(true) => Ok(Some(layout.encode(&bits).map_err(failed)?.shares)),
        _ => Ok(None),
    }
}

fn failed(error: ClientError) -> CliError {
    match error {
        ClientError::Random => CliError::system(error.to_string()),
        error => CliError::internal(error.to_string()),
    }
}
