//! The forms in which a protocol garbles.

use std::fmt;
use std::str::FromStr;

use symbolon_transport::Error;

/// How gates are garbled or scrambled.
///
/// All forms are equally secure; they differ in bytes and rounds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum GateForm {
    /// Four rows with a MAC each: 3κ + 4ρ bits per gate, one message each way online.
    #[default]
    FourRow,
    /// Half-gates, checked in a batch after evaluation: 2κ + 1 bits per gate, and one more round
    /// trip online.
    HalfGates,
    /// Scrambled truth tables: one bit per AND gate, and one round per layer online.
    Tables,
}

impl GateForm {
    /// Every form, from the most to the fewest bytes sent.
    pub const ALL: [GateForm; 3] = [GateForm::FourRow, GateForm::HalfGates, GateForm::Tables];

    /// Returns the name in commands, configuration and the handshake.
    pub const fn name(self) -> &'static str {
        match self {
            GateForm::FourRow => "four-row",
            GateForm::HalfGates => "half-gates",
            GateForm::Tables => "tables",
        }
    }
}

impl fmt::Display for GateForm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for GateForm {
    type Err = Error;

    /// Returns the form with this name.
    ///
    /// # Errors
    /// `InvalidInput` with a list of the names.
    fn from_str(name: &str) -> Result<Self, Error> {
        GateForm::ALL.into_iter().find(|form| form.name() == name).ok_or_else(|| {
            let names = GateForm::ALL.map(GateForm::name).join(", ");
            Error::InvalidInput(format!("no form of garbling is `{name}`; try {names}"))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back() {
        for form in GateForm::ALL {
            assert_eq!(form.to_string().parse::<GateForm>(), Ok(form));
        }
        for name in ["", "auto", "four_row", "Half-Gates"] {
            assert!(matches!(name.parse::<GateForm>(), Err(Error::InvalidInput(_))), "{name}");
        }
    }
}
