//! Common parts of the tests of cheats.

use symbolon_circuit::{Circuit, Receivers};
use symbolon_engine::{Network, OutputBits};
use symbolon_transport::adversary::{CheckName, FnAdversary};

pub use crate::common::message;
use crate::common::{self, Ended, Setting};

/// The width of each input, and the number of gates in each of the two layers.
pub const WIDTH: usize = 24;

/// The number of AND gates.
pub const GATES: usize = 2 * WIDTH;

/// Bytes of a MAC in a row at ρ = 40.
pub const MAC: usize = 5;

/// The offset of the MACs in a garbled table.
pub const MACS: usize = 48 * GATES;

pub const TABLE: &str = "garbled table";
pub const MASKED: &str = "masked inputs";
pub const LABELS: &str = "masked inputs, labels, output masks";
pub const RETURNED: &str = "outputs for the garbler";

pub const TABLE_CHECK: &str = "garbled table MAC";
pub const OUTPUT_CHECK: &str = "output mask MAC";
pub const RETURNED_CHECK: &str = "returned output label and MAC";
pub const FRAMING: &str = "message framing";
pub const PADDING: &str = "padding of packed bits";

/// Returns the circuit of most tests: both parties learn the output.
pub fn circuit() -> Circuit {
    common::two_layers(WIDTH as u32, Receivers::All)
}

/// Returns both parties' inputs.
pub fn inputs() -> [Vec<bool>; 2] {
    [(0..WIDTH).map(|i| i % 3 != 0).collect(), (0..WIDTH).map(|i| i % 5 != 1).collect()]
}

/// Runs with one party cheating on its first lane.
pub fn cheat(cheater: u16, adversary: FnAdversary) -> [Ended; 2] {
    cheat_in(&circuit(), cheater, adversary)
}

pub fn cheat_in(circuit: &Circuit, cheater: u16, adversary: FnAdversary) -> [Ended; 2] {
    common::run_bent(Setting::default(), circuit, &inputs(), by(cheater, adversary))
}

/// Makes one party a cheater.
pub fn by(cheater: u16, adversary: FnAdversary) -> impl FnOnce(&mut [Network; 2]) {
    move |nets| nets[usize::from(cheater)].peers()[0].set_adversary(Box::new(adversary))
}

/// Asserts that the honest party caught the cheater at this check, and that the cheater has no
/// wrong output either.
#[track_caller]
pub fn assert_caught(ended: &[Ended; 2], cheater: u16, check: impl CheckName) {
    common::assert_caught(&ended[usize::from(1 - cheater)], cheater, check);
    if let Ok(outputs) = &ended[usize::from(cheater)].outputs {
        assert_eq!(outputs, &right(cheater));
    }
}

/// Returns the right outputs of a party in [`circuit`] on [`inputs`].
pub fn right(party: u16) -> OutputBits {
    common::expected(&circuit(), party, &inputs())
}

/// Changes a message: without its last byte, cut to two bytes, empty, and with an additional byte.
pub const LENGTHS: [fn(&mut Vec<u8>); 4] =
    [|p| p.truncate(p.len() - 1), |p| p.truncate(2), |p| p.clear(), |p| p.push(0)];
