//! Two parties in one process, for targets that reach decoders through a whole run.

use std::sync::{LazyLock, OnceLock};
use std::time::Duration;

use symbolon_circuit::builtin;
use symbolon_protocols::tinytable::options::{Commitment, TinyTableOptions};
use symbolon_protocols::{
    Compiled, GateForm, InputBits, Network, Options, OtExtension, OutputBits, Protocol, Rho,
    SEGMENT_GATES,
};
use symbolon_transport::{Error, Meter, Result, memory_lanes};

/// A way of computing between two parties.
pub struct Way {
    pub protocol: Protocol,
    form: GateForm,
    options: Options,
}

/// All ways, in the order in which inputs number them: the protocols in each form, then
/// `tinytable` with tables under a code.
pub fn ways() -> &'static [Way] {
    static WAYS: LazyLock<Vec<Way>> = LazyLock::new(|| {
        let of = |protocol: Protocol, options: Options| {
            let way = move |&form| Way { protocol, form, options: options.clone() };
            protocol.forms().iter().map(way)
        };
        let two = Protocol::ALL.iter().filter(|protocol| protocol.parties().contains(&2));
        let usual = two.flat_map(|&protocol| of(protocol, Options::default()));
        let commitment = Commitment::Code;
        let code = TinyTableOptions { commitment, ..TinyTableOptions::default() };
        usual.chain(of(Protocol::TinyTable, code.into())).collect()
    });
    &WAYS
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
pub fn networks(way: &Way) -> [Network; 2] {
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
            form: way.form,
            executions: 1,
            options: way.options.clone(),
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
