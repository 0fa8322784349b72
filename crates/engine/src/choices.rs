//! What parties choose in single protocols.

use std::fmt;
use std::str::FromStr;

use symbolon_transport::Error;

use crate::Rho;

/// The number of bits in the MACs on the bits of `tinytable`'s tables: a wrong bit is accepted with probability
/// 2^-k plus small terms (`tinytable/check.rs`). Which length [suffices](MacLength::suffices) depends
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
    /// ρ bits: with k = ρ the further terms of the bound would exceed it (`tinytable/check.rs`).
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

impl FromStr for MacLength {
    type Err = Error;

    /// Returns the length with this number of bits.
    ///
    /// # Errors
    /// `InvalidInput` with a list of the lengths.
    fn from_str(text: &str) -> Result<Self, Error> {
        let found = MacLength::ALL.into_iter().find(|mac| mac.to_string() == text);
        found.ok_or_else(|| {
            Error::invalid_input(format!("MACs have 32, 64 or 128 bits, not {text}"))
        })
    }
}

/// How `dualex` intersects the parties' reconciliation values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum PsiForm {
    /// Three messages online, and fewer bytes.
    #[default]
    Synchronous,
    /// Two messages online.
    Asynchronous,
}

impl PsiForm {
    /// Both forms.
    pub const ALL: [PsiForm; 2] = [PsiForm::Synchronous, PsiForm::Asynchronous];

    /// Returns the name in commands, configuration and the handshake.
    pub fn name(self) -> &'static str {
        match self {
            PsiForm::Synchronous => "sync",
            PsiForm::Asynchronous => "async",
        }
    }

    /// Returns the form with this name, if there is one.
    pub fn by_name(name: &str) -> Option<PsiForm> {
        PsiForm::ALL.into_iter().find(|form| form.name() == name)
    }
}

/// What 2^-κ_b bounds in `dualex`: the probability of which leak.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum KappaBPer {
    /// That any execution leaks a bit of an input, of all that are prepared in a session.
    #[default]
    Preparation,
    /// That a given execution does, as in the paper. Of N executions that are prepared together,
    /// one does with probability up to N·2^-κ_b, and a cheater can choose which inputs it gets.
    Execution,
}

impl KappaBPer {
    /// Both choices.
    pub const ALL: [KappaBPer; 2] = [KappaBPer::Preparation, KappaBPer::Execution];

    /// Returns the name in commands, configuration and the handshake.
    pub fn name(self) -> &'static str {
        match self {
            KappaBPer::Preparation => "preparation",
            KappaBPer::Execution => "execution",
        }
    }

    /// Returns the choice with this name, if there is one.
    pub fn by_name(name: &str) -> Option<KappaBPer> {
        KappaBPer::ALL.into_iter().find(|per| per.name() == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_read_back() {
        for mac in MacLength::ALL {
            assert_eq!(mac.to_string().parse::<MacLength>(), Ok(mac));
        }
        assert!("40".parse::<MacLength>().is_err());
    }

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
