//! Owners of inputs and receivers of outputs, as written on the command line.

use symbolon::circuit::{PartyId, Receivers};

use crate::common::words::assignment;

/// The owner of an input, as written on the command line: a party's number, or `share`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// This party.
    Party(PartyId),
    /// Nobody: every party gives a share, and the input is the XOR of all.
    Share,
}

impl std::str::FromStr for Owner {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.trim() {
            "share" => Ok(Owner::Share),
            number => number
                .parse()
                .map(Owner::Party)
                .map_err(|_| "an owner is a party's number, such as 1, or `share`".to_string()),
        }
    }
}

/// Who learns an output, as written on the command line: `all`, `none`, `0`, `0,1`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Audience {
    /// Every party.
    All,
    /// These parties.
    Only(Vec<PartyId>),
}

impl std::str::FromStr for Audience {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.trim() {
            "all" => Ok(Audience::All),
            "none" => Ok(Audience::Only(Vec::new())),
            list => {
                let mut parties = list
                    .split(',')
                    .map(|party| party.trim().parse::<PartyId>())
                    .collect::<Result<Vec<_>, _>>()
                    .map_err(|_| "parties are written `all`, `none`, `0` or `0,1`".to_string())?;
                parties.sort_unstable();
                parties.dedup();
                Ok(Audience::Only(parties))
            }
        }
    }
}

impl From<Audience> for Receivers {
    fn from(audience: Audience) -> Self {
        match audience {
            Audience::All => Receivers::All,
            Audience::Only(parties) => Receivers::Only(parties),
        }
    }
}

/// Reads `INPUT=PARTY` or `INPUT=share`.
///
/// # Errors
/// A sentence that says what was expected.
pub fn owner(text: &str) -> Result<(String, Owner), String> {
    let (name, owner) = assignment(text)?;
    Ok((name, owner.parse()?))
}

/// Reads `OUTPUT=PARTIES`.
///
/// # Errors
/// A sentence that says what was expected.
pub fn audience(text: &str) -> Result<(String, Audience), String> {
    let (name, parties) = assignment(text)?;
    Ok((name, parties.parse()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn audiences() {
        assert_eq!("all".parse(), Ok(Audience::All));
        assert_eq!("none".parse(), Ok(Audience::Only(vec![])));
        assert_eq!("1, 0,1".parse(), Ok(Audience::Only(vec![0.into(), 1.into()])));
        assert!("both".parse::<Audience>().is_err());
        assert!("".parse::<Audience>().is_err());
    }
}
