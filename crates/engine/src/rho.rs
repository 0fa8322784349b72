//! The statistical security parameter.

/// The statistical security parameter ρ in bits: a cheat goes unnoticed with probability at most
/// 2^-ρ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rho {
    /// 40 bits, the default and the papers' choice.
    Bits40,
    /// 64 bits.
    Bits64,
    /// 80 bits.
    Bits80,
}

impl Rho {
    /// Returns the number of bits.
    pub const fn bits(self) -> u32 {
        match self {
            Rho::Bits40 => 40,
            Rho::Bits64 => 64,
            Rho::Bits80 => 80,
        }
    }

    /// Returns the parameter with this number of bits, if it is one of 40, 64 and 80.
    pub fn from_bits(bits: u32) -> Option<Rho> {
        [Rho::Bits40, Rho::Bits64, Rho::Bits80].into_iter().find(|rho| rho.bits() == bits)
    }
}
