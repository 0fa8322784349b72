//! Channels between two parties in one process.

use std::sync::Arc;

use symbolon_common::PartyId;

use crate::link::Direction;
use crate::outlet::Outlet;
use crate::pipe::{Pipe, PipeSink, PipeSource};
use crate::{Channel, Error, Meter, Result, SimulatedLink};

/// Returns two connected channels in memory: the first is party 0's, the second party 1's.
pub fn memory_pair(meter_a: Arc<Meter>, meter_b: Arc<Meter>) -> (Channel, Channel) {
    let (there, back) = (Pipe::new(), Pipe::new());
    let end = |me: u16, out: &Arc<Pipe>, into: &Arc<Pipe>, meter| {
        let source = Box::new(PipeSource::new(into.clone()));
        Channel::new(
            (me.into(), (1 - me).into()),
            source,
            Outlet::direct(out.clone(), into.clone()),
            meter,
            None,
        )
    };
    (end(0, &there, &back, meter_a), end(1, &back, &there, meter_b))
}

/// Returns `lanes` connected pairs in memory between parties `a` and `b`, over a simulated link if
/// one is given. The lanes share its bandwidth.
///
/// # Errors
/// [`Error::InvalidInput`] if both parties are the same; an internal error if a thread cannot be
/// started.
pub fn memory_lanes(
    (a, meter_a): (impl Into<PartyId>, Arc<Meter>),
    (b, meter_b): (impl Into<PartyId>, Arc<Meter>),
    lanes: usize,
    link: Option<SimulatedLink>,
) -> Result<(Vec<Channel>, Vec<Channel>)> {
    let (a, b) = (a.into(), b.into());
    if a == b {
        return Err(Error::invalid_input(format!("both parties claim to be party {a}")));
    }
    let links = [link.map(Direction::new), link.map(Direction::new)];
    let mut ends = (Vec::new(), Vec::new());
    for _ in 0..lanes {
        let pipes = [Pipe::new(), Pipe::new()];
        let end = |side: usize, ids, meter: &Arc<Meter>| {
            let outlet = match &links[side] {
                None => Outlet::direct(pipes[side].clone(), pipes[1 - side].clone()),
                Some(link) => {
                    let sink =
                        Arc::new(PipeSink::new(pipes[side].clone(), pipes[1 - side].clone()));
                    Outlet::threaded(sink, Some(link.clone()))?
                }
            };
            let source = Box::new(PipeSource::new(pipes[1 - side].clone()));
            Ok::<_, Error>(Channel::new(ids, source, outlet, meter.clone(), None))
        };
        ends.0.push(end(0, (a, b), &meter_a)?);
        ends.1.push(end(1, (b, a), &meter_b)?);
    }
    Ok(ends)
}
