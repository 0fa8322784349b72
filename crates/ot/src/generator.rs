//! Which generator of correlated OTs a session uses.

use std::fmt;
use std::str::FromStr;

use symbolon_transport::Error;

use crate::{iknp, softspoken};

/// The bits of Δ that one tree of [`softspoken`] covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BlockBits {
    /// 64 trees of 4 leaves.
    Two,
    /// 32 trees of 16 leaves.
    Four,
    /// 16 trees of 256 leaves.
    Eight,
}

impl BlockBits {
    /// All of them.
    pub const ALL: [BlockBits; 3] = [BlockBits::Two, BlockBits::Four, BlockBits::Eight];

    /// k, the number of bits.
    pub const fn bits(self) -> usize {
        match self {
            BlockBits::Two => 2,
            BlockBits::Four => 4,
            BlockBits::Eight => 8,
        }
    }

    /// Leaves of a tree, 2^k.
    pub const fn leaves(self) -> usize {
        1 << self.bits()
    }

    /// Trees for all of Δ, 128/k.
    pub const fn trees(self) -> usize {
        128 / self.bits()
    }
}

/// A generator of correlated OTs: the more it computes, the less it sends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Generator {
    /// [`iknp`]: 16 bytes per correlated OT.
    #[default]
    Iknp,
    /// [`softspoken`]: 16/k bytes per correlated OT, for 2^k/k times the generator's work.
    SoftSpoken {
        /// k.
        k: BlockBits,
    },
}

impl Generator {
    /// Every generator, in the order of what they send, the most first.
    pub const ALL: [Generator; 4] = [
        Generator::Iknp,
        Generator::SoftSpoken { k: BlockBits::Two },
        Generator::SoftSpoken { k: BlockBits::Four },
        Generator::SoftSpoken { k: BlockBits::Eight },
    ];

    /// The name in commands, configuration and the handshake.
    pub const fn name(self) -> &'static str {
        match self {
            Generator::Iknp => "iknp",
            Generator::SoftSpoken { k: BlockBits::Two } => "softspoken2",
            Generator::SoftSpoken { k: BlockBits::Four } => "softspoken4",
            Generator::SoftSpoken { k: BlockBits::Eight } => "softspoken8",
        }
    }
}

impl fmt::Display for Generator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Generator {
    type Err = Error;

    /// The generator with this name.
    ///
    /// # Errors
    /// `InvalidInput`, which lists the names there are.
    fn from_str(name: &str) -> Result<Self, Error> {
        Generator::ALL.into_iter().find(|generator| generator.name() == name).ok_or_else(|| {
            let names = Generator::ALL.map(Generator::name).join(", ");
            Error::InvalidInput(format!("no generator of correlated OTs is `{name}`; try {names}"))
        })
    }
}

/// Bytes on the wire, headers of messages not counted, for one draw of `n` correlated OTs.
pub fn draw_bytes(generator: Generator, n: usize) -> usize {
    match generator {
        Generator::Iknp => iknp::draw_bytes(n),
        Generator::SoftSpoken { k } => softspoken::draw_bytes(k, n),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back() {
        for generator in Generator::ALL {
            assert_eq!(generator.to_string().parse::<Generator>(), Ok(generator));
        }
        for name in ["", "softspoken", "softspoken3", "IKNP", "iknp "] {
            assert!(matches!(name.parse::<Generator>(), Err(Error::InvalidInput(_))), "{name}");
        }
    }

    #[test]
    fn blocks_cover_delta() {
        for k in BlockBits::ALL {
            assert_eq!((k.bits() * k.trees(), k.leaves()), (128, 1 << k.bits()));
        }
    }

    #[test]
    fn each_generator_sends_less_than_the_one_before() {
        let sent = Generator::ALL.map(|generator| draw_bytes(generator, 1 << 15));
        assert!(sent.is_sorted_by(|a, b| a > b), "{sent:?}");
    }
}
