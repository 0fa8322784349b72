//! The options of `tinytable`.

use std::fmt;

use symbolon_engine::Rho;
use symbolon_engine::options::{Comparison, OptionSpec, Options, ProtocolOption, Value, Values};
use symbolon_transport::{Error, Result};

/// The length of the MACs on the bits that are opened.
pub static MAC_BITS: ProtocolOption = ProtocolOption {
    spec: OptionSpec {
        name: "mac-bits",
        value_name: "BITS",
        help: "Bits of the MACs on what tinytable opens: 64 or 128, and more than RHO",
        default: Some("64 with RHO 40, otherwise 128"),
        values: Values::Numbers(&[64, 128]),
        place: 70,
    },
    result: "The length of the MACs on opened bits; absent where it cannot be chosen.",
    usual: |rho| Value::Number(MacLength::for_rho(rho).bits().into()),
    check: |value, rho| match value.number().and_then(length) {
        Some(length) if !length.suffices(rho) => Err(format!(
            "{length} is too short for rho = {}, which takes {} at least",
            rho.bits(),
            MacLength::for_rho(rho)
        )),
        _ => Ok(()),
    },
    check_circuit: None,
    comparison: Some(Comparison {
        spec: OptionSpec {
            name: "weak-mac-bits",
            value_name: "BITS",
            help: "Measure such MACs as well, 32, 64 or 128 bits, even if they are too short for \
                   RHO: only for comparisons with published figures",
            default: None,
            values: Values::Numbers(&[32, 64, 128]),
            place: 0,
        },
        warning: |bits| {
            format!(
                "MACs of {bits} bits are for comparisons with published figures: a wrong bit is \
                 accepted with probability 2^-{bits}"
            )
        },
    }),
    proposed: &[],
};

/// How each party is committed to its tables.
pub static MAC: ProtocolOption = ProtocolOption {
    proposed: &[Commitment::Code.name()],
    ..ProtocolOption::new(
        OptionSpec {
            name: "mac",
            value_name: "KIND",
            help: "How tinytable commits the parties to their tables: a MAC on every bit, or a \
                   code, which takes less memory",
            default: Some("bits"),
            values: Values::Words(|| Commitment::ALL.map(Commitment::name).to_vec()),
            place: 150,
        },
        "How the parties are committed to their tables; absent where it cannot be chosen.",
        |_| Value::Word(Commitment::Bits.name()),
    )
};

/// All options.
pub(crate) static ALL: &[ProtocolOption] = &[MAC_BITS, MAC];

/// How each party is committed to its tables.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Commitment {
    /// A MAC on every bit.
    #[default]
    Bits,
    /// A word of a binary code for each block of bits.
    Code,
}

impl Commitment {
    /// Every kind.
    pub const ALL: [Commitment; 2] = [Commitment::Bits, Commitment::Code];

    /// Returns its name.
    pub const fn name(self) -> &'static str {
        match self {
            Commitment::Bits => "bits",
            Commitment::Code => "code",
        }
    }
}

/// The options of `tinytable` as a program gives them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TinyTableOptions {
    /// The length of the MACs on the bits that are opened. With [`Commitment::Code`] these are the
    /// masks of outputs.
    pub mac: MacChoice,
    /// How each party is committed to its tables.
    pub commitment: Commitment,
}

/// The number of bits in the MACs on the bits of tables: a wrong bit is accepted with probability
/// 2^-k plus the small terms given in `check`. Which length [suffices](MacLength::suffices) depends
/// on ρ, so there is no default.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MacLength {
    /// 32 bits: too short for every ρ, only for comparisons with published figures.
    Bits32,
    /// 64 bits: sufficient for ρ = 40.
    Bits64,
    /// 128 bits: sufficient for every ρ.
    Bits128,
}

impl MacLength {
    /// Every length, the shortest first.
    pub const ALL: [MacLength; 3] = [MacLength::Bits32, MacLength::Bits64, MacLength::Bits128];

    /// Returns the number of bits.
    pub const fn bits(self) -> u32 {
        match self {
            MacLength::Bits32 => 32,
            MacLength::Bits64 => 64,
            MacLength::Bits128 => 128,
        }
    }

    /// Returns whether a wrong bit is accepted with probability at most 2^-ρ. That takes more than
    /// ρ bits: with k = ρ the further terms of the bound would exceed it (see `check`).
    pub const fn suffices(self, rho: Rho) -> bool {
        self.bits() > rho.bits()
    }

    /// Returns the shortest length that [suffices](MacLength::suffices).
    pub fn for_rho(rho: Rho) -> MacLength {
        let enough = MacLength::ALL.into_iter().find(|mac| mac.suffices(rho));
        enough.unwrap_or(MacLength::Bits128)
    }
}

impl fmt::Display for MacLength {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.bits().fmt(f)
    }
}

/// The length of the MACs on the bits that are opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MacChoice {
    /// The shortest length that suffices for ρ.
    #[default]
    ByRho,
    /// This length. It is rejected if it is too short for ρ.
    Length(MacLength),
    /// This length, even if it is too short for ρ, so that a wrong bit passes unnoticed more often
    /// than ρ promises. For comparisons with published figures, on inputs that are not secret.
    ComparisonOnly(MacLength),
}

impl From<MacLength> for MacChoice {
    fn from(length: MacLength) -> Self {
        MacChoice::Length(length)
    }
}

impl From<TinyTableOptions> for Options {
    fn from(options: TinyTableOptions) -> Options {
        let value = match options.mac {
            MacChoice::ByRho => None,
            MacChoice::Length(length) => Some(Value::Number(length.bits().into())),
            MacChoice::ComparisonOnly(length) => Some(Value::ComparisonOnly(length.bits().into())),
        };
        let code = match options.commitment {
            Commitment::Bits => None,
            Commitment::Code => Some(Value::Word(Commitment::Code.name())),
        };
        Options::default().with(&MAC_BITS, value).with(&MAC, code)
    }
}

fn length(bits: u64) -> Option<MacLength> {
    MacLength::ALL.into_iter().find(|length| u64::from(length.bits()) == bits)
}

/// Returns the length of the MACs in a session with these options.
pub(super) fn mac_length(options: &Options, rho: Rho) -> Result<MacLength> {
    let found = length(MAC_BITS.number(options, rho)?);
    found.ok_or_else(|| Error::invalid_input("MACs have 32, 64 or 128 bits"))
}

/// Returns how the parties are committed to their tables.
pub(super) fn commitment(options: &Options) -> Commitment {
    match MAC.chosen(options) {
        Some(Value::Word(word)) if *word == Commitment::Code.name() => Commitment::Code,
        _ => Commitment::Bits,
    }
}

/// Returns the length of the MACs with which tables are made.
pub(super) fn table_tags(options: &Options, rho: Rho) -> Result<MacLength> {
    match commitment(options) {
        Commitment::Bits => mac_length(options, rho),
        Commitment::Code => Ok(MacLength::Bits128),
    }
}

/// Returns what tells prepared circuits from others.
pub(super) fn label(options: &Options, rho: Rho) -> Result<String> {
    let length = mac_length(options, rho)?;
    Ok(match commitment(options) {
        Commitment::Bits => format!("{length}-bit MACs"),
        Commitment::Code => format!("a code, {length}-bit MACs"),
    })
}

/// Returns what tells prepared circuits from others, as a number.
pub(super) fn stamp(options: &Options, rho: Rho) -> Result<u32> {
    let code = match commitment(options) {
        Commitment::Bits => 0,
        Commitment::Code => 1 << 16,
    };
    Ok(mac_length(options, rho)?.bits() | code)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// This takes at least one bit more than ρ: 2^-64 plus the further terms of the bound exceeds
    /// 2^-64.
    #[test]
    fn the_shortest_macs_that_suffice_follow_rho() {
        use MacLength::{Bits32, Bits64, Bits128};
        for (rho, shortest) in
            [(Rho::Bits40, Bits64), (Rho::Bits64, Bits128), (Rho::Bits80, Bits128)]
        {
            assert_eq!(MacLength::for_rho(rho), shortest);
            assert!(MacLength::ALL.iter().all(|mac| mac.suffices(rho) == (*mac >= shortest)));
            assert!(!Bits32.suffices(rho));
        }
    }
}
