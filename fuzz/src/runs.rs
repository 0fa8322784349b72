//! Two parties in one process, for targets that reach decoders through a whole run.

use std::sync::OnceLock;
use std::time::Duration;

use symbolon_circuit::builtin;
use symbolon_protocols::{
    Compiled, GateForm, InputBits, Network, Options, OtExtension, OutputBits, Protocol, Rho,
    SEGMENT_GATES,
};
use symbolon_transport::{Error, Meter, Result, memory_lanes};

/// The ways of computing between two parties, in the order in which inputs number them.
pub fn ways() -> Vec<(Protocol, GateForm)> {
    let two = Protocol::ALL.iter().filter(|protocol| protocol.parties().contains(&2));
    two.flat_map(|&protocol| protocol.forms().iter().map(move |&form| (protocol, form))).collect()
}

/// The circuit of all runs: x + y for two bits each, known to both.
pub fn circuit() -> &'static Compiled {
    static CIRCUIT: OnceLock<Compiled> = OnceLock::new();
    CIRCUIT.get_or_init(|| Compiled::new(&builtin::by_name("add:2").expect("a built-in circuit")))
}

/// The inputs of a party, 1 and 2, and the output.
pub fn inputs(party: u16) -> InputBits {
    let own = [party == 0, party == 1];
    (0..2).map(|owner| (owner == party).then(|| own[..].into())).collect()
}

/// 1 + 2.
pub fn is_right(outputs: &OutputBits) -> bool {
    *outputs == [Some([true, true][..].into())]
}

/// Both parties' networks.
pub fn networks((_, form): (Protocol, GateForm)) -> [Network; 2] {
    let meters = [Meter::new(), Meter::new()];
    let (zero, one) = memory_lanes((0, meters[0].clone()), (1, meters[1].clone()), 1, None)
        .expect("memory connects");
    let mut lanes = [zero, one].into_iter().zip(meters).zip(0..);
    [(); 2].map(|()| {
        let ((mut lanes, meter), me) = lanes.next().expect("two parties");
        lanes.iter_mut().for_each(|lane| lane.set_timeout(Duration::from_secs(2)));
        Network {
            me: me.into(),
            lanes: vec![lanes],
            meter,
            session: [7; 32],
            rho: Rho::Bits40,
            ot: OtExtension::default(),
            form,
            executions: 1,
            options: Options::default(),
            segment_gates: SEGMENT_GATES,
        }
    })
}

/// Runs a part of the protocol at both parties, each in a thread; one that fails tells the other.
pub fn both<T: Send>(
    nets: [Network; 2],
    part: impl Fn(&mut Network) -> Result<T> + Sync,
) -> [Result<T>; 2] {
    let part = &part;
    std::thread::scope(|scope| {
        let threads = nets.map(|mut net| {
            scope.spawn(move || {
                let done = part(&mut net);
                if done.is_err() {
                    net.lanes.iter_mut().flatten().for_each(|lane| lane.abort("it failed"));
                }
                done
            })
        });
        threads.map(|thread| thread.join().expect("no party may panic"))
    })
}

/// Whether an error is one that a party may end with when its peer, or its disk, is bent.
pub fn is_expected(error: &Error) -> bool {
    matches!(
        error,
        Error::PeerMisbehaved { .. }
            | Error::Transport { .. }
            | Error::Store(_)
            | Error::PeerIncompatible { .. }
    )
}
