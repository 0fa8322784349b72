//! Which OT extension a session uses.

use std::fmt;
use std::str::FromStr;

use symbolon_transport::Error;

use crate::pprf::TreeDepth;
use crate::{ferret, iknp, softspoken};

/// An extension of correlated OTs: the more it computes, the less it sends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum OtExtension {
    /// [`iknp`]: 16 bytes per correlated OT.
    #[default]
    Iknp,
    /// [`softspoken`]: 16/k bytes per correlated OT, for 2^k/k times the work.
    SoftSpoken {
        /// k.
        k: TreeDepth,
    },
    /// [`ferret`]: about a tenth of a byte per correlated OT, after the first 200 kB.
    Ferret,
}

impl OtExtension {
    /// All extensions, from the one that sends most to the one that sends least.
    pub const ALL: [OtExtension; 5] = [
        OtExtension::Iknp,
        OtExtension::SoftSpoken { k: TreeDepth::Two },
        OtExtension::SoftSpoken { k: TreeDepth::Four },
        OtExtension::SoftSpoken { k: TreeDepth::Eight },
        OtExtension::Ferret,
    ];

    /// Those that need nothing made ahead: any side can draw at any time.
    pub const DIRECT: &'static [OtExtension] = OtExtension::ALL.split_at(4).0;

    /// Returns the name in commands, configuration and the handshake.
    pub const fn name(self) -> &'static str {
        match self {
            OtExtension::Iknp => "iknp",
            OtExtension::SoftSpoken { k: TreeDepth::Two } => "softspoken2",
            OtExtension::SoftSpoken { k: TreeDepth::Four } => "softspoken4",
            OtExtension::SoftSpoken { k: TreeDepth::Eight } => "softspoken8",
            OtExtension::Ferret => "ferret",
        }
    }
}

impl fmt::Display for OtExtension {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for OtExtension {
    type Err = Error;

    /// Returns the extension with this name.
    ///
    /// # Errors
    /// `InvalidInput`, whose text lists the names.
    fn from_str(name: &str) -> Result<Self, Error> {
        OtExtension::ALL.into_iter().find(|ot_extension| ot_extension.name() == name).ok_or_else(
            || {
                let names = OtExtension::ALL.map(OtExtension::name).join(", ");
                Error::InvalidInput(format!("no OT extension is `{name}`; try {names}"))
            },
        )
    }
}

/// Returns the bytes on the wire, without message headers, of one draw of `n` correlated OTs with
/// chosen bits; expansions come on top.
pub fn draw_bytes(ot_extension: OtExtension, n: usize) -> usize {
    match ot_extension {
        OtExtension::Iknp => iknp::draw_bytes(n),
        OtExtension::SoftSpoken { k } => softspoken::draw_bytes(k, n),
        OtExtension::Ferret => ferret::draw_bytes(n),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back() {
        for ot_extension in OtExtension::ALL {
            assert_eq!(ot_extension.to_string().parse::<OtExtension>(), Ok(ot_extension));
        }
        for name in ["", "softspoken", "softspoken3", "IKNP", "iknp "] {
            assert!(matches!(name.parse::<OtExtension>(), Err(Error::InvalidInput(_))), "{name}");
        }
    }

    #[test]
    fn blocks_cover_delta() {
        for k in TreeDepth::ALL {
            assert_eq!((k.bits() * k.trees(), k.leaves()), (128, 1 << k.bits()));
        }
    }

    #[test]
    fn each_extension_sends_less_than_the_one_before() {
        let sent = OtExtension::ALL.map(|ot_extension| draw_bytes(ot_extension, 1 << 15));
        assert!(sent.is_sorted_by(|a, b| a > b), "{sent:?}");
    }
}
